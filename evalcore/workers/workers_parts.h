#ifndef EVALCORE_WORKERS_WORKERS_PARTS_H
#define EVALCORE_WORKERS_WORKERS_PARTS_H

#include "evalcore/workers/sweep_workers.h"

/* What the files of the coordinator share: sweep_workers.c (the loop), workers_hear.c (what workers say) and
 * workers_lives.c (their deaths and restarts). */
enum { HELD_BY_NOBODY = -1, HELD_DONE = -2 }; /* of workers.holder */
enum { TRIAL_NONE, TRIAL_DUE, TRIAL_RUNS };

/* sweep_workers.c: starts the process of worker i. */
void worker_start(struct workers *ws, int i, struct err *e);

/* workers_hear.c: waits for messages, a little, and takes those that came. */
void workers_hear(struct workers *ws, struct err *e);

/* workers_lives.c: worker i is gone, or is ended here, at the latest at the deadline. Its jobs go back, and
 * it may be started again. The reason that is told is what it said last, else `why`, else how it died. Sets e
 * when the sweep cannot go on. */
void worker_lose(struct workers *ws, int i, const struct err *why, double deadline, struct err *e);
/* Starts those again whose pause is over, while there are jobs that nobody holds. */
void workers_revive(struct workers *ws, struct err *e);
/* Job j was finished: with which tokens a restarted worker must finish it too. */
void workers_keep_canary(struct workers *ws, long j, const struct completion *c);
/* Worker i, restarted, has finished the canary. ERR_DEVICE in why: with other tokens. */
int worker_judge(struct workers *ws, int i, const struct completion *c, struct err *why);
int workers_busy(const struct workers *ws);        /* jobs that they hold */
int worker_is_coming(const struct worker_link *l); /* it is started again soon */
int workers_coming(const struct workers *ws);      /* how many are started again soon */
/* The next job for worker i, -1: none now. It is the worker's from then on. */
long worker_next_job(struct workers *ws, int i);

#endif
