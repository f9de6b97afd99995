/* Several tests at once: p values adjusted so that the first error (Holm 1979) or the share of errors among
 * the findings (Benjamini and Hochberg 1995) stays below the level. */
#include <math.h>
#include <stdlib.h>

#include "evalcore/base/arena.h"
#include "evalcore/stats/stats.h"
#include "evalcore/stats/stats_math.h"

struct ranked {
    double p;
    size_t at;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return x->p != y->p ? (x->p > y->p ? 1 : -1) : x->at < y->at ? -1 : x->at > y->at;
}

/* The p values that are numbers, smallest first. */
static struct ranked *rank_p_values(const double *p, size_t n, double *adjusted, size_t *m)
{
    struct ranked *r = xcalloc(n ? n : 1, sizeof *r);
    *m = 0;
    for (size_t i = 0; i < n; i++) {
        adjusted[i] = NAN;
        if (!isnan(p[i]))
            r[(*m)++] = (struct ranked){p[i], i};
    }
    qsort(r, *m, sizeof *r, compare_ranked);
    return r;
}

void stat_holm(const double *p, size_t n, double *adjusted)
{
    size_t m;
    struct ranked *r = rank_p_values(p, n, adjusted, &m);
    double floor_p = 0;
    for (size_t i = 0; i < m; i++) {
        floor_p = fmin(1, fmax(floor_p, r[i].p * (double)(m - i)));
        adjusted[r[i].at] = floor_p;
    }
    free(r);
}

void stat_benjamini_hochberg(const double *p, size_t n, double *adjusted)
{
    size_t m;
    struct ranked *r = rank_p_values(p, n, adjusted, &m);
    double ceiling = 1;
    for (size_t i = m; i-- > 0;) {
        ceiling = fmin(ceiling, r[i].p * (double)m / (double)(i + 1));
        adjusted[r[i].at] = ceiling;
    }
    free(r);
}

/* ---- What a number of problems can show at all: minimum detectable differences, and the fewest problems
 * with which the best outcome reaches a level. */

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

double stat_mdd_mcnemar(long n, double discordance, double alpha)
{
    if (n < 1 || !(alpha > 0 && alpha < 1))
        return NAN;
    double lo = 0, hi = 1;
    if (mcnemar_power(n, 1, 1, alpha) < 0.8)
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
    if (n < 2 || isnan(sd) || !(alpha > 0 && alpha < 1))
        return NAN;
    double mdd =
        (stat_t_quantile(1 - alpha / 2, (double)(n - 1)) + stat_normal_quantile(0.8)) * sd / sqrt((double)n);
    return mdd > 1 ? NAN : mdd;
}

long stat_problems_to_differ(double alpha)
{
    for (long n = 1; n < 1100 && alpha > 0; n++) /* 2^-1075 is 0 */
        if (ldexp(1, (int)(1 - n)) <= alpha)
            return n;
    return -1;
}

/* The smallest two-sided p: everything right on one side, nothing on the other. There are C(2s, s) ways to
 * split 2s samples of a problem, all as probable. */
static double least_p(long n, long samples)
{
    double ways = exp(stat_log_choose(2.0 * (double)samples, (double)samples));
    return fmin(1, 2 * pow(ways, -(double)n));
}

/* Holm multiplies the smallest p by the number of tests and no adjusted p lies below that, so the best that a
 * test can hope for is that all of them come out as clearly as possible. */
int stat_can_differ(long n_problems, long n_samples, long n_tests, double alpha)
{
    return n_problems > 0 && n_samples > 0 && n_tests > 0 &&
           (double)n_tests * least_p(n_problems, n_samples) <= alpha;
}

/* ---- Looking more than once: the levels of the nightly gate's three looks, and the control chart over
 * nights. */

/* One-sided levels, small at first (the shape of O'Brien and Fleming 1979), that together call a regression
 * in at most 5 % of the nights without a change. Ruling the margin out is stricter while later looks can
 * still do it. `kveval bench stats` measures both (docs/statistics.md has the figures). */
const struct stat_look stat_looks[STAT_LOOKS] = {{4, 0.0006, 0.98}, {8, 0.015, 0.98}, {16, 0.045, 0.95}};

enum stat_decision stat_look_rule(const struct stat_look *look, double lower, double loss)
{
    if (lower <= look->fail_p)
        return STAT_REGRESSION;
    return loss < 1 - look->pass_level ? STAT_WITHIN : STAT_UNDECIDED;
}

int stat_cusum_add(struct stat_cusum *c, double z)
{
    if (isnan(z))
        return 0;
    c->high = fmax(0, c->high + z - c->k);
    c->low = fmax(0, c->low - z - c->k);
    return c->low > c->h ? -1 : c->high > c->h;
}
