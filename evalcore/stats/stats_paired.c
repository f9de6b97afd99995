/* Comparing two cells on the same problems: exact tests, intervals, and the differences that they can
 * detect.
 *
 * Small sets of problems deserve exact tests. McNemar's is a binomial tail. The sign-flip test for several
 * samples of each problem is exact too, without enumerating 2^n flips: means of s samples differ by
 * multiples of 1/s, so the null distribution of their sum lives on a small integer grid, and n
 * convolutions build all of it. */
#include "evalcore/stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/rng.h"

enum {
    ENUMERATE_MAX = 20, /* 2^20 flips: a few milliseconds */
    GRID_MAX = 4000000, /* points of an exact null distribution; beyond them random flips are used */
    FLIPS = 99999,
    SHUFFLES = 2000
};
/* Any constant will do; a fixed one gives the same p for the same data everywhere. */
static const uint64_t flip_key = 0x6b76657661u;

/* Twice the smaller tail of the binomial: each problem that only one of the two solved falls to either side
 * with probability one half. */
double stat_mcnemar(long only_a, long only_b)
{
    double p = 2 * stat_binomial_cdf(only_a < only_b ? only_a : only_b, only_a + only_b, 0.5);
    return p > 1 ? 1 : p;
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

/* The exact test for differences on an integer grid: the distribution of the sum of +-k_i is built one
 * problem at a time. Returns NaN when the grid would be too large. */
static double signflip_grid(const double *d, size_t n, double unit)
{
    long reach = 0, observed = 0;
    double wide = 0;
    for (size_t i = 0; i < n; i++)
        wide += fabs(d[i] / unit);
    if (wide * 2 + 1 > GRID_MAX)
        return NAN;
    for (size_t i = 0; i < n; i++) {
        long k = lround(d[i] / unit);
        observed += k;
        reach += labs(k);
    }
    size_t size = (size_t)(2 * reach + 1);
    double *now = xcalloc(size, sizeof *now), *next = xcalloc(size, sizeof *next);
    now[reach] = 1;
    long span = 0;
    for (size_t i = 0; i < n; i++) {
        long k = labs(lround(d[i] / unit));
        if (!k)
            continue;
        memset(next, 0, size * sizeof *next);
        for (long s = reach - span; s <= reach + span; s++) {
            next[s - k] += 0.5 * now[s];
            next[s + k] += 0.5 * now[s];
        }
        span += k;
        double *t = now;
        now = next;
        next = t;
    }
    double p = 0;
    for (long s = 0; s < (long)size; s++)
        if (labs(s - reach) >= labs(observed))
            p += now[s];
    free(now);
    free(next);
    return p > 1 ? 1 : p;
}

static double signflip_enumerate(const double *d, size_t n, double observed, double slack)
{
    /* Gray code: one sign changes per step. The first sign may stay fixed, since |sum| is symmetric. */
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += d[i];
    uint32_t negative = 0;
    long hits = 0, total = 1L << (n - 1);
    for (long i = 0;;) {
        hits += fabs(sum) >= observed - slack;
        if (++i == total)
            break;
        unsigned bit = (unsigned)__builtin_ctzl((unsigned long)i);
        negative ^= 1u << bit;
        sum += (negative >> bit & 1 ? -2 : 2) * d[bit];
    }
    return (double)hits / (double)total;
}

static double signflip_random(const double *d, size_t n, double observed, double slack)
{
    struct rng r;
    rng_init(&r, flip_key, 1);
    long hits = 0;
    for (int f = 0; f < FLIPS; f++) {
        double sum = 0;
        uint32_t bits = 0;
        for (size_t i = 0; i < n; i++) {
            if (i % 32 == 0)
                bits = rng_u32(&r);
            sum += bits >> (i % 32) & 1 ? d[i] : -d[i];
        }
        hits += fabs(sum) >= observed - slack;
    }
    return (double)(hits + 1) / (double)(FLIPS + 1);
}

double stat_signflip(const double *d, size_t n, double unit, enum signflip *how)
{
    *how = SIGNFLIP_EXACT;
    double *kept = xcalloc(n ? n : 1, sizeof *kept), sum = 0, reach = 0;
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        if (fabs(d[i]) < 1e-12)
            continue;
        kept[m++] = d[i];
        sum += d[i];
        reach += fabs(d[i]);
    }
    double p = NAN;
    if (!m)
        p = 1;
    else if (unit > 0)
        p = signflip_grid(kept, m, unit);
    if (isnan(p)) {
        double slack = 1e-12 * reach; /* equal sums in another order of addition must count as equal */
        if (m <= ENUMERATE_MAX) {
            p = signflip_enumerate(kept, m, fabs(sum), slack);
        } else {
            *how = SIGNFLIP_MONTE_CARLO;
            p = signflip_random(kept, m, fabs(sum), slack);
        }
    }
    free(kept);
    return p;
}

/* The power of the exact McNemar test at level alpha when a share `discordance` of the problems differs and
 * the net loss is `loss`. */
static double mcnemar_power(long n, double discordance, double loss, double alpha)
{
    double worse = (discordance + loss) / (2 * discordance), power = 0;
    long critical = -1; /* largest count of the rarer direction that rejects; it never falls as m grows */
    for (long m = 0; m <= n; m++) {
        double here = stat_binomial_cdf(m, n, discordance) - stat_binomial_cdf(m - 1, n, discordance);
        while (critical + 1 <= m / 2 && stat_mcnemar(m - critical - 1, critical + 1) <= alpha)
            critical++;
        if (critical < 0 || here < 1e-12)
            continue;
        /* reject when "only b" <= critical, or >= m - critical */
        double better = 1 - worse;
        power += here * (stat_binomial_cdf(critical, m, better) + 1 -
                         stat_binomial_cdf(m - critical - 1, m, better));
    }
    return power;
}

long stat_problems_to_differ(double alpha)
{
    if (!(alpha > 0 && alpha < 1))
        return -1;
    long n = 1;
    while (stat_mcnemar(n, 0) > alpha)
        n++;
    return n;
}

double stat_mdd_mcnemar(long n, double discordance, double alpha)
{
    double lo = 0, hi = 1;
    if (n < 1 || mcnemar_power(n, 1, 1, alpha) < 0.8)
        return NAN;
    for (int i = 0; i < 12; i++) {
        double loss = 0.5 * (lo + hi), d = discordance > loss ? discordance : loss;
        if (mcnemar_power(n, d, loss, alpha) < 0.8)
            lo = loss;
        else
            hi = loss;
    }
    return hi;
}

double stat_mdd_paired(size_t n, double sd, double alpha)
{
    if (n < 2 || isnan(sd))
        return NAN;
    double mdd =
        (stat_t_quantile(1 - alpha / 2, (double)(n - 1)) + stat_normal_quantile(0.8)) * sd / sqrt((double)n);
    return mdd > 1 ? NAN : mdd;
}

static double spread(const double *score, size_t n_cells, size_t n_problems)
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
    out.observed = spread(score, n_cells, n_problems);
    double *work = xmalloc(n_cells * n_problems * sizeof *work), *range = xmalloc(SHUFFLES * sizeof *range);
    memcpy(work, score, n_cells * n_problems * sizeof *work);
    struct rng r;
    rng_init(&r, flip_key, 2);
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
        range[s] = spread(work, n_cells, n_problems);
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
