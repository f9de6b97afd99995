/* avg@n, pass@k and maj@n of a cell, by hand: the numbers, what is left out, and where there is no table. */
#include "tests/check.h"

#include "evalcore/base/log.h"
#include "evalcore/report/scaling/report_samples.h"
#include "evalcore/report/report.h"
#include "evalcore/report/report_parts.h"
#include "tests/evalcore/report/fake_run.h"
#include "tests/evalcore/report/written.h"

enum { SAMPLES = 4, PROBLEMS = 3 };

/* The right answer is a; c and d are wrong, and a dot is no answer. */
static const char *const answers[PROBLEMS] = {"aacd", "accd", "aa.c"};

static void make(struct run *r)
{
    static const struct fake_policy full = {"full", "full", "{}", "", "", "", "", "", "everything", 1, 1};
    static const struct fake_task task = {"relay", "relay", "accuracy", 0, 100, 100};
    static const char *const forms[] = {"a", "b", "c", "d"};
    fake_run(r, &(struct fake_options){.policies = &full,
                                       .n_policies = 1,
                                       .tasks = &task,
                                       .n_tasks = 1,
                                       .problems = PROBLEMS,
                                       .samples = SAMPLES,
                                       .limit = 1000,
                                       .seed = 5});
    for (int i = 0; i < r->cells[0].n_records; i++) {
        struct record *rec = (struct record *)&r->cells[0].records[i];
        char x = answers[rec->problem][rec->sample];
        rec->verdict = x == 'a' ? VERDICT_CORRECT : x == '.' ? VERDICT_UNPARSED : VERDICT_WRONG;
        rec->score = x == 'a';
        rec->pred_form = x == '.' ? "" : forms[x - 'a'];
        rec->finish = FINISHED_STOP;
        rec->tokens = 10;
    }
}

/* Shares right: 1/2, 1/4, 1/2, so that the mean is 5/12 and its standard error 1/12. pass@2: 1 -
 * C(2,2)/C(4,2) = 5/6, 1 - C(3,2)/C(4,2) = 1/2, 5/6. Majority of four: right, wrong, right. */
static const struct want {
    enum sample_kind kind;
    int k;
    double mean, se;
} wants[] = {{SAMPLE_AVG, 4, 5 / 12., 1 / 12.},
             {SAMPLE_PASS, 1, 5 / 12., 1 / 12.},
             {SAMPLE_PASS, 2, 13 / 18., 1 / 9.},
             {SAMPLE_PASS, 4, 1, 0},
             {SAMPLE_MAJ, 4, 2 / 3., 1 / 3.}};
enum { WANTS = sizeof wants / sizeof *wants };

static void test_values(void)
{
    struct run r;
    struct report rep;
    struct arena a = {0};
    struct sample_stats s;
    make(&r);
    report_compute(&rep, &r, &a);
    report_samples(&s, &rep.cells[0]);
    CHECK_INT(s.n, SAMPLES);
    CHECK_INT(s.n_problems, PROBLEMS);
    CHECK_INT(s.n_values, WANTS);
    for (int i = 0; i < WANTS && i < s.n_values; i++) {
        CHECK_INT(s.value[i].kind, wants[i].kind);
        CHECK_INT(s.value[i].k, wants[i].k);
        CHECK_NEAR(s.value[i].over.mean, wants[i].mean, 1e-12);
        CHECK_NEAR(s.value[i].over.se, wants[i].se, 1e-12);
    }
    r.cells[0].n_records--; /* the last problem's last answer */
    report_compute(&rep, &r, &a);
    report_samples(&s, &rep.cells[0]);
    CHECK_INT(s.n_problems, 2);
    CHECK_NEAR(s.value[0].over.mean, 3 / 8., 1e-12);
    r.cells[0].n_records = SAMPLES - 1;
    report_compute(&rep, &r, &a);
    report_samples(&s, &rep.cells[0]);
    CHECK_INT(s.n_values, 0);
    r.cells[0].n_records = SAMPLES * PROBLEMS;
    r.tasks[0].metric = "score"; /* nothing is right or wrong */
    report_compute(&rep, &r, &a);
    report_samples(&s, &rep.cells[0]);
    CHECK_INT(s.n_values, 1);
    arena_release(&a);
    fake_release(&r);
}

static void test_table(void)
{
    struct run r;
    struct err e = {0};
    struct str text = {0};
    make(&r);
    CHECK_INT(report_write_with(&r, &(struct report_options){0}, folder, NULL, &e), 0);
    CHECK_INT(count(read_file(&text, "report.md"),
                    "| full | 3 \xC3\x97 4 | 41.7 \xC2\xB1 8.3 | 41.7 | 72.2 | 100.0 | 66.7 |\n"),
              1);
    CHECK_INT(count(read_file(&text, "samples.csv"), ",relay,4,3,pass,2,0.722222,0.111111,"), 1);
    CHECK_INT(count(str_text(&text), "\n"), 1 + WANTS);
    /* several greedy samples are one answer */
    r.cells[0].temperature = 0;
    CHECK_INT(report_write_with(&r, &(struct report_options){0}, folder, NULL, &e), 0);
    CHECK(!exists("samples.csv"));
    CHECK_INT(count(read_file(&text, "report.md"), "Several answers to a problem"), 0);
    str_release(&text);
    fake_release(&r);
}

int main(void)
{
    struct err e = {0};
    log_set_quiet(1);
    open_folder("test_samples");
    test_values();
    test_table();
    file_remove_tree(folder, &e);
    return check_done();
}
