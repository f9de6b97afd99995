/* What a sequence's last queries attend to, and how alike its keys are: the scores of SnapKV (arXiv
 * 2404.14469) and R-KV (arXiv 2505.24133). A task is one KV head of one row; its sums go over queries, slots
 * and heads in their order. */
#include "kernels/cpu/ops.h"
#include "kernels/cpu/scores.h"
#include "kernels/cpu/tile.h"
#include "kernels/cpu/kv_block.h"
#include "kernels/keep_params.h"

/* ---- put_queries */

void CPU_SYM(op_put_queries)(const void *args, struct cpu_ctx *c)
{
    const struct put_queries_args *a = args;
    size_t width = (size_t)(a->n_q * a->dim);
    FOR_TASKS(c, r, a->rows.cap)
    {
        if (a->rows.seq[r] < 0 || (a->prefill && r + a->n < a->rows.cap))
            continue;
        float *ring = (float *)(void *)(a->state + (size_t)a->rows.seq[r] * a->state_bytes) +
                      (size_t)a->layer * (size_t)a->n * width;
        memcpy(ring + (size_t)(a->rows.pos[r] % a->n) * width, a->q + (size_t)r * (size_t)a->q_stride,
               width * sizeof *ring);
    }
}

/* ---- window_mass */

struct window {
    const struct window_mass_args *a;
    size_t head;
    const float *ring; /* (n, n_q, d) */
    int pos, h, group;
    int n_slots, before; /* all; those before the recent ones */
    float *logits[WINDOW_QUERIES], *sum;
};

/* Query i of the window in head g of the group. */
static const float *query_at(const struct window *w, int i, int g)
{
    const struct window_mass_args *a = w->a;
    int entry = (w->pos - a->n + 1 + i) % a->n;
    return w->ring + (size_t)(entry * a->n_q + w->h * w->group + g) * (size_t)a->kv.head_dim;
}

/* q.k of R queries and the 16 keys of a page. */
INLINE void dot_pages(const struct kv_view *kv, const int R, const int bf16, struct v16 *acc,
                      const float *const *q, int kv_block)
{
    const void *k = kv_block_k(kv, kv_block);
    for (int r = 0; r < R; r++)
        acc[r] = v_set(0);
    for (size_t i = 0; i < (size_t)kv->head_dim; i++) {
        struct v16 x = v_keep(tile_load(k, i * LANES, bf16));
        UNROLL
        for (int r = 0; r < R; r++)
            acc[r] = v_fma(v_set(q[r][i]), x, acc[r]);
    }
}

/* Logits of queries i0 .. i0 + WINDOW_QUERIES - 1, those past the last as the last. more: the largest of
 * these and of what is there. */
INLINE void window_logits(const struct window *w, const int bf16, int i0, int g, int more)
{
    const struct kv_view *kv = &w->a->kv;
    const float *q[WINDOW_QUERIES];
    struct v16 acc[WINDOW_QUERIES], scale = v_set(w->a->scale);
    float cap = w->a->softmax.softcap;
    for (int r = 0; r < WINDOW_QUERIES; r++)
        q[r] = query_at(w, i0 + r < w->a->n ? i0 + r : w->a->n - 1, g);
    for (int p = 0; p < kv_pages(w->n_slots); p++) {
        dot_pages(kv, WINDOW_QUERIES, bf16, acc, q,
                  kv->block_table[w->head * (size_t)kv->max_pages + (size_t)p]);
        for (int r = 0; r < WINDOW_QUERIES; r++) {
            struct v16 x = v_mul(acc[r], scale);
            if (cap > 0)
                x = v_softcap(x, cap);
            float *to = w->logits[r] + p * LANES;
            v_store(to, more ? v_max(x, v_load(to)) : x);
        }
    }
}

/* The sink of head g of the group, of which with largest_first the largest counts, or -inf without one. */
static float window_sink(const struct window *w, int g)
{
    const float *sink = w->a->softmax.sink;
    if (!sink)
        return -INFINITY;
    float largest = sink[w->h * w->group + g];
    for (int k = g + 1; w->a->largest_first && k < w->group; k++)
        largest = fmaxf(largest, sink[w->h * w->group + k]);
    return largest;
}

/* Adds softmax(v[0 .. n-1]), beside a sink (-inf: without), to `sum`, of which only the first `before` are
 * wanted. */
static void add_softmax(float *v, int n, float sink, float *sum, int before)
{
    struct v16 lane_max = v_set(-INFINITY), all = v_set(0);
    for (int t = n; t < (n + LANES - 1) / LANES * LANES; t++)
        v[t] = -INFINITY;
    for (int t = 0; t < n; t += LANES)
        lane_max = v_max(v_load(v + t), lane_max);
    struct v16 largest = v_set(fmaxf(v_largest(lane_max), sink));
    for (int t = 0; t < n; t += LANES) {
        struct v16 x = v_softmax_exp(v_sub(v_load(v + t), largest));
        v_store(v + t, x);
        all = v_add(all, x);
    }
    struct v16 total = v_set(v_sum(all) + v_first(v_softmax_exp(v_sub(v_set(sink), largest))));
    for (int t = 0; t < before; t += LANES)
        v_store(sum + t, v_add(v_load(sum + t), v_div(v_load(v + t), total)));
}

/* Adds the pooled sums, divided by all queries, to out. */
static void pool_scores(const struct window *w, float divisor, float *out)
{
    int half = w->a->kernel / 2;
    for (int t = 0; t < w->before; t++) {
        float x = 0;
        for (int u = t - half; u <= t + half; u++) {
            float y = u < 0 || u >= w->before ? 0 : w->sum[u]; /* sums are not negative */
            x = w->a->pool == WINDOW_MEAN ? x + y : x > y ? x : y;
        }
        out[t] += x / (w->a->pool == WINDOW_MEAN ? divisor * (float)w->a->kernel : divisor);
    }
}

static void window_head(struct window *w, float *out)
{
    const struct window_mass_args *a = w->a;
    int bf16 = a->kv.dtype == DTYPE_BF16, passes = a->largest_first ? 1 : w->group;
    for (int t = 0; t < w->n_slots; t++)
        out[t] = 0;
    for (int g = 0; g < passes; g++) {
        for (int t = 0; t < kv_pages(w->before) * KV_PAGE_TOKENS; t++)
            w->sum[t] = 0;
        float sink = window_sink(w, g);
        for (int i = 0; i < a->n; i += WINDOW_QUERIES) {
            for (int k = g; k < (a->largest_first ? w->group : g + 1); k++)
                if (bf16)
                    window_logits(w, 1, i, k, k > g);
                else
                    window_logits(w, 0, i, k, k > g);
            for (int r = 0; r < WINDOW_QUERIES && i + r < a->n; r++)
                add_softmax(w->logits[r], a->causal ? w->n_slots - a->n + 1 + i + r : w->before, sink, w->sum,
                            w->before);
        }
        pool_scores(w, (float)a->n * (float)passes, out);
    }
}

void CPU_SYM(op_window_mass)(const void *args, struct cpu_ctx *c)
{
    const struct window_mass_args *a = args;
    const struct kv_view *kv = &a->kv;
    size_t stride = (size_t)a->out.stride;
    float *own = (float *)c->workspace + (size_t)c->tid * WINDOW_BUFFERS * stride;
    FOR_TASKS(c, list, a->rows.cap * a->out.n_rows)
    {
        int row = list / a->out.n_rows, of_row = list % a->out.n_rows, seq = a->rows.seq[row];
        int layer = a->layer + of_row / kv->n_kv, h = of_row % kv->n_kv;
        if (seq < 0)
            continue;
        struct window w = {.a = a,
                           .head = kv_head(kv, seq, layer, h),
                           .pos = a->rows.pos[row],
                           .h = h,
                           .group = a->n_q / kv->n_kv};
        w.ring = (const float *)(const void *)(a->state + (size_t)seq * a->state_bytes) +
                 (size_t)layer * (size_t)a->n * (size_t)(a->n_q * kv->head_dim);
        w.n_slots = kv->n_slots[w.head];
        w.before = w.n_slots - a->params.recent;
        for (int i = 0; i < WINDOW_QUERIES; i++)
            w.logits[i] = own + (size_t)i * stride;
        w.sum = own + WINDOW_QUERIES * stride;
        int acts = keep_acts(&a->params, keep_budget(&a->params, a->len_of_seq, seq), w.n_slots, w.pos);
        a->out.n[list] = a->out.m[list] = acts ? w.n_slots : 0;
        if (!acts)
            continue;
        window_head(&w, a->out.v + (size_t)list * stride);
        kv->aux_half[w.head] += a->causal ? w.n_slots : w.before;
    }
}

/* ---- key_redundancy */

struct redundancy_head {
    const struct key_redundancy_args *a;
    size_t table; /* of KV blocks */
    int n;
    float *norm, *row, *sum;
};

static const float norm_least = 1e-8f;

/* |k| + 1e-8 of each slot. */
INLINE void key_norms(const struct redundancy_head *s, const int bf16)
{
    const struct kv_view *kv = &s->a->kv;
    for (int p = 0; p < kv_pages(s->n); p++) {
        const void *k = kv_block_k(kv, kv->block_table[s->table + (size_t)p]);
        struct v16 sum = v_set(0);
        for (size_t i = 0; i < (size_t)kv->head_dim; i++) {
            struct v16 x = tile_load(k, i * LANES, bf16);
            sum = v_fma(x, x, sum);
        }
        v_store(s->norm + p * LANES, sum);
    }
    for (int t = 0; t < s->n; t++)
        s->norm[t] = sqrtf(s->norm[t]) + norm_least;
}

/* Cosines of one key with all others. */
INLINE void add_cosines(const struct redundancy_head *s, const int bf16, int i)
{
    const struct kv_view *kv = &s->a->kv;
    float key[BACKEND_MAX_HEAD_DIM];
    const float *q[1] = {key};
    for (int x = 0; x < kv->head_dim; x++)
        key[x] =
            key_element(kv, kv->block_table[s->table + (size_t)(i / KV_PAGE_TOKENS)], i % KV_PAGE_TOKENS, x);
    struct v16 own = v_set(s->norm[i]);
    for (int p = 0; p < kv_pages(s->n); p++) {
        struct v16 acc[1];
        dot_pages(kv, 1, bf16, acc, q, kv->block_table[s->table + (size_t)p]);
        v_store(s->row + p * LANES, v_div(acc[0], v_mul(own, v_load(s->norm + p * LANES))));
    }
}

/* Which of the keys that are like the row's own is spared; 0 without one. */
static int spare_of(const struct redundancy_head *s)
{
    int step = s->a->first ? 1 : -1;
    for (int j = s->a->first ? 0 : s->n - 1; j >= 0 && j < s->n; j += step)
        if (s->row[j] > s->a->threshold)
            return j;
    return 0;
}

/* The sums over rows, then the softmax of their means over slots, mixed into v. */
static void score_redundancy(const struct redundancy_head *s, float *v)
{
    const struct key_redundancy_args *a = s->a;
    int n = s->n, bf16 = a->kv.dtype == DTYPE_BF16;
    if (bf16)
        key_norms(s, 1);
    else
        key_norms(s, 0);
    for (int t = 0; t < n; t++)
        s->sum[t] = 0;
    for (int i = 0; i < n; i++) {
        if (bf16)
            add_cosines(s, 1, i);
        else
            add_cosines(s, 0, i);
        s->row[i] = 0;
        s->row[spare_of(s)] = 0;
        for (int t = 0; t < n; t++)
            s->sum[t] += s->row[t];
    }
    for (int t = 0; t < n; t++) {
        s->sum[t] /= (float)n;
        s->row[t] = 0;
    }
    add_softmax(s->sum, n, -INFINITY, s->row, n);
    for (int t = 0; t < n - a->recent; t++)
        v[t] = a->lambda * v[t] - (1 - a->lambda) * s->row[t];
}

void CPU_SYM(op_key_redundancy)(const void *args, struct cpu_ctx *c)
{
    const struct key_redundancy_args *a = args;
    const struct kv_view *kv = &a->kv;
    size_t stride = (size_t)a->io.stride;
    float *own = (float *)c->workspace + (size_t)c->tid * REDUNDANCY_BUFFERS * stride;
    FOR_TASKS(c, list, a->rows.cap * a->io.n_rows)
    {
        int of_row = list % a->io.n_rows, seq = a->rows.seq[list / a->io.n_rows];
        if (seq < 0 || a->io.n[list] == 0)
            continue;
        size_t head = kv_head(kv, seq, a->layer + of_row / kv->n_kv, of_row % kv->n_kv);
        struct redundancy_head s = {
            a, head * (size_t)kv->max_pages, a->io.n[list], own, own + stride, own + 2 * stride};
        score_redundancy(&s, a->io.v + (size_t)list * stride);
        kv->aux_half[head] += s.n;
    }
}
