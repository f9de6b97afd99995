#ifndef TESTS_DECODE_H
#define TESTS_DECODE_H

#include "engine/engine.h"

/* Test helper: decodes a list of requests and keeps every completion. */
struct item {
    struct request req; /* user is set by decode_all */
    int32_t *ids;
    int n_ids;
    enum finish_reason finish;
    struct kv_counts kv;
    float *logprobs, *gaps;
    int n_logprobs, preempted;
    char *text, *error; /* error: NULL unless it ended with one */
    size_t n_text;
};

/* Opens the embedded model; a failure ends the test. */
/* On the backend that KVEVAL_TEST_BACKEND names; the CPU's without it. */
struct engine *decode_open(const struct engine_options *o);
/* Does that backend round what feeds linear layers to bf16? */
int decode_rounds(void);
/* Binds "name:key=value,..."; a failure ends the test. */
struct policy *decode_policy(struct engine *en, const char *text);
/* Submits items in the given order (NULL: as they stand) and runs until all are done. */
void decode_all(struct engine *en, struct item *items, int n, const int *order);
void items_release(struct item *items, int n);
/* 1 when tokens and, if both have them, log-probabilities and gaps are equal bit for bit. The gaps (largest
 * minus second largest logit) tell more: a confident model's log-probabilities are all 0. */
int items_equal(const struct item *a, const struct item *b);

/* Prompts of a problems file (begin-of-sentence + rendered), up to max of them. */
struct prompts {
    struct token_list ids[64];
    char *gold[64];
    int n;
};
void prompts_load(struct prompts *p, struct engine *en, const char *path, int max);
void prompts_release(struct prompts *p);

#endif
