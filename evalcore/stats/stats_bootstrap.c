/* Percentile bootstrap (Efron 1979) over problems, with expanded levels (Hesterberg 2015, Am. Stat. 69:371,
 * section 4.3): resamples of n vary too little by the factor sqrt((n - 1) / n), and the normal's tails are
 * shorter than Student's. Percentiles of a skewed mean also lean the wrong way, so each end is the farther
 * one of that and of Hall's interval with the resamples' standard error and skewness, which is cut off at the
 * lowest and highest of them: it could leave what is possible at all. Of 6 lengths, plain 2.5 % tails hold
 * the mean in 81 % of all samples, expanded ones in 88 % and these in 90 %. Every resample has a random
 * stream of its own, so that the same seed gives the same bits with any number of threads. */
#include <math.h>
#include <stdlib.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/rng.h"
#include "evalcore/stats/stats.h"
#include "evalcore/stats/stats_math.h"

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
