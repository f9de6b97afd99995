/* avg@n, pass@k and maj@n of a cell, by hand: the numbers, what is left out, and where there is no table. */
#include "tests/check.h"

#include "evalcore/base/log.h"
#include "evalcore/report/data/report_samples.h"
#include "evalcore/report/report.h"
#include "evalcore/report/report_parts.h"
#include "tests/evalcore/report/fake_run.h"
#include "tests/evalcore/report/written.h"

enum { SAMPLES = 4, PROBLEMS = 3 };

/* The right answer is a; c and d are wrong, and a dot is no answer. */
static const char *const answers[PROBLEMS] = {"aacd", "accd", "aa.c"};

static void make_run(struct run *r)
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
    make_run(&r);
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

/* Wrong answers that were written in different ways split their votes, and the right one had the majority. */
static void test_same_answers(void)
{
    static const struct {
        const char *what, *task, *form[SAMPLES]; /* the first is right */
        double majority;                         /* its share: of two against two, 1/2 */
    } rows[] = {
        {"one wrong answer, one spelling", "relay", {"7", "0.5", "0.5", "0.5"}, 0},
        {"one wrong answer, three spellings", "relay", {"7", "0.5", "1/2", "2/4"}, 0},
        {"sums and lists in another order", "relay", {"7", "x + 1", "1 + x", "{1, 2}"}, 0},
        {"a set in another order", "relay", {"7", "{2, 1}", "x + 1", "{1, 2}"}, 0},
        {"different wrong answers", "relay", {"7", "8", "9", "10"}, 0.25},
        {"a third is no decimal", "relay", {"7", "0.333", "1/3", "8"}, 0.25},
        {"a form that reads otherwise", "relay", {"7", "+-3", "-3", "8"}, 0.25},
        {"a form that would end its box", "relay", {"7", "8}9", "8", "10"}, 0.25},
        {"a form that was cut", "relay", {"7", "8...", "8", "10"}, 0.25},
        {"letters", "choice", {"A", "B", "C", "D"}, 0.25},
        {"an unknown task", "gone", {"7", "0.5", "1/2", "2/4"}, 0.25},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct run r;
        struct report rep;
        struct arena a = {0};
        struct sample_stats s;
        make_run(&r);
        r.tasks[0].name = rows[i].task;
        for (int p = 0; p < PROBLEMS; p++)
            r.tasks[0].problems[p].n_options = strcmp(rows[i].task, "choice") ? 0 : 4;
        for (int k = 0; k < r.cells[0].n_records; k++) {
            struct record *rec = (struct record *)&r.cells[0].records[k];
            rec->verdict = rec->sample ? VERDICT_WRONG : VERDICT_CORRECT;
            rec->score = !rec->sample;
            rec->pred_form = rows[i].form[rec->sample];
        }
        report_compute(&rep, &r, &a);
        report_samples(&s, &rep.cells[0]);
        double got = s.value[s.n_values - 1].over.mean;
        if (!(fabs(got - rows[i].majority) < 1e-9))
            fprintf(stderr, "%s: %g\n", rows[i].what, got);
        CHECK_NEAR(got, rows[i].majority, 1e-9);
        arena_release(&a);
        fake_release(&r);
    }
}

/* x + 1 to x + n, then 1 + x, which is compared with x + 1 as long as the n before have left comparisons to
 * make. Each problem has its own. */
static void test_bounds(void)
{
    static const struct {
        const char *what;
        int n, bytes, is_same; /* bytes: of x and the blanks behind it */
    } rows[] = {{"twenty answers are compared", 20, 1, 1},
                {"one more is told apart by spelling", 21, 1, 0},
                {"a form that no grader keeps", 1, 501, 0}};
    static const struct fake_policy full = {"full", "full", "{}", "", "", "", "", "", "everything", 1, 1};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct run r;
        struct report rep;
        struct arena a = {0};
        int samples = rows[i].n + 2; /* the first is right */
        fake_run(&r, &(struct fake_options){.policies = &full,
                                            .n_policies = 1,
                                            .tasks = &fake_relay,
                                            .n_tasks = 1,
                                            .problems = 3,
                                            .samples = samples,
                                            .limit = 1000,
                                            .seed = 5});
        struct record *rec = (struct record *)r.cells[0].records;
        for (int k = 0; k < r.cells[0].n_records; k++) {
            rec[k].verdict = rec[k].sample ? VERDICT_WRONG : VERDICT_CORRECT;
            rec[k].pred_form = rec[k].sample == samples - 1
                                   ? arena_printf(&a, "1 + %-*s", rows[i].bytes, "x")
                                   : arena_printf(&a, "%-*s + %d", rows[i].bytes, "x", rec[k].sample);
        }
        /* Nothing of the second problem, and the third's right answer missing. */
        memmove(rec + samples, rec + 2 * samples + 1, (size_t)(samples - 1) * sizeof *rec);
        r.cells[0].n_records = 2 * samples - 1;
        report_compute(&rep, &r, &a);
        const int *first = rep.cells[0].answer, *third = first + samples;
        int before = check_failures;
        CHECK_INT(first[0], ANSWER_RIGHT);
        CHECK_INT(first[1], 1);
        CHECK_INT(first[samples - 1], rows[i].is_same ? 1 : rows[i].n + 1);
        CHECK_INT(third[0], 1);
        CHECK_INT(third[samples - 2], rows[i].is_same ? 1 : rows[i].n + 1);
        if (check_failures > before)
            fprintf(stderr, "    %s\n", rows[i].what);
        arena_release(&a);
        fake_release(&r);
    }
}

static void test_table(void)
{
    struct run r;
    struct err e = {0};
    struct str text = {0};
    make_run(&r);
    CHECK_INT(report_write_with(&r, &(struct report_options){0}, folder, NULL, &e), 0);
    CHECK_INT(count_text(read_file(&text, "report.md"),
                         "| full | 3 \xC3\x97 4 | 41.7 \xC2\xB1 8.3 | 41.7 | 72.2 | 100.0 | 66.7 |\n"),
              1);
    CHECK_INT(count_text(read_file(&text, "samples.csv"), ",relay,4,3,pass,2,0.722222,0.111111,"), 1);
    CHECK_INT(count_text(str_text(&text), "\n"), 1 + WANTS);
    /* several greedy samples are one answer */
    r.cells[0].temperature = 0;
    CHECK_INT(report_write_with(&r, &(struct report_options){0}, folder, NULL, &e), 0);
    CHECK(!is_written("samples.csv"));
    CHECK_INT(count_text(read_file(&text, "report.md"), "Several answers to a problem"), 0);
    str_release(&text);
    fake_release(&r);
}

int main(void)
{
    struct err e = {0};
    log_set_quiet(1);
    open_folder("test_samples");
    test_values();
    test_same_answers();
    test_bounds();
    test_table();
    file_remove_tree(folder, &e);
    return check_done();
}
