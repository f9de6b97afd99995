#ifndef KERNELS_BACKEND_H
#define KERNELS_BACKEND_H

#include <stddef.h>
#include <stdint.h>

/* The front door of kernels/, where all arithmetic on a device is: the engine, its policies, the benchmarks
 * and the commands that list devices come in here. There is one table of functions per backend, filled by
 * cpu/ and by cuda/, and chosen at run time. This header is valid C17 and C++17, so it has no designated
 * initialisers, no restrict and no variable-length arrays.
 *
 * Every operation is a plain argument struct and an enum value. launch() runs it, or, between record_begin()
 * and record_end(), appends (operation, copy of the arguments) to a program that replay() runs again and
 * again: a list on the CPU, a graph on CUDA. So arguments are pointers and constants only; whatever varies
 * from step to step (lengths, tokens, membership) lies in device memory behind those pointers.
 *
 * Laws that the tests check bit for bit: the order of a sum is fixed and depends only on the sizes of its own
 * inputs, not on the number of rows, the batch, the threads or the instruction set. Of equal scores the one
 * with the lower index wins. There is no fast-math, no flushing of denormals and no atomic addition of
 * floats.
 *
 * Words used in all of kernels/:
 *   row   one line of a batch
 *   seq   a sequence's place in the cache, 0 .. n_seqs-1
 *   head  an index (seq * n_layers + layer) * n_kv + kv_head
 *   slot  a token's place in its head; equal to the token's position until the head's first drop
 *   page  16 slots
 *   unit  the storage of one page of one KV head: K and V of 16 tokens */
#ifdef __cplusplus
extern "C" {
#endif

/* Of download_begin: the number of slots, and the bytes of one. */
enum { BACKEND_DOWNLOADS = 2, BACKEND_DOWNLOAD_BYTES = 1 << 16 };
enum { KV_PAGE_TOKENS = 16, BACKEND_MAX_Q_HEADS = 128, BACKEND_MAX_GROUP = 16, BACKEND_MAX_HEAD_DIM = 256 };

/* How many pages so many tokens or slots take. */
static inline int kv_pages(int tokens)
{
    return (tokens + KV_PAGE_TOKENS - 1) / KV_PAGE_TOKENS;
}

enum dtype { DTYPE_F32, DTYPE_BF16 };

static inline size_t dtype_bytes(enum dtype t)
{
    return t == DTYPE_BF16 ? 2 : 4;
}

enum {
    BACKEND_OK = 0,
    BACKEND_ERR_MEMORY = -1,
    BACKEND_ERR_LAUNCH = -2,
    BACKEND_ERR_DEVICE = -3,
    BACKEND_ERR_UNSUPPORTED = -4
};

struct device;  /* one CPU or one GPU, opaque */
struct program; /* a recorded list of operations, opaque */

/* A weight matrix [n][k] (n outputs) in the backend's own layout, with an optional fp32 bias [n]. */
struct weight {
    void *data;
    float *bias; /* device, (n) or NULL */
    int n, k;
    enum dtype dtype;
};

/* The cache as operations see it: plain device pointers and sizes. Tables are indexed by head. */
struct kv_view {
    void *pool;    /* (n_units): K and V of 16 tokens of one KV head; layout private to the backend */
    void *bounds;  /* (n_units, 2, head_dim) of dtype, which holds them exactly: elementwise min, then max, of
                    * the live post-RoPE keys as they are stored; or NULL */
    int32_t *unit; /* (heads, max_pages): unit of each page; valid below what the host has mapped */
    uint16_t *live;    /* (heads, max_pages): bit t set = slot page*16+t holds a live token */
    int32_t *n_slots;  /* (heads): high-water mark in slots */
    int32_t *n_live;   /* (heads): live tokens */
    int32_t *tail;     /* (heads): slot written last, -1 before the first */
    int64_t *reads;    /* (heads): distinct tokens attended, summed over decode steps; booked by attend */
    int64_t *aux_half; /* (heads): aux reads in halves of a KV token; booked by page_scores (2 per page) and
                        * qk_stats (1 per live key) */
    int32_t *peak;     /* (n_seqs): most live tokens over layers and KV heads while decoding; OP_account */
    enum dtype dtype;  /* of the pool */
    int n_seqs, n_layers, n_kv, head_dim, max_pages;
};

/* Bounds of one unit. */
static inline size_t kv_bounds_bytes(const struct kv_view *kv)
{
    return 2 * (size_t)kv->head_dim * dtype_bytes(kv->dtype);
}

/* The rows of a batch or of one group of it: device arrays (cap). seq -1 marks a padding row, which is
 * skipped. */
struct rows {
    int cap;
    const int32_t *seq; /* place in the cache */
    const int32_t *pos; /* position of the row's token = tokens before it */
};

/* ---- selections and attention lists ---- */

enum sel_unit { SEL_LIVE, SEL_PAGES, SEL_TOKENS };

/* What a layer may read. Lists are device memory: idx (rows cap, n_rows, cap) ascending, len (rows cap,
 * n_rows); len -1 = all live. Indices are slots (SEL_TOKENS) or blocks of `block_pages` pages (SEL_PAGES). */
struct selection {
    enum sel_unit unit;
    int n_rows;        /* lists per sequence: 1 shared, n_kv, or n_q (pages only) */
    int cap;           /* entries per list */
    int block_pages;   /* SEL_PAGES: pages per index, 1 normally */
    int most_pages;    /* SEL_PAGES: that any list reads, also one of all live pages; 0: no such bound */
    int want_stats;    /* attention also writes scaled logits and their log-sum-exp for observe() */
    const int *kv_map; /* host (n_kv): list that the heads of each KV head read; copied when recorded. NULL:
                        * query head h reads list h * n_rows / n_q */
    const int32_t *idx, *len;
};

/* One page of an attention list: which of its tokens are read, and by which query heads of the group. It is
 * scratch of attend; each backend decides when it fills it (the CPU does for every selection). */
struct plan_entry {
    int32_t unit, page;
    uint16_t tokens; /* bit t: slot page*16+t is read by at least one head of `heads` */
    uint16_t heads;  /* bit g: query head kv_head*G+g reads this page's `tokens` */
};

struct plan {                 /* device */
    struct plan_entry *entry; /* (rows cap, n_kv, max_pages), ascending pages */
    int32_t *n;               /* (rows cap, n_kv) entries */
};

/* Attention statistics and scores by row: n_stat lists of `stride` floats per row. */
struct stats {
    float *logits; /* (rows cap, n_q, stride): q.k * scale by slot; -inf where no live token was read */
    float *lse;    /* (rows cap, n_q): log-sum-exp of those */
    int stride;    /* slots, a multiple of 16 */
};
struct scores {
    float *v;   /* (rows cap, n_rows, stride); -inf = not a candidate */
    int32_t *n; /* (rows cap, n_rows): extent: candidates have index below it */
    int32_t *m; /* (rows cap, n_rows): candidates (entries above -inf) */
    int n_rows, stride;
};

enum reduce_mode { REDUCE_MAX, REDUCE_SUM, REDUCE_MEAN };

/* How many of the m candidates topk takes, evaluated on the device. S is the context in tokens: m where
 * tokens_per is 1, else pos + 1 (the last page may be partial). A budget in tokens is rounded up to a
 * multiple of round_tokens and divided by tokens_per (floor). In the end at least min_k and at most m are
 * taken. */
enum topk_kind {
    TOPK_FIXED,      /* k candidates */
    TOPK_RATIO,      /* min(S, max(floor(ratio * S), min_tokens)) - minus_tokens, in tokens */
    TOPK_FLOOR,      /* floor(ratio * m) candidates */
    TOPK_CR,         /* floor(len_of_seq / cr), in tokens */
    TOPK_SHORT_FLOOR /* min(k, floor(S / tokens_per)) candidates */
};
/* The last force_last indices below n are always taken. */
enum topk_force {
    FORCE_INSIDE, /* they count among the k */
    FORCE_BESIDE, /* besides them the k best of the others */
    FORCE_UNION   /* the k best of all, and those of them that are not among these */
};
struct topk_rule {
    enum topk_kind kind;
    int k;        /* candidates */
    double ratio; /* the product is taken in double */
    double cr;
    int min_tokens, minus_tokens;
    int round_tokens; /* round token budgets up to a multiple of this; 0 or 1: no */
    int min_k;
    int tokens_per; /* tokens per candidate: 1, or 16 * block_pages */
    int force_last;
    enum topk_force force;
    int dense_when_short; /* where n <= k: len -1 (all live) */
    int dense_tokens;     /* where S <= this: len -1; 0: never */
    int dense_first;      /* at the first decode step, pos = len_of_seq: len -1 */
    int phantom_page; /* DELTA's release: when S is a multiple of 16 an empty page follows that uses up one of
                       * k and one of force_last */
    float tie_bias;   /* not 0: scores are logarithms, exp(score) - tie_bias * index is compared, in fp32 */
};

/* ---- operations ---- */

#include "kernels/op_table.h"
#include "kernels/backend_ops.h"

/* ---- the table ---- */

struct limits; /* kernels/limits.h */

struct device_options {
    int threads;     /* CPU: 0 = all cores this process may use */
    const char *isa; /* CPU: NULL = best; else exactly that one or BACKEND_ERR_UNSUPPORTED */
};

/* What there is to know about a device before it is used. */
struct device_facts {
    char name[128];     /* "NVIDIA H200" */
    char driver[64];    /* "580.82.07 (CUDA 13.0)" */
    char capability[8]; /* "9.0" */
    size_t total_bytes, free_bytes;
};

struct backend {
    const char *name;
    const struct limits *limits; /* the device's own limits */
    enum dtype kv_default;       /* type of the cache unless another is asked for */
    enum dtype activations;      /* type of what feeds a bf16 linear layer; operations take fp32 as well */
    int prefill_chunk;           /* positions of a prompt that are run at once, a multiple of 128: enough that
                                  * reading a weight costs little beside its products. Bits do not depend on it */
    int (*count)(void);          /* devices present; -1: there may be some, but they cannot be counted */
    /* On failure *out is NULL and `why` says so in a sentence. */
    int (*open)(struct device **out, int ordinal, const struct device_options *o, char *why, size_t size);
    void (*close)(struct device *d);
    const char *(*describe)(struct device *d);   /* "avx2, 2 threads" */
    const char *(*arithmetic)(struct device *d); /* names all that decides bits */
    const char *(*last_error)(struct device *d); /* sentence for the last negative result */

    void *(*alloc)(struct device *d, size_t bytes); /* zeroed, 64-byte aligned; NULL when it does not fit */
    void (*release)(struct device *d, void *p);
    size_t (*free_bytes)(struct device *d); /* that alloc can still give; 0: not known */
    int (*upload)(struct device *d, void *dst, const void *src, size_t bytes);
    int (*download)(struct device *d, void *dst, const void *src, size_t bytes);
    /* A download in two parts, through one of BACKEND_DOWNLOADS slots: begin takes what `src` holds when all
     * that was enqueued before has run; wait gives it, and waits for that alone, not for what was enqueued
     * since. A download that nobody waits for may be left; the next begin in its slot replaces it. */
    int (*download_begin)(struct device *d, int slot, const void *src, size_t bytes);
    int (*download_wait)(struct device *d, int slot, void *dst, size_t bytes);

    /* bytes of one unit (K and V of 16 tokens) in the pool */
    size_t (*unit_bytes)(enum dtype kv, int head_dim);
    /* Allocates an (n, k) weight; rows are then put in place piece by piece from host memory in row-major
     * order, at any address (src_dtype DTYPE_F32 or DTYPE_BF16; converted exactly, never from fp32 down to
     * bf16). */
    int (*weight_alloc)(struct device *d, struct weight *w, int n, int k, enum dtype dtype, int with_bias);
    int (*weight_put)(struct device *d, struct weight *w, int row0, int n_rows, enum dtype src_dtype,
                      const void *src);
    void (*weight_release)(struct device *d, struct weight *w);

    int (*launch)(struct device *d, enum op op, const void *args);
    int (*record_begin)(struct device *d);
    int (*record_end)(struct device *d, struct program **out);
    int (*replay)(struct device *d, struct program *p);
    void (*program_release)(struct device *d, struct program *p);

    /* For people; NULL on the CPU. 0 or negative. */
    int (*facts)(struct device *d, struct device_facts *out);
    /* Copies some memory from one device to another and compares. 1: it went directly, 0: by way of the host,
     * negative: it did not arrive as it was; last_error(to) says more. NULL on the CPU. */
    int (*peer)(struct device *from, struct device *to);
};

const struct backend *backend_find(const char *name); /* NULL when not built in */
const struct backend *backend_at(int i);              /* NULL past the end */

/* Columns of the table of operations: the name, the bytes of the argument struct (for whoever records), and
 * the part of a decode step. */
const char *backend_op_name(enum op op);
size_t backend_op_bytes(enum op op);
enum op_part backend_op_part(enum op op);

#ifdef __cplusplus
}
#endif
#endif
