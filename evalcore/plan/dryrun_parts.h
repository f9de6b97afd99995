#ifndef EVALCORE_PLAN_DRYRUN_PARTS_H
#define EVALCORE_PLAN_DRYRUN_PARTS_H

#include "evalcore/plan/dryrun.h"

/* What the files of dryrun_print() share. */
struct dryrun {
    const struct runplan *plan;
    const struct dryrun_options *options;
    double *length; /* (n_cells): expected tokens of a completion before limits */
    int model; /* of the run file's, of which memory and time are told; the next is of its first loaded model
                */
    double rows; /* sequences that can be decoded together: max_batch, or fewer jobs */
};

/* dryrun_time.c. Returns what is expected of the completion of problem q: at most its limit
 * (runplan_limit()), and exactly that where nothing else ends it. */
double dryrun_expected(const struct dryrun *d, int cell, size_t q);
/* Measures the speed under each policy of the model, unless the options say no, and prints it with the time
 * of the model's cells. */
void dryrun_time(const struct dryrun *d);

#endif
