#ifndef EVALCORE_SWEEP_OPTION_JOBS_H
#define EVALCORE_SWEEP_OPTION_JOBS_H

#include "evalcore/plan/runplan.h"

/* Jobs that score the options of a problem: a request for each option, whose completions become one. The
 * requests share the prefill of a context that their options have in common (prompt_cache.c).
 *
 * In steps (SCORED_STEPS) the last token of the context is decoded, too, so that all of an option's tokens
 * are predicted by decode steps, the first one as well; a context of one token alone is prefilled. As a block
 * (SCORED_BLOCK) only the option's last token is left behind the prompt's pass, and nothing is decoded. */
struct option_part { /* of one option */
    struct kv_counts kv;
    struct option_score score;
    int first; /* the place of its first token among those of all options */
    int step;  /* number of its first decode step, counting those of the options before it */
    int n_forced;
    double seconds;
    int preempted;
    char *error; /* NULL: none */
};
struct option_job {
    long job;
    int n, n_left; /* options, and those that have no completion yet */
    struct option_part part[ENGINE_OPTIONS_MAX];
    int32_t *ids; /* the tokens of all options, one after the other */
    int n_ids;
    /* Of a replay (n_ids), as in struct completion; else NULL. */
    float *logprobs, *gaps;
    int32_t *tops;
};

/* Fills *out, a request but for its user, for an option of the job's problem. *buffer, of *cap numbers, gets
 * the tokens and lives until the request is submitted. */
void option_request(struct request *out, const struct runplan *p, const struct job *j, int option,
                    int32_t **buffer, size_t *cap);
/* A new job of which no option is done; option_job_free() frees it. */
struct option_job *option_job_new(const struct runplan *p, long job);
/* Takes an option's completion. Returns 1 when it was the last one and sets *out to the completion of the
 * job, which borrows from o: the options' scores, their tokens, those of a replay with their
 * log-probabilities, no text; counts of reads and steps added up, what was held at most; FINISHED_STOP, or
 * FINISHED_ERROR with the sentence of the first option that failed. Else 0. */
int option_job_take(struct option_job *o, int option, const struct completion *c, struct completion *out);
/* Frees o; NULL is allowed. */
void option_job_free(struct option_job *o);

#endif
