#ifndef EVALCORE_SWEEP_CANARY_H
#define EVALCORE_SWEEP_CANARY_H

#include <stdint.h>

#include "engine/engine.h"
#include "evalcore/cli/device_list.h"
#include "evalcore/sweep/sweep_progress.h"

/* Finished jobs, of which a worker decodes one first after its restart: with other tokens than it had the
 * worker is not believed. Tokens that a worker found itself before it died cannot tell whether it was wrong
 * then or is wrong now, so it gets another worker's job where there is one. A server's
 * are requests of its own (decoder.h, pinned), which all workers decode before anything else. */
struct canary_job {
    long job;
    int32_t *ids;                 /* (n) */
    int n;                        /* 0: there is none */
    struct option_scores options; /* of a job whose tokens are given */
    int is_doubted;               /* its worker was found to be wrong once: it is for nobody else */
};
struct canary {
    struct canary_job
        of[DEVICES_MAX]; /* by worker: of those that it finished, the shortest that says enough */
};

/* Worker i has finished job j: it becomes its canary when it is no error and better than the present one,
 * that is the shortest of at least 16 tokens, else the longest. Tokens are copied. */
void canary_keep(struct canary *k, int i, long j, const struct completion *c);
/* Returns the canary for worker i, borrowed: the best of another worker that was not found to be wrong, else
 * its own; NULL: none. *by receives who finished it, and is not touched for NULL. */
const struct canary_job *canary_for(const struct canary *k, int i, int *by);
/* Worker i was found to be wrong: its canary goes, and later ones are for itself alone. */
void canary_drop(struct canary *k, int i);
/* Returns 1 when the completion has the canary's tokens and, of options, its log-likelihoods, and is no
 * error, else 0. */
int canary_is_equal(const struct canary_job *k, const struct completion *c);
/* Frees the tokens and zeroes *k, which may be zeroed already. */
void canary_release(struct canary *k);

#endif
