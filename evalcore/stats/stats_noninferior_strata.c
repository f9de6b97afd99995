/* Non-inferiority where the problems are given and only the sampling of answers is random: the question of
 * the nightly gate.
 *
 * The loss is the mean over problems of a/n_a - b/n_b. Its variance is taken where the loss is exactly the
 * margin, at the shares that are then the likeliest (the restricted maximum of Miettinen and Nurminen 1985,
 * Stat. Med. 4:213, here over many strata with one multiplier for all). So a problem that was solved by all
 * samples on both sides still has a variance, and data without any spread do not look certain. Their factor
 * n/(n-1) stands for each arm of each problem. */
#include <math.h>

#include "evalcore/stats/stats.h"
#include "evalcore/stats/stats_math.h"

static int is_used(const struct stratum *s)
{
    return s->n_a > 0 && s->n_b > 0;
}

/* The share p that is likeliest for k of n when a pull of strength mu raises it: the root in [0, 1] of
 * mu p^2 + (n - mu) p - k = 0. */
static double pulled(double k, double n, double mu)
{
    double b = n - mu, root = sqrt(b * b + 4 * mu * k);
    return fmin(1, b > 0 ? 2 * k / (b + root) : (root - b) / (2 * mu));
}

struct shares {
    double a, b;
};

static struct shares restricted(const struct stratum *s, double mu)
{
    return (struct shares){pulled((double)s->a, (double)s->n_a, mu),
                           1 - pulled((double)(s->n_b - s->b), (double)s->n_b, mu)};
}

static double loss_at(const struct stratum *s, size_t n, double mu)
{
    double sum = 0, used = 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_used(&s[i]))
            continue;
        struct shares p = restricted(&s[i], mu);
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

/* Of one sample of a problem the spread within that problem cannot be known. The spread over all problems,
 * which is larger, stands in. */
static double one_sample_variance(const struct stratum *s, size_t n)
{
    double right = 0, samples = 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_used(&s[i]))
            continue;
        right += s[i].n_a == 1 ? (double)s[i].a : 0;
        right += s[i].n_b == 1 ? (double)s[i].b : 0;
        samples += (s[i].n_a == 1) + (s[i].n_b == 1);
    }
    /* One right and one wrong more, so that it is never 0. */
    double p = (right + 1) / (samples + 2);
    return p * (1 - p);
}

static double mean_variance(double p, long n, double of_one)
{
    return n == 1 ? of_one : p * (1 - p) / (double)(n - 1);
}

double stat_noninferior_strata(const struct stratum *s, size_t n, double margin)
{
    double used = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i].a < 0 || s[i].a > s[i].n_a || s[i].b < 0 || s[i].b > s[i].n_b)
            return NAN;
        used += is_used(&s[i]);
    }
    if (used < 1 || !(margin > 0 && margin < 1))
        return NAN;
    double loss = loss_at(s, n, 0), pull = loss < margin ? find_pull(s, n, margin) : 0;
    double of_one = one_sample_variance(s, n), variance = 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_used(&s[i]))
            continue;
        struct shares p = restricted(&s[i], pull);
        variance += mean_variance(p.a, s[i].n_a, of_one) + mean_variance(p.b, s[i].n_b, of_one);
    }
    if (!(variance > 0))
        return 1; /* only where the loss is at least the margin and nothing varies */
    return stat_normal_cdf((loss - margin) * used / sqrt(variance));
}
