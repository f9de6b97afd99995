#ifndef EVALCORE_REPORT_DATA_REPORT_GROUP_H
#define EVALCORE_REPORT_DATA_REPORT_GROUP_H

#include "evalcore/report/data/report_data.h"

/* None of these functions fails.
 *
 * The plain mean over the data sets of a group, as benchmarks of many data sets print it. The data sets are
 * independent; the interval is put together from theirs (see the file) and lies within 0 and 1, as they do.
 */
struct group_mean {
    double mean;        /* NaN without any data set */
    struct interval ci; /* 95 % */
    int n;              /* data sets with results */
    long missing;       /* answers that its data sets lack */
};
typedef int group_fn(const struct cell *c, int k); /* 1 when the cell is one of group k, else 0 */
/* The mean over the cells of a row that are in group k; a cell without a finished job counts in `missing`
 * alone. */
struct group_mean group_mean(const struct report *r, int row, group_fn *is_in, int k);
/* The plain mean of n such means; NaN when one of them is. n and missing of the result are their sums. */
struct group_mean group_mean_of(const struct group_mean *m, int n);

/* Data sets, whose mean may be one of parts, as LongBench's average is one of classes: parts weigh the same,
 * and so do the data sets of a part. */
struct group {
    group_fn *is_in;
    int (*part)(const struct cell *c); /* NULL: the data sets all weigh the same */
};

/* Each row of the accuracy table against its baseline over a group's data sets, with the weights of the
 * group's mean: each problem counts by what its data set weighs, divided by the number of its problems. Pair
 * row * n + k is that of group key[k]. The comparisons of a group are a family. Without a shared problem a
 * pair's mark is MARK_NONE. In the report's arena. */
struct pair *group_pairs(const struct report *r, const struct group *g, const int *key, int n);

/* RULER by length: the mean over the families that a run has, for each length, as RULER's tables print it
 * (arXiv 2404.06654, table 3). */
int ruler_is_there(const struct report *r); /* 1 when the run has a task of RULER, else 0 */
/* The lengths of a run, ascending, *n of them, in the report's arena. */
const int *ruler_lengths(const struct report *r, int *n);
/* Against the baseline on all problems of a length, as group_pairs() says: pair row * n + k is that of the
 * k-th of the n lengths. */
const struct pair *ruler_pairs(const struct report *r);
/* The mean of a row over the families at a length in tokens. */
struct group_mean ruler_mean(const struct report *r, int row, int tokens);

/* LongBench's six classes of data sets (arXiv 2308.14508, table 1). Papers print the mean over the data sets
 * of a class, and as the average the plain mean of the six (Kascade's table 1: its averages are those of the
 * six numbers beside them). */
enum { LONGBENCH_CLASSES = 6 };

struct longbench_mean {
    double mean; /* of the data sets' scores; NaN without any */
    struct interval ci;
    int n, n_sets; /* data sets with results, and of the class in all */
    long missing;  /* answers that the run's data sets of the class lack */
};
/* 1 when the cell is of a data set of class k, 0 to LONGBENCH_CLASSES - 1, else 0. */
int longbench_is_in(int k, const struct cell *c);
/* The mean of a row over the data sets of class k. k LONGBENCH_CLASSES: the average, NaN where a class has no
 * results or answers are missing. Data sets are independent. */
struct longbench_mean longbench_mean(const struct report *r, int k, int row);
/* Against the baseline on all problems of a class, or of all classes: pair row * (LONGBENCH_CLASSES + 1) + k.
 * Where a class has no data set in the run there is no average, and nothing is compared. */
const struct pair *longbench_pairs(const struct report *r);
/* The class that a figure's task is ("longbench.sqa": 0), LONGBENCH_CLASSES for the average
 * ("longbench.avg"), -1 for neither. */
int longbench_find(const char *task);
const char *longbench_name(int k);  /* the task of class or average k, a constant */
const char *longbench_title(int k); /* the same in words, as a column's heading */

int longbench_is_there(const struct report *r); /* 1 when the run has a data set of LongBench, else 0 */

#endif
