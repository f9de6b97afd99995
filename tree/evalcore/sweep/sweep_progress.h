#ifndef EVALCORE_SWEEP_SWEEP_PROGRESS_H
#define EVALCORE_SWEEP_SWEEP_PROGRESS_H

#include "evalcore/status/board.h"
#include "evalcore/store/journal.h"
#include "evalcore/sweep/decoder.h"
#include "evalcore/sweep/forecast.h"

/* What a sweep keeps of its completions, whoever decoded them: a journal record each, and the sums behind the
 * figures that a board shows (evalcore/status/board.h). */
struct sweep_progress {
    const struct runplan *plan;
    struct journal *journal;
    struct board *board; /* board->now: what was done earlier is filled in by whoever began it */
    long finished;       /* completions journalled */
    double tokens;       /* in these */
    double decoded;      /* in all, as far as the decoder has told */
    struct forecast forecast;
    struct decoder_figures figures; /* as of the last sweep_progress_show() */
    /* by model: */
    struct decoder_sums last[RUNFILE_MODELS_MAX]; /* at the last sample */
    double sampled[RUNFILE_MODELS_MAX];           /* when that was */
    double last_prompts[RUNFILE_MODELS_MAX];      /* tokens of the prompts that had been started then */
    double looked[RUNFILE_MODELS_MAX];            /* when sweep_progress_show() was called last */
    double device_seconds[RUNFILE_MODELS_MAX];    /* of devices that decoded since the last sample */
    double left, left_at, left_due; /* seconds of the last estimate, when it was made, when the next may be */
};

/* Fills *t for the plan's jobs as they are now, with a forecast of each. All pointers are borrowed; journal
 * NULL: all jobs are replays. */
void sweep_progress_init(struct sweep_progress *t, const struct runplan *p, struct journal *journal,
                         struct board *board);
/* Journals a completion of job j, an index into plan.jobs, then counts it. Returns 0; or an error of
 * journal_add() (ERR_IO, ERR_DISK, ERR_FORMAT), and it is not counted. Completions added so far survive a
 * power cut after journal_sync(). */
int sweep_progress_add(struct sweep_progress *t, long j, const struct decoded_job *d, struct err *e);
/* Journals that the completion of job j, which this sweep wrote, does not count, and no longer counts it: it
 * decodes again. has_failed: it is an error. Returns as sweep_progress_add() does. */
int sweep_progress_withdraw(struct sweep_progress *t, long j, int has_failed, const char *why,
                            const char *device, struct err *e);
/* Asks d how far it is and keeps the board up to date; cheap to call after each step. It cannot fail. */
void sweep_progress_show(struct sweep_progress *t, struct decoder *d);
/* Frees what t owns; it may be zeroed or released already. The counts stay. */
void sweep_progress_release(struct sweep_progress *t);

#endif
