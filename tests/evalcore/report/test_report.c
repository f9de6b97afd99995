/* Reports of small runs made in memory: the markdown byte for byte, the CSV files by their columns
 * (csv_golden.test has all of them), the page by its properties. */
#include "tests/cases.h"

#include "evalcore/base/log.h"
#include "evalcore/report/data/report_budget.h"
#include "evalcore/report/report.h"
#include "evalcore/report/report_parts.h"
#include "tests/evalcore/report/csv_rows.h"
#include "tests/evalcore/report/plain_run.h"
#include "tests/evalcore/report/written.h"

/* Compares line by line: the first line that differs says enough. */
static void same_lines(const struct test_case *t, const char *got)
{
    const char *want = case_need(t, "text");
    for (int line = case_line(t, "text") + 1;; line++) {
        size_t n_got = strcspn(got, "\n"), n_want = strcspn(want, "\n");
        check_count++;
        if (n_got != n_want || memcmp(got, want, n_got)) {
            check_failures++;
            fprintf(stderr, "%s:%d: %s: the line is \"%.*s\", want \"%.*s\"\n", t->path, line, t->name,
                    (int)n_got, got, (int)n_want, want);
            return;
        }
        got += n_got;
        want += n_want;
        if (!*got || !*want) {
            CHECK_STR(got, want);
            return;
        }
        got++;
        want++;
    }
}

/* ---- tests ---- */

/* table: what sweep and report print. */
static void check_case(const struct test_case *t, const char *table)
{
    struct str text = {0};
    if (!strcmp(t->name, "terminal"))
        str_puts(&text, table);
    else
        read_file(&text, t->name);
    if (strstr(t->name, ".csv")) {
        check_csv(t, str_text(&text));
    } else {
        /* a section's text comes without its last newline */
        CHECK(text.len && text.data[text.len - 1] == '\n');
        if (text.len)
            text.data[text.len - 1] = 0;
        same_lines(t, str_text(&text));
    }
    str_release(&text);
}

static void test_golden(const char *path)
{
    struct run r;
    struct err e = {0};
    struct str text = {0}, table = {0};
    const char *const paths[] = {path, SOURCE_DIR "/tests/evalcore/report/csv_golden.test"};
    plain_run(&r);
    CHECK_INT(report_write_with(&r, &(struct report_options){0}, folder, &table, &e), 0);
    for (int i = 0; i < 2; i++) {
        struct cases c;
        struct test_case t;
        cases_open(&c, paths[i]);
        while (cases_next(&c, &t))
            check_case(&t, str_text(&table));
        cases_close(&c);
    }
    CHECK(is_written("heat_delta_relay.svg") && is_written("accuracy_budget_relay.svg") &&
          is_written("length_cdf_relay.svg"));
    CHECK(is_written("problems_my-quiz-part-1.svg"));
    CHECK(!is_written("against.csv"));

    /* the page: one file, nothing fetched, no script but its own, no text of a problem */
    const char *page = read_file(&text, "index.html");
    CHECK_INT(count_text(page, "http:") + count_text(page, "https:") + count_text(page, "//w"), 0);
    CHECK_INT(count_text(page, "<script"), 2); /* data and page.js */
    CHECK_INT(count_text(page, "default-src 'none'"), 1);
    CHECK_INT(count_text(page, "script-src 'sha256-"), 1);
    CHECK_INT(count_text(page, "SECRET"), 0);
    CHECK_INT(count_text(page, "REFERENCE"), 10 + 4); /* beside the answers of each task, once */
    /* The answer, then the figures, then the tables; the first figure stood behind five tables. */
    CHECK(strstr(page, "By policy:") < strstr(page, "<svg ") &&
          strstr(page, "<svg ") < strstr(page, "<table"));
    CHECK(count_text(page, "<details class=\"part\">") == count_text(page, "<summary><h2>") &&
          strstr(page, "<section id=\"health\">\n<details"));
    CHECK_INT(count_text(page, "<b>|"), 0);
    CHECK(count_text(page, "quest &lt;b&gt;|k_pages=4") > 2);
    CHECK(count_text(page, "<svg ") >= 8);
    CHECK_INT(count_text(page, "<svg "), count_text(page, "</svg>"));
    CHECK_INT(count_text(page, "<table"), count_text(page, "</table>"));
    CHECK_INT(count_text(page, "<div"), count_text(page, "</div>"));
    CHECK(count_text(page, "incomplete 64/66 (biased to short)") == 1);
    CHECK(count_text(page, "policy inactive") >= 2);
    CHECK_INT(count_text(read_file(&text, "report.md"), "SECRET"), 0);
    /* several samples: an exact test was called random, and "none" stood where three problems can be marked
     */
    CHECK_INT(count_text(str_text(&text), "random sign flips") + count_text(str_text(&text), "**none**"), 0);
    str_release(&text);
    str_release(&table);
    fake_release(&r);
}

/* Many tasks and long labels: no line of the terminal's table is longer than it says, nothing is lost, and a
 * label cannot steer the terminal. */
static void test_wide_table(void)
{
    enum { TASKS = 9 };
    static const struct fake_policy policies[] = {
        {"full", "full", "{}", "", "", "", "", "", "everything", 1, 1},
        {"delta",
         "delta \xE2\x80\xAE\x1b[31m\xC2\x9B"
         "31m of a name that goes on and on, \xC2\xB1 and on and on",
         "{\"k_pages\":8}", "8", "", "", "k_pages", "8", "8 pages", 0.5, 0},
    };
    struct fake_task tasks[TASKS];
    struct run r;
    struct report rep;
    struct arena a = {0};
    struct str text = {0};
    for (int i = 0; i < TASKS; i++)
        tasks[i] = (struct fake_task){
            "relay", arena_printf(&a, "task %d with a label that is rather long", i), "accuracy", 0, 100, 50};
    const struct fake_options o = {.policies = policies,
                                   .n_policies = 2,
                                   .tasks = tasks,
                                   .n_tasks = TASKS,
                                   .problems = 12,
                                   .samples = 1,
                                   .limit = 1000,
                                   .missing_every = 5,
                                   .seed = 3};
    fake_run(&r, &o);
    report_compute(&rep, &r, &a);
    report_text(&text, &rep);
    for (const char *line = str_text(&text); *line; line += strcspn(line, "\n") + 1) {
        int width = 0;
        for (size_t i = 0; i < strcspn(line, "\n"); i++)
            width += ((unsigned char)line[i] & 0xC0) != 0x80;
        CHECK(width <= REPORT_TEXT_COLUMNS);
    }
    char *cautions = strstr(text.data, "\n! "); /* they name tasks again */
    if (cautions)
        *cautions = 0;
    for (int i = 0; i < TASKS; i++) {
        char name[40];
        snprintf(name, sizeof name, "task %d with a label that", i);
        CHECK_INT(count_text(str_text(&text), name), 1);
    }
    CHECK_INT(count_text(str_text(&text), "\x1b"), 0);
    CHECK_INT(count_text(str_text(&text), "\xE2\x80\xAE"), 0); /* turned the rest of its line round */
    CHECK_INT(count_text(str_text(&text), "\xC2\x9B"), 0);     /* the one-character form of escape-bracket */
    CHECK_INT(count_text(str_text(&text), " *"), TASKS);       /* the cells of delta */
    CHECK(count_text(str_text(&text), "* incomplete") == 1);
    str_release(&text);
    fake_release(&r);
    arena_release(&a);
}

/* Figures that the earlier report showed go, files that somebody put there stay. */
static void test_foreign_files(void)
{
    struct run r;
    struct err e = {0};
    struct str path = {0}, text = {0};
    plain_run(&r);
    CHECK_INT(report_write_with(&r, &(struct report_options){0}, folder, NULL, &e), 0);
    in_folder(&path, "mine.svg");
    CHECK_INT(file_write_atomic(str_text(&path), "x", 1, &e), 0);
    in_folder(&path, "against.csv");
    CHECK_INT(file_write_atomic(str_text(&path), "x", 1, &e), 0);
    r.n_cells = 1; /* no heat map any more */
    CHECK_INT(report_write_with(&r, &(struct report_options){0}, folder, NULL, &e), 0);
    CHECK(!is_written("heat_delta_relay.svg") && is_written("length_cdf_relay.svg"));
    CHECK(is_written("mine.svg") && is_written("against.csv"));
    CHECK_INT(count_text(read_file(&text, "report.md"), "No baseline was named"),
              0); /* full is the baseline */
    CHECK_INT(count_text(str_text(&text), "no cell beside the baseline, so cells are not compared"), 1);
    in_folder(&path, "mine.svg");
    unlink(str_text(&path));
    in_folder(&path, "against.csv");
    unlink(str_text(&path));
    str_release(&text);
    str_release(&path);
    fake_release(&r);
}

static void test_numbers(void)
{
    struct run r;
    struct report rep;
    struct arena a = {0};
    plain_run(&r);
    report_compute(&rep, &r, &a);
    const struct cell_stats *s = &rep.cells[1];
    CHECK_INT(s->count[VERDICT_CORRECT], 2);
    CHECK_INT(s->count[VERDICT_UNFINISHED], 3);
    CHECK_INT(s->count[VERDICT_TRUNCATED], 1);
    CHECK_INT(s->n_length, 4);
    CHECK_NEAR(s->accuracy, 0.2, 1e-12);
    CHECK_NEAR(s->kv_density, 0.5, 1e-12);
    CHECK_NEAR(s->aux_density, 0.125, 1e-12);
    double steps = 0, contexts = 0; /* the records' reads_full is less: a model whose layers have windows */
    for (int i = 0; i < r.cells[1].n_records; i++)
        for (int k = 1; k <= report_decode_steps(&r.cells[1], &r.cells[1].records[i]); k++, steps++)
            contexts += r.cells[1].records[i].prompt_tokens + k;
    CHECK_NEAR(s->mean_context, contexts / steps, 1e-9);
    CHECK_NEAR(s->budget_tokens, 128, 1e-9);
    CHECK_INT(s->activity, ACTIVITY_USED);
    CHECK_INT(rep.cells[0].activity, ACTIVITY_FULL);
    CHECK_INT(rep.cells[6].activity, ACTIVITY_INACTIVE);
    CHECK_INT(rep.cells[6].cell->n_records, 6);
    CHECK_NEAR(rep.cells[6].accuracy, 0.5, 1e-12); /* the failed job stays in the denominator */
    CHECK_INT(rep.n_rows, 6);
    CHECK_INT(rep.n_columns, 2);
    CHECK_INT(rep.n_pairs, 5);
    const struct pair *p = report_pair_of(&rep, 1);
    CHECK(p && p->both == 2 && p->only_a == 7 && p->only_b == 0 && p->neither == 1);
    CHECK(p && fabs(p->p - 2 / 128.0) < 1e-12 && fabs(p->holm - 8 / 128.0) < 1e-12);
    CHECK(report_pair_of(&rep, 0) == NULL);
    /* two samples a problem, three problems in common: 1 and 1, 1 and 1/2, 1/2 and 0 */
    p = report_pair_of(&rep, 6);
    CHECK(p && p->problems == 3 && !p->is_single && !strcmp(p->test, "stratified_exact"));
    CHECK(p && fabs(p->delta - (0 - 0.5 - 0.5) / 3) < 1e-12);
    CHECK_STR(report_label_without(&a, "delta k_pages=8 l_pages=2", "k_pages"), "delta l_pages=2");
    CHECK_STR(report_label_without(&a, "delta k_pages=8", "k_pages"), "delta");
    CHECK_STR(report_label_without(&a, "mine", "k_pages"), "mine");
    CHECK_STR(report_label_without(&a, "x mink_pages=8", "k_pages"), "x mink_pages=8");
    CHECK_STR(report_slug(&a, "A b/../C_1\xC3\xA9"), "a-b-c_1");
    arena_release(&a);
    fake_release(&r);
}

static const struct fake_policy fake_policies[] = {
    {"full", "full", "{}", "", "", "", "", "", "everything", 1, 2.2},
    {"quest", "quest k_pages=8", "{\"k_pages\":8}", "8", "", "", "k_pages", "8", "8 pages", 0.4, 0.9},
    {"raas", "raas budget_tokens=9000", "{\"budget_tokens\":9000}", "", "", "9000", "budget_tokens", "9000",
     "9000 tokens", 1, 2.2},
    {"dms", "dms cr=4", "{\"cr\":4,\"window\":16}", "", "", "", "cr", "4", "cr 4", 0.26, 2.0},
};
static const struct fake_task fake_list[] = {{"relay", "relay", "accuracy", 0, 930, 346},
                                             {"longbench", "qasper", "score", 0.2, 60, 3000}};

static void test_against(void)
{
    struct fake_options o = {.policies = fake_policies,
                             .n_policies = 4,
                             .tasks = fake_list,
                             .n_tasks = 2,
                             .problems = 30,
                             .samples = 2,
                             .limit = 1400,
                             .seed = 7};
    struct run now, old;
    struct err e = {0};
    struct str text = {0};
    fake_run(&now, &o);
    o.seed = 8;
    o.missing_every = 5;
    fake_run(&old, &o);
    old.cells[1].params = "{\"k_pages\":9}";
    CHECK_INT(report_write_with(&now, &(struct report_options){.against = &old}, folder, NULL, &e), 0);
    const char *csv = read_file(&text, "against.csv");
    CHECK_INT(count_text(csv, "\n"), 9);
    CHECK_INT(count_text(csv, "policy options"), 1);
    CHECK_INT(count_text(csv, "stratified_exact"), 4);
    CHECK_INT(count_text(csv, "signflip_"), 4);
    CHECK(count_text(read_file(&text, "accuracy.csv"), "budget not reached") == 2);
    CHECK(strstr(read_file(&text, "index.html"), "Compared with another run") != NULL);
    /* figures of the earlier report are gone, and a later report without --against leaves none behind */
    CHECK(!is_written("heat_delta_relay.svg") && is_written("accuracy_reads_qasper.svg"));
    CHECK_INT(report_write_with(&now, &(struct report_options){0}, folder, NULL, &e), 0);
    CHECK(!is_written("against.csv"));

    /* the same run against itself: no difference anywhere */
    struct report a;
    struct arena arena = {0};
    report_compute(&a, &now, &arena);
    report_against(&a, &a);
    CHECK_INT(a.n_against, 8);
    for (int i = 0; i < a.n_against; i++) {
        const struct against *x = &a.against[i];
        CHECK(x->pair.delta == 0 && x->pair.p == 1 && x->length_ratio == 1 && x->dropped == 0);
        CHECK_STR(x->differs, "");
    }
    arena_release(&arena);
    str_release(&text);
    fake_release(&now);
    fake_release(&old);
}

/* Cells of one model were paired with those of another that came first, and one model's p values were
 * adjusted for the number of the other's. Other references and missing answers were not told. */
static void test_against_pairs_models(void)
{
    struct fake_policy list[] = {fake_policies[0], fake_policies[1], fake_policies[0], fake_policies[1]};
    struct fake_options o = {.policies = list,
                             .n_policies = 4,
                             .tasks = fake_list,
                             .n_tasks = 1,
                             .problems = 30,
                             .samples = 1,
                             .limit = 1400,
                             .seed = 7};
    struct run now, old;
    struct report a, b;
    struct arena arena = {0};
    fake_run(&now, &o);
    o.missing_every = 5;
    fake_run(&old, &o);
    for (int i = 0; i < 4; i++) {
        now.cells[i].model = i < 2 ? "one" : "two";
        old.cells[i].model = i < 2 ? "two" : "one";
    }
    now.cells[2].baseline = -1;
    now.cells[3].baseline = 2;
    old.tasks[0].problems[1].gold = "another";
    report_compute(&a, &now, &arena);
    report_compute(&b, &old, &arena);
    CHECK_INT(a.n_pairs, 2);
    CHECK(a.pairs[0].p < 1 && a.pairs[0].holm == a.pairs[0].p && a.pairs[1].holm == a.pairs[1].p);
    report_against(&a, &b);
    CHECK_INT(a.n_against, 4);
    for (int i = 0; i < 4; i++)
        CHECK_INT(a.against[i].pair.a, (i + 2) % 4);
    CHECK_STR(a.against[0].differs, "reference answers (1), missing answers (6)");
    for (int i = 0; i < 4; i++)
        old.cells[i].model = "three";
    report_against(&a, &b);
    CHECK_INT(a.n_against, 0);
    old.n_cells = now.n_cells = 1;
    report_against(&a, &b);
    CHECK_INT(a.n_against, 1);
    arena_release(&arena);
    fake_release(&now);
    fake_release(&old);
}

static void test_empty(void)
{
    /* a run folder where nothing has finished yet, and one without a baseline */
    struct fake_options o = {.policies = fake_policies,
                             .n_policies = 3,
                             .tasks = fake_list,
                             .n_tasks = 1,
                             .problems = 3,
                             .samples = 1,
                             .limit = 1400,
                             .seed = 7};
    struct run r;
    struct err e = {0};
    struct str text = {0};
    fake_run(&r, &o);
    for (int i = 0; i < r.n_cells; i++) {
        r.cells[i].n_records = 0;
        r.cells[i].baseline = -1;
    }
    r.n_done = 0;
    CHECK_INT(report_write_with(&r, &(struct report_options){0}, folder, NULL, &e), 0);
    const char *md = read_file(&text, "report.md");
    CHECK(strstr(md, "incomplete 0/9") && strstr(md, "not run yet") && strstr(md, "cells are not compared"));
    CHECK_INT(count_text(md, "nan"), 0);
    CHECK_INT(count_text(md, "## Figures") + count_text(md, "## Problem by problem"), 0);
    CHECK_INT(count_text(read_file(&text, "pairs.csv"), "\n"), 1);
    CHECK_INT(count_text(read_file(&text, "accuracy.csv"), ",3,0,0,,,,,0,0,0,0,,,"), 3);
    CHECK_INT(report_write_with(&r, &(struct report_options){0}, "/proc/nowhere", NULL, &e), ERR_IO);
    CHECK(strstr(e.text, "/proc/nowhere") != NULL);
    str_release(&text);
    fake_release(&r);
}

static int has_caution(const struct cautions *c, const char *what)
{
    int n = 0;
    for (int i = 0; i < c->n; i++)
        n += strstr(c->text[i], what) != NULL;
    return n;
}

/* Two greedy samples of a problem were counted as two answers. */
static void test_greedy_samples_count_once(void)
{
    struct run r;
    struct report rep;
    struct arena a = {0};
    plain_run(&r);
    report_compute(&rep, &r, &a);
    struct cautions none = report_cautions(&rep);
    CHECK_INT(has_caution(&none, "decodes greedily"), 0);
    CHECK_INT(has_caution(&none, "beyond the model's context"), 0);
    r.cells[5].temperature = r.cells[6].temperature = 0;
    for (int i = 0; i < r.n_cells; i++)
        r.cells[i].max_context = 350;
    for (int i = 0; i < 3; i++)
        r.tasks[0].problems[i].prompt_tokens = 100;
    report_compute(&rep, &r, &a);
    const struct pair *p = report_pair_of(&rep, 6);
    CHECK(p && p->is_single && p->problems == 3 && p->only_a == 2 && !strcmp(p->test, "mcnemar_exact"));
    /* the accuracy was that of all completions, its interval that of the ones that count: 1, 0, 0 of 1, 1, 0
     */
    CHECK_NEAR(rep.cells[6].accuracy, 1 / 3.0, 1e-12);
    CHECK(rep.cells[6].ci.low < 1 / 3.0 && 1 / 3.0 < rep.cells[6].ci.high);
    struct cautions c = report_cautions(&rep);
    CHECK_INT(has_caution(&c, "the 2 samples of a problem are the same completion again"), 1);
    CHECK_INT(has_caution(&c, "the model's context of 350 for 3 of 10 problems of relay"), 1);
    r.tasks[0].problems[0].own_max_new = 20;
    c = report_cautions(&rep);
    CHECK_INT(has_caution(&c, "the model's context of 350 for 2 of 10 problems of relay"), 1);
    for (int i = 0; i < r.n_cells; i++) /* a problem's own limit was taken where the run file gives one */
        r.cells[i].is_limit_set = 1;
    c = report_cautions(&rep);
    CHECK_INT(has_caution(&c, "the model's context of 350 for 3 of 10 problems of relay"), 1);
    arena_release(&a);
    fake_release(&r);
}

/* A baseline that solves nothing, or everything, leaves no room. */
static void test_baseline_at_an_end(void)
{
    struct run r;
    struct report rep;
    struct arena a = {0};
    plain_run(&r);
    for (int i = 0; i < 10; i++)
        ((struct record *)r.cells[0].records)[i].score = 0;
    for (int i = 0; i < 8; i++)
        ((struct record *)r.cells[5].records)[i].score = 1;
    report_compute(&rep, &r, &a);
    struct cautions c = report_cautions(&rep);
    CHECK_INT(has_caution(&c, "The baseline solves nothing of relay:"), 1);
    CHECK_INT(has_caution(&c, "The baseline solves all of my \"quiz\", part 1:"), 1);
    CHECK(!(report_pair_of(&rep, 1)->could & 1U << MARK_LOWER));
    CHECK(!(report_pair_of(&rep, 6)->could & 1U << MARK_HIGHER));
    /* Others have the second task, too. */
    CHECK_INT(has_caution(&c, "solves of all tasks of "), 1);
    arena_release(&a);
    fake_release(&r);
}

/* A baseline that knew no more than one who guesses: what lost everything was as good as it. */
static void test_baseline_that_guesses(void)
{
    struct run r;
    struct report rep;
    struct arena a = {0};
    plain_run(&r);
    for (int c = 0; c < 2; c++)
        for (int i = 0; i < 10; i++)
            ((struct record *)r.cells[c].records)[i].score = i < 6;
    report_compute(&rep, &r, &a);
    struct cautions c = report_cautions(&rep);
    CHECK_INT(has_caution(&c, "guessing"), 0);
    CHECK(!report_pair_of(&rep, 1)->is_below_margin);
    for (int i = 0; i < 10; i++)
        r.tasks[0].problems[i].n_options = i < 8 ? 2 : 1;
    report_compute(&rep, &r, &a);
    c = report_cautions(&rep);
    CHECK_INT(has_caution(&c, "more than one who guesses of relay (60 [31-83] %, guessing 60 %)"), 1);
    CHECK(report_pair_of(&rep, 1)->is_below_margin);
    /* Where options are scored, any of two accepted ones was right, and guessing counted as if one were. */
    for (int i = 0; i < 10; i++) {
        r.tasks[0].problems[i].n_options = 4;
        r.tasks[0].problems[i].n_golds = 2;
        r.tasks[0].problems[i].option_lengths = i < 8 ? (const int[]){1, 1, 1, 1} : NULL;
    }
    report_compute(&rep, &r, &a);
    c = report_cautions(&rep);
    CHECK_INT(has_caution(&c, "guesses"), 0);
    CHECK_NEAR(run_chance(&r.tasks[0].problems[0]), 0.5, 0);
    CHECK_NEAR(run_chance(&r.tasks[0].problems[9]), 0.25, 0);
    arena_release(&a);
    fake_release(&r);
}

int main(int argc, char **argv)
{
    struct err e = {0};
    open_folder("test_report");
    log_set_quiet(1); /* the runs here have an inactive policy, and its warning is expected */
    test_golden(argc > 1 ? argv[1] : NULL);
    test_wide_table();
    test_greedy_samples_count_once();
    test_baseline_at_an_end();
    test_baseline_that_guesses();
    test_foreign_files();
    test_numbers();
    test_against();
    test_against_pairs_models();
    test_empty();
    file_remove_tree(folder, &e);
    return check_done();
}
