/* Intervals, quantiles and distribution functions for the reports.
 *
 * Only the few distributions that the reports need are here, computed by textbook methods that are
 * accurate to about 1e-12: the normal quantile by bisection and a Newton step on erfc, Student's t through
 * the incomplete beta function's continued fraction (Abramowitz and Stegun 26.5.8, evaluated by Lentz's
 * rule). Benchmarks have 30 to 500 problems, so nothing here relies on large samples where an exact or
 * small-sample form exists. */
#include "evalcore/stats/stats.h"

#include <math.h>
#include <stdlib.h>

#include "evalcore/base/arena.h"

static double normal_cdf(double x)
{
    return 0.5 * erfc(-x * 0.70710678118654752440);
}

double stat_normal_quantile(double p)
{
    if (!(p > 0 && p < 1))
        return NAN;
    /* Bisection finds the neighbourhood and one Newton step the value. The tails that the reports need lie
     * within 9 standard deviations. */
    double lo = -9, hi = 9;
    for (int i = 0; i < 40; i++) {
        double mid = 0.5 * (lo + hi);
        if (normal_cdf(mid) < p)
            lo = mid;
        else
            hi = mid;
    }
    double x = 0.5 * (lo + hi);
    double density = exp(-0.5 * x * x) * 0.39894228040143267794;
    return density > 1e-300 ? x - (normal_cdf(x) - p) / density : x;
}

/* Continued fraction of the incomplete beta function. */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double h = d;
    for (int m = 1; m <= 500; m++) {
        double num = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 + num * d;
        c = 1 + num / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        h *= d * c;
        num = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 + num * d;
        c = 1 + num / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        h *= d * c;
        if (fabs(d * c - 1) < 1e-15)
            break;
    }
    return h;
}

static double beta_regularized(double a, double b, double x)
{
    if (x <= 0)
        return 0;
    if (x >= 1)
        return 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double stat_t_cdf(double t, double df)
{
    double tail = 0.5 * beta_regularized(df / 2, 0.5, df / (df + t * t));
    return t > 0 ? 1 - tail : tail;
}

double stat_t_quantile(double p, double df)
{
    if (!(p > 0 && p < 1) || !(df > 0))
        return NAN;
    double lo = -1, hi = 1;
    while (stat_t_cdf(lo, df) > p && lo > -1e9)
        lo *= 2;
    while (stat_t_cdf(hi, df) < p && hi < 1e9)
        hi *= 2;
    for (int i = 0; i < 100; i++) {
        double mid = 0.5 * (lo + hi);
        if (stat_t_cdf(mid, df) < p)
            lo = mid;
        else
            hi = mid;
    }
    return 0.5 * (lo + hi);
}

double stat_binomial_cdf(long k, long n, double p)
{
    if (k < 0)
        return 0;
    if (k >= n)
        return 1;
    /* P(X <= k) = I_{1-p}(n - k, k + 1) */
    return beta_regularized((double)(n - k), (double)(k + 1), 1 - p);
}

static struct interval score_interval(double mean, double n, double z)
{
    if (!(n > 0))
        return (struct interval){0, 1};
    double zz = z * z / n;
    double centre = (mean + zz / 2) / (1 + zz);
    double half = z * sqrt(mean * (1 - mean) / n + zz / (4 * n)) / (1 + zz);
    struct interval ci = {centre - half, centre + half};
    /* At 0 and 1 the ends are exact; rounding must not leave 1e-17 in a table. */
    if (mean <= 0 || ci.low < 0)
        ci.low = 0;
    if (mean >= 1 || ci.high > 1)
        ci.high = 1;
    return ci;
}

struct interval stat_wilson(double k, double n)
{
    return score_interval(n > 0 ? k / n : 0, n, stat_normal_quantile(0.975));
}

struct interval stat_clustered(const double *sum, const long *count, size_t n_problems, int is_binary)
{
    double total = 0, jobs = 0, problems = 0;
    int is_single = 1;
    for (size_t i = 0; i < n_problems; i++) {
        total += sum[i];
        jobs += (double)count[i];
        problems += count[i] > 0;
        if (count[i] > 1)
            is_single = 0;
    }
    if (jobs <= 0)
        return (struct interval){0, 1};
    if (is_binary && is_single)
        return stat_wilson(total, jobs);
    double mean = total / jobs, squares = 0;
    for (size_t i = 0; i < n_problems; i++) {
        double r = sum[i] - mean * (double)count[i];
        squares += r * r;
    }
    if (problems < 2)
        return (struct interval){0, 1};
    double variance = problems / (problems - 1) * squares / (jobs * jobs);
    double spread = mean * (1 - mean);
    double effective = problems;
    if (spread > 0 && variance > 0) {
        effective = spread / variance;
        /* If the samples of a problem happen to disagree more than chance would have it, that is no
         * evidence of extra precision. */
        if (is_binary && effective > jobs)
            effective = jobs;
    }
    return score_interval(mean, effective, stat_t_quantile(0.975, problems - 1));
}

double stat_mean(const double *v, size_t n)
{
    double s = 0;
    for (size_t i = 0; i < n; i++)
        s += v[i];
    return n ? s / (double)n : NAN;
}

double stat_sd(const double *v, size_t n)
{
    if (n < 2)
        return NAN;
    double m = stat_mean(v, n), s = 0;
    for (size_t i = 0; i < n; i++)
        s += (v[i] - m) * (v[i] - m);
    return sqrt(s / (double)(n - 1));
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

void stat_sort(double *v, size_t n)
{
    qsort(v, n, sizeof *v, compare_doubles);
}

double stat_quantile(const double *sorted, size_t n, double q)
{
    if (!n)
        return NAN;
    double at = q * (double)(n - 1);
    size_t i = (size_t)at;
    if (i + 1 >= n)
        return sorted[n - 1];
    return sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]);
}

static int compare_items(const void *a, const void *b)
{
    double x = ((const struct ecdf_item *)a)->x, y = ((const struct ecdf_item *)b)->x;
    return x < y ? -1 : x > y;
}

size_t stat_ecdf(struct ecdf_item *items, size_t n, struct ecdf_step *steps)
{
    qsort(items, n, sizeof *items, compare_items);
    size_t n_steps = 0;
    double open_share = 1; /* share of completions that have not yet ended */
    for (size_t i = 0; i < n;) {
        double x = items[i].x;
        size_t ended = 0, at_risk = n - i;
        for (; i < n && items[i].x <= x; i++)
            ended += !items[i].is_cut;
        if (!ended)
            continue;
        open_share *= 1 - (double)ended / (double)at_risk;
        steps[n_steps++] = (struct ecdf_step){x, 1 - open_share};
    }
    return n_steps;
}

void stat_holm(const double *p, size_t n, double *adjusted)
{
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        adjusted[i] = NAN;
        m += !isnan(p[i]);
    }
    double floor_p = 0;
    char *done = xcalloc(n ? n : 1, 1);
    for (size_t rank = 0; rank < m; rank++) {
        size_t best = n;
        for (size_t i = 0; i < n; i++)
            if (!done[i] && !isnan(p[i]) && (best == n || p[i] < p[best]))
                best = i;
        done[best] = 1;
        double v = p[best] * (double)(m - rank);
        if (v < floor_p)
            v = floor_p;
        floor_p = v > 1 ? 1 : v;
        adjusted[best] = floor_p;
    }
    free(done);
}
