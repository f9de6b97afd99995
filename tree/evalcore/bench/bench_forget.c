/* What policies that forget do beside attention: the scores of SnapKV (arXiv 2404.14469), those of R-KV
 * (arXiv 2505.24133) with the likeness of keys, and all of Random's (arXiv 2609.03430): scores, the list, and
 * the tokens that stay, which all move because the first one goes; a new token takes the last place. While
 * decoding, the sequences of a batch forget in different steps, so each case says in how many of them the
 * rule acts; with none it is what every other step pays. They forget in four layers at once, and at a
 * prompt's end in each by itself. Scores: multiplications and additions of q.k, each counted once, beside the
 * peak of the device's fastest arithmetic. Random: bytes of the tokens that move, read and written, beside
 * the read bandwidth. */
#include <stdlib.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/rng.h"
#include "evalcore/bench/bench_cache.h"

enum { RECENT_SNAPKV = 64, RECENT_RKV = 8 };

enum method {
    SNAPKV,
    SNAPKV_PROMPT, /* at the end of a prompt: a query sees the keys up to its own */
    RKV,
    RANDOM
};
static const char *const names[] = {"SnapKV", "SnapKV after a prompt", "R-KV", "Random"};

struct forget_case {
    struct bench_shape shape;
    int act; /* number of the batch's sequences that forget in this step */
    enum method method;
};

#define QWEN(batch, context, layers)                                                                         \
    {                                                                                                        \
        12, 2, 128, batch, context, DTYPE_BF16, 0, layers                                                    \
    }
static const struct forget_case cpu_cases[] = {
    {{12, 2, 128, 8, 1088, DTYPE_F32, 0, 1}, 1, SNAPKV},
    {{12, 2, 128, 8, 1088, DTYPE_F32, 0, 1}, 1, RANDOM},
    {{12, 2, 128, 8, 1152, DTYPE_F32, 0, 1}, 1, RKV},
};
static const struct forget_case gpu_cases[] = {
    {QWEN(64, 1088, 4), 64, SNAPKV},       {QWEN(64, 1088, 4), 1, SNAPKV}, {QWEN(64, 1088, 4), 0, SNAPKV},
    {QWEN(64, 1088, 4), 64, RANDOM},       {QWEN(64, 1088, 4), 1, RANDOM}, {QWEN(64, 1088, 4), 0, RANDOM},
    {QWEN(64, 1152, 4), 64, RKV},          {QWEN(64, 1152, 4), 1, RKV},    {QWEN(64, 1152, 4), 0, RKV},
    {QWEN(1, 32768, 1), 1, SNAPKV_PROMPT}, {QWEN(1, 32768, 1), 1, RANDOM},
};

struct job {
    struct bench_kv *k;
    const struct forget_case *c;
    struct rows rows, acting; /* acting: the others are empty */
    char *state;
    size_t state_bytes;
    int32_t *spare, *idx, *len;
    float *mean;
    struct scores scores;
    struct sample_settings *settings;
};

static int recent_tokens(const struct forget_case *c)
{
    return c->method == RKV ? RECENT_RKV : RECENT_SNAPKV;
}

/* Acts at the length and the position that `fill` gives those that are to act. */
static struct keep_params keep_params_of(const struct forget_case *c, int tokens)
{
    return (struct keep_params){.tokens = tokens,
                                .min_tokens = recent_tokens(c) + 1,
                                .every = c->shape.context,
                                .recent = recent_tokens(c),
                                .of_context = 1};
}

/* All of Random's, with newest: the token that goes is the first. */
static int enqueue_random(struct job *j)
{
    struct bench_kv *k = j->k;
    int context = k->shape.context;
    const float *key = k->qkv + k->shape.n_q * k->shape.dim;
    struct random_scores_args s = {.rows = j->rows,
                                   .kv = k->kv,
                                   .params = keep_params_of(j->c, context - 1),
                                   .settings = j->settings,
                                   .newest = 1,
                                   .out = j->scores};
    struct topk_args t = {
        .rows = j->rows,
        .in = j->scores,
        .params = {.kind = TOPK_FIXED, .k = context - 1, .tokens_per = 1, .dense_when_short = 1},
        .idx = j->idx,
        .len = j->len,
        .cap = j->scores.stride};
    struct keep_args m = {.rows = j->rows,
                          .kv = k->kv,
                          .idx = j->idx,
                          .len = j->len,
                          .n_rows = j->scores.n_rows,
                          .cap = j->scores.stride,
                          .squeeze = 1};
    struct append_args a = {j->acting, k->kv, 0, 0, key, key + k->shape.n_kv * k->shape.dim, k->stride};
    int rc = k->d.be->launch(k->d.dev, OP_random_scores, &s);
    rc = rc < 0 ? rc : k->d.be->launch(k->d.dev, OP_topk, &t);
    rc = rc < 0 ? rc : k->d.be->launch(k->d.dev, OP_keep, &m);
    for (; rc >= 0 && a.layer < k->shape.layers; a.layer++)
        rc = k->d.be->launch(k->d.dev, OP_append, &a);
    return rc;
}

static int enqueue_forget(void *context, int i)
{
    struct job *j = context;
    struct bench_kv *k = j->k;
    int rkv = j->c->method == RKV;
    if (j->c->method == RANDOM)
        return enqueue_random(j);
    struct window_mass_args w = {.rows = j->rows,
                                 .kv = k->kv,
                                 .n_q = k->shape.n_q,
                                 .scale = 0.088388f,
                                 .params = keep_params_of(j->c, 1024),
                                 .n = recent_tokens(j->c),
                                 .state = j->state,
                                 .state_bytes = j->state_bytes,
                                 .causal = j->c->method == SNAPKV_PROMPT,
                                 .largest_first = rkv,
                                 .kernel = rkv ? 7 : 5,
                                 .pool = rkv ? WINDOW_MAX : WINDOW_MEAN,
                                 .out = j->scores};
    struct key_redundancy_args r = {.rows = j->rows,
                                    .kv = k->kv,
                                    .recent = recent_tokens(j->c),
                                    .threshold = 0.5f,
                                    .lambda = 0.1f,
                                    .io = j->scores,
                                    .spare = j->spare,
                                    .mean = j->mean};
    (void)i;
    int rc = k->d.be->launch(k->d.dev, OP_window_mass, &w);
    return rc < 0 || !rkv ? rc : k->d.be->launch(k->d.dev, OP_key_redundancy, &r);
}

/* A value for each row. */
static void upload_rows(struct bench_kv *k, const int32_t *to, const int32_t *from, struct err *e)
{
    size_t bytes = (size_t)k->shape.batch * sizeof *from;
    if (!e->code)
        bench_kv_check(k, k->d.be->upload(k->d.dev, (void *)(uintptr_t)to, from, bytes), e);
}

/* The last queries, at random, and positions at which the rule acts in as many sequences as the case says. */
static int fill_queries(struct job *j, struct err *e)
{
    struct bench_kv *k = j->k;
    size_t n = (size_t)k->shape.batch * j->state_bytes / sizeof(float);
    float *q = xmalloc(n * sizeof *q);
    int32_t *pos = xmalloc(2 * (size_t)k->shape.batch * sizeof *pos), *seq = pos + k->shape.batch;
    struct rng r;
    rng_init(&r, 5, 6);
    for (size_t i = 0; i < n; i++)
        q[i] = (float)(rng_unit(&r) - 0.5);
    for (int i = 0; i < k->shape.batch; i++) {
        pos[i] = k->shape.context - (i < j->c->act ? 1 : 2);
        seq[i] = i < j->c->act ? i : -1;
    }
    bench_kv_check(k, k->d.be->upload(k->d.dev, j->state, q, n * sizeof *q), e);
    upload_rows(k, j->rows.pos, pos, e);
    upload_rows(k, j->acting.seq, seq, e);
    free(q);
    free(pos);
    return e->code;
}

static int make_forget_job(struct job *j, struct err *e)
{
    struct bench_kv *k = j->k;
    const struct bench_shape *s = &k->shape;
    size_t lists = (size_t)(s->batch * s->layers * s->n_kv),
           stride = (size_t)k->kv.max_pages * KV_PAGE_TOKENS;
    j->state_bytes = sizeof(float) * (size_t)(s->layers * recent_tokens(j->c) * s->n_q * s->dim);
    j->state = bench_kv_alloc(k, (size_t)s->batch * j->state_bytes, e);
    j->rows = (struct rows){s->batch, k->rows.seq, bench_kv_alloc(k, (size_t)s->batch * sizeof(int32_t), e)};
    j->acting =
        (struct rows){s->batch, bench_kv_alloc(k, (size_t)s->batch * sizeof(int32_t), e), j->rows.pos};
    j->scores = (struct scores){
        bench_kv_alloc(k, lists * stride * sizeof(float), e), bench_kv_alloc(k, lists * sizeof(int32_t), e),
        bench_kv_alloc(k, lists * sizeof(int32_t), e), s->layers * s->n_kv, (int)stride};
    j->spare = bench_kv_alloc(k, lists * stride * sizeof *j->spare, e);
    j->mean = bench_kv_alloc(k, lists * stride * sizeof *j->mean, e);
    j->idx = bench_kv_alloc(k, lists * stride * sizeof *j->idx, e);
    j->len = bench_kv_alloc(k, lists * sizeof *j->len, e);
    j->settings = bench_kv_alloc(k, (size_t)s->batch * sizeof *j->settings, e);
    return e->code ? e->code : fill_queries(j, e);
}

static double case_flops(const struct forget_case *c)
{
    const struct bench_shape *s = &c->shape;
    double keys = s->context,
           products = keys * recent_tokens(c) * s->n_q + (c->method == RKV ? keys * keys * s->n_kv : 0);
    return 2.0 * c->act * products * s->dim * s->layers;
}

/* Bytes of K and V that move, counted as read and as written. */
static double case_bytes(const struct forget_case *c)
{
    return 2 * bench_kv_bytes(&c->shape, c->shape.context - 1) * c->shape.layers * c->act / c->shape.batch;
}

static void print_forget(struct bench *b, const struct job *j, double seconds)
{
    const struct forget_case *c = j->c;
    const struct bench_shape *s = &c->shape;
    const struct bench_device *d = &j->k->d;
    char name[160];
    snprintf(name, sizeof name, "forget %d/%d heads, batch %d x %d, %d layer%s: %s, %d act%s, %.1f us",
             s->n_q, s->n_kv, s->batch, s->context, s->layers, s->layers == 1 ? "" : "s", names[c->method],
             c->act, c->act == 1 ? "s" : "", seconds * 1e6);
    if (c->act == 0)
        bench_print(b, name, seconds * 1e6, "us", 0);
    else if (c->method == RANDOM)
        bench_print(b, name, case_bytes(c) / seconds / 1e9, "GB/s",
                    d->limits->read_bandwidth(d->dev, (size_t)case_bytes(c)));
    else
        bench_print(b, name, case_flops(c) / seconds / 1e9, "GFLOP/s", d->limits->peak(d->dev));
}

static int run_case(struct bench *b, struct bench_kv *k, const void *row, struct err *e)
{
    struct job j = {.k = k, .c = row};
    double seconds = 0;
    int rc = make_forget_job(&j, e);
    rc = rc ? rc
            : bench_replay(&k->d, k->rows.seq, enqueue_forget, &j, b->device->is_gpu ? 16 : 1, &seconds, e);
    if (!rc)
        print_forget(b, &j, seconds);
    return rc;
}

int bench_forget(struct bench *b, struct err *e)
{
    return bench_kv_run(b, BENCH_CASES(cpu_cases), BENCH_CASES(gpu_cases), run_case, e);
}
