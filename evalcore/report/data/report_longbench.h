#ifndef EVALCORE_REPORT_DATA_REPORT_LONGBENCH_H
#define EVALCORE_REPORT_DATA_REPORT_LONGBENCH_H

#include "evalcore/report/data/report_data.h"

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
int longbench_is_in(int k, const struct cell *c);
/* k LONGBENCH_CLASSES: the average, NaN where a class has no results or answers are missing. Data sets are
 * independent. */
struct longbench_mean longbench_mean(const struct report *r, int k, int row);
/* Against the baseline on all problems of a class, or of all classes: pair row * (LONGBENCH_CLASSES + 1) + k.
 * Where a class has no data set in the run there is no average, and nothing is compared. */
const struct pair *longbench_pairs(const struct report *r);
/* The class or average that a figure's task ("longbench.sqa", "longbench.avg") is; -1: neither. */
int longbench_find(const char *task);
const char *longbench_name(int k);  /* back again */
const char *longbench_title(int k); /* in words, as a column's heading */

int longbench_is_there(const struct report *r); /* does the run have a data set of LongBench? */

#endif
