/* Checks that an operation's arguments are within what the kernels of every backend can do. */
#include "kernels/op_check.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct refusal {
    char *sentence;
    size_t size;
};

__attribute__((format(printf, 2, 3))) static int refuse_args(struct refusal *f, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(f->sentence, f->size, format, ap);
    va_end(ap);
    return BACKEND_ERR_UNSUPPORTED;
}

static int check_kv(struct refusal *f, enum op op, const struct kv_view *kv)
{
    const char *name = backend_op_name(op);
    if (kv->head_dim < 16 || kv->head_dim > BACKEND_MAX_HEAD_DIM || kv->head_dim % 16)
        return refuse_args(f, "%s: head_dim %d; the kernels need a multiple of 16 up to %d", name,
                           kv->head_dim, BACKEND_MAX_HEAD_DIM);
    if (kv->n_kv < 1 || kv->n_layers < 1 || kv->max_pages < 1)
        return refuse_args(f, "%s: a cache without layers, heads or pages", name);
    return 0;
}

static int check_heads(struct refusal *f, enum op op, const struct kv_view *kv, int n_q)
{
    int rc = check_kv(f, op, kv);
    if (rc)
        return rc;
    if (n_q < 1 || n_q > BACKEND_MAX_Q_HEADS || n_q % kv->n_kv || n_q / kv->n_kv > BACKEND_MAX_GROUP)
        return refuse_args(f, "%s: %d query heads over %d KV heads; at most %d, in groups of at most %d",
                           backend_op_name(op), n_q, kv->n_kv, BACKEND_MAX_Q_HEADS, BACKEND_MAX_GROUP);
    return 0;
}

static int check_lists(struct refusal *f, enum op op, const char *what, int got, int want_a, int want_b,
                       int want_c)
{
    if (got == want_a || got == want_b || got == want_c)
        return 0;
    return refuse_args(f, "%s: %d %s; they must be %d, %d or %d", backend_op_name(op), got, what, want_a,
                       want_b, want_c);
}

/* Lists of the KV heads of one or more layers from `layer` on. */
static int check_layers(struct refusal *f, enum op op, int n_rows, const struct kv_view *kv, int layer)
{
    int layers = n_rows / kv->n_kv;
    if (layers >= 1 && n_rows % kv->n_kv == 0 && layer >= 0 && layer + layers <= kv->n_layers)
        return 0;
    return refuse_args(f, "%s: %d lists from layer %d on; there are %d KV heads in each of %d layers",
                       backend_op_name(op), n_rows, layer, kv->n_kv, kv->n_layers);
}

static int check_stats(struct refusal *f, enum op op, const struct kv_view *kv, const struct stats *s)
{
    if (s->by_page && !s->logits)
        return refuse_args(f, "%s: statistics of pages need room for them", backend_op_name(op));
    if (s->by_page && s->stride < kv->max_pages)
        return refuse_args(f, "%s: statistics have room for %d pages of %d", backend_op_name(op), s->stride,
                           kv->max_pages);
    return 0;
}

static int check_softmax(struct refusal *f, enum op op, const struct softmax_args *s)
{
    if (s->softcap >= 0)
        return 0;
    return refuse_args(f, "%s: a softcap of %g; it is 0 or more", backend_op_name(op), (double)s->softcap);
}

/* A window is over all that is live, in its order. */
static int check_window(struct refusal *f, const struct attend_args *a)
{
    const char *also = a->granularity != SEL_LIVE ? "with lists" : a->stats.logits ? "with statistics" : NULL;
    if (a->window < 0)
        return refuse_args(f, "attend: a window of %d tokens", a->window);
    if (a->window && also)
        return refuse_args(f, "attend: a window of %d tokens %s", a->window, also);
    if (a->window && !a->in_order)
        return refuse_args(f, "attend: a window of %d tokens where slots are not positions", a->window);
    return 0;
}

static int check_nothing(struct refusal *f, const void *args)
{
    (void)f, (void)args;
    return 0;
}

static int check_linear(struct refusal *f, const void *args)
{
    const struct linear_args *a = args;
    if (a->type == DTYPE_BF16 && a->w.dtype != DTYPE_BF16)
        return refuse_args(f, "linear: bf16 activations need a bf16 weight");
    return 0;
}

static int check_linear_swiglu(struct refusal *f, const void *args)
{
    struct linear_args product = linear_of((const struct linear_swiglu_args *)args);
    if (product.w.n % 2)
        return refuse_args(f, "linear_swiglu: %d rows of a weight are not as many gates as ups", product.w.n);
    return check_linear(f, &product);
}

static int check_append(struct refusal *f, const void *args)
{
    return check_kv(f, OP_append, &((const struct append_args *)args)->kv);
}

static int check_rope_append(struct refusal *f, const void *args)
{
    const struct rope_append_args *a = args;
    return check_heads(f, OP_rope_append, &a->kv, a->n_q);
}

static int check_attend(struct refusal *f, const void *args)
{
    const struct attend_args *a = args;
    int rc = check_heads(f, OP_attend, &a->kv, a->n_q), group;
    if (!rc)
        rc = check_stats(f, OP_attend, &a->kv, &a->stats);
    if (!rc)
        rc = check_softmax(f, OP_attend, &a->softmax);
    if (!rc)
        rc = check_window(f, a);
    if (rc || a->granularity == SEL_LIVE)
        return rc;
    if (a->stats.by_page)
        return refuse_args(f,
                           "attend: statistics of pages need attention to all live tokens, not to lists; ask "
                           "for those of tokens");
    group = a->n_q / a->kv.n_kv;
    for (int q = 0; q < a->n_q; q++) {
        if (a->row_of_q[q] >= a->n_rows)
            return refuse_args(f, "attend: query head %d reads list %d of %d", q, a->row_of_q[q], a->n_rows);
        if (a->granularity == SEL_TOKENS && a->row_of_q[q] != a->row_of_q[q / group * group])
            return refuse_args(
                f, "attend: token lists must be shared by the query heads of a KV head; head %d differs", q);
    }
    if (a->granularity == SEL_PAGES && a->block_pages < 1)
        return refuse_args(f, "attend: block_pages is %d", a->block_pages);
    return 0;
}

static int check_prompt_window(struct refusal *f, enum op op, const struct prefill_attend_args *a)
{
    const char *also = a->until ? " with expiry" : a->tile ? " with lists" : "";
    if (a->window < 0 || (a->window && *also))
        return refuse_args(f, "%s: a window of %d tokens%s", backend_op_name(op), a->window, also);
    return 0;
}

static int check_prefill_attend(struct refusal *f, const void *args)
{
    const struct prefill_attend_args *a = args;
    int rc = check_heads(f, OP_prefill_attend, &a->kv, a->n_q);
    rc = rc ? rc : check_softmax(f, OP_prefill_attend, &a->softmax);
    rc = rc ? rc : check_prompt_window(f, OP_prefill_attend, a);
    if (!rc && (a->tile < 0 || (a->tile && (!a->idx || !a->len || a->cap < 1))))
        rc = refuse_args(f, "prefill_attend: tiles of %d without lists", a->tile);
    for (int h = 0; !rc && a->tile && h < a->kv.n_kv; h++)
        if (a->row_of_kv[h] >= a->n_rows)
            rc = refuse_args(f, "prefill_attend: KV head %d reads list %d of %d", h, a->row_of_kv[h],
                             a->n_rows);
    return rc;
}

static int check_prefill_count(struct refusal *f, const void *args)
{
    const struct prefill_attend_args *a = &((const struct prefill_count_args *)args)->read;
    for (int h = 0; a->tile && h < a->kv.n_kv; h++)
        if (!a->len || a->row_of_kv[h] >= a->n_rows)
            return refuse_args(f, "prefill_count: KV head %d reads list %d of %d", h, a->row_of_kv[h],
                               a->n_rows);
    return check_prompt_window(f, OP_prefill_count, a);
}

static int check_prefill_mass(struct refusal *f, const void *args)
{
    const struct prefill_mass_args *a = args;
    int rc = check_heads(f, OP_prefill_mass, &a->kv, a->n_q), n_kv = a->kv.n_kv;
    rc = rc ? rc : check_softmax(f, OP_prefill_mass, &a->softmax);
    if (!rc && (a->tile < 1 || a->tile % KV_PAGE_TOKENS || a->pos0 % a->tile))
        rc =
            refuse_args(f, "prefill_mass: tiles of %d from %d on; a multiple of 16 that divides it is needed",
                        a->tile, a->pos0);
    if (!rc && a->out.stride < a->pos0 + a->nq)
        rc = refuse_args(f, "prefill_mass: room for %d keys of %d", a->out.stride, a->pos0 + a->nq);
    return rc ? rc : check_lists(f, OP_prefill_mass, "score lists", a->out.n_rows, 1, n_kv, n_kv);
}

static int check_page_scores(struct refusal *f, const void *args)
{
    const struct page_scores_args *a = args;
    int rc = check_heads(f, OP_page_scores, &a->kv, a->n_q), want;
    if (!rc && (!a->kv.bounds || a->block_pages < 1))
        rc = refuse_args(f, "page_scores: needs page bounds and block_pages of at least 1");
    want = rc ? 0 : a->kv.n_kv * score_lists(a->scope, a->n_q / a->kv.n_kv);
    return rc ? rc : check_lists(f, OP_page_scores, "score lists", a->out.n_rows, want, want, want);
}

static int check_qk_stats(struct refusal *f, const void *args)
{
    const struct qk_stats_args *a = args;
    int rc = check_heads(f, OP_qk_stats, &a->kv, a->n_q);
    if (!rc)
        rc = check_softmax(f, OP_qk_stats, &a->softmax);
    return rc ? rc : check_stats(f, OP_qk_stats, &a->kv, &a->out);
}

static int check_reduce_stats(struct refusal *f, const void *args)
{
    const struct reduce_stats_args *a = args;
    int rc = check_heads(f, OP_reduce_stats, &a->kv, a->n_q);
    if (!rc)
        rc = check_stats(f, OP_reduce_stats, &a->kv, &a->in);
    if (!rc && a->in.by_page && (a->mode == REDUCE_MAX || a->block_pages < 1 || a->bf16))
        rc = refuse_args(f, "reduce_stats: %s statistics of tokens; those of pages are not enough",
                         a->mode == REDUCE_MAX ? "the largest over heads needs"
                         : a->block_pages < 1  ? "scores of tokens need"
                                               : "probabilities rounded to bf16 need");
    if (!rc && !a->in.by_page && a->in.stride % KV_PAGE_TOKENS)
        rc = refuse_args(f, "reduce_stats: stride %d is not a multiple of 16", a->in.stride);
    return rc ? rc : check_lists(f, OP_reduce_stats, "score lists", a->out.n_rows, 1, a->kv.n_kv, a->n_q);
}

static int check_topk(struct refusal *f, const void *args)
{
    const struct topk_args *a = args;
    if (a->params.kind == TOPK_CR && !(a->params.cr > 0))
        return refuse_args(f, "topk: a budget by compression needs cr above 0");
    if ((a->params.kind == TOPK_CR || a->params.kind == TOPK_LEN || a->params.dense_first ||
         a->params.force_after_len) &&
        !a->len_of_seq)
        return refuse_args(f, "topk: these params need the sequences' lengths");
    if (a->params.kind == TOPK_MASS &&
        (a->params.force != FORCE_INSIDE || a->params.tie_bias != 0 || a->params.phantom_page))
        return refuse_args(
            f, "topk: a budget by mass goes with no bias, and with forced entries inside it only");
    return a->cap >= 1 ? 0 : refuse_args(f, "topk: cap is %d", a->cap);
}

static int check_rank_union(struct refusal *f, const void *args)
{
    const struct rank_union_args *a = args;
    if (a->n_q < 1 || a->n_q > BACKEND_MAX_Q_HEADS)
        return refuse_args(f, "rank_union: %d query heads; at most %d", a->n_q, BACKEND_MAX_Q_HEADS);
    if (a->in.by_page)
        return refuse_args(
            f, "rank_union: ranks of tokens need statistics of tokens; those of pages are not enough");
    if (a->out.stride < a->in.stride)
        return refuse_args(f, "rank_union: room for %d scores of %d tokens", a->out.stride, a->in.stride);
    return check_lists(f, OP_rank_union, "score lists", a->out.n_rows, 1, 1, 1);
}

static int check_keep(struct refusal *f, const void *args)
{
    const struct keep_args *a = args;
    int rc = check_kv(f, OP_keep, &a->kv);
    if (!rc && a->carry && (!a->state || !a->squeeze))
        rc = refuse_args(f, "keep: tables are carried by squeeze only, and lie in the state");
    return rc || a->n_rows == 1 ? rc : check_layers(f, OP_keep, a->n_rows, &a->kv, a->layer);
}

static int check_sort_slots(struct refusal *f, const void *args)
{
    const struct sort_slots_args *a = args;
    int rc = check_kv(f, OP_sort_slots, &a->kv);
    if (!rc && (a->recent < 0 || a->in.stride < a->kv.max_pages * KV_PAGE_TOKENS))
        rc = refuse_args(f, "sort_slots: %d recent tokens; room for %d slots of %d", a->recent, a->in.stride,
                         a->kv.max_pages * KV_PAGE_TOKENS);
    return rc ? rc : check_layers(f, OP_sort_slots, a->in.n_rows, &a->kv, a->layer);
}

static int check_keep_params(struct refusal *f, enum op op, const struct keep_params *r,
                             const int32_t *len_of_seq)
{
    const char *name = backend_op_name(op);
    if (r->every < 1 || r->recent < 0 || r->recent >= (r->tokens > r->min_tokens ? r->tokens : r->min_tokens))
        return refuse_args(f, "%s: %d recent tokens of %d, every %d tokens", name, r->recent, r->tokens,
                           r->every);
    if (r->cr > 0 && !len_of_seq)
        return refuse_args(f, "%s: a budget by compression needs the sequences' lengths", name);
    return 0;
}

static int check_random_scores(struct refusal *f, const void *args)
{
    const struct random_scores_args *a = args;
    int rc = check_kv(f, OP_random_scores, &a->kv);
    rc = rc ? rc : check_keep_params(f, OP_random_scores, &a->params, a->len_of_seq);
    return rc ? rc : check_layers(f, OP_random_scores, a->out.n_rows, &a->kv, a->layer);
}

static int check_accumulate(struct refusal *f, const void *args)
{
    const struct accumulate_args *a = args;
    int rc = check_kv(f, OP_accumulate, &a->kv), n = a->kv.n_kv;
    rc = rc ? rc : check_keep_params(f, OP_accumulate, &a->params, a->len_of_seq);
    return rc ? rc : check_lists(f, OP_accumulate, "score lists", a->io.n_rows, n, n, n);
}

static int check_window_mass(struct refusal *f, const void *args)
{
    const struct window_mass_args *a = args;
    int rc = check_heads(f, OP_window_mass, &a->kv, a->n_q);
    rc = rc ? rc : check_softmax(f, OP_window_mass, &a->softmax);
    rc = rc ? rc : check_keep_params(f, OP_window_mass, &a->params, a->len_of_seq);
    if (!rc && (a->n < 1 || a->n > a->params.min_tokens || a->kernel < 1 || a->kernel % 2 == 0 ||
                a->kernel > WINDOW_KERNEL_LIMIT))
        rc = refuse_args(
            f, "window_mass: %d queries, pooled over %d slots; pooling is over an odd number up to %d", a->n,
            a->kernel, WINDOW_KERNEL_LIMIT);
    if (!rc && a->causal && a->params.recent < a->n - 1)
        rc = refuse_args(
            f, "window_mass: %d queries, the first of which does not see all slots before the %d recent ones",
            a->n, a->params.recent);
    if (!rc && a->softmax.sink && a->out.n_rows != a->kv.n_kv)
        rc = refuse_args(f, "window_mass: %d lists of %d KV heads with sinks, which are those of one layer",
                         a->out.n_rows, a->kv.n_kv);
    return rc ? rc : check_layers(f, OP_window_mass, a->out.n_rows, &a->kv, a->layer);
}

static int check_key_redundancy(struct refusal *f, const void *args)
{
    const struct key_redundancy_args *a = args;
    int rc = check_kv(f, OP_key_redundancy, &a->kv);
    if (!rc && (!a->spare || !a->mean))
        rc = refuse_args(f, "key_redundancy: needs memory for spare and mean");
    return rc ? rc : check_layers(f, OP_key_redundancy, a->io.n_rows, &a->kv, a->layer);
}

static int check_head_norm(struct refusal *f, const void *args)
{
    const struct head_norm_args *a = args;
    if (a->head_dim < 2 || a->head_dim > BACKEND_MAX_HEAD_DIM || a->head_dim % 2)
        return refuse_args(f, "head_norm: head_dim %d; an even number up to %d is needed", a->head_dim,
                           BACKEND_MAX_HEAD_DIM);
    return 0;
}

static int check_channel(struct refusal *f, enum op op, int n_q, int n_kv, int head_dim, int channel)
{
    if (n_kv < 1 || n_q < n_kv || n_q % n_kv)
        return refuse_args(f, "%s: %d query heads over %d KV heads", backend_op_name(op), n_q, n_kv);
    if (channel < 0 || channel >= head_dim)
        return refuse_args(f, "%s: channel %d of %d", backend_op_name(op), channel, head_dim);
    return 0;
}

static int check_borrow(struct refusal *f, const void *args)
{
    const struct borrow_args *a = args;
    return check_channel(f, OP_borrow, a->n_q, a->n_kv, a->head_dim, a->channel);
}

static int check_mute(struct refusal *f, const void *args)
{
    const struct mute_args *a = args;
    return check_channel(f, OP_mute, a->n_q, a->n_kv, a->head_dim, a->channel);
}

static int check_expire(struct refusal *f, const void *args)
{
    const struct expire_args *a = args;
    if (a->shift >= a->reach)
        return refuse_args(f, "expire: shift must be below reach");
    return check_kv(f, OP_expire, &a->kv);
}

static int check_hold_keys(struct refusal *f, const void *args)
{
    return check_kv(f, OP_hold_keys, &((const struct hold_keys_args *)args)->kv);
}

/* The columns `check` and `type` of the table of operations. */
struct op_rule {
    int (*check)(struct refusal *f, const void *args);
    size_t type_at; /* of `enum dtype type` in the arguments */
};

#define NO_TYPE               SIZE_MAX
#define TYPE_AT_type(args)    offsetof(args, type)
#define TYPE_AT_no_type(args) NO_TYPE
static const struct op_rule rules[OP_COUNT] = {
#define X(name, check, type, ...) [OP_##name] = {check_##check, TYPE_AT_##type(struct name##_args)},
    BACKEND_OPS(X)
#undef X
};

/* The inputs of linear layers are fp32 or have the type that the backend prefers for them. */
static int check_type(struct refusal *f, enum op op, const void *args, enum dtype activations)
{
    enum dtype type = DTYPE_F32;
    if (rules[op].type_at != NO_TYPE)
        memcpy(&type, (const char *)args + rules[op].type_at, sizeof type);
    if (type != DTYPE_F32 && type != activations)
        return refuse_args(f, "%s: this backend's activations are %s", backend_op_name(op),
                           activations == DTYPE_F32 ? "fp32" : "fp32 or bf16");
    return 0;
}

int op_check(enum op op, const void *args, enum dtype activations, char *sentence, size_t size)
{
    struct refusal to = {sentence, size};
    if ((unsigned)op >= OP_COUNT)
        return refuse_args(&to, "operation %d is not known", (int)op);
    int rc = check_type(&to, op, args, activations);
    return rc ? rc : rules[op].check(&to, args);
}

int download_check(int buffer, size_t bytes, char *sentence, size_t size)
{
    struct refusal f = {sentence, size};
    if (buffer >= 0 && buffer < BACKEND_STAGING_BUFFERS && bytes <= BACKEND_STAGING_BYTES)
        return 0;
    return refuse_args(&f, "download of %zu bytes through staging buffer %d; at most %d, 0 to %d", bytes,
                       buffer, BACKEND_STAGING_BYTES, BACKEND_STAGING_BUFFERS - 1);
}
