#ifndef EVALCORE_REPORT_DATA_REPORT_GROUP_H
#define EVALCORE_REPORT_DATA_REPORT_GROUP_H

#include "evalcore/report/data/report_data.h"

/* The plain mean over the data sets of a group, as benchmarks of many data sets print it. The data sets are
 * independent; the interval is put together from theirs (see the file) and lies within 0 and 1, as they do.
 */
struct group_mean {
    double mean;        /* NaN without any data set */
    struct interval ci; /* 95 % */
    int n;              /* data sets with results */
    long missing;       /* answers that its data sets lack */
};
typedef int group_fn(const struct cell *c, int k); /* is the cell one of group k? */
struct group_mean group_mean(const struct report *r, int row, group_fn *is_in, int k);
/* The same of several such means. */
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

#endif
