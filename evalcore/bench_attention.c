/* Paged decode attention alone: 32 query and 8 KV heads of 128, K and V together larger than the last-level
 * cache, in bytes of K and V per second beside the read bandwidth at that working set. */
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/rng.h"
#include "evalcore/bench_device.h"
#include "evalcore/progress.h"

enum {
    N_Q = 32,
    N_KV = 8,
    DIM = 128,
    BATCH = 8,
    CONTEXT = 4096,
    PAGES = CONTEXT / KV_PAGE_TOKENS,
    CHUNK = 128,
    LAUNCHES = 7,
    RUNS = 4
};

struct setup {
    struct bench_device d;
    struct kv_view kv;
    struct rows rows;
    struct plan plan;
    float *qkv, *out;
};

static void *room(struct setup *s, size_t bytes, struct err *e)
{
    void *p = s->d.be->alloc(s->d.dev, bytes);
    if (!p)
        err_set(e, ERR_DEVICE, "no memory for %.0f MiB of benchmark data", (double)bytes / 1048576);
    return p;
}

static int make(struct setup *s, enum dtype dtype, struct err *e)
{
    struct kv_view *v = &s->kv;
    size_t heads = BATCH * N_KV, pages = heads * PAGES;
    *v = (struct kv_view){
        .dtype = dtype, .n_seqs = BATCH, .n_layers = 1, .n_kv = N_KV, .head_dim = DIM, .max_pages = PAGES};
    v->pool = room(s, pages * s->d.be->unit_bytes(dtype, DIM), e);
    v->unit = room(s, pages * sizeof *v->unit, e);
    v->live = room(s, pages * sizeof *v->live, e);
    v->n_slots = room(s, heads * sizeof *v->n_slots, e);
    v->n_live = room(s, heads * sizeof *v->n_live, e);
    v->tail = room(s, heads * sizeof *v->tail, e);
    v->reads = room(s, heads * sizeof *v->reads, e);
    v->aux_half = room(s, heads * sizeof *v->aux_half, e);
    v->peak = room(s, BATCH * sizeof *v->peak, e);
    s->rows = (struct rows){BATCH, room(s, CHUNK * sizeof(int32_t), e), room(s, CHUNK * sizeof(int32_t), e)};
    s->plan.entry = room(s, pages * sizeof *s->plan.entry, e);
    s->plan.n = room(s, heads * sizeof *s->plan.n, e);
    s->qkv = room(s, (size_t)CHUNK * (N_Q + 2 * N_KV) * DIM * sizeof *s->qkv, e);
    s->out = room(s, (size_t)BATCH * N_Q * DIM * sizeof *s->out, e);
    return e->code;
}

static void unmake(struct setup *s)
{
    struct kv_view *v = &s->kv;
    void *all[] = {v->pool,
                   v->unit,
                   v->live,
                   v->n_slots,
                   v->n_live,
                   v->tail,
                   v->reads,
                   v->aux_half,
                   v->peak,
                   (void *)(uintptr_t)s->rows.seq,
                   (void *)(uintptr_t)s->rows.pos,
                   s->plan.entry,
                   s->plan.n,
                   s->qkv,
                   s->out};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        s->d.be->release(s->d.dev, all[i]);
}

static int check(const struct setup *s, int rc, struct err *e)
{
    return rc < 0 ? err_set(e, ERR_DEVICE, "benchmark: %s", s->d.be->last_error(s->d.dev)) : 0;
}

static int upload_rows(struct setup *s, const int32_t *seq, const int32_t *pos, int n, struct err *e)
{
    size_t bytes = (size_t)n * sizeof *seq;
    return check(s, s->d.be->upload(s->d.dev, (void *)(uintptr_t)s->rows.seq, seq, bytes), e) ||
           check(s, s->d.be->upload(s->d.dev, (void *)(uintptr_t)s->rows.pos, pos, bytes), e);
}

/* Random keys and values through the same operation the engine uses; units in a scattered order. */
static int fill(struct setup *s, struct err *e)
{
    size_t pages = (size_t)BATCH * N_KV * PAGES, n = (size_t)CHUNK * (N_Q + 2 * N_KV) * DIM;
    int32_t *unit = xmalloc(pages * sizeof *unit), seq[CHUNK], pos[CHUNK];
    float *x = xmalloc(n * sizeof *x);
    struct rng r;
    rng_init(&r, 1, 2);
    for (size_t i = 0; i < pages; i++)
        unit[i] = (int32_t)i;
    for (size_t i = pages - 1; i > 0; i--) {
        size_t j = rng_below(&r, (uint32_t)i + 1);
        int32_t t = unit[i];
        unit[i] = unit[j];
        unit[j] = t;
    }
    for (size_t i = 0; i < n; i++)
        x[i] = (float)(rng_unit(&r) - 0.5);
    check(s, s->d.be->upload(s->d.dev, s->kv.unit, unit, pages * sizeof *unit), e);
    check(s, s->d.be->upload(s->d.dev, s->qkv, x, n * sizeof *x), e);
    for (int b = 0; b < BATCH && !e->code; b++)
        for (int p = 0; p < CONTEXT && !e->code; p += CHUNK) {
            for (int i = 0; i < CHUNK; i++) {
                seq[i] = b;
                pos[i] = p + i;
            }
            upload_rows(s, seq, pos, CHUNK, e);
            struct rows rows = s->rows;
            rows.cap = CHUNK;
            const float *k = s->qkv + N_Q * DIM;
            struct append_args a = {rows, s->kv, 0, 1, k, k + N_KV * DIM, (N_Q + 2 * N_KV) * DIM};
            check(s, s->d.be->launch(s->d.dev, OP_append, &a), e);
        }
    for (int b = 0; b < BATCH; b++) {
        seq[b] = b;
        pos[b] = CONTEXT - 1;
    }
    upload_rows(s, seq, pos, BATCH, e);
    free(unit);
    free(x);
    return e->code;
}

static int time_attention(struct setup *s, double *seconds, struct err *e)
{
    struct attend_args a = {.rows = s->rows,
                            .kv = s->kv,
                            .n_q = N_Q,
                            .q = s->qkv,
                            .q_stride = (N_Q + 2 * N_KV) * DIM,
                            .out = s->out,
                            .scale = 0.088388f,
                            .unit = SEL_LIVE,
                            .n_rows = 1,
                            .block_pages = 1,
                            .plan = s->plan};
    double t[LAUNCHES];
    for (int i = 0; i < LAUNCHES; i++) {
        t[i] = progress_clock();
        if (check(s, s->d.be->launch(s->d.dev, OP_attend, &a), e))
            return e->code;
        t[i] = progress_clock() - t[i];
    }
    *seconds = probe_median(t, LAUNCHES);
    return 0;
}

int bench_attention(struct bench *b, struct err *e)
{
    static const struct {
        enum dtype dtype;
        const char *name;
        int bytes;
    } kinds[] = {{DTYPE_F32, "fp32", 4}, {DTYPE_BF16, "bf16", 2}};
    for (int i = 0; i < 2 && !e->code; i++) {
        struct setup s = {0};
        double s1 = 0, best = 0, limit = 0, kv = (double)BATCH * CONTEXT * N_KV * 2 * DIM * kinds[i].bytes;
        if (bench_device_open(&s.d, b, e))
            return e->code;
        int rc = make(&s, kinds[i].dtype, e) || fill(&s, e);
        for (int run = 0; run < RUNS && !rc; run++) { /* in turns, as in bench_decode.c */
            double bandwidth = s.d.probe->read_bandwidth(s.d.dev, (size_t)kv);
            limit = bandwidth > limit ? bandwidth : limit;
            rc = time_attention(&s, &s1, e);
            best = !run || s1 < best ? s1 : best;
        }
        if (!rc) {
            char name[96];
            snprintf(name, sizeof name, "attention 32/8 heads d 128, %s KV of %.0f MiB", kinds[i].name,
                     kv / 1048576);
            bench_print(b, name, kv / best / 1e9, "GB/s", limit);
        }
        unmake(&s);
        bench_device_close(&s.d);
    }
    return e->code;
}
