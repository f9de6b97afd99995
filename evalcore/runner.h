#ifndef EVALCORE_RUNNER_H
#define EVALCORE_RUNNER_H

#include "evalcore/journal.h"
#include "evalcore/progress.h"
#include "evalcore/runplan.h"

/* Decodes the jobs of a plan in their order and journals each completion before it counts. */
struct runner {
    struct runplan *plan;
    struct journal *journal;
    struct progress *progress;
    long finished; /* out: completions journalled */
    double tokens; /* out: decoded */
    int signal;    /* out: what stopped it, 0: nothing */
};

/* 0 when all jobs are journalled or a signal stopped it (r->signal); an error leaves everything journalled so
 * far. */
int runner_run(struct runner *r, struct err *e);

#endif
