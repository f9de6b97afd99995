#ifndef EVALCORE_SWEEP_JOB_SUBMIT_H
#define EVALCORE_SWEEP_JOB_SUBMIT_H

#include "evalcore/plan/runplan.h"

/* Requests that wait in the engine beyond the running batch: enough that a slot never waits, few enough that
 * prompts sit in one place only. */
enum { SUBMIT_WAITING = 8 };

/* Gives the job to its lane's engine, with the job as the completion's user. */
int submit_job(const struct runplan *p, struct job *j, struct err *e);

/* Tokens that the plan's engines have decoded so far, those of running completions included. */
double submit_decoded(const struct runplan *p);

#endif
