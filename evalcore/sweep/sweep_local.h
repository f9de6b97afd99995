#ifndef EVALCORE_SWEEP_SWEEP_LOCAL_H
#define EVALCORE_SWEEP_SWEEP_LOCAL_H

#include "evalcore/sweep/job_done.h"

/* Decodes the jobs of a plan in their order on the plan's own engines, in this process. 0 when all jobs are
 * journalled or a signal stopped it (*signal, else 0); an error leaves everything journalled so far. */
int sweep_local_run(const struct runplan *p, struct tally *t, int *signal, struct err *e);

#endif
