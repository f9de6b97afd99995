/* From p values to marks: the verdict on each comparison of a family, and what the family could have said.
 *
 * A question mark beside a comparison that nothing could have decided looks like a test that was made. So for
 * each comparison the best outcome is asked first: the baseline's results are given, and everything else goes
 * as well as it can, in all comparisons of the family at once, because Holm's adjustment of one depends on
 * the others. With s problems solved by the baseline nothing has a smaller two-sided p than losing them all
 * (2^(1-s) for one sample each), and the unsolved ones limit "higher" in the same way. */
#include "evalcore/report/data/report_data.h"

#include <math.h>
#include <stdlib.h>

static const double ALPHA = 0.05;

struct family {
    struct pair **pair;
    int n;
    double margin;        /* a fraction */
    double *p, *adjusted; /* arrays of n */
};

static double holm_p(struct family *f, int j)
{
    stat_holm(f->p, (size_t)f->n, f->adjusted);
    return f->adjusted[j];
}

/* ---- what could have been marked lower or higher */

static double best_difference(const struct pair *x)
{
    return fmin(x->best.lower, x->best.higher);
}

/* Comparison j has this p, all others the best that they can have. */
static int could_differ(struct family *f, int j, double p)
{
    if (p * f->n < ALPHA)
        return 1;
    if (!(p < ALPHA))
        return 0;
    for (int i = 0; i < f->n; i++)
        f->p[i] = i == j ? p : best_difference(f->pair[i]);
    return holm_p(f, j) < ALPHA;
}

/* ---- what could have been marked as within the margin */

/* "Higher" goes before "within", so only as many problems may be gained as leave every comparison undecided
 * after Holm's adjustment. That costs nothing: a gain with a two-sided p just above the level has a
 * one-sided p below it, for any margin. Losses beside the gains, or comparisons that gain more than the
 * others, do not help either (test_report_marks.c goes through all outcomes). */
static double best_within(const struct family *f, const struct pair *x)
{
    double floor = ALPHA / f->n;
    long gained = 0;
    if (!x->is_single)
        return x->best.higher < floor ? x->best.even : fmin(x->best.even, x->best.gained);
    while (gained < x->best.can_gain && stat_mcnemar(0, gained + 1) >= floor)
        gained++;
    return gained ? stat_noninferior_binary(0, gained, x->problems, f->margin) : x->best.even;
}

static int same_best_outcomes(const struct pair *x, const struct pair *y)
{
    return x->is_single && y->is_single && x->problems == y->problems && x->best.can_gain == y->best.can_gain;
}

/* Comparisons of a family mostly have the same problems, so each kind is computed once. */
static void could_be_within(struct family *f)
{
    for (int i = 0; i < f->n; i++) {
        int k = 0;
        while (k < i && !same_best_outcomes(f->pair[k], f->pair[i]))
            k++;
        f->p[i] = k < i ? f->p[k] : best_within(f, f->pair[i]);
    }
    stat_holm(f->p, (size_t)f->n, f->adjusted);
    for (int i = 0; i < f->n; i++)
        if (f->adjusted[i] < ALPHA && !f->pair[i]->is_below_margin)
            f->pair[i]->could |= 1U << MARK_WITHIN;
}

static void find_possible_marks(struct family *f)
{
    for (int i = 0; i < f->n; i++) {
        struct pair *x = f->pair[i];
        x->could = 0;
        if (could_differ(f, i, x->best.lower))
            x->could |= 1U << MARK_LOWER;
        if (could_differ(f, i, x->best.higher))
            x->could |= 1U << MARK_HIGHER;
    }
    could_be_within(f);
}

/* ---- how many problems would do */

/* The smallest number of problems whose p reaches alpha, when `k` problems gave `p` at best: p falls by one
 * factor with each problem. Assumes that the share of such problems stays as it is. */
static double min_problems(double p, long k, int problems, double alpha)
{
    if (k < 1)
        return INFINITY;
    return ceil(ceil(log(alpha / 2) * (double)k / log(p / 2) - 1e-9) * problems / (double)k);
}

/* So many without any difference show that the margin is kept. Where tasks weigh the same and do not have as
 * many problems it takes more, since the loss may lie in the few. */
static double even_problems(const struct pair *x, double alpha)
{
    return log(alpha) / log(x->best.even) * x->problems - 1e-9;
}

static long rounded_problems(double n)
{
    return n <= PROBLEMS_LIMIT ? (long)ceil(n) : -1;
}

static long fewest_at_all(const struct pair *x, int n, double margin)
{
    double alpha = ALPHA / n;
    double best = fmin(min_problems(x->best.lower, x->best.can_lose, x->problems, alpha),
                       min_problems(x->best.higher, x->best.can_gain, x->problems, alpha));
    double even = margin > 0 ? ceil(even_problems(x, alpha)) : INFINITY;
    return rounded_problems(x->is_below_margin ? best : fmin(best, even));
}

/* If the shares stay as they are, by the normal approximation. The variance is at least that of a loss of the
 * margin where that is to be excluded: few differences say little about it. No p is smaller than
 * that of differences that all go one way. */
static long enough_problems(const struct family *f, int j)
{
    const struct pair *x = f->pair[j];
    int n_p = f->n, n_within = f->n;
    for (int i = 0; i < f->n; i++) {
        n_p -= f->pair[i]->p < x->p;
        n_within -= f->pair[i]->noninferior < x->noninferior;
    }
    double z = stat_normal_quantile(1 - ALPHA / (2 * n_p)), differ = INFINITY, within = INFINITY;
    if (fabs(x->delta) > 1e-9)
        differ = fmax(z * z * x->sd * x->sd / (x->delta * x->delta),
                      min_problems(x->best.one_way_p, x->best.one_way, x->problems, ALPHA / n_p));
    double capacity = x->delta + f->margin, least = f->margin * (1 - f->margin);
    if (f->margin > 0 && capacity > 1e-9 && !x->is_below_margin) {
        z = stat_normal_quantile(1 - ALPHA / n_within);
        within = x->sd > 0 ? z * z * fmax(x->sd * x->sd, least) / (capacity * capacity) : 0;
        if (x->delta <= 0)
            within = fmax(within, even_problems(x, ALPHA / n_within));
    }
    return rounded_problems(fmax(fmin(differ, within), x->problems + 1));
}

/* ---- the verdict */

static void mark_pair(struct family *f, int j)
{
    struct pair *x = f->pair[j];
    if (x->is_incomplete) { /* short completions finish first: the missing answers may take any mark back */
        x->mark = MARK_OPEN;
        return;
    }
    if (x->holm < ALPHA)
        x->mark = x->delta < 0 ? MARK_LOWER : MARK_HIGHER;
    else if (x->noninferior_holm < ALPHA && !x->is_below_margin)
        x->mark = MARK_WITHIN;
    else
        x->mark = x->could ? MARK_OPEN : MARK_TOO_FEW;
    if (x->mark == MARK_OPEN)
        x->enough = enough_problems(f, j);
    else if (x->mark == MARK_TOO_FEW)
        x->enough = fewest_at_all(x, f->n, f->margin);
    else
        x->could |= 1U << x->mark; /* with several samples not every outcome was tried */
}

static void mark_family(struct family *f)
{
    for (int i = 0; i < f->n; i++)
        f->p[i] = f->pair[i]->p;
    stat_holm(f->p, (size_t)f->n, f->adjusted);
    for (int i = 0; i < f->n; i++) {
        f->pair[i]->holm = f->adjusted[i];
        f->p[i] = f->pair[i]->noninferior;
    }
    stat_holm(f->p, (size_t)f->n, f->adjusted);
    for (int i = 0; i < f->n; i++)
        f->pair[i]->noninferior_holm = f->adjusted[i];
    find_possible_marks(f);
    for (int i = 0; i < f->n; i++)
        mark_pair(f, i);
}

static int is_first(const int *group, int i)
{
    for (int k = 0; k < i; k++)
        if (group[k] == group[i])
            return 0;
    return 1;
}

/* Comparisons without a shared problem have no p and are in no family. */
static void collect_family(struct family *f, struct pair *pairs, int n, const int *group, int first)
{
    f->n = 0;
    for (int i = first; i < n; i++)
        if (group[i] == group[first] && !isnan(pairs[i].p))
            f->pair[f->n++] = &pairs[i];
}

static struct family family_of(int n, double margin)
{
    size_t capacity = (size_t)n + 1;
    return (struct family){.pair = xmalloc(capacity * sizeof(struct pair *)),
                           .margin = margin / 100,
                           .p = xmalloc(capacity * sizeof(double)),
                           .adjusted = xmalloc(capacity * sizeof(double))};
}

static void family_release(struct family *f)
{
    free(f->pair);
    free(f->p);
    free(f->adjusted);
}

void report_mark_pairs(struct pair *pairs, int n, const int *group, double margin)
{
    struct family f = family_of(n, margin);
    for (int i = 0; i < n; i++)
        if (is_first(group, i)) {
            collect_family(&f, pairs, n, group, i);
            mark_family(&f);
        }
    family_release(&f);
}

void report_holm(struct pair *pairs, int n, const int *group)
{
    struct family f = family_of(n, NAN);
    for (int i = 0; i < n; i++) {
        if (!is_first(group, i))
            continue;
        collect_family(&f, pairs, n, group, i);
        for (int k = 0; k < f.n; k++)
            f.p[k] = f.pair[k]->p;
        stat_holm(f.p, (size_t)f.n, f.adjusted);
        for (int k = 0; k < f.n; k++)
            f.pair[k]->holm = f.adjusted[k];
    }
    family_release(&f);
}
