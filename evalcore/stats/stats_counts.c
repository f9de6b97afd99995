/* Comparing two counts of which only the totals are known: an answer of ours and a figure that somebody
 * printed. Fisher's exact test (Fisher 1935) conditions on both margins; for the 30 to 500 answers here its
 * hypergeometric distribution is summed directly. */
#include <math.h>

#include "evalcore/stats/stats.h"
#include "evalcore/stats/stats_math.h"

static int is_count(long k, long n)
{
    return n > 0 && k >= 0 && k <= n;
}

/* Tables that are as improbable as the one at hand count too; rounding must not leave out its mirror image,
 * so "as improbable" allows one part in ten million, as R's fisher.test does. */
double stat_fisher(long k1, long n1, long k2, long n2)
{
    if (!is_count(k1, n1) || !is_count(k2, n2))
        return NAN;
    long k = k1 + k2, low = k > n2 ? k - n2 : 0, high = k < n1 ? k : n1;
    double all = stat_log_choose((double)(n1 + n2), (double)k), p = 0;
    double seen =
        exp(stat_log_choose((double)n1, (double)k1) + stat_log_choose((double)n2, (double)k2) - all);
    for (long x = low; x <= high; x++) {
        double here =
            exp(stat_log_choose((double)n1, (double)x) + stat_log_choose((double)n2, (double)(k - x)) - all);
        if (here <= seen * (1 + 1e-7))
            p += here;
    }
    return p > 1 ? 1 : p;
}

struct stat_reach stat_fisher_reach(long k1, long n1, long n2)
{
    struct stat_reach r = {-1, n2 + 1};
    if (!is_count(k1, n1) || n2 < 1)
        return r;
    /* From either end inwards, so that every count beyond an edge has a small p. */
    double share = (double)k1 / (double)n1;
    for (long k = 0; k <= n2 && (double)k / (double)n2 < share && stat_fisher(k1, n1, k, n2) < 0.05; k++)
        r.low = k;
    for (long k = n2; k >= 0 && (double)k / (double)n2 > share && stat_fisher(k1, n1, k, n2) < 0.05; k--)
        r.high = k;
    return r;
}
