/* See bench_cache.h. */
#include "evalcore/bench/bench_cache.h"

#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/rng.h"

enum { CHUNK = 128 };

void *bench_kv_alloc(struct bench_kv *k, size_t bytes, struct err *e)
{
    void *p = e->code ? NULL : k->d.be->alloc(k->d.dev, bytes);
    if (!p && !e->code)
        err_set(e, ERR_DEVICE, "no memory for %.0f MiB of benchmark data", (double)bytes / 1048576);
    if (p)
        k->owned[k->n_owned++] = p;
    return p;
}

int bench_kv_check(const struct bench_kv *k, int rc, struct err *e)
{
    return bench_check(&k->d, rc, e);
}

double bench_kv_bytes(const struct bench_shape *s, double tokens)
{
    return (double)s->batch * tokens * s->n_kv * 2 * s->dim * (s->dtype == DTYPE_BF16 ? 2 : 4);
}

static void make_cache(struct bench_kv *k, struct err *e)
{
    const struct bench_shape *s = &k->shape;
    struct kv_view *v = &k->kv;
    *v = (struct kv_view){.dtype = s->dtype,
                          .n_seqs = s->batch,
                          .n_layers = s->layers,
                          .n_kv = s->n_kv,
                          .head_dim = s->dim,
                          .max_pages = kv_pages(s->context)};
    size_t batch = (size_t)s->batch, heads = batch * (size_t)(s->layers * s->n_kv),
           pages = heads * (size_t)v->max_pages;
    size_t rows = s->batch > CHUNK ? batch : CHUNK;
    k->stride = (s->n_q + 2 * s->n_kv) * s->dim;
    v->pool = bench_kv_alloc(k, pages * k->d.be->kv_block_bytes(s->dtype, s->dim), e);
    v->block_table = bench_kv_alloc(k, pages * sizeof *v->block_table, e);
    v->live = bench_kv_alloc(k, pages * sizeof *v->live, e);
    v->n_slots = bench_kv_alloc(k, heads * sizeof *v->n_slots, e);
    v->n_live = bench_kv_alloc(k, heads * sizeof *v->n_live, e);
    v->tail = bench_kv_alloc(k, heads * sizeof *v->tail, e);
    v->reads = bench_kv_alloc(k, heads * sizeof *v->reads, e);
    v->not_chosen = bench_kv_alloc(k, heads * sizeof *v->not_chosen, e);
    v->aux_half = bench_kv_alloc(k, heads * sizeof *v->aux_half, e);
    v->aux_values = bench_kv_alloc(k, heads * sizeof *v->aux_values, e);
    v->peak = bench_kv_alloc(k, batch * sizeof *v->peak, e);
    k->rows = (struct rows){s->batch, bench_kv_alloc(k, rows * sizeof(int32_t), e),
                            bench_kv_alloc(k, rows * sizeof(int32_t), e)};
    k->plan.entry = bench_kv_alloc(k, pages * sizeof *k->plan.entry, e);
    k->plan.n = bench_kv_alloc(k, heads * sizeof *k->plan.n, e);
    k->qkv = bench_kv_alloc(k, rows * (size_t)k->stride * sizeof *k->qkv, e);
    k->out = bench_kv_alloc(k, batch * (size_t)s->n_q * (size_t)s->dim * sizeof *k->out, e);
}

static int upload_rows(struct bench_kv *k, const int32_t *seq, const int32_t *pos, int n, struct err *e)
{
    size_t bytes = (size_t)n * sizeof *seq;
    return bench_kv_check(k, k->d.be->upload(k->d.dev, (void *)(uintptr_t)k->rows.seq, seq, bytes), e) ||
           bench_kv_check(k, k->d.be->upload(k->d.dev, (void *)(uintptr_t)k->rows.pos, pos, bytes), e);
}

/* One sequence's keys and values, through the operation the engine uses. */
static void fill_sequence(struct bench_kv *k, int b, struct err *e)
{
    int32_t seq[CHUNK], pos[CHUNK];
    const float *key = k->qkv + k->shape.n_q * k->shape.dim;
    for (int p = 0; p < k->shape.context && !e->code; p += CHUNK) {
        int n = k->shape.context - p < CHUNK ? k->shape.context - p : CHUNK;
        for (int i = 0; i < n; i++) {
            seq[i] = b;
            pos[i] = p + i;
        }
        upload_rows(k, seq, pos, n, e);
        struct rows rows = {n, k->rows.seq, k->rows.pos};
        struct append_args a = {rows, k->kv, 0, 1, key, key + k->shape.n_kv * k->shape.dim, k->stride};
        for (a.layer = 0; a.layer < k->shape.layers; a.layer++)
            bench_kv_check(k, k->d.be->launch(k->d.dev, OP_append, &a), e);
    }
}

static int32_t *make_block_table(size_t n, int in_order, struct rng *r)
{
    int32_t *block_table = xmalloc(n * sizeof *block_table);
    for (size_t i = 0; i < n; i++)
        block_table[i] = (int32_t)i;
    if (in_order)
        return block_table;
    for (size_t i = n - 1; i > 0; i--) {
        size_t j = rng_below(r, (uint32_t)i + 1);
        int32_t t = block_table[i];
        block_table[i] = block_table[j];
        block_table[j] = t;
    }
    return block_table;
}

static int fill_cache(struct bench_kv *k, struct err *e)
{
    int batch = k->shape.batch, rows = batch > CHUNK ? batch : CHUNK;
    size_t pages = (size_t)batch * (size_t)(k->shape.layers * k->shape.n_kv) * (size_t)k->kv.max_pages,
           n = (size_t)rows * (size_t)k->stride;
    struct rng r;
    rng_init(&r, 1, 2);
    int32_t *block_table = make_block_table(pages, k->shape.pages_in_order, &r);
    int32_t *seq = xmalloc(2 * (size_t)batch * sizeof *seq), *pos = seq + batch;
    float *x = xmalloc(n * sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)(rng_unit(&r) - 0.5);
    bench_kv_check(k, k->d.be->upload(k->d.dev, k->kv.block_table, block_table, pages * sizeof *block_table),
                   e);
    bench_kv_check(k, k->d.be->upload(k->d.dev, k->qkv, x, n * sizeof *x), e);
    for (int b = 0; b < batch && !e->code; b++) {
        fill_sequence(k, b, e);
        seq[b] = b;
        pos[b] = k->shape.context - 1;
    }
    if (!e->code)
        upload_rows(k, seq, pos, batch, e);
    free(block_table);
    free(seq);
    free(x);
    return e->code;
}

static int open_cache(struct bench_kv *k, const struct bench_shape *s, struct err *e)
{
    *k = (struct bench_kv){.d = k->d, .shape = *s};
    make_cache(k, e);
    return e->code ? e->code : fill_cache(k, e);
}

/* All but the first n. */
static void release_owned(struct bench_kv *k, int n)
{
    while (k->n_owned > n)
        k->d.be->release(k->d.dev, k->owned[--k->n_owned]);
}

int bench_kv_run(struct bench *b, struct bench_cases cpu, struct bench_cases gpu, bench_case_fn run,
                 struct err *e)
{
    struct bench_cases cases = b->device->is_gpu ? gpu : cpu;
    struct bench_kv k = {.n_owned = 0};
    int rc = bench_device_open(&k.d, b, e), of_cache = 0;
    for (size_t i = 0; i < cases.n && !rc; i++) {
        const void *row = (const char *)cases.row + i * cases.size;
        if (memcmp(row, &k.shape, sizeof k.shape)) {
            release_owned(&k, 0);
            rc = open_cache(&k, row, e);
            of_cache = k.n_owned;
        }
        if (!rc)
            rc = run(b, &k, row, e);
        release_owned(&k, of_cache);
    }
    release_owned(&k, 0);
    bench_device_close(&k.d);
    return e->code;
}
