/* Comparing problem by problem (contract: report_match.h).
 *
 * One answer a problem, right or wrong: exact McNemar, with Newcombe's interval. Several samples, all right
 * or wrong: the exact stratified test with the problems as strata, with a t interval over problems. Scores
 * that are fractions, or problems of unlike weight (a mean over tasks that do not have as many): sign flips
 * over problems, exact where the differences are multiples of a unit. (Miller, arXiv 2411.00640,
 * section 4; Dietterich 1998 for McNemar on classifiers; Mehta, Patel and Gray 1985 for the stratified test.)
 */
#include "evalcore/report/data/report_match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/report/data/report_data.h"

enum { LCM_MAX = 4096, EXACT_FLIPS = 20 };
static const double LEAST_RANDOM = 1e-5; /* the smallest p of random sign flips (stats.h) */

struct matched match_begin(void)
{
    return (struct matched){.lcm = 1, .is_binary = 1};
}

void match_release(struct matched *m)
{
    free(m->mean_a);
    free(m->mean_b);
    free(m->d);
    free(m->chance);
    free(m->strata);
    free(m->weight);
    free(m->at_a);
    free(m->at_b);
    free(m->end);
}

static void grow_matched(struct matched *m, int more)
{
    size_t n = (size_t)(m->n + more) + 1;
    m->mean_a = xrealloc(m->mean_a, n * sizeof *m->mean_a);
    m->mean_b = xrealloc(m->mean_b, n * sizeof *m->mean_b);
    m->d = xrealloc(m->d, n * sizeof *m->d);
    m->chance = xrealloc(m->chance, n * sizeof *m->chance);
    m->strata = xrealloc(m->strata, n * sizeof *m->strata);
    m->at_a = xrealloc(m->at_a, n * sizeof *m->at_a);
    m->at_b = xrealloc(m->at_b, n * sizeof *m->at_b);
}

static long greatest_common(long a, long b)
{
    while (b) {
        long t = a % b;
        a = b;
        b = t;
    }
    return a;
}

long match_multiple(long lcm, long n)
{
    return lcm <= LCM_MAX ? lcm * (n / greatest_common(lcm, n)) : lcm;
}

double match_unit(long lcm)
{
    return lcm <= LCM_MAX ? 1 / (double)lcm : 0;
}

static int same_problem(const struct run_problem *a, const struct run_problem *b)
{
    if (strcmp(a->id, b->id))
        return 0;
    return !a->prompt_sha256 || !b->prompt_sha256 || !strcmp(a->prompt_sha256, b->prompt_sha256);
}

/* The problem of `t` that matches p; sets are nearly always in the same order, so look at `hint` first. */
static int find_problem(const struct run_task *t, const struct run_problem *p, int hint)
{
    if (hint < t->n_problems && same_problem(&t->problems[hint], p))
        return hint;
    for (int i = 0; i < t->n_problems; i++)
        if (same_problem(&t->problems[i], p))
            return i;
    return -1;
}

void match_add(struct matched *m, const struct cell_stats *a, const struct cell_stats *b, int *n_dropped)
{
    const struct run_task *ta = a->cell->task, *tb = b->cell->task;
    int shared = 0;
    grow_matched(m, tb->n_problems);
    m->is_incomplete |= a->cell->n_records < a->cell->n_expected || b->cell->n_records < b->cell->n_expected;
    m->is_binary &= !strcmp(ta->metric, "accuracy") && !strcmp(tb->metric, "accuracy");
    for (int i = 0; i < tb->n_problems; i++) {
        int k = ta == tb ? i : find_problem(ta, &tb->problems[i], i), at = m->n;
        if (k < 0)
            continue;
        shared++;
        if (!a->jobs[k] || !b->jobs[i])
            continue;
        m->mean_a[at] = a->sum[k] / (double)a->jobs[k];
        m->mean_b[at] = b->sum[i] / (double)b->jobs[i];
        m->d[at] = m->mean_b[at] - m->mean_a[at];
        m->chance[at] = run_chance(&ta->problems[k]);
        m->strata[at] = (struct stratum){lround(a->sum[k]), a->jobs[k], lround(b->sum[i]), b->jobs[i]};
        m->at_a[at] = k;
        m->at_b[at] = i;
        m->n++;
        m->lcm = match_multiple(match_multiple(m->lcm, a->jobs[k]), b->jobs[i]);
    }
    m->end = xrealloc(m->end, (size_t)(m->n_added + 1) * sizeof *m->end);
    m->end[m->n_added++] = m->n;
    if (n_dropped)
        *n_dropped = ta->n_problems + tb->n_problems - 2 * shared;
}

static int n_of(const struct matched *m, int i)
{
    return m->end[i] - (i ? m->end[i - 1] : 0);
}

/* Pairs in the part of pair i that have problems. */
static int n_in_part(const struct matched *m, const int *part, int i)
{
    int n = 0;
    for (int k = 0; k < m->n_added; k++)
        n += n_of(m, k) && (part ? part[k] == part[i] : k == i);
    return n;
}

/* A problem weighs 1 / (parts * pairs of its part * problems of its pair): with such denominators, weighed
 * scores of right and wrong are multiples of one over their least common multiple. */
void match_weigh(struct matched *m, const int *part)
{
    double parts = 0;
    long smallest = 0, all = m->lcm;
    int is_even = 1;
    for (int i = 0; i < m->n_added; i++) {
        long n = (long)n_of(m, i) * n_in_part(m, part, i);
        if (!n)
            continue;
        parts += 1.0 / n_in_part(m, part, i);
        is_even &= !smallest || n == smallest;
        smallest = !smallest || n < smallest ? n : smallest;
        all = match_multiple(all, n * m->lcm);
    }
    if (is_even)
        return;
    m->unit = match_unit(all) * (double)smallest;
    m->weight = xmalloc((size_t)m->n * sizeof *m->weight);
    for (int i = 0; i < m->n_added; i++)
        for (int k = m->end[i] - n_of(m, i); k < m->end[i]; k++)
            m->weight[k] = m->n / (parts * n_in_part(m, part, i) * n_of(m, i));
}

static double weight_of(const struct matched *m, int i)
{
    return m->weight ? m->weight[i] : 1;
}

static double mean_of(const struct matched *m, const double *x)
{
    double sum = 0;
    if (!m->weight)
        return stat_mean(x, (size_t)m->n);
    for (int i = 0; i < m->n; i++)
        sum += m->weight[i] * x[i];
    return m->n ? sum / m->n : NAN;
}

/* The tests take differences between -1 and 1, so weighed ones are divided by the heaviest weight, and the
 * margin with them. That a loss may be in the heaviest problems is then allowed for. */
static double max_weight(const struct matched *m)
{
    double heaviest = m->weight ? 0 : 1;
    for (int i = 0; m->weight && i < m->n; i++)
        heaviest = fmax(heaviest, m->weight[i]);
    return heaviest;
}

static void count_outcomes(struct pair *out, const struct matched *m)
{
    for (int i = 0; i < m->n; i++) {
        int a = m->mean_a[i] > 0.5, b = m->mean_b[i] > 0.5;
        out->both += a && b;
        out->only_a += a && !b;
        out->only_b += b && !a;
        out->neither += !a && !b;
        out->best.can_lose += m->mean_a[i] > 0;
        out->best.can_gain += m->mean_a[i] < 1;
    }
    out->accuracy_a = mean_of(m, m->mean_a);
    out->accuracy_b = mean_of(m, m->mean_b);
    out->delta = out->accuracy_b - out->accuracy_a;
}

static void compare_single(struct pair *out, const struct matched *m, double margin)
{
    out->test = "mcnemar_exact";
    out->p = stat_mcnemar(out->only_a, out->only_b);
    out->ci = stat_paired_newcombe(out->both, out->only_a, out->only_b, out->neither);
    out->spread = (double)(out->only_a + out->only_b) / (double)m->n;
    out->noninferior = stat_noninferior_binary(out->only_a, out->only_b, m->n, margin);
    out->best.lower = stat_mcnemar(out->best.can_lose, 0);
    out->best.higher = stat_mcnemar(0, out->best.can_gain);
    out->best.one_way = out->only_a + out->only_b;
    out->best.one_way_p = stat_mcnemar((int)out->best.one_way, 0);
}

/* Is the test's direction that of the means? It may not be where the numbers of samples differ. */
static double stratified_p(const struct matched *m, double delta)
{
    struct stat_tails t = stat_stratified(m->strata, (size_t)m->n);
    return (t.lower < t.higher) == (delta < 0) ? t.two_sided : isnan(t.two_sided) ? NAN : 1;
}

/* The p of the outcome in which the second side solved all, or nothing. */
static double stratified_best(const struct matched *m, int all)
{
    struct stratum *s = xmalloc((size_t)(m->n + 1) * sizeof *s);
    for (int i = 0; i < m->n; i++) {
        s[i] = m->strata[i];
        s[i].b = all ? s[i].n_b : 0;
    }
    double p = stat_stratified(s, (size_t)m->n).two_sided;
    free(s);
    return p;
}

/* All of k differences have one sign: 2 of the 2^k flips are as extreme. */
static double flips_best(long k, int is_random)
{
    double p = fmin(1, ldexp(1, (int)(1 - (k < 1000 ? k : 1000))));
    return is_random && k > EXACT_FLIPS ? fmax(p, LEAST_RANDOM) : p;
}

static long count_different(const struct matched *m)
{
    long n = 0;
    for (int i = 0; i < m->n; i++)
        n += fabs(m->d[i]) > 1e-9;
    return n;
}

/* What the tests of several samples take: the differences, and those of gaining everything. */
struct outcomes {
    double *d, *gain;
};

static struct outcomes outcomes_of(const struct matched *m)
{
    size_t bytes = (size_t)(m->n + 1) * sizeof(double);
    struct outcomes o = {xmalloc(bytes), xmalloc(bytes)};
    double heaviest = max_weight(m);
    for (int i = 0; i < m->n; i++) {
        double w = weight_of(m, i) / heaviest;
        o.d[i] = w * m->d[i];
        o.gain[i] = w * (1 - m->mean_a[i]);
    }
    return o;
}

static void compare_several(struct pair *out, const struct matched *m, double margin)
{
    size_t n = (size_t)m->n;
    enum signflip how;
    int is_exact = m->is_binary && !m->weight;
    double unit = !m->is_binary ? 0 : m->weight ? m->unit : match_unit(m->lcm), heaviest = max_weight(m);
    struct outcomes o = outcomes_of(m);
    out->p = is_exact ? stratified_p(m, out->delta) : NAN;
    if (isnan(out->p)) {
        out->p = stat_signflip(o.d, n, unit, &how);
        out->test = how == SIGNFLIP_EXACT ? "signflip_exact" : "signflip_monte_carlo";
        out->best.lower = flips_best(out->best.can_lose, unit <= 0);
        out->best.higher = flips_best(out->best.can_gain, unit <= 0);
        out->best.one_way = count_different(m);
        out->best.one_way_p = flips_best(out->best.one_way, unit <= 0);
    } else {
        out->test = "stratified_exact";
        out->best.lower = stratified_best(m, 0);
        out->best.higher = stratified_best(m, 1);
        out->best.one_way = out->delta < 0 ? out->best.can_lose : out->best.can_gain;
        out->best.one_way_p = out->delta < 0 ? out->best.lower : out->best.higher;
    }
    out->ci = stat_paired_t(o.d, n);
    out->ci = (struct interval){fmax(-1, heaviest * out->ci.low), fmin(1, heaviest * out->ci.high)};
    out->spread = out->sd = heaviest * stat_sd(o.d, n);
    out->noninferior = stat_noninferior_mean(o.d, n, margin / heaviest);
    out->best.gained = stat_noninferior_mean(o.gain, n, margin / heaviest);
    free(o.d);
    free(o.gain);
}

void match_compare(struct pair *out, const struct matched *m, double margin)
{
    *out = (struct pair){.problems = m->n,
                         .is_single = m->is_binary && m->lcm == 1 && !m->weight,
                         .is_incomplete = m->is_incomplete,
                         .p = NAN,
                         .sd = NAN,
                         .holm = NAN,
                         .noninferior = NAN,
                         .noninferior_holm = NAN,
                         .enough = -1,
                         .best = {NAN, NAN, NAN, NAN, 0, 0, NAN, 0},
                         .test = ""};
    count_outcomes(out, m);
    if (!m->n) {
        out->ci = (struct interval){-1, 1};
        out->spread = NAN;
        return;
    }
    out->sd = stat_sd(m->d, (size_t)m->n);
    out->is_below_margin = out->accuracy_a - mean_of(m, m->chance) < margin;
    out->best.even = margin > 0 && margin < 1 ? pow(1 - margin / max_weight(m), m->n) : NAN;
    if (out->is_single)
        compare_single(out, m, margin);
    else
        compare_several(out, m, margin);
}

void match_one(struct pair *out, const struct cell_stats *a, const struct cell_stats *b, double margin,
               int *n_dropped)
{
    struct matched m = match_begin();
    match_add(&m, a, b, n_dropped);
    match_compare(out, &m, margin);
    match_release(&m);
}

void report_compare(struct pair *out, const struct cell_stats *a, const struct cell_stats *b, int *n_dropped)
{
    match_one(out, a, b, NAN, n_dropped);
}

int report_family(const struct report *r, int row)
{
    int first = 0;
    while (strcmp(r->rows[first].model, r->rows[row].model) != 0)
        first++;
    return first;
}

/* ---- Texts against their baseline. They are compared window by window, since the same window is hard or
 * easy for all: the differences of bits per byte get a t interval and a sign-flip test, as scores of problems
 * do. */

struct likelihood_figures report_likelihood_figures(const struct likelihood *l)
{
    struct likelihood_bucket sum = likelihood_total(l);
    return (struct likelihood_figures){sum.bytes ? sum.bits / (double)sum.bytes : NAN,
                                       sum.tokens ? sum.kl / sum.tokens : NAN,
                                       sum.tokens ? (double)sum.agree / sum.tokens : NAN};
}

/* Both cells have the same windows, because they have the same task. */
static void compare_windows(struct pair *out, const struct cell_stats *a, const struct cell_stats *b)
{
    size_t n = 0, windows = (size_t)b->cell->task->n_problems;
    double *d = xmalloc((windows + 1) * sizeof *d);
    enum signflip how;
    for (size_t i = 0; i < windows; i++)
        if (a->jobs[i] && b->jobs[i])
            d[n++] = b->sum[i] / (double)b->jobs[i] - a->sum[i] / (double)a->jobs[i];
    *out = (struct pair){.problems = (int)n,
                         .is_incomplete = a->cell->n_records < a->cell->n_expected ||
                                          b->cell->n_records < b->cell->n_expected,
                         .delta = stat_mean(d, n),
                         .ci = stat_mean_t(d, n),
                         .p = n ? stat_signflip(d, n, 0, &how) : NAN,
                         .holm = NAN};
    free(d);
}

void report_text_pairs(struct report *r)
{
    int *group = arena_alloc(r->arena, ((size_t)r->run->n_cells + 1) * sizeof *group);
    r->text_pairs = arena_alloc(r->arena, ((size_t)r->run->n_cells + 1) * sizeof *r->text_pairs);
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell *c = &r->run->cells[i];
        if (!c->task->is_text || c->baseline < 0 || c->baseline == i)
            continue;
        struct pair *p = &r->text_pairs[r->n_text_pairs];
        compare_windows(p, &r->cells[c->baseline], &r->cells[i]);
        p->a = c->baseline;
        p->b = i;
        group[r->n_text_pairs++] = r->cells[i].panel;
    }
    report_holm(r->text_pairs, r->n_text_pairs, group);
}

const struct pair *report_text_pair_of(const struct report *r, int cell)
{
    for (int i = 0; i < r->n_text_pairs; i++)
        if (r->text_pairs[i].b == cell)
            return &r->text_pairs[i];
    return NULL;
}
