/* Attention to prompts alone, beside the peak of matrix products: dense, and the parts of Kascade's sparse
 * prompts (arXiv 2512.16391, Table 3): an anchor layer's masses of keys for each tile of 32 queries, the best
 * of them, and attention to lists of chosen keys, which layers that reuse them do alone; and masks that hide
 * keys by their age. One layer, batch 1, in chunks as the engine takes them. A prompt's time is that of some
 * chunks, evenly spread over it, as attention grows evenly with position. */
#include <stdlib.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/rng.h"
#include "evalcore/bench/bench_cache.h"

enum { PROMPT_CHUNK = 2048, TILE = 32, MOST_CHUNKS = 8, TILES = PROMPT_CHUNK / TILE };
enum prompt_mode {
    DENSE,
    MASSES, /* what a tile's queries give to each key */
    TOPK,   /* the best of these */
    REUSE,  /* attention to a tile's list and the tile itself */
    WINDOW, /* keys of the last `percent` of the prompt and 4 sinks are seen, as by StreamingLLM */
    GATES   /* keys but one in 4, at random, are seen for 256 tokens, as by DMS */
};
static const char *const mode_names[] = {"dense", "masses", "top-k", "lists", "window", "gates"};

struct prompt_case {
    struct bench_shape shape;
    enum prompt_mode mode;
    int percent;
};

#define SHAPES(n_q, n_kv, context)                                                                           \
    {                                                                                                        \
        n_q, n_kv, 128, 1, context, DTYPE_BF16, 0, 1                                                         \
    }
#define MODES(shape)                                                                                         \
    {shape, DENSE, 100}, {shape, MASSES, 100}, {shape, TOPK, 10}, {shape, TOPK, 30}, {shape, REUSE, 10},     \
        {shape, REUSE, 20}, {shape, REUSE, 30}, {shape, WINDOW, 30},                                         \
    {                                                                                                        \
        shape, GATES, 0                                                                                      \
    }
#define LLAMA(context) SHAPES(32, 8, context)
#define QWEN(context)  SHAPES(12, 2, context)
static const struct prompt_case cpu_cases[] = {
    {{12, 2, 128, 1, 2048, DTYPE_F32, 0, 1}, DENSE, 100},
    {{12, 2, 128, 1, 2048, DTYPE_F32, 0, 1}, REUSE, 10},
};
static const struct prompt_case gpu_cases[] = {
    MODES(LLAMA(8192)),   MODES(LLAMA(16384)),  MODES(LLAMA(32768)), MODES(LLAMA(65536)),
    MODES(LLAMA(131072)), MODES(LLAMA(262144)), MODES(QWEN(8192)),   MODES(QWEN(65536)),
};

struct job {
    struct bench_kv *k;
    const struct prompt_case *c;
    int n_chunks, take;
    int32_t *idx, *len, *until, *seq;
    float *q;
    void *out;
    struct scores mass;
    double pairs; /* of a query and a key that it multiplies with, under all KV heads, in the whole prompt */
};

/* Where the i-th chunk of those that are timed begins: in the middle of its share of the prompt. */
static int chunk_start(const struct job *j, int i)
{
    double all = j->c->shape.context / PROMPT_CHUNK;
    return (int)((i + 0.5) * all / j->n_chunks) * PROMPT_CHUNK;
}

static int enqueue_masses(const struct job *j, int pos0)
{
    struct bench_kv *k = j->k;
    struct prefill_mass_args m = {.kv = k->kv,
                                  .n_q = k->shape.n_q,
                                  .pos0 = pos0,
                                  .nq = PROMPT_CHUNK,
                                  .q = j->q,
                                  .q_stride = k->shape.n_q * k->shape.dim,
                                  .scale = 0.088388f,
                                  .tile = TILE,
                                  .before = 1,
                                  .out = j->mass};
    return k->d.be->launch(k->d.dev, OP_prefill_mass, &m);
}

static int enqueue_topk(const struct job *j)
{
    struct topk_args t = {.rows = {TILES, j->seq, j->seq},
                          .in = j->mass,
                          .params = {.kind = TOPK_FIXED, .k = j->take, .tokens_per = 1},
                          .idx = j->idx,
                          .len = j->len,
                          .cap = j->take};
    return j->k->d.be->launch(j->k->d.dev, OP_topk, &t);
}

static int enqueue_chunk(void *context, int i)
{
    struct job *j = context;
    struct bench_kv *k = j->k;
    int pos0 = chunk_start(j, i % j->n_chunks);
    if (j->c->mode == MASSES)
        return enqueue_masses(j, pos0);
    if (j->c->mode == TOPK)
        return enqueue_topk(j);
    struct prefill_attend_args a = {.kv = k->kv,
                                    .n_q = k->shape.n_q,
                                    .pos0 = pos0,
                                    .nq = PROMPT_CHUNK,
                                    .q = j->q,
                                    .q_stride = k->shape.n_q * k->shape.dim,
                                    .out = j->out,
                                    .scale = 0.088388f,
                                    .type = k->d.be->activations};
    if (j->c->mode == REUSE) {
        a.tile = TILE;
        a.cap = j->take;
        a.n_rows = k->shape.n_kv;
        for (int h = 0; h < k->shape.n_kv; h++)
            a.row_of_kv[h] = (uint8_t)h;
        a.idx = j->idx;
        a.len = j->len;
    }
    if (j->c->mode == WINDOW || j->c->mode == GATES) {
        a.until = j->until;
        a.until_stride = k->shape.context;
    }
    return k->d.be->launch(k->d.dev, OP_prefill_attend, &a);
}

/* Lists of a chunk: as many keys for each tile, ascending, at random among all of the prompt. Those behind
 * the tile cost as much as any others. */
static void make_idx(int32_t *idx, const struct job *j, struct rng *r)
{
    for (int l = 0; l < TILES * j->c->shape.n_kv; l++) {
        int n = j->c->shape.context, left = j->take;
        for (int t = 0; t < n && left; t++)
            if ((int)rng_below(r, (uint32_t)(n - t)) < left)
                idx[(size_t)l * (size_t)j->take + (size_t)(j->take - left--)] = t;
    }
}

static void make_until(int32_t *until, struct job *j, struct rng *r)
{
    int n = j->c->shape.context, window = j->c->mode == WINDOW ? (int)(n * 0.01 * j->c->percent) : 256;
    for (int h = 0; h < j->c->shape.n_kv; h++)
        for (int t = 0; t < n; t++) {
            int stays = j->c->mode == WINDOW ? t < 4 : rng_below(r, 4) == 0;
            int last = stays || t + window > n - 1 ? n - 1 : t + window - 1;
            until[(size_t)h * (size_t)n + (size_t)t] = last;
            j->pairs += last - t + 1;
        }
}

static int make_buffers(struct job *j, struct err *e)
{
    struct bench_kv *k = j->k;
    const struct bench_shape *s = &k->shape;
    size_t lists = (size_t)(TILES * s->n_kv), n = (size_t)s->context, keys = lists * (size_t)j->take;
    size_t heads = (size_t)s->n_kv * n, queries = (size_t)(PROMPT_CHUNK * s->n_q * s->dim);
    float *q = xcalloc(queries, sizeof *q);
    int32_t *zeros = xcalloc(TILES, sizeof *zeros), *len = xcalloc(lists, sizeof *len), *x = NULL;
    struct rng r;
    rng_init(&r, 5, 6);
    j->seq = bench_kv_alloc(k, TILES * sizeof *j->seq, e);
    j->len = bench_kv_alloc(k, lists * sizeof *j->len, e);
    j->idx = bench_kv_alloc(k, keys * sizeof *j->idx, e);
    j->until = bench_kv_alloc(k, heads * sizeof *j->until, e);
    j->out = bench_kv_alloc(k, queries * sizeof(float), e);
    j->q = bench_kv_alloc(k, queries * sizeof *j->q, e);
    if (j->c->mode == MASSES || j->c->mode == TOPK)
        j->mass = (struct scores){bench_kv_alloc(k, lists * n * sizeof(float), e),
                                  bench_kv_alloc(k, lists * sizeof(int32_t), e),
                                  bench_kv_alloc(k, lists * sizeof(int32_t), e), s->n_kv, s->context};
    for (size_t l = 0; l < lists; l++)
        len[l] = j->take;
    for (size_t i = 0; i < queries; i++)
        q[i] = (float)(rng_unit(&r) - 0.5);
    if (!e->code)
        bench_kv_check(k, k->d.be->upload(k->d.dev, j->q, q, queries * sizeof *q), e);
    if (!e->code)
        bench_kv_check(k, k->d.be->upload(k->d.dev, j->seq, zeros, TILES * sizeof *zeros), e);
    if (!e->code)
        bench_kv_check(k, k->d.be->upload(k->d.dev, j->len, len, lists * sizeof *len), e);
    if (!e->code && j->c->mode == REUSE) {
        make_idx(x = xcalloc(keys, sizeof *x), j, &r);
        bench_kv_check(k, k->d.be->upload(k->d.dev, j->idx, x, keys * sizeof *x), e);
    }
    if (!e->code && (j->c->mode == WINDOW || j->c->mode == GATES)) {
        make_until(x = xcalloc(heads, sizeof *x), j, &r);
        bench_kv_check(k, k->d.be->upload(k->d.dev, j->until, x, heads * sizeof *x), e);
    }
    free(x);
    free(q);
    free(zeros);
    free(len);
    return e->code;
}

static int run_case(struct bench *b, struct bench_kv *k, const void *row, struct err *e)
{
    struct job j = {.k = k, .c = row};
    const struct bench_shape *s = &k->shape;
    double n = s->context, chunks = n / PROMPT_CHUNK, seconds = 0;
    j.n_chunks = chunks < MOST_CHUNKS ? (int)chunks : MOST_CHUNKS;
    j.take = (int)(n * 0.01 * j.c->percent) - TILE;
    j.take = j.take > 1 && j.c->percent < 100 ? j.take : 1;
    int rc = make_buffers(&j, e);
    if (!rc && j.c->mode == TOPK) /* of a chunk in the middle */
        rc = bench_kv_check(k, enqueue_masses(&j, s->context / 2), e);
    if (!rc)
        rc = bench_replay(&k->d, k->rows.seq, enqueue_chunk, &j, j.n_chunks, &seconds, e);
    if (rc)
        return rc;
    if (j.c->mode == DENSE || j.c->mode == MASSES)
        j.pairs = n * (n + 1) / 2 * s->n_kv;
    if (j.c->mode == REUSE)
        j.pairs = n * (j.take + TILE * 0.5) * s->n_kv;
    /* Masses need products with K alone. That they take two is the kernel's affair. */
    double work = j.pairs * (s->n_q / s->n_kv) * s->dim * (j.c->mode == MASSES ? 2 : 4) / 1e12;
    char name[200], percent[16] = "";
    if (j.c->mode == REUSE || j.c->mode == WINDOW || j.c->mode == TOPK)
        snprintf(percent, sizeof percent, " %d %%", j.c->percent);
    snprintf(name, sizeof name,
             "prompt attention %d/%d heads d %d, %s KV, %d tokens: %s%s, one layer %.4g ms", s->n_q, s->n_kv,
             s->dim, s->dtype == DTYPE_BF16 ? "bf16" : "fp32", s->context, mode_names[j.c->mode], percent,
             seconds * chunks * 1e3);
    if (j.c->mode == TOPK) /* reads each score once */
        bench_print(b, name, n / 2 * n / TILE * s->n_kv * 4 / (seconds * chunks) / 1e9, "GB/s",
                    k->d.limits->read_bandwidth(k->d.dev, 1 << 30));
    else
        bench_print(b, name, work / (seconds * chunks), "TFLOP/s", k->d.limits->peak(k->d.dev) / 1e3);
    return 0;
}

int bench_prompts(struct bench *b, struct err *e)
{
    enum { CASES = sizeof gpu_cases / sizeof *gpu_cases };
    struct prompt_case some[CASES];
    struct bench_cases gpu = {some, 0, sizeof *some};
    for (int i = 0; i < CASES; i++)
        if (!b->tokens || b->tokens == gpu_cases[i].shape.context)
            some[gpu.n++] = gpu_cases[i];
    return bench_kv_run(b, BENCH_CASES(cpu_cases), gpu, run_case, e);
}
