#ifndef EVALCORE_SWEEP_SLOT_H
#define EVALCORE_SWEEP_SLOT_H

#include "evalcore/cli/stopper.h"
#include "evalcore/sweep/sweep_progress.h"
#include "evalcore/sweep/job_queue.h"

/* A door of the room of sweeps (sweep_progress.h): the time that a sweep has (--time-limit, or the end of its
 * Slurm job), and why it ends early. Without a limit jobs start in the plan's order, as many as there is room
 * for. With one, a job starts only when it can be expected to end in time and does not keep one from it that
 * runs already: its length is the one that three of four such completions do not exceed (eta.h), its speed
 * that of the steps so far, with one sequence more. From the moment when the longest job left does not fit,
 * the shortest start first. To learn the speed, one of the shortest starts alone.
 *
 * Only the order of jobs depends on this, and no completion depends on the order. */
struct deadline {
    /* set by deadline_init() and deadline_limit() */
    struct stopper *stopper;
    double started; /* clock_seconds() when the process began */
    double seconds; /* that it has from then */
    int is_slurm;   /* Slurm says so */
    double report;  /* seconds that grades and report are expected to take */
    double end;     /* of decoding; INFINITY: none */
    /* from here on: while jobs are decoded */
    double decoding; /* when that began; 0: it did not */
    int is_late;     /* the longest that is left does not fit */
    struct eta_lengths *lengths;
    double looked;  /* when lengths were looked at */
    double sampled; /* running jobs were: the sample and the completions of that time */
    long finished;
    double rows, context;  /* of what runs, or started since */
    double last;           /* tokens until the last of these ends that may be in time */
    double debt;           /* seconds of prompts that started since */
    long refused_at;       /* nothing that was left fitted: completions and */
    double refused_sample; /* sample of that time; nothing changes before the next */
    int is_refused;
};

/* Why decoding ended although jobs are left, where it is no signal. */
enum { DEADLINE_TIME_UP = -1 };

void deadline_init(struct deadline *s, struct stopper *stopper);
/* "3h", "90m", "1h30m", "3600" (seconds), "2d" of an option, "--time-limit"; ERR_USAGE. */
int deadline_duration(const char *option, const char *text, double *seconds, struct err *e);
/* --time-limit (NULL: none), or where Slurm ends the job (seconds since 1970; 0: not known), and says so. */
int deadline_limit(struct deadline *s, const char *time_limit, long slurm_end, struct err *e);
/* Decoding begins; reading the folder took `seconds`, which tells how long the report will take. */
void deadline_begin(struct deadline *s, double seconds);
/* What is kept of so many seconds for what comes after decoding. */
double deadline_reserve(const struct deadline *s, double seconds);
int deadline_is_limited(const struct deadline *s); /* s may be NULL here and below: no limit */

/* Jobs of another engine come: what did not fit before may do now. */
void deadline_turn(struct sweep_progress *t);
/* Which of plan.jobs[next .. end-1] may start now: next, end - 1, or -1: none. has_room: without a limit,
 * whether another may; busy: jobs that are under way or wait; max_batch: so many go at once. */
long deadline_pick(struct sweep_progress *t, long next, long end, int has_room, int busy, int max_batch);
/* The same for a worker, which has room for it; `busy` jobs are with the workers. */
long deadline_take(struct sweep_progress *t, struct job_queue *q, int worker, int busy);
/* May job j start now, which is in no queue? */
int deadline_fits(struct sweep_progress *t, long j);
/* Could job j end in time if it started in so many seconds, as far as one knows? Nothing is started. */
int deadline_has_time(struct sweep_progress *t, long j, double seconds);
/* Nothing that was left fitted, and nothing has changed since. */
int deadline_is_stuck(const struct sweep_progress *t);
/* 0: go on; a signal, or DEADLINE_TIME_UP, also when nothing runs and nothing fits. With a drain: SIGINT when
 * nothing runs any more (busy 0) or its time is over. */
int deadline_poll(struct sweep_progress *t, int busy);
int deadline_is_draining(const struct sweep_progress *t);

/* Seconds that the job takes alone that is over first, of those that are left; INFINITY: not known. */
double deadline_shortest(const struct sweep_progress *t, double *tokens);
/* Of a stop: completions that were under way begin anew. Says how many tokens that costs, and of a run of
 * which nothing was saved, what would help. */
void deadline_log_lost(const struct sweep_progress *t);
void deadline_release(struct deadline *s);

#endif
