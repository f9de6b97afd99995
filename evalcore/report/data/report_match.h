#ifndef EVALCORE_REPORT_DATA_REPORT_MATCH_H
#define EVALCORE_REPORT_DATA_REPORT_MATCH_H

#include "evalcore/report/data/report_data.h"

/* None of these functions fails.
 *
 * The problems that two cells, or the cells of two policy settings, have both answered. */
struct matched {
    double *mean_a, *mean_b, *d; /* mean scores and their difference b - a */
    double *chance;              /* the score of one who guesses among the options, 0 where there are none */
    struct stratum *strata;      /* solved and tried, where is_binary */
    double *weight;              /* weight of each problem, 1 on average; NULL: all the same */
    int *at_a, *at_b;            /* indices into the cells' tasks */
    int n;
    int *end; /* of each pair of cells that was added: the number of problems up to its own */
    int n_added;
    long lcm;          /* least common multiple of the numbers of samples; not followed beyond 4,096 */
    double unit;       /* weighed: all d, times their weight over the heaviest, are multiples of it; or 0 */
    int is_binary;     /* every score is 0 or 1 */
    int is_incomplete; /* answers of some cell are missing, so that the pair gets no mark */
};

/* match_multiple(): the least common multiple of lcm and n, where lcm begins as 1 and n is a number of
 * samples. match_unit(): all differences of mean scores are multiples of this number (stat_signflip()); 0
 * where it is too small to be of use. */
long match_multiple(long lcm, long n);
double match_unit(long lcm);

/* An empty set; release it with match_release(). */
struct matched match_begin(void);
/* Adds the problems that two cells have both answered, baseline a and cell b, matched by id and prompt;
 * n_dropped as in report_compare(). */
void match_add(struct matched *m, const struct cell_stats *a, const struct cell_stats *b, int *n_dropped);
/* Weighs the problems so that all parts weigh the same, in a part all pairs of cells that were added, and in
 * a pair all problems. part[i] is that of the i-th pair; NULL: each is its own, as the tasks of a policy
 * setting are. Pairs without a shared problem do not count. weight stays NULL where all problems weigh the
 * same anyway, so that the exact tests hold. Call it once, when all are added. */
void match_weigh(struct matched *m, const int *part);
/* Fills *out with the tests of the matched problems; a, b, the adjusted p values and the mark stay 0, NaN and
 * MARK_NONE. The margin is a fraction; NaN leaves noninferior NaN. Without a problem p is NaN and ci [-1, 1].
 */
void match_compare(struct pair *out, const struct matched *m, double margin);
void match_release(struct matched *m);

/* All of it for one pair of cells: match_add() and match_compare(). */
void match_one(struct pair *out, const struct cell_stats *a, const struct cell_stats *b, double margin,
               int *n_dropped);

/* The number of a row's family of comparisons, for report_mark_pairs(): the first row of its model, as all
 * settings of one model are a family. */
int report_family(const struct report *r, int row);
/* The same for the comparisons of single tasks, where the cells of one model in one task are a family; the
 * cell may not be of a text. */
int report_cell_family(const struct report *r, int cell);

/* 1 when two problems have the same reference answers in the same order, else 0. */
int match_same_golds(const struct run_problem *a, const struct run_problem *b);

/* Fills in tokens_a, tokens_b, length_ratio and length_p for the matched problems of one pair of cells; NaN
 * where no problem has a length in both. */
void match_lengths(struct against *out, const struct matched *m, const struct cell_stats *a,
                   const struct cell_stats *b);
/* In what cell a of old and cell b of now differ, in words, in now's arena: "model, generation settings"; ""
 * when in nothing. What one of the two does not know is no difference. */
const char *match_differences(const struct report *old, const struct report *now, const struct cell *a,
                              const struct cell *b);

#endif
