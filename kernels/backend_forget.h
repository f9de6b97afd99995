#ifndef KERNELS_BACKEND_FORGET_H
#define KERNELS_BACKEND_FORGET_H

/* Part 4 of kernels/backend.h, which includes it: do not include it directly. The operations by which tokens
 * are forgotten, and those that score them for it, in the form of backend_ops.h. */

/* Page stamps (RaaS, arXiv 2502.11147): in the state of each row's sequence, stamp[layer][list][page] becomes
 * pos + 1 for the pages in the list. With alpha > 0, idx and len are not used; the pages are those whose
 * softmax over the scores s exceeds alpha. There are s.n_rows lists: one per KV head, or per query head. */
struct stamp_args {
    struct rows rows;
    struct kv_view kv;
    int layer;
    char *state; /* one block per sequence; it begins with int32 stamp (n_layers, s.n_rows, max_pages) */
    size_t state_bytes; /* of one sequence */
    const int32_t *idx, *len;
    int cap;
    struct scores s; /* its values are used when alpha > 0 */
    float alpha;
};

/* Drops pages before a row's token is appended, so that it fits into the budget (RaaS). pin: the pages that
 * hold prompt tokens are pinned and are never dropped; they count towards the budget only with pin_counts.
 * For each KV head, while more pages than budget_pages count (one that this token is about to open included),
 * the page with the lowest stamp is dropped among those that are neither pinned nor the current one; of equal
 * stamps the page born first. If the token opens a page, the page's stamp becomes new_stamp ? pos + 1 : 0 and
 * its birth pos + 1. State: stamps, then births, each int32 (n_layers, n_kv, max_pages). */
struct drop_lowest_args {
    struct rows rows;
    struct kv_view kv;
    int layer;
    char *state;
    size_t state_bytes;
    const int32_t *prompt_len; /* (n_seqs) */
    int budget_pages, pin, pin_counts, new_stamp;
};

/* Page stamps as scores: out[r][list][page] = stamp, or -inf for pages without a live token. The state is
 * that of stamp_args. */
struct load_stamps_args {
    struct rows rows;
    struct kv_view kv;
    int layer;
    const char *state;
    size_t state_bytes;
    struct scores out; /* n_rows: n_kv or n_q */
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
 * int32 (n_layers, n_kv, reach). The operation (1) notes tail as the slot of token n-1, (2) notes the new
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
 * INT32_MAX for the position of each row. Keys whose flag comes with a later row get INT32_MAX for now.
 * `flag` and `sinks` are as in expire_args. */
struct until_args {
    struct rows rows;
    const int32_t *flag; /* (rows, n_kv), or NULL */
    int32_t *until;      /* (n_kv, stride) of this sequence and layer */
    int stride, n_kv, reach, shift, sinks;
};

/* The end of DMS's prefill of n tokens. In each KV head of n_layers layers from `layer` on it drops the keys
 * that query n-1 does not see (until < n-1), moves the others to slots 0 .. n_live-1 in their order, and
 * updates n_slots, n_live, tail and live. It also fills the rings that `expire` uses with the last `reach`
 * tokens. until is (layers of the model, n_kv, until_stride); with until_stride 0 all heads share one row. */
struct compact_args {
    struct kv_view kv;
    int seq, n, layer, n_layers;
    const int32_t *until;
    int until_stride;
    int32_t *ring_slot, *ring_flag; /* (layers of the model, n_kv, reach) of this sequence */
    int reach;
};

/* Heads of layers: keep, random_scores, window_mass and key_redundancy have a list for each KV head of one
 * layer, n_kv in a row, or of several from `layer` on, a multiple of it, layer after layer. */

/* Drops every slot that is not in its list: idx (rows, n_rows, cap) ascending, len (rows, n_rows), where
 * n_rows is that of heads of layers, or 1 for a list that all KV heads of the layer share. A list of len -1
 * changes nothing. squeeze: the slots kept move down to 0 .. n_live-1 in their order, n_slots becomes n_live,
 * tail the last of them, and bounds are made anew; else tokens stay where they are. With squeeze, the first
 * `carry` tables in the state of the row's sequence, each of 4-byte values (n_layers, n_kv, 16 * max_pages)
 * by slot, move along. */
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

/* After keep with squeeze has kept the tokens of the same lists: the tokens of each KV head come into the
 * order of their scores in `in`, the largest first, of equal ones the one with the lower slot; the last
 * `recent` stay where they are. Slot j has the score in.v[idx[j]], or in.v[j] where len is -1. Lists that are
 * empty in `in` change nothing. Page bounds are not made anew. in.v and idx are workspace afterwards.
 * in.n_rows: heads of layers. */
struct sort_slots_args {
    struct rows rows;
    struct kv_view kv;
    int layer;
    struct scores in;
    int32_t *idx; /* (rows, in.n_rows, in.stride) */
    const int32_t *len;
    int recent;
};

/* Scores of the policy that draws what it keeps (Random Attention, arXiv 2609.03430), for heads in which
 * params act; there all slots must be live. The other heads get empty lists. With pin_prompt the first slots
 * are +inf: those of the prompt, but no more than leave budget for the recent ones and one more. The others
 * get a number from 0 to 1: with key' = the first two words of Philox4x32-10 with key = seed and counter =
 * (0, sample, problem low, problem high), the upper 24 bits of the first word of Philox4x32-10 with key =
 * key' and counter = (pos, layer, KV head, slot), where layer and head are 0 with `shared`. sample never uses
 * a counter that begins with 0. newest: their slot instead. */
struct random_scores_args {
    struct rows rows;
    struct kv_view kv;
    int layer;
    struct keep_params params;
    const int32_t *len_of_seq;              /* (n_seqs), for params.cr */
    const int32_t *prompt_len;              /* (n_seqs) */
    const struct sample_settings *settings; /* (n_seqs) */
    int pin_prompt, shared, newest;
    struct scores out; /* n_rows: heads of layers */
};

/* DeltaLLM's keys (arXiv 2507.19608, Eq. 2 to 4). A key that is `window` tokens old is replaced in the cache
 * by khat: channel by channel khat(t) = k(t) where |k(t) - khat(t-1)| > theta, else khat(t-1); khat(0) =
 * k(0). All of it is computed in fp32 from keys as the cache holds them. With n = 0 the token is pos - window
 * of each row, if there is one. Otherwise `rows` is not used, and they are all tokens up to n - 1 - window of
 * sequence `seq`, whose prompt has n. State: khat of the last token replaced, float (n_layers, n_kv,
 * head_dim). For caches from which nothing is dropped; page bounds stay those of the keys themselves.
 *
 * Counted: elements of the tokens replaced, all but those that kept khat(t-1), are added to kv.keys_moved. A
 * decode step of S tokens then adds to kv.key_elements all of keys_moved, and head_dim for each of the last
 * min(window, S) keys, which are read whole. */
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
 * becomes the score by which tokens are kept: +inf for the last floor(recent * budget of params) positions,
 * sum(t) for the other live slots, and -inf for the rest. */
struct accumulate_args {
    struct rows rows;
    struct kv_view kv;
    int layer, prefill;
    struct keep_params params; /* for their budget */
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

/* SnapKV's observation window: what the last n queries of a sequence attend to, as scores of the slots before
 * the last params.recent ones, for heads in which params act; there all slots must be live and at least n
 * positions have passed. The other heads get empty lists. Query i (0 .. n-1) is that of position pos - n + 1
 * + i, from the rings of put_queries. For each query head g of the group:
 *
 *   p_gi(t) = softmax over t of q_gi.k_t * scale, over the slots before the recent ones, or with `causal`
 *             over all that are not after the query (slots count from the end; then params.recent >= n - 1)
 *   s_g(t)  = (1/n) sum over i of p_gi(t), pooled over the `kernel` slots around t, an odd number: their mean
 *             (0 beyond the ends) or the largest
 *   out(t)  = (1/G) sum over g of s_g(t)
 *
 * largest_first: instead there is one p per KV head, of the largest logit of the group, and of its largest
 * sink. Sinks are those of one layer, so that with them n_rows is n_kv. The recent slots get
 * 0. Adds to kv.aux_half the keys looked at. n_rows: heads of layers. */
enum window_pool { WINDOW_MEAN, WINDOW_MAX };
struct window_mass_args {
    struct rows rows;
    struct kv_view kv;
    int layer, n_q;
    float scale;
    struct keep_params params;
    const int32_t *len_of_seq; /* (n_seqs), for params.cr */
    int n;
    const char *state;
    size_t state_bytes;
    int causal, largest_first, kernel;
    enum window_pool pool;
    struct scores out;
    struct softmax_args softmax;
};
enum { WINDOW_KERNEL_LIMIT = 15 };

/* R-KV's redundancy (arXiv 2505.24133), where `io` has scores of window_mass: over all n slots of a KV head,
 *
 *   c(i, j) = k_i.k_j / ((|k_i| + 1e-8) (|k_j| + 1e-8)), but c(i, i) = 0 and c(i, spare(i)) = 0
 *   rho     = softmax over j of (1/n) sum over i of c(i, j)
 *   io(t)   = lambda io(t) - (1 - lambda) rho(t), for the slots before the `recent` last ones
 *
 * where spare(i) is the last or, with `first`, the first j with c(i, j) > threshold, or slot 0 if there is
 * none. Lists that are empty stay so. Adds to kv.aux_half the keys looked at. */
struct key_redundancy_args {
    struct rows rows;
    struct kv_view kv;
    int layer, recent, first;
    float threshold, lambda;
    struct scores io; /* n_rows: heads of layers */
    int32_t *spare;   /* both are workspace, by list and slot like io.v */
    float *mean;
};

#endif
