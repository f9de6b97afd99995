/* The few distributions that the reports need, by textbook methods that are accurate to about 1e-12: the
 * normal quantile by bisection and a Newton step on erfc, Student's t and the binomial through the incomplete
 * beta function's continued fraction (Abramowitz and Stegun 26.5.8, evaluated by Lentz's rule). */
#include <math.h>

#include "evalcore/stats/stats.h"
#include "evalcore/stats/stats_math.h"

enum { FRACTION_MAX = 5000 }; /* it takes about sqrt(max(a, b)) terms */

/* lgamma itself writes a global. */
static double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

double stat_log_choose(double n, double k)
{
    return log_gamma(n + 1) - log_gamma(k + 1) - log_gamma(n - k + 1);
}

double stat_normal_cdf(double x)
{
    return 0.5 * erfc(-x * 0.70710678118654752440);
}

double stat_normal_quantile(double p)
{
    if (!(p > 0 && p < 1))
        return NAN;
    /* Bisection finds the neighbourhood and one Newton step the value. The tails that the reports need lie
     * within 9 standard deviations. */
    double lo = -9, hi = 9;
    for (int i = 0; i < 40; i++) {
        double mid = 0.5 * (lo + hi);
        if (stat_normal_cdf(mid) < p)
            lo = mid;
        else
            hi = mid;
    }
    double x = 0.5 * (lo + hi);
    double density = exp(-0.5 * x * x) * 0.39894228040143267794;
    return density > 1e-300 ? x - (stat_normal_cdf(x) - p) / density : x;
}

/* Continued fraction of the incomplete beta function. */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double h = d;
    for (int m = 1; m <= FRACTION_MAX; m++) {
        double num = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 + num * d;
        c = 1 + num / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        h *= d * c;
        num = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 + num * d;
        c = 1 + num / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        h *= d * c;
        if (fabs(d * c - 1) < 1e-15)
            break;
    }
    return h;
}

double stat_beta_cdf(double a, double b, double x)
{
    if (x <= 0)
        return 0;
    if (x >= 1)
        return 1;
    double front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double stat_t_cdf(double t, double df)
{
    if (t * t < df) { /* near 0 a difference from one half would lose half of the digits */
        double half = 0.5 * stat_beta_cdf(0.5, df / 2, t * t / (df + t * t));
        return t > 0 ? 0.5 + half : 0.5 - half;
    }
    double tail = 0.5 * stat_beta_cdf(df / 2, 0.5, df / (df + t * t));
    return t > 0 ? 1 - tail : tail;
}

double stat_t_quantile(double p, double df)
{
    if (!(p > 0 && p < 1) || !(df > 0))
        return NAN;
    double lo = -1, hi = 1;
    while (stat_t_cdf(lo, df) > p && lo > -1e9)
        lo *= 2;
    while (stat_t_cdf(hi, df) < p && hi < 1e9)
        hi *= 2;
    for (int i = 0; i < 100; i++) {
        double mid = 0.5 * (lo + hi);
        if (stat_t_cdf(mid, df) < p)
            lo = mid;
        else
            hi = mid;
    }
    return 0.5 * (lo + hi);
}

double stat_binomial_cdf(long k, long n, double p)
{
    if (k < 0)
        return 0;
    if (k >= n)
        return 1;
    /* P(X <= k) = I_{1-p}(n - k, k + 1) */
    return stat_beta_cdf((double)(n - k), (double)(k + 1), 1 - p);
}
