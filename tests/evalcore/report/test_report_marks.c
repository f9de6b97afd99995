/* No mark is offered that no outcome could earn, and none is withheld that one could. The search here knows
 * nothing of report_marks.c: it goes through all outcomes, with Holm's adjustment written out for families in
 * which some comparisons gain everything and the others share one outcome. What it finds is then made into a
 * run and put through the report's own code, which must mark it so. */
#include <math.h>
#include <string.h>

#include "evalcore/report/data/report_match.h"
#include "tests/check.h"

enum { PROBLEMS_MAX = 20, COMPARISONS_MAX = 30, CELLS_MAX = COMPARISONS_MAX + 1 };

struct outcome { /* problems that only the baseline and only the cell solved */
    int lost, gained;
};

/* The baseline solves the first `solved` problems. */
static void add_cell(struct run *r, struct run_task *t, int solved, struct outcome o)
{
    struct cell *c = &r->cells[r->n_cells];
    struct record *records = arena_alloc(&r->arena, (size_t)t->n_problems * sizeof *records);
    int is_base = !r->n_cells;
    for (int i = 0; i < t->n_problems; i++) {
        int ok = i < solved ? is_base || i >= o.lost : !is_base && i - solved < o.gained;
        records[i] = (struct record){.problem = i,
                                     .key = "k",
                                     .tokens = 2,
                                     .finish = FINISHED_STOP,
                                     .error = "",
                                     .verdict = ok ? VERDICT_CORRECT : VERDICT_WRONG,
                                     .score = ok};
    }
    *c = (struct cell){.id = "c",
                       .label = "c",
                       .policy_label = arena_printf(&r->arena, "c%d", r->n_cells),
                       .model = "m",
                       .policy = is_base ? "full" : "quest",
                       .preset = "",
                       .params = "{\"k_pages\":4}",
                       .k_pages = "",
                       .l_pages = "",
                       .budget_tokens = "",
                       .budget_key = "",
                       .settings = "{}",
                       .settings_label = "",
                       .samples = 1,
                       .task = t,
                       .baseline = is_base ? -1 : 0,
                       .is_baseline = is_base,
                       .n_expected = t->n_problems,
                       .n_records = t->n_problems,
                       .records = records};
    r->n_cells++;
}

static void outcome_run(struct run *r, int problems, int solved, double margin, const struct outcome *o,
                        int n)
{
    *r = (struct run){.dir = "out/marks", .model = "m", .baseline = "full", .margin = margin, .n_tasks = 1};
    r->tasks = arena_alloc(&r->arena, sizeof *r->tasks);
    *r->tasks = (struct run_task){
        .name = "t", .label = "t", .metric = "accuracy", .options = "{}", .n_problems = problems};
    r->tasks->problems = arena_alloc(&r->arena, (size_t)problems * sizeof *r->tasks->problems);
    for (int i = 0; i < problems; i++)
        r->tasks->problems[i].id = arena_printf(&r->arena, "p%d", i);
    r->cells = arena_alloc(&r->arena, ((size_t)n + 1) * sizeof *r->cells);
    for (int i = 0; i <= n; i++)
        add_cell(r, r->tasks, solved, i ? o[i - 1] : (struct outcome){0, 0});
}

/* ---- the search */

struct table { /* of one number of problems: p values of all outcomes */
    int problems, solved;
    double margin, two_sided[PROBLEMS_MAX + 1][PROBLEMS_MAX + 1], within[PROBLEMS_MAX + 1][PROBLEMS_MAX + 1];
};
struct best {
    int can, n_ahead;
    struct outcome j, others, ahead; /* n_ahead of the others gain everything */
};

static void fill_table(struct table *t, int problems, int solved, double margin)
{
    *t = (struct table){.problems = problems, .solved = solved, .margin = margin};
    for (int x = 0; x <= solved; x++)
        for (int y = 0; y <= problems - solved; y++) {
            t->two_sided[x][y] = stat_mcnemar(x, y);
            t->within[x][y] = stat_noninferior_binary(x, y, problems, margin / 100);
        }
}

/* Comparison j at p, m - 1 others at q. */
static double holm_of(double p, double q, int m)
{
    return fmin(1, q < p ? fmax(m * q, p) : m * p);
}

static struct best best_difference(const struct table *t, int m, int is_lower)
{
    int s = t->solved, u = t->problems - s;
    double lower = t->two_sided[s][0], higher = t->two_sided[0][u];
    struct outcome lose = {s, 0}, gain = {0, u}, rest = lower < higher ? lose : gain;
    double p = is_lower ? lower : higher;
    int can = (is_lower ? s : u) > 0 && holm_of(p, fmin(lower, higher), m) < 0.05;
    return (struct best){.can = can, .j = is_lower ? lose : gain, .others = rest};
}

/* `ahead` comparisons gain everything, the other m - ahead have one outcome. */
static struct best best_within(const struct table *t, int m)
{
    int u = t->problems - t->solved;
    if (t->solved * 100 < t->margin * t->problems) /* no loss of the margin could be seen */
        return (struct best){.can = 0};
    for (int ahead = 0; ahead < m; ahead++)
        for (int x = 0; x <= t->solved; x++)
            for (int y = 0; y <= u; y++) {
                double first = t->two_sided[0][u], p = t->two_sided[x][y], within = t->within[x][y];
                double adjusted = ahead ? fmax(m * first, (m - ahead) * p) : m * p;
                int is_told = p < first && ahead ? m * p < 0.05 : adjusted < 0.05;
                double w = ahead ? fmax(m * t->within[0][u], (m - ahead) * within) : m * within;
                if (is_told || x > y || (ahead && within < t->within[0][u]) || w >= 0.05)
                    continue;
                return (struct best){1, ahead, {x, y}, {x, y}, {0, u}};
            }
    return (struct best){.can = 0};
}

/* ---- the report's own code */

/* The report's pairs for three outcomes, which the size of the family does not change. */
struct kinds {
    struct outcome o[3];
    struct pair pair[3];
    int is_made;
};

static void make_kinds(struct kinds *k, const struct table *t, const struct best *b)
{
    struct outcome o[] = {b->j, b->others, b->ahead};
    struct run run;
    struct arena a = {0};
    struct report r;
    if (k->is_made && !memcmp(k->o, o, sizeof o))
        return;
    memcpy(k->o, o, sizeof o);
    k->is_made = 1;
    outcome_run(&run, t->problems, t->solved, t->margin, o, 3);
    report_compute(&r, &run, &a);
    for (int i = 0; i < 3; i++) {
        CHECK(r.settings[i + 1].pooled.p == r.pairs[i].p);
        k->pair[i] = r.pairs[i];
    }
    arena_release(&a);
    arena_release(&run.arena);
}

/* What comparison 0 of m is marked, or could be, where the outcomes are these. */
static struct pair mark_outcome(struct kinds *k, const struct table *t, int m, const struct best *b)
{
    struct pair pairs[COMPARISONS_MAX];
    int group[COMPARISONS_MAX] = {0};
    make_kinds(k, t, b);
    for (int i = 0; i < m; i++)
        pairs[i] = k->pair[!i ? 0 : i <= b->n_ahead ? 2 : 1];
    report_mark_pairs(pairs, m, group, t->margin);
    return pairs[0];
}

enum { EVEN = 3, CASES }; /* a case for each mark, and one without any difference */

static void check_family(struct kinds k[CASES], const struct table *t, int m)
{
    static const enum mark marks[] = {MARK_LOWER, MARK_HIGHER, MARK_WITHIN};
    struct best even = {0}, best[] = {best_difference(t, m, 1), best_difference(t, m, 0), best_within(t, m)};
    struct pair told = mark_outcome(&k[EVEN], t, m, &even);
    for (int i = 0; i < EVEN; i++) {
        int offered = (told.could >> marks[i]) & 1;
        if (offered != best[i].can)
            fprintf(stderr, "%d problems, %d solved, %d comparisons, margin %g: mark %d is %s\n", t->problems,
                    t->solved, m, t->margin, marks[i], offered ? "offered" : "withheld");
        CHECK(offered == best[i].can);
        if (best[i].can)
            CHECK(mark_outcome(&k[i], t, m, &best[i]).mark == marks[i]);
    }
    CHECK((told.mark == MARK_TOO_FEW) == !told.could);
    if (told.mark == MARK_TOO_FEW)
        CHECK(told.enough > t->problems || told.enough == -1);
}

/* All of 2 to 20 problems and 1 to 30 comparisons. */
static void test_offers(void)
{
    static const double margins[] = {5, 20, 45};
    for (int n = 2; n <= PROBLEMS_MAX; n += check_small() ? 3 : 1)
        for (int i = 0; i < 3; i++) {
            int solved[] = {n, n - n / 4, n / 2, 0};
            for (int s = 0; s < 4; s++) {
                struct table t;
                struct kinds k[CASES] = {0};
                if (s && solved[s] == solved[s - 1])
                    continue;
                fill_table(&t, n, solved[s], margins[i]);
                for (int m = 1; m <= COMPARISONS_MAX; m += check_small() ? 4 : 1)
                    check_family(k, &t, m);
            }
        }
}

/* The number that is said to do is the smallest one that does. */
static void test_fewest(void)
{
    for (int m = 1; m <= COMPARISONS_MAX; m += 4)
        for (int n = 2; n <= 5; n++) {
            struct table t = {.problems = n, .solved = n, .margin = 5};
            struct best even = {0};
            struct kinds now = {0}, then = {0}, before = {0};
            struct pair p = mark_outcome(&now, &t, m, &even);
            if (p.mark != MARK_TOO_FEW)
                continue;
            t.problems = t.solved = (int)p.enough;
            CHECK(mark_outcome(&then, &t, m, &even).could);
            t.problems = t.solved = (int)p.enough - 1;
            CHECK(!mark_outcome(&before, &t, m, &even).could);
        }
}

/* A whole report: eighteen settings of which one loses everything, on the demo's six problems of old. */
static void test_whole(void)
{
    struct outcome o[18] = {{6, 0}};
    struct run run;
    struct arena a = {0};
    struct report r;
    outcome_run(&run, 6, 6, 5, o, 18);
    report_compute(&r, &run, &a);
    CHECK(r.n_settings == 19);
    CHECK(r.settings[0].pooled.mark == MARK_NONE && r.settings[0].is_baseline);
    CHECK(r.settings[1].pooled.mark == MARK_TOO_FEW && r.pairs[0].mark == MARK_TOO_FEW);
    CHECK(r.settings[1].pooled.enough == 10);
    arena_release(&a);
    arena_release(&run.arena);
}

/* Where the baseline solved nothing, or next to nothing, every outcome was called as good as it; on 20
 * problems only what gained some, beside a warning that none is. */
static void test_nothing_to_lose(void)
{
    static const struct row {
        int problems, solved;
        struct outcome o;
        enum mark mark;
        int could_within;
    } rows[] = {
        {59, 0, {0, 0}, MARK_OPEN, 0},      {200, 1, {0, 0}, MARK_OPEN, 0},   {200, 1, {1, 0}, MARK_OPEN, 0},
        {200, 2, {2, 0}, MARK_OPEN, 0},     {59, 59, {0, 0}, MARK_WITHIN, 1}, {59, 3, {0, 0}, MARK_WITHIN, 1},
        {200, 100, {1, 0}, MARK_WITHIN, 1}, {20, 0, {0, 5}, MARK_OPEN, 0},    {20, 0, {0, 4}, MARK_OPEN, 0},
        {20, 0, {0, 6}, MARK_HIGHER, 0},    {20, 1, {0, 5}, MARK_WITHIN, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *w = &rows[i];
        struct run run;
        struct arena a = {0};
        struct report r;
        outcome_run(&run, w->problems, w->solved, 5, &w->o, 1);
        report_compute(&r, &run, &a);
        const struct pair *p = &r.settings[1].pooled;
        CHECK_INT(p->mark, w->mark);
        CHECK_INT((p->could >> MARK_WITHIN) & 1, w->could_within);
        CHECK(p->mark != MARK_OPEN || p->enough > w->problems || p->enough == -1);
        arena_release(&a);
        arena_release(&run.arena);
    }
}

/* The same with two samples of each problem: the baseline solved nothing, and so did the setting. */
static void test_nothing_to_lose_twice(void)
{
    enum { N = 60 };
    double sum[N] = {0};
    long jobs[N];
    struct run_problem problems[N] = {{0}};
    struct run_task t = {.metric = "accuracy", .problems = problems, .n_problems = N};
    struct cell c = {.task = &t};
    struct cell_stats s = {.cell = &c, .sum = sum, .jobs = jobs};
    struct pair p;
    int group = 0;
    for (int i = 0; i < N; i++)
        jobs[i] = 2;
    match_one(&p, &s, &s, 0.05, NULL);
    report_mark_pairs(&p, 1, &group, 5);
    CHECK(p.noninferior < 0.05 && p.mark == MARK_OPEN && !((p.could >> MARK_WITHIN) & 1));
    for (int i = 0; i < N; i++)
        sum[i] = 2;
    match_one(&p, &s, &s, 0.05, NULL);
    report_mark_pairs(&p, 1, &group, 5);
    CHECK(p.mark == MARK_WITHIN);
}

int main(void)
{
    test_offers();
    test_fewest();
    test_whole();
    test_nothing_to_lose();
    test_nothing_to_lose_twice();
    return check_done();
}
