#ifndef EVALCORE_SWEEP_REPLAY_H
#define EVALCORE_SWEEP_REPLAY_H

#include "engine/engine.h"

/* A replay decodes given tokens again under a policy, and keeps what layers read on the way. That of a task
 * whose options are scored is its job once more: the tokens are those of all options, one after the other,
 * and each option's steps count on from those of the one before it. */
struct replay_tokens { /* what struct job.replay points to */
    const int32_t *ids;
    int n;
    int every;   /* reads are watched in every step whose number is a multiple of it */
    int more;    /* tokens that a server, which needs one, generates behind the last of `ids` but one */
    int is_bare; /* a server gets them without their prompt and scores none */
};

/* What a layer read in a step. */
struct replay_seen {
    int step, layer;
    char digest[9]; /* of the lists, hex */
    char *sets;     /* in the last step that is kept: a hex bit set of each list, "all" for everything; else
                     * NULL */
};
struct decoder_replay { /* what came out beside the completion's log-probabilities, gaps and likeliest tokens
                         */
    struct replay_seen *seen; /* (n_seen) by step, then layer */
    int n_seen;
    size_t cap;
};

/* Steps whose number is a multiple of it are kept. */
enum { REPLAY_KEEP_EVERY = 32 };

/* Adds what engine_watch() tells of one layer of a request of n given tokens, whose first step has the number
 * `first` in the replay; a step that is not kept adds nothing. Lists are copied. */
void replay_see(struct decoder_replay *r, int n, int first, const struct seen *s);
/* Brings what was seen into the order of steps, then layers: requests of one replay may be decoded in any. */
void replay_sort(struct decoder_replay *r);
/* Frees what r owns and zeroes it; it may be zeroed already. */
void replay_release(struct decoder_replay *r);

#endif
