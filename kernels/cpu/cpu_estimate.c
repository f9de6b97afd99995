/* What an operation's arguments tell before it runs: the workspace it needs and roughly its cost. These
 * are the columns `workspace` and `cost` of the table of operations (kernels/op_table.h). */
#include "kernels/cpu/cpu.h"

static size_t workspace_none(const void *args, int threads)
{
    (void)args, (void)threads;
    return 0;
}

static size_t workspace_linear(const void *args, int threads)
{
    const struct linear_args *a = args;
    (void)threads;
    return linear_packs(a) ? (size_t)a->rows * (size_t)a->w.k * sizeof(float) : 0;
}

static size_t workspace_linear_swiglu(const void *args, int threads)
{
    struct linear_args product = linear_of(args);
    return workspace_linear(&product, threads);
}

/* The partial results of all chunks of pages. */
static size_t workspace_chunks(const struct kv_view *kv, int n_q, int cap)
{
    size_t chunks = ((size_t)kv->max_pages + ATTEND_SPLIT_PAGES - 1) / ATTEND_SPLIT_PAGES;
    return (size_t)cap * chunks * (size_t)n_q * ((size_t)kv->head_dim + 2) * sizeof(float);
}

static size_t workspace_attend(const void *args, int threads)
{
    const struct attend_args *a = args;
    (void)threads;
    return workspace_chunks(&a->kv, a->n_q, a->rows.cap);
}

/* Log-sum-exp of each query and head. */
static size_t workspace_prefill_mass(const void *args, int threads)
{
    const struct prefill_mass_args *a = args;
    (void)threads;
    return (size_t)a->nq * (size_t)a->n_q * sizeof(float);
}

static size_t workspace_qk_stats(const void *args, int threads)
{
    const struct qk_stats_args *a = args;
    (void)threads;
    return workspace_chunks(&a->kv, a->n_q, a->rows.cap);
}

static size_t workspace_topk(const void *args, int threads)
{
    const struct topk_args *a = args;
    size_t entry = sizeof(uint32_t) + (a->params.kind == TOPK_MASS ? sizeof(uint64_t) : 0);
    return (size_t)threads * (size_t)a->in.stride * entry;
}

/* The entries that are sorted, twice, and keys. */
static size_t workspace_rank_union(const void *args, int threads)
{
    const struct rank_union_args *a = args;
    return (size_t)threads * (size_t)a->in.stride * (2 * sizeof(uint64_t) + sizeof(uint32_t));
}

static size_t workspace_window_mass(const void *args, int threads)
{
    const struct window_mass_args *a = args;
    return (size_t)threads * WINDOW_BUFFERS * (size_t)a->out.stride * sizeof(float);
}

static size_t workspace_key_redundancy(const void *args, int threads)
{
    const struct key_redundancy_args *a = args;
    return (size_t)threads * REDUNDANCY_BUFFERS * (size_t)a->io.stride * sizeof(float);
}

/* Keys and ranks. */
static size_t workspace_sample(const void *args, int threads)
{
    const struct sample_args *a = args;
    return (size_t)threads * (size_t)a->vocab * 3 * sizeof(uint32_t);
}

size_t cpu_workspace_bytes(enum op op, const void *args, int threads)
{
    static size_t (*const workspace_of[OP_COUNT])(const void *, int) = {
#define X(name, check, type, part, workspace, cost) [OP_##name] = workspace_##workspace,
        BACKEND_OPS(X)
#undef X
    };
    return workspace_of[op](args, threads);
}

/* More than any limit: all threads take part. */
static double cost_large(const void *args)
{
    (void)args;
    return 1e9;
}

#define COST(name, steps)                                                                                    \
    static double cost_##name(const void *args)                                                              \
    {                                                                                                        \
        const struct name##_args *a = args;                                                                  \
        return steps;                                                                                        \
    }
COST(embed, (double)a->rows * a->w.k)
COST(rmsnorm, 0.5 * a->rows * a->dim)
COST(add_part, 1.0 * a->rows * a->dim)
COST(cap_logits, 8.0 * (double)a->n)
COST(linear, 0.1 * a->rows * a->w.n * a->w.k)
COST(linear_swiglu, 0.1 * a->rows * a->w.n * a->w.k)
COST(append, 4.0 * a->rows.cap * a->kv.n_kv * a->kv.head_dim)
COST(rope_append, (double)a->rows.cap * a->kv.head_dim * (a->n_q + 5.0 * a->kv.n_kv))
COST(head_norm, 2.0 * a->rows.cap * a->head_dim * (a->n_q + a->n_kv))
COST(swiglu, 8.0 * a->rows * a->n)
COST(topk, 1000.0 * a->rows.cap * a->in.n_rows)
COST(window_list, 256.0 * a->rows.cap)
COST(mask_scores, 256.0 * a->rows.cap * a->s.n_rows)
COST(first_lse, a->len_of_seq ? 1024.0 * a->rows.cap * a->n_q : 1.0 * a->rows.cap * a->n_q)
COST(stamp, 256.0 * a->rows.cap * a->kv.n_kv)
COST(drop_lowest, 256.0 * a->rows.cap * a->kv.n_kv)
COST(drop_list, 64.0 * a->rows.cap * a->kv.n_kv)
COST(load_stamps, 256.0 * a->rows.cap * a->kv.n_kv)
COST(keep, 512.0 * a->rows.cap * (a->n_rows == 1 ? a->kv.n_kv : a->n_rows))
COST(sort_slots, 512.0 * a->rows.cap * a->in.n_rows)
COST(random_scores, 256.0 * a->rows.cap * a->out.n_rows)
COST(accumulate, 1000.0 * a->rows.cap * a->kv.n_kv)
COST(pool_queries, 0.2 * a->rows * a->n_q * a->dim)
COST(put_queries, 0.1 * a->rows.cap * a->n_q * a->dim)
COST(gate, 0.5 * a->rows * a->dim * a->n_kv)
COST(borrow, 4.0 * a->rows.cap * a->n_kv)
COST(mute, 4.0 * a->rows.cap * a->n_kv)
COST(expire, 64.0 * a->rows.cap * a->kv.n_kv)
COST(hold_keys, 8.0 * a->kv.n_kv * a->kv.head_dim * (a->n ? a->n : a->rows.cap))
COST(until, 4.0 * a->rows.cap * a->n_kv)
COST(prefill_count, 2.0 * (a->read.pos0 + a->read.nq) * a->read.kv.n_kv)
COST(account, 1.0 * a->rows.cap * a->kv.n_layers * a->kv.n_kv)
COST(sample, 4.0 * a->rows.cap * a->vocab)
COST(fill_i32, 0.25 * (double)a->n)
COST(put_i32, 4.0 * a->n)
#undef COST

double cpu_work(enum op op, const void *args)
{
    static double (*const cost_of[OP_COUNT])(const void *) = {
#define X(name, check, type, part, workspace, cost) [OP_##name] = cost_##cost,
        BACKEND_OPS(X)
#undef X
    };
    return cost_of[op](args);
}
