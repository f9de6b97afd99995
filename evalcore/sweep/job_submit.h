#ifndef EVALCORE_SWEEP_JOB_SUBMIT_H
#define EVALCORE_SWEEP_JOB_SUBMIT_H

#include "evalcore/plan/runplan.h"

/* How many requests wait in an engine beyond the running batch: so many that a free place is filled at once,
 * and no more, because the engine copies their prompts. */
enum { SUBMIT_WAITING = 8 };

/* Gives the job to its loaded model's engine. The completion's `user` will be j, which must live until then.
 */
int submit_job(const struct runplan *p, struct job *j, struct err *e);

/* What the plan's engines have done so far, added up, and what they are decoding. */
struct decoded {
    double tokens; /* those of running completions included */
    double steps, decode_seconds, prompt_seconds;
    int is_waiting; /* requests wait although there are places: memory is full */
    int n;
    struct running *running; /* (n): user is the struct job; xgrow()n, the caller's to free */
    size_t cap;
};
/* Replaces what *d holds. */
void submit_decoded(const struct runplan *p, struct decoded *d);

#endif
