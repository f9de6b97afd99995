#ifndef EVALCORE_WORKERS_WORKERS_PARTS_H
#define EVALCORE_WORKERS_WORKERS_PARTS_H

#include "evalcore/workers/sweep_workers.h"

/* What the files of the coordinator share: sweep_workers.c (the loop), worker_receive.c (what workers say),
 * worker_restarts.c (their deaths and restarts), canary_check.c (whether they are right) and workers_models.c
 * (which of several models each holds). */
enum { HELD_BY_NOBODY = -1, HELD_DONE = -2 }; /* of workers.holder */
/* Void: the canary still runs, but who finished it before is no longer believed. */
enum { CHECK_NONE, CHECK_DUE, CHECK_RUNS, CHECK_VOID };

/* sweep_workers.c: starts the process of worker i. */
void worker_start(struct workers *ws, int i, struct err *e);

/* worker_receive.c: waits for messages, a little, and takes those that came. */
void workers_receive(struct workers *ws, struct err *e);

/* worker_restarts.c: worker i is gone, or is ended here, at the latest at the deadline. Its jobs go back, and
 * it may be started again. The reason that is told is what it said last, else `why`, else how it died. Sets e
 * when the sweep cannot go on. */
void worker_mark_dead(struct workers *ws, int i, const struct err *why, double deadline, struct err *e);
/* Starts those again whose pause is over, while there are jobs that nobody holds. */
void workers_restart(struct workers *ws, struct err *e);
/* canary_check.c: worker i has finished job j. */
void workers_keep_canary(struct workers *ws, int i, long j, const struct completion *c);
/* Worker i is ready: its canary is due where it has to prove something and there is one. */
void worker_begin_check(struct workers *ws, int i);
/* Does it decode job j as its canary? */
int worker_is_checked(const struct worker_link *l, long j);
/* Worker i, restarted, has finished the canary. ERR_DEVICE in why: with other tokens. */
int worker_compare_canary(struct workers *ws, int i, const struct completion *c, struct err *why);
/* It was: what it finished in this sweep is withdrawn, and decoded again, and tests nobody any more. An error
 * in e is the journal's. */
void worker_withdraw_jobs(struct workers *ws, int i, struct err *e);
/* How many decode canaries, or are about to. */
int workers_checking(const struct workers *ws);
/* At the end: warns of those that died and were not tested again. */
void workers_warn_unchecked(const struct workers *ws);
/* Starts worker i again, which is not there, with a model. */
void worker_begin_again(struct workers *ws, int i, int model);
/* Are there workers other than i that may load the model, and live or come back soon? */
int workers_others(const struct workers *ws, int i, int model);
int workers_busy(const struct workers *ws);        /* jobs that they hold */
int worker_is_coming(const struct worker_link *l); /* it is started again soon */
int workers_coming(const struct workers *ws);      /* how many are started again soon */
/* The next job for worker i, -1: none now. It is the worker's from then on. */
long worker_next_job(struct workers *ws, int i);

/* workers_models.c. The part that job j is of. */
struct model_part *workers_part(struct workers *ws, long j);
/* Before and after jobs are decoded; with one model its progress is t itself, and else sums go to t at the
 * end.
 */
void workers_begin_parts(struct workers *ws, struct sweep_progress *t);
void workers_end_parts(struct workers *ws, struct sweep_progress *t);
/* The model for worker i: of those that it can load and that have jobs for it the one with the most expected
 * tokens per worker that serves it then, where its time is not up by the time that it is loaded; -1: none. */
int workers_pick(const struct workers *ws, int i, int not_this);
/* Sends idle workers to models that have jobs left. Each ends in order and is started anew, which is no
 * death. */
void workers_move_on(struct workers *ws);
/* Worker i has loaded its model. */
void worker_has_loaded(struct workers *ws, int i);
/* Has any worker loaded model m in this sweep? That one cannot do so later is no fault of the model. */
int workers_have_loaded(const struct workers *ws, int m);
/* Worker i ended before its hello because of its model, where there are others: it goes on with one of them.
 * 0: it is an ordinary death, as that of a worker whose model was loaded before. */
int worker_cannot_load(struct workers *ws, int i, const struct err *loss, struct err *e);
/* The model that worker i begins again with: the one that has most for it, which may be another than before.
 */
int workers_after_death(const struct workers *ws, int i);
/* Sets e when jobs are left, and only of models that no worker can load. */
void workers_check_reach(struct workers *ws, struct err *e);
/* With a limit of time: no worker that is there may start anything, nor change its model for that. */
int workers_are_stuck(const struct workers *ws);

#endif
