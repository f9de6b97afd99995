/* Non-inferiority: is the loss smaller than a margin? One sample of each problem, scored 0 or 1. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* The rejection region of the outcome seen, the outcomes at least as far from the loss: for x problems that
 * only the first solved, those with y >= least[x] (n - x + 1 or more: none). A smaller x never leads out of
 * the region, as its largest probability under the hypothesis is then found where the loss is exactly the
 * margin. */
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

/* ---- Non-inferiority of a mean of per-problem differences that are no mere -1, 0 and 1.
 *
 * Student's t fails here: with 59 problems unchanged and one lost its spread is so small that it would rule
 * out a loss of 5 points, though three expected losses are often one (5 % of problems lost: 19 %). What the
 * sample does not show has to be allowed for. So the distribution is sought that explains the differences
 * best among those on [-1, 1] whose mean is a loss of exactly the margin: the nonparametric likelihood under
 * the hypothesis (Owen 2001, Empirical Likelihood, section 2.4), which may put mass on -1 though no problem
 * lost that much. p is the probability that n problems drawn from it have a mean as high as the observed one
 * (an estimated p value in the sense of Lloyd 2008, Aust. N. Z. J. Stat. 50:329), summed exactly on a grid.
 * Without any difference this is (1 - margin)^n. */

enum {
    UNITS_MAX = 512,   /* finest grid: differences in 512ths */
    UNITS_ROUND = 256, /* for scores on no grid */
    UNITS_MIN = 16,
    POINTS = 4096 /* about the largest number of points of the sum's distribution */
};
static const double negligible = 1e-25; /* probabilities at the ends of a distribution that are dropped */

struct pmf {
    double *p;
    long low, n; /* p holds the values low..low+n-1 */
};

static int is_on_grid(const double *d, size_t n, long units)
{
    for (size_t i = 0; i < n; i++)
        if (fabs(d[i] * (double)units - round(d[i] * (double)units)) > 1e-6)
            return 0;
    return 1;
}

/* The coarsest grid that holds all differences, or a coarser one where the number of problems makes its steps
 * vanish in the sum. */
static long find_units(const double *d, size_t n)
{
    long units = 1;
    while (units <= UNITS_MAX && !is_on_grid(d, n, units))
        units++;
    if (units > UNITS_MAX)
        units = UNITS_ROUND;
    double width = 20 * sqrt((double)n) * fmax(n > 1 ? stat_sd(d, n) : 0, 0.05);
    long affordable = (long)(POINTS / width);
    affordable = affordable < UNITS_MIN ? UNITS_MIN : affordable;
    return units < affordable ? units : affordable;
}

/* The slope of the log-likelihood's dual; its root is the multiplier of the constraint. */
static double dual_slope(const double *d, size_t n, double margin, double lambda)
{
    double s = 0;
    for (size_t i = 0; i < n; i++)
        s += (d[i] + margin) / (1 + lambda * (d[i] + margin));
    return s;
}

/* Mass 1/n over 1 + lambda (d + margin) on every difference. Where the multiplier reaches its bound, at which
 * a difference of -1 has no finite mass of its own, -1 takes what is left. */
static struct pmf likeliest_pmf(const double *d, size_t n, double margin, long units)
{
    double bound = 1 / (1 - margin), lo = 0, hi = bound * (1 - 1e-13), left = 1;
    struct pmf f = {xcalloc((size_t)(2 * units + 1), sizeof(double)), -units, 2 * units + 1};
    if (dual_slope(d, n, margin, hi) >= 0)
        lo = hi;
    for (int i = 0; i < 60 && lo < hi; i++) {
        double mid = 0.5 * (lo + hi);
        if (dual_slope(d, n, margin, mid) > 0)
            lo = mid;
        else
            hi = mid;
    }
    for (size_t i = 0; i < n; i++) {
        double mass = 1 / ((double)n * (1 + lo * (d[i] + margin)));
        f.p[lround(d[i] * (double)units) + units] += mass;
        left -= mass;
    }
    f.p[0] += fmax(0, left);
    return f;
}

static struct pmf sum_of(const struct pmf *a, const struct pmf *b)
{
    struct pmf s = {xcalloc((size_t)(a->n + b->n - 1), sizeof(double)), a->low + b->low, a->n + b->n - 1};
    for (long i = 0; i < a->n; i++)
        for (long j = 0; a->p[i] > 0 && j < b->n; j++)
            s.p[i + j] += a->p[i] * b->p[j];
    long skip = 0;
    while (skip < s.n - 1 && s.p[skip] < negligible)
        skip++;
    while (s.n > skip + 1 && s.p[s.n - 1] < negligible)
        s.n--;
    s.n -= skip;
    s.low += skip;
    memmove(s.p, s.p + skip, (size_t)s.n * sizeof *s.p);
    return s;
}

/* The distribution of the sum of n draws, by repeated squaring. Takes f over. */
static struct pmf sum_of_many(struct pmf f, size_t n)
{
    struct pmf sum = {xcalloc(1, sizeof(double)), 0, 1};
    sum.p[0] = 1;
    for (; n; n /= 2) {
        struct pmf t;
        if (n % 2) {
            t = sum_of(&sum, &f);
            free(sum.p);
            sum = t;
        }
        if (n > 1) {
            t = sum_of(&f, &f);
            free(f.p);
            f = t;
        }
    }
    free(f.p);
    return sum;
}

double stat_noninferior_mean(const double *d, size_t n, double margin)
{
    if (!n || !(margin > 0 && margin < 1))
        return NAN;
    for (size_t i = 0; i < n; i++)
        if (!(d[i] >= -1 - 1e-9 && d[i] <= 1 + 1e-9))
            return NAN;
    long units = find_units(d, n), observed = 0;
    double *k = xmalloc(n * sizeof *k);
    for (size_t i = 0; i < n; i++) {
        long at = lround(fmax(-1, fmin(1, d[i])) * (double)units);
        k[i] = (double)at / (double)units;
        observed += at;
    }
    double p = 1;
    if (stat_mean(k, n) > -margin) {
        struct pmf sum = sum_of_many(likeliest_pmf(k, n, margin, units), n);
        p = 0;
        for (long i = sum.n; i-- > 0 && sum.low + i >= observed;)
            p += sum.p[i];
        free(sum.p);
    }
    free(k);
    return fmin(1, p);
}

/* ---- Non-inferiority where the problems are given and only the sampling of answers is random: the question
 * of the nightly gate.
 *
 * The loss is the mean over problems of a/n_a - b/n_b. Its variance is taken where the loss is exactly the
 * margin, at the shares that are then the likeliest (the restricted maximum of Miettinen and Nurminen 1985,
 * Stat. Med. 4:213, here over many strata with one multiplier for all). So a problem that was solved by all
 * samples on both sides still has a variance, and data without any spread do not look certain. Their factor
 * n/(n-1) stands for each arm of each problem. */

static int is_used(const struct stratum *s)
{
    return s->n_a > 0 && s->n_b > 0;
}

/* The most likely share p for k of n when a pull of strength mu raises it: the root in [0, 1] of
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
