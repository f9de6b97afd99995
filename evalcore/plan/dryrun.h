#ifndef EVALCORE_PLAN_DRYRUN_H
#define EVALCORE_PLAN_DRYRUN_H

#include "evalcore/plan/runplan.h"

/* Prints what a sweep would do as a table on standard output: cells, jobs, expected tokens, memory. p: a dry
 * plan (runplan_options.dry). */
void dryrun_print(const struct runplan *p);

#endif
