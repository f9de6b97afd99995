#ifndef EVALCORE_REPORT_DATA_REPORT_SAMPLES_H
#define EVALCORE_REPORT_DATA_REPORT_SAMPLES_H

#include "evalcore/report/data/report_data.h"

/* What several answers to a problem say about a cell: avg@n, the mean of all; pass@k, whether one of k is
 * right; and maj@n, whether the commonest is. Each is a mean over problems with its standard error across
 * them (stats.h says where the three come from). No task names passages that several problems are about, so
 * problems are taken as independent.
 *
 * Only problems with all their answers count, for the short ones come first. pass@k and maj@n need answers
 * that are right or wrong. Greedy decoding draws one answer, however many samples it was asked for. */
enum sample_kind { SAMPLE_AVG, SAMPLE_PASS, SAMPLE_MAJ };
struct sample_value {
    enum sample_kind kind;
    int k;
    struct stat_average over; /* mean and se; its interval is that of another method than the tables' */
};
enum { SAMPLE_VALUES_MAX = 20 };
struct sample_stats {
    int n, n_problems;                            /* answers to each; problems that have them all */
    int n_values;                                 /* 0: one answer a problem, or no problem has all of them */
    struct sample_value value[SAMPLE_VALUES_MAX]; /* avg, then pass@1, 2, 4 .. and n, then maj */
};
/* Fills *out for a cell, after report_answers(). It cannot fail. */
void report_samples(struct sample_stats *out, const struct cell_stats *s);
/* 1 when a cell with results draws several samples of a problem at a temperature, else 0. */
int report_has_samples(const struct report *r);
/* "avg", "pass" or "maj". */
const char *sample_kind_name(enum sample_kind k);

/* 1 when several answers to a problem can vote. Programs cannot, for none says what it is equal to: several
 * of them count as one that passes all tests (DMS, arXiv 2506.05345, calls that pass@all), which is pass@k.
 */
int report_can_vote(const struct run_task *t);
/* The probability that one of w answers is right and not longer than `limit`, over all subsets of w of the n.
 */
double votes_any(const struct record *first, int n, int limit, int w);

/* The probability that the majority of w answers is right, over all subsets of w of the n answers to one
 * problem; a tie of t answers counts 1/t. Completions of more than `limit` tokens, and those without an
 * answer, do not vote. first: the problem's n records; answer: cell_stats' from this problem on, not NULL.
 * Needs w <= n; 0 when nobody votes. */
double votes_majority(const struct record *first, const int *answer, int n, int limit, int w);

#endif
