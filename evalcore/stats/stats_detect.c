/* What a number of problems can show at all: minimum detectable differences, and the fewest problems with
 * which the best outcome reaches a level. */
#include <math.h>

#include "evalcore/stats/stats.h"

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

enum { MANY = 100000000 }; /* problems; more are wanted by no level that anybody sets */

long stat_problems_to_differ(double alpha)
{
    for (long n = 1; n < 1100 && alpha > 0; n++) /* 2^-1075 is 0 */
        if (ldexp(1, (int)(1 - n)) <= alpha)
            return n;
    return -1;
}

long stat_problems_to_be_within(double alpha, double margin)
{
    if (!(alpha > 0 && alpha < 1) || !(margin > 0 && margin < 1))
        return -1;
    /* No test can be better than (1 - margin)^n (stat_noninferior_binary). From there upwards. */
    double start = floor(log(alpha) / log1p(-margin));
    if (start > MANY)
        return -1;
    long n = start < 1 ? 1 : (long)start;
    while (stat_noninferior_binary(0, 0, n, margin) > alpha)
        n++;
    return n;
}
