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
 * on the number of threads. Only one thread may call an engine; it starts threads of its own.
 *
 * Functions with a struct err return 0 or a negative ERR_ code, which is in e->code as well; each names its
 * codes. The struct err must not be NULL. Functions without one cannot fail. */
struct engine;

enum kv_dtype { KV_DEFAULT, KV_FP32, KV_BF16 }; /* default: fp32 on the CPU, bf16 on CUDA */

struct engine_options { /* 0 or NULL: the default */
    const char *model;  /* "pocket" (embedded) or a Hugging Face folder */
    const char
        *model_name;     /* name of the model whose published layers policies take; NULL: from the folder */
    const char *backend; /* "cpu" (default) or "cuda" */
    int ordinal;         /* which device of that backend */
    int threads;         /* CPU threads; 0: all cores */
    const char *isa;     /* CPU: "scalar", "avx2", "avx512"; NULL: the best this machine has */
    enum kv_dtype kv_dtype;
    int max_batch;     /* sequences decoded together; 0: 32, on a GPU 128 */
    int max_context;   /* longest prompt + completion; 0: the model's max_position_embeddings */
    size_t pool_bytes; /* KV cache; 0: what max_batch x max_context needs, on the CPU at most 512 MiB,
                        * on a GPU the free memory */
    int share_prompts; /* -1: never share prompt pages; 0: default (share); 1: share the prefill, copy its
                        * pages (for benchmarks: sequences that read memory of their own) */
    int prefill_chunk; /* positions of a prompt that are run at once, a multiple of 128 up to 2,048; 0: the
                        * backend's choice. Results do not depend on it */
    const char *cache_dir; /* where hashes of weight files are cached; NULL: nowhere */
};
/* Returns 1 when they ask for a GPU, else 0. */
int engine_is_on_gpu(const struct engine_options *o);

/* Sets *out to the type named "fp32" or "bf16"; name NULL gives KV_DEFAULT. Returns 0, or ERR_USAGE for
 * another name and leaves *out alone. */
int engine_kv_dtype(enum kv_dtype *out, const char *name, struct err *e);
/* Opens the device, loads the weights and allocates all but the KV pool. Returns 0, or sets *out to NULL and
 * returns ERR_USAGE (an option, an unknown backend, or no folder of the model's name), ERR_IO (a file that is
 * missing or cannot be read), ERR_FORMAT (a damaged file), ERR_UNSUPPORTED (a model that is not built) or
 * ERR_DEVICE (the device or its memory). The strings of o are borrowed until engine_close(), which the caller
 * calls. */
int engine_open(struct engine **out, const struct engine_options *o, struct err *e);
/* Frees the engine with its policies and with all requests, whether they have ended or not. NULL is allowed.
 */
void engine_close(struct engine *en);

enum { ENGINE_MAX_ENDS = 7 };
enum { ENGINE_UNAPPLIED = 160, ENGINE_MAX_LAYERS = 1024 };
/* The loaded model. Strings live as long as the engine. */
struct engine_info {
    const char *model;         /* as given */
    const char *family;        /* "qwen2", "qwen3", "llama" */
    const char *weights;       /* identity of the weights' files: 64 hex digits */
    const char *configuration; /* engine_configuration(): 64 hex digits */
    const char *numerics;      /* numerics class, part of the job key: "cpu-fp32kv-2",
                                * "cuda-bf16kv-4-NVIDIA-H200-x132-cublaslt13.1.0" */
    const char *device;        /* for people: "cpu avx2, 2 threads" */
    int n_layers, n_q, n_kv, head_dim, hidden, vocab, max_position, max_context, max_batch;
    int n_windows;                     /* layers whose attention reads a window of tokens */
    int32_t window[ENGINE_MAX_LAYERS]; /* how many tokens that is, by layer; 0: the layer is full */
    int window_ahead;                  /* tokens that such a layer holds at most beside its window */
    size_t weight_bytes, pool_bytes;   /* pool: 0 before engine_reserve */
    size_t step_bytes;     /* weights that a decode step reads: all but the embedding, unless it is the output
                              head too */
    size_t layer_values;   /* parameters of the layers' matrices; the output head has vocab x hidden more */
    size_t kv_token_bytes; /* K and V of one token, all layers and KV heads */
    int32_t eos;           /* the first end token; -1 when the model has none */
    int32_t ends[ENGINE_MAX_ENDS]; /* all of them */
    int n_ends;
    char unapplied[ENGINE_UNAPPLIED]; /* names of generation_config.json's entries that are not applied */
    int is_head_own;    /* the weights have an output head, though config.json ties it to the embedding; known
                         * where weights were opened */
    int has_adapter;    /* an adapter_config.json lies beside the weights, and is not applied */
    int scaled_context; /* what the rotation is stretched for, where max_position is below that; else 0 */
};
/* Warns on standard error of what the files of a model say and the program does otherwise. label: of a model
 * among several, or NULL. */
void engine_log_notices(const struct engine_info *info, const char *label);
/* Appends what raises the model's context, if config.json says it: "; its rotation is stretched for ...". */
void engine_context_advice(const struct engine_info *info, struct str *out);
/* These three return parts of the engine, which it owns: its facts, its tokenizer (NULL for a folder without
 * tokenizer.json) and the chat template of its folder (with `template` NULL if there is none, as for the
 * embedded model and for random weights). */
const struct engine_info *engine_info(const struct engine *en);
/* Returns info->window, or NULL where no layer has one, as struct policy_model and struct budget_at have it.
 */
const int32_t *engine_windows(const struct engine_info *info);
/* Returns how many tokens of so long a context a query reads when nothing chooses for it, and a layer holds:
 * a mean over layers, of which those with windows read less. */
double engine_full_tokens(const struct engine_info *info, double context);
/* Returns how many tokens, mean over layers, those with windows have blocks for at most beside that, while
 * the context is prefilled: the chunk of the prompt that runs at once and pages that end beyond the window. 0
 * before engine_measure(). */
double engine_chunk_tokens(const struct engine_info *info, double context);
const struct tokenizer *engine_tokenizer(const struct engine *en);
const struct chat_own *engine_chat(const struct engine *en);
/* Fills in what follows from the configuration and the options alone, for --dry-run, without opening weights
 * or a device: the shape, max_batch, kv_token_bytes and the end tokens; max_context is the model's own limit,
 * whatever the options say. Other fields are 0 or NULL. o->model must not be NULL, and out->model borrows it.
 * Returns 0 or the code of engine_open() for an option or a configuration file. */
int engine_describe(const struct engine_options *o, struct engine_info *out, struct err *e);
/* Memory that a model and its policies take on a device, in bytes. */
struct engine_memory {
    int is_known;   /* 0: the backend is not built in, so scratch and bounds are those of the CPU */
    size_t weights; /* with the rotation table */
    size_t scratch; /* activations, tables of the cache, gates and states of the policies; all of it is taken
                     * at once, for max_batch sequences of max_context tokens */
    size_t bounds_token_bytes; /* beside kv_token_bytes, when a policy needs page bounds */
    size_t pool;               /* K and V on the CPU; 0 on a GPU, where all free memory may be taken */
    size_t spare;              /* left free on a GPU for allocations while it runs */
};
/* Checks the files of the weights by their headers and adds up memory, without reading a weight or opening a
 * device. Finds a folder without weights, a missing or truncated shard, a missing tensor or one of another
 * shape, and mistakes in the options of the policies and their files. Fills info as engine_describe() does,
 * with max_context as the options give it, and the sizes of the weights. n_specs may be 0. Returns 0 or a
 * code as engine_open() and engine_policy() do; then info is left alone. */
int engine_measure(const struct engine_options *o, const struct policy_spec *const *specs, int n_specs,
                   struct engine_info *info, struct engine_memory *out, struct err *e);
/* A device's memory, before anything is loaded. */
struct engine_device {
    char name[128];
    size_t total_bytes, free_bytes; /* free: on the CPU the kernel's MemAvailable */
};
/* Reads the memory of device `ordinal` of a backend; NULL means "cpu". Returns 0, ERR_UNSUPPORTED (the
 * backend is not built in, or the CPU's kernel does not say what is available), ERR_IO (/proc/meminfo cannot
 * be read) or ERR_DEVICE (the device cannot be opened or asked). */
int engine_device_memory(const char *backend, int ordinal, struct engine_device *out, struct err *e);
/* Computes engine_info.weights, the identity of a model's weights, without loading them: 64 hex digits and a
 * NUL. The hashes of files are cached in cache_dir; NULL: nowhere. Returns 0, ERR_IO for a file that is
 * missing or cannot be read, or ERR_FORMAT for a damaged one. */
int engine_identity(const char *model, const char *cache_dir, char out[65], struct err *e);
/* Returns 1 when engine_identity() takes no time to speak of: every hash is in the cache, the files are
 * small, or it would fail. */
int engine_identity_is_quick(const char *model, const char *cache_dir);
/* Computes engine_info.configuration, the identity of what tokens and text of a completion depend on beside
 * weights and prompt: shape, eps, rotation, end tokens, and the bytes and special tokens by which the
 * tokenizer decodes. t: the model's tokenizer, NULL if it has none. Returns 0 or the code of engine_open()
 * for a configuration file. */
int engine_configuration(const char *model, const struct tokenizer *t, char out[65], struct err *e);
/* Writes a hash, 64 hex digits and a NUL, of the ids that some texts become: all tokens as one plain text,
 * and a short text in the model's own chat form, with a system message and without. Models with other hashes
 * make other prompts of some texts. For warnings: the ids of each prompt are in the keys of its completions.
 * t and chat as engine_open_tokenizer() and engine_open_chat() give them; t NULL gives "". */
void engine_hash_prompts(const struct tokenizer *t, const struct chat_own *chat, char out[65]);
/* Opens the tokenizer alone. A model with random weights uses the embedded model's. Returns 0 and sets *out,
 * which the caller closes, or sets it to NULL for a folder without tokenizer.json. Returns ERR_USAGE if there
 * is no folder, ERR_IO for a file that cannot be read, ERR_FORMAT for a damaged one, or ERR_UNSUPPORTED if it
 * asks for something that is not built; then *out is NULL. */
int engine_open_tokenizer(const char *model, struct tokenizer **out, struct err *e);
/* Opens the chat template of a model's folder with its tokenizer, which may be NULL. The caller releases it
 * with chat_own_release() and must not move the struct; its `template` is NULL for a model without one.
 * Returns 0, or an error for a file that cannot be read (chat_own_open()). */
int engine_open_chat(const char *model, const struct tokenizer *t, struct chat_own *out, struct err *e);
/* Returns the configuration file of a model named "random:CONFIG.json" (that shape with random weights, for
 * benchmarks), which points into `model`; NULL for every other model. */
const char *engine_random_config(const char *model);

/* Binds a policy with its parameters, checked against the model; the same parameters give the same instance,
 * which the engine owns. Returns 0, or sets *out to NULL and returns ERR_USAGE (a parameter, or page
 * bounds that are needed first while sequences decode), ERR_DEVICE (no memory) or the code of a file of the
 * policy that cannot be read or used. */
int engine_policy(struct engine *en, const struct policy_spec *spec, struct policy **out, struct err *e);

/* Allocates the KV pool: on a GPU `share` (0 to 1) of the memory that weights, activations and the policies
 * bound so far leave free, at most what max_batch sequences can need. Without this call the first request
 * does it, with a share of 1. A policy that is bound later gets its memory from the 3 GiB that stay free.
 * Returns 0, also when there is a pool already, which stays as it is; ERR_USAGE for a pool_bytes that does
 * not hold one page of every head, or ERR_DEVICE if the memory does not suffice. */
int engine_reserve(struct engine *en, double share, struct err *e);

struct sampling {
    double temperature; /* 0: greedy */
    int top_k;          /* 0: off */
    double top_p;       /* 1 (or 0): off */
    uint64_t seed; /* of the run. Random numbers are counter-based: seed, problem and sample are the key, */
    uint64_t problem; /* the token's position is the counter. problem: hash of its id */
    uint32_t sample;
};

struct request {           /* copied by engine_submit */
    const int32_t *prompt; /* ids, begin-of-sentence included */
    int n_prompt;
    struct policy *policy;
    struct sampling sampling;
    int max_new_tokens;   /* at least 1 */
    int min_new_tokens;   /* no end by end token or stop string before the completion has these */
    int max_total_tokens; /* prompt + completion; 0: no limit beyond the context */
    int ignore_eos;
    const char *const *stop; /* strings; the completion ends before the first occurrence */
    int n_stop;
    int32_t end_token;     /* a further end token (chat form), or -1 */
    const int32_t *forced; /* teacher forcing: decode these n_forced tokens, no sampling, no end token */
    int n_forced;
    int want_logprobs; /* log-probability of each chosen token, and the gap between the two largest logits */
    /* The prompt's last n_scored tokens are scored as its own pass gives them, in one block: with
     * want_logprobs the completion's begin with theirs. No prefill is shared then. At least one token stands
     * before them. */
    int n_scored;
    /* With forced tokens: their likelihood is wanted (completion.likelihood), and at each of them the
     * divergence of this request's distribution from the one under `reference`. The same tokens are decoded
     * under the reference beside the request, step for step, which takes a second row of the batch, unless
     * the two policies are the same instance. NULL: no. */
    struct policy *reference;
    int curve_every; /* tokens between two points of its kv_curve; 0: no curve */
    void *user;
};

enum finish_reason { FINISHED_STOP, FINISHED_LENGTH, FINISHED_ERROR };
/* Returns "stop", "length" or "error": the same words in journals, messages, exports and tables. */
const char *finish_name(enum finish_reason f);
/* Sets *out to the reason of this word and returns 1, or returns 0 for an unknown word and leaves *out alone.
 */
int finish_find(const char *name, enum finish_reason *out);

struct kv_counts {      /* in tokens, means over layers and KV heads (docs/design.md, Accounting); all NaN:
                         * decoded by another engine, which does not count */
    double reads;       /* distinct tokens attended per KV head, summed over decode steps */
    double reads_full;  /* what full attention would have read on the same trajectory */
    double aux_reads;   /* page bounds, key-only scans and attention statistics, in KV-token equivalents */
    double peak_tokens; /* most live tokens held while decoding, and the bounds of their pages where the
                         * policy needs them: a token's worth per page */
    double prefill_peak_tokens;
    double prefill_reads; /* distinct tokens attended to, summed over the prompt's queries; a dense prefill
                           * of n tokens reads n (n + 1) / 2 */
    double prefill_aux_reads; /* key-only scans for the choice of these tokens, in KV-token equivalents */
    double key_elements; /* deltallm only, else 0: key elements a decode step would have to read, divided by
                          * head_dim: those that changed by more than theta, and all of the newest key */
    double selected; /* tokens on a query head's own list, mean over query heads, summed over decode steps.
                      * Equals `reads` if the query heads of a KV head share a list; less if their lists are
                      * merged. 0: not known */
};

/* The same counts while decoding, as sums over layers and KV heads: point i after (i + 1) * every tokens of
 * the completion. A completion that is cut off there has exactly these counts, unless its policy's budget
 * depends on the longest completion. */
struct kv_point {
    int64_t reads, live; /* live: tokens held at that moment */
    int64_t peak;        /* as peak_tokens, so far */
    double aux;          /* as aux_reads */
};
struct kv_curve {
    int every, n;      /* every 0: not asked for */
    int layers, heads; /* heads: KV heads of all layers together, by which the sums are divided */
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
    int n;                                               /* 0: not asked for */
    struct likelihood_bucket bucket[LIKELIHOOD_BUCKETS]; /* ascending; those without tokens are left out */
};
/* Returns the sums over all buckets, with first 0. */
struct likelihood_bucket likelihood_total(const struct likelihood *l);
/* Adds the buckets of l to those of `into`, which stay in ascending order. */
void likelihood_merge(struct likelihood *into, const struct likelihood *l);

/* The options of one problem, each scored by a request of its own. The engine leaves this empty: who puts the
 * completions together fills it in (evalcore/sweep/option_jobs.h). */
enum { ENGINE_OPTIONS_MAX = 26 };
struct option_score {
    int prompt, tokens; /* tokens that were prefilled, and tokens of the option, which were scored */
    double logprob;     /* the sum over these, in nats */
};
struct option_scores {
    int n; /* 0: the job is none of options */
    struct option_score option[ENGINE_OPTIONS_MAX];
};

struct completion { /* valid until the next engine_step or engine_close */
    void *user;
    const int32_t *ids; /* without the end token; with a stop string: the tokens up to and including it */
    int n_ids;
    const char *text; /* decoded bytes of the completion, special tokens skipped, cut before a stop string */
    size_t n_text;
    enum finish_reason finish;
    struct kv_counts kv;
    struct kv_curve curve;
    /* n_scored, then n_ids (+ 1 when it ended with the end token) entries, or NULL */
    const float *logprobs, *gaps;
    const int32_t *tops; /* as many: the likeliest token at each position, whatever was taken; or NULL */
    const float
        *top_logprobs; /* as many: its log-probability, in bits that of a token that is the same; or NULL */
    int n_logprobs;
    int32_t end_token; /* that it ended with, where n_logprobs says that there is one */
    struct likelihood likelihood;
    struct option_scores options;
    int preempted;     /* times it was preempted and started again */
    double seconds;    /* wall time from admission */
    const char *error; /* FINISHED_ERROR: why, a sentence */
};

/* Queues a copy of a request; policy, reference and user stay borrowed. Returns 0, or ERR_USAGE if it can
 * never run: an empty prompt, no room after it in the context or in max_total_tokens, token ids outside the
 * vocabulary, max_new_tokens below 1, a negative temperature, a reference without forced tokens, or more
 * tokens than the whole cache holds. The first request allocates the KV pool, which can fail as
 * engine_reserve() does. After an error nothing is queued. */
int engine_submit(struct engine *en, const struct request *r, struct err *e);

/* Continuous batching, one step: waits for the decode step in flight, hands out the completions that finished
 * in it, admits requests for which there are KV blocks, and sends the next step, often before it waits
 * (loop.c). *out then has *n_out completions, 0 in most steps, which the engine owns until the next call.
 * Returns 0, or ERR_DEVICE when the device has failed: earlier calls have handed out all that finished
 * before, and every later call returns the same error. */
int engine_step(struct engine *en, const struct completion **out, int *n_out, struct err *e);

/* Called with each completion, which is valid during the call. Returns 0; a negative ERR_ code, which is then
 * in e as well, ends the run. */
typedef int completion_fn(void *context, const struct completion *c, struct err *e);
/* Submits n requests (0 if all have been submitted) and steps until nothing is pending. fn, which may be
 * NULL, gets every completion in the order in which they end. Returns the first error: of a request that is
 * refused, of the device, of fn, or ERR_DEVICE with its sentence for a completion that ended with
 * FINISHED_ERROR, which fn does not get. After an error requests may still be pending. */
int engine_run(struct engine *en, const struct request *requests, int n, completion_fn *fn, void *context,
               struct err *e);
/* The same for one request while nothing else is pending. Returns 0 and sets *out, which is valid until the
 * engine steps again or is closed; returns the error of engine_run() otherwise, and *out has no meaning. */
int engine_run_one(struct engine *en, const struct request *r, const struct completion **out, struct err *e);
/* Returns the number of sequences submitted and not yet ended, those that wait included: a request has two
 * where its reference is decoded beside it. */
int engine_pending(const struct engine *en);
struct running { /* a request that is being decoded */
    void *user;  /* of the request */
    int n_ids;   /* tokens of its completion so far */
    /* These (n_ids), borrowed until the engine steps again; logprobs, tops and top_logprobs as in a
     * completion, without those of the prompt; NULL: not asked for. A preempted request begins anew and finds
     * the same. */
    const int32_t *ids;
    const float *logprobs;
    const int32_t *tops;
    const float *top_logprobs;
};
/* Fills out, which has room for max_batch entries, with the requests in the batch and returns their number;
 * references are left out. */
int engine_running(const struct engine *en, struct running *out);
/* Returns the number of the pending sequences that are not in the batch, preempted ones and references
 * included. A caller that submits while it steps keeps it small and positive. */
int engine_waiting(const struct engine *en);
/* Removes the requests that wait, preempted ones too: they give no completion, and their `user` is not used
 * any more. Those in the batch go on. */
void engine_withdraw(struct engine *en);
/* Ends the request with this `user`, which has no reference, before its time. Returns 1 when it waited: it is
 * gone, without a completion. Else 0: it ends with the step that is under way, FINISHED_ERROR, and gives its
 * place and its KV blocks back; or there is no such request. */
int engine_cancel(struct engine *en, const void *user);

/* The most prompts whose prefill is kept, while there is memory, for requests with the same prompt. */
enum { ENGINE_SHARED_PROMPTS = 32 };

struct engine_stats {
    uint64_t decode_steps, decode_tokens, prefill_tokens, prefill_shared_tokens, preemptions;
    uint64_t decode_steps_ahead; /* those begun before the host saw the tokens of the step before */
    double decode_seconds;
    double prefill_seconds; /* of admitting requests, until their first tokens are there */
    size_t blocks_total, blocks_free, blocks_peak; /* KV blocks; peak: the most in use */
};
/* Copies the counts since engine_open(); those of KV blocks are 0 before there is a pool. */
void engine_stats(const struct engine *en, struct engine_stats *out);

/* ---- observing what layers read (watch.c) ---- */

/* What one layer of a decode step reads of one sequence: the lists of its policy, or the live slots of each
 * KV head if the policy forgets tokens. */
struct seen {
    void *user; /* of the request */
    int step;   /* tokens of the completion before the step: 1 in the first */
    int layer;
    enum sel_granularity
        granularity; /* of the entries: SEL_PAGES (blocks of block_pages pages), else slots */
    int block_pages, n_lists, stride;
    const int32_t *idx; /* list i: len[i] ascending entries from idx + i * stride; valid during the call */
    const int32_t *len; /* -1: all that is live */
    const int
        *kv_map; /* index of the list that each KV head reads, as in struct selection; NULL: not given */
};
/* Returns the index of the list that query head h of n_q reads, where `group` query heads share a KV head. */
static inline int seen_list_of(const struct seen *s, int h, int n_q, int group)
{
    return s->n_lists == 1 ? 0 : s->kv_map ? s->kv_map[h / group] : h * s->n_lists / n_q;
}
/* Called with what a layer reads of a sequence; s is valid during the call. */
typedef void seen_fn(void *context, const struct seen *s);
/* Calls fn from now on, for each sequence but references and each layer that does not read everything, in
 * the steps whose number (struct seen) is a multiple of `every`; 0 or less means 1. It replaces an earlier
 * watcher. A watched step is not replayed: its operations run one by one and give the same bits. With
 * every 1 no step is captured either, so the hooks of a policy may download what they compute. fn NULL ends
 * it. */
void engine_watch(struct engine *en, int every, seen_fn *fn, void *context);

/* ---- for benchmarks (step_times.c) ---- */

/* Sets *bytes to the bytes of K, V, page bounds and attention statistics that decode steps of the sequences
 * in the batch have read so far. Returns 0 or ERR_DEVICE. */
int engine_read_bytes(struct engine *en, double *bytes, struct err *e);

/* Parts of a step, to show where its time goes. A layer's attention is dense; refresh if it also writes the
 * logits that a policy selects by; sparse if it reads a selection. */
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
    double whole; /* seconds of the captured step with all its parts */
};
/* Returns the part in words ("output head"), or "?" for a value outside the enum. */
const char *step_part_name(enum step_part p);

/* Times a decode step of the sequences in the batch: the whole captured step first, then the operations of
 * each part, captured as a graph of their own. The replays append tokens, so afterwards the engine can only
 * be closed. Returns 0, ERR_USAGE (nothing is decoding, the sequences have different policies, their policy
 * forgets tokens, or the cache has no room for the tokens appended) or ERR_DEVICE. */
int engine_time_step(struct engine *en, struct step_times *out, struct err *e);

/* Called with an operation's name, how often it ran, and for how many seconds in all. Attention to prompts by
 * lists or with keys that expire is "prefill_attend, sparse". */
typedef void op_time_fn(void *context, const char *name, int n, double seconds);
/* Decodes what has been submitted to its end, one operation after the other with a wait behind each, and
 * calls fn with each operation that ran: where the time of a prompt goes. Decode steps that were captured
 * before are replayed and not divided. Returns 0, or as engine_run(). */
int engine_time_operations(struct engine *en, op_time_fn *fn, void *context, struct err *e);

#endif
