/* What is known of an operation from its arguments alone: the scratch it needs and about how long it takes.
 */
#include "kernels/cpu/cpu.h"

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
    case OP_append:
        return 4.0 * A(append)->rows.cap * A(append)->kv.n_kv * A(append)->kv.head_dim;
    case OP_rope_append:
        return (double)A(rope_append)->rows.cap * A(rope_append)->kv.head_dim *
               (A(rope_append)->n_q + 5.0 * A(rope_append)->kv.n_kv);
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
    case OP_put_i32:
        return 4.0 * A(put_i32)->n;
    default:
        return 1e9;
    }
#undef A
}
