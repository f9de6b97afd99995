/* Non-inferiority where the problems are given and only the sampling of answers is random: the question of
 * the nightly gate.
 *
 * The loss is the mean over problems of a/n_a - b/n_b. Its variance is taken where the loss is exactly the
 * margin, at the shares that are then the likeliest (the restricted maximum of Miettinen and Nurminen 1985,
 * Stat. Med. 4:213, here over many strata with one multiplier for all). So a problem that was solved by all
 * samples on both sides still has a variance, and data without any spread do not look certain. Their factor
 * n/(n-1) stands for each arm of each problem. */
#include <math.h>
#include <stdlib.h>

#include "evalcore/base/arena.h"
#include "evalcore/stats/stats.h"
#include "evalcore/stats/stats_math.h"

static int is_used(const struct stratum *s)
{
    return s->n_a > 0 && s->n_b > 0;
}

/* The share p that is likeliest for k of n when a pull of strength mu raises it: the root in [0, 1] of
 * mu p^2 + (n - mu) p - k = 0. */
static double pulled_share(double k, double n, double mu)
{
    double b = n - mu, root = sqrt(b * b + 4 * mu * k);
    return fmin(1, b > 0 ? 2 * k / (b + root) : (root - b) / (2 * mu));
}

struct shares {
    double a, b;
};

static struct shares restricted_shares(const struct stratum *s, double mu)
{
    return (struct shares){pulled_share((double)s->a, (double)s->n_a, mu),
                           1 - pulled_share((double)(s->n_b - s->b), (double)s->n_b, mu)};
}

static double loss_at(const struct stratum *s, size_t n, double mu)
{
    double sum = 0, used = 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_used(&s[i]))
            continue;
        struct shares p = restricted_shares(&s[i], mu);
        sum += p.a - p.b;
        used++;
    }
    return sum / used;
}

static double find_pull(const struct stratum *s, size_t n, double margin)
{
    double lo = 0, hi = 1;
    while (loss_at(s, n, hi) < margin && hi < 1e12)
        hi *= 2;
    for (int i = 0; i < 60; i++) {
        double mid = 0.5 * (lo + hi);
        if (loss_at(s, n, mid) < margin)
            lo = mid;
        else
            hi = mid;
    }
    return 0.5 * (lo + hi);
}

/* A single sample says nothing of the spread within its problem, and what all single samples say together is
 * too little where they agree: 40 problems solved on both sides would rule out a loss of 5 points at p = 2 %,
 * though such a loss shows nothing on them in 0.95^40 = 13 %. So the question is put to the tests that take
 * the problems for a sample, which hold here too: a sum over given problems spreads no more than one over
 * problems drawn with their mean (Hoeffding 1956, Ann. Math. Stat. 27:713). */
static double of_sampled_problems(const struct stratum *s, size_t n, double margin)
{
    long only_a = 0, only_b = 0, used = 0;
    int is_single = 1;
    double *d = xmalloc((n + 1) * sizeof *d);
    for (size_t i = 0; i < n; i++) {
        if (!is_used(&s[i]))
            continue;
        is_single &= s[i].n_a == 1 && s[i].n_b == 1;
        only_a += s[i].a > s[i].b;
        only_b += s[i].b > s[i].a;
        d[used++] = (double)s[i].b / (double)s[i].n_b - (double)s[i].a / (double)s[i].n_a;
    }
    double p = is_single ? stat_noninferior_binary(only_a, only_b, used, margin)
                         : stat_noninferior_mean(d, (size_t)used, margin);
    free(d);
    return p;
}

static double variance_of(double p, long n)
{
    return p * (1 - p) / (double)(n - 1);
}

double stat_noninferior_strata(const struct stratum *s, size_t n, double margin)
{
    double used = 0, variance = 0;
    int has_single = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i].a < 0 || s[i].a > s[i].n_a || s[i].b < 0 || s[i].b > s[i].n_b)
            return NAN;
        used += is_used(&s[i]);
        has_single |= is_used(&s[i]) && (s[i].n_a == 1 || s[i].n_b == 1);
    }
    if (used < 1 || !(margin > 0 && margin < 1))
        return NAN;
    if (has_single)
        return of_sampled_problems(s, n, margin);
    double loss = loss_at(s, n, 0), pull = loss < margin ? find_pull(s, n, margin) : 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_used(&s[i]))
            continue;
        struct shares p = restricted_shares(&s[i], pull);
        variance += variance_of(p.a, s[i].n_a) + variance_of(p.b, s[i].n_b);
    }
    if (!(variance > 0))
        return 1; /* only where the loss is at least the margin and nothing varies */
    return stat_normal_cdf((loss - margin) * used / sqrt(variance));
}
