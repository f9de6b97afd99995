#ifndef EVALCORE_REPORT_DATA_REPORT_VOTES_H
#define EVALCORE_REPORT_DATA_REPORT_VOTES_H

#include "evalcore/report/data/report_data.h"

/* How probable is it that the majority of w of these n answers to one problem is right? Over all subsets of
 * w; a tie of t answers counts 1/t. Completions of more than `limit` tokens, and those without an answer, do
 * not vote. answer: cell_stats' from this problem on. */
double votes_majority(const struct record *first, const int *answer, int n, int limit, int w);

#endif
