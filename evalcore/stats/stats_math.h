#ifndef EVALCORE_STATS_STATS_MATH_H
#define EVALCORE_STATS_STATS_MATH_H

/* Functions of mathematics that several files of this room need. */
#include "evalcore/stats/stats.h"

double stat_normal_cdf(double x);
double stat_beta_cdf(double a, double b, double x); /* regularized incomplete beta function I_x(a, b) */
double stat_log_choose(double n, double k);
/* Wilson's interval for a mean of n observations, with z standard errors to either side. */
struct interval stat_score_interval(double mean, double n, double z);

#endif
