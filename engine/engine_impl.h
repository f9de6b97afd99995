#ifndef ENGINE_ENGINE_IMPL_H
#define ENGINE_ENGINE_IMPL_H

/* Shared by the sources in this folder. Nobody else includes it, except tests that look inside an engine.
 * int functions with a struct err return 0, or ERR_DEVICE when the device fails, unless said otherwise; void
 * functions leave the error in e->code. Functions without a struct err cannot fail. */
#include "engine/engine.h"
#include "engine/likelihood.h"
#include "engine/memory/kvcache.h"
#include "engine/model/model.h"
#include "engine/transformer.h"

enum { MAX_BATCH = 512, MAX_GRAPHS = 64, N_PROMPTS = ENGINE_SHARED_PROMPTS };
/* Positions of a prompt that run at once: a multiple of CHUNK_UNIT, at most CHUNK_MAX, the largest number of
 * rows of a linear layer for which tests compare the bits of the backends. */
enum { CHUNK_UNIT = PREFILL_TILE, CHUNK_MAX = 2048 };
/* Of layers with windows a shared prompt keeps what queries of its last so many tokens read: a policy that
 * looks at the end of the prompt prefills that again. */
enum { SHARED_TAIL = 2 * PREFILL_TILE };
enum { SPARE_PAGES = 1 }; /* pages beyond those in use that each head of a dropping sequence has blocks for */

/* A submitted request and, once admitted, its sequence. */
struct sequence {
    struct request req; /* with its own copies of prompt, stop, forced */
    int32_t *prompt, *forced;
    char **stop;
    int seq;      /* sequence index in the cache; -1 while waiting */
    int32_t *ids; /* tokens so far, the end token included while it is last */
    int n_ids;
    int limit;       /* completion tokens at most; all of them when forced */
    int capacity;    /* tokens, prompt included, that its KV blocks hold even if nothing is dropped */
    struct str text; /* decoded so far */
    float *logprobs, *gaps, *top_logprobs;
    int32_t *tops;
    int n_logprobs;
    int32_t end_token; /* that ended it */
    int has_bad_score; /* a scored token of the prompt has logits that are not finite */
    int done;
    enum finish_reason finish;
    size_t text_end; /* before a stop string */
    int preempted;
    int is_cancelled; /* ends with its next token (engine_cancel) */
    /* A request with a reference is two sequences that stay side by side: the reference's first, and the
     * request's own behind it (batch.c). */
    struct sequence *pair;
    int is_reference;
    float *first_logits;    /* of a reference: host copy of the logits of its first token (vocab) */
    struct divergence next; /* divergence at the token that is taken next */
    struct likelihood likelihood;
    double start, seconds;
    int64_t reads_full; /* per KV head, summed over layers */
    struct kv_counts kv;
    struct kv_curve curve;
    size_t curve_cap;
    char *error;
};

/* A shared prompt: its dense prefill is kept for the next sequence with the same ids. */
struct prompt_entry {
    int seq;
    int32_t *ids;
    int n;         /* 0: free entry */
    uint64_t used; /* clock of the last use */
    float *logits; /* device (vocab) */
};

struct cached_graph {
    struct op_graph *graph;     /* NULL: not captured yet */
    struct policy_group *group; /* (n_groups) */
    int n_groups, steps;        /* steps: run before it is captured */
    uint64_t used;
};

/* The batch as the device has it. Its rows stay the same while no sequence joins or ends. A step is in flight
 * when it was begun and its tokens are not yet taken: at most one is between calls of engine_step(), and two
 * while the older one is waited for (loop.c). */
struct batch {
    struct policy_group group[MAX_BATCH]; /* each has a sequence of the batch */
    int n_groups, n_rows;
    struct sequence **row;        /* (max_rows), NULL: padding, or a sequence that has ended */
    struct sample_result *result; /* (max_rows) */
    unsigned begun, taken;        /* steps, counted */
    int changed;                  /* a sequence has ended: the rows must be laid out anew */
};

struct watch {
    seen_fn *fn; /* NULL: none */
    void *context;
    int every;
    int32_t *idx; /* host copies of lists */
    size_t cap;
    struct err *e;
};

struct engine {
    struct engine_options options;
    struct engine_info info;
    char *model_name, *device_name, *numerics;
    char configuration[65];
    const struct backend *be;
    struct device *dev;
    struct model model;
    struct kvcache cache;
    struct transformer tf;
    struct tokenizer *tokenizer;
    struct chat_own chat;
    struct policy **policies;
    int n_policies;
    size_t cap_policies;
    struct prompt_entry prompts[N_PROMPTS];
    struct cached_graph graphs[MAX_GRAPHS];
    int n_graphs;
    uint64_t clock;
    struct sequence **waiting; /* queue, first in first out; preempted sequences go to the front */
    int n_waiting;
    size_t cap_waiting;
    struct sequence **active; /* in order of admission */
    int n_active;
    int hold; /* pages ran out: admit nobody until a sequence has finished */
    struct batch batch;
    struct watch watch;
    struct err failed;          /* of the device; every later engine_step() returns it */
    struct sequence **finished; /* in this step; freed at the next one */
    int n_finished;
    struct completion *out;
    struct engine_stats stats;
};

/* engine_describe.c: facts from configuration and options.
 * engine_check_options() fills in the defaults of max_batch and max_context, and returns ERR_USAGE if these
 * or prefill_chunk are out of range. engine_config_info() returns the shape and the end tokens, borrows
 * `model` and leaves the other fields 0. engine_kv_type() returns the type of K and V that the options ask
 * for or the backend has by default. engine_token_bytes() returns the bytes of K and V of one token, all
 * layers and KV heads. */
int engine_check_options(struct engine_options *o, const struct model_config *c, struct err *e);
struct engine_info engine_config_info(const char *model, const struct model_config *c);
enum dtype engine_kv_type(const struct engine_options *o);
size_t engine_token_bytes(const struct model_config *c, enum dtype kv);
/* engine_identity.c: writes engine_info.configuration; t may be NULL. */
void engine_hash_configuration(const struct model_config *c, const struct tokenizer *t, char out[65]);
/* engine.c: gives an engine whose device and model are open its cache and its buffers. ERR_DEVICE: no memory;
 * the caller closes the engine. */
int engine_assemble(struct engine *en, struct err *e);

/* loop.c: uploads sequence index, position and last token of the n rows of the next step; NULL is a row of
 * padding. */
int rows_upload(struct engine *en, struct sequence *const *row, int n, struct err *e);

/* prompt_cache.c: gives the sequence K and V of its prompt and samples the first token, from a shared prefill
 * if that is allowed. *logits: what the token was drawn from (device, vocab), valid until the next prefill.
 * Returns KVCACHE_FULL when KV blocks are short even with all shared prompts evicted; the sequence may then
 * hold blocks, which the caller frees. */
int prompt_admit(struct engine *en, struct sequence *s, const float **logits, struct err *e);
/* Evicts the least recently used shared prompt. Returns 1, or 0 if there is none. */
int prompt_evict_one(struct engine *en, struct err *e);
/* Evicts all of them. */
void prompt_cache_clear(struct engine *en, struct err *e);

/* sequence.c: curve_is_due() is 1 if the sequence's curve gets its next point when its completion has n_ids
 * tokens, those of the prompt not counted; the points before have been noted. It is always 0 without curves.
 * curve_note() adds the point, curve_end() fills in the rest and sets *sums for the totals, curve_clear()
 * removes the points, curve_release() frees them. */
int curve_is_due(const struct sequence *s, int n_ids);
int curve_note(const struct engine *en, struct sequence *s, struct err *e);
int curve_end(const struct engine *en, struct sequence *s, struct kvcache_sums *sums, struct err *e);
void curve_clear(struct sequence *s);
void curve_release(struct sequence *s);

/* sequence.c. sequence_drops(): 1 if its policy forgets tokens. */
int sequence_drops(const struct sequence *s);
/* Appends one sampled token, and sets done when the sequence ends with it: by an end token, which is not
 * appended, a stop string or its length, or with FINISHED_ERROR and `error` when logits, probability or
 * divergence are not finite. */
void sequence_take(struct engine *en, struct sequence *s, const struct sample_result *r);
/* Takes the results of the prompt's last n tokens, which are scored in the prompt's pass, in the place of
 * earlier ones; after one that is not finite sequence_take() ends the sequence with an error. */
void sequence_scored(struct sequence *s, const struct sample_result *r, int n);
/* sequence_settings() sets *out to the sampling settings for token n_ids + 1 of the completion;
 * sequence_settings_change() returns 1 if they may differ from those of the token before. They do not depend
 * on the tokens drawn. */
void sequence_settings(const struct engine *en, const struct sequence *s, int n_ids,
                       struct sample_settings *out);
/* Uploads them for an admitted sequence. No step may be in flight. */
int sequence_upload_settings(struct engine *en, const struct sequence *s, int n_ids, struct err *e);
int sequence_settings_change(const struct sequence *s, int n_ids);
/* 1 if the host must see the next token before the step after it is sent: it may end the sequence by length
 * or stop string, which the device cannot see, or the curve gets a point after it. */
int sequence_must_be_seen(const struct sequence *s);
/* Gives the KV blocks and the sequence index back; s->seq becomes -1, after an error too. */
int sequence_free_blocks(struct engine *en, struct sequence *s, struct err *e);
/* Reads the counters of a sequence that is done into kv and curve, and frees its blocks. */
int sequence_finish(struct engine *en, struct sequence *s, struct err *e);
/* Forgets the completion, so that a preempted sequence starts again from its prompt, and counts that; the
 * blocks are not touched. */
void sequence_restart(struct sequence *s);
/* Frees a sequence and its copies, but not its blocks. NULL is allowed. */
void sequence_release(struct sequence *s);
/* Sets *out to the completion, which borrows from s. */
void sequence_completion(const struct sequence *s, struct completion *out);

/* pairs.c: a sequence and its reference. */
/* Sets the divergence at the first token from its logits (device, vocab). Call it before the first token of
 * either is taken; first for the reference. Without a pair the divergence is 0. */
int pair_first_token(struct engine *en, struct sequence *s, const float *logits, struct err *e);
/* Compares the distributions of all pairs in the batch; call it before the tokens of a step are taken. */
int pairs_compare(struct engine *en, struct err *e);
/* Ends the other of a pair when one has ended; call it after the tokens are taken. */
void pairs_end(struct engine *en);
/* 1: the next step must not be sent before this one's logits are read. */
int pairs_are_active(const struct engine *en);

/* watch.c */
/* Returns 1 if the step that is about to be sent is to be watched. */
int watch_is_due(const struct engine *en);
/* In the place of graphs_run() when watch_is_due() returned 1 and no step is in flight: runs the step without
 * a graph and calls the watcher. The caller downloads and counts the step as after graphs_run(). */
void watch_step(struct engine *en, struct err *e);

/* batch.c. No step may be in flight, except for batch_reserve_ahead and batch_collect. */
/* Returns 1 if a request waits, the batch has room for it (and its reference) and KV blocks are not known to
 * be short (hold); else 0. */
int batch_may_admit(const struct engine *en);
/* Admits waiting requests while batch_may_admit() is 1 and samples their first tokens; a sequence that ends
 * with it goes to en->finished. Where KV blocks run out it sets en->hold and returns 0. An error is the
 * device's. */
int batch_admit(struct engine *en, struct err *e);
/* Gives every active sequence KV blocks for its next token. When they run out, evicts shared prompts and then
 * preempts the youngest sequences. */
int batch_reserve_blocks(struct engine *en, struct err *e);
/* The same for the token after the one in flight, from free blocks alone: returns 1, or 0 if they do not
 * suffice, or if a sequence that drops tokens has filled the blocks it has. */
int batch_reserve_ahead(struct engine *en, struct err *e);
/* Moves the sequences that are done from the batch to en->finished, and frees references that are. Clears
 * en->hold if there was one. */
int batch_collect(struct engine *en, struct err *e);

/* graphs.c: captured decode steps */
/* Returns the rows of a policy group of n sequences, padding included. */
int graphs_bucket(int n);
/* Enqueues a step of the batch: replays its graph if the shape came often enough to be captured. */
int graphs_run(struct engine *en, struct err *e);
/* Frees all graphs. */
void graphs_clear(struct engine *en);

#endif
