#ifndef KERNELS_BACKEND_H
#define KERNELS_BACKEND_H

#include <stddef.h>
#include <stdint.h>

/* The door between model and policy code and arithmetic. One table of functions per backend, filled by cpu/
 * and cuda/, chosen at run time. Valid C17 and C++17: no designated initialisers, no restrict, no VLAs in
 * here.
 *
 * Every operation is a plain argument struct and an enum value. launch() runs it, or, between record_begin()
 * and record_end(), appends (operation, copy of the arguments) to a program that replay() runs again and
 * again: a list on the CPU, a graph on CUDA. So arguments are pointers and constants only; whatever varies
 * from step to step (lengths, tokens, membership) lies in device memory behind those pointers.
 *
 * Laws, tested bit for bit: an output's reduction order is fixed and depends on its own inputs' sizes alone,
 * not on the number of rows, the batch, threads or instruction set. Equal scores go to the lower index. No
 * fast-math, no flushing of denormals, no float atomics.
 *
 * Words. row: one line of a batch. seq: a sequence's place in the cache (0 .. n_seqs-1). head: an index
 * (seq * n_layers + layer) * n_kv + kv_head. slot: a token's place in its head; it is the token's position
 * until the head's first drop. page: 16 slots. unit: the storage of one page of one KV head (K and V of 16
 * tokens). */
#ifdef __cplusplus
extern "C" {
#endif

enum { KV_PAGE_TOKENS = 16, BACKEND_MAX_Q_HEADS = 128, BACKEND_MAX_GROUP = 16, BACKEND_MAX_HEAD_DIM = 256 };

/* Pages that so many tokens or slots take. */
static inline int kv_pages(int tokens)
{
    return (tokens + KV_PAGE_TOKENS - 1) / KV_PAGE_TOKENS;
}

enum dtype { DTYPE_F32, DTYPE_BF16 };
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
    void *pool; /* (n_units): K and V of 16 tokens of one KV head; layout private to the backend */
    float
        *bounds; /* (n_units, 2, head_dim): elementwise min, then max, of the live post-RoPE keys; or NULL */
    int32_t *unit;     /* (heads, max_pages): unit of each page; valid below what the host has mapped */
    uint16_t *live;    /* (heads, max_pages): bit t set = slot page*16+t holds a live token */
    int32_t *n_slots;  /* (heads): high-water mark in slots */
    int32_t *n_live;   /* (heads): live tokens */
    int32_t *tail;     /* (heads): slot written last, -1 before the first */
    int64_t *reads;    /* (heads): distinct tokens attended, summed over decode steps; booked by OP_plan */
    int64_t *aux_half; /* (heads): aux reads in halves of a KV token; booked by page_scores (2 per page) and
                        * qk_stats (1 per live key) */
    int32_t *peak;     /* (n_seqs): most live tokens over layers and KV heads while decoding; OP_account */
    enum dtype dtype;  /* of the pool */
    int n_seqs, n_layers, n_kv, head_dim, max_pages;
};

/* The rows of a batch or of one group of it: device arrays (cap). seq -1 marks a padding row, which is
 * skipped. */
struct rows {
    int cap;
    const int32_t *seq; /* place in the cache */
    const int32_t *pos; /* position of the row's token = tokens before it */
};

/* ---- selections and attention lists ---- */

enum sel_unit { SEL_LIVE, SEL_PAGES, SEL_TOKENS };

/* What may a layer read? Lists are device memory: idx (rows cap, n_rows, cap) ascending, len (rows cap,
 * n_rows); len -1 = all live. Indices are slots (SEL_TOKENS) or blocks of `block_pages` pages (SEL_PAGES). */
struct selection {
    enum sel_unit unit;
    int n_rows;        /* lists per sequence: 1 shared, n_kv, or n_q (pages only) */
    int cap;           /* entries per list */
    int block_pages;   /* SEL_PAGES: pages per index, 1 normally */
    int want_stats;    /* attention also writes scaled logits and their log-sum-exp for observe() */
    const int *kv_map; /* host (n_kv): list that the heads of each KV head read; copied when recorded. NULL:
                        * query head h reads list h * n_rows / n_q */
    const int32_t *idx, *len;
};

/* One page of an attention list: which tokens, for which query heads of the group. */
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
 * tokens_per is 1, else pos + 1 (the last page may be partial). TOPK_FIXED k | TOPK_RATIO min(S,
 * max(floor(ratio * S), min_tokens)) - minus_tokens, in tokens | TOPK_FLOOR floor(ratio * m) | TOPK_CR
 * floor(len_of_seq / cr) tokens | TOPK_SHORT_FLOOR min(k, floor(S / tokens_per)). Token budgets are rounded
 * up to round_tokens and become candidates by division by tokens_per (floor). Then: at least min_k, at most
 * m.
 */
enum topk_kind { TOPK_FIXED, TOPK_RATIO, TOPK_FLOOR, TOPK_CR, TOPK_SHORT_FLOOR };
/* The last force_last indices below n: taken first, as part of the k | beside the k best of the others |
 * beside the k best of all, where they are not among these. */
enum topk_force { FORCE_INSIDE, FORCE_BESIDE, FORCE_UNION };
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
    int dense_when_short; /* n <= k: len -1 (all live) */
    int dense_tokens;     /* S <= this: len -1; 0: no */
    int dense_first;      /* the first decode step, pos = len_of_seq: len -1 */
    int phantom_page; /* DELTA's release: when S is a multiple of 16 an empty page follows that uses up one of
                       * k and one of force_last */
    float tie_bias;   /* not 0: scores are logarithms, exp(score) - tie_bias * index is compared, in fp32 */
};

/* ---- operations ---- */

/* Adding one: a line here, its argument struct below with its maths, a body per backend, a row in
 * tests/kernels. */
/* clang-format off */
#define BACKEND_OPS(X)                                                                             \
    X(embed) X(rmsnorm) X(linear) X(qk_norm) X(rope) X(append) X(swiglu) X(plan) X(attend)         \
    X(prefill_attend) X(page_scores) X(qk_stats) X(reduce_stats) X(topk) X(mask_scores) X(stamp)   \
    X(drop_lowest) X(drop_list) X(load_stamps) X(gate) X(expire) X(until) X(compact) X(copy_units) \
    X(account) X(sample) X(fill_i32)
/* clang-format on */

enum op {
#define X(name) OP_##name,
    BACKEND_OPS(X)
#undef X
        OP_COUNT
};

/* out[r][i] = w[token[r]][i], fp32; rows with seq -1 (or seq NULL: none) give zeros. w is (vocab, dim). */
struct embed_args {
    const int32_t *token, *seq; /* (rows) */
    struct weight w;            /* n = vocab, k = dim */
    float *out;                 /* (rows, dim) */
    int rows;
};

/* out[r][i] = x[r][i] / sqrt(mean_j x[r][j]^2 + eps) * w[i] */
struct rmsnorm_args {
    const float *x, *w; /* (rows, dim), (dim) fp32 */
    float *out;         /* (rows, dim); may be x */
    int rows, dim;
    float eps;
};

/* out[r][i] = (sum_j w[i][j] x[r][j]) + bias[i], or added to what out holds when `accumulate`. Row strides in
 * floats. k runs in blocks of 256 in sequence, block sums added in sequence, fused multiply-add. */
struct linear_args {
    struct weight w;
    const float *x; /* (rows, k), stride x_stride */
    float *out;     /* (rows, n), stride out_stride */
    int rows, x_stride, out_stride, accumulate;
};

/* RMSNorm over each head of q and k in place, before RoPE (Qwen3). */
struct qk_norm_args {
    float *q, *k;         /* (rows, n_q, d), (rows, n_kv, d) at row stride `stride` */
    const float *wq, *wk; /* (d) */
    int rows, stride, n_q, n_kv, head_dim;
    float eps;
};

/* Rotates the pairs (i, i + d/2) of each head of q and k in place by the angle of the row's position:
 * (a, b) -> (a cos - b sin, b cos + a sin). cos_sin is (max_pos, 2, d/2): cos then sin. */
struct rope_args {
    struct rows rows;
    float *q, *k; /* row stride `stride` */
    const float *cos_sin;
    int stride, n_q, n_kv, head_dim;
};

/* Writes K and V of each row into its head's next slot and updates bounds, live, tail, n_slots, n_live.
 * Next slot: the one after tail when it is free and in the same page, else the lowest free slot, else n_slots
 * (free = below n_slots and not live; the slot after tail may also be n_slots itself). A page without live
 * tokens starts its bounds anew. prefill: all rows belong to one sequence, in order of position, and slot =
 * position. */
struct append_args {
    struct rows rows;
    struct kv_view kv;
    int layer, prefill;
    const float *k, *v; /* row stride `stride` */
    int stride;
};

/* out[r][i] = silu(x[r][i]) * x[r][n + i]; silu(z) = z / (1 + exp(-z)) */
struct swiglu_args {
    const float *x; /* (rows, 2n): gate, then up */
    float *out;     /* (rows, n) */
    int rows, n;
};

/* Turns a selection into attention lists: per (row, KV head) ascending pages with token and head masks, live
 * slots only, the lists of the group's query heads merged. Books the distinct tokens into kv.reads. */
struct plan_args {
    struct rows rows;
    struct kv_view kv;
    int layer, n_q;
    enum sel_unit unit;
    int n_rows, cap, block_pages;
    uint8_t row_of_q[BACKEND_MAX_Q_HEADS];
    const int32_t *idx, *len;
    struct plan out;
};

/* out[r][h] = softmax(q[r][h] . K * scale) V over the list, fp32. Tokens are taken in slot order in tiles of
 * 16 (a page each, masked), in chunks of 32 pages at fixed page numbers whatever the list, chunks combined
 * in order. With stats.logits not NULL also writes scaled logits by slot (-inf elsewhere below the head's
 * n_slots rounded up to 16) and lse. */
struct attend_args {
    struct rows rows;
    struct kv_view kv;
    int layer, n_q;
    const float *q; /* (rows, n_q, d) at row stride q_stride */
    int q_stride;
    float *out; /* (rows, n_q, d), dense */
    float scale;
    struct plan plan;
    struct stats stats; /* logits NULL: not wanted */
};

/* Causal attention of nq query rows of one sequence over its slots 0 .. pos (slot = position), which are
 * appended already. until: NULL, or (heads of this sequence: n_kv, until_stride) last query position that
 * sees each key. tile: 0, or queries go in tiles that begin at multiples of it; of the keys before its tile a
 * query sees those in the tile's list, of its own tile those up to itself. */
struct prefill_attend_args {
    struct kv_view kv;
    int seq, layer, n_q, pos0, nq;
    const float *q; /* (nq, n_q, d) at row stride q_stride */
    int q_stride;
    float *out; /* (nq, n_q, d), dense */
    float scale;
    const int32_t *until;
    int until_stride;
    int tile, cap;
    const int32_t *idx, *len; /* (tiles of this call, n_kv, cap) ascending slots; len -1: all. The first tile
                               * is that of pos0 */
};

/* Quest's upper bound: for query head h and block p of block_pages pages,
 * s[h][p] = sum_d max(q[h][d] * kmin[p][d], q[h][d] * kmax[p][d]), unscaled; min and max over the block's
 * pages. out lists: n_q (per_head), or n_kv: max or sum over the group. Blocks without a live token: -inf.
 * Books aux. */
enum score_scope { SCORE_Q, SCORE_KV_MAX, SCORE_KV_SUM };
struct page_scores_args {
    struct rows rows;
    struct kv_view kv;
    int layer, n_q, block_pages;
    enum score_scope scope;
    const float *q;
    int q_stride;
    struct scores out;
};

/* Scaled logits of every live key and their log-sum-exp, without reading V. Books aux. */
struct qk_stats_args {
    struct rows rows;
    struct kv_view kv;
    int layer, n_q;
    const float *q;
    int q_stride;
    float scale;
    struct stats out;
};

/* Attention mass in the log domain: lp[h][t] = logits[h][t] - lse[h]. Over the query heads of each out list
 * (all heads when out.n_rows is 1, a KV head's group when n_kv), per token: max, or log of the sum or mean of
 * exp(lp). With block_pages > 0 further log of the sum over each block of 16 * block_pages slots. bf16:
 * exp(lp) is rounded to bf16 before summing, and a token that was read has at least exp(-104), so that all
 * of them stay candidates. */
struct reduce_stats_args {
    struct rows rows;
    struct kv_view kv;
    int layer, n_q;
    enum reduce_mode mode;
    int block_pages; /* 0: per token */
    int bf16;
    struct stats in;
    struct scores out;
};

/* The rule's number of largest scores, ascending indices; of equal scores the lower index. */
struct topk_args {
    struct rows rows;
    const int32_t *len_of_seq; /* (n_seqs): prompt and longest completion for TOPK_CR, the prompt for
                                * dense_first; else NULL */
    struct scores in;
    struct topk_rule rule;
    int32_t *idx, *len; /* (rows, in.n_rows, cap), (rows, in.n_rows) */
    int cap;            /* the rule's k is cut to it */
};

/* Candidates outside each row's list become -inf; m is recounted. len -1 changes nothing. */
struct mask_scores_args {
    struct rows rows;
    struct scores s;
    const int32_t *idx, *len;
    int cap;
};

/* Page stamps (RaaS): stamp[state of seq][head of layer][page] = pos + 1 for the pages of each KV head's
 * list, or, with alpha > 0, for the pages whose softmax over the scores exceeds alpha (idx unused). n_rows of
 * the lists = n_kv. */
struct stamp_args {
    struct rows rows;
    struct kv_view kv;
    int layer;
    char *state;        /* per-sequence state; int32 stamp (n_layers, n_kv, max_pages) at its start */
    size_t state_bytes; /* per sequence */
    const int32_t *idx, *len;
    int cap;
    struct scores s; /* alpha > 0 */
    float alpha;
};

/* Makes room before a row's token is appended (RaaS): per KV head, while the pages that count (those at or
 * after the counted ones, the page about to be opened included) exceed budget_pages, drops the page with the
 * lowest stamp among those not pinned and not the current one; equal stamps: the one born first. If the token
 * opens a page, its stamp becomes new_stamp ? pos + 1 : 0 and its birth pos + 1. State: stamp, then born,
 * each int32 (n_layers, n_kv, max_pages). pinned pages = pin ? those holding prompt tokens : none; counted
 * from = pin_counts ? 0 : pinned. */
struct drop_lowest_args {
    struct rows rows;
    struct kv_view kv;
    int layer;
    char *state;
    size_t state_bytes;
    const int32_t *prompt_len; /* (n_seqs) */
    int budget_pages, pin, pin_counts, new_stamp;
};

/* Page stamps as scores: out[r][h][page] = stamp, -inf for pages without a live token. State as in stamp. */
struct load_stamps_args {
    struct rows rows;
    struct kv_view kv;
    int layer;
    const char *state;
    size_t state_bytes;
    struct scores out; /* n_rows = n_kv */
};

/* Clears the live bits of the listed slots: list (rows, n_kv, cap), len (rows, n_kv). */
struct drop_list_args {
    struct rows rows;
    struct kv_view kv;
    int layer;
    const int32_t *idx, *len;
    int cap;
};

/* flag[r][h] = (w[h] . y[r] + b[h]) * scale + bias > 0, h over KV heads; per_layer: head 0 decides for all.
 */
struct gate_args {
    const float *y;     /* (rows, dim): the layer's normed input */
    const float *w, *b; /* (n_kv, dim), (n_kv) fp32 */
    float scale, bias;
    int32_t *flag; /* (rows, n_kv) */
    int rows, dim, n_kv, per_layer;
};

/* DMS while decoding, before token n = pos is appended. Each head keeps a ring of the last `reach` tokens:
 * slot and flag, int32 (n_layers, n_kv, reach) each, slots first, in the state at `offset`. (1) the slot of
 * token n-1 is tail; (2) the new flag belongs to token n - shift; (3) token n - reach, if flagged, is
 * dropped; (4) token n's own entry starts with its flag (shift 0) or 0. */
struct expire_args {
    struct rows rows;
    struct kv_view kv;
    int layer;
    char *state;
    size_t state_bytes, offset;
    const int32_t *flag; /* (rows, n_kv) */
    int reach, shift;
};

/* DMS in prefill: until[h][pos - shift] = flag ? pos - shift + reach - 1 : INT32_MAX for the rows' positions;
 * one sequence. Entries that a later flag will decide hold INT32_MAX. */
struct until_args {
    struct rows rows;
    const int32_t *flag; /* (rows, n_kv) */
    int32_t *until;      /* (n_kv, stride) of this sequence and layer */
    int stride, n_kv, reach, shift;
};

/* After the prefill of n tokens: in every layer and KV head drops the keys that query n-1 does not see (until
 * < n-1) and moves the live ones down to slots 0 .. n_live-1 in order; n_slots, n_live, tail and live follow.
 * Fills the rings of `expire`: entries of the last `reach` tokens. until is (n_layers, n_kv, until_stride).
 */
struct compact_args {
    struct kv_view kv;
    int seq, n;
    const int32_t *until;
    int until_stride;
    int32_t *ring_slot, *ring_flag; /* (n_layers, n_kv, reach) of this sequence */
    int reach;
};

/* Copies whole units (K, V and bounds): unit dst[i] = unit src[i]. Device arrays. */
struct copy_units_args {
    struct kv_view kv;
    const int32_t *src, *dst;
    int n;
};

/* End of a step: peak[seq] = max(peak[seq], sum over layers and KV heads of n_live). */
struct account_args {
    struct rows rows;
    struct kv_view kv;
};

/* Next token of each row and the step's bookkeeping. Greedy when temperature is 0 (equal logits: the lower
 * id), else temperature, then top_k, then top_p (smallest set whose mass reaches top_p, largest first, ties
 * to the lower id), then one draw from Philox4x32-10 with key = seed and counter = (pos + 1, sample, problem
 * low, problem high). out and row_token get the draw (or force when >= 0), row_pos becomes pos + 1. When the
 * largest logit is not finite there is nothing to draw from: out says so, whatever the token. */
struct sample_settings { /* device, by sequence */
    float temperature, top_p;
    int32_t top_k;
    uint32_t sample;
    uint64_t seed, problem;
    int32_t banned[8]; /* ids that may not be drawn now (end tokens before min_new_tokens); -1: none */
    int32_t force;     /* >= 0: this token instead */
    int32_t want_logprob;
};
struct sample_result { /* device, by row */
    int32_t token;
    float logprob; /* of token, over the whole vocabulary, natural log; 0 unless wanted */
    float gap;     /* largest minus second largest logit; 0 unless wanted */
    int32_t bad;   /* 1: a logit is not a number, or the largest is infinite */
};
struct sample_args {
    struct rows rows;
    const float *logits; /* (rows, vocab) */
    int vocab;
    const struct sample_settings *settings; /* (n_seqs) */
    struct sample_result *out;              /* (rows) */
    int32_t *row_token;                     /* (rows): fed to the next embed */
    int32_t *row_pos;                       /* (rows): advanced by one */
    float *scratch;                         /* (rows, vocab) */
};

struct fill_i32_args {
    int32_t *out;
    int32_t value;
    int64_t n;
};

/* ---- the table ---- */

struct device_options {
    int threads;     /* CPU: 0 = all cores this process may use */
    const char *isa; /* CPU: NULL = best; else exactly that one or BACKEND_ERR_UNSUPPORTED */
};

struct backend {
    const char *name;
    int (*count)(void); /* devices present */
    int (*open)(struct device **out, int ordinal, const struct device_options *o);
    void (*close)(struct device *d);
    const char *(*describe)(struct device *d);   /* "avx2, 2 threads" */
    const char *(*last_error)(struct device *d); /* sentence for the last negative result */

    void *(*alloc)(struct device *d, size_t bytes); /* zeroed, 64-byte aligned; NULL when it does not fit */
    void (*release)(struct device *d, void *p);
    int (*upload)(struct device *d, void *dst, const void *src, size_t bytes);
    int (*download)(struct device *d, void *dst, const void *src, size_t bytes);

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
};

const struct backend *backend_find(const char *name); /* NULL when not built in */
const struct backend *backend_at(int i);              /* NULL past the end */

/* Bytes an operation's arguments take, for recorders. */
size_t backend_op_bytes(enum op op);
const char *backend_op_name(enum op op);

#ifdef __cplusplus
}
#endif
#endif
