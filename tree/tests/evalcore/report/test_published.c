/* Figures of a paper beside the hand-made run: the rows of published.csv, the section's text, and what is
 * not compared. Cases: published.test. */
#include "tests/cases.h"

#include "evalcore/base/log.h"
#include "evalcore/report/report.h"
#include "evalcore/report/report_parts.h"
#include "tests/evalcore/report/csv_rows.h"
#include "tests/evalcore/report/plain_run.h"
#include "tests/evalcore/report/written.h"

/* The case's figures, one a line, become those of the run folder's configuration. */
static void set_figures(struct run *r, const char *text)
{
    json_t *list = json_array();
    struct err e = {0};
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        json_t *o = NULL;
        CHECK_INT(json_read_text(&o, line, strcspn(line, "\n"), "figure", &e), 0);
        json_array_append_new(list, o);
    }
    json_object_set_new(r->config, "published", list);
}

/* The first seven cells become four data sets of LongBench under full attention and the others of no use. */
static void make_longbench(struct run *r)
{
    static const char *const subsets[] = {"qasper", "narrativeqa", "lcc", "trec", "hotpotqa"};
    struct run_task *t = arena_alloc(&r->arena, 5 * sizeof *t);
    for (int i = 0; i < 5; i++) {
        t[i] = r->tasks[0];
        t[i].name = "longbench";
        t[i].metric = "score";
        t[i].label = subsets[i];
        t[i].problems = arena_alloc(&r->arena, 10 * sizeof *t[i].problems);
        for (int k = 0; k < 10; k++) {
            t[i].problems[k] = r->tasks[0].problems[k];
            t[i].problems[k].subset = subsets[i];
        }
        r->cells[i].task = &t[i];
        r->cells[i].policy = r->cells[i].policy_label = r->cells[i].label = "full";
        r->cells[i].params = "{}";
    }
    r->tasks = t; /* the place of a task in a run is counted from here */
    r->n_tasks = 5;
    r->n_cells = 5;
}

/* "0 15 30": of task 0 the first 15 of a published set of 30, as the folder says it. */
static void set_known(struct run *r, const char *text)
{
    char *end;
    struct run_task *t = &r->tasks[strtol(text, &end, 10)];
    t->set_first = (int)strtol(end, &end, 10);
    t->set_size = (int)strtol(end, &end, 10);
    t->set = "PART OF A SET";
}

static void check_file(const struct test_case *c, const char *section, const char *file)
{
    static struct csv_file f;
    struct str text = {0};
    csv_file_read(&f, strdup(read_file(&text, file)));
    check_named(c, section, &f);
    free(f.text);
    str_release(&text);
}

static void run_case(const struct test_case *c)
{
    struct run r;
    struct err e = {0};
    struct str text = {0};
    const char *model = case_text(c, "model");
    plain_run(&r);
    for (int i = 0; i < r.n_cells && model; i++)
        r.cells[i].model = model;
    for (int i = 0; i < r.n_cells && case_text(c, "path"); i++)
        r.cells[i].model_path = case_text(c, "path");
    if (case_text(c, "label"))
        r.cells[1].policy_label = case_text(c, "label");
    if (case_text(c, "samples")) { /* the same ten answers to five problems */
        for (int i = 0; i < 5; i++) {
            r.cells[i].temperature = 0.6;
            for (int k = 0; k < r.cells[i].n_records; k++)
                ((struct record *)r.cells[i].records)[k].problem = k / 2;
        }
        r.tasks[0].n_problems = 5;
    }
    if (case_text(c, "longbench"))
        make_longbench(&r);
    if (case_text(c, "missing"))
        r.cells[0].n_records--;
    if (case_text(c, "unfinished"))
        r.cells[0].n_records = 0;
    if (case_text(c, "set"))
        set_known(&r, case_text(c, "set"));
    set_figures(&r, case_need(c, "figures"));
    CHECK_INT(report_write_with(&r, &(struct report_options){0}, folder, NULL, &e), 0);
    if (case_text(c, "published_csv"))
        check_file(c, "published_csv", "published.csv");
    if (case_text(c, "classes")) {
        check_file(c, "classes", "longbench.csv");
        read_file(&text, "report.md");
        CHECK(strstr(str_text(&text), "## LongBench by class") != NULL);
    } else {
        CHECK(!is_written("longbench.csv") || case_text(c, "longbench"));
    }
    if (case_text(c, "says")) {
        read_file(&text, "report.md");
        CHECK(strstr(str_text(&text), "## Compared with the paper") != NULL);
        if (!strstr(str_text(&text), case_text(c, "says"))) {
            check_failures++;
            fprintf(stderr, "%s:%d: %s: report.md does not say \"%s\"\n", c->path, c->line, c->name,
                    case_text(c, "says"));
        }
    }
    str_release(&text);
    fake_release(&r);
}

/* A report without figures has neither section nor file, and removes those of an earlier one. */
static void without_figures(void)
{
    struct run r;
    struct err e = {0};
    struct str text = {0};
    fake_one(&r);
    set_figures(&r, "{\"model\": \"pocket\"}");
    CHECK_INT(report_write_with(&r, &(struct report_options){0}, folder, NULL, &e), 0);
    CHECK(is_written("published.csv"));
    json_object_del(r.config, "published");
    CHECK_INT(report_write_with(&r, &(struct report_options){0}, folder, NULL, &e), 0);
    CHECK(!is_written("published.csv"));
    CHECK_INT(count_text(read_file(&text, "index.html"), "Compared with the paper"), 0);
    str_release(&text);
    fake_release(&r);
}

/* Two greedy answers to a problem are the same answer again: they counted twice, and lengths were added up.
 */
static void greedy_samples(void)
{
    struct run r;
    struct report rep;
    struct arena a = {0};
    plain_run(&r);
    r.cells[0].samples = 2;
    for (int k = 0; k < r.cells[0].n_records; k++) {
        ((struct record *)r.cells[0].records)[k] = r.cells[0].records[k - k % 2];
        ((struct record *)r.cells[0].records)[k].problem = k / 2;
        ((struct record *)r.cells[0].records)[k].sample = k % 2;
    }
    r.tasks[0].n_problems = 5;
    for (int c = 1; c < r.n_cells; c++) /* one answer a problem, of the five that are left */
        r.cells[c].n_records = r.cells[c].n_expected = 5;
    set_figures(
        &r, "{\"model\": \"pocket\", \"task\": \"relay\", \"policy\": \"full\", \"metric\": \"accuracy\", "
            "\"unit\": \"fraction\", \"settings\": {\"problems\": 30, \"samples\": 1}, \"value\": 0.37}\n"
            "{\"model\": \"pocket\", \"task\": \"relay\", \"policy\": \"full\", \"metric\": "
            "\"mean_tokens\", \"unit\": \"tokens\", \"settings\": {\"problems\": 5}, \"value\": 150}");
    report_compute(&rep, &r, &a);
    report_published(&rep);
    CHECK_INT(rep.n_published, 2);
    CHECK_INT(rep.published[0].is_single, 1);
    CHECK_NEAR(rep.published[0].p_answers, stat_fisher(11, 30, 5, 5), 1e-12);
    CHECK_NEAR(rep.published[0].p_answers, rep.published[0].p, 1e-12);
    struct interval ci = rep.published[1].ci; /* 101, 121, 141, 161 and 181 tokens */
    CHECK_NEAR(rep.published[1].measured, 141, 1e-9);
    CHECK_NEAR((ci.low + ci.high) / 2, 141, 1e-9);
    CHECK(ci.high - ci.low < 100);
    arena_release(&a);
    fake_release(&r);
}

int main(int argc, char **argv)
{
    struct cases c;
    struct test_case t;
    struct err e = {0};
    open_folder("test_published");
    log_set_quiet(1);
    cases_open(&c, argc > 1 ? argv[1] : NULL);
    while (cases_next(&c, &t))
        run_case(&t);
    cases_close(&c);
    without_figures();
    greedy_samples();
    file_remove_tree(folder, &e);
    return check_done();
}
