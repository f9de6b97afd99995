#ifndef EVALCORE_SWEEP_JOB_DONE_H
#define EVALCORE_SWEEP_JOB_DONE_H

#include "evalcore/sweep/eta.h"
#include "evalcore/plan/runplan.h"
#include "evalcore/status/board.h"
#include "evalcore/store/journal.h"

/* The room of sweeps: it chooses the jobs that start, gives them to whoever decodes them, and writes what
 * comes out into the journal. Commands, workers and the gate come in by this door, by deadline.h and
 * job_queue.h (which job is next), job_submit.h (to an engine), sweep_endpoint.h (to a server), and
 * sweep_options.h and worker_cores.h (what they are told).
 *
 * What a sweep keeps of its completions, whoever decoded them: a journal record each, and the sums behind the
 * figures that a board shows (evalcore/status/board.h). */
struct running_job {
    long job; /* index into plan.jobs */
    int tokens;
};
/* What all devices have done since the start, and what they are decoding. */
struct devices_now {
    double tokens, steps, decode_seconds, prompt_seconds;
    int devices;                        /* that decode, or load and will; 0: none now */
    int loading;                        /* of these */
    int places;                         /* sequences that they decode together, as far as memory goes */
    const struct status_worker *worker; /* (n_workers): each device, also one that is lost */
    int n_workers;
    const struct running_job *running;
    int n;
};

struct deadline; /* deadline.h */

struct sweep_progress {
    const struct runplan *plan;
    struct journal *journal;
    struct deadline *deadline; /* set by the caller, for the functions of deadline.h */
    struct board *board;       /* board->now: what was done earlier is filled in by whoever began it */
    long finished;             /* completions journalled */
    double tokens;             /* in these */
    double decoded;            /* in all, as far as sweep_progress_show() was told */
    struct eta_job *job;       /* (plan->n_jobs) */
    struct eta_run eta;
    struct devices_now last; /* at the last sample, its lists aside */
    double last_clock, last_prompts;
    double looked,
        device_seconds; /* when sweep_progress_show() was called last; of devices at work since last_clock */
    double left, left_at, left_due; /* seconds of the last estimate, when it was made, when the next may be */
    double weight;                  /* of a part: what it has to read for a step, relative to the others */
};

void sweep_progress_init(struct sweep_progress *t, const struct runplan *p, struct journal *journal,
                         struct board *board);
/* Journals a completion of job j, then counts it. device: who decoded it, for people. Completions added so
 * far survive a power cut after journal_sync(). */
int sweep_progress_add(struct sweep_progress *t, const struct job *j, const struct completion *done,
                       const char *device, struct err *e);
/* The same; the fields of `more` (NULL: none) take the place of the completion's in the record. */
int sweep_progress_add_with(struct sweep_progress *t, const struct job *j, const struct completion *done,
                            json_t *more, const char *device, struct err *e);
/* Journals that the completion of job j, which this sweep wrote, does not count, and no longer counts it: it
 * decodes again. has_failed: it is an error. */
int sweep_progress_withdraw(struct sweep_progress *t, struct job *j, int has_failed, const char *why,
                            const char *device, struct err *e);
/* Keeps the board up to date; cheap to call after each step. */
void sweep_progress_show(struct sweep_progress *t, const struct devices_now *now);
/* The jobs of one model of several, plan.jobs[first .. end-1], with figures and a speed of their own. The
 * jobs' array stays t's, and so must journal and board. */
void sweep_progress_part(struct sweep_progress *part, const struct sweep_progress *t, long first, long end,
                         double weight);
/* The speed of part i. Before it was seen its steps take as long as those of one that was, by the size of
 * their weights: decoding mostly reads these. */
struct eta_speed sweep_progress_part_speed(struct sweep_progress *const *part, int n, int i);
/* The same as sweep_progress_show() for n parts: now is of each by itself, `all` of all devices. */
void sweep_progress_show_parts(struct sweep_progress *t, struct sweep_progress *const *part,
                               const struct devices_now *now, int n, const struct devices_now *all);
void sweep_progress_release(struct sweep_progress *t);

#endif
