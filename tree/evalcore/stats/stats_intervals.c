/* Intervals for one group and for the difference of two. Benchmarks have 30 to 500 problems, so nothing here
 * relies on large samples where an exact or small-sample form exists. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/rng.h"
#include "evalcore/stats/stats.h"
#include "evalcore/stats/stats_math.h"

struct interval stat_score_interval(double mean, double n, double z)
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
    return stat_score_interval(n > 0 ? k / n : 0, n, stat_normal_quantile(0.975));
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
    return stat_score_interval(mean, effective, stat_t_quantile(0.975, problems - 1));
}

/* The p at which P(X <= k) of n falls to `tail`. */
static double binomial_limit(long k, long n, double tail)
{
    double lo = 0, hi = 1;
    for (int i = 0; i < 60; i++) {
        double mid = 0.5 * (lo + hi);
        if (stat_binomial_cdf(k, n, mid) > tail)
            lo = mid;
        else
            hi = mid;
    }
    return 0.5 * (lo + hi);
}

struct interval stat_clopper_pearson(long k, long n)
{
    if (n < 1 || k < 0 || k > n)
        return (struct interval){0, 1};
    return (struct interval){k ? 1 - binomial_limit(n - k, n, 0.025) : 0,
                             k < n ? binomial_limit(k, n, 0.025) : 1};
}

struct interval stat_paired_newcombe(long both, long only_a, long only_b, long neither)
{
    double n = (double)(both + only_a + only_b + neither);
    if (n <= 0)
        return (struct interval){-1, 1};
    double a = (double)(both + only_a), b = (double)(both + only_b);
    double pa = a / n, pb = b / n, delta = pb - pa;
    struct interval wa = stat_wilson(a, n), wb = stat_wilson(b, n);
    double margins = a * (n - a) * b * (n - b), phi = 0;
    if (margins > 0) {
        double cross = (double)both * (double)neither - (double)only_a * (double)only_b;
        /* Newcombe's continuity correction keeps a positive association from being overstated. */
        if (cross > 0)
            cross = cross > n / 2 ? cross - n / 2 : 0;
        phi = cross / sqrt(margins);
    }
    double dl = pb - wb.low, du = wa.high - pa;
    double el = wb.high - pb, eu = pa - wa.low;
    double low = dl * dl - 2 * phi * dl * du + du * du;
    double high = el * el - 2 * phi * el * eu + eu * eu;
    struct interval ci = {delta - sqrt(low > 0 ? low : 0), delta + sqrt(high > 0 ? high : 0)};
    return ci;
}

struct interval stat_mean_t(const double *v, size_t n)
{
    double mean = stat_mean(v, n), sd = n < 2 ? 0 : stat_sd(v, n);
    if (sd < 1e-12)
        return (struct interval){NAN, NAN};
    double half = stat_t_quantile(0.975, (double)(n - 1)) * sd / sqrt((double)n);
    return (struct interval){mean - half, mean + half};
}

struct interval stat_paired_t(const double *d, size_t n)
{
    if (n < 2)
        return (struct interval){-1, 1};
    double mean = stat_mean(d, n), half = 1 - pow(0.05, 1 / (double)n);
    struct interval ci = stat_mean_t(d, n);
    if (isnan(ci.low))
        ci = (struct interval){mean - half, mean + half};
    if (ci.low < -1)
        ci.low = -1;
    if (ci.high > 1)
        ci.high = 1;
    return ci;
}

struct member {
    int cluster;
    double residual;
};

static int compare_members(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    return x->cluster != y->cluster    ? (x->cluster > y->cluster ? 1 : -1)
           : x->residual < y->residual ? -1
                                       : x->residual > y->residual;
}

double stat_unskew(double t, double a)
{
    return fabs(a) < 1e-6 ? t : 3 / a * (cbrt(1 + a * (t - a / 6)) - 1);
}

struct stat_average stat_average(const double *v, const int *cluster, size_t n)
{
    struct stat_average out = {stat_mean(v, n), NAN, {NAN, NAN}, 0};
    struct member *m = xcalloc(n ? n : 1, sizeof *m);
    for (size_t i = 0; i < n; i++)
        m[i] = (struct member){cluster ? cluster[i] : 0, v[i] - out.mean};
    if (cluster)
        qsort(m, n, sizeof *m, compare_members);
    double squares = 0, cubes = 0;
    for (size_t i = 0; i < n;) {
        double sum = 0;
        size_t first = i;
        do
            sum += m[i++].residual;
        while (cluster && i < n && m[i].cluster == m[first].cluster);
        squares += sum * sum;
        cubes += sum * sum * sum;
        out.n_clusters++;
    }
    free(m);
    if (out.n_clusters < 2)
        return out;
    double g = (double)out.n_clusters, sd = sqrt(squares / (g - 1));
    out.se = sqrt(g) * sd / (double)n;
    if (out.se > 1e-12) { /* Hall moves the interval; what his skewness of few values draws in, t keeps */
        double t = stat_t_quantile(0.975, g - 1);
        double a = g > 2 ? sqrt(g) / ((g - 1) * (g - 2)) * cubes / (sd * sd * sd) : 0;
        out.ci.low = out.mean - fmax(t, stat_unskew(t, a)) * out.se;
        out.ci.high = out.mean + fmax(t, -stat_unskew(-t, a)) * out.se;
    }
    return out;
}

/* ---- Percentile bootstrap (Efron 1979) over problems, with expanded levels (Hesterberg 2015, Am. Stat.
 * 69:371, section 4.3): resamples of n vary too little by the factor sqrt((n - 1) / n), and the normal's
 * tails are shorter than Student's. Percentiles of a skewed mean also lean the wrong way, so each end is the
 * farther one of that and of Hall's interval with the resamples' standard error and skewness, which is cut
 * off at the lowest and highest of them: it could leave what is possible at all. Of 6 lengths, plain 2.5 %
 * tails hold the mean in 81 % of all samples, expanded ones in 88 % and these in 90 %. Every resample has a
 * random stream of its own, so that the same seed gives the same bits with any number of threads. */

/* value: the statistic of each of the n_values resamples, sorted. */
static struct interval interval_ends(const double *value, size_t n_values, size_t n, double estimate)
{
    double problems = (double)n, t = stat_t_quantile(0.975, problems - 1),
           inflate = problems / (problems - 1);
    double tail = stat_normal_cdf(-t * sqrt(inflate)), sd = stat_sd(value, n_values), cubes = 0;
    struct interval ci = {stat_quantile(value, n_values, tail), stat_quantile(value, n_values, 1 - tail)};
    if (n < 3 || isnan(estimate) || !(sd > 1e-12))
        return ci;
    double mean = stat_mean(value, n_values);
    for (size_t i = 0; i < n_values; i++)
        cubes += pow((value[i] - mean) / sd, 3) / (double)n_values;
    double a = cubes * sqrt(problems * (problems - 1)) / (problems - 2), se = sd * sqrt(inflate);
    ci.low = fmin(ci.low, fmax(value[0], estimate - stat_unskew(t, a) * se));
    ci.high = fmax(ci.high, fmin(value[n_values - 1], estimate - stat_unskew(-t, a) * se));
    return ci;
}

struct interval stat_bootstrap(stat_statistic f, const void *data, size_t n, int replicates, uint64_t seed)
{
    if (n < 2 || n > UINT32_MAX || replicates < 1)
        return (struct interval){NAN, NAN};
    double *value = xmalloc((size_t)replicates * sizeof *value), estimate = NAN;
#pragma omp parallel
    {
        unsigned *pick = xmalloc(n * sizeof *pick);
#pragma omp for schedule(static)
        for (int r = 0; r < replicates; r++) {
            struct rng rng;
            rng_init(&rng, seed, (uint64_t)r);
            for (size_t i = 0; i < n; i++)
                pick[i] = rng_below(&rng, (uint32_t)n);
            value[r] = f(data, pick, n);
        }
#pragma omp single
        {
            for (size_t i = 0; i < n; i++)
                pick[i] = (unsigned)i;
            estimate = f(data, pick, n);
        }
        free(pick);
    }
    size_t known = 0;
    for (int r = 0; r < replicates; r++)
        if (!isnan(value[r]))
            value[known++] = value[r];
    struct interval ci = {NAN, NAN};
    if (2 * known >= (size_t)replicates) {
        stat_sort(value, known);
        ci = interval_ends(value, known, n, estimate);
    }
    free(value);
    return ci;
}

/* ---- How far the means of several cells lie apart by chance. */

enum { SHUFFLES = 2000 };
static const uint64_t shuffle_key = 0x6b76657661u; /* fixed: the same data give the same range everywhere */

static double cell_spread(const double *score, size_t n_cells, size_t n_problems)
{
    double low = 0, high = 0;
    for (size_t c = 0; c < n_cells; c++) {
        double m = stat_mean(score + c * n_problems, n_problems);
        if (!c || m < low)
            low = m;
        if (!c || m > high)
            high = m;
    }
    return high - low;
}

struct null_range stat_null_range(const double *score, size_t n_cells, size_t n_problems)
{
    struct null_range out = {NAN, NAN, NAN, NAN};
    if (n_cells < 2 || !n_problems)
        return out;
    out.observed = cell_spread(score, n_cells, n_problems);
    double *work = xmalloc(n_cells * n_problems * sizeof *work), *range = xmalloc(SHUFFLES * sizeof *range);
    memcpy(work, score, n_cells * n_problems * sizeof *work);
    struct rng r;
    rng_init(&r, shuffle_key, 2);
    long hits = 0;
    for (int s = 0; s < SHUFFLES; s++) {
        for (size_t p = 0; p < n_problems; p++) {
            for (size_t c = n_cells - 1; c > 0; c--) {
                size_t o = rng_below(&r, (uint32_t)(c + 1));
                double t = work[c * n_problems + p];
                work[c * n_problems + p] = work[o * n_problems + p];
                work[o * n_problems + p] = t;
            }
        }
        range[s] = cell_spread(work, n_cells, n_problems);
        hits += range[s] >= out.observed - 1e-12;
    }
    stat_sort(range, SHUFFLES);
    out.median = stat_quantile(range, SHUFFLES, 0.5);
    out.q95 = stat_quantile(range, SHUFFLES, 0.95);
    out.p = (double)(hits + 1) / (SHUFFLES + 1);
    free(work);
    free(range);
    return out;
}
