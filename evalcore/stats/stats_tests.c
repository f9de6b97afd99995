/* Exact conditional tests of two cells on the same problems: McNemar's for one sample of each problem, and
 * its form for several samples, the stratified test. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/stats/stats.h"

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
