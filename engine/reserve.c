/* Decides how much memory K and V get: on a GPU what weights, activations, tables and the states of the
 * policies have left. It is called when the policies are known, because a pool cannot grow later. */
#include <string.h>

#include "engine/engine_impl.h"

/* When no size is given and the backend cannot say what is free (the CPU). */
#define DEFAULT_POOL ((size_t)512 << 20)
/* Left free on a GPU, for what is allocated later. With 128 sequences of 131,072 tokens of an 8B model that
 * is: partial sums of attention, 0.4 GiB, and as much again while they grow; the trials of matrix algorithms,
 * 0.3 GiB for the output head and after that 0.7 for the products of a layer with 2,048 rows; captured
 * graphs. */
#define GPU_MARGIN ((size_t)3 << 30)

static int needs_bounds(const struct engine *en)
{
    for (int i = 0; i < en->n_policies; i++)
        if (en->policies[i]->needs & POLICY_BOUNDS)
            return 1;
    return 0;
}

/* Without a size, and without knowing what is free: what all sequences can need, at most DEFAULT_POOL, at
 * least what one needs. */
static size_t plain_pool(size_t one, size_t most)
{
    return most < DEFAULT_POOL ? most : one > DEFAULT_POOL ? one : DEFAULT_POOL;
}

/* Bytes of K and V of one sequence at full context. */
static size_t one_sequence(const struct engine *en)
{
    const struct kv_view *v = &en->cache.view;
    return en->be->kv_block_bytes(v->dtype, v->head_dim) * (size_t)en->cache.heads_per_seq *
           (size_t)v->max_pages;
}

void engine_pool_needs(const struct engine *en, struct engine_memory *out)
{
    size_t one = one_sequence(en), heads = (size_t)en->cache.heads_per_seq;
    int gpu = en->options.backend && strcmp(en->options.backend, "cpu");
    out->bounds_token_bytes =
        needs_bounds(en) ? kv_bounds_bytes(&en->cache.view) * heads / KV_PAGE_TOKENS : 0;
    out->spare = gpu ? GPU_MARGIN : 0;
    out->pool = gpu ? 0 : plain_pool(one, one * (size_t)en->options.max_batch + one);
}

/* Bytes for K and V: what max_batch sequences and a shared prompt can need, or as much of it as fits. */
static int pool_size(const struct engine *en, size_t block_bytes, double share, size_t *out, struct err *e)
{
    const struct kv_view *v = &en->cache.view;
    const struct engine_options *o = &en->options;
    size_t one = one_sequence(en);
    size_t most = one * (size_t)o->max_batch + one, free = en->be->free_bytes(en->dev);
    size_t bounds = needs_bounds(en) ? kv_bounds_bytes(v) : 0;
    if (o->pool_bytes || !free) {
        *out = o->pool_bytes ? o->pool_bytes : plain_pool(one, most);
        return 0;
    }
    size_t left = free > GPU_MARGIN
                      ? (size_t)((double)(free - GPU_MARGIN) * share) / (block_bytes + bounds) * block_bytes
                      : 0;
    if (left < one)
        return err_set(
            e, ERR_DEVICE,
            "%.1f GiB of GPU memory are free after weights, activations of %d sequences and the "
            "policies' states; %.1f GiB of it can hold K and V, and those of one sequence of %d tokens "
            "take %.1f GiB: use a smaller --max-batch, or a GPU that nobody else uses",
            (double)free / 1073741824, o->max_batch, (double)left / 1073741824, o->max_context,
            (double)one / 1073741824);
    *out = most < left ? most : left;
    return 0;
}

int engine_reserve(struct engine *en, double share, struct err *e)
{
    const struct kv_view *v = &en->cache.view;
    size_t block_bytes = en->be->kv_block_bytes(v->dtype, v->head_dim), bytes = 0;
    if (en->cache.n_blocks)
        return 0;
    if (pool_size(en, block_bytes, share, &bytes, e))
        return e->code;
    size_t n_blocks = bytes / block_bytes;
    if (n_blocks < (size_t)en->cache.heads_per_seq || n_blocks > INT32_MAX)
        return err_set(e, ERR_USAGE,
                       "a KV pool of %zu bytes does not hold one page of this model (%zu bytes)", bytes,
                       block_bytes * (size_t)en->cache.heads_per_seq);
    en->info.pool_bytes = bytes;
    en->stats.blocks_total = n_blocks;
    if (kvcache_pool(&en->cache, (int)n_blocks, e))
        return e->code;
    return needs_bounds(en) ? kvcache_bounds(&en->cache, e) : 0;
}
