#ifndef EVALCORE_STATS_STATS_H
#define EVALCORE_STATS_STATS_H

#include <stddef.h>
#include <stdint.h>

/* The door of evalcore/stats: the statistics of the reports, as pure functions of their arguments, for
 * evalcore/report. Probabilities and accuracies are fractions from 0 to 1; intervals are two-sided with 95
 * % confidence; p values are two-sided unless the name says otherwise. The result is NaN where the data do
 * not determine it. Nothing here keeps a pointer or fails with an error.
 *
 * One problem is one independent observation, however many samples were drawn for it. Samples of the same
 * problem resemble each other, so everything is computed over problems, never over samples. */

struct interval {
    double low, high;
};

/* ---- distributions ---- */
double stat_normal_quantile(double p);              /* p in (0, 1) */
double stat_t_cdf(double t, double df);             /* Student's t */
double stat_t_quantile(double p, double df);        /* p in (0, 1), df > 0 */
double stat_binomial_cdf(long k, long n, double p); /* P(X <= k) */

/* ---- one group ---- */

/* Wilson's score interval (Wilson 1927, eq. for p given the observed proportion) for k successes in n
 * independent trials. n may be an effective, fractional sample size. n = 0 gives [0, 1]. */
struct interval stat_wilson(double k, double n);

/* Interval for the mean of all jobs, where problem i has count[i] jobs whose scores (0 to 1) add up to
 * sum[i]. With 0/1 scores and at most one job for each problem it is Wilson's. Otherwise the variance is
 * the cluster-robust one of a ratio, G/(G-1) * sum (sum_i - mean*count_i)^2 / N^2 over the G problems
 * (Miller, arXiv 2411.00640, section 2.2). It is turned into an effective sample size
 * mean*(1-mean)/variance and put into Wilson's form with t(G-1) in place of the normal quantile. The
 * interval therefore never leaves [0, 1], and it is not empty when all jobs agree (then the sample size
 * counts problems, not jobs). */
struct interval stat_clustered(const double *sum, const long *count, size_t n_problems, int is_binary);

double stat_mean(const double *v, size_t n);
/* Student's t interval for the mean of values in any unit. NaN for fewer than two, or when all are equal:
 * then their spread says nothing. */
struct interval stat_mean_t(const double *v, size_t n);
void stat_sort(double *v, size_t n); /* ascending */
/* Quantile q of sorted values, linear between order statistics (Hyndman and Fan's type 7). */
double stat_quantile(const double *sorted, size_t n, double q);

/* Distribution function of lengths, some of which were cut off (right-censored): the product-limit
 * estimate (Kaplan and Meier 1958). When all cuts are at the same length it is simply the share of
 * completions that ended by x. Sorts `items`, writes at most n steps (x ascending, share after the step)
 * and returns their number. */
struct ecdf_item {
    double x;
    int is_cut;
};
struct ecdf_step {
    double x, share;
};
size_t stat_ecdf(struct ecdf_item *items, size_t n, struct ecdf_step *steps);

/* ---- two groups of which only the totals are known ---- */

/* Fisher's exact test, two-sided: the probability, were both shares the same, of a table at most as probable
 * as k1 of n1 beside k2 of n2. It treats all answers as independent. NaN when a count is out of range or an n
 * is 0. */
double stat_fisher(long k1, long n1, long k2, long n2);
/* What that test can tell from k1 of n1: counts of n2 up to `low` and from `high` on have p < 0.05. -1 and
 * n2 + 1 where no count has. */
struct stat_reach {
    long low, high;
};
struct stat_reach stat_fisher_reach(long k1, long n1, long n2);

/* ---- two groups on the same problems ---- */

/* Exact McNemar test: `only_a` and `only_b` count the problems that just one of the two solved. */
double stat_mcnemar(long only_a, long only_b);

/* Difference b - a of two paired proportions: Newcombe's hybrid score interval with the correlation taken
 * from the table (Newcombe 1998, Stat. Med. 17:2635, method 10). */
struct interval stat_paired_newcombe(long both, long only_a, long only_b, long neither);

/* Interval for the mean of per-problem differences: Student's t over problems. When all differences are
 * equal their spread says nothing; then half the width is the largest share of problems that could differ
 * and still leave a sample of n without a difference with probability 5 % (1 - 0.05^(1/n)). n < 2 gives
 * [-1, 1]. */
struct interval stat_paired_t(const double *d, size_t n);

/* Sign-flip permutation test of a mean difference of zero: under the null hypothesis each problem's
 * difference may have either sign. `unit` > 0 says that all d are integer multiples of it; then the null
 * distribution is built exactly, by convolution, for any n (with differences -1, 0 and 1 this is the exact
 * McNemar test). With unit 0 all 2^n flips are counted for up to 20 nonzero differences, and beyond that
 * 99,999 random flips are drawn from Philox under a fixed key, with p = (1 + hits) / 100,000. *how says
 * which was done; it may not be NULL. */
enum signflip { SIGNFLIP_EXACT, SIGNFLIP_MONTE_CARLO };
double stat_signflip(const double *d, size_t n, double unit, enum signflip *how);

/* The fewest problems that an exact McNemar test at level alpha (in (0, 1), else -1) can tell apart: as many
 * as must all fall to one side to give p <= alpha. */
long stat_problems_to_differ(double alpha);

/* Minimum detectable difference: the smallest true loss that a two-sided test at level alpha finds with 80 %
 * power; NaN when not even a loss of everything would be found. mcnemar, for one sample of each problem:
 * `discordance` is the expected share of problems on which the two differ (at least the loss itself); exact,
 * by enumerating the test's distribution. paired, for several samples: `sd` is the standard deviation of the
 * per-problem differences; the result is (t + z) * sd / sqrt(n). */
double stat_mdd_mcnemar(long n_problems, double discordance, double alpha);
double stat_mdd_paired(size_t n_problems, double sd, double alpha);
double stat_sd(const double *v, size_t n);

/* Holm's step-down adjustment (Holm 1979). NaN entries stay NaN and do not count. */
void stat_holm(const double *p, size_t n, double *adjusted);

/* How far apart do the means of `n_cells` cells lie when the cell makes no difference? The values of each
 * problem (score[cell * n_problems + problem]) are shuffled over the cells 2,000 times. Returns the median
 * and the 95 % quantile of max - min of the cells' means, and as p the share of shuffles whose range is at
 * least that of the data. */
struct null_range {
    double observed, median, q95, p;
};
struct null_range stat_null_range(const double *score, size_t n_cells, size_t n_problems);

#endif
