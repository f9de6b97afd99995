/* Operations on the tables of the cache: copying whole KV blocks, counting what a prompt reads, updating the
 * peak at the end of a step, and writing int32 arrays. */
#include "kernels/cpu/ops.h"

void CPU_SYM(op_copy_blocks)(const void *args, struct cpu_ctx *c)
{
    const struct copy_blocks_args *a = args;
    size_t bytes = 2 * KV_PAGE_TOKENS * (size_t)a->kv.head_dim * dtype_bytes(a->kv.dtype);
    size_t bounds = kv_bounds_bytes(&a->kv);
    char *base = a->kv.bounds;
    FOR_TASKS(c, i, a->n)
    {
        if (a->src[i] == a->dst[i])
            continue;
        memcpy(kv_block_k(&a->kv, a->dst[i]), kv_block_k(&a->kv, a->src[i]), bytes);
        if (base)
            memcpy(base + (size_t)a->dst[i] * bounds, base + (size_t)a->src[i] * bounds, bounds);
    }
}

void CPU_SYM(op_account)(const void *args, struct cpu_ctx *c)
{
    const struct account_args *a = args;
    int heads = a->kv.n_layers * a->kv.n_kv;
    FOR_TASKS(c, r, a->rows.cap)
    {
        int seq = a->rows.seq[r], sum = 0;
        if (seq < 0)
            continue;
        for (int i = 0; i < heads; i++) {
            size_t head = (size_t)seq * (size_t)heads + (size_t)i;
            int held = a->kv.n_live[head], window = a->window ? a->window[i / a->kv.n_kv] : 0;
            held = window > 0 && held > window ? window : held;
            sum += held + (a->with_bounds[seq] ? kv_pages(held) : 0);
        }
        a->kv.peak[seq] = sum > a->kv.peak[seq] ? sum : a->kv.peak[seq];
    }
}

/* Pairs of a query and a key, which lies in the list of the query's tile or in the tile itself. */
static int64_t tile_pairs(const struct prefill_attend_args *a, int h)
{
    int first = a->pos0 / a->tile, end = a->pos0 + a->nq;
    int64_t n = 0;
    for (int i = a->pos0; i < end; i++) {
        int tile = i / a->tile;
        int len = a->len[(tile - first) * a->n_rows + a->row_of_kv[h]];
        n += (len < 0 ? tile * a->tile : len) + i % a->tile + 1;
    }
    return n;
}

static int64_t until_pairs(const struct prefill_attend_args *a, int h)
{
    int last = a->pos0 + a->nq - 1;
    int64_t n = 0;
    for (int key = 0; key <= last; key++) {
        int from = key > a->pos0 ? key : a->pos0,
            until = a->until[(size_t)h * (size_t)a->until_stride + (size_t)key];
        int to = until < last ? until : last;
        n += to >= from ? to - from + 1 : 0;
    }
    return n;
}

void CPU_SYM(op_prefill_count)(const void *args, struct cpu_ctx *c)
{
    const struct prefill_count_args *p = args;
    const struct prefill_attend_args *a = &p->read;
    int64_t all = prefill_pairs(a->pos0, a->nq, 0);
    FOR_TASKS(c, h, a->kv.n_kv)
    {
        size_t head = kv_head(&a->kv, a->seq, a->layer, h);
        a->kv.prefill_reads[head] += a->tile    ? tile_pairs(a, h)
                                     : a->until ? until_pairs(a, h)
                                                : prefill_pairs(a->pos0, a->nq, a->window);
        a->kv.prefill_scans[head] += p->scanned ? all : 0;
    }
}

void CPU_SYM(op_fill_i32)(const void *args, struct cpu_ctx *c)
{
    enum { STEP = 1 << 16 };
    const struct fill_i32_args *a = args;
    FOR_TASKS(c, t, (int)((a->n + STEP - 1) / STEP))
    for (int64_t i = (int64_t)t * STEP; i < a->n && i < (int64_t)(t + 1) * STEP; i++)
        a->out[i] = a->value;
}

void CPU_SYM(op_put_i32)(const void *args, struct cpu_ctx *c)
{
    enum { STEP = 1 << 12 };
    const struct put_i32_args *a = args;
    FOR_TASKS(c, t, (a->n + STEP - 1) / STEP)
    for (int i = t * STEP; i < a->n && i < (t + 1) * STEP; i++)
        a->out[a->at[i]] = a->value[i];
}
