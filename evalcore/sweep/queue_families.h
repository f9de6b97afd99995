#ifndef EVALCORE_SWEEP_QUEUE_FAMILIES_H
#define EVALCORE_SWEEP_QUEUE_FAMILIES_H

#include "evalcore/plan/runplan.h"

/* Families of jobs, a part of the queue (queue.h). The order is the plan's with two exceptions.
 *
 * The prefill of a prompt is to be paid on one device. So neighbours that share a prompt (and where
 * job.policy says so, a policy and a bucket) form a family, and a worker goes on with the family that it
 * began; where the prompt comes again later, with other policies, that family is for the worker that had it
 * first. When only families of others are left, a worker begins those, and when none is left to begin, it
 * helps with the open family that has most jobs left.
 *
 * A batch is to hold few policies. So of jobs with a job.policy a worker begins, among the families of the
 * first bucket that has some to begin, one of the policy of its last job. Where that has none, it turns to
 * the policy with most jobs left for each worker that is at it. Who had the prompt does not count then. This
 * looks once at each policy of the bucket, and only when a family begins. */
struct families {
    struct family *family;
    long n_families;
    struct section *section;
    long n_sections, front; /* no family of a section before `front` is left to begin */
    int *at;                /* (n_workers): the policy of whose jobs each took last, 0: of none */
    int *workers_at;        /* by policy: how many workers */
    int *owner; /* (n_families), by a prompt's first family: who had the prompt first, -1: nobody */
    long *open; /* (n_workers): the family that each began last, -1: none */
    int n_workers;
    long *back; /* jobs that were given back; they go first */
    long n_back;
    size_t cap_back;
};

/* Makes the families of plan.jobs[first .. end-1], the jobs of one model, in *q, whose earlier contents are
 * overwritten. It cannot fail. */
void families_init(struct families *q, const struct runplan *p, long first, long end, int n_workers);
/* Takes the next job for a worker, by the rule above; jobs that were given back come first. Returns its index
 * into plan.jobs, or -1 when none is left. */
long families_take(struct families *q, int worker);
/* Takes the job that is expected to be shortest, of those that were given back and the last one that nobody
 * took. Returns its index into plan.jobs, or -1 when none is left. */
long families_take_last(struct families *q, const struct runplan *p);
/* Job `job`, which was taken, can be taken again. */
void families_give_back(struct families *q, long job);
/* Frees what q owns and zeroes it; it may be zeroed already. */
void families_release(struct families *q);

#endif
