/* Reports of small runs made in memory: the CSV files and the markdown byte for byte, the page by its
 * properties. */
#include "tests/cases.h"

#include <dirent.h>
#include <unistd.h>

#include "evalcore/base/file.h"
#include "evalcore/base/log.h"
#include "evalcore/report/report.h"
#include "evalcore/report/report_parts.h"
#include "tests/evalcore/report/fake_run.h"

/* ---- a run of seven cells written by hand: one letter a job, by problem and then sample ----
 * C correct, W wrong, U unparsed, T truncated, F unfinished, E error, '.' missing */
struct plain_cell {
    const char *label, *policy, *params, *k, *l, *key, *budget, *rule, *jobs;
    double density;
};
static const struct plain_cell relay_cells[] = {
    {"full", "full", "{}", "", "", "", "", "everything", "CCCCCCCCCW", 1},
    {"delta k_pages=8 l_pages=2", "delta", "{\"k_pages\":8,\"l_pages\":2}", "8", "2", "k_pages", "8",
     "8 pages of 16 tokens, the last 2 among them", "FFWWFUCCWT", 0.5},
    {"delta k_pages=8 l_pages=4", "delta", "{\"k_pages\":8,\"l_pages\":4}", "8", "4", "k_pages", "8",
     "8 pages of 16 tokens, the last 4 among them", "CFCWCUCCCW", 0.5},
    {"delta k_pages=16 l_pages=2", "delta", "{\"k_pages\":16,\"l_pages\":2}", "16", "2", "k_pages", "16",
     "16 pages of 16 tokens, the last 2 among them", "CCCWCUCCCW", 0.75},
    {"delta k_pages=16 l_pages=4", "delta", "{\"k_pages\":16,\"l_pages\":4}", "16", "4", "k_pages", "16",
     "16 pages of 16 tokens, the last 4 among them", "CCCCCCCCCC", 0.75},
};
static const struct plain_cell quiz_cells[] = {
    {"full", "full", "{}", "", "", "", "", "everything", "CCCCCWWW", 1},
    {"quest <b>|k_pages=4", "quest", "{\"k_pages\":4}", "4", "", "k_pages", "4", "4 pages of 16 tokens",
     "CCWCWE..", 1},
};

static void plain_record(struct record *r, const struct plain_cell *p, int at, int samples, char job)
{
    static const char letters[] = "CWUTFE";
    static const enum verdict verdicts[] = {VERDICT_CORRECT,   VERDICT_WRONG,      VERDICT_UNPARSED,
                                            VERDICT_TRUNCATED, VERDICT_UNFINISHED, VERDICT_ERROR};
    enum verdict v = verdicts[strchr(letters, job) - letters];
    int cut = v == VERDICT_TRUNCATED || v == VERDICT_UNFINISHED, failed = v == VERDICT_ERROR;
    *r = (struct record){.problem = at / samples,
                         .sample = at % samples,
                         .key = "k",
                         .prompt_tokens = 100,
                         .tokens = failed ? 0
                                   : cut  ? 300
                                          : 101 + 10 * at,
                         .finish = failed ? FINISHED_ERROR
                                   : cut  ? FINISHED_LENGTH
                                          : FINISHED_STOP,
                         .error = failed ? "no memory" : "",
                         .verdict = v,
                         .score = v == VERDICT_CORRECT,
                         .reason = "",
                         .gold_form = "",
                         .pred_form = ""};
    if (failed)
        return;
    r->kv.reads_full = 200.0 * (r->tokens - 1);
    r->kv.reads = r->kv.reads_full * p->density;
    r->kv.aux_reads = r->kv.reads_full / 8;
    r->kv.peak_tokens = 100 + r->tokens;
}

static void plain_cells(struct run *r, const struct run_task *t, const struct plain_cell *list, int n,
                        int samples)
{
    int base = r->n_cells;
    for (int i = 0; i < n; i++) {
        const struct plain_cell *p = &list[i];
        struct cell *c = &r->cells[r->n_cells++];
        *c = (struct cell){.id = arena_printf(&r->arena, "%s-%08d", p->policy, r->n_cells),
                           .label = p->label,
                           .policy_label = p->label,
                           .model = "pocket",
                           .policy = p->policy,
                           .preset = i == 1 ? "paper" : "",
                           .params = p->params,
                           .k_pages = p->k,
                           .l_pages = p->l,
                           .budget_tokens = "",
                           .budget_key = p->key,
                           .budget = p->budget,
                           .budget_value = *p->budget ? strtod(p->budget, NULL) : NAN,
                           .budget_rule = p->rule,
                           .settings = "{\"temperature\":0}",
                           .settings_label = "",
                           .identity = "",
                           .samples = samples,
                           .max_new_tokens = 300,
                           .task = t,
                           .baseline = i ? base : -1,
                           .is_baseline = !i,
                           .n_expected = (int)strlen(p->jobs)};
        struct record *records = arena_alloc(&r->arena, strlen(p->jobs) * sizeof *records);
        for (int k = 0; p->jobs[k]; k++)
            if (p->jobs[k] != '.')
                plain_record(&records[c->n_records++], p, k, samples, p->jobs[k]);
        c->records = records;
        r->n_expected += c->n_expected;
        r->n_done += c->n_records;
    }
}

static void plain_run(struct run *r)
{
    *r = (struct run){.dir = "out/plain",
                      .model = "pocket",
                      .weights = "0123456789abcdef",
                      .numerics = "cpu fp32",
                      .device = "some processor",
                      .version = "0.1",
                      .grader = "1",
                      .baseline = "full",
                      .n_tasks = 2};
    r->tasks = arena_alloc(&r->arena, 2 * sizeof *r->tasks);
    r->cells = arena_alloc(&r->arena, 7 * sizeof *r->cells);
    for (int t = 0; t < 2; t++) {
        struct run_task *k = &r->tasks[t];
        *k = (struct run_task){.name = t ? "choice" : "relay",
                               .label = t ? "my \"quiz\", part 1" : "relay",
                               .version = "1",
                               .metric = "accuracy",
                               .source = "feedfacefeedface",
                               .options = "{}",
                               .file = "",
                               .n_problems = t ? 4 : 10};
        k->problems = arena_alloc(&r->arena, 10 * sizeof *k->problems);
        for (int i = 0; i < k->n_problems; i++)
            k->problems[i] = (struct run_problem){.id = arena_printf(&r->arena, "p%d", i + 1),
                                                  .prompt = "SECRET",
                                                  .prompt_sha256 = "",
                                                  .gold = "SECRET"};
    }
    plain_cells(r, &r->tasks[0], relay_cells, 5, 1);
    plain_cells(r, &r->tasks[1], quiz_cells, 2, 2);
    r->config = json_pack("{s:s}", "note", "</pre><script>alert(1)</script>");
}

/* ---- reading what was written ---- */

static char folder[256];

static void in_folder(struct str *path, const char *name)
{
    str_clear(path);
    file_join(path, folder, name);
}

static const char *read_file(struct str *out, const char *name)
{
    struct str path = {0};
    struct err e = {0};
    in_folder(&path, name);
    str_clear(out);
    if (file_read(str_text(&path), out, &e))
        fprintf(stderr, "%s\n", e.text);
    str_release(&path);
    return str_text(out);
}

static int exists(const char *name)
{
    struct str path = {0};
    in_folder(&path, name);
    int yes = file_exists(str_text(&path));
    str_release(&path);
    return yes;
}

static int count(const char *text, const char *what)
{
    int n = 0;
    for (const char *p = text; (p = strstr(p, what)) != NULL; p++)
        n++;
    return n;
}

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

static void test_golden(const char *path)
{
    struct run r;
    struct err e = {0};
    struct str text = {0}, table = {0};
    struct cases c;
    struct test_case t;
    plain_run(&r);
    CHECK_INT(report_write_run(&r, NULL, folder, &table, &e), 0);
    cases_open(&c, path);
    while (cases_next(&c, &t)) {
        if (!strcmp(t.name, "terminal")) { /* what sweep and report print, no file */
            str_clear(&text);
            str_puts(&text, str_text(&table));
        } else {
            read_file(&text, t.name);
        }
        /* a section's text comes without its last newline */
        CHECK(text.len && text.data[text.len - 1] == '\n');
        if (text.len)
            text.data[text.len - 1] = 0;
        same_lines(&t, str_text(&text));
    }
    cases_close(&c);
    CHECK(exists("heat_delta_relay.svg") && exists("accuracy_budget_relay.svg") &&
          exists("length_cdf_relay.svg"));
    CHECK(exists("problems_my-quiz-part-1.svg"));
    CHECK(!exists("against.csv"));

    /* the page: one file, nothing fetched, nothing executed, no text of a problem */
    const char *page = read_file(&text, "index.html");
    CHECK_INT(count(page, "http"), 0);
    CHECK_INT(count(page, "<script"), 0);
    CHECK_INT(count(page, "SECRET"), 0);
    CHECK_INT(count(page, "<b>|"), 0);
    CHECK(count(page, "quest &lt;b&gt;|k_pages=4") > 2);
    CHECK(count(page, "<svg ") >= 8);
    CHECK_INT(count(page, "<svg "), count(page, "</svg>"));
    CHECK_INT(count(page, "<table"), count(page, "</table>"));
    CHECK_INT(count(page, "<div"), count(page, "</div>"));
    CHECK(count(page, "incomplete 64/66 (biased to short)") == 1);
    CHECK(count(page, "policy inactive") >= 2);
    CHECK_INT(count(read_file(&text, "report.md"), "SECRET"), 0);
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
         "delta \x1b[31m\xC2\x9B"
         "31m of a name that goes on and on, \xC2\xB1 and on and on",
         "{}", "8", "", "", "k_pages", "8", "8 pages", 0.5, 0},
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
    for (int i = 0; i < TASKS; i++) {
        char name[40];
        snprintf(name, sizeof name, "task %d with a label that", i);
        CHECK_INT(count(str_text(&text), name), 1);
    }
    CHECK_INT(count(str_text(&text), "\x1b"), 0);
    CHECK_INT(count(str_text(&text), "\xC2\x9B"), 0); /* the one-character form of escape-bracket */
    CHECK_INT(count(str_text(&text), " *"), TASKS);   /* the cells of delta */
    CHECK(count(str_text(&text), "* unfinished") == 1);
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
    CHECK_INT(report_write_run(&r, NULL, folder, NULL, &e), 0);
    in_folder(&path, "mine.svg");
    CHECK_INT(file_write_atomic(str_text(&path), "x", 1, &e), 0);
    in_folder(&path, "against.csv");
    CHECK_INT(file_write_atomic(str_text(&path), "x", 1, &e), 0);
    r.n_cells = 1; /* no heat map any more */
    CHECK_INT(report_write_run(&r, NULL, folder, NULL, &e), 0);
    CHECK(!exists("heat_delta_relay.svg") && exists("length_cdf_relay.svg"));
    CHECK(exists("mine.svg") && exists("against.csv"));
    CHECK_INT(count(read_file(&text, "report.md"), "No baseline was named"), 0); /* full is the baseline */
    CHECK_INT(count(str_text(&text), "no cell beside the baseline, so cells are not compared"), 1);
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
    CHECK_NEAR(s->mean_context, 200, 1e-9);
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
    CHECK(p && p->problems == 3 && !p->is_single && !strcmp(p->test, "signflip_exact"));
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
    CHECK_INT(report_write_run(&now, &old, folder, NULL, &e), 0);
    const char *csv = read_file(&text, "against.csv");
    CHECK_INT(count(csv, "\n"), 9);
    CHECK_INT(count(csv, "policy options"), 1);
    CHECK_INT(count(csv, "signflip_"), 8);
    CHECK(count(read_file(&text, "accuracy.csv"), "budget not reached") == 2);
    CHECK(strstr(read_file(&text, "index.html"), "Compared with another run") != NULL);
    /* figures of the earlier report are gone, and a later report without --against leaves none behind */
    CHECK(!exists("heat_delta_relay.svg") && exists("accuracy_reads_qasper.svg"));
    CHECK_INT(report_write_run(&now, NULL, folder, NULL, &e), 0);
    CHECK(!exists("against.csv"));

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
    CHECK_INT(report_write_run(&r, NULL, folder, NULL, &e), 0);
    const char *md = read_file(&text, "report.md");
    CHECK(strstr(md, "incomplete 0/9") && strstr(md, "not run yet") && strstr(md, "cells are not compared"));
    CHECK_INT(count(md, "nan"), 0);
    CHECK_INT(count(read_file(&text, "pairs.csv"), "\n"), 1);
    CHECK_INT(count(read_file(&text, "accuracy.csv"), ",3,0,0,,,,,0,0,0,0,,,"), 3);
    CHECK_INT(report_write_run(&r, NULL, "/proc/nowhere", NULL, &e), ERR_IO);
    CHECK(strstr(e.text, "/proc/nowhere") != NULL);
    str_release(&text);
    fake_release(&r);
}

int main(int argc, char **argv)
{
    struct err e = {0};
    snprintf(folder, sizeof folder, "test_report.%ld", (long)getpid());
    log_set_quiet(1); /* the runs here have an inactive policy, and its warning is expected */
    test_golden(argc > 1 ? argv[1] : NULL);
    test_wide_table();
    test_foreign_files();
    test_numbers();
    test_against();
    test_empty();
    file_remove_tree(folder, &e);
    return check_done();
}
