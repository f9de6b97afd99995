/* Non-inferiority: is the loss smaller than a margin? One sample of each problem, scored 0 or 1. */
#include <math.h>
#include <stdlib.h>

#include "evalcore/base/arena.h"
#include "evalcore/stats/stats.h"
#include "evalcore/stats/stats_math.h"

enum {
    EXACT_MAX = 500, /* problems; beyond them the likeliest value of the nuisance parameter is taken */
    PROBLEMS_MAX = 1000000,
    NUISANCE = 96 /* values of the nuisance parameter that are tried before the search narrows */
};

/* The likeliest share of problems that only the second solves when the loss is exactly the margin (Tango
 * 1998, Stat. Med. 17:891, equation 11); x problems only the first solved, y only the second. */
static double restricted_share(double x, double y, double n, double margin)
{
    double b = x * (1 + margin) + y * (1 - margin) - 2 * n * margin, c = y * margin * (1 - margin);
    double root = sqrt(b * b + 8 * n * c);
    return b > 0 ? (b + root) / (4 * n) : c > 0 ? 2 * c / (root - b) : 0;
}

static double log_power(double count, double p)
{
    return count > 0 ? count * log(p) : 0;
}

/* Signed root of the likelihood ratio against a loss of exactly the margin. Tango's score would do for the
 * exact test too, but it takes "no problem differs" for no stronger than outcomes with many differences: with
 * 100 problems and 5 points it gives 1.4 % where 0.95^100 is 0.6 %. */
static double signed_root(double x, double y, double n, double margin)
{
    double q = restricted_share(x, y, n, margin), rest = n - x - y;
    double ratio = log_power(x, x / (n * (q + margin))) + log_power(y, y / (n * q)) +
                   log_power(rest, rest / (n * (1 - margin - 2 * q)));
    double root = sqrt(2 * fmax(0, ratio));
    return y - x + n * margin < 0 ? -root : root;
}

/* The outcomes that speak at least as loudly against the loss: for x problems that only the first solved,
 * those with y >= least[x] (n - x + 1 or more: none). A fall of x never leads out of the region, as its
 * largest probability under the hypothesis is then found where the loss is exactly the margin. */
static void find_region(long n, double margin, double seen, long *least)
{
    for (long x = n; x >= 0; x--) {
        long y = n - x + 1;
        if (x < n && least[x + 1] <= n - x - 1)
            y = least[x + 1];
        while (y > 0 && signed_root((double)x, (double)(y - 1), (double)n, margin) >= seen)
            y--;
        least[x] = y;
    }
}

/* Its probability when a share q of the problems are solved by the second alone and q + margin by the first
 * alone. */
static double region_probability(long n, double margin, double q, const long *least)
{
    double first = q + margin, of_rest = fmin(1, q / (1 - first)), p = 0;
    for (long x = 0; x <= n && least[x] <= n - x; x++) {
        double here = exp(stat_log_choose((double)n, (double)x) + (double)x * log(first) +
                          (double)(n - x) * log1p(-first));
        if (here < 1e-30)
            continue;
        long most_not = n - x - least[x]; /* P(Y >= least) as the lower tail of those that are no y */
        p += here * stat_binomial_cdf(most_not, n - x, 1 - of_rest);
    }
    return p;
}

/* Barnard's maximum over the nuisance parameter. The probability is smooth in q but may have several humps,
 * narrow ones near 0: hence a grid that is fine there, then golden sections around its best point. */
static double largest_probability(long n, double margin, const long *least)
{
    double top = (1 - margin) / 2, best = -1;
    int at = 0;
    for (int i = 0; i <= NUISANCE; i++) {
        double u = (double)i / NUISANCE, p = region_probability(n, margin, top * u * u, least);
        if (p > best) {
            best = p;
            at = i;
        }
    }
    double lo = fmax(0, at - 1.0) / NUISANCE, hi = fmin(NUISANCE, at + 1.0) / NUISANCE;
    for (int i = 0; i < 24; i++) {
        double a = hi - 0.6180339887498949 * (hi - lo), b = lo + 0.6180339887498949 * (hi - lo);
        double pa = region_probability(n, margin, top * a * a, least);
        double pb = region_probability(n, margin, top * b * b, least);
        best = fmax(best, fmax(pa, pb));
        if (pa > pb)
            hi = b;
        else
            lo = a;
    }
    return fmin(1, best);
}

double stat_noninferior_binary(long only_a, long only_b, long n, double margin)
{
    if (n < 1 || n > PROBLEMS_MAX || only_a < 0 || only_b < 0 || only_a > n || only_b > n - only_a ||
        !(margin > 0 && margin < 1))
        return NAN;
    double x = (double)only_a, y = (double)only_b, p;
    long *least = xcalloc((size_t)n + 1, sizeof *least);
    if (n <= EXACT_MAX) {
        /* Rounding must not leave out the outcome itself. */
        find_region(n, margin, signed_root(x, y, (double)n, margin) - 1e-9, least);
        p = largest_probability(n, margin, least);
    } else if (y - x <= -margin * (double)n) {
        p = 1;
    } else {
        for (long i = 0; i <= n; i++)
            least[i] = i + only_b - only_a > 0 ? i + only_b - only_a : 0;
        p = region_probability(n, margin, restricted_share(x, y, (double)n, margin), least);
    }
    free(least);
    return p;
}
