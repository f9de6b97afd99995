#ifndef EVALCORE_PLAN_SCHEDULER_H
#define EVALCORE_PLAN_SCHEDULER_H

#include "evalcore/plan/runplan.h"
#include "evalcore/store/run.h"

/* The order in which jobs start: longest expected first over all cells at once, never a barrier between
 * cells. Of jobs alike in that, a few policies come before the next few, so that a batch holds few (in a
 * folder that is resumed the lengths of what is done set problems apart, and it holds more); within them, and
 * within all cells where prompts are longer than completions, jobs that share a prompt are next to each
 * other, so that its dense prefill is paid once.
 *
 * Expected length of a job: the mean of finished completions of the same problem in this folder, else of its
 * task, else the task's prior; never above its limit, and just that where nothing else ends it. Lengths
 * are compared in steps of a quarter, so that guesses do not tear apart jobs with the same prompt. The order
 * is a function of the plan and the folder. */

/* Fills job.expected and sorts p->jobs[0 .. n_jobs-1]; done: the folder as loaded after runplan_write(), or
 * NULL. */
void scheduler_order(struct runplan *p, const struct run *done);

/* Drops the jobs whose key is in `done` and, with n_shards > 0, those of other shards. Returns how many are
 * left; *of_shard is how many belong to the shard, finished or not. */
long scheduler_keep(struct runplan *p, const struct run *done, int shard, int n_shards, long *of_shard);

#endif
