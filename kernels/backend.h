#ifndef KERNELS_BACKEND_H
#define KERNELS_BACKEND_H

#include <stddef.h>
#include <stdint.h>

/* The front door of kernels/, where all arithmetic on a device is: the engine, its policies, the benchmarks
 * and the commands that list devices come in here. There is one table of functions per backend, filled by
 * cpu/ and by cuda/, and chosen at run time. This header is valid C17 and C++17, so it has no designated
 * initialisers, no restrict and no variable-length arrays.
 *
 * An operation is an enum value and a plain argument struct. launch() runs it at once. Between
 * capture_begin() and capture_end(), launch() instead appends the operation and a copy of its arguments to a
 * struct op_graph, which replay() can run many times: a CUDA graph on a GPU, a list of operations on the CPU.
 * The arguments are therefore only pointers and constants. Whatever changes from step to step (lengths,
 * tokens, which sequences take part) is in device memory behind the pointers.
 *
 * Laws that the tests check bit for bit: the order of a sum is fixed and depends only on the sizes of its own
 * inputs, not on the number of rows, the batch, the threads or the instruction set. Of equal scores the one
 * with the lower index wins. There is no fast-math, no flushing of denormals and no atomic addition of
 * floats.
 *
 * Words used in all of kernels/:
 *   row          one line of a batch
 *   seq          a sequence's index in the cache, 0 .. n_seqs-1
 *   head         an index (seq * n_layers + layer) * n_kv + kv_head
 *   group        the query heads that share a KV head (grouped-query attention)
 *   slot         a token's index in its head; equal to the token's position until the head's first drop
 *   page         16 consecutive slots (a logical block in vLLM, a page in FlashInfer)
 *   KV block     the storage of one page of one KV head: K and V of 16 tokens (a physical block or physical
 *                page); the block table, or page table, says which KV block holds which page
 *   granularity  whether a selection lists pages or tokens
 *   workspace    memory that an operation needs while it runs
 *   split-KV     attention over one head divided among thread blocks or threads (flash-decoding)
 *   split-k      a matrix product whose sum over k is divided in the same way */
#ifdef __cplusplus
extern "C" {
#endif

/* Functions that backends share: in CUDA they exist for the host and for the device. */
#ifdef __CUDACC__
#define BACKEND_INLINE __host__ __device__ static inline
#else
#define BACKEND_INLINE static inline
#endif

/* download_begin(): number of staging buffers, and the size of each. */
enum { BACKEND_STAGING_BUFFERS = 2, BACKEND_STAGING_BYTES = 1 << 16 };
enum { KV_PAGE_TOKENS = 16, BACKEND_MAX_Q_HEADS = 128, BACKEND_MAX_GROUP = 16, BACKEND_MAX_HEAD_DIM = 256 };

/* Returns the number of pages that hold this number of tokens or slots, rounded up. */
static inline int kv_pages(int tokens)
{
    return (tokens + KV_PAGE_TOKENS - 1) / KV_PAGE_TOKENS;
}

/* Returns the first position that a query at `pos` sees through a window of that many tokens; 0: without one.
 */
BACKEND_INLINE int window_start(int window, int pos)
{
    return window > 0 && pos >= window ? pos - window + 1 : 0;
}

enum dtype { DTYPE_F32, DTYPE_BF16 };

/* Returns the bytes of one value. */
static inline size_t dtype_bytes(enum dtype t)
{
    return t == DTYPE_BF16 ? 2 : 4;
}

enum {
    BACKEND_OK = 0,
    BACKEND_ERR_MEMORY = -1,     /* no memory, of the device or of the host */
    BACKEND_ERR_LAUNCH = -2,     /* an operation or a graph could not be started, or failed */
    BACKEND_ERR_DEVICE = -3,     /* the device is not there, or it has failed */
    BACKEND_ERR_UNSUPPORTED = -4 /* arguments outside what the kernels can do (op_check.h) */
};

struct device;   /* one CPU or one GPU, opaque */
struct op_graph; /* a captured list of operations, opaque */

/* A weight matrix [n][k] (n outputs) in the backend's own layout, with an optional fp32 bias [n]. */
struct weight {
    void *data;
    float *bias; /* device, (n) or NULL */
    int n, k;
    enum dtype dtype;
};

/* The cache as operations see it: plain device pointers and sizes. Tables are indexed by head. The caller
 * owns the memory and decides which KV block holds which page. */
struct kv_view {
    void *pool;   /* (n_blocks): K and V of 16 tokens of one KV head; layout private to the backend */
    void *bounds; /* (n_blocks, 2, head_dim) of dtype, or NULL: elementwise minimum, then maximum, of the
                   * page's live keys after RoPE, as they are stored, so that dtype holds them exactly */
    int32_t *block_table; /* (heads, max_pages): KV block of each page; valid for the pages that the host
                           * has mapped */
    uint16_t *live;       /* (heads, max_pages): bit t is set when slot page*16+t holds a live token */
    int32_t *n_slots;     /* (heads): slots in use, dropped ones included; all live slots are below it */
    int32_t *n_live;      /* (heads): live tokens */
    int32_t *tail;        /* (heads): slot written last, -1 before the first */
    int64_t *reads; /* (heads): distinct tokens attended to, summed over decode steps; attend adds to it */
    int64_t *not_chosen; /* (heads): of `reads`, what a query head of the group did not choose and another
                          * did, summed over the group; attend adds to it */
    int64_t *aux_half; /* (heads): auxiliary reads (scoring), in halves of a token's K and V: page_scores adds
                        * 2 per page, qk_stats 1 per live key */
    int64_t *aux_values; /* (heads): attention statistics, fp32, that were written and read again, in values:
                          * reduce_stats adds one per live key, or page with a live key, and query head */
    int64_t *prefill_reads; /* (heads): keys that the queries of the prompt attended to, summed over queries;
                             * prefill_count adds to it */
    int64_t *prefill_scans; /* (heads): keys that were scanned for these queries to choose, without values */
    int64_t *keys_moved;    /* (heads): elements of keys that hold_keys did not hold; hold_keys adds to it */
    int64_t *key_elements;  /* (heads): elements of keys to read if a decode step reads those and the newest
                             * keys, summed over steps; hold_keys adds to it */
    int32_t *peak;          /* (n_seqs): the most tokens held while decoding, summed over layers and KV heads;
                             * OP_account updates it */
    enum dtype dtype;       /* of the pool */
    int n_seqs, n_layers, n_kv, head_dim, max_pages;
};

/* Returns the bytes of the bounds of one KV block. */
static inline size_t kv_bounds_bytes(const struct kv_view *kv)
{
    return 2 * (size_t)kv->head_dim * dtype_bytes(kv->dtype);
}

/* The rows of a batch, or of one group of a batch: device arrays of cap entries. A row whose seq is -1 is
 * padding and is skipped. */
struct rows {
    int cap;
    const int32_t *seq; /* index of the sequence in the cache */
    const int32_t *pos; /* position of the row's token, which is the number of tokens before it */
};

/* ---- selections and attention lists ---- */

enum sel_granularity { SEL_LIVE, SEL_PAGES, SEL_TOKENS };
/* Statistics that attention writes for observe(): see struct stats. Those of pages are for SEL_LIVE only. */
enum stats_wanted { STATS_NONE, STATS_TOKENS, STATS_PAGES };

/* What a layer may read. Lists are device memory: idx (rows cap, n_rows, cap) ascending, len (rows cap,
 * n_rows); len -1 = all live. Indices are slots (SEL_TOKENS) or blocks of `block_pages` pages (SEL_PAGES). */
struct selection {
    enum sel_granularity granularity;
    int n_rows;         /* lists per row: 1 (shared by all heads), n_kv, or n_q (pages only) */
    int cap;            /* capacity of a list in entries */
    int block_pages;    /* SEL_PAGES: pages per index, normally 1 */
    int max_pages_read; /* SEL_PAGES: no list reads more pages than this, not even one of len -1; 0: unknown
                         */
    enum stats_wanted want_stats;
    const int *kv_map; /* host memory (n_kv): which list the query heads of each KV head read; copied when
                        * captured. NULL: query head h reads list h * n_rows / n_q */
    const int32_t *idx, *len;
};

/* One page of an attention list: which of its tokens are read, and by which query heads of the group. attend
 * keeps such entries in its workspace; each backend decides when it fills them (the CPU does for every
 * selection). */
struct plan_entry {
    int32_t kv_block, page;
    uint16_t tokens; /* bit t: at least one head of `heads` reads slot page*16+t */
    uint16_t heads;  /* bit g: query head kv_head*G+g reads this page's `tokens` */
};

struct plan {                 /* device memory, allocated by the caller */
    struct plan_entry *entry; /* (rows cap, n_kv, max_pages), in ascending order of pages */
    int32_t *n;               /* (rows cap, n_kv) entries */
};

/* Attention statistics of each row and query head, in device memory: scaled logits q.k * scale, or with
 * by_page 1/16 of that, the log-sum-exp of each page's. Where all heads of a page lie together, a warp of a
 * GPU writes them at once. */
struct stats {
    float *logits; /* (rows cap, n_q, stride): by slot; -inf where no live token was read.
                    * by_page: (rows cap, n_kv, stride, n_q / n_kv): log-sum-exp of the logits of the page's
                    * live tokens; -inf where it has none */
    float *lse;    /* (rows cap, n_q): log-sum-exp of all these logits */
    int stride;    /* slots, a multiple of 16; by_page: pages, at least max_pages */
    int by_page;
};

/* For statistics by_page: returns the index in stats.logits of the value of page 0 under query head q of a
 * row. The value of page p lies p * (n_q / n_kv) further. */
static inline size_t stats_page(const struct stats *s, int n_q, int n_kv, int row, int q)
{
    int group = n_q / n_kv;
    return ((size_t)row * (size_t)n_kv + (size_t)(q / group)) * (size_t)s->stride * (size_t)group +
           (size_t)(q % group);
}

/* Scores from which topk chooses, in device memory: n_rows lists for each row. */
struct scores {
    float *v;   /* (rows cap, n_rows, stride); -inf: not a candidate */
    int32_t *n; /* (rows cap, n_rows): length of the list; all candidates have an index below it */
    int32_t *m; /* (rows cap, n_rows): number of candidates, the entries above -inf */
    int n_rows, stride;
};

enum reduce_mode { REDUCE_MAX, REDUCE_SUM, REDUCE_MEAN };

/* How many of the m candidates topk takes, evaluated on the device. S is the context in tokens: m where
 * tokens_per is 1, else pos + 1 (the last page may be partial). A budget in tokens is rounded up to a
 * multiple of round_tokens and divided by tokens_per (floor). In the end at least min_k and at most m are
 * taken. */
enum topk_kind {
    TOPK_FIXED,       /* k candidates */
    TOPK_RATIO,       /* min(S, max(floor(ratio * S), min_tokens)) - minus_tokens, in tokens */
    TOPK_FLOOR,       /* floor(ratio * m) candidates */
    TOPK_CR,          /* floor(len_of_seq / cr), in tokens */
    TOPK_SHORT_FLOOR, /* min(k, floor(S / tokens_per)) candidates */
    TOPK_LEN,         /* floor(ratio * len_of_seq) candidates */
    /* Scores are logarithms of attention mass. The smallest number of candidates that together hold at least
     * `ratio` of the mass of all, the forced ones first and then the others from the largest score down; all
     * candidates where ratio is 1. A score's mass is floor(min(exp(score), 128) * 2^36), so that sums are
     * whole numbers and their order does not matter. Only FORCE_INSIDE, without a bias and a phantom page. */
    TOPK_MASS
};
/* The last force_last indices below n are always taken, with force_after_len at least those from len_of_seq
 * on. */
enum topk_force {
    FORCE_INSIDE, /* they count among the k */
    FORCE_BESIDE, /* besides them the k best of the others */
    FORCE_UNION   /* the k best of all, and those of them that are not among these */
};
struct topk_params {
    enum topk_kind kind;
    int k;        /* candidates */
    double ratio; /* multiplied in double precision */
    double cr;
    int min_tokens, minus_tokens; /* where minus_tokens leaves nothing: len -1 (all live) */
    int round_tokens; /* numbers of tokens are rounded up to a multiple of this; 0 or 1: no rounding */
    int min_k;
    int tokens_per; /* tokens per candidate: 1, or 16 * block_pages */
    int force_last;
    int force_after_len; /* the indices from len_of_seq on are forced as well */
    enum topk_force force;
    int dense_when_short; /* where n <= k: len -1 (all live) */
    int dense_tokens;     /* where S <= this: len -1; 0: never */
    int dense_first;      /* at the first decode step, pos = len_of_seq: len -1 */
    int phantom_page; /* DELTA's release: when S is a multiple of 16 an empty page follows that uses up one of
                       * k and one of force_last */
    float tie_bias;   /* not 0: scores are logarithms, exp(score) - tie_bias * index is compared, in fp32 */
};

/* When a policy forgets tokens by their scores, evaluated on the device for each KV head, and how many it
 * then keeps. It acts where more tokens than the budget are live and their number is a multiple of `every`.
 * The budget is `tokens`, or with cr above 0 floor(len_of_seq / cr), and at least min_tokens in both cases.
 */
struct keep_params {
    int tokens;
    double cr;
    int min_tokens;
    int every;      /* at least 1 */
    int of_context; /* the context (pos + 1) is to be a multiple of `every`, not the number of live tokens */
    int late;       /* as R-KV's released code: in the step after such a context, pos being the multiple, and
                     * where the budget itself is live already, although nothing is dropped then */
    int recent;     /* number of last slots that are kept whatever their scores */
};

/* ---- operations ---- */

#include "kernels/op_table.h"
#include "kernels/backend_ops.h"
#include "kernels/backend_forget.h"

/* ---- the table ---- */

struct limits; /* kernels/limits.h */

struct device_options {
    int threads;     /* CPU: 0 means all cores that this process may use */
    const char *isa; /* CPU: NULL means the best instruction set; with a name, open() uses exactly that one or
                      * returns BACKEND_ERR_UNSUPPORTED */
};

/* What a person may want to know about a device before using it. */
struct device_facts {
    char name[128];      /* "NVIDIA H200" */
    char driver[64];     /* "580.82.07 (CUDA 13.0)" */
    char capability[24]; /* "9.0" */
    char kernels[128];   /* which kernels it gets, as a sentence without its period */
    size_t total_bytes, free_bytes;
};

/* The functions of a backend. Those that return int return 0 or a negative BACKEND_ERR_ code unless said
 * otherwise, and last_error() then says why. A GPU works asynchronously, so an operation that fails may be
 * reported by a later call; after that every call fails. One thread at a time may use a device. */
struct backend {
    const char *name;
    const struct limits *limits; /* measures what a device can do at most */
    enum dtype kv_default;       /* type of the cache unless another is asked for */
    enum dtype activations;      /* type of the inputs of bf16 linear layers; fp32 is accepted as well */
    int prefill_chunk;  /* positions of a prompt that run at once, a multiple of 128, large enough that
                         * reading a weight takes little time beside multiplying by it. The
                         * results do not depend on it */
    int (*count)(void); /* devices present; -1: there may be some, but they cannot be counted */
    /* Opens device `ordinal` of count(); o NULL: all defaults. On failure *out is NULL and `why` (`size`
     * bytes) holds a sentence with the reason: BACKEND_ERR_DEVICE (no such device, or its driver refuses),
     * BACKEND_ERR_UNSUPPORTED (an instruction set or a GPU for which there are no kernels) or
     * BACKEND_ERR_MEMORY. */
    int (*open)(struct device **out, int ordinal, const struct device_options *o, char *why, size_t size);
    /* Frees the device, but not what alloc and weight_alloc gave. NULL is allowed. */
    void (*close)(struct device *d);
    /* These return texts that d owns. */
    const char *(*describe)(struct device *d);   /* "avx2, 2 threads" */
    const char *(*arithmetic)(struct device *d); /* names everything that the bits of results depend on */
    const char *(*last_error)(struct device *d); /* a sentence about the last negative result, valid until the
                                                  * next one */

    /* Returns device memory, zeroed and 64-byte aligned, or NULL when it does not fit; last_error() then says
     * so. While a graph is being captured a GPU's is not zeroed. release frees it when all that was enqueued
     * has run; NULL is allowed. */
    void *(*alloc)(struct device *d, size_t bytes);
    void (*release)(struct device *d, void *p);
    size_t (*free_bytes)(struct device *d); /* what alloc can still give; 0: unknown */
    /* Copy bytes from host to device memory and back, in order with what was enqueued before. When they
     * return, the copy is complete as far as the caller can tell: the host buffer may be reused or read. */
    int (*upload)(struct device *d, void *dst, const void *src, size_t bytes);
    int (*download)(struct device *d, void *dst, const void *src, size_t bytes);
    /* A download in two parts, through one of BACKEND_STAGING_BUFFERS buffers. download_begin copies what
     * `src` holds once everything enqueued before it has run. download_wait waits for that copy, but not for
     * anything enqueued later, and writes the first `bytes` of it to dst. A download may be abandoned; the
     * next download_begin with its buffer replaces it. download_begin fails with BACKEND_ERR_UNSUPPORTED for
     * a buffer that is not there or more than BACKEND_STAGING_BYTES. */
    int (*download_begin)(struct device *d, int buffer, const void *src, size_t bytes);
    int (*download_wait)(struct device *d, int buffer, void *dst, size_t bytes);

    /* Returns the bytes of one KV block (K and V of 16 tokens) in the pool. */
    size_t (*kv_block_bytes)(enum dtype kv, int head_dim);
    /* weight_alloc allocates an (n, k) weight. weight_put then fills n_rows of its rows, from row0 on, from
     * host memory in row-major order at any address; bf16 is widened to fp32 where needed, but fp32 is never
     * rounded to bf16. weight_release frees it; a zeroed struct is allowed. weight_alloc fails with
     * BACKEND_ERR_MEMORY, or with BACKEND_ERR_UNSUPPORTED for n or k below 1, and leaves no memory in *w.
     * weight_put fails with BACKEND_ERR_UNSUPPORTED for rows outside the weight or fp32 into bf16. */
    int (*weight_alloc)(struct device *d, struct weight *w, int n, int k, enum dtype dtype, int with_bias);
    int (*weight_put)(struct device *d, struct weight *w, int row0, int n_rows, enum dtype src_dtype,
                      const void *src);
    void (*weight_release)(struct device *d, struct weight *w);

    /* launch enqueues an operation, or appends it to the graph that is being captured; args points to its
     * argument struct, which may be reused on return. BACKEND_ERR_UNSUPPORTED: op_check() refuses the
     * arguments. capture_begin starts a graph; BACKEND_ERR_LAUNCH if one is being captured already.
     * capture_end sets *out to the graph, which the caller gives to graph_release; on failure *out is NULL,
     * and BACKEND_ERR_LAUNCH means that none was being captured. replay enqueues a whole graph.
     * graph_release accepts NULL. */
    int (*launch)(struct device *d, enum op op, const void *args);
    int (*capture_begin)(struct device *d);
    int (*capture_end)(struct device *d, struct op_graph **out);
    int (*replay)(struct device *d, struct op_graph *p);
    void (*graph_release)(struct device *d, struct op_graph *p);

    /* branch begins a branch: what is launched from here on, up to the next call of branch or join. Branches
     * come after everything that was enqueued before the first of them, but a GPU runs several at once: no
     * operation of one may write what an operation of another reads or writes. What follows join comes after
     * all of them. A capture may contain branches, but must not begin or end within them; nor may copies,
     * replays, alloc and release stand there. After a failure, too, they are ended by join, which does
     * nothing where there are none. */
    int (*branch)(struct device *d);
    int (*join)(struct device *d);

    /* Fills in facts to show to people; after a failure *out has no meaning. NULL on the CPU. */
    int (*facts)(struct device *d, struct device_facts *out);
    /* Copies some memory from one device to another and compares it. 1: the copy went directly; 0: it went by
     * way of the host; negative: it arrived changed or not at all, and last_error(to) says more. NULL on the
     * CPU. */
    int (*peer)(struct device *from, struct device *to);
};

/* Return the backend of that name, NULL when it is not built in or name is NULL; and backend i of those built
 * in, NULL below 0 and past the end. */
const struct backend *backend_find(const char *name);
const struct backend *backend_at(int i);

/* Return columns of the table of operations: the name, the size of the argument struct in bytes, which
 * capture needs to copy it, and the part of a decode step that the operation belongs to. For a value that is
 * no operation they return "?", 0 and OP_PART_OTHER. */
const char *backend_op_name(enum op op);
size_t backend_op_bytes(enum op op);
enum op_part backend_op_part(enum op op);

#ifdef __cplusplus
}
#endif
#endif
