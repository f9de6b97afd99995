/* Counting allocations (contract: counting.h). */
#include "engine/memory/counting.h"

#include <string.h>

static void *count_alloc(struct device *d, size_t bytes)
{
    struct counting *c = (struct counting *)d;
    c->bytes += bytes;
    return c; /* any address but NULL */
}

static void ignore_release(struct device *d, void *p)
{
    (void)d;
    (void)p;
}

static void no_close(struct device *d)
{
    (void)d;
}

static size_t unknown_bytes(struct device *d)
{
    (void)d;
    return 0;
}

static int ignore_upload(struct device *d, void *dst, const void *src, size_t bytes)
{
    (void)d;
    (void)dst;
    (void)src;
    (void)bytes;
    return 0;
}

static int count_weight(struct device *d, struct weight *w, int n, int k, enum dtype dtype, int with_bias)
{
    *w = (struct weight){
        .data = count_alloc(d, (size_t)n * (size_t)k * dtype_bytes(dtype)), .n = n, .k = k, .dtype = dtype};
    if (with_bias)
        w->bias = count_alloc(d, (size_t)n * sizeof *w->bias);
    return 0;
}

static void keep_weight(struct device *d, struct weight *w)
{
    (void)d;
    memset(w, 0, sizeof *w);
}

static const char *no_error(struct device *d)
{
    (void)d;
    return "this backend only counts";
}

void counting_init(struct counting *c, const struct backend *real)
{
    *c = (struct counting){.be = {.name = real->name,
                                  .kv_default = real->kv_default,
                                  .activations = real->activations,
                                  .prefill_chunk = real->prefill_chunk,
                                  .kv_block_bytes = real->kv_block_bytes,
                                  .close = no_close,
                                  .last_error = no_error,
                                  .alloc = count_alloc,
                                  .release = ignore_release,
                                  .free_bytes = unknown_bytes,
                                  .upload = ignore_upload,
                                  .weight_alloc = count_weight,
                                  .weight_release = keep_weight}};
}

struct device *counting_device(struct counting *c)
{
    return (struct device *)c;
}
