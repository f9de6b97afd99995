#ifndef KERNELS_BACKEND_OPS_H
#define KERNELS_BACKEND_OPS_H

/* Part 3 of kernels/backend.h, which includes it: do not include it directly. It says what each operation
 * computes and on which arrays; layouts, strides and what rows are stand in backend.h. The operations that
 * forget tokens, and those that score them for it, follow in backend_forget.h.
 *
 * Results that only feed linear layers (of rmsnorm, swiglu and attention) have the type that the struct's
 * `type` names: fp32, or the backend's `activations`, rounded to nearest even. Sums are in fp32 either way.
 */

/* out[r][i] = w[token[r]][i] * scale, in fp32; rows whose seq is -1 give zeros. seq may be NULL when no row
 * is padding. */
struct embed_args {
    const int32_t *token, *seq; /* (rows) */
    struct weight w;            /* n = vocab, k = dim */
    float *out;                 /* (rows, dim) */
    int rows;
    float scale; /* 1, or what a family multiplies embeddings by */
};

/* out[r][i] = x[r][i] / sqrt(mean_j x[r][j]^2 + eps) * w[i], or with w NULL x[r][i] as it is, in the type of
 * out */
struct rmsnorm_args {
    const float *x, *w; /* (rows, dim), (dim) fp32, or NULL */
    void *out;          /* (rows, dim); may be the same array as x when it is fp32 */
    int rows, dim;
    float eps;
    enum dtype type; /* of out */
    int stride;      /* between rows of x and of out, in values; 0: dim */
};

/* x[r][i] += t[r][i] * scale, where t is first normed as by rmsnorm if w is not NULL: how a part of a layer
 * joins the residual stream where a norm or a multiplier stands behind it. */
struct add_part_args {
    float *x;           /* (rows, dim) fp32 */
    const float *t, *w; /* (rows, dim), (dim) or NULL */
    int rows, dim;
    float eps, scale;
};

/* v[i] = v[i] * scale, and then cap * tanh(v[i] / cap) where cap is above 0: logits before they are sampled
 * from. What is not finite once it is scaled stays as it is, so that `sample` tells. */
struct cap_logits_args {
    float *v; /* (n) */
    int64_t n;
    float scale, cap;
};

/* out[r][i] = (sum_j w[i][j] x[r][j]) + bias[i], or added to what out holds when `accumulate`. Row strides in
 * elements. k is summed in blocks of 256 from the first to the last, with fused multiply-adds, and the sums
 * of the blocks are added in that order. decode: the rows are tokens of different sequences, and few; a
 * backend may then sum in another order (split-k). */
struct linear_args {
    struct weight w;
    const void *x; /* (rows, k), stride x_stride */
    float *out;    /* (rows, n), stride out_stride */
    int rows, x_stride, out_stride, accumulate;
    enum dtype type; /* of x; bf16 for a bf16 weight only */
    int decode;
};

/* Writes K and V of each row into the next slot of each of its heads and updates bounds, live, tail, n_slots
 * and n_live. The next slot is the one after tail if it is free and in the same page, otherwise the lowest
 * free slot, otherwise n_slots. A slot is free when it is below n_slots and not live; the slot after tail may
 * also be n_slots itself. The bounds of a page without live tokens start anew. prefill: the rows are
 * consecutive positions of one sequence, none of them padding, and each token's slot is its position. */
struct append_args {
    struct rows rows;
    struct kv_view kv;
    int layer, prefill;
    const float *k, *v; /* (rows, n_kv, d) at row stride `stride` */
    int stride;
};

/* append, with steps before it that work in place. First RMSNorm over each head of q and k (Qwen3; none where
 * wq and wk are NULL). Then the pairs (i, i + d/2) of each head of q and k are rotated by the angle of the
 * row's position: (a, b) -> (a cos - b sin, b cos + a sin). cos_sin is (max_pos, 2, d/2): cos, then sin;
 * NULL: no rotation. norm_after: the norms follow the rotation instead (Hunyuan). Last q is multiplied by
 * q_scale of the row's position, unless that is NULL (Ministral 3). Padding rows stay as they are. */
struct rope_append_args {
    struct rows rows;
    struct kv_view kv;
    int layer, prefill, n_q;
    float *q, *k; /* (rows, n_q, d) and (rows, n_kv, d); q, k and v all have row stride `stride` */
    const float *v;
    int stride;
    const float *cos_sin;
    const float *wq, *wk; /* (d) */
    float eps;
    int norm_after;
    const float *q_scale; /* (max_pos) or NULL */
};

/* The first of rope_append's steps alone: RMSNorm over each head of q and k, in place. Then rope_append
 * without wq and wk gives the same bits as with them. */
struct head_norm_args {
    struct rows rows;
    int n_q, n_kv, head_dim;
    float *q, *k; /* (rows, n_q, head_dim) and (rows, n_kv, head_dim) at row stride `stride` */
    int stride;
    const float *wq, *wk; /* (head_dim) */
    float eps;
};

/* The gated units of feed-forward layers: with gate z and up u,
 *
 *   GLU_SILU     silu(z) * u, where silu(z) = z / (1 + exp(-z))
 *   GLU_GELU     gelu(z) * u, where gelu(z) = z/2 (1 + tanh(sqrt(2/pi) (z + 0.044715 z^3)))
 *   GLU_CLAMPED  z' / (1 + exp(-1.702 z')) * (u' + 1), where z' = min(z, 7) and u' = min(max(u, -7), 7)
 *                (gpt-oss) */
enum glu { GLU_SILU, GLU_GELU, GLU_CLAMPED };

/* out[r][i] = glu(x[r][i], x[r][n + i]) */
struct swiglu_args {
    const float *x; /* (rows, 2n): the gates, then the ups */
    void *out;      /* (rows, n) */
    int rows, n;
    enum dtype type; /* of out */
    enum glu glu;
};

/* linear, then swiglu of what it gives: w has the rows of the gates, then those of the ups. A backend may do
 * both at once and then round otherwise than the two operations one after the other, but all rows alike. */
struct linear_swiglu_args {
    struct weight w;  /* (2n, k) */
    const void *x;    /* (rows, k) */
    float *workspace; /* (rows, 2n) */
    void *out;        /* (rows, n) */
    int rows;
    enum dtype type; /* of x and out; bf16 for a bf16 weight only */
    int decode;      /* as in linear */
    enum glu glu;
};

/* linear_of() and swiglu_of() return the arguments of the two operations that linear_swiglu does in turn: the
 * matrix product into the workspace, and SwiGLU from there. */
static inline struct linear_args linear_of(const struct linear_swiglu_args *a)
{
    return (struct linear_args){a->w, a->x, a->workspace, a->rows, a->w.k, a->w.n, 0, a->type, a->decode};
}

static inline struct swiglu_args swiglu_of(const struct linear_swiglu_args *a)
{
    return (struct swiglu_args){a->workspace, a->out, a->rows, a->w.n / 2, a->type, a->glu};
}

/* What changes the softmax of attention in some families; zeroed: nothing. The same in every operation that
 * has one. */
struct softmax_args {
    const float *sink; /* (n_q), device: a logit of each query head beside those of the keys, which takes its
                        * share of the probability and has no value (gpt-oss); NULL: none. It is part of the
                        * log-sum-exps that statistics hold, but not of those of pages */
    float softcap;     /* above 0: a logit x = q . k * scale becomes softcap * tanh(x / softcap) (Gemma 2) */
};

/* out[r][h] = softmax(q[r][h] . K * scale) V over the live slots of the selection, in fp32. For each (row, KV
 * head) the lists of the group's query heads are merged into one of ascending pages; lists of tokens are read
 * as they are, since the heads of a group share them. The number of distinct tokens is added to kv.reads, and
 * for each head of the group, those that are not on its list to kv.not_chosen.
 * Slots are summed in order, in tiles of 16 and in splits (split-KV, flash-decoding), which begin where the
 * list alone determines; the results of splits are combined in order. Where stats.logits is not NULL it also
 * writes the scaled logits by slot (-inf for the other slots below the head's n_slots rounded up to 16), or
 * with by_page, which goes with SEL_LIVE, the log-sum-exp of each of these pages; and lse. Here and below the
 * exponential of a softmax is 0 where x - largest < -69 (in prefill_attend on a GPU's tensor cores below
 * about -87), so that sums meet no denormals. */
struct attend_args {
    struct rows rows;
    struct kv_view kv;
    int layer, n_q;
    const float *q; /* (rows, n_q, d) at row stride q_stride */
    int q_stride;
    void *out; /* (rows, n_q, d), dense */
    float scale;
    enum sel_granularity granularity; /* this, the next four, idx and len: as in struct selection */
    int n_rows, cap, block_pages, max_pages_read;
    int in_order; /* Nothing has been dropped, so that each token's slot is its position and rows.pos that of
                   * the newest. The kernel may then read other pages while it is still being appended. */
    uint8_t row_of_q[BACKEND_MAX_Q_HEADS]; /* which of the n_rows lists each query head reads */
    const int32_t *idx, *len;
    struct plan plan;   /* workspace */
    struct stats stats; /* logits NULL: no statistics are wanted */
    enum dtype type;    /* of out */
    struct softmax_args softmax;
    int window; /* above 0: of all live tokens the last `window` slots alone, of which none has been dropped;
                 * with SEL_LIVE and in_order, without statistics. Pages before these are not looked at */
};

/* Causal attention of nq query rows of one sequence over its slots 0 .. pos (slot = position), which have
 * been appended already, or with window above 0 over the last `window` of them, without until and tile.
 * until: NULL, or (n_kv, until_stride) the last query position that sees each key. tile: 0, or the queries
 * are taken in tiles that begin at multiples of it; a query then sees the keys before its tile that are in
 * the tile's list, and those of its own tile up to itself. */
struct prefill_attend_args {
    struct kv_view kv;
    int seq, layer, n_q, pos0, nq;
    const float *q; /* (nq, n_q, d) at row stride q_stride */
    int q_stride;
    void *out; /* (nq, n_q, d), dense */
    float scale;
    const int32_t *until;
    int until_stride;
    int tile, cap;
    int n_rows;                             /* lists of a tile */
    uint8_t row_of_kv[BACKEND_MAX_Q_HEADS]; /* which of them each KV head reads */
    const int32_t *idx, *len; /* (tiles of this call, n_rows, cap) ascending slots, and (tiles, n_rows); len
                               * -1: all keys. The first tile is the one that holds pos0 */
    enum dtype type;          /* of out */
    struct softmax_args softmax;
    int window;
};

/* Counts what prefill_attend reads with the same arguments: adds to kv.prefill_reads, for each KV head, the
 * number of pairs of a query and a key that it sees. scanned: the keys up to each query were looked at
 * besides, for the choice; they are added to kv.prefill_scans. */
struct prefill_count_args {
    struct prefill_attend_args read; /* without q, out, idx */
    int scanned;
};

/* prefill_pairs() returns that number where neither until nor tile hides a key. */
BACKEND_INLINE int64_t prefill_pairs(int pos0, int nq, int window)
{
    int64_t whole = window <= 0 || window - pos0 > nq ? nq : window > pos0 ? window - pos0 : 0;
    return whole * pos0 + whole * (whole + 1) / 2 + (nq - whole) * window;
}

/* Attention mass of a prompt chunk, in the log domain. The nq queries are taken in tiles that begin at
 * multiples of `tile`, a multiple of 16; pos0 is one of them. For tile t, list h and every key up to the
 * tile's last query, out.v[t][h][key] = log of the sum of softmax(q . K * scale) over the tile's queries at
 * positions >= from and over the query heads of the list: a KV head's group where out.n_rows is n_kv, all of
 * them where it is 1. Each softmax is over the live keys up to its query (slot = position). own[t][h] = log
 * of the sum over the tile's own keys. -inf: nothing was seen. The rows of out are the tiles; a list's length
 * is the number of these keys, or with `before` of those before the tile. `out` has room for pos0 + nq
 * candidates either way. */
struct prefill_mass_args {
    struct kv_view kv;
    int seq, layer, n_q, pos0, nq;
    const float *q; /* (nq, n_q, d) at row stride q_stride */
    int q_stride;
    float scale;
    int tile, from, before;
    struct scores out;
    float *own; /* (tiles, out.n_rows), or NULL */
    struct softmax_args softmax;
};

/* out[r][h] = the mean of q over the rows of r's tile and the query heads of h's group: what is attended by
 * it is pooled before the softmax. Tiles begin at multiples of `tile` rows; the last one may be short. Sums
 * are in the order of rows, then heads. */
struct pool_queries_args {
    const float *q; /* (rows, n_q, d) at row stride q_stride */
    int q_stride;
    float *out; /* (rows, n_q, d), dense; another array than q */
    int rows, n_q, n_kv, dim, tile;
};

/* Quest's upper bound: for query head h and block p of block_pages pages,
 * s[h][p] = sum_d max(q[h][d] * kmin[p][d], q[h][d] * kmax[p][d]), unscaled; min and max over the block's
 * pages. Lists of a KV head, score_lists() of them: one for each query head of its group, one for two
 * neighbours (the larger bound; the last of an odd group is alone), or one: max or sum over the group. Blocks
 * without a live token get -inf. Adds to kv.aux_half. */
enum score_scope { SCORE_Q, SCORE_KV_MAX, SCORE_KV_SUM, SCORE_PAIR_MAX };
/* Returns the number of lists of a KV head under this scope. */
BACKEND_INLINE int score_lists(enum score_scope scope, int group)
{
    return scope == SCORE_Q ? group : scope == SCORE_PAIR_MAX ? (group + 1) / 2 : 1;
}
struct page_scores_args {
    struct rows rows;
    struct kv_view kv;
    int layer, n_q, block_pages;
    enum score_scope scope;
    const float *q;
    int q_stride;
    struct scores out;
};

/* Scaled logits of every live key, or with out.by_page the log-sum-exp of each page's, and that of all of
 * them, without reading V. Adds to kv.aux_half. */
struct qk_stats_args {
    struct rows rows;
    struct kv_view kv;
    int layer, n_q;
    const float *q;
    int q_stride;
    float scale;
    struct stats out;
    struct softmax_args softmax;
};

/* Attention mass in the log domain: lp[h][t] = logits[h][t] - lse[h]. For each token it takes the largest lp,
 * or the log of the sum or mean of exp(lp), over the query heads of each out list (all heads when out.n_rows
 * is 1, a KV head's group when it is n_kv). With block_pages > 0 it then takes the log of the sum over each
 * block of 16 * block_pages slots. bf16: exp(lp) is rounded to bf16 before it is summed, and a token that was
 * read counts at least exp(-104), so that all of them stay candidates. With in.by_page a block's score is the
 * log of the sum or mean over heads of the sum over its pages of exp(logits[h][page] - lse[h]), which is the
 * same number; the largest, scores of tokens and bf16 need every logit. Adds to kv.aux_values: whoever wrote
 * the statistics, here they are read once. */
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

/* What reduce_stats is to subtract from logits of tokens instead of the logarithm of their whole sum:
 * lse[r][q] becomes the log-sum-exp of the logits of the first len_of_seq slots alone, and of the sink, or
 * with len_of_seq NULL 0, so that the largest logits are compared as they are. */
struct first_lse_args {
    struct rows rows;
    int n_q;
    const int32_t *len_of_seq; /* (n_seqs), or NULL */
    struct stats io;           /* of tokens; its logits are read */
    const float *sink;         /* (n_q) or NULL, as in softmax_args */
};

/* The indices of the largest scores, as many as `params` says, in ascending order. Of equal scores the one
 * with the lower index is taken. */
struct topk_args {
    struct rows rows;
    const int32_t *len_of_seq; /* (n_seqs): for TOPK_CR the length of the prompt and the longest completion
                                * together, for TOPK_LEN, dense_first and force_after_len that of the prompt;
                                * otherwise NULL */
    struct scores in;
    struct topk_params params;
    int32_t *idx, *len; /* (rows, in.n_rows, cap), (rows, in.n_rows) */
    int cap;            /* at most this many are taken, whatever params say */
};

/* The first `sinks` tokens and the last ones, as many in all as `params` takes of S = pos + 1: one list per
 * row, of len -1 where it takes all. For caches from which nothing is dropped. */
struct window_list_args {
    struct rows rows;
    struct topk_params params;
    int sinks;
    int32_t *idx, *len; /* (rows, cap), (rows) */
    int cap;
};

/* LessIsMore's union (arXiv 2508.07101). `params` takes k of S = pos + 1 tokens, of which m = floor(middle *
 * k) come from the middle; the others are the first `sinks` (none, if fewer than that are left) and the most
 * recent. Each query head ranks the tokens between these by its logits, of equal ones the lower first. A walk
 * goes through rank 0 of all heads, then rank 1, and so on up to rank m - 1. Scores, one list per row: 0 for
 * the sinks and the recent tokens, -(1 + place of the first visit) for the tokens that the walk visits, and
 * -2^31 for the others. The k largest scores are then what LessIsMore reads. Adds to kv.aux_values as
 * reduce_stats does. For caches from which nothing is dropped. */
struct rank_union_args {
    struct rows rows;
    struct kv_view kv;
    int layer, n_q;
    struct stats in;
    struct topk_params params;
    double middle;
    int sinks;
    struct scores out;
};

/* Candidates that are not in the list get -inf, and m is counted again. A list of len -1 changes nothing. */
struct mask_scores_args {
    struct rows rows;
    struct scores s;
    const int32_t *idx, *len;
    int cap;
};

/* Copies n whole KV blocks (K, V and bounds) from KV block src[i] to KV block dst[i]. */
struct copy_blocks_args {
    struct kv_view kv;
    const int32_t *src, *dst;
    int n;
};

/* Runs at the end of a step: peak[seq] = max(peak[seq], sum of n_live over layers and KV heads), where a head
 * of a layer with a window holds no more than that. Where
 * with_bounds[seq] is not 0 the bounds of its pages, n_live / 16 rounded up, count as well; two vectors are
 * as large as K and V of one token. */
struct account_args {
    struct rows rows;
    struct kv_view kv;
    const int32_t *with_bounds; /* (n_seqs) */
    const int32_t *window;      /* (n_layers): 0 for a layer without; or NULL: no layer has one */
};

/* The next token of each row, and the step's bookkeeping. When temperature is 0 it is the token with the
 * largest logit (of equal ones the lower id). Otherwise the logits are divided by the temperature, cut to
 * top_k, then to top_p (the smallest set whose mass reaches top_p, largest first, of equal ones the lower
 * id), and one draw is made from Philox4x32-10 with key = seed and counter = (pos + 1, sample, problem low,
 * problem high). out and row_token get the token drawn (or `force` when that is >= 0), and row_pos becomes
 * pos + 1. When the largest logit is not finite there is nothing to draw from, and out.bad says so whatever
 * the token. After that, and after one of `ends`, row_seq becomes -1, a padding row, so that a step that is
 * already on its way does nothing for a sequence that is over. */
struct sample_settings { /* device, by sequence */
    float temperature, top_p;
    int32_t top_k;
    uint32_t sample;
    uint64_t seed, problem;
    int32_t banned[8]; /* ids that may not be drawn now (end tokens before min_new_tokens); -1: unused */
    int32_t ends[8];   /* ids after which the sequence is over; -1: unused */
    int32_t force;     /* when >= 0, this token is taken instead of a draw */
    int32_t want_logprob;
};
struct sample_result { /* device, by row */
    int32_t token;
    float logprob; /* natural log of token's probability over the whole vocabulary; 0 unless wanted */
    float gap;     /* largest minus second largest logit; 0 unless wanted */
    int32_t bad;   /* 1: a logit is not a number, or the largest is infinite */
    int32_t top;   /* the token that temperature 0 takes, whatever was taken; 0 unless log-probabilities are
                    * wanted */
    float top_logprob; /* of that token; 0 unless wanted */
};
struct sample_args {
    struct rows rows;
    const float *logits; /* (rows, stride), of which vocab are of tokens */
    int vocab, stride;
    const struct sample_settings *settings; /* (n_seqs) */
    struct sample_result *out;              /* (rows) */
    int32_t *row_token;                     /* (rows): input of the next embed */
    int32_t *row_pos;                       /* (rows): advanced by one */
    int32_t *row_seq;                       /* (rows), the array rows.seq: -1 once a sequence is over */
    float *workspace;                       /* (rows, vocab) */
};

/* out[i] = value for i below n. */
struct fill_i32_args {
    int32_t *out;
    int32_t value;
    int64_t n;
};

/* out[at[i]] = value[i]; no index may occur twice in `at`. */
struct put_i32_args {
    int32_t *out;
    const int32_t *at, *value; /* (n) */
    int n;
};

#endif
