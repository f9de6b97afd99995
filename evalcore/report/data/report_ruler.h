#ifndef EVALCORE_REPORT_DATA_REPORT_RULER_H
#define EVALCORE_REPORT_DATA_REPORT_RULER_H

#include "evalcore/report/data/report_group.h"

/* RULER by length: the mean over the families that a run has, for each length, as RULER's tables print it
 * (arXiv 2404.06654, table 3). */
int ruler_is_there(const struct report *r); /* has the run families of RULER? */
/* The lengths of a run, ascending, *n of them, in the report's arena. */
const int *ruler_lengths(const struct report *r, int *n);
/* Against the baseline on all problems of a length: pair row * n + k is that of length k. */
const struct pair *ruler_pairs(const struct report *r);
struct group_mean ruler_mean(const struct report *r, int row, int tokens);

#endif
