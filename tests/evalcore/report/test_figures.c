/* The figures of runs with policies that this program does not know, and the colours of those that it does.
 */
#include <stdlib.h>

#include "engine/policies/policy.h"
#include "evalcore/base/log.h"
#include "evalcore/page/svg.h"
#include "evalcore/report/data/report_match.h"
#include "evalcore/report/report.h"
#include "tests/check.h"
#include "tests/evalcore/report/fake_run.h"
#include "tests/evalcore/report/written.h"

static const struct fake_policy policies[] = {
    {"full", "full", "{}", "", "", "", "", "", "everything", 1, 2.2},
    {"quest", "quest k_pages=8", "{\"k_pages\":8}", "8", "", "", "k_pages", "8", "8 pages", 0.4, 0.9},
    {"sparsest", "sparsest k_pages=4", "{\"k_pages\":4}", "4", "", "", "k_pages", "4", "4 pages", 0.2, 0.9},
    {"sparsest", "sparsest k_pages=8", "{\"k_pages\":8}", "8", "", "", "k_pages", "8", "8 pages", 1, 0.9},
    {"raas", "raas old_option=3", "{\"budget_tokens\":512,\"old_option\":3}", "", "", "512", "budget_tokens",
     "512", "512 tokens", 0.5, 0.9},
    {"later", "later ratio=0.5", "{\"ratio\":0.5}", "", "", "", "ratio", "0.5", "half", 0.5, 0.9},
};
static const struct fake_task tasks[] = {{"relay", "relay", "accuracy", 0, 930, 346}};

static struct fake_options make_options(int n_policies)
{
    return (struct fake_options){.policies = policies,
                                 .n_policies = n_policies,
                                 .tasks = tasks,
                                 .n_tasks = 1,
                                 .problems = 20,
                                 .samples = 1,
                                 .limit = 1400,
                                 .seed = 7};
}

/* The folder of another version is reported: the unknown policies are in the tables and in the figures of
 * what was measured, the one over the budget goes without them, and the page says so, once for each. */
static void test_unknown_policies(void)
{
    struct fake_options o = make_options(6);
    struct run r;
    struct err e = {0};
    struct str text = {0};
    fake_run(&r, &o);
    CHECK_INT(report_write_with(&r, &(struct report_options){0}, folder, NULL, &e), 0);
    const char *page = read_file(&text, "report.md");
    CHECK_INT(count_text(page, "The budget of policy"), 3);
    CHECK_INT(
        count_text(page,
                   "The budget of policy sparsest in tokens is unknown to this version of kveval: it has "
                   "no policy of this name."),
        1);
    CHECK_INT(count_text(page, "kveval: policy raas: unknown option \"old_option\""), 1);
    CHECK_INT(count_text(page, "Not drawn: 4 cells whose budget is not known in tokens."), 1);
    CHECK(count_text(page, "| sparsest k_pages=4 | ") >= 2);
    CHECK_INT(count_text(page, "INACTIVE"), 0); /* read everything, but who knows whether that was wrong */
    const char *svg = read_file(&text, "accuracy_budget_relay.svg");
    CHECK(count_text(svg, "quest") > 0);
    CHECK_INT(count_text(svg, "sparsest") + count_text(svg, "raas") + count_text(svg, "later"), 0);
    CHECK(is_written("accuracy_reads_relay.svg"));
    svg = read_file(&text, "accuracy_reads_relay.svg");
    CHECK(count_text(svg, ">sparsest<") == 1 && count_text(svg, ">raas<") == 1 &&
          count_text(svg, ">later<") == 1);
    str_release(&text);
    fake_release(&r);
}

/* Which of the colours kv-f0 .. the legend of the reads figure gives to a policy; -1: none. The row's marker
 * stands in front of its name. */
static int colour_of(const char *svg, const char *policy)
{
    char name[40];
    snprintf(name, sizeof name, ">%s<", policy);
    const char *at = strstr(svg, name);
    while (at && at > svg && strncmp(at, "kv-f", 4) != 0)
        at--;
    return at && at > svg ? (int)strtol(at + 4, NULL, 10) : -1;
}

/* A policy has the colour of its place among the registered ones, whatever else is in the run; unknown ones
 * have those behind. */
static void test_colours(void)
{
    struct str text = {0};
    int quest = -1;
    for (int n = 2; n <= 6; n += 4) {
        struct fake_options o = make_options(n);
        struct run r;
        struct err e = {0};
        fake_run(&r, &o);
        CHECK_INT(report_write_with(&r, &(struct report_options){0}, folder, NULL, &e), 0);
        const char *svg = read_file(&text, "accuracy_reads_relay.svg");
        if (quest < 0)
            quest = colour_of(svg, "quest");
        CHECK(quest > 0);
        CHECK_INT(colour_of(svg, "quest"), quest);
        if (n == 6) {
            static const char *const names[] = {"quest", "raas", "sparsest", "later"};
            size_t registered = 0;
            while (policy_at(registered))
                registered++;
            /* With more policies than colours the colours come again, under other markers. */
            for (size_t i = 0; i < 4; i++)
                for (size_t k = 0; k < i; k++)
                    if (i / 2 == k / 2 || registered + 2 <= SVG_TOLD_APART)
                        CHECK(colour_of(svg, names[i]) != colour_of(svg, names[k]));
        }
        fake_release(&r);
    }
    str_release(&text);
}

/* Scores of delta's four squares, in the order of the table; as many records as problems. */
static void set_squares(struct run *r, const double solved[4])
{
    for (int i = 0; i < 4; i++) {
        struct record *k = (struct record *)r->cells[i + 1].records;
        for (int q = 0; q < r->cells[i + 1].n_records; q++)
            k[q].score = q < solved[i] * r->cells[i + 1].n_records;
    }
}

static const struct fake_policy squares[] = {
    {"full", "full", "{}", "", "", "", "", "", "everything", 1, 2.2},
    {"delta", "delta k_pages=8 l_pages=2", "{}", "8", "2", "", "k_pages", "8", "r", 0.4, 1},
    {"delta", "delta k_pages=8 l_pages=4", "{}", "8", "4", "", "k_pages", "8", "r", 0.4, 1},
    {"delta", "delta k_pages=16 l_pages=2", "{}", "16", "2", "", "k_pages", "16", "r", 0.6, 1},
    {"delta", "delta k_pages=16 l_pages=4", "{}", "16", "4", "", "k_pages", "16", "r", 0.6, 1}};

/* The ring of "best, or not told apart" was on all squares of five problems, 0.0 among them, and the ramp
 * began at the lowest square. */
static void test_heat_ring_needs_a_test(void)
{
    static const struct {
        int problems, rings;
    } rows[] = {{5, 0}, {40, 2 + 1}}; /* two squares and the legend's */
    for (int i = 0; i < 2; i++) {
        struct fake_options o = make_options(5);
        struct run r;
        struct err e = {0};
        struct str text = {0};
        o.policies = squares;
        o.problems = rows[i].problems;
        fake_run(&r, &o);
        set_squares(&r, (const double[]){0, 0.2, 0.6, 0.4});
        if (i)
            set_squares(&r, (const double[]){0, 0.2, 0.6, 0.575});
        CHECK_INT(report_write_with(&r, &(struct report_options){0}, folder, NULL, &e), 0);
        const char *svg = read_file(&text, "heat_delta_relay.svg");
        CHECK_INT(count_text(svg, "class=\"kv-mark\""), rows[i].rings);
        CHECK(count_text(svg, ">0 %<") == 1 && count_text(svg, ">100 %<") == 1);
        CHECK_INT(count_text(read_file(&text, "report.md"), "so none is framed"), !rows[i].rings);
        str_release(&text);
        fake_release(&r);
    }
}

/* Of a run that was interrupted the squares were said to lie 80 points apart: each task had its weight by all
 * its problems, of which one has answers to twenty and the other to five. One square loses all of the former.
 */
static void test_heat_of_unfinished_tasks(void)
{
    static const struct fake_task two[] = {{"relay", "relay", "accuracy", 0, 930, 346},
                                           {"choice", "choice", "accuracy", 0, 930, 20}};
    struct fake_options o = make_options(5);
    struct run r;
    struct err e = {0};
    struct str text = {0};
    o.policies = squares;
    o.tasks = two;
    o.n_tasks = 2;
    fake_run(&r, &o);
    for (int i = 0; i < r.n_cells; i++)
        for (int q = 0; q < r.cells[i].n_records; q++)
            ((struct record *)r.cells[i].records)[q].score = i != 1;
    for (int i = 5; i < r.n_cells; i++)
        r.cells[i].n_records = 5;
    CHECK_INT(report_write_with(&r, &(struct report_options){0}, folder, NULL, &e), 0);
    CHECK_INT(count_text(read_file(&text, "report.md"), "here they lie 50 apart"), 1);
    str_release(&text);
    fake_release(&r);
}

/* Tasks with 4 and with 6 samples: the heat map took 1/6 for the unit, of which 1/4 is no multiple. */
static void test_unit_of_unlike_samples(void)
{
    CHECK_NEAR(match_unit(match_multiple(match_multiple(1, 4), 6)), 1.0 / 12, 1e-15);
    CHECK_NEAR(match_unit(match_multiple(match_multiple(1, 4), 2)), 1.0 / 4, 1e-15);
    CHECK_NEAR(match_unit(match_multiple(match_multiple(1, 4096), 4095)), 0, 0);
}

int main(void)
{
    struct err e = {0};
    open_folder("test_figures");
    log_set_quiet(1);
    test_unknown_policies();
    test_colours();
    test_heat_ring_needs_a_test();
    test_heat_of_unfinished_tasks();
    test_unit_of_unlike_samples();
    file_remove_tree(folder, &e);
    return check_done();
}
