#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#include "engine/policies/policy.h"
#include "engine/text/chat.h"
#include "engine/text/tokenizer.h"
#include "evalcore/base/err.h"
#include "evalcore/base/json.h"

/* The room of the engine: one loaded model on one device, which decodes many requests together, each under
 * its own policy. This is its only door and a front door: the rooms of evalcore come in here. Nothing here
 * knows of tasks, answers or run folders.
 *
 * Order of calls: engine_open(), engine_policy() once per distinct policy, engine_run() as often as wanted,
 * engine_close(). Who has to act between steps calls engine_submit() for each request and engine_step() until
 * nothing is pending instead of engine_run().
 *
 * The tokens of a completion are a function of weights, prompt, policy, sampling settings, seed, problem,
 * sample, backend and KV type. They do not depend on what else is in the batch, on the order of requests or
 * on the number of threads. Only one thread may call an engine; it starts threads of its own. */
struct engine;

enum kv_dtype { KV_DEFAULT, KV_FP32, KV_BF16 }; /* default: fp32 on the CPU, bf16 on CUDA */

struct engine_options {     /* a field that is 0 or NULL means the default */
    const char *model;      /* "pocket" (embedded) or a Hugging Face folder */
    const char *model_name; /* whose published layers policies take; NULL: found from the folder */
    const char *backend;    /* "cpu" (default) or "cuda" */
    int ordinal;            /* which device of that backend */
    int threads;            /* CPU threads; 0: all cores */
    const char *isa;        /* CPU: "scalar", "avx2", "avx512"; NULL: the best this machine has */
    enum kv_dtype kv_dtype;
    int max_batch;     /* sequences decoded together; 0: 32, on a GPU 128 */
    int max_context;   /* longest prompt + completion; 0: the model's max_position_embeddings */
    size_t pool_bytes; /* KV cache; 0: what max_batch x max_context needs, on the CPU at most 512 MiB,
                        * on a GPU what is free */
    int share_prompts; /* -1: never share prompt pages; 0: default (share); 1: share the prefill, copy its
                        * pages (for benchmarks: sequences that read memory of their own) */
    int prefill_chunk; /* positions of a prompt that are run at once, a multiple of 128 up to 2,048; 0: the
                        * backend's choice. Results do not depend on it */
    const char *cache_dir; /* where hashes of weight files are cached; NULL: nowhere */
};

/* From a name: "fp32" or "bf16"; NULL gives the default. ERR_USAGE for another. */
int engine_kv_dtype(enum kv_dtype *out, const char *name, struct err *e);
int engine_open(struct engine **out, const struct engine_options *o, struct err *e);
void engine_close(struct engine *en);

enum { ENGINE_MAX_ENDS = 7 };
enum { ENGINE_UNAPPLIED = 160 };
/* What is loaded. Strings live as long as the engine. */
struct engine_info {
    const char *model;    /* as given */
    const char *family;   /* "qwen2", "qwen3", "llama" */
    const char *weights;  /* identity: 64 hex digits */
    const char *numerics; /* numerics class, part of the job key: "cpu-fp32kv-2",
                           * "cuda-bf16kv-4-NVIDIA-H200-x132-cublaslt13.1.0" */
    const char *device;   /* for people: "cpu avx2, 2 threads" */
    int n_layers, n_q, n_kv, head_dim, hidden, vocab, max_position, max_context, max_batch;
    size_t weight_bytes, pool_bytes; /* pool: 0 before engine_reserve */
    size_t step_bytes;   /* weights that a decode step reads: all but an embedding that is not the head too */
    size_t layer_values; /* parameters of the layers' matrices; the output head has vocab x hidden more */
    size_t kv_token_bytes;         /* K and V of one token, all layers and KV heads */
    int32_t eos;                   /* the first end token; -1 when the model has none */
    int32_t ends[ENGINE_MAX_ENDS]; /* all of them */
    int n_ends;
    char unapplied[ENGINE_UNAPPLIED]; /* names of generation_config.json's entries that are not applied */
};
const struct engine_info *engine_info(const struct engine *en);
const struct tokenizer *engine_tokenizer(
    const struct engine *en);                                /* NULL for a folder without tokenizer.json */
const struct chat_own *engine_chat(const struct engine *en); /* empty for the embedded model */
/* What is known from the configuration and these options alone, for --dry-run: neither weights nor a device
 * are opened. Other fields are 0 or NULL. */
int engine_describe(const struct engine_options *o, struct engine_info *out, struct err *e);
/* What a model and its policies take on a device. Bytes. */
struct engine_memory {
    int is_known;   /* 0: this program lacks the backend, so that scratch and bounds are those of the CPU */
    size_t weights; /* with the rotation table */
    size_t scratch; /* activations, tables of the cache, gates and states of the policies; all of it is taken
                     * at once, for max_batch sequences of max_context tokens */
    size_t bounds_token_bytes; /* beside kv_token_bytes, when a policy needs page bounds */
    size_t pool;  /* K and V: the CPU takes so much, whatever is asked for; on a GPU 0, because all that is
                   * free may be taken */
    size_t spare; /* left free on a GPU, for what is allocated while it runs */
};
/* Checks the files of the weights by their headers and adds up memory, without reading a weight or opening a
 * device: a folder without weights, a shard that is missing or too short, a tensor that is missing or has
 * another shape are found here, as are mistakes in the options of the policies and their files. info is
 * filled as by engine_describe(), with the sizes of the weights. n_specs may be 0. */
int engine_measure(const struct engine_options *o, const struct policy_spec *const *specs, int n_specs,
                   struct engine_info *info, struct engine_memory *out, struct err *e);
/* What a device has, before anything is loaded. */
struct engine_device {
    char name[128];
    size_t total_bytes, free_bytes; /* free: of the CPU what the kernel counts as available */
};
/* ERR_UNSUPPORTED: the backend is not built in; ERR_DEVICE: the device cannot be opened. */
int engine_device_memory(const char *backend, int ordinal, struct engine_device *out, struct err *e);
/* The identity of a model's weights, engine_info.weights, without loading them; 64 hex digits. */
int engine_identity(const char *model, const char *cache_dir, char out[65], struct err *e);
/* The tokenizer alone. *out is NULL for a folder without tokenizer.json, and no folder is ERR_USAGE; a model
 * with random weights uses the embedded model's. The caller closes it. */
int engine_open_tokenizer(const char *model, struct tokenizer **out, struct err *e);
/* The chat template of a model's folder with its tokenizer, which may be NULL; the caller releases it. The
 * struct must stay where it is. */
int engine_open_chat(const char *model, const struct tokenizer *t, struct chat_own *out, struct err *e);
/* The configuration file of a model named "random:CONFIG.json" (that shape with random weights, for
 * benchmarks); NULL for every other model. */
const char *engine_random_config(const char *model);

/* An instance of a policy with its parameters, checked against the model; the same parameters give the same
 * instance. Owned by the engine. */
int engine_policy(struct engine *en, const struct policy_spec *spec, struct policy **out, struct err *e);

/* Gives K and V their memory: on a GPU `share` (0 to 1) of what weights, activations and the policies known
 * so far have left free, but never more than max_batch sequences can need. Without this call the first
 * request does it, with a share of 1. A policy that is bound later gets its memory from the 3 GiB that stay
 * free. */
int engine_reserve(struct engine *en, double share, struct err *e);

struct sampling {
    double temperature; /* 0: greedy */
    int top_k;          /* 0: off */
    double top_p;       /* 1 (or 0): off */
    uint64_t seed;      /* of the run; seed, problem and sample are the key of the random numbers, whose */
    uint64_t problem;   /* counter is the token's position. problem: hash of its id */
    uint32_t sample;
};

struct request {           /* copied by engine_submit */
    const int32_t *prompt; /* ids, begin-of-sentence included */
    int n_prompt;
    struct policy *policy;
    struct sampling sampling;
    int max_new_tokens;   /* at least 1 */
    int min_new_tokens;   /* the completion cannot end by end token or stop string before it has these */
    int max_total_tokens; /* prompt + completion; 0: no limit beyond the context */
    int ignore_eos;
    const char *const *stop; /* strings; the completion ends before the first occurrence */
    int n_stop;
    int32_t end_token;     /* a further end token (chat form), or -1 */
    const int32_t *forced; /* teacher forcing: decode these n_forced tokens, no sampling, no end token */
    int n_forced;
    int want_logprobs; /* log-probability of each chosen token, and the gap between the two largest logits */
    /* With forced tokens: their likelihood is wanted (completion.likelihood), and at each of them the
     * divergence of this request's distribution from the one under `reference`. The same tokens are decoded
     * under the reference beside the request, step for step, which takes a second place of the batch, unless
     * the two policies are the same instance. NULL: no. */
    struct policy *reference;
    int curve_every; /* the curve of its reads gets a point after each so many tokens; 0: none is wanted */
    void *user;
};

enum finish_reason { FINISHED_STOP, FINISHED_LENGTH, FINISHED_ERROR };
/* "stop", "length", "error": the same words in journals, messages, exports and tables. finish_find() returns
 * 1, or 0 for a word that is none of them. */
const char *finish_name(enum finish_reason f);
int finish_find(const char *name, enum finish_reason *out);

struct kv_counts {      /* in tokens, means over layers and KV heads (docs/design.md, Accounting); all NaN:
                         * another engine decoded it and did not count */
    double reads;       /* distinct tokens attended per KV head, summed over decode steps */
    double reads_full;  /* what full attention would have read on the same trajectory */
    double aux_reads;   /* page bounds, key-only scans and attention statistics, in KV-token equivalents */
    double peak_tokens; /* most live tokens held while decoding, and the bounds of their pages where the
                         * policy needs them: a token's worth per page */
    double prefill_peak_tokens;
    double prefill_reads; /* distinct tokens that the prompt's queries attended to, summed over them; a dense
                           * prefill of n tokens reads n (n + 1) / 2 */
    double prefill_aux_reads; /* key-only scans for the choice of these tokens, in KV-token equivalents */
    double key_elements; /* elements of keys that decode steps would have to read under a policy that holds
                          * those which change little (deltallm), head_dim of them as one token: in each step
                          * those not held, and the newest keys whole. 0: no such policy, or not known */
    double selected; /* tokens on a query head's own list, mean over heads, summed over decode steps: `reads`
                      * where the heads of a group share a list, less where they merge theirs. 0: not known */
};

/* The same counts on the way, as sums over layers and KV heads: after each `every` tokens of the completion,
 * point i after (i + 1) * every of them. A completion that is cut off there has exactly these counts, unless
 * its policy's budget depends on the longest completion. */
struct kv_point {
    int64_t reads, live; /* live: tokens held at that moment */
    int64_t peak;        /* as peak_tokens, so far */
    double aux;          /* as aux_reads */
};
struct kv_curve {
    int every, n;      /* every 0: none was asked for */
    int layers, heads; /* heads: of all layers together, what the sums are divided by */
    struct kv_point *point;
    int32_t *by_head; /* tokens held at the end, (heads), layer by layer; NULL: the policy forgets none */
};

/* Sums over the tokens of a completion whose position (how many tokens are before them, those of the prompt
 * included) is first .. 2 * first - 1. */
struct likelihood_bucket {
    int first; /* a power of two */
    int tokens;
    int64_t agree; /* tokens before which both distributions have the same likeliest token */
    int64_t bytes; /* of their text */
    double bits;   /* of -log2 of their probabilities */
    double kl;     /* of KL(reference || policy) over the whole vocabulary, in nats */
};
enum { LIKELIHOOD_BUCKETS = 31 };
struct likelihood {
    int n;                                               /* 0: none was asked for */
    struct likelihood_bucket bucket[LIKELIHOOD_BUCKETS]; /* ascending; those without tokens are left out */
};
/* The sums over all buckets, first 0; and adding those of another completion. */
struct likelihood_bucket likelihood_total(const struct likelihood *l);
void likelihood_merge(struct likelihood *into, const struct likelihood *l);

struct completion { /* valid until the next engine_step or engine_close */
    void *user;
    const int32_t *ids; /* without the end token; with a stop string: the tokens up to and including it */
    int n_ids;
    const char *text; /* decoded bytes of the completion, special tokens skipped, cut before a stop string */
    size_t n_text;
    enum finish_reason finish;
    struct kv_counts kv;
    struct kv_curve curve;
    const float *logprobs, *gaps; /* n_ids (+ 1 when it ended with the end token) entries, or NULL */
    const int32_t *tops; /* as many: the likeliest token at each place, whatever was taken; or NULL */
    int n_logprobs;
    struct likelihood likelihood;
    int preempted;     /* how often it had to start again */
    double seconds;    /* wall time from admission */
    const char *error; /* FINISHED_ERROR: why, a sentence */
};

/* ERR_USAGE for a request that can never run: a prompt longer than the context, token ids outside the
 * vocabulary, max_new_tokens below 1, or more tokens than the whole cache holds. */
int engine_submit(struct engine *en, const struct request *r, struct err *e);

/* Waits for the decode step in flight, hands out the completions that finished in it, admits requests that
 * fit, and sends the next step, often before it waits (loop.c). It is normal that none has finished (*n_out
 * is 0). An error means that the device has failed: all that finished before has been handed out by earlier
 * calls, and every later call returns the same error. */
int engine_step(struct engine *en, const struct completion **out, int *n_out, struct err *e);

/* Called with each completion, which is valid during the call; a negative return ends the run. */
typedef int completion_fn(void *context, const struct completion *c, struct err *e);
/* Submits n requests (0 if all have been submitted) and steps until nothing is pending. fn, which may be
 * NULL, gets every completion in the order in which they end. Returns the first error: of a request that is
 * refused, of the device, of fn, or ERR_DEVICE with its sentence for a completion that ended with
 * FINISHED_ERROR, which fn does not get. After an error requests may still be pending. */
int engine_run(struct engine *en, const struct request *requests, int n, completion_fn *fn, void *context,
               struct err *e);
/* The same for one request while nothing else is pending. *out is valid until the engine steps again or is
 * closed. */
int engine_run_one(struct engine *en, const struct request *r, const struct completion **out, struct err *e);
int engine_pending(const struct engine *en); /* submitted and not yet handed out */
/* Fills in the requests that are being decoded, with the tokens they have so far, and returns their number,
 * at most max_batch. */
struct running {
    void *user; /* of the request */
    int n_ids;
};
int engine_running(const struct engine *en, struct running *out);
int engine_waiting(
    const struct engine *en); /* submitted and not yet admitted: keep this small and positive */
/* Forgets the requests that wait: they give no completion, and their `user` is not used any more. */
void engine_withdraw(struct engine *en);

/* Prefills of prompts that are kept at most, while there is memory, for requests with the same prompt. */
enum { ENGINE_SHARED_PROMPTS = 32 };

struct engine_stats {
    uint64_t decode_steps, decode_tokens, prefill_tokens, prefill_shared_tokens, preemptions;
    uint64_t decode_steps_ahead; /* of decode_steps: begun before the tokens of the step before were seen */
    double decode_seconds, prefill_seconds;
    size_t units_total, units_free, units_peak;
};
void engine_stats(const struct engine *en, struct engine_stats *out);

/* ---- what layers read (watch.c) ---- */

/* What one layer of a decode step may read of one sequence: the lists of its policy, or where the policy
 * forgets tokens the live slots of each KV head. */
struct seen {
    void *user; /* of the request */
    int step;   /* tokens of the completion before the step: 1 in the first */
    int layer;
    enum sel_granularity
        granularity; /* of the entries: SEL_PAGES (blocks of block_pages pages), else slots */
    int block_pages, n_lists, stride;
    const int32_t *idx; /* list i: len[i] ascending entries from idx + i * stride; valid during the call */
    const int32_t *len; /* -1: all that is live */
    const int *kv_map;  /* which list each KV head reads, as in struct selection; NULL: none is given */
};
/* Which of the lists query head h of n_q reads, in groups of `group` heads. */
static inline int seen_list_of(const struct seen *s, int h, int n_q, int group)
{
    return s->n_lists == 1 ? 0 : s->kv_map ? s->kv_map[h / group] : h * s->n_lists / n_q;
}
typedef void seen_fn(void *context, const struct seen *s);
/* From now on fn is called in every step whose number is a multiple of `every`, for each layer that does not
 * read everything. A step that is watched is not replayed: its operations run one by one, and give the same
 * bits. With every 1 none is recorded either, so that the hooks of a policy may look at what they compute. fn
 * NULL: no longer. */
void engine_watch(struct engine *en, int every, seen_fn *fn, void *context);

/* ---- for benchmarks (step_times.c) ---- */

/* Bytes of K, V and page bounds that the decode steps of the active sequences have read so far. */
int engine_read_bytes(struct engine *en, double *bytes, struct err *e);

/* Parts of a step, for where its time goes. A layer's attention is dense, or refresh when it also writes the
 * logits that a policy selects by, or sparse when it reads a selection. */
enum step_part {
    STEP_LINEAR, /* the layers' matrix products, and SwiGLU */
    STEP_HEAD,   /* the product with the output head */
    STEP_ATTENTION_DENSE,
    STEP_ATTENTION_REFRESH,
    STEP_ATTENTION_SPARSE,
    STEP_SELECTION, /* the operations that the policy's hooks enqueue */
    STEP_APPEND,    /* rotation, and K and V into the cache */
    STEP_OTHER,     /* embedding, norms, counting of reads */
    STEP_SAMPLING,
    STEP_PARTS
};
struct step_times {
    struct {
        int n_ops;
        double seconds;
    } part[STEP_PARTS];
    double whole; /* seconds of the recorded step with all its parts */
};
const char *step_part_name(enum step_part p);

/* Times a decode step of the active sequences, which must all have the same policy, one that forgets nothing.
 * First the whole recorded step is timed, then the operations of each part, recorded and replayed as a
 * program of their own. The replays append tokens, so afterwards the engine can only be closed. */
int engine_time_step(struct engine *en, struct step_times *out, struct err *e);

#endif
