/* How far the means of several cells lie apart by chance. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/rng.h"
#include "evalcore/stats/stats.h"

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
