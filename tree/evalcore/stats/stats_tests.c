/* Exact conditional tests of two cells on the same problems: McNemar's for one sample of each problem, and
 * its form for several samples, the stratified test. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/rng.h"
#include "evalcore/stats/stats.h"
#include "evalcore/stats/stats_math.h"

/* A distribution of more points than this is not built; 500 problems of 64 samples have 32,001. */
enum { POINTS_MAX = 1000000 };

/* Twice the smaller tail of the binomial: each problem that only one of the two solved falls to either side
 * with probability one half. */
double stat_mcnemar(long only_a, long only_b)
{
    if (only_a < 0 || only_b < 0)
        return NAN;
    double p = 2 * stat_binomial_cdf(only_a < only_b ? only_a : only_b, only_a + only_b, 0.5);
    return p > 1 ? 1 : p;
}

/* ---- the stratified test */

struct range {
    long low, high; /* the counts b that a stratum's totals allow */
};

static int is_stratum(const struct stratum *s)
{
    return s->n_a > 0 && s->n_b > 0;
}

static int is_valid(const struct stratum *s)
{
    return s->a >= 0 && s->a <= s->n_a && s->b >= 0 && s->b <= s->n_b;
}

static struct range stratum_range(const struct stratum *s)
{
    long right = s->a + s->b;
    return (struct range){right > s->n_a ? right - s->n_a : 0, right < s->n_b ? right : s->n_b};
}

/* The hypergeometric probabilities of b = low..high. Each follows from its neighbour, outwards from the most
 * probable one: logarithms of large factorials would lose three digits, and from an end everything could
 * vanish below the smallest number. */
static void hypergeometric_pmf(const struct stratum *s, struct range r, double *p)
{
    double right = (double)(s->a + s->b), n_a = (double)s->n_a, n_b = (double)s->n_b, sum = 0;
    long mode = (long)((right + 1) * (n_b + 1) / (n_a + n_b + 2)), n = r.high - r.low;
    mode = mode < r.low ? r.low : mode > r.high ? r.high : mode;
    p[mode - r.low] = 1;
    for (long i = mode - r.low; i < n; i++) {
        double b = (double)(r.low + i);
        p[i + 1] = p[i] * (right - b) * (n_b - b) / ((b + 1) * (n_a - right + b + 1));
    }
    for (long i = mode - r.low; i > 0; i--) {
        double b = (double)(r.low + i);
        p[i - 1] = p[i] * b * (n_a - right + b) / ((right - b + 1) * (n_b - b + 1));
    }
    for (long i = 0; i <= n; i++)
        sum += p[i];
    for (long i = 0; i <= n; i++)
        p[i] /= sum;
}

struct window {
    size_t from, to; /* all points before `from` and from `to` on are 0 */
};

/* now[] becomes its convolution with p[0..n]. */
static void convolve_window(double *now, struct window *w, const double *p, long n, double *next)
{
    size_t to = w->to + (size_t)n;
    memset(next + w->from, 0, (to - w->from) * sizeof *next);
    for (long k = 0; k <= n; k++)
        for (size_t j = w->from; j < w->to; j++)
            next[j + (size_t)k] += p[k] * now[j];
    /* A product below the smallest normal number costs a hundred times as much and means nothing. */
    for (size_t j = w->from; j < to; j++)
        now[j] = next[j] < 1e-300 ? 0 : next[j];
    while (w->from < to && now[w->from] <= 0)
        w->from++;
    while (to > w->from && now[to - 1] <= 0)
        to--;
    w->to = to;
}

static struct stat_tails tails_of(const double *p, size_t len, size_t seen)
{
    struct stat_tails t = {0, 0, 1};
    for (size_t i = 0; i <= seen; i++)
        t.lower += p[i];
    for (size_t i = len; i-- > seen;)
        t.higher += p[i];
    t.lower = fmin(1, t.lower);
    t.higher = fmin(1, t.higher);
    t.two_sided = fmin(1, 2 * fmin(t.lower, t.higher));
    return t;
}

struct stat_tails stat_stratified(const struct stratum *s, size_t n)
{
    const struct stat_tails none = {NAN, NAN, NAN};
    size_t points = 1, widest = 0, seen = 0, used = 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_stratum(&s[i]))
            continue;
        if (!is_valid(&s[i]) || s[i].n_a > POINTS_MAX || s[i].n_b > POINTS_MAX)
            return none;
        struct range r = stratum_range(&s[i]);
        size_t width = (size_t)(r.high - r.low);
        points += width;
        widest = width > widest ? width : widest;
        seen += (size_t)(s[i].b - r.low);
        used++;
        if (points > POINTS_MAX)
            return none;
    }
    if (!used)
        return none;
    double *now = xcalloc(points, sizeof *now), *next = xcalloc(points, sizeof *next),
           *p = xcalloc(widest + 1, sizeof *p);
    now[0] = 1;
    struct window w = {0, 1};
    for (size_t i = 0; i < n; i++) {
        struct range r = stratum_range(&s[i]);
        if (!is_stratum(&s[i]) || r.low == r.high)
            continue;
        hypergeometric_pmf(&s[i], r, p);
        convolve_window(now, &w, p, r.high - r.low, next);
    }
    struct stat_tails t = tails_of(now, points, seen);
    free(now);
    free(next);
    free(p);
    return t;
}

/* ---- Sign-flip permutation test of a mean difference. It is exact without enumerating 2^n flips where it
 * can be: means of s samples differ by multiples of 1/s, so the null distribution of their sum lives on a
 * small integer grid, and n convolutions build all of it. */

enum {
    ENUMERATE_MAX = 20, /* 2^20 flips: a few milliseconds */
    GRID_MAX = 4000000, /* points of an exact null distribution; beyond them random flips are used */
    FLIPS = 99999,
    GROUP_FLIPS = 4 /* flips summed side by side: the words of one draw of the generator */
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

/* Counts the flips of a group that are as extreme, among its first n_flips. A draw of the generator is
 * four words, so group g begins at draw g * words whatever thread it falls to, and the sums of a group, each
 * added in the order of the problems, do not wait for one another. */
static long flip_group(const double *d, size_t n, long group, int n_flips, double min_sum)
{
    size_t words = (n + 31) / 32;
    uint32_t *bits = xmalloc(GROUP_FLIPS * words * sizeof *bits);
    double sum[GROUP_FLIPS] = {0};
    long hits = 0;
    struct rng r;
    rng_init(&r, flip_key, 1);
    r.n = (uint64_t)group * words;
    for (size_t i = 0; i < GROUP_FLIPS * words; i++)
        bits[i] = rng_u32(&r);
    for (size_t i = 0; i < n; i++) {
        const double signed_d[2] = {-d[i], d[i]};
        for (size_t k = 0; k < GROUP_FLIPS; k++)
            sum[k] += signed_d[bits[k * words + i / 32] >> (i % 32) & 1];
    }
    for (int k = 0; k < n_flips; k++)
        hits += fabs(sum[k]) >= min_sum;
    free(bits);
    return hits;
}

static double signflip_random(const double *d, size_t n, double observed, double slack)
{
    long hits = 0;
#pragma omp parallel for schedule(static) reduction(+ : hits)
    for (int f = 0; f < FLIPS; f += GROUP_FLIPS)
        hits += flip_group(d, n, f / GROUP_FLIPS, FLIPS - f < GROUP_FLIPS ? FLIPS - f : GROUP_FLIPS,
                           observed - slack);
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

/* ---- Comparing two counts of which only the totals are known: an answer of ours and a figure that somebody
 * printed. Fisher's exact test (Fisher 1935) conditions on both margins; for the 30 to 500 answers here its
 * hypergeometric distribution is summed directly. */

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
