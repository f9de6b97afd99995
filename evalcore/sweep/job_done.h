#ifndef EVALCORE_SWEEP_JOB_DONE_H
#define EVALCORE_SWEEP_JOB_DONE_H

#include "evalcore/cli/progress.h"
#include "evalcore/plan/runplan.h"
#include "evalcore/store/journal.h"

/* What a sweep keeps of its completions, whoever decoded them: a journal record each, and the sums behind the
 * status line. */
struct tally {
    const struct runplan *plan;
    struct journal *journal;
    struct progress *progress;
    long finished;         /* completions journalled */
    double tokens;         /* in these */
    struct tally_set *set; /* (plan->n_sets) */
};

void tally_init(struct tally *t, const struct runplan *p, struct journal *journal, struct progress *progress);
/* Journals a completion of job j, then counts it. device: who decoded it, for people. Completions added so
 * far survive a power cut after journal_sync(). */
int tally_add(struct tally *t, const struct job *j, const struct completion *done, const char *device,
              struct err *e);
/* The status line; decoded: tokens of all engines so far, running completions included. */
void tally_show(const struct tally *t, double decoded);
void tally_release(struct tally *t);

#endif
