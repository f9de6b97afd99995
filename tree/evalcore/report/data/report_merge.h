#ifndef EVALCORE_REPORT_DATA_REPORT_MERGE_H
#define EVALCORE_REPORT_DATA_REPORT_MERGE_H

#include "evalcore/store/run.h"

/* Fills *out with several loaded runs (models, nights, parts of a sweep) as one, for one page.
 *
 * Tasks of one label are one column when their name, version, metric, options and problems (ids and prompts)
 * are the same; another run's task that differs stands apart under "LABEL (RUN)". The same cell in two runs
 * (model, policy, settings and task) is kept apart by the run's name behind its label. A run's name is the
 * last part of its folder's name, or the whole where two would be the same. A cell without a baseline in its
 * own run is compared with that of the first other run that has one for the same model, weights,
 * configuration, numerics, settings and task.
 *
 * out borrows from the runs, which must outlive it; release it with run_release(). *said becomes sentences on
 * what agrees and what does not, owned by out. Returns 0, or ERR_USAGE when the runs name different margins,
 * and then nothing is to be released; `margin` above 0, in points, decides instead of theirs. */
int report_merge(struct run *out, const struct run *runs, int n, double margin, const char **said,
                 struct err *e);

#endif
