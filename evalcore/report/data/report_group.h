#ifndef EVALCORE_REPORT_DATA_REPORT_GROUP_H
#define EVALCORE_REPORT_DATA_REPORT_GROUP_H

#include "evalcore/report/data/report_data.h"

/* The plain mean over the data sets of a group, as benchmarks of many data sets print it. The data sets are
 * independent, so the variance of the mean is the sum of theirs over n squared; a data set's variance is read
 * off its own 95 % interval. */
struct group_mean {
    double mean, variance; /* NaN without any data set */
    struct interval ci;    /* normal, 95 %, within 0 and 1 */
    int n;                 /* data sets with results */
};
typedef int group_fn(const struct cell *c, int k); /* is the cell one of group k? */
struct group_mean group_mean(const struct report *r, int row, group_fn *is_in, int k);
/* The same of several such means. */
struct group_mean group_mean_of(const struct group_mean *m, int n);

#endif
