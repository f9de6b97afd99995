/* The majority of several answers to one problem (contract: report_votes.h). */
#include "evalcore/report/data/report_votes.h"

#include <math.h>

#include "evalcore/stats/stats.h"

/* How the answers to one problem split: votes[i] for the i-th different answer, the right one first. Without
 * an answer there is no vote. */
struct split {
    long votes[64], n_votes;
    size_t n;
};

static void count_votes(struct split *out, const struct record *first, const int *answer, int n, int limit)
{
    enum { ANSWERS = sizeof out->votes / sizeof *out->votes };
    int number[ANSWERS] = {ANSWER_RIGHT};
    *out = (struct split){.n = 1};
    for (int i = 0; i < n; i++) {
        size_t k = 0;
        if (first[i].tokens > limit || answer[i] == ANSWER_MISSING)
            continue;
        while (k < out->n && number[k] != answer[i])
            k++;
        if (k == ANSWERS)
            continue;
        if (k == out->n)
            number[out->n++] = answer[i];
        out->votes[k]++;
        out->n_votes++;
    }
}

/* lgamma() writes a global, and points of a frontier are computed by several threads. */
static double log_factorial(long n)
{
    int sign;
    return lgamma_r((double)n + 1, &sign);
}

static double log_choose(long n, long k)
{
    return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}

/* Some of the w have no answer and do not vote; how many do is hypergeometric. */
double votes_majority(const struct record *first, const int *answer, int n, int limit, int w)
{
    struct split s;
    double p = 0;
    count_votes(&s, first, answer, n, limit);
    for (long j = 1; j <= w && j <= s.n_votes; j++) {
        if (w - j > n - s.n_votes)
            continue;
        double drawn = exp(log_choose(s.n_votes, j) + log_choose(n - s.n_votes, w - j) - log_choose(n, w));
        p += drawn * stat_majority_at_k(s.votes, s.n, 0, j);
    }
    return p;
}
