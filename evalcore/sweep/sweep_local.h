#ifndef EVALCORE_SWEEP_SWEEP_LOCAL_H
#define EVALCORE_SWEEP_SWEEP_LOCAL_H

#include "evalcore/sweep/job_done.h"

/* The room of sweeps: it decodes the jobs of a plan and writes what comes out into the journal. Only commands
 * come in: by this door for one device, by sweep_workers.h for several, by sweep_endpoint.h for a server, by
 * sweep_options.h for the options.
 *
 * sweep_local_run() decodes the jobs in the plan's order on the plan's own engines, in this process. It
 * returns 0 when all jobs are in the journal, or when a signal stopped it (*signal, else 0). After an error,
 * what was journalled so far stays. */
int sweep_local_run(const struct runplan *p, struct tally *t, int *signal, struct err *e);

#endif
