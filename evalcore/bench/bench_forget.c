/* What policies that forget by their last queries do beside attention: the scores of SnapKV (arXiv
 * 2404.14469), and those of R-KV (arXiv 2505.24133) with the likeness of keys. While decoding, the sequences
 * of a batch want them in different steps, so each case says in how many of them the rule acts; with none it
 * is what every other step pays. Multiplications and additions of q.k, each counted once, beside the peak of
 * the device's fastest arithmetic. */
#include <stdlib.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/rng.h"
#include "evalcore/bench/bench_cache.h"

enum { RECENT_SNAPKV = 64, RECENT_RKV = 8 };

struct forget_case {
    struct bench_shape shape;
    int act;    /* of the batch's sequences */
    int prompt; /* at the end of a prompt: a query sees the keys up to its own */
    int rkv;
};

#define QWEN(batch, context)                                                                                 \
    {                                                                                                        \
        12, 2, 128, batch, context, DTYPE_BF16, 0                                                            \
    }
static const struct forget_case cpu_cases[] = {
    {{12, 2, 128, 8, 1088, DTYPE_F32, 0}, 1, 0, 0},
    {{12, 2, 128, 8, 1152, DTYPE_F32, 0}, 1, 0, 1},
};
static const struct forget_case gpu_cases[] = {
    {QWEN(64, 1088), 64, 0, 0}, {QWEN(64, 1088), 1, 0, 0}, {QWEN(64, 1088), 0, 0, 0},
    {QWEN(64, 1152), 64, 0, 1}, {QWEN(64, 1152), 1, 0, 1}, {QWEN(64, 1152), 0, 0, 1},
    {QWEN(1, 32768), 1, 1, 0},
};

struct job {
    struct bench_kv *k;
    const struct forget_case *c;
    struct rows rows;
    char *state;
    size_t state_bytes;
    int32_t *spare;
    float *mean;
    struct scores scores;
};

static int recent(const struct forget_case *c)
{
    return c->rkv ? RECENT_RKV : RECENT_SNAPKV;
}

static int enqueue(void *context, int i)
{
    struct job *j = context;
    struct bench_kv *k = j->k;
    struct window_mass_args w = {.rows = j->rows,
                                 .kv = k->kv,
                                 .n_q = k->shape.n_q,
                                 .scale = 0.088388f,
                                 .rule = {.tokens = 1024,
                                          .least = recent(j->c) + 1,
                                          .every = k->shape.context,
                                          .recent = recent(j->c),
                                          .of_context = 1},
                                 .n = recent(j->c),
                                 .state = j->state,
                                 .state_bytes = j->state_bytes,
                                 .causal = j->c->prompt,
                                 .largest_first = j->c->rkv,
                                 .kernel = j->c->rkv ? 7 : 5,
                                 .pool = j->c->rkv ? WINDOW_MAX : WINDOW_MEAN,
                                 .out = j->scores};
    struct key_redundancy_args r = {.rows = j->rows,
                                    .kv = k->kv,
                                    .recent = recent(j->c),
                                    .threshold = 0.5f,
                                    .lambda = 0.1f,
                                    .io = j->scores,
                                    .spare = j->spare,
                                    .mean = j->mean};
    (void)i;
    int rc = k->d.be->launch(k->d.dev, OP_window_mass, &w);
    return rc < 0 || !j->c->rkv ? rc : k->d.be->launch(k->d.dev, OP_key_redundancy, &r);
}

/* The last queries, at random, and positions at which the rule acts in as many sequences as the case says. */
static int fill(struct job *j, struct err *e)
{
    struct bench_kv *k = j->k;
    size_t n = (size_t)k->shape.batch * j->state_bytes / sizeof(float);
    float *q = xmalloc(n * sizeof *q);
    int32_t *pos = xmalloc((size_t)k->shape.batch * sizeof *pos);
    struct rng r;
    rng_init(&r, 5, 6);
    for (size_t i = 0; i < n; i++)
        q[i] = (float)(rng_unit(&r) - 0.5);
    for (int i = 0; i < k->shape.batch; i++)
        pos[i] = k->shape.context - (i < j->c->act ? 1 : 2);
    if (!bench_kv_check(k, k->d.be->upload(k->d.dev, j->state, q, n * sizeof *q), e))
        bench_kv_check(k,
                       k->d.be->upload(k->d.dev, (void *)(uintptr_t)j->rows.pos, pos,
                                       (size_t)k->shape.batch * sizeof *pos),
                       e);
    free(q);
    free(pos);
    return e->code;
}

static int make(struct job *j, struct err *e)
{
    struct bench_kv *k = j->k;
    const struct bench_shape *s = &k->shape;
    size_t lists = (size_t)(s->batch * s->n_kv), stride = (size_t)k->kv.max_pages * KV_PAGE_TOKENS;
    j->state_bytes = sizeof(float) * (size_t)(recent(j->c) * s->n_q * s->dim);
    j->state = bench_kv_room(k, (size_t)s->batch * j->state_bytes, e);
    j->rows = (struct rows){s->batch, k->rows.seq, bench_kv_room(k, (size_t)s->batch * sizeof(int32_t), e)};
    j->scores = (struct scores){bench_kv_room(k, lists * stride * sizeof(float), e),
                                bench_kv_room(k, lists * sizeof(int32_t), e),
                                bench_kv_room(k, lists * sizeof(int32_t), e), s->n_kv, (int)stride};
    j->spare = bench_kv_room(k, lists * stride * sizeof *j->spare, e);
    j->mean = bench_kv_room(k, lists * stride * sizeof *j->mean, e);
    return e->code ? e->code : fill(j, e);
}

static double flops(const struct forget_case *c)
{
    const struct bench_shape *s = &c->shape;
    double keys = s->context, products = keys * recent(c) * s->n_q + (c->rkv ? keys * keys * s->n_kv : 0);
    return 2.0 * c->act * products * s->dim;
}

static int run_case(struct bench *b, struct bench_kv *k, const void *row, struct err *e)
{
    struct job j = {.k = k, .c = row};
    const struct bench_shape *s = &k->shape;
    double seconds = 0;
    char name[160];
    int rc = make(&j, e);
    rc = rc ? rc : bench_replay(&k->d, k->rows.seq, enqueue, &j, b->device->is_gpu ? 16 : 1, &seconds, e);
    if (rc)
        return rc;
    snprintf(name, sizeof name, "forget %d/%d heads, batch %d x %d: %s, %d act%s, %.1f us", s->n_q, s->n_kv,
             s->batch, s->context,
             j.c->rkv      ? "R-KV"
             : j.c->prompt ? "SnapKV after a prompt"
                           : "SnapKV",
             j.c->act, j.c->act == 1 ? "s" : "", seconds * 1e6);
    if (j.c->act)
        bench_print(b, name, flops(j.c) / seconds / 1e9, "GFLOP/s", k->d.limits->peak(k->d.dev));
    else
        bench_print(b, name, seconds * 1e6, "us", 0);
    return 0;
}

int bench_forget(struct bench *b, struct err *e)
{
    static const struct bench_cases cpu = {cpu_cases, sizeof cpu_cases / sizeof *cpu_cases,
                                           sizeof *cpu_cases};
    static const struct bench_cases gpu = {gpu_cases, sizeof gpu_cases / sizeof *gpu_cases,
                                           sizeof *gpu_cases};
    return bench_kv_run(b, b->device->is_gpu ? &gpu : &cpu, run_case, e);
}
