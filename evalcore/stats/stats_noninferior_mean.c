/* Non-inferiority of a mean of per-problem differences that are no mere -1, 0 and 1.
 *
 * Student's t fails here: with 59 problems unchanged and one lost its spread is so small that it would rule
 * out a loss of 5 points, though three expected losses are often one (5 % of problems lost: 19 %). What the
 * sample does not show has to be allowed for. So the distribution is sought that explains the differences
 * best among those on [-1, 1] whose mean is a loss of exactly the margin: the nonparametric likelihood under
 * the hypothesis (Owen 2001, Empirical Likelihood, section 2.4), which may put mass on -1 though no problem
 * lost that much. p is the probability that n problems drawn from it have a mean as high as the observed one
 * (an estimated p value in the sense of Lloyd 2008, Aust. N. Z. J. Stat. 50:329), summed exactly on a grid.
 * Without any difference this is (1 - margin)^n. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/stats/stats.h"

enum {
    UNITS_MAX = 512,   /* finest grid: differences in 512ths */
    UNITS_ROUND = 256, /* for scores on no grid */
    UNITS_MIN = 16,
    POINTS = 4096 /* the sum's distribution has about so many at most */
};
static const double negligible = 1e-25; /* probabilities at the ends of a distribution that are dropped */

struct pmf {
    double *p;
    long low, n; /* of the values low..low+n-1 */
};

static int is_on_grid(const double *d, size_t n, long units)
{
    for (size_t i = 0; i < n; i++)
        if (fabs(d[i] * (double)units - round(d[i] * (double)units)) > 1e-6)
            return 0;
    return 1;
}

/* The coarsest grid that holds all differences; one that is coarser still where there are so many problems
 * that its steps vanish in the sum. */
static long find_units(const double *d, size_t n)
{
    long units = 1;
    while (units <= UNITS_MAX && !is_on_grid(d, n, units))
        units++;
    if (units > UNITS_MAX)
        units = UNITS_ROUND;
    double width = 20 * sqrt((double)n) * fmax(n > 1 ? stat_sd(d, n) : 0, 0.05);
    long affordable = (long)(POINTS / width);
    affordable = affordable < UNITS_MIN ? UNITS_MIN : affordable;
    return units < affordable ? units : affordable;
}

/* The slope of the log-likelihood's dual; its root is the multiplier of the constraint. */
static double dual_slope(const double *d, size_t n, double margin, double lambda)
{
    double s = 0;
    for (size_t i = 0; i < n; i++)
        s += (d[i] + margin) / (1 + lambda * (d[i] + margin));
    return s;
}

/* Mass 1/n over 1 + lambda (d + margin) on every difference. Where the multiplier reaches its bound, at which
 * a difference of -1 has no finite mass of its own, -1 takes what is left. */
static struct pmf likeliest_pmf(const double *d, size_t n, double margin, long units)
{
    double bound = 1 / (1 - margin), lo = 0, hi = bound * (1 - 1e-13), left = 1;
    struct pmf f = {xcalloc((size_t)(2 * units + 1), sizeof(double)), -units, 2 * units + 1};
    if (dual_slope(d, n, margin, hi) >= 0)
        lo = hi;
    for (int i = 0; i < 60 && lo < hi; i++) {
        double mid = 0.5 * (lo + hi);
        if (dual_slope(d, n, margin, mid) > 0)
            lo = mid;
        else
            hi = mid;
    }
    for (size_t i = 0; i < n; i++) {
        double mass = 1 / ((double)n * (1 + lo * (d[i] + margin)));
        f.p[lround(d[i] * (double)units) + units] += mass;
        left -= mass;
    }
    f.p[0] += fmax(0, left);
    return f;
}

static struct pmf sum_of(const struct pmf *a, const struct pmf *b)
{
    struct pmf s = {xcalloc((size_t)(a->n + b->n - 1), sizeof(double)), a->low + b->low, a->n + b->n - 1};
    for (long i = 0; i < a->n; i++)
        for (long j = 0; a->p[i] > 0 && j < b->n; j++)
            s.p[i + j] += a->p[i] * b->p[j];
    long skip = 0;
    while (skip < s.n - 1 && s.p[skip] < negligible)
        skip++;
    while (s.n > skip + 1 && s.p[s.n - 1] < negligible)
        s.n--;
    s.n -= skip;
    s.low += skip;
    memmove(s.p, s.p + skip, (size_t)s.n * sizeof *s.p);
    return s;
}

/* The distribution of the sum of n draws, by repeated squaring. Takes f over. */
static struct pmf sum_of_many(struct pmf f, size_t n)
{
    struct pmf sum = {xcalloc(1, sizeof(double)), 0, 1};
    sum.p[0] = 1;
    for (; n; n /= 2) {
        struct pmf t;
        if (n % 2) {
            t = sum_of(&sum, &f);
            free(sum.p);
            sum = t;
        }
        if (n > 1) {
            t = sum_of(&f, &f);
            free(f.p);
            f = t;
        }
    }
    free(f.p);
    return sum;
}

double stat_noninferior_mean(const double *d, size_t n, double margin)
{
    if (!n || !(margin > 0 && margin < 1))
        return NAN;
    for (size_t i = 0; i < n; i++)
        if (!(d[i] >= -1 - 1e-9 && d[i] <= 1 + 1e-9))
            return NAN;
    long units = find_units(d, n), observed = 0;
    double *k = xmalloc(n * sizeof *k);
    for (size_t i = 0; i < n; i++) {
        long at = lround(fmax(-1, fmin(1, d[i])) * (double)units);
        k[i] = (double)at / (double)units;
        observed += at;
    }
    double p = 1;
    if (stat_mean(k, n) > -margin) {
        struct pmf sum = sum_of_many(likeliest_pmf(k, n, margin, units), n);
        p = 0;
        for (long i = sum.n; i-- > 0 && sum.low + i >= observed;)
            p += sum.p[i];
        free(sum.p);
    }
    free(k);
    return fmin(1, p);
}
