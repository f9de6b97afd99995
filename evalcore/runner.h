#ifndef EVALCORE_RUNNER_H
#define EVALCORE_RUNNER_H

#include "evalcore/tally.h"

/* Decodes the jobs of a plan in their order on the plan's own engines, in this process. 0 when all jobs are
 * journalled or a signal stopped it (*signal, else 0); an error leaves everything journalled so far. */
int runner_run(const struct runplan *p, struct tally *t, int *signal, struct err *e);

#endif
