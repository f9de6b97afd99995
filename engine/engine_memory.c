/* Memory: what a device has, what a model and its policies take, and how much K and V get. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine_impl.h"
#include "engine/memory/counting.h"
#include "evalcore/base/file.h"

/* ---- a device before anything is loaded: on a GPU what its driver says, on the CPU what the kernel counts
 * as available (MemAvailable in /proc/meminfo, described in proc(5)) */

static size_t meminfo_field(const char *text, const char *key)
{
    unsigned long long kib = 0;
    const char *line = strstr(text, key);
    return line && sscanf(line + strlen(key), ": %llu kB", &kib) == 1 ? (size_t)kib * 1024 : 0;
}

static int cpu_memory(struct engine_device *out, struct err *e)
{
    struct str text = {0};
    int rc = file_read("/proc/meminfo", &text, e);
    snprintf(out->name, sizeof out->name, "this machine's memory");
    out->total_bytes = meminfo_field(str_text(&text), "MemTotal");
    out->free_bytes = meminfo_field(str_text(&text), "MemAvailable");
    str_release(&text);
    if (!rc && !out->free_bytes)
        rc = err_set(e, ERR_UNSUPPORTED, "/proc/meminfo has no MemAvailable");
    return rc;
}

int engine_device_memory(const char *backend, int ordinal, struct engine_device *out, struct err *e)
{
    const struct backend *be = backend_find(backend ? backend : "cpu");
    struct device *dev = NULL;
    struct device_facts f;
    char why[320];
    memset(out, 0, sizeof *out);
    if (!be)
        return err_set(e, ERR_UNSUPPORTED, "this program was built without %s", backend);
    if (!be->facts)
        return cpu_memory(out, e);
    if (be->open(&dev, ordinal, NULL, why, sizeof why) < 0)
        return err_set(e, ERR_DEVICE, "%s:%d: %s", be->name, ordinal, why);
    if (be->facts(dev, &f) < 0)
        err_set(e, ERR_DEVICE, "%s:%d: %s", be->name, ordinal, be->last_error(dev));
    else
        *out = (struct engine_device){.total_bytes = f.total_bytes, .free_bytes = f.free_bytes};
    snprintf(out->name, sizeof out->name, "%s", e->code ? "" : f.name);
    be->close(dev);
    return e->code;
}

/* ---- the KV pool: on a GPU what weights, activations, tables and the states of the policies have left. It
 * is allocated when the policies are known, because a pool cannot grow later. */

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
    return en->be->kv_block_bytes(v->dtype, v->head_dim) * (size_t)kvcache_most(&en->cache, v->max_pages);
}

static void pool_needs(const struct engine *en, struct engine_memory *out)
{
    size_t one = one_sequence(en), heads = (size_t)en->cache.heads_per_seq;
    int gpu = engine_is_on_gpu(&en->options);
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

/* ---- measuring without loading: an engine is put together as engine_open() does it, on a backend that only
 * counts, so that no sum is written down twice */

/* Puts the engine together and binds the policies; *weights is what the model alone takes. */
static int count_parts(struct engine *en, const struct counting *n, const struct policy_spec *const *specs,
                       int n_specs, size_t *weights, struct err *e)
{
    struct policy *p;
    if (model_open_headers(&en->model, en->model_name, en->be, en->dev, en->options.max_context, e))
        return e->code;
    *weights = n->bytes;
    if (engine_assemble(en, e))
        return e->code;
    for (int i = 0; i < n_specs; i++)
        if (engine_policy(en, specs[i], &p, e))
            return e->code;
    return 0;
}

int engine_measure(const struct engine_options *o, const struct policy_spec *const *specs, int n_specs,
                   struct engine_info *info, struct engine_memory *out, struct err *e)
{
    const struct backend *real = backend_find(o->backend ? o->backend : "cpu");
    struct engine *en = xcalloc(1, sizeof *en);
    struct counting n;
    *out = (struct engine_memory){.is_known = real != NULL};
    en->options = *o;
    en->options.model = en->model_name = xstrdup(o->model ? o->model : "pocket");
    counting_init(&n, real ? real : backend_find("cpu"));
    en->be = &n.be;
    en->dev = counting_device(&n);
    struct model_config c;
    int rc = model_config_open(&c, en->model_name, e);
    if (!rc)
        rc = engine_check_options(&en->options, &c, e);
    if (!rc)
        rc = count_parts(en, &n, specs, n_specs, &out->weights, e);
    if (!rc) {
        *info = engine_config_info(o->model, &c);
        info->is_head_own = en->model.is_head_own;
        info->max_batch = en->options.max_batch;
        info->max_context = en->options.max_context;
        info->window_ahead = info->n_windows ? en->cache.ahead : 0;
        info->kv_token_bytes = engine_token_bytes(&c, en->cache.view.dtype);
        info->weight_bytes = en->model.bytes;
        info->step_bytes = en->model.step_bytes;
        info->layer_values = model_layer_values(&c);
        out->scratch = n.bytes - out->weights;
        pool_needs(en, out);
    }
    engine_close(en);
    return rc;
}
