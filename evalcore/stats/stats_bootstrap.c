/* Percentile bootstrap (Efron 1979) over problems, with expanded levels (Hesterberg 2015, Am. Stat. 69:371,
 * section 4.3): resamples of n vary too little by the factor sqrt((n - 1) / n), and the normal's tails are
 * shorter than Student's. Plain 2.5 % tails hold the mean of 6 values in 86 % of all samples where they
 * should in 95 % (`kveval bench stats`). Every resample has a random stream of its own, so that the same seed
 * gives the same bits with any number of threads. */
#include <math.h>
#include <stdlib.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/rng.h"
#include "evalcore/stats/stats.h"
#include "evalcore/stats/stats_math.h"

struct interval stat_bootstrap(stat_statistic f, const void *data, size_t n, int replicates, uint64_t seed)
{
    if (n < 2 || n > UINT32_MAX || replicates < 1)
        return (struct interval){NAN, NAN};
    double *value = xmalloc((size_t)replicates * sizeof *value);
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
        free(pick);
    }
    size_t known = 0;
    for (int r = 0; r < replicates; r++)
        if (!isnan(value[r]))
            value[known++] = value[r];
    struct interval ci = {NAN, NAN};
    if (2 * known >= (size_t)replicates) {
        stat_sort(value, known);
        double t = stat_t_quantile(0.975, (double)(n - 1));
        double tail = stat_normal_cdf(-t * sqrt((double)n / (double)(n - 1)));
        ci = (struct interval){stat_quantile(value, known, tail), stat_quantile(value, known, 1 - tail)};
    }
    free(value);
    return ci;
}
