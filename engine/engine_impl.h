#ifndef ENGINE_ENGINE_IMPL_H
#define ENGINE_ENGINE_IMPL_H

/* What the sources in this folder share. Nobody else includes it, except tests that look inside an engine. */
#include "engine/engine.h"
#include "engine/likelihood.h"
#include "engine/memory/kvcache.h"
#include "engine/model/model.h"
#include "engine/transformer.h"

enum { MAX_BATCH = 512, MAX_POLICIES = 256, MAX_PROGRAMS = 64, N_PROMPTS = ENGINE_SHARED_PROMPTS };
/* How many positions of a prompt may run at once. MOST_CHUNK is the largest number of rows of a linear layer
 * for which tests compare the bits of the backends. */
enum { CHUNK_UNIT = PREFILL_TILE, MOST_CHUNK = 2048 };
enum { SPARE_PAGES = 1 }; /* that a head of a sequence that drops has mapped beyond those in use */

/* A submitted request and, once admitted, its sequence. */
struct sequence {
    struct request req; /* with its own copies of prompt, stop, forced */
    int32_t *prompt, *forced;
    char **stop;
    int place;    /* in the cache; -1 while waiting */
    int32_t *ids; /* tokens so far, the end token included while it is last */
    int n_ids;
    int limit;       /* completion tokens at most; all of them when forced */
    int room;        /* tokens, prompt included, that the place has units for even if nothing is dropped */
    struct str text; /* decoded so far */
    float *logprobs, *gaps;
    int32_t *tops;
    int n_logprobs;
    int done;
    enum finish_reason finish;
    size_t text_end; /* before a stop string */
    int preempted;
    /* A request with a reference is two sequences that stay side by side: the reference's first, and the
     * request's own behind it (batch.c). */
    struct sequence *pair;
    int is_reference;
    float *first_logits;    /* of a reference: host copy of what its first token was drawn from (vocab) */
    struct divergence next; /* at the token that is about to be taken */
    struct likelihood likelihood;
    double start, seconds;
    int64_t reads_full; /* per layer and KV head */
    struct kv_counts kv;
    struct kv_curve curve;
    size_t curve_cap;
    char *error;
};

/* A prompt whose dense prefill is kept for the next sequence with the same ids. */
struct prompt_entry {
    int place;
    int32_t *ids;
    int n;         /* 0: free entry */
    uint64_t used; /* clock of the last use */
    float *logits; /* device (vocab) */
};

struct cached_program {
    struct op_graph *program; /* NULL: not recorded yet */
    struct step_group *group; /* (n_groups) */
    int n_groups, steps;      /* steps: run before it is recorded */
    uint64_t used;
};

/* The batch as the device has it. Its rows stay the same while no sequence joins or ends. A step is in flight
 * when it was begun and its tokens are not yet taken: at most one is between calls of engine_step(), and two
 * while the older one is waited for (loop.c). */
struct batch {
    struct step_group group[MAX_POLICIES]; /* one per instance at most */
    int n_groups, n_rows;
    struct sequence **row;        /* (max_rows), NULL: padding, or a sequence that has ended */
    struct sample_result *result; /* (max_rows) */
    unsigned begun, taken;        /* steps, counted */
    int changed;                  /* a sequence has ended: the rows must be laid out anew */
};

struct watch {
    seen_fn *fn; /* NULL: nobody looks */
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
    const struct backend *be;
    struct device *dev;
    struct model model;
    struct kvcache cache;
    struct transformer tf;
    struct tokenizer *tokenizer;
    struct chat_own chat;
    struct policy *policies[MAX_POLICIES];
    int n_policies;
    struct prompt_entry prompts[N_PROMPTS];
    struct cached_program programs[MAX_PROGRAMS];
    int n_programs;
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

/* engine_describe.c: what follows from configuration and options. engine_check_options() fills in defaults.
 */
int engine_check_options(struct engine_options *o, const struct model_config *c, struct err *e);
struct engine_info engine_config_info(const char *model, const struct model_config *c);
enum dtype engine_kv_type(const struct engine_options *o);
size_t engine_token_bytes(const struct model_config *c, enum dtype kv);
/* engine.c: gives an engine whose device and model are open its cache and its buffers. */
int engine_assemble(struct engine *en, struct err *e);
/* reserve.c: the fields of engine_memory that depend on the cache. */
void engine_pool_needs(const struct engine *en, struct engine_memory *out);

/* loop.c: uploads the n rows of the next step; NULL is a row of padding. */
int rows_upload(struct engine *en, struct sequence *const *row, int n, struct err *e);

/* prompt_cache.c: gives the sequence's place K and V of its prompt and samples the first token, from a shared
 * prefill where that is allowed. *logits: what it was drawn from (device, vocab), until the next prefill.
 * KVCACHE_FULL when units are short. */
int prompt_admit(struct engine *en, struct sequence *s, const float **logits, struct err *e);
int prompt_evict_one(struct engine *en, struct err *e); /* 1: evicted, 0: none to evict */
void prompt_cache_clear(struct engine *en, struct err *e);

/* curve.c: is a point of the sequence's curve due when its completion has n_ids tokens? curve_note() adds it,
 * curve_end() fills in the rest and gives the sums for the totals. curve_clear(): it starts again. */
int curve_is_due(const struct sequence *s, int n_ids);
int curve_note(const struct engine *en, struct sequence *s, struct err *e);
int curve_end(const struct engine *en, struct sequence *s, struct kvcache_sums *sums, struct err *e);
void curve_clear(struct sequence *s);
void curve_release(struct sequence *s);

/* sequence.c: does its policy forget tokens? */
int sequence_drops(const struct sequence *s);
/* Appends one sampled token, and sets done when the sequence ends with it. */
void sequence_take(struct engine *en, struct sequence *s, const struct sample_result *r);
/* Settings for the token after n_ids of the completion, and whether they differ from those of the one before.
 * They do not depend on what was drawn. */
void sequence_settings(const struct engine *en, const struct sequence *s, int n_ids,
                       struct sample_settings *out);
int sequence_settings_change(const struct sequence *s, int n_ids);
/* Could the next token end it by length or stop string, which the device cannot see, or are its reads noted
 * after it? */
int sequence_must_be_seen(const struct sequence *s);
int sequence_finish(struct engine *en, struct sequence *s,
                    struct err *e); /* reads the counters, frees the place */
void sequence_restart(struct sequence *s);
void sequence_release(struct sequence *s);
void sequence_completion(const struct sequence *s, struct completion *out);

/* pairs.c: what a sequence and its reference have to do with each other. */
/* Before the first token of either is taken; the reference's comes first. */
int pair_first_token(struct engine *en, struct sequence *s, const float *logits, struct err *e);
/* Before the tokens of a step are taken: compares the distributions of all pairs in the batch. */
int pairs_compare(struct engine *en, struct err *e);
void pairs_end(
    struct engine *en); /* after the tokens are taken: when one of the two has ended, so has the other */
/* Then the next step must not be sent before this one's logits are read. */
int pairs_are_active(const struct engine *en);

/* watch.c */
int watch_is_due(const struct engine *en);         /* for the step that is about to be sent */
void watch_step(struct engine *en, struct err *e); /* runs it, and calls the watcher */

/* batch.c. No step may be in flight, except for batch_room_ahead and batch_collect. */
int release_place(struct engine *en, struct sequence *s, struct err *e);
int batch_settings(struct engine *en, const struct sequence *s, int n_ids, struct err *e);
int batch_may_admit(const struct engine *en); /* a request waits, and nothing is known to stand in the way */
int batch_admit(struct engine *en, struct err *e);
/* Gives every active sequence units for its next token. When they run out, shared prompts are evicted, and
 * then the youngest sequences preempted. */
int batch_make_room(struct engine *en, struct err *e);
/* The same for the token after the one in flight, from free units alone: 1, or 0 when they do not suffice. */
int batch_room_ahead(struct engine *en, struct err *e);
/* Moves the sequences that have ended from the batch to en->finished. */
int batch_collect(struct engine *en, struct err *e);

/* programs.c */
int programs_bucket(int n); /* rows that a group of n sequences takes, padding included */
/* Runs a step of the batch: replays it, if its shape was there often enough to be recorded. */
int programs_run(struct engine *en, struct err *e);
void programs_clear(struct engine *en);

#endif
