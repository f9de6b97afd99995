#ifndef EVALCORE_SWEEP_QUEUE_H
#define EVALCORE_SWEEP_QUEUE_H

#include "evalcore/store/run.h"
#include "evalcore/sweep/deadline.h"
#include "evalcore/sweep/decoder.h"
#include "evalcore/sweep/forecast.h"
#include "evalcore/sweep/queue_families.h"
#include "evalcore/sweep/restart_rules.h"

/* The work queue: the only place that says which job is next. Four things decide, in this order:
 *
 *   model     a worker holds one model and gets its jobs only; queue_pick_model() says which it loads next
 *   order     the longest jobs first (queue_order.c), few policies in a batch, a prompt's jobs on the worker
 *             that prefilled it (queue_families.h)
 *   deadline  with a limit of time, a job starts only if it is expected to end before that and does not keep
 *             a running one from it: its length is the 75th percentile of completions like it, its speed that
 *             of recent steps with one sequence more (forecast.h). From the moment when the longest job left
 *             does not fit, the shortest start first. To learn the speed, the shortest start alone
 *   suspects  jobs that were running in two crashes of workers come last, in ever smaller company
 *             (restart_rules.h)
 *
 * No completion depends on the order. */
struct queue_model { /* the jobs of one model */
    double tokens;   /* expected, before jobs are known */
    long first, end; /* plan.jobs[first .. end-1] */
    long left;       /* of these, not over */
    struct families families;
    /* with a limit of time: */
    long seen;      /* forecast.version when the next three were looked at, -1: never */
    double rows;    /* sequences that run, or started since */
    double last;    /* tokens until the last of these ends that may be in time */
    double prompts; /* seconds of prompts that started since */
    long refused;   /* forecast.version when nothing that was left fitted; -1: something did */
};

struct queue {
    const struct runplan *plan;
    struct forecast *forecast;
    const struct deadline *deadline; /* NULL: no limit and no signals */
    struct decoder *decoder;         /* whose workers ask, and whose `left` the queue keeps */
    int never_blames;                /* a job that is there when workers die always begins anew */
    struct queue_model model[RUNFILE_MODELS_MAX];
    int n_models;
    struct job_fate *fate; /* by job */
    char *is_waiting;      /* by job: no worker has it */
    long *suspect;         /* (n_suspects) */
    long n_suspects;
    size_t cap_suspects;
    int company[DEVICES_MAX]; /* by worker: the most jobs that it may hold now; 0: any number */
    long left;                /* jobs that are not over */
    double updated;           /* when lengths were looked at */
};

/* Estimates the tokens that are left of each model, as far as the completions in folder dir tell (NULL: none;
 * a folder that cannot be loaded counts as none), for the choice of models before jobs are known. q is zeroed
 * before. */
void queue_guess(struct queue *q, const struct runplan *p, const char *dir);
/* Fills the queue anew with the jobs of the plan as they are now, in their order; what queue_guess() found
 * stays. All pointers are borrowed and live as long as the queue; deadline NULL: no limit and no signals. */
void queue_begin(struct queue *q, const struct runplan *p, struct forecast *f, struct decoder *d,
                 const struct deadline *deadline);
/* Frees what the queue owns; q may be zeroed or released already. queue_begin() can follow. */
void queue_release(struct queue *q);

/* Returns the next job for worker w, which has room for it, as an index into plan.jobs, or -1 when there is
 * none now, which says nothing of later. The job is the worker's until it is done, given back or lost
 * (below). */
long queue_next(struct queue *q, int w);
/* Job j is over: it counts as left no longer. */
void queue_done(struct queue *q, long j);
/* Job j, which was over, waits again and counts as left again. */
void queue_reopen(struct queue *q, long j);
/* Job j, which a worker had and is not to blame for losing, waits again. */
void queue_give_back(struct queue *q, long j);
/* Worker w died with job j, one of the jobs it held. Returns 1 when the job is to blame: it does not wait
 * again, and the caller records its error and calls queue_done(). Returns 0 when it begins anew. */
int queue_lost(struct queue *q, int w, long j);
/* Returns 1 when the job died alone on two different workers, else 0. */
int queue_is_proven(const struct queue *q, long j);
/* Forgets that the jobs that were left did not fit before the deadline; call it when jobs came back. */
void queue_turn(struct queue *q);

/* Returns the model that worker w loads next, as an index into runfile.models, or -1 when there is none: of
 * those it can load that have jobs left, other than not_this (-1: any), the one with the most expected tokens
 * per worker. Leaves out a model that could not be loaded before the limit.
 */
int queue_pick_model(const struct queue *q, int w, int not_this);
/* Returns how many jobs are under way, plus how many workers may soon start some: those that load, are
 * checked, change models or come back. 0: nothing moves. */
int queue_busy(const struct queue *q);
/* For a queue of which queue_busy() is 0: returns 1 when there is a limit of time and no job that is left can
 * start before it, else 0. */
int queue_is_stuck(const struct queue *q);
/* Returns the seconds that the shortest of the jobs that are left takes alone, and its tokens in *tokens;
 * INFINITY, with *tokens untouched, when no speed is known or no job is left. */
double queue_shortest(const struct queue *q, double *tokens);

/* queue_order.c: the order in which jobs start. Model by model, the jobs that are expected to be longest come
 * first, over all cells at once. Jobs of about the same length are in one bucket. Batches are to hold few
 * policies:
 *   on a GPU, where prompts are shorter than completions   one policy comes after the other, and each worker
 *                                                          goes on with its own (queue_families.h). A prompt
 *                                                          may be prefilled once for each policy and bucket
 *   else                                                   task by task, a few policies come before the next
 *                                                          few. Among their jobs those that share a prompt
 *                                                          are next to each other, so that its dense prefill
 *                                                          is paid once
 * Where prompts are longer than completions, the problems are first cut into blocks whose prefilled prompts
 * the devices keep while all policies take their turns. (In a resumed folder problems have expected lengths
 * of their own, so a bucket has fewer jobs of a policy and a batch may hold more policies.)
 *
 * The expected length of a job is the mean over finished completions of the same problem in its cell, else in
 * another folder that was named (queue_hint()), else of its cell, else of the cell that it is compared with,
 * of the same problem or of all, else the task's prior: what a policy that stops early has finished says
 * nothing of the others. It is at most the job's limit, and exactly the limit where nothing else ends the
 * completion. Lengths are compared in steps of a quarter, so that guesses do not separate jobs with the same
 * prompt. The order is a function of the plan, the folder and the number of devices; what several workers get
 * of it depends on when they ask, too. */

/* Fills job.hint from the completions of another folder, of the same problems by task and id, whatever the
 * model and the policies were. Returns the number of the plan's jobs that got a hint; the others have 0. */
long queue_hint(struct runplan *p, const struct run *other);
/* Fills job.expected, job.usual, job.bucket and job.policy and sorts p->jobs[0 .. n_jobs-1]. done: the folder
 * as loaded after runplan_write(), with or without grades; NULL: nothing is known. It cannot fail. */
void queue_sort(struct runplan *p, const struct run *done, int n_devices);
/* Drops the jobs that have a record in `done` (NULL: none), and, with n_shards > 0, those of other shards.
 * With `retry_errors` a job whose record is an error stays, and so does always one whose completion was
 * withdrawn. The jobs that stay get the `withdrawn` of their next record. Returns how many are left;
 * *of_shard receives how many belong to the shard, finished or not, *failed how many of those that were
 * dropped as finished ended in an error. Both may be NULL. */
long queue_keep_open(struct runplan *p, const struct run *done, int retry_errors, int shard, int n_shards,
                     long *of_shard, long *failed);

#endif
