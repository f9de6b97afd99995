#ifndef KERNELS_BACKEND_OPS_H
#define KERNELS_BACKEND_OPS_H

/* Part 3 of kernels/backend.h, which includes it: do not include it directly. It says what each operation
 * computes and on which arrays; layouts, strides and what rows are stand in backend.h.
 *
 * Results that only feed linear layers (of rmsnorm, swiglu and attention) have the type that the struct's
 * `type` names: fp32, or the backend's `activations`, rounded to nearest even. Sums are in fp32 either way.
 */

/* out[r][i] = w[token[r]][i], in fp32; rows whose seq is -1 give zeros. seq may be NULL when no row is
 * padding. */
struct embed_args {
    const int32_t *token, *seq; /* (rows) */
    struct weight w;            /* n = vocab, k = dim */
    float *out;                 /* (rows, dim) */
    int rows;
};

/* out[r][i] = x[r][i] / sqrt(mean_j x[r][j]^2 + eps) * w[i] */
struct rmsnorm_args {
    const float *x, *w; /* (rows, dim), (dim) fp32 */
    void *out;          /* (rows, dim); may be the same array as x when it is fp32 */
    int rows, dim;
    float eps;
    enum dtype type; /* of out */
};

/* out[r][i] = (sum_j w[i][j] x[r][j]) + bias[i], or added to what out holds when `accumulate`. Row strides in
 * elements. k is summed in blocks of 256 from the first to the last, with fused multiply-adds, and the sums
 * of the blocks are added in that order. decode: the rows are tokens of different sequences, and few; a
 * backend may then sum in another order. */
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

/* append, with two steps before it that work in place. First RMSNorm over each head of q and k (Qwen3; none
 * where wq and wk are NULL). Then the pairs (i, i + d/2) of each head of q and k are rotated by the angle of
 * the row's position: (a, b) -> (a cos - b sin, b cos + a sin). cos_sin is (max_pos, 2, d/2): cos, then sin.
 * Padding rows stay as they are. */
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

/* out[r][i] = silu(x[r][i]) * x[r][n + i], where silu(z) = z / (1 + exp(-z)) */
struct swiglu_args {
    const float *x; /* (rows, 2n): the gates, then the ups */
    void *out;      /* (rows, n) */
    int rows, n;
    enum dtype type; /* of out */
};

/* out[r][h] = softmax(q[r][h] . K * scale) V over the live slots of the selection, in fp32. For each (row, KV
 * head) the lists of the group's query heads are merged into one of ascending pages; lists of tokens are read
 * as they are, since the heads of a group share them. The number of distinct tokens is added to kv.reads.
 * Slots are summed in order, in tiles of 16 and in chunks whose bounds follow from the list alone; the chunks
 * are combined in order. Where stats.logits is not NULL it also writes the scaled logits by slot (-inf for
 * the other slots below the head's n_slots rounded up to 16) and lse. Here and below the term of a softmax is
 * 0 where x - largest < -69 (in prefill_attend on a GPU's tensor cores < -87), so that sums meet no
 * denormals. */
struct attend_args {
    struct rows rows;
    struct kv_view kv;
    int layer, n_q;
    const float *q; /* (rows, n_q, d) at row stride q_stride */
    int q_stride;
    void *out; /* (rows, n_q, d), dense */
    float scale;
    enum sel_unit unit; /* this and the next members: as in struct selection */
    int n_rows, cap, block_pages, most_pages;
    uint8_t row_of_q[BACKEND_MAX_Q_HEADS]; /* which of the n_rows lists each query head reads */
    const int32_t *idx, *len;
    struct plan plan;   /* scratch */
    struct stats stats; /* logits NULL: no statistics are wanted */
    enum dtype type;    /* of out */
};

/* Causal attention of nq query rows of one sequence over its slots 0 .. pos (slot = position), which have
 * been appended already. until: NULL, or (n_kv, until_stride) the last query position that sees each key.
 * tile: 0, or the queries are taken in tiles that begin at multiples of it; a query then sees the keys before
 * its tile that are in the tile's list, and those of its own tile up to itself. */
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
};

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
};

/* Quest's upper bound: for query head h and block p of block_pages pages,
 * s[h][p] = sum_d max(q[h][d] * kmin[p][d], q[h][d] * kmax[p][d]), unscaled; min and max over the block's
 * pages. out lists: n_q (per_head), or n_kv: max or sum over the group. Blocks without a live token get -inf.
 * Adds to kv.aux_half. */
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

/* Scaled logits of every live key and their log-sum-exp, without reading V. Adds to kv.aux_half. */
struct qk_stats_args {
    struct rows rows;
    struct kv_view kv;
    int layer, n_q;
    const float *q;
    int q_stride;
    float scale;
    struct stats out;
};

/* Attention mass in the log domain: lp[h][t] = logits[h][t] - lse[h]. For each token it takes the largest lp,
 * or the log of the sum or mean of exp(lp), over the query heads of each out list (all heads when out.n_rows
 * is 1, a KV head's group when it is n_kv). With block_pages > 0 it then takes the log of the sum over each
 * block of 16 * block_pages slots. bf16: exp(lp) is rounded to bf16 before it is summed, and a token that was
 * read counts at least exp(-104), so that all of them stay candidates. Adds to kv.aux_values: whoever wrote
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

/* The indices of the largest scores, as many as the rule says, in ascending order. Of equal scores the one
 * with the lower index is taken. */
struct topk_args {
    struct rows rows;
    const int32_t *len_of_seq; /* (n_seqs): for TOPK_CR the length of the prompt and the longest completion
                                * together, for TOPK_LEN, dense_first and force_after_len that of the prompt;
                                * otherwise NULL */
    struct scores in;
    struct topk_rule rule;
    int32_t *idx, *len; /* (rows, in.n_rows, cap), (rows, in.n_rows) */
    int cap;            /* at most this many are taken, whatever the rule says */
};

/* The first `sinks` tokens and the last ones, as many in all as the rule takes of S = pos + 1: one list per
 * row, of len -1 where it takes all. For caches from which nothing is dropped. */
struct window_list_args {
    struct rows rows;
    struct topk_rule rule;
    int sinks;
    int32_t *idx, *len; /* (rows, cap), (rows) */
    int cap;
};

/* LessIsMore's union (arXiv 2508.07101). The rule takes k of S = pos + 1 tokens, of which m = floor(middle *
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
    struct topk_rule rule;
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

/* Page stamps (RaaS, arXiv 2502.11147): in the state of each row's sequence, stamp[layer][KV head][page]
 * becomes pos + 1 for the pages in the KV head's list. With alpha > 0, idx and len are not used; the pages
 * are those whose softmax over the scores s exceeds alpha. There is one list per KV head. */
struct stamp_args {
    struct rows rows;
    struct kv_view kv;
    int layer;
    char *state;        /* one block per sequence; it begins with int32 stamp (n_layers, n_kv, max_pages) */
    size_t state_bytes; /* of one sequence */
    const int32_t *idx, *len;
    int cap;
    struct scores s; /* used when alpha > 0 */
    float alpha;
};

/* Makes room before a row's token is appended (RaaS). pin: the pages that hold prompt tokens are pinned and
 * are never dropped; they count towards the budget only with pin_counts. For each KV head, while more pages
 * than budget_pages count (one that this token is about to open included), the page with the lowest stamp is
 * dropped among those that are neither pinned nor the current one; of equal stamps the page born first. If
 * the token opens a page, the page's stamp becomes new_stamp ? pos + 1 : 0 and its birth pos + 1. State:
 * stamps, then births, each int32 (n_layers, n_kv, max_pages). */
struct drop_lowest_args {
    struct rows rows;
    struct kv_view kv;
    int layer;
    char *state;
    size_t state_bytes;
    const int32_t *prompt_len; /* (n_seqs) */
    int budget_pages, pin, pin_counts, new_stamp;
};

/* Page stamps as scores: out[r][h][page] = stamp, or -inf for pages without a live token. The state is that
 * of stamp_args. */
struct load_stamps_args {
    struct rows rows;
    struct kv_view kv;
    int layer;
    const char *state;
    size_t state_bytes;
    struct scores out; /* n_rows = n_kv */
};

/* Drops the listed slots by clearing their live bits: idx (rows, n_kv, cap), len (rows, n_kv). Slots that are
 * not live are ignored. */
struct drop_list_args {
    struct rows rows;
    struct kv_view kv;
    int layer;
    const int32_t *idx, *len;
    int cap;
};

/* DMS's decision to drop a token later (arXiv 2506.05345): flag[r][h] = (w[h] . y[r] + b[h]) * scale + bias >
 * 0 for each KV head h. per_layer: the decision of head 0 holds for all heads. */
struct gate_args {
    const void *y;      /* (rows, dim): the layer's input after its norm */
    const float *w, *b; /* (n_kv, dim), (n_kv) fp32 */
    float scale, bias;
    int32_t *flag; /* (rows, n_kv) */
    int rows, dim, n_kv, per_layer;
    enum dtype type; /* of y */
};

/* DMS's decision where it is a channel of the queries instead (a "borrowed neuron"): with x =
 * q[r][h * n_q / n_kv][channel], of the first query head in the group of each KV head h, flag[r][h] = x *
 * scale + bias > 0, and x becomes 0. Padding rows stay as they are. */
struct borrow_args {
    struct rows rows;
    int n_q, n_kv, head_dim;
    float *q; /* (rows, n_q, head_dim) at row stride `stride`, before the rotation */
    int stride, channel;
    float scale, bias;
    int32_t *flag; /* (rows, n_kv) */
};

/* The same channel becomes 0 once more, after the rotation, which has mixed it with another. */
struct mute_args {
    struct rows rows;
    int n_q, n_kv, head_dim;
    float *q;
    int stride, channel;
};

/* DMS while decoding, before token n = pos is appended. Each head keeps a ring of the last `reach` tokens,
 * with the slot and the flag of each: in a sequence's state at `offset` come the slots, then the flags, each
 * int32 (n_layers, n_kv, reach). The operation (1) records tail as the slot of token n-1, (2) records the new
 * flag for token n - shift, (3) drops token n - reach if it is flagged, and (4) starts the entry of token n
 * with the new flag if shift is 0, otherwise with 0. A NULL flag stands for 1, and the first `sinks` tokens
 * of a sequence are never flagged. */
struct expire_args {
    struct rows rows;
    struct kv_view kv;
    int layer;
    char *state;
    size_t state_bytes, offset;
    const int32_t *flag; /* (rows, n_kv), or NULL */
    int reach, shift, sinks;
};

/* DMS in prefill, for rows of one sequence: until[h][pos - shift] = flag ? pos - shift + reach - 1 :
 * INT32_MAX for the position of each row. Keys whose flag comes with a later row get INT32_MAX for now. Of
 * `flag` and `sinks` the same holds as above. */
struct until_args {
    struct rows rows;
    const int32_t *flag; /* (rows, n_kv), or NULL */
    int32_t *until;      /* (n_kv, stride) of this sequence and layer */
    int stride, n_kv, reach, shift, sinks;
};

/* The end of DMS's prefill of n tokens. In every layer and KV head it drops the keys that query n-1 does not
 * see (until < n-1), moves the others to slots 0 .. n_live-1 in their order, and updates n_slots, n_live,
 * tail and live. It also fills the rings that `expire` uses with the last `reach` tokens. until is (n_layers,
 * n_kv, until_stride); with until_stride 0 all heads share one row. */
struct compact_args {
    struct kv_view kv;
    int seq, n;
    const int32_t *until;
    int until_stride;
    int32_t *ring_slot, *ring_flag; /* (n_layers, n_kv, reach) of this sequence */
    int reach;
};

/* Drops every slot that is not in its list: idx (rows, n_rows, cap) ascending, len (rows, n_rows), where
 * n_rows is n_kv, or 1 for a list that all KV heads share. A list of len -1 changes nothing. squeeze: the
 * slots kept move down to 0 .. n_live-1 in their order, n_slots becomes n_live, tail the last of them, and
 * bounds are made anew; else tokens stay where they are. With squeeze, the first `carry` tables in the state
 * of the row's sequence, each of 4-byte values (n_layers, n_kv, 16 * max_pages) by slot, move along. */
struct keep_args {
    struct rows rows;
    struct kv_view kv;
    int layer;
    const int32_t *idx, *len;
    int n_rows, cap;
    int squeeze, carry;
    char *state;
    size_t state_bytes;
};

/* Scores of the policy that draws what it keeps (Random Attention, arXiv 2609.03430), for heads in which the
 * rule acts; there all slots must be live. The other heads get empty lists. Of the first slots, as many as
 * the prompt has and as leave room for the recent ones and one more are +inf with pin_prompt. The others get
 * a number from 0 to 1: with key' = the first two words of Philox4x32-10 with key = seed and counter = (0,
 * sample, problem low, problem high), the upper 24 bits of the first word of Philox4x32-10 with key = key'
 * and counter = (pos, layer, KV head, slot), where layer and head are 0 with `shared`. sample never uses a
 * counter that begins with 0. newest: their slot instead. */
struct random_scores_args {
    struct rows rows;
    struct kv_view kv;
    int layer;
    struct keep_rule rule;
    const int32_t *len_of_seq;              /* (n_seqs), for rule.cr */
    const int32_t *prompt_len;              /* (n_seqs) */
    const struct sample_settings *settings; /* (n_seqs) */
    int pin_prompt, shared, newest;
    struct scores out; /* n_rows = n_kv */
};

/* DeltaLLM's keys (arXiv 2507.19608, Eq. 2 to 4). A key that is `window` tokens old is replaced in the cache
 * by khat: channel by channel khat(t) = k(t) where |k(t) - khat(t-1)| > theta, else khat(t-1); khat(0) =
 * k(0). All of it is computed in fp32 from keys as the cache holds them. With n = 0 the token is pos - window
 * of each row, if there is one. Otherwise `rows` is not used, and they are all tokens up to n - 1 - window of
 * sequence `seq`, whose prompt has n. State: khat of the last token replaced, float (n_layers, n_kv,
 * head_dim). For caches from which nothing is dropped; page bounds stay those of the keys themselves. */
struct hold_keys_args {
    struct rows rows;
    struct kv_view kv;
    int layer, seq, n;
    char *state;
    size_t state_bytes;
    int window;
    float theta;
};

/* What each key has been attended to so far (H2O, arXiv 2306.14048). The state of a row's sequence begins
 * with two tables (n_layers, n_kv, 16 * max_pages) by slot: float sum, then int32 born, the position of the
 * token there. io holds logarithms of masses, such as reduce_stats writes them. A decode step first gives the
 * slot that append has just filled sum 0 and born pos; in prefill, where slots are positions, the row is the
 * last of a tile of queries and io is what prefill_mass found for it. Then sum(t) += exp(io(t)), and io(t)
 * becomes the score by which tokens are kept: +inf for the last floor(recent * budget of the rule) positions,
 * sum(t) for the other live slots, and -inf for the rest. */
struct accumulate_args {
    struct rows rows;
    struct kv_view kv;
    int layer, prefill;
    struct keep_rule rule; /* for its budget */
    const int32_t *len_of_seq;
    double recent;
    char *state;
    size_t state_bytes;
    struct scores io; /* n_rows = n_kv */
};

/* The last queries of a sequence, for window_mass: copies each row's q to entry pos % n of its layer's ring.
 * The state of the row's sequence begins with the rings: float (n_layers, n, n_q, d). prefill: the rows are
 * consecutive positions of one sequence, and the last n of them are copied. */
struct put_queries_args {
    struct rows rows;
    int layer, n_q, dim; /* dim: d */
    int n, prefill;
    const float *q; /* (rows, n_q, d) at row stride q_stride */
    int q_stride;
    char *state;
    size_t state_bytes;
};

/* What the last n queries of a sequence attend to, as scores of the slots before the rule's `recent` last
 * ones, for heads in which the rule acts; there all slots must be live and at least n positions have passed.
 * The other heads get empty lists. Query i (0 .. n-1) is that of position pos - n + 1 + i, from the rings of
 * put_queries. p_gi(t) = softmax over t of q_gi.k_t * scale, for each query head g of the group: over the
 * slots before the recent ones, or with `causal` over all that are not after the query (slots count from the
 * end) s_g(t)  = pooled over t of (1/n) sum over i of p_gi(t): the mean (0 beyond the ends) or the largest of
 *             `kernel` slots, an odd number, the middle one at t
 *   out(t)  = (1/G) sum over g of s_g(t)
 * largest_first: instead there is one p per KV head, of the largest logit of the group. The recent slots get
 * 0. Adds to kv.aux_half the keys looked at. n_rows = n_kv. */
enum window_pool { WINDOW_MEAN, WINDOW_MAX };
struct window_mass_args {
    struct rows rows;
    struct kv_view kv;
    int layer, n_q;
    float scale;
    struct keep_rule rule;
    const int32_t *len_of_seq; /* (n_seqs), for rule.cr */
    int n;
    const char *state;
    size_t state_bytes;
    int causal, largest_first, kernel;
    enum window_pool pool;
    struct scores out;
};
enum { WINDOW_MOST_KERNEL = 15 };

/* R-KV's redundancy (arXiv 2505.24133), where `io` has scores of window_mass: over all n slots of a KV head,
 *   c(i, j) = k_i.k_j / ((|k_i| + 1e-8) (|k_j| + 1e-8)), but c(i, i) = 0 and c(i, spare(i)) = 0, where
 * spare(i) is the last j with c(i, j) > threshold, or slot 0 if there is none rho     = softmax over j of
 * (1/n) sum over i of c(i, j) io(t)   = lambda io(t) - (1 - lambda) rho(t)    for the slots before the
 * `recent` last ones Lists that are empty stay so. Adds to kv.aux_half the keys looked at. */
struct key_redundancy_args {
    struct rows rows;
    struct kv_view kv;
    int layer, recent;
    float threshold, lambda;
    struct scores io;
    int32_t *spare; /* both are scratch, by list and slot like io.v */
    float *mean;
};

/* Copies n whole units (K, V and bounds) from unit src[i] to unit dst[i]. */
struct copy_units_args {
    struct kv_view kv;
    const int32_t *src, *dst;
    int n;
};

/* Runs at the end of a step: peak[seq] = max(peak[seq], sum of n_live over layers and KV heads). Where
 * with_bounds[seq] is not 0 the bounds of its pages, n_live / 16 rounded up, count as well; two vectors are
 * as large as K and V of one token. */
struct account_args {
    struct rows rows;
    struct kv_view kv;
    const int32_t *with_bounds; /* (n_seqs) */
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
};
struct sample_args {
    struct rows rows;
    const float *logits; /* (rows, vocab) */
    int vocab;
    const struct sample_settings *settings; /* (n_seqs) */
    struct sample_result *out;              /* (rows) */
    int32_t *row_token;                     /* (rows): input of the next embed */
    int32_t *row_pos;                       /* (rows): advanced by one */
    int32_t *row_seq;                       /* (rows), the array rows.seq: -1 once a sequence is over */
    float *scratch;                         /* (rows, vocab) */
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
