/* What is known of an operation from its arguments alone: whether the kernels can do it, the scratch it needs
 * and about how long it takes. */
#include "kernels/cpu/cpu.h"

static int check_kv(struct device *d, enum op op, const struct kv_view *kv)
{
    const char *name = backend_op_name(op);
    if (kv->head_dim < 16 || kv->head_dim > BACKEND_MAX_HEAD_DIM || kv->head_dim % 16)
        return cpu_error(d, BACKEND_ERR_UNSUPPORTED,
                         "%s: head_dim %d; the CPU kernels need a multiple of 16 up to %d", name,
                         kv->head_dim, BACKEND_MAX_HEAD_DIM);
    if (kv->n_kv < 1 || kv->n_layers < 1 || kv->max_pages < 1)
        return cpu_error(d, BACKEND_ERR_UNSUPPORTED, "%s: a cache without layers, heads or pages", name);
    return 0;
}

static int check_heads(struct device *d, enum op op, const struct kv_view *kv, int n_q)
{
    int rc = check_kv(d, op, kv);
    if (rc)
        return rc;
    if (n_q < 1 || n_q > BACKEND_MAX_Q_HEADS || n_q % kv->n_kv || n_q / kv->n_kv > BACKEND_MAX_GROUP)
        return cpu_error(d, BACKEND_ERR_UNSUPPORTED,
                         "%s: %d query heads over %d KV heads; at most %d, in groups of at most %d",
                         backend_op_name(op), n_q, kv->n_kv, BACKEND_MAX_Q_HEADS, BACKEND_MAX_GROUP);
    return 0;
}

static int check_lists(struct device *d, enum op op, const char *what, int got, int want_a, int want_b,
                       int want_c)
{
    if (got == want_a || got == want_b || got == want_c)
        return 0;
    return cpu_error(d, BACKEND_ERR_UNSUPPORTED, "%s: %d %s; they must be %d, %d or %d", backend_op_name(op),
                     got, what, want_a, want_b, want_c);
}

static int check_attend(struct device *d, const struct attend_args *a)
{
    int rc = check_heads(d, OP_attend, &a->kv, a->n_q), group;
    if (rc || a->unit == SEL_LIVE)
        return rc;
    group = a->n_q / a->kv.n_kv;
    for (int q = 0; q < a->n_q; q++) {
        if (a->row_of_q[q] >= a->n_rows)
            return cpu_error(d, BACKEND_ERR_UNSUPPORTED, "attend: query head %d reads list %d of %d", q,
                             a->row_of_q[q], a->n_rows);
        if (a->unit == SEL_TOKENS && a->row_of_q[q] != a->row_of_q[q / group * group])
            return cpu_error(
                d, BACKEND_ERR_UNSUPPORTED,
                "attend: token lists must be shared by the query heads of a KV head; head %d differs", q);
    }
    if (a->unit == SEL_PAGES && a->block_pages < 1)
        return cpu_error(d, BACKEND_ERR_UNSUPPORTED, "attend: block_pages is %d", a->block_pages);
    return 0;
}

static int check_prefill(struct device *d, const struct prefill_attend_args *a)
{
    int rc = check_heads(d, OP_prefill_attend, &a->kv, a->n_q);
    if (!rc && (a->tile < 0 || (a->tile && (!a->idx || !a->len || a->cap < 1))))
        rc = cpu_error(d, BACKEND_ERR_UNSUPPORTED, "prefill_attend: tiles of %d without lists", a->tile);
    return rc;
}

static int check_page_scores(struct device *d, const struct page_scores_args *a)
{
    int rc = check_heads(d, OP_page_scores, &a->kv, a->n_q), want = a->scope == SCORE_Q ? a->n_q : a->kv.n_kv;
    if (!rc && (!a->kv.bounds || a->block_pages < 1))
        rc = cpu_error(d, BACKEND_ERR_UNSUPPORTED,
                       "page_scores: needs page bounds and block_pages of at least 1");
    return rc ? rc : check_lists(d, OP_page_scores, "score lists", a->out.n_rows, want, want, want);
}

static int check_reduce(struct device *d, const struct reduce_stats_args *a)
{
    int rc = check_heads(d, OP_reduce_stats, &a->kv, a->n_q);
    if (!rc && a->in.stride % KV_PAGE_TOKENS)
        rc = cpu_error(d, BACKEND_ERR_UNSUPPORTED, "reduce_stats: stride %d is not a multiple of 16",
                       a->in.stride);
    return rc ? rc : check_lists(d, OP_reduce_stats, "score lists", a->out.n_rows, 1, a->kv.n_kv, a->n_q);
}

static int check_topk(struct device *d, const struct topk_args *a)
{
    if (a->rule.kind == TOPK_CR && !(a->rule.cr > 0))
        return cpu_error(d, BACKEND_ERR_UNSUPPORTED, "topk: a budget by compression needs cr above 0");
    if ((a->rule.kind == TOPK_CR || a->rule.dense_first) && !a->len_of_seq)
        return cpu_error(d, BACKEND_ERR_UNSUPPORTED, "topk: this rule needs the sequences' lengths");
    return a->cap >= 1 ? 0 : cpu_error(d, BACKEND_ERR_UNSUPPORTED, "topk: cap is %d", a->cap);
}

int cpu_check_args(struct device *d, enum op op, const void *args)
{
    switch (op) {
    case OP_append:
        return check_kv(d, op, &((const struct append_args *)args)->kv);
    case OP_attend:
        return check_attend(d, args);
    case OP_prefill_attend:
        return check_prefill(d, args);
    case OP_page_scores:
        return check_page_scores(d, args);
    case OP_qk_stats:
        return check_heads(d, op, &((const struct qk_stats_args *)args)->kv,
                           ((const struct qk_stats_args *)args)->n_q);
    case OP_reduce_stats:
        return check_reduce(d, args);
    case OP_topk:
        return check_topk(d, args);
    case OP_expire:
        if (((const struct expire_args *)args)->shift >= ((const struct expire_args *)args)->reach)
            return cpu_error(d, BACKEND_ERR_UNSUPPORTED, "expire: shift must be below reach");
        return check_kv(d, op, &((const struct expire_args *)args)->kv);
    default:
        return 0;
    }
}

static size_t attend_scratch(const struct kv_view *kv, int n_q, int cap)
{
    size_t chunks = ((size_t)kv->max_pages + ATTEND_CHUNK_PAGES - 1) / ATTEND_CHUNK_PAGES;
    return (size_t)cap * chunks * (size_t)n_q * ((size_t)kv->head_dim + 2) * sizeof(float);
}

size_t cpu_scratch_bytes(enum op op, const void *args, int threads)
{
    const struct attend_args *t = args;
    const struct qk_stats_args *k = args;
    const struct linear_args *l = args;
    switch (op) {
    case OP_linear:
        return linear_packs(l) ? (size_t)l->rows * (size_t)l->w.k * sizeof(float) : 0;
    case OP_attend:
        return attend_scratch(&t->kv, t->n_q, t->rows.cap);
    case OP_qk_stats:
        return attend_scratch(&k->kv, k->n_q, k->rows.cap);
    case OP_topk:
        return (size_t)threads * (size_t)((const struct topk_args *)args)->in.stride * sizeof(uint32_t);
    case OP_sample: /* keys and ranks */
        return (size_t)threads * (size_t)((const struct sample_args *)args)->vocab * 3 * sizeof(uint32_t);
    default:
        return 0;
    }
}

double cpu_work(enum op op, const void *args)
{
#define A(name) ((const struct name##_args *)args)
    switch (op) {
    case OP_embed:
        return (double)A(embed)->rows * A(embed)->w.k;
    case OP_rmsnorm:
        return 0.5 * A(rmsnorm)->rows * A(rmsnorm)->dim;
    case OP_linear:
        return 0.1 * A(linear)->rows * A(linear)->w.n * A(linear)->w.k;
    case OP_qk_norm:
        return 0.5 * A(qk_norm)->rows * (A(qk_norm)->n_q + A(qk_norm)->n_kv) * A(qk_norm)->head_dim;
    case OP_rope:
        return 0.5 * A(rope)->rows.cap * (A(rope)->n_q + A(rope)->n_kv) * A(rope)->head_dim;
    case OP_append:
        return 4.0 * A(append)->rows.cap * A(append)->kv.n_kv * A(append)->kv.head_dim;
    case OP_swiglu:
        return 8.0 * A(swiglu)->rows * A(swiglu)->n;
    case OP_topk:
        return 1000.0 * A(topk)->rows.cap * A(topk)->in.n_rows;
    case OP_mask_scores:
        return 256.0 * A(mask_scores)->rows.cap * A(mask_scores)->s.n_rows;
    case OP_stamp:
        return 256.0 * A(stamp)->rows.cap * A(stamp)->kv.n_kv;
    case OP_load_stamps:
        return 256.0 * A(load_stamps)->rows.cap * A(load_stamps)->kv.n_kv;
    case OP_drop_lowest:
        return 256.0 * A(drop_lowest)->rows.cap * A(drop_lowest)->kv.n_kv;
    case OP_drop_list:
        return 64.0 * A(drop_list)->rows.cap * A(drop_list)->kv.n_kv;
    case OP_gate:
        return 0.5 * A(gate)->rows * A(gate)->dim * A(gate)->n_kv;
    case OP_expire:
        return 64.0 * A(expire)->rows.cap * A(expire)->kv.n_kv;
    case OP_until:
        return 4.0 * A(until)->rows.cap * A(until)->n_kv;
    case OP_account:
        return 1.0 * A(account)->rows.cap * A(account)->kv.n_layers * A(account)->kv.n_kv;
    case OP_sample:
        return 4.0 * A(sample)->rows.cap * A(sample)->vocab;
    case OP_fill_i32:
        return 0.25 * (double)A(fill_i32)->n;
    default:
        return 1e9;
    }
#undef A
}
