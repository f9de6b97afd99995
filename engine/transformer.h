#ifndef ENGINE_TRANSFORMER_H
#define ENGINE_TRANSFORMER_H

#include "engine/memory/kvcache.h"
#include "engine/model/model.h"
#include "engine/policies/policy.h"

/* The decoder's forward pass as backend operations: a decode step for a batch, which runs at once or is
 * captured as a CUDA graph and replayed, or the prefill of one sequence, which runs at once. Read
 * transformer.c to see what a step does. */

/* Device buffers, by row. max_rows holds a prefill chunk or a batch; b_rows holds a batch: max_batch and half
 * as many again for padding. Statistics, scores and lists are allocated for the first policy that needs them
 * (transformer_policy_buffers). */
struct policy_group;
struct transformer {
    const struct model *model;
    struct kvcache *cache;
    const struct backend *be;
    struct device *dev;
    int max_rows, b_rows, max_batch, max_context;
    int chunk;                              /* positions of a prompt that run at once */
    int32_t *row_token, *row_seq, *row_pos; /* (max_rows) */
    enum dtype type;                        /* type of y, attn and act, which feed the linear layers */
    float *x, *qkv, *gate_up;               /* x: the residual stream */
    float *part; /* (max_rows, hidden): what a part adds to it, where a norm or a multiplier stands between;
                  * else NULL */
    void *y, *attn, *act;
    float *logits;         /* (b_rows, logits_stride) */
    int logits_stride;     /* vocab rounded up, so that every row begins at a multiple of 16 bytes */
    float *sample_scratch; /* (b_rows, vocab) */
    struct sample_settings *settings; /* (n_seqs) */
    struct sample_result *sampled;    /* (b_rows) */
    int32_t *prompt_len, *total_len;  /* (n_seqs) */
    int32_t *with_bounds;             /* (n_seqs): 1 for policies that need page bounds */
    int32_t *window;                  /* (n_layers): model_windows(); NULL: no layer has one */
    struct plan plan;                 /* (b_rows, n_kv, max_pages) */
    struct stats stats, page_stats;   /* (b_rows, ...), like the rest: see struct policy_ctx */
    float *score;
    int32_t *score_n, *score_m;
    struct policy_list list[2];
    int list_layers,
        lists; /* list_layers: layers that lists of tokens are allocated for; lists: lists of a row */
    /* Called when a layer's selection is known, in a step that runs at once instead of being captured; NULL:
     * not called. */
    void (*seen)(void *context, const struct policy_group *g, int layer, const struct selection *s);
    void *seen_context;
};

/* All functions below that enqueue work keep the first failure, ERR_DEVICE, in e->code and do nothing when e
 * holds an error already. */

/* Allocates the buffers on the model's device; model and cache must outlive them. Returns 0, or ERR_DEVICE
 * when there is no memory; the caller releases t in both cases. */
int transformer_init(struct transformer *t, const struct model *m, struct kvcache *c, int max_batch,
                     int max_context, int chunk, struct err *e);
/* Frees the buffers and zeroes the struct. A zeroed struct is allowed. */
void transformer_release(struct transformer *t);

/* Allocates the buffers that a policy with these needs (enum policy_needs) uses, unless they are there;
 * has_select 1: also those for scores and lists. Returns 0, or ERR_DEVICE when there is no memory. */
int transformer_policy_buffers(struct transformer *t, unsigned needs, int has_select, struct err *e);

/* A policy group: rows [row0, row0 + cap) of the batch, which share a policy. */
struct policy_group {
    const struct policy *policy;
    int row0, cap;
};

/* Enqueues one decode step over rows [0, n_rows), at once or between capture_begin and capture_end. The
 * tokens to feed are in row_token, row_seq and row_pos. The step leaves its results in `sampled` and the next
 * tokens in row_token and row_pos. */
void transformer_step(struct transformer *t, const struct policy_group *groups, int n_groups, int n_rows,
                      struct err *e);

struct prefill_scores {
    int n;
    struct sample_result *result; /* (n), host: of each token */
};

/* Runs the prompt from position `from`, a multiple of PREFILL_TILE, to before `to`. Where that is n_prompt,
 * its end, it leaves the last token's logits in `logits` (device, vocab floats); otherwise it is one of these
 * multiples too. seq must have KV blocks for the tokens before `to` and hold those before `from` that are
 * read still. With policy NULL the prefill is dense and can be shared; else the policy's prefill hooks are
 * called, prefill_end last. Of the prompt's last scores->n tokens, as far as what precedes them is run now,
 * *scores gets what a decode step that is given them says; it overwrites the sampling settings of seq. NULL:
 * no token is scored. */
enum { PREFILL_TILE = 128 };
void transformer_prefill(struct transformer *t, int seq, const int32_t *prompt, int from, int to,
                         int n_prompt, const struct policy *policy, const struct prefill_scores *scores,
                         float *logits, struct err *e);

/* Calls prefill_end only, for a sequence that was forked from a shared prompt. Does nothing for policy NULL
 * or a policy without that hook. */
void transformer_prefill_end(struct transformer *t, int seq, int n_prompt, const struct policy *policy,
                             struct err *e);

/* Enqueues the sampling of the first token of `seq` from its prompt's logits (device, vocab) into sampled[0].
 */
void transformer_first_token(struct transformer *t, int seq, int n_prompt, const float *logits,
                             struct err *e);

/* Returns the sizes that policies see. */
struct policy_dims transformer_dims(const struct transformer *t);

#endif
