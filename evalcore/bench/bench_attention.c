/* Paged decode attention alone, in bytes of K and V per second beside the read bandwidth. The GPU's cases are
 * the settings of the papers: batch 64, 32/8 heads as in Kascade's Table 3 (arXiv 2512.16391), 12/2 heads as
 * in DELTA's measurements (arXiv 2510.09883, Figures 4 and 8 to 10). Pages are scattered at random, or in
 * order for a comparison with kernels whose K and V lie in one piece. */
#include <math.h>
#include <stdlib.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/rng.h"
#include "evalcore/bench/bench_cache.h"

enum mode {
    FULL,
    DUMP,   /* full, and the logits are written */
    MASSES, /* full, and each page's log-sum-exp under each head is written */
    PAGES,  /* `take` random pages, one list for all heads */
    TOKENS, /* `take` random tokens, a list for each KV head */
    SCAN    /* all logits, K alone */
};

struct attention_case {
    struct bench_shape shape;
    enum mode mode;
    int take;
};

#define LLAMA_UNITS(context, in_order)                                                                       \
    {                                                                                                        \
        32, 8, 128, 64, context, DTYPE_BF16, in_order, 1                                                     \
    }
#define QWEN_UNITS(context, in_order)                                                                        \
    {                                                                                                        \
        12, 2, 128, 64, context, DTYPE_BF16, in_order, 1                                                     \
    }
#define LLAMA(context) LLAMA_UNITS(context, 0)
#define QWEN(context)  QWEN_UNITS(context, 0)
static const struct attention_case cpu_cases[] = {
    {{32, 8, 128, 8, 4096, DTYPE_F32, 0, 1}, FULL, 0},
    {{32, 8, 128, 8, 4096, DTYPE_BF16, 0, 1}, FULL, 0},
};
/* Batches of 1 and 4: the end of a sweep. */
static const struct attention_case gpu_cases[] = {
    {QWEN(4096), FULL, 0},
    {QWEN(18432), FULL, 0},
    {QWEN(18432), DUMP, 0},
    {QWEN(18432), MASSES, 0},
    {QWEN(18432), PAGES, 64},
    {{12, 2, 128, 1, 32768, DTYPE_BF16, 0, 1}, FULL, 0},
    {{12, 2, 128, 4, 32768, DTYPE_BF16, 0, 1}, FULL, 0},
    {QWEN(65536), FULL, 0},
    {LLAMA(8192), FULL, 0},
    {LLAMA(18432), PAGES, 64},
    {LLAMA(32768), FULL, 0},
    {LLAMA(32768), DUMP, 0},
    {LLAMA(32768), MASSES, 0},
    {LLAMA(65536), FULL, 0},
    {LLAMA(65536), DUMP, 0},
    {LLAMA(65536), SCAN, 0},
    {LLAMA(65536), TOKENS, 6553},
    {LLAMA(131072), FULL, 0},
    {LLAMA(131072), DUMP, 0},
    {LLAMA(131072), SCAN, 0},
    {LLAMA(131072), TOKENS, 13107},
    {QWEN_UNITS(4096, 1), FULL, 0},
    {QWEN_UNITS(18432, 1), FULL, 0},
    {QWEN_UNITS(65536, 1), FULL, 0},
    {LLAMA_UNITS(8192, 1), FULL, 0},
    {LLAMA_UNITS(32768, 1), FULL, 0},
    {LLAMA_UNITS(65536, 1), FULL, 0},
};

/* Lists rotate, so that what they name does not stay in a cache. */
enum { VARIANTS = 8 };

struct job {
    struct bench_kv *k;
    const struct attention_case *c;
    int32_t *idx, *len; /* device: (VARIANTS, batch, lists, cap) */
    int lists, cap;
    struct stats stats;
};

static int enqueue_attention(void *context, int i)
{
    struct job *j = context;
    struct bench_kv *k = j->k;
    const struct bench_shape *s = &k->shape;
    size_t at = (size_t)(i % VARIANTS) * (size_t)(s->batch * j->lists);
    struct attend_args a = {.rows = k->rows,
                            .kv = k->kv,
                            .n_q = s->n_q,
                            .q = k->qkv,
                            .q_stride = k->stride,
                            .out = k->out,
                            .scale = 0.088388f,
                            .granularity = j->c->mode == PAGES    ? SEL_PAGES
                                           : j->c->mode == TOKENS ? SEL_TOKENS
                                                                  : SEL_LIVE,
                            .n_rows = j->lists,
                            .cap = j->cap,
                            .block_pages = 1,
                            .max_pages_read = j->c->mode == PAGES ? j->c->take : 0,
                            .in_order = 1,
                            .idx = j->idx + at * (size_t)j->cap,
                            .len = j->len + at,
                            .plan = k->plan};
    for (int q = 0; q < s->n_q; q++)
        a.row_of_q[q] = (uint8_t)(q * j->lists / s->n_q);
    if (j->c->mode == DUMP || j->c->mode == MASSES)
        a.stats = j->stats;
    if (j->c->mode != SCAN)
        return k->d.be->launch(k->d.dev, OP_attend, &a);
    struct qk_stats_args q = {k->rows, k->kv, 0, s->n_q, k->qkv, k->stride, a.scale, j->stats, {0}};
    return k->d.be->launch(k->d.dev, OP_qk_stats, &q);
}

/* Ascending random choices of `take` out of n, each with the same chance. */
static void choose_ascending(int32_t *idx, int take, int n, struct rng *r)
{
    for (int i = 0, left = take; i < n && left; i++)
        if ((int)rng_below(r, (uint32_t)(n - i)) < left)
            idx[take - left--] = i;
}

static int make_lists(struct job *j, struct err *e)
{
    struct bench_kv *k = j->k;
    int tokens = j->c->mode == TOKENS, n = tokens ? k->shape.context : k->kv.max_pages;
    j->lists = tokens ? k->shape.n_kv : 1;
    j->cap = j->c->take ? j->c->take : 1;
    size_t count = VARIANTS * (size_t)(k->shape.batch * j->lists), capacity = count * (size_t)j->cap;
    int32_t *idx = xcalloc(capacity, sizeof *idx), *len = xcalloc(count, sizeof *len);
    struct rng r;
    rng_init(&r, 3, 4);
    for (size_t i = 0; i < count; i++) {
        choose_ascending(idx + i * (size_t)j->cap, j->cap, n, &r);
        len[i] = j->cap;
    }
    j->idx = bench_kv_alloc(k, capacity * sizeof *idx, e);
    j->len = bench_kv_alloc(k, count * sizeof *len, e);
    if (!e->code && !bench_kv_check(k, k->d.be->upload(k->d.dev, j->idx, idx, capacity * sizeof *idx), e))
        bench_kv_check(k, k->d.be->upload(k->d.dev, j->len, len, count * sizeof *len), e);
    free(idx);
    free(len);
    return e->code;
}

static int make_stats(struct job *j, struct err *e)
{
    struct bench_kv *k = j->k;
    int by_page = j->c->mode == MASSES;
    size_t heads = (size_t)(k->shape.batch * k->shape.n_q),
           stride = (size_t)k->kv.max_pages * (by_page ? 1 : KV_PAGE_TOKENS);
    j->stats = (struct stats){bench_kv_alloc(k, heads * stride * sizeof(float), e),
                              bench_kv_alloc(k, heads * sizeof(float), e), (int)stride, by_page};
    return e->code;
}

static double bytes_read(const struct attention_case *c)
{
    const struct bench_shape *s = &c->shape;
    double all = bench_kv_bytes(s, s->context);
    switch (c->mode) {
    case PAGES:
        return bench_kv_bytes(s, (double)c->take * KV_PAGE_TOKENS);
    case TOKENS:
        return bench_kv_bytes(s, c->take);
    case SCAN:
        return all / 2;
    default:
        return all;
    }
}

static void print_attention(struct bench *b, const struct attention_case *c, double seconds, double limit)
{
    static const char *const what[] = {"full",   "full with logit dump", "full with page masses", "pages",
                                       "tokens", "logits alone"};
    char name[160], take[32] = "";
    const struct bench_shape *s = &c->shape;
    if (c->take)
        snprintf(take, sizeof take, " %d", c->take);
    snprintf(name, sizeof name, "attention %d/%d heads d %d, %s KV, batch %d x %d: %s%s%s, %.1f us", s->n_q,
             s->n_kv, s->dim, s->dtype == DTYPE_BF16 ? "bf16" : "fp32", s->batch, s->context, what[c->mode],
             take, s->pages_in_order ? ", pages in order" : "", seconds * 1e6);
    bench_print(b, name, bytes_read(c) / seconds / 1e9, "GB/s", limit);
}

static int run_case(struct bench *b, struct bench_kv *k, const void *row, struct err *e)
{
    const struct attention_case *c = row;
    struct job j = {.k = k, .c = c};
    double seconds = 0, bytes = bench_kv_bytes(&c->shape, c->shape.context);
    int rc = make_lists(&j, e);
    if (!rc && c->mode != FULL && c->mode != PAGES && c->mode != TOKENS)
        rc = make_stats(&j, e);
    if (!rc)
        rc = bench_replay(&k->d, k->rows.seq, enqueue_attention, &j, b->device->is_gpu ? 2 * VARIANTS : 1,
                          &seconds, e);
    if (!rc) /* 1 GiB is beyond every processor's own caches, and K and V take memory still */
        print_attention(b, c, seconds, k->d.limits->read_bandwidth(k->d.dev, (size_t)fmin(bytes, 1 << 30)));
    return rc;
}

int bench_attention(struct bench *b, struct err *e)
{
    return bench_kv_run(b, BENCH_CASES(cpu_cases), BENCH_CASES(gpu_cases), run_case, e);
}
