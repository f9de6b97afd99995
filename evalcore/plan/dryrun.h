#ifndef EVALCORE_PLAN_DRYRUN_H
#define EVALCORE_PLAN_DRYRUN_H

#include "evalcore/plan/runplan.h"

/* What a sweep would do, as a table on standard output: cells, jobs, expected tokens, memory. The plan is a
 * dry one. */
void dryrun_print(const struct runplan *p);

#endif
