/* Sign-flip permutation test of a mean difference. It is exact without enumerating 2^n flips where it can
 * be: means of s samples differ by multiples of 1/s, so the null distribution of their sum lives on a small
 * integer grid, and n convolutions build all of it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/rng.h"
#include "evalcore/stats/stats.h"

enum {
    ENUMERATE_MAX = 20, /* 2^20 flips: a few milliseconds */
    GRID_MAX = 4000000, /* points of an exact null distribution; beyond them random flips are used */
    FLIPS = 99999,
    LANES = 4 /* flips summed side by side: the words of one draw of the generator */
};
/* Any constant will do; a fixed one gives the same p for the same data everywhere. */
static const uint64_t flip_key = 0x6b76657661u;

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

/* How many of the LANES flips of a group are as extreme; `most` of them count. A draw of the generator is
 * four words, so group g begins at draw g * words whatever thread it falls to, and the sums of a group, each
 * added in the order of the problems, do not wait for one another. */
static long flip_group(const double *d, size_t n, long group, int most, double least)
{
    size_t words = (n + 31) / 32;
    uint32_t *bits = xmalloc(LANES * words * sizeof *bits);
    double sum[LANES] = {0};
    long hits = 0;
    struct rng r;
    rng_init(&r, flip_key, 1);
    r.n = (uint64_t)group * words;
    for (size_t i = 0; i < LANES * words; i++)
        bits[i] = rng_u32(&r);
    for (size_t i = 0; i < n; i++) {
        const double signed_d[2] = {-d[i], d[i]};
        for (size_t k = 0; k < LANES; k++)
            sum[k] += signed_d[bits[k * words + i / 32] >> (i % 32) & 1];
    }
    for (int k = 0; k < most; k++)
        hits += fabs(sum[k]) >= least;
    free(bits);
    return hits;
}

static double signflip_random(const double *d, size_t n, double observed, double slack)
{
    long hits = 0;
#pragma omp parallel for schedule(static) reduction(+ : hits)
    for (int f = 0; f < FLIPS; f += LANES)
        hits += flip_group(d, n, f / LANES, FLIPS - f < LANES ? FLIPS - f : LANES, observed - slack);
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
    if (isnan(sum)) {
        free(kept);
        return NAN;
    }
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
