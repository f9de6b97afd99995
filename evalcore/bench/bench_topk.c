/* Selection alone, what stands between a layer's statistics and the lists that sparse layers read: each
 * operation by itself and a policy's whole selection, in microseconds and in bytes of its input per second
 * beside the read bandwidth. DELTA's and Quest's with 12/2 heads and 18k tokens (arXiv 2510.09883, Figures 8
 * to 10), Kascade's with 32/8 heads and 64k (arXiv 2512.16391, Table 3).
 * The same input is read again and again: what fits a GPU's second-level cache may pass the floor. */
#include "evalcore/bench/bench_cache.h"

enum part {
    PART_SCORES, /* Quest's: page bounds against the query, a list for each query head */
    PART_REDUCE, /* masses of what is chosen, of statistics that attention wrote */
    PART_TOPK,   /* the best of those masses */
    PART_SELECT  /* reduce and topk */
};

/* What is chosen, and by which statistics. */
enum by {
    PAGES,  /* pages by sequence, by their tokens' logits: DELTA */
    TOKENS, /* tokens by KV head, by their logits: Kascade */
    MASSES  /* pages by sequence, by their own log-sum-exps: DELTA with head_reduce=sum */
};

struct topk_case {
    struct bench_shape shape;
    enum part part;
    enum by by;
    int take;
};

#define QWEN                                                                                                 \
    {                                                                                                        \
        12, 2, 128, 64, 18432, DTYPE_BF16, 0, 1                                                              \
    }
#define LLAMA(context)                                                                                       \
    {                                                                                                        \
        32, 8, 128, 64, context, DTYPE_BF16, 0, 1                                                            \
    }
#define SMALL                                                                                                \
    {                                                                                                        \
        12, 2, 128, 8, 4096, DTYPE_F32, 0, 1                                                                 \
    }
static const struct topk_case cpu_cases[] = {
    {SMALL, PART_SCORES, PAGES, 64}, {SMALL, PART_REDUCE, PAGES, 64},   {SMALL, PART_TOPK, PAGES, 64},
    {SMALL, PART_SELECT, PAGES, 64}, {SMALL, PART_SELECT, TOKENS, 409}, {SMALL, PART_SELECT, MASSES, 64},
};
static const struct topk_case gpu_cases[] = {
    {QWEN, PART_SCORES, PAGES, 64},
    {QWEN, PART_REDUCE, PAGES, 64},
    {QWEN, PART_TOPK, PAGES, 64},
    {QWEN, PART_SELECT, PAGES, 64},
    {QWEN, PART_REDUCE, MASSES, 64},
    {QWEN, PART_SELECT, MASSES, 64},
    {LLAMA(65536), PART_REDUCE, TOKENS, 6553},
    {LLAMA(65536), PART_TOPK, TOKENS, 6553},
    {LLAMA(65536), PART_SELECT, TOKENS, 6553},
    {LLAMA(131072), PART_SELECT, TOKENS, 13107},
};
static const float scale = 0.088388f;

struct job {
    struct bench_kv *k;
    const struct topk_case *c;
    int lists;
    int32_t *idx, *len;
    struct stats stats;
    struct scores scores;
};

static int enqueue_reduce(struct job *j)
{
    struct bench_kv *k = j->k;
    struct reduce_stats_args m = {.rows = k->rows,
                                  .kv = k->kv,
                                  .n_q = k->shape.n_q,
                                  .mode = j->c->by == PAGES ? REDUCE_MAX : REDUCE_SUM,
                                  .block_pages = j->c->by != TOKENS,
                                  .in = j->stats,
                                  .out = j->scores};
    return k->d.be->launch(k->d.dev, OP_reduce_stats, &m);
}

static int enqueue_topk(void *context, int i)
{
    struct job *j = context;
    struct bench_kv *k = j->k;
    struct page_scores_args q = {.rows = k->rows,
                                 .kv = k->kv,
                                 .n_q = k->shape.n_q,
                                 .block_pages = 1,
                                 .scope = SCORE_Q,
                                 .q = k->qkv,
                                 .q_stride = k->stride,
                                 .out = j->scores};
    struct topk_args t = {.rows = k->rows,
                          .in = j->scores,
                          .params = {.kind = TOPK_FIXED,
                                     .k = j->c->take,
                                     .force_last = j->c->by == TOKENS ? 0 : 8,
                                     .tokens_per = j->c->by == TOKENS ? 1 : KV_PAGE_TOKENS},
                          .idx = j->idx,
                          .len = j->len,
                          .cap = j->c->take};
    (void)i;
    if (j->c->part == PART_SCORES)
        return k->d.be->launch(k->d.dev, OP_page_scores, &q);
    int rc = j->c->part == PART_TOPK ? 0 : enqueue_reduce(j);
    return rc < 0 || j->c->part == PART_REDUCE ? rc : k->d.be->launch(k->d.dev, OP_topk, &t);
}

/* Statistics of all keys, once, and buffers for scores and lists. */
static int make_topk_job(struct job *j, struct err *e)
{
    struct bench_kv *k = j->k;
    const struct bench_shape *s = &k->shape;
    size_t heads = (size_t)(s->batch * s->n_q), stride = (size_t)k->kv.max_pages * KV_PAGE_TOKENS;
    size_t pages = (size_t)(s->batch * s->n_kv) * (size_t)k->kv.max_pages;
    j->lists = j->c->part == PART_SCORES ? s->n_q : j->c->by == TOKENS ? s->n_kv : 1;
    size_t lists = (size_t)(s->batch * j->lists);
    if (j->c->part == PART_SCORES)
        k->kv.bounds = bench_kv_alloc(k, pages * kv_bounds_bytes(&k->kv), e);
    j->scores = (struct scores){bench_kv_alloc(k, lists * stride * sizeof(float), e),
                                bench_kv_alloc(k, lists * sizeof(int32_t), e),
                                bench_kv_alloc(k, lists * sizeof(int32_t), e), j->lists, (int)stride};
    j->idx = bench_kv_alloc(k, lists * (size_t)j->c->take * sizeof *j->idx, e);
    j->len = bench_kv_alloc(k, lists * sizeof *j->len, e);
    if (e->code || j->c->part == PART_SCORES)
        return e->code;
    int by_page = j->c->by == MASSES;
    stride = by_page ? (size_t)k->kv.max_pages : stride;
    j->stats = (struct stats){bench_kv_alloc(k, heads * stride * sizeof(float), e),
                              bench_kv_alloc(k, heads * sizeof(float), e), (int)stride, by_page};
    if (e->code)
        return e->code;
    struct qk_stats_args q = {k->rows, k->kv, 0, s->n_q, k->qkv, k->stride, scale, j->stats, {0}};
    if (bench_kv_check(k, k->d.be->launch(k->d.dev, OP_qk_stats, &q), e))
        return e->code;
    return bench_kv_check(k, enqueue_reduce(j), e); /* what topk alone works on */
}

static double bytes_read(const struct job *j)
{
    const struct bench_shape *s = &j->c->shape;
    int pages = kv_pages(s->context);
    if (j->c->part == PART_SCORES)
        return (double)s->batch * s->n_kv * pages * (double)kv_bounds_bytes(&j->k->kv);
    if (j->c->part == PART_TOPK)
        return (double)s->batch * j->lists * (j->c->by == TOKENS ? s->context : pages) * 4;
    return (double)s->batch * s->n_q * (j->c->by == MASSES ? pages : s->context) * 4;
}

static void print_topk(struct bench *b, const struct job *j, double seconds, double limit)
{
    static const char *const what[] = {"page_scores", "reduce_stats", "topk", "reduce_stats and topk"};
    const struct bench_shape *s = &j->c->shape;
    char name[160];
    snprintf(name, sizeof name, "topk %d/%d heads, batch %d x %d: %s%s, %d %s, %.1f us", s->n_q, s->n_kv,
             s->batch, s->context, j->c->by == MASSES ? "page masses: " : "", what[j->c->part], j->c->take,
             j->c->by == TOKENS ? "tokens" : "pages", seconds * 1e6);
    bench_print(b, name, bytes_read(j) / seconds / 1e9, "GB/s", limit);
}

static int run_case(struct bench *b, struct bench_kv *k, const void *row, struct err *e)
{
    struct job j = {.k = k, .c = row};
    double seconds = 0;
    int rc = make_topk_job(&j, e);
    if (!rc)
        rc = bench_replay(&k->d, k->rows.seq, enqueue_topk, &j, b->device->is_gpu ? 16 : 1, &seconds, e);
    if (!rc)
        print_topk(b, &j, seconds, k->d.limits->read_bandwidth(k->d.dev, (size_t)bytes_read(&j)));
    k->kv.bounds = NULL;
    return rc;
}

int bench_topk(struct bench *b, struct err *e)
{
    return bench_kv_run(b, BENCH_CASES(cpu_cases), BENCH_CASES(gpu_cases), run_case, e);
}
