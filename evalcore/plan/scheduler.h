#ifndef EVALCORE_PLAN_SCHEDULER_H
#define EVALCORE_PLAN_SCHEDULER_H

#include "evalcore/plan/runplan.h"
#include "evalcore/store/run.h"

/* The order in which jobs start. Model by model, the jobs that are expected to be longest come first, over
 * all cells at once. Among jobs of one task and of about the same length, a few policies come before the next
 * few, so that a batch holds few policies. (In a resumed folder problems have expected lengths of their own,
 * so it may hold more.) Among the jobs of such a few policies those that share a prompt are next to each
 * other, so that its dense prefill is paid once. Where prompts are longer than completions, the problems are
 * first cut into blocks whose prefilled prompts the devices keep while all policies take their turns; a
 * prompt is decoded by the device that prefilled it (evalcore/sweep/job_queue.h), so it is paid once there
 * too.
 *
 * The expected length of a job is the mean over finished completions of the same problem in this folder, else
 * in another one that was named (scheduler_hint()), else of its task here, else the task's prior. It is at
 * most the job's limit, and exactly the limit where nothing else ends the completion. Lengths are compared in
 * steps of a quarter, so that guesses do not separate jobs with the same prompt. The order is a function of
 * the plan, the folder and the number of devices. */

/* Fills job.hint from the completions of another folder, of the same problems by task and id, whatever the
 * model and the policies were. Returns the number of jobs of which it knows. */
long scheduler_hint(struct runplan *p, const struct run *other);

/* Fills job.expected and job.usual and sorts p->jobs[0 .. n_jobs-1]. done: the folder as loaded after
 * runplan_write(), with or without grades; NULL: nothing is known. */
void scheduler_order(struct runplan *p, const struct run *done, int n_devices);

/* Drops the jobs that have a record in `done` (NULL: none), where they ended in an error only without
 * `retry_errors`, and, with n_shards > 0, those of other shards. Returns how many are left; *of_shard
 * receives how many belong to the shard, finished or not, *failed how many of those that were dropped as
 * finished ended in an error. Both may be NULL. */
long scheduler_keep(struct runplan *p, const struct run *done, int retry_errors, int shard, int n_shards,
                    long *of_shard, long *failed);

#endif
