/* What several samples of one problem are worth: pass@k and the majority of k, both over all subsets of k of
 * the samples at hand. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/stats/stats.h"

/* Chen et al. 2021 (arXiv 2107.03374), equation 1, as a product so that no binomial overflows. */
double stat_pass_at_k(long n, long c, long k)
{
    if (n < 1 || k < 1 || k > n || c < 0 || c > n)
        return NAN;
    if (n - c < k)
        return 1;
    double none = 1;
    for (long i = n - c + 1; i <= n; i++)
        none *= 1 - (double)k / (double)i;
    return 1 - none;
}

enum { VOTES_MAX = 4096 }; /* samples of one problem */

/* P(X = j) of a binomial with v trials, for j = 0..v. Outwards from the most probable one. */
static void binomial_pmf(long v, double p, double *out)
{
    long mode = (long)((double)(v + 1) * p);
    mode = mode > v ? v : mode;
    double odds = p / (1 - p), sum = 0;
    out[mode] = 1;
    for (long j = mode; j < v; j++)
        out[j + 1] = out[j] * odds * (double)(v - j) / (double)(j + 1);
    for (long j = mode; j > 0; j--)
        out[j - 1] = out[j] * (double)j / (odds * (double)(v - j + 1));
    for (long j = 0; j <= v; j++)
        sum += out[j];
    for (long j = 0; j <= v; j++)
        out[j] /= sum;
}

/* Adds one answer. way[drawn * n_ties + ties] is the probability that the answers so far were drawn `drawn`
 * times in all, none more than `top` times and `ties` of them exactly `top` times. */
static void add_answer(double *way, double *next, long k, long n_ties, long top, long votes, const double *p)
{
    memset(next, 0, (size_t)((k + 1) * n_ties) * sizeof *next);
    for (long drawn = 0; drawn <= k; drawn++)
        for (long ties = 0; ties < n_ties; ties++) {
            double here = way[drawn * n_ties + ties];
            for (long j = 0; here > 0 && j <= top && j <= votes && drawn + j <= k; j++) {
                long t = ties + (j == top);
                if (t < n_ties)
                    next[(drawn + j) * n_ties + t] += here * p[j];
            }
        }
    memcpy(way, next, (size_t)((k + 1) * n_ties) * sizeof *way);
}

/* The probability that the right answer is drawn `top` times, k are drawn in all and it wins; a tie of t
 * answers counts 1/t. p holds each answer's binomial, one behind the other. */
static double wins_with(const long *votes, size_t n, size_t correct, long k, long top, const double *p)
{
    long n_ties = k / top + 1;
    double *way = xcalloc((size_t)((k + 1) * n_ties), sizeof *way),
           *next = xcalloc((size_t)((k + 1) * n_ties), sizeof *next), wins = 0;
    way[0] = 1;
    for (size_t i = 0; i < n; i++) {
        if (i != correct)
            add_answer(way, next, k, n_ties, top, votes[i], p);
        p += votes[i] + 1;
    }
    for (long ties = 0; ties < n_ties; ties++)
        wins += way[(k - top) * n_ties + ties] / (double)(ties + 1);
    free(way);
    free(next);
    return wins;
}

/* A draw of k without replacement is multivariate hypergeometric. It equals independent binomials of any
 * common p given that their sum is k; with p = k / n no number leaves the range of a double. */
double stat_majority_at_k(const long *votes, size_t n_answers, size_t correct, long k)
{
    long n = 0;
    for (size_t i = 0; i < n_answers; i++) {
        if (votes[i] < 0 || votes[i] > VOTES_MAX || n > VOTES_MAX)
            return NAN;
        n += votes[i];
    }
    if (k < 1 || k > n || n > VOTES_MAX || correct > n_answers)
        return NAN;
    if (correct == n_answers || !votes[correct])
        return 0;
    if (votes[correct] == n)
        return 1;
    if (k == n) { /* all votes: no subset to go through */
        int ties = 0;
        for (size_t i = 0; i < n_answers; i++) {
            if (votes[i] > votes[correct])
                return 0;
            ties += votes[i] == votes[correct];
        }
        return 1.0 / ties;
    }
    double *p = xcalloc((size_t)n + n_answers, sizeof *p), *all = xcalloc((size_t)n + 1, sizeof *all),
           *at = p;
    const double *own = NULL;
    double share = (double)k / (double)n, wins = 0;
    for (size_t i = 0; i < n_answers; i++) {
        binomial_pmf(votes[i], share, at);
        own = i == correct ? at : own;
        at += votes[i] + 1;
    }
    binomial_pmf(n, share, all);
    for (long top = 1; top <= votes[correct] && top <= k; top++)
        wins += own[top] * wins_with(votes, n_answers, correct, k, top, p);
    wins /= all[k];
    free(p);
    free(all);
    return fmin(1, wins);
}
