/* What a number of problems can show at all: minimum detectable differences, and the fewest problems with
 * which the best outcome reaches a level. */
#include <math.h>

#include "evalcore/stats/stats.h"
#include "evalcore/stats/stats_math.h"

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
