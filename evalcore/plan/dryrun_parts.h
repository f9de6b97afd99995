#ifndef EVALCORE_PLAN_DRYRUN_PARTS_H
#define EVALCORE_PLAN_DRYRUN_PARTS_H

#include "evalcore/plan/dryrun.h"

/* Shared by dryrun*.c only. */

struct dryrun {
    const struct runplan *plan;
    const struct dryrun_options *options;
    double *length; /* (n_cells): expected tokens of a completion before limits */
    int model; /* of the run file's, of which memory and time are told; the next two are of its first loaded
                  model */
    double longest; /* tokens of the longest sequence, prompt and completion, at its limits */
    double rows;    /* sequences that can be decoded together: max_batch, or fewer jobs */
};

/* What is expected of the completion of problem q: at most its limit (runplan_limit), and exactly that where
 * nothing else ends it. */
double dryrun_tokens(const struct dryrun *d, int cell, size_t q);

/* dryrun_memory.c. Sets longest and rows. */
void dryrun_memory(struct dryrun *d);
/* dryrun_time.c */
void dryrun_time(const struct dryrun *d);

#endif
