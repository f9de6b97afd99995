#ifndef EVALCORE_STATS_STATS_H
#define EVALCORE_STATS_STATS_H

#include <stddef.h>
#include <stdint.h>

/* The statistics of the reports, as pure functions of their arguments. Probabilities and accuracies are
 * fractions from 0 to 1; intervals are two-sided with 95 % confidence; p values are two-sided unless the name
 * says otherwise. The result is NaN where the data do not determine it. Nothing here keeps a pointer or fails
 * with an error.
 *
 * Two questions are kept apart. "Does this hold for problems like these?" takes the problems for a sample:
 * one problem is one independent observation, however many answers were drawn for it, since those resemble
 * each other. "Has this program changed on these problems?" takes the problems as given and only the answers
 * as random: the functions that say so, with `struct stratum`. */

struct interval {
    double low, high;
};

/* ---- distributions ---- */
/* The x below which the standard normal distribution has probability p. NaN unless 0 < p < 1. */
double stat_normal_quantile(double p);
/* The probability that Student's t with df > 0 degrees of freedom is at most t, and the t at which that is p
 * (NaN unless 0 < p < 1 and df > 0). */
double stat_t_cdf(double t, double df);
double stat_t_quantile(double p, double df);
/* P(X <= k) for the successes X of n trials with probability p: 0 for k < 0, and 1 from k = n on. */
double stat_binomial_cdf(long k, long n, double p);

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
 * counts problems, not jobs). is_binary: 1 when every score is 0 or 1. It is [0, 1] without a job, and with
 * jobs of fewer than two problems where it is not Wilson's. */
struct interval stat_clustered(const double *sum, const long *count, size_t n_problems, int is_binary);

/* Clopper and Pearson's interval (1934) for k of n: both tails of the binomial at most 2.5 %, so that it
 * covers at least 95 % for any n, and mostly more. n = 0 or k out of range gives [0, 1]. */
struct interval stat_clopper_pearson(long k, long n);

/* Mean of values in any unit, its standard error and an interval: each end is the farther one of Student's t
 * and of Hall's transformation for skewness (1992, J. R. Stat. Soc. B 54:221), so mostly not symmetric.
 * cluster[i] names the group that value i belongs to (problems about one passage); values of one group may
 * resemble each other, groups are independent. NULL: every value is its own. The variance is the
 * cluster-robust one with the factor G/(G-1) for G groups (Liang and Zeger 1986; Miller, arXiv 2411.00640,
 * section 2.2). se and ci are NaN with fewer than two groups; ci also where nothing varies, as spread then
 * says nothing; mean only with n = 0. n_clusters is G. */
struct stat_average {
    double mean, se;
    struct interval ci;
    size_t n_clusters;
};
struct stat_average stat_average(const double *v, const int *cluster, size_t n);

/* pass@k of n samples of which c are right: the share of subsets of k that hold a right one (Chen et al.,
 * arXiv 2107.03374, equation 1), the unbiased estimate. NaN unless 1 <= k <= n and 0 <= c <= n. */
double stat_pass_at_k(long n, long c, long k);

/* maj@k: how probable is it that the most frequent answer among k of the samples is right, over all subsets
 * of k? votes[i] samples gave answer i, of n_answers different ones; `correct` is the right one among them,
 * or n_answers where nobody gave it. A tie of t answers counts 1/t. Exact. NaN unless 1 <= k <= all votes
 * <= 4,096, for negative votes, and for correct > n_answers. */
double stat_majority_at_k(const long *votes, size_t n_answers, size_t correct, long k);

/* The arithmetic mean; NaN for n = 0. */
double stat_mean(const double *v, size_t n);
/* Student's t interval for the mean of values in any unit. NaN for fewer than two, or when all are equal:
 * then their spread says nothing. */
struct interval stat_mean_t(const double *v, size_t n);
void stat_sort(double *v, size_t n); /* sorts in place, ascending; no value may be NaN */
/* Quantile q (0 to 1) of values in ascending order, linear between order statistics (Hyndman and Fan's type
 * 7). NaN for n = 0. */
double stat_quantile(const double *sorted, size_t n, double q);

/* Distribution function of lengths, some of which were cut off (right-censored): the product-limit
 * estimate (Kaplan and Meier 1958). When all cuts are at the same length it is simply the share of
 * completions that ended by x. Sorts `items` by x, writes a step for each x at which some completion
 * ended (x ascending, share after the step; at most n) and returns their number. is_cut: 1 when the
 * completion was cut off at x; among equal x those that ended count before those that were cut off. */
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
/* What that test can tell from k1 of n1: counts k2 of n2 up to `low` and from `high` on have p < 0.05
 * beside it. low is -1 and high n2 + 1 where no count has, and both for counts out of range. */
struct stat_reach {
    long low, high;
};
struct stat_reach stat_fisher_reach(long k1, long n1, long n2);

/* ---- two groups on the same problems ---- */

/* The two-sided p of the exact McNemar test: `only_a` and `only_b` count the problems that just one of the
 * two solved. 1 when both are 0, NaN when one is negative. */
double stat_mcnemar(long only_a, long only_b);

/* One problem: a of n_a samples right in the baseline, b of n_b in the new cell. Strata without samples on
 * one side are left out. */
struct stratum {
    long a, n_a, b, n_b;
};
struct stat_tails {
    double lower, higher; /* P(sum of b <= seen), P(sum of b >= seen); both count what was seen */
    double two_sided;     /* twice the smaller, at most 1 */
};
/* Exact stratified conditional test (exact Cochran-Mantel-Haenszel; Mehta, Patel and Gray 1985, JASA
 * 80:969): given how many samples of a problem were right in all, their split between the two cells is
 * hypergeometric if the cells are equal on this problem; the sum over problems is the statistic. The problems
 * are given, only sampling is random. With one sample each it is McNemar's test. NaN without a stratum that
 * can be used, with counts out of range, or beyond a million points. */
struct stat_tails stat_stratified(const struct stratum *s, size_t n);

/* Difference b - a of two paired proportions: Newcombe's hybrid score interval with the correlation taken
 * from the table (Newcombe 1998, Stat. Med. 17:2635, method 10). The four counts are problems by who solved
 * them; all 0 gives [-1, 1]. */
struct interval stat_paired_newcombe(long both, long only_a, long only_b, long neither);

/* Interval for the mean of per-problem differences: Student's t over problems. When all differences are
 * equal their spread says nothing; then half the width is the largest share of problems that could differ
 * and still leave a sample of n without a difference with probability 5 % (1 - 0.05^(1/n)). n < 2 gives
 * [-1, 1], and the ends are clamped to that range. */
struct interval stat_paired_t(const double *d, size_t n);

/* Sign-flip permutation test of a mean difference of zero: under the null hypothesis each problem's
 * difference may have either sign. `unit` > 0 says that all d are integer multiples of it; then the null
 * distribution is built exactly, by convolution, for any n (with differences -1, 0 and 1 this is the exact
 * McNemar test). With unit 0 all 2^n flips are counted for up to 20 nonzero differences, and beyond that
 * 99,999 random flips are drawn from Philox under a fixed key, with p = (1 + hits) / 100,000; so too with a
 * unit that would need more than 4,000,000 points. Returns the two-sided p: 1 when every difference is 0, NaN
 * when one is NaN. *how says which was done (all but random flips is exact); it may not be NULL. */
enum signflip { SIGNFLIP_EXACT, SIGNFLIP_MONTE_CARLO };
double stat_signflip(const double *d, size_t n, double unit, enum signflip *how);

/* ---- as good as the baseline: one-sided p values of "the loss is at least `margin`" (a fraction in (0, 1))
 *
 * All are NaN for a margin or counts out of range. Small p: within the margin. Without any difference on n
 * problems the first two give (1 - margin)^n, since that is how often n problems show nothing of a loss
 * that large. */

/* One sample of each problem, the problems a sample: `only_a` and `only_b` of n problems were solved by one
 * alone. Exact unconditional test: the outcomes are ordered by the likelihood ratio against a loss of exactly
 * the margin (the restricted estimate is that of Tango 1998, Stat. Med. 17:891), and p is maximised over the
 * nuisance parameter (Barnard). From 501 problems on (at most a million) the parameter is estimated instead.
 */
double stat_noninferior_binary(long only_a, long only_b, long n, double margin);
/* Differences d = b - a of n problems, each in [-1, 1] (several samples, or scores between 0 and 1), the
 * problems a sample. By the nonparametric likelihood under the hypothesis; see the file. */
double stat_noninferior_mean(const double *d, size_t n, double margin);
/* The problems given, only sampling random. All problems weigh the same. A score test; where some problem has
 * a single sample on one side, one of the two tests above. */
double stat_noninferior_strata(const struct stratum *s, size_t n, double margin);

/* ---- what could be shown at all */

/* The fewest problems that, all flipping one way, give an exact two-sided p <= alpha. -1: no number does. */
long stat_problems_to_differ(double alpha);

/* Could any outcome of all n_tests comparisons (adjusted by Holm at alpha) earn one of them the verdict
 * "lower" or "higher", on n_problems problems with n_samples of each? Returns 1 or 0, and 0 when a number is
 * not positive. For scores that are not 0 or 1 (sign
 * flips) take n_samples 1. */
int stat_can_differ(long n_problems, long n_samples, long n_tests, double alpha);

/* Minimum detectable difference: the smallest true loss that a two-sided test at `alpha` finds with 80 %
 * power; NaN when no loss can be shown so reliably, unless 0 < alpha < 1, and for too few problems (mcnemar:
 * 0, paired: 1) or an sd of NaN. mcnemar, for one sample of each problem: `discordance` is the expected share
 * of problems on which the two differ (at least the loss itself); exact, by enumerating the test's
 * distribution. paired, for several samples: `sd` is the standard deviation of the per-problem differences;
 * the result is (t + z) * sd / sqrt(n). */
double stat_mdd_mcnemar(long n_problems, double discordance, double alpha);
double stat_mdd_paired(size_t n_problems, double sd, double alpha);
/* Standard deviation of a sample, with the divisor n - 1; NaN for n < 2. */
double stat_sd(const double *v, size_t n);

/* ---- many tests, many looks, many nights */

/* Holm's step-down adjustment (Holm 1979), and Benjamini and Hochberg's (1995) for the share of errors among
 * the findings. Both write n adjusted p values, at most 1, in the order of p. NaN entries stay NaN and do not
 * count as tests. adjusted may not be p itself. */
void stat_holm(const double *p, size_t n, double *adjusted);
void stat_benjamini_hochberg(const double *p, size_t n, double *adjusted);

/* The gate's looks at `samples` answers to each problem, and the decision after each. stat_look_rule() takes
 * `lower`, the lower tail of stat_stratified adjusted over the settings, and `loss`, the p of
 * stat_noninferior_strata. It returns STAT_REGRESSION when lower <= fail_p, else STAT_WITHIN (the margin is
 * ruled out) when loss < 1 - pass_level, else STAT_UNDECIDED (the next look follows). NaN decides nothing. */
struct stat_look {
    int samples;
    double fail_p, pass_level;
};
enum { STAT_LOOKS = 3 };
extern const struct stat_look stat_looks[STAT_LOOKS];
enum stat_decision { STAT_UNDECIDED, STAT_REGRESSION, STAT_WITHIN };
enum stat_decision stat_look_rule(const struct stat_look *look, double lower, double loss);

/* Tabular CUSUM (Page 1954; Montgomery, Statistical Quality Control, section 9.1) of nightly values in
 * standard errors: k is half the shift to be found, h the limit (0.5 and 4 or 5 are usual), low and high
 * start at 0. Adds a night and returns -1 when the sum of drops (low) exceeds h, else 1 when that of rises
 * (high) does, else 0. z NaN: the night is skipped and 0 returned. The sums go on after an alarm. */
struct stat_cusum {
    double k, h, low, high;
};
int stat_cusum_add(struct stat_cusum *c, double z);

/* ---- frontiers */

/* Sorts by cost x and keeps the points that are better (higher y) than all cheaper ones, at the front of the
 * array, cheapest first; returns their number. Points with a NaN are dropped. The rest of the array is
 * undefined afterwards. */
struct stat_point {
    double x, y;
};
size_t stat_frontier(struct stat_point *p, size_t n);
/* Mean height of frontier a above frontier b over the costs that both span, with linear interpolation (DMS,
 * arXiv 2506.05345, appendix E). Both are results of stat_frontier(). NaN where they share none, or one is
 * empty. For costs on a logarithmic axis hand in their logarithms. */
double stat_frontier_margin(const struct stat_point *a, size_t n_a, const struct stat_point *b, size_t n_b);

/* ---- resampling */

/* 95 % percentile interval, widened for small n and skewed values (see the file), of a statistic over
 * `replicates` resamples of n problems. f gets the data and the n indices drawn (0 to n - 1, with repeats);
 * it runs on several threads at once and may return NaN, which is left out. Resample r draws from Philox
 * stream r of the seed, so the result depends on the seed alone. Both ends are NaN for n < 2, for replicates
 * < 1 and where more than half of the values are NaN. */
typedef double (*stat_statistic)(const void *data, const unsigned *pick, size_t n);
struct interval stat_bootstrap(stat_statistic f, const void *data, size_t n, int replicates, uint64_t seed);

/* How far apart do the means of `n_cells` cells lie when the cell makes no difference? The values of each
 * problem (score[cell * n_problems + problem]) are shuffled over the cells 2,000 times, with a fixed key.
 * Returns max - min of the cells' means in the data (observed), its median and 95 % quantile over the
 * shuffles, and p = (1 + shuffles whose range is at least the observed one) / 2,001. All are NaN for fewer
 * than two cells or without a problem. */
struct null_range {
    double observed, median, q95, p;
};
struct null_range stat_null_range(const double *score, size_t n_cells, size_t n_problems);

#endif
