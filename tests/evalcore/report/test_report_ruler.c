/* RULER by length: a run of other tasks has none of it; then the hand-made run's cells become families at two
 * lengths, in the order in which a run file would not have them. */
#include "tests/check.h"

#include "evalcore/base/log.h"
#include "evalcore/report/data/report_group.h"
#include "evalcore/report/data/report_match.h"
#include "evalcore/report/report.h"
#include "evalcore/report/report_parts.h"
#include "tests/evalcore/report/plain_run.h"
#include "tests/evalcore/report/written.h"

static void make_ruler(struct run *r)
{
    static const char *const options[] = {
        "{\"subset\":\"vt\",\"tokens\":2048}", "{\"subset\":\"cwe\",\"tokens\":2048}",
        "{\"subset\":\"vt\",\"tokens\":1024}", "{\"subset\":\"cwe\",\"tokens\":1024}", "{}"};
    struct run_task *t = arena_alloc(&r->arena, 5 * sizeof *t);
    for (int i = 0; i < 5; i++) {
        t[i] = r->tasks[0];
        t[i].name = i < 4 ? "ruler" : "relay"; /* the fifth belongs to no length */
        t[i].metric = "score";
        t[i].label = options[i];
        t[i].options = options[i];
        r->cells[i].task = &t[i];
        r->cells[i].policy = r->cells[i].policy_label = r->cells[i].label = "full";
        r->cells[i].params = "{}";
    }
    r->tasks = t; /* the place of a task in a run is counted from here */
    r->n_tasks = 5;
    r->n_cells = 5;
}

/* Ten problems of one family and three of another that both sides answered: the mean printed beside the mark
 * weighs the families alike, and the difference weighed the problems. */
static void test_families_weigh_alike(void)
{
    struct run r;
    struct report rep;
    struct arena a = {0};
    plain_run(&r);
    for (int t = 0; t < 2; t++) {
        r.tasks[t].name = "ruler";
        r.tasks[t].options =
            t ? "{\"subset\":\"vt\",\"tokens\":1024}" : "{\"subset\":\"cwe\",\"tokens\":1024}";
    }
    r.cells[1].policy_label = r.cells[6].policy_label = "quest";
    report_compute(&rep, &r, &a);
    const struct pair *p = &ruler_pairs(&rep)[rep.cells[1].row];
    CHECK_INT(p->problems, 13);
    CHECK_NEAR(p->delta, (-0.7 - 1 / 3.0) / 2, 1e-12);
    CHECK_NEAR(p->accuracy_a, (0.9 + 2.5 / 3) / 2, 1e-12);
    CHECK(p->ci.low < p->delta && p->delta < p->ci.high && !strncmp(p->test, "signflip", 8));
    arena_release(&a);
    fake_release(&r);
}

static int is_any(const struct cell *c, int k)
{
    (void)k;
    return !strcmp(c->task->name, "longbench");
}

static int is_code(const struct cell *c)
{
    return longbench_is_in(5, c);
}

/* LongBench's average is that of its classes: two data sets of code count as much as one of questions. The
 * run has two of the six, which make no average of LongBench. */
static void test_classes_weigh_alike(void)
{
    struct run r;
    struct report rep;
    struct arena a = {0};
    plain_run(&r);
    struct run_task *more = arena_alloc(&r.arena, sizeof *more);
    *more = r.tasks[0];
    more->label = "more code";
    more->problems = arena_alloc(&r.arena, 10 * sizeof *more->problems);
    memcpy(more->problems, r.tasks[0].problems, 10 * sizeof *more->problems);
    more->problems[0].subset = "repobench-p";
    r.tasks[0].problems[0].subset = "lcc";
    r.tasks[1].problems[0].subset = "qasper";
    r.tasks[0].name = r.tasks[1].name = more->name = "longbench";
    r.cells[2].task = more;
    r.cells[1].policy_label = r.cells[2].policy_label = r.cells[6].policy_label = "quest";
    report_compute(&rep, &r, &a);
    const struct pair *p = &longbench_pairs(&rep)[rep.cells[1].row * (LONGBENCH_CLASSES + 1)];
    CHECK_NEAR(p[0].delta, -1 / 3.0, 1e-12);
    CHECK_NEAR(p[5].delta, (-0.7 - 0.3) / 2, 1e-12);
    CHECK_INT(p[LONGBENCH_CLASSES].mark, MARK_NONE);
    int key = 0;
    p = &group_pairs(&rep, &(struct group){is_any, is_code}, &key, 1)[rep.cells[1].row];
    CHECK_NEAR(p->delta, ((-0.7 - 0.3) / 2 - 1 / 3.0) / 2, 1e-12);
    arena_release(&a);
    fake_release(&r);
}

/* Weights reach the margin too: a loss may sit in the problems that weigh most. */
static void test_weights_of_a_margin(void)
{
    enum { N = 100 };
    struct matched m = match_begin();
    struct pair even, weighed;
    m.n = N;
    m.mean_a = xcalloc(N, sizeof(double));
    m.mean_b = xcalloc(N, sizeof(double));
    m.d = xcalloc(N, sizeof(double));
    m.chance = xcalloc(N, sizeof(double));
    m.weight = xcalloc(N, sizeof(double));
    m.is_binary = 0;
    for (int i = 0; i < N; i++) {
        m.mean_a[i] = m.mean_b[i] = 0.75;
        m.weight[i] = i < N / 2 ? 0.5 : 1.5;
    }
    match_compare(&weighed, &m, 0.05);
    CHECK_NEAR(weighed.noninferior, pow(1 - 0.05 / 1.5, N), 1e-9);
    CHECK_NEAR(weighed.best.even, weighed.noninferior, 1e-9);
    for (int i = 0; i < N; i++)
        m.weight[i] = 1;
    match_compare(&even, &m, 0.05);
    CHECK_NEAR(even.noninferior, pow(0.95, N), 1e-9);
    CHECK_NEAR(weighed.accuracy_a, 0.75, 1e-12);
    match_release(&m);
}

static int is_first(const struct cell *c, int k)
{
    return c->task->problems[0].subset && c->task->problems[0].subset[0] == 'a' + k;
}

static int is_there(const struct cell *c, int k)
{
    (void)k;
    return c->task->problems[0].subset != NULL;
}

/* Data sets of which nothing was solved had the interval of their mean put around 0, half of it cut off. That
 * of one data set is its own; of two alike, as far above as below of it divided by the root of 2. */
static void test_interval_at_an_end(void)
{
    static const double scores[] = {0, 1};
    for (int i = 0; i < 2; i++) {
        struct run r;
        struct report rep;
        struct arena a = {0};
        plain_run(&r);
        struct run_task *t = arena_alloc(&r.arena, 2 * sizeof *t);
        for (int k = 0; k < 2; k++) {
            t[k] = r.tasks[0];
            t[k].label = k ? "two" : "one";
            t[k].problems = arena_alloc(&r.arena, 10 * sizeof *t[k].problems);
            memcpy(t[k].problems, r.tasks[0].problems, 10 * sizeof *t[k].problems);
            t[k].problems[0].subset = k ? "b" : "a";
            r.cells[k].task = &t[k];
            r.cells[k].policy_label = "full";
            for (int q = 0; q < r.cells[k].n_records; q++)
                ((struct record *)r.cells[k].records)[q].score = scores[i];
        }
        r.tasks = t;
        r.n_tasks = r.n_cells = 2;
        report_compute(&rep, &r, &a);
        struct interval own = rep.cells[0].ci;
        struct group_mean one = group_mean(&rep, rep.cells[0].row, is_first, 0);
        struct group_mean two = group_mean(&rep, rep.cells[0].row, is_there, 0);
        struct group_mean parts[] = {one, group_mean(&rep, rep.cells[0].row, is_first, 1)};
        struct group_mean both = group_mean_of(parts, 2);
        CHECK_INT(two.n, 2);
        CHECK_NEAR(two.mean, scores[i], 0);
        CHECK(own.high - own.low > 0.25);
        CHECK_NEAR(one.ci.low, own.low, 1e-12);
        CHECK_NEAR(one.ci.high, own.high, 1e-12);
        CHECK_NEAR(two.ci.low, two.mean - (two.mean - own.low) / sqrt(2), 1e-12);
        CHECK_NEAR(two.ci.high, two.mean + (own.high - two.mean) / sqrt(2), 1e-12);
        CHECK_NEAR(both.ci.low, two.ci.low, 1e-12);
        CHECK_NEAR(both.ci.high, two.ci.high, 1e-12);
        arena_release(&a);
        fake_release(&r);
    }
}

int main(void)
{
    struct run r;
    struct err e = {0};
    struct str text = {0};
    log_set_quiet(1);
    open_folder("test_report_ruler");
    fake_one(&r);
    CHECK_INT(report_write_with(&r, &(struct report_options){0}, folder, NULL, &e), 0);
    CHECK(!is_written("ruler.csv"));
    fake_release(&r);
    plain_run(&r);
    make_ruler(&r);
    CHECK_INT(report_write_with(&r, &(struct report_options){0}, folder, NULL, &e), 0);
    /* Scores 0.6 and 0.7 at 1,024 tokens, with the intervals [0.26658, 0.86092] and [0.34223, 0.91277]:
     * 0.65 - sqrt(0.33342^2 + 0.35777^2) / 2 = 0.40548, 0.65 + sqrt(0.26092^2 + 0.21277^2) / 2 = 0.81834.
     * Five of 20 problems differ; six would have to, and so many do in 24. */
    CHECK_STR(read_file(&text, "ruler.csv"),
              "model,policy,swept,tokens,families,score,ci_low,ci_high,delta,p_holm,margin,p_noninferior,"
              "p_noninferior_holm,mark,enough_problems\n"
              "pocket,full,,1024,2,0.65,0.405477,0.818339,-0.25,0.0625,5,1,1,open,24\n"
              "pocket,full,,2048,2,0.55,0.346274,0.741457,-0.7,0.015625,5,1,1,lower,\n");
    read_file(&text, "report.md");
    CHECK_INT(count_text(str_text(&text), "## RULER by length"), 1);
    CHECK(strstr(str_text(&text), "55 [35-74]") != NULL);
    CHECK(is_written("ruler_length.svg"));
    str_release(&text);
    fake_release(&r);
    test_families_weigh_alike();
    test_classes_weigh_alike();
    test_weights_of_a_margin();
    test_interval_at_an_end();
    file_remove_tree(folder, &e);
    return check_done();
}
