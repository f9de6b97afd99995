#ifndef EVALCORE_SWEEP_RESTART_RULES_H
#define EVALCORE_SWEEP_RESTART_RULES_H

#include <stdint.h>

/* What follows from the death of a worker, as rules.
 *
 * A worker that dies is started again: at once after the first death, and after pauses that double while none
 * of its lives finishes a job. It is started again after RESTARTS_IN_A_ROW such deaths in a row and after
 * RESTARTS_PER_HOUR within an hour; at one more it is out: the sweep does not count on it any more, and tries
 * it again every RETRY_SECONDS seconds while others work.
 *
 * A job may be what kills workers. The jobs of a worker that died decode again like any other. Those that
 * were there at a second death are suspects: they decode when nothing else is left, in ever smaller company,
 * until one dies alone on a worker that has decoded nothing else since it was started, but for its canary.
 * That may be the worker's fault, so the job goes to another one. When it dies so on two different workers,
 * or twice where there is no other, it ends in an error. */
enum { RESTARTS_IN_A_ROW = 5, RESTARTS_PER_HOUR = 20, RETRY_SECONDS = 300, COMPANY_SHARE = 8 };

struct job_fate {
    int deaths;     /* of workers that held the job */
    int company;    /* how many jobs its worker may hold with it; 0: any number */
    int alone;      /* deaths of workers that had decoded nothing else */
    uint64_t where; /* those workers, by bit */
};

/* Call when worker i died while it had this job. held: jobs that it had, this one included; finished: jobs
 * that it had finished since it was started; has_others: other workers live or come back soon. Returns 1 when
 * the job is to blame, else 0. */
int fate_of_death(struct job_fate *f, int i, int held, int finished, int has_others);
/* Returns 1 when it died alone on two different workers, else 0. */
int fate_is_proven(const struct job_fate *f);
/* Returns 1 when worker i may have it: it did not die alone there, or there is no other worker; else 0. */
int fate_allows(const struct job_fate *f, int i, int has_others);
/* Returns 1 when worker i, which holds so many jobs and has finished so many since it was started, takes
 * suspect f now rather than `than` (NULL: rather than none): it may have f, in no more company than f may
 * have, and of two that with most deaths is for a worker that has finished nothing yet, where its death would
 * prove something. `than` was taken so itself. Else 0. */
int fate_is_next(const struct job_fate *f, const struct job_fate *than, int i, int held, int finished,
                 int has_others);
/* Returns how many jobs a worker may hold that gets suspect f now: the least that it or those it holds allow.
 */
int fate_company(const struct job_fate *f, int held, int company);
/* Returns the back-off: seconds until a worker is started again after that many deaths in a row without a
 * finished job, and within an hour; both counts include the death just now. Below 0: it is out, as above. */
double restart_backoff(int in_a_row, int in_an_hour);
#endif
