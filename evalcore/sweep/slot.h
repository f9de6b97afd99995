#ifndef EVALCORE_SWEEP_SLOT_H
#define EVALCORE_SWEEP_SLOT_H

#include "evalcore/cli/stopper.h"
#include "evalcore/sweep/job_done.h"
#include "evalcore/sweep/job_queue.h"

/* A door of the room of sweeps (job_done.h): the time that a sweep has (--time-limit, or the end of its
 * Slurm job), and why it ends early. Without a limit jobs start in the plan's order, as many as there is room
 * for. With one, a job starts only when it can be expected to end in time and does not keep one from it that
 * runs already: its length is the one that three of four such completions do not exceed (eta.h), its speed
 * that of the steps so far, with one sequence more. From the moment when the longest job left does not fit,
 * the shortest start first. To learn the speed, one of the shortest starts alone.
 *
 * Only the order of jobs depends on this, and no completion depends on the order. */
struct slot {
    /* set by slot_init() and slot_limit() */
    struct stopper *stopper;
    double started; /* progress_clock() when the process began */
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
enum { SLOT_TIME_UP = -1 };

void slot_init(struct slot *s, struct stopper *stopper);
/* "3h", "90m", "1h30m", "3600" (seconds), "2d" of an option, "--time-limit"; ERR_USAGE. */
int slot_duration(const char *option, const char *text, double *seconds, struct err *e);
/* --time-limit (NULL: none), or where Slurm ends the job (seconds since 1970; 0: not known), and says so. */
int slot_limit(struct slot *s, const char *time_limit, long slurm_end, struct err *e);
/* Decoding begins; reading the folder took `seconds`, which tells how long the report will take. */
void slot_begin(struct slot *s, double seconds);
/* What is kept of so many seconds for what comes after decoding. */
double slot_reserve(const struct slot *s, double seconds);
int slot_is_limited(const struct slot *s); /* s may be NULL here and below: no limit */

/* Jobs of another engine come: what did not fit before may do now. */
void slot_turn(struct tally *t);
/* Which of plan.jobs[next .. end-1] may start now: next, end - 1, or -1: none. has_room: without a limit,
 * whether another may; busy: jobs that are under way or wait; max_batch: so many go at once. */
long slot_pick(struct tally *t, long next, long end, int has_room, int busy, int max_batch);
/* The same for a worker, which has room for it; `busy` jobs are with the workers. */
long slot_take(struct tally *t, struct job_queue *q, int worker, int busy);
/* May job j start now, which is in no queue? */
int slot_fits(struct tally *t, long j);
/* Could job j end in time if it started in so many seconds, as far as one knows? Nothing is started. */
int slot_has_time(struct tally *t, long j, double seconds);
/* Nothing that was left fitted, and nothing has changed since. */
int slot_is_stuck(const struct tally *t);
/* 0: go on; a signal, or SLOT_TIME_UP, also when nothing runs and nothing fits. With a drain: SIGINT when
 * nothing runs any more (busy 0) or its time is over. */
int slot_poll(struct tally *t, int busy);
int slot_is_draining(const struct tally *t);

/* Seconds that the job takes alone that is over first, of those that are left; INFINITY: not known. */
double slot_shortest(const struct tally *t, double *tokens);
/* Of a stop: completions that were under way begin anew. Says how many tokens that costs, and of a run of
 * which nothing was saved, what would help. */
void slot_tell_lost(const struct tally *t);
void slot_release(struct slot *s);

#endif
