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
    struct likelihood likelihood;
    struct kv_curve curve;
    char *text, *error; /* error: NULL unless it ended with one */
    size_t n_text;
};

/* Opens the embedded model on the backend that KVEVAL_TEST_BACKEND names, by default the CPU. A failure ends
 * the test. */
struct engine *decode_open(const struct engine_options *o);
/* 1 when that backend rounds what feeds linear layers to bf16. */
int decode_rounds(void);
/* Binds the policy "name:key=value,...". A failure ends the test. */
struct policy *decode_policy(struct engine *en, const char *text);
/* Submits the items, in the given order unless that is NULL, and decodes until all are done. */
void decode_all(struct engine *en, struct item *items, int n, const int *order);
void items_release(struct item *items, int n);
/* 1 when the tokens are equal, and bit for bit the log-probabilities and gaps if both have them. A gap is the
 * largest logit minus the second largest; it shows more, since a confident model's log-probabilities are all
 * 0.
 */
int items_equal(const struct item *a, const struct item *b);

/* The first prompts of a problems file, at most `max` of them, with the begin-of-sentence token. */
struct prompts {
    struct token_list ids[64];
    char *gold[64];
    int n;
};
void prompts_load(struct prompts *p, struct engine *en, const char *path, int max);
void prompts_release(struct prompts *p);

#endif
