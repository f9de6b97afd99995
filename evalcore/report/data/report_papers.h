#ifndef EVALCORE_REPORT_DATA_REPORT_PAPERS_H
#define EVALCORE_REPORT_DATA_REPORT_PAPERS_H

#include "evalcore/report/data/report_data.h"

/* The accuracy table in the form of the papers: policy settings by tasks and their plain mean. In each column
 * the best setting of a model is marked, and with it every setting that a paired test on the same problems
 * does not tell apart from it (p of at least 5 % after Holm's adjustment over the column); none while answers
 * of the model's settings are missing in the column. Bold numbers therefore do not claim a winner that chance
 * could have made. Picking the best before testing favours it, so a column says what is not shown to be
 * worse, not what is best.
 *
 * Single tasks and the mean over tasks are compared with the tests of the reports, the mean as settings are.
 */
struct paper_cell {
    int cell;     /* index of the report's cell; -1: none, or the mean */
    double value; /* accuracy or mean score; NaN: none, or a task of the mean is missing */
    int is_top;
    int is_partial; /* answers are missing */
};
/* (n_rows, n_columns + 1) of the report, the mean last; in its arena. Rows of texts alone have no values. */
const struct paper_cell *report_papers(const struct report *r);

/* How a row is called, in the report's arena: the policy label without its budget and with the swept
 * settings; and the budget ("k_pages=8", "" without one). */
const char *report_paper_method(const struct report *r, int row);
const char *report_paper_budget(const struct report *r, int row);

#endif
