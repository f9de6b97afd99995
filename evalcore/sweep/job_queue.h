#ifndef EVALCORE_SWEEP_JOB_QUEUE_H
#define EVALCORE_SWEEP_JOB_QUEUE_H

#include "evalcore/plan/runplan.h"

/* Which job a worker gets when it asks for one. The order is the plan's (evalcore/plan/scheduler.h) with one
 * exception: a prompt's dense prefill is to be paid on one device. So neighbours that share a prompt form a
 * group, and a worker goes on with the group that it began; and where a prompt comes again later, with other
 * policies, that group is for the worker that had it first. When only others' groups are left, a worker
 * begins those, and when none is left to begin, it helps with the open group that has most jobs left. */
struct job_queue {
    struct job_group *group;
    long n_groups, begun; /* all groups before `begun` are begun */
    int *owner;           /* (n_groups), by a prompt's first group: who had the prompt first, -1: nobody */
    long *open;           /* (n_workers): the group that each began last, -1: none */
    int n_workers;
    long *back; /* jobs that were given back; they go first */
    long n_back;
    size_t cap_back;
};

/* Of plan.jobs[first .. end-1], the jobs of one model. */
void job_queue_init(struct job_queue *q, const struct runplan *p, long first, long end, int n_workers);
long job_queue_take(struct job_queue *q, int worker); /* index into plan.jobs; -1: none now */
/* The job that is expected to be shortest: of those that were given back and the plan's last one. -1: none.
 */
long job_queue_take_last(struct job_queue *q, const struct runplan *p);
void job_queue_give_back(struct job_queue *q, long job);
void job_queue_release(struct job_queue *q);

#endif
