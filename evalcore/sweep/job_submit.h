#ifndef EVALCORE_SWEEP_JOB_SUBMIT_H
#define EVALCORE_SWEEP_JOB_SUBMIT_H

#include "evalcore/plan/runplan.h"

/* How many requests wait in an engine beyond the running batch: so many that a free place is filled at once,
 * and no more, because the engine copies their prompts. */
enum { SUBMIT_WAITING = 8 };

/* Gives the job to its lane's engine. The completion's `user` will be j, which must live until then. */
int submit_job(const struct runplan *p, struct job *j, struct err *e);

/* Tokens that the plan's engines have decoded so far, those of running completions included. */
double submit_decoded(const struct runplan *p);

#endif
