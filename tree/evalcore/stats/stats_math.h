#ifndef EVALCORE_STATS_STATS_MATH_H
#define EVALCORE_STATS_STATS_MATH_H

/* Functions of mathematics that several files of this room need. */
#include "evalcore/stats/stats.h"

/* The probability that a standard normal value is at most x. */
double stat_normal_cdf(double x);
/* Regularized incomplete beta function I_x(a, b), a and b positive; 0 for x <= 0 and 1 for x >= 1. */
double stat_beta_cdf(double a, double b, double x);
/* The natural logarithm of "n choose k", 0 <= k <= n. */
double stat_log_choose(double n, double k);
/* Wilson's interval for a mean (0 to 1) of n observations, which may be a fraction, with z standard errors to
 * either side. It stays within [0, 1]; n <= 0 gives [0, 1]. */
struct interval stat_score_interval(double mean, double n, double z);
/* Hall's transformation (1992, J. R. Stat. Soc. B 54:221) of Student's quantile t: the root x of
 * x + a x^2/3 + a^2 x^3/27 + a/6 = t, where a is the skewness of the estimate (that of n values / sqrt(n)).
 * It moves an interval to where a skewed mean is missed most, but the skewness of a few values is itself a
 * guess, and the end that it draws in misses too often. So it is used to widen other intervals only. */
double stat_unskew(double t, double a);

#endif
