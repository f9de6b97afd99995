#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#include "engine/policies/policy.h"
#include "engine/text/chat.h"
#include "engine/text/tokenizer.h"
#include "evalcore/base/err.h"
#include "evalcore/base/json.h"

/* The engine, the door: one loaded model on one device, decoding many requests together, each under its own
 * policy.
 *
 *   engine_open -> engine_policy (once per distinct policy) -> engine_submit ... -> engine_step until idle ->
 * close
 *
 * A completion's tokens are a function of (weights, prompt, policy, sampling settings, seed, problem, sample)
 * and of the backend and KV type, never of what else is in the batch, the order, or the number of threads.
 * One thread calls the engine; it uses its own threads inside. */
struct engine;

enum kv_dtype { KV_DEFAULT, KV_FP32, KV_BF16 }; /* default: fp32 on the CPU, bf16 on CUDA */

struct engine_options {  /* zero = default everywhere */
    const char *model;   /* "pocket" (embedded) or a Hugging Face folder */
    const char *backend; /* "cpu" (default) or "cuda" */
    int ordinal;         /* which device of that backend */
    int threads;         /* CPU threads; 0: all cores */
    const char *isa;     /* CPU: "scalar", "avx2", "avx512"; NULL: the best this machine has */
    enum kv_dtype kv_dtype;
    int max_batch;     /* sequences decoded together; 0: 32, on a GPU 128 */
    int max_context;   /* longest prompt + completion; 0: the model's max_position_embeddings */
    size_t pool_bytes; /* KV cache; 0: what max_batch x max_context needs, on the CPU at most 512 MiB,
                        * on a GPU what is free */
    int share_prompts; /* -1: never share prompt pages; 0: default (share); 1: share the prefill, copy its
                        * pages (for benchmarks: sequences that read memory of their own) */
    int prefill_chunk; /* positions of a prompt that are run at once, a multiple of 128 up to 2,048; 0: the
                        * backend's choice. Results do not depend on it */
    const char *cache_dir; /* where hashes of weight files are kept; NULL: not kept */
};

/* "fp32" or "bf16"; NULL: the default. */
int engine_kv_dtype(enum kv_dtype *out, const char *name, struct err *e);
int engine_open(struct engine **out, const struct engine_options *o, struct err *e);
void engine_close(struct engine *en);

/* What is loaded. Strings live as long as the engine. */
struct engine_info {
    const char *model;    /* as given */
    const char *family;   /* "qwen2", "qwen3", "llama" */
    const char *weights;  /* identity: 64 hex digits */
    const char *numerics; /* numerics class, part of the job key: "cpu-fp32kv-1",
                           * "cuda-bf16kv-3-NVIDIA-H200-x132-cublaslt13.1.0" */
    const char *device;   /* for people: "cpu avx2, 2 threads" */
    int n_layers, n_q, n_kv, head_dim, hidden, vocab, max_position, max_context, max_batch;
    size_t weight_bytes, pool_bytes; /* pool: 0 before engine_reserve */
    size_t step_bytes;     /* weights that a decode step reads: not an embedding that is no output head */
    size_t layer_values;   /* parameters of the layers' matrices; the output head has vocab x hidden more */
    size_t kv_token_bytes; /* K and V of one token, all layers and KV heads */
    int32_t bos, eos;      /* eos: the first end token; -1 when the model has none */
};
const struct engine_info *engine_info(const struct engine *en);
const struct tokenizer *engine_tokenizer(
    const struct engine *en);                            /* NULL for a folder without tokenizer.json */
const struct chat *engine_chat(const struct engine *en); /* guessed form, NULL when none fits */
/* Without opening weights or device: what the configuration and these options say. Used by --dry-run. */
int engine_describe(const struct engine_options *o, struct engine_info *out, struct err *e);
/* Likewise its tokenizer: NULL for a folder without tokenizer.json; random weights speak the embedded
 * model's. */
int engine_open_tokenizer(const char *model, struct tokenizer **out, struct err *e);
/* The configuration file of a model named "random:CONFIG.json" (that shape with random weights, for
 * benchmarks); NULL for every other model. */
const char *engine_random_config(const char *model);

/* An instance of a policy with its parameters, checked against the model; the same parameters give the same
 * instance. Owned by the engine. */
int engine_policy(struct engine *en, const struct policy_spec *spec, struct policy **out, struct err *e);

/* Gives K and V their memory: on a GPU `share` (0 to 1) of what weights, activations and the policies known
 * so far have left of it, and at most what max_batch sequences can need. The first request does it otherwise,
 * with all of it. A policy that comes later must find its memory in what is kept free (3 GiB). */
int engine_reserve(struct engine *en, double share, struct err *e);

struct sampling {
    double temperature; /* 0: greedy */
    int top_k;          /* 0: off */
    double top_p;       /* 1 (or 0): off */
    uint64_t seed;      /* the run's seed, the problem and the sample key the random numbers; the */
    uint64_t problem;   /* counter is the token's position (hash of the problem's id) */
    uint32_t sample;
};

struct request {           /* copied by engine_submit */
    const int32_t *prompt; /* ids, begin-of-sentence included */
    int n_prompt;
    struct policy *policy;
    struct sampling sampling;
    int max_new_tokens;   /* at least 1 */
    int min_new_tokens;   /* end tokens and stop strings do not count before */
    int max_total_tokens; /* prompt + completion; 0: no limit beyond the context */
    int ignore_eos;
    const char *const *stop; /* strings; the completion ends before the first occurrence */
    int n_stop;
    int32_t end_token;     /* a further end token (chat form), or -1 */
    const int32_t *forced; /* teacher forcing: decode these n_forced tokens, no sampling, no end token */
    int n_forced;
    int want_logprobs; /* log-probability of each chosen token, and the gap between the two largest logits */
    void *user;
};

enum finish_reason { FINISHED_STOP, FINISHED_LENGTH, FINISHED_ERROR };
/* "stop", "length", "error": the same words in journals, messages, exports and tables. find: 1 when there is
 * such a word. */
const char *finish_name(enum finish_reason f);
int finish_find(const char *name, enum finish_reason *out);

struct kv_counts {      /* see docs/design.md, Accounting; all in tokens, means over layers and KV heads */
    double reads;       /* distinct tokens attended per KV head, summed over decode steps */
    double reads_full;  /* what full attention would have read on the same trajectory */
    double aux_reads;   /* page bounds and key-only scans, in KV-token equivalents */
    double peak_tokens; /* most live tokens held while decoding */
    double prefill_peak_tokens;
};

struct completion { /* valid until the next engine_step or engine_close */
    void *user;
    const int32_t *ids; /* without the end token; with a stop string: the tokens up to and including it */
    int n_ids;
    const char *text; /* decoded bytes of the completion, special tokens skipped, cut before a stop string */
    size_t n_text;
    enum finish_reason finish;
    struct kv_counts kv;
    const float *logprobs, *gaps; /* n_ids (+ 1 when it ended with the end token) entries, or NULL */
    int n_logprobs;
    int preempted;     /* how often it had to start again */
    double seconds;    /* wall time from admission */
    const char *error; /* FINISHED_ERROR: why, a sentence */
};

/* Refuses with ERR_USAGE what can never run: a prompt longer than the context, token ids outside the
 * vocabulary, max_new_tokens below 1, a request that does not fit the cache alone. */
int engine_submit(struct engine *en, const struct request *r, struct err *e);

/* Waits for the decode step on its way, hands out the completions that finished in it, admits what fits and
 * sends the next step, often before it waits: see loop.c. *n_out 0 is normal. An error means the device
 * failed; what had finished has been handed out before, and every later step says the same. */
int engine_step(struct engine *en, const struct completion **out, int *n_out, struct err *e);
int engine_pending(const struct engine *en); /* submitted and not yet handed out */
int engine_waiting(
    const struct engine *en); /* submitted and not yet admitted: keep this small and positive */

struct engine_stats {
    uint64_t decode_steps, decode_tokens, prefill_tokens, prefill_shared_tokens, preemptions;
    uint64_t decode_steps_ahead; /* of decode_steps: begun before the tokens of the step before were seen */
    double decode_seconds, prefill_seconds;
    size_t units_total, units_free, units_peak;
};
void engine_stats(const struct engine *en, struct engine_stats *out);

/* ---- for benchmarks: measure.c ---- */

/* Bytes of K, V and page bounds that the decode steps of the active sequences have read so far. */
int engine_read_bytes(struct engine *en, double *bytes, struct err *e);

/* Where the time of a step goes. A layer's attention is dense, refresh (it also writes the logits that a
 * policy selects by) or sparse (it reads a selection). */
enum step_part {
    STEP_LINEAR, /* the layers' matrix products */
    STEP_HEAD,   /* the product with the output head */
    STEP_ATTENTION_DENSE,
    STEP_ATTENTION_REFRESH,
    STEP_ATTENTION_SPARSE,
    STEP_SELECTION, /* every operation of the policy's own */
    STEP_APPEND,    /* rotation, and K and V into the cache */
    STEP_OTHER,     /* embedding, norms, activation, accounts */
    STEP_SAMPLING,
    STEP_PARTS
};
struct step_times {
    struct {
        int n_ops;
        double seconds;
    } part[STEP_PARTS];
    double whole; /* seconds of the recorded step with all of them */
};
const char *step_part_name(enum step_part p);

/* Times a decode step of the active sequences, all of one policy that drops nothing: the whole as it is
 * recorded, then the operations of each part alone, recorded as a program of their own and replayed. The
 * replays append tokens: afterwards the engine can only be closed. */
int engine_time_step(struct engine *en, struct step_times *out, struct err *e);

#endif
