/* Quest's page bounds (arXiv 2406.10774, section 3.3) as scores that selections are made from, and masks over
 * scores. */
#include "kernels/cpu/ops.h"
#include "kernels/cpu/scores.h"
#include "kernels/cpu/kv_block.h"

/* A KV block's bounds as floats: where they lie, or in `workspace`. */
static const float *kv_block_bounds(const struct kv_view *kv, int kv_block, float *workspace)
{
    size_t n = 2 * (size_t)kv->head_dim, at = bounds_place(kv, kv_block);
    if (kv->dtype == DTYPE_F32)
        return (const float *)kv->bounds + at;
    for (size_t i = 0; i < n; i++)
        workspace[i] = bounds_get(kv, at + i);
    return workspace;
}

/* The bounds of one block, both as head_dim floats; may point into the table when the block is one page. 0:
 * none live. */
static int block_bounds(const struct kv_view *kv, size_t table, int page, int n_pages, float *own,
                        const float **low, const float **high)
{
    int d = kv->head_dim, live = 0;
    float more[2 * BACKEND_MAX_HEAD_DIM];
    for (int p = page; p < page + n_pages; p++) {
        if (!kv->live[table + (size_t)p])
            continue;
        const float *lo = kv_block_bounds(kv, kv->block_table[table + (size_t)p], live ? more : own),
                    *hi = lo + d;
        if (!live++) {
            *low = lo;
            *high = hi;
            continue;
        }
        for (int x = 0; x < d; x += LANES) {
            v_store(own + x, v_min(v_load(lo + x), v_load(*low + x)));
            v_store(own + d + x, v_max(v_load(hi + x), v_load(*high + x)));
        }
        *low = own;
        *high = own + d;
    }
    return live;
}

/* sum over d of max(q low, q high) = sum of q+ high + q- low, q+ and q- the positive and negative parts. */
INLINE float upper_bound(const float *q, const float *low, const float *high, int d)
{
    struct v16 s = v_set(0), zero = v_set(0);
    for (int x = 0; x < d; x += LANES) {
        struct v16 t = v_load(q + x);
        s = v_fma(v_max(t, zero), v_load(high + x), s);
        s = v_fma(v_min(t, zero), v_load(low + x), s);
    }
    return v_sum(s);
}

static void page_span(const struct page_scores_args *a, int row, int h, int from, int to)
{
    const struct kv_view *kv = &a->kv;
    size_t head = kv_head(kv, a->rows.seq[row], a->layer, h), table = head * (size_t)kv->max_pages;
    int group = a->n_q / kv->n_kv, d = kv->head_dim, pages = kv_pages(kv->n_slots[head]);
    const float *q = a->q + (size_t)row * (size_t)a->q_stride + (size_t)(h * group * d);
    size_t stride = (size_t)a->out.stride;
    float *out = a->out.v +
                 ((size_t)row * (size_t)a->out.n_rows + (size_t)(h * score_lists(a->scope, group))) * stride;
    float own[2 * BACKEND_MAX_HEAD_DIM];
    int heads = a->scope == SCORE_Q ? 1 : a->scope == SCORE_PAIR_MAX ? 2 : group; /* of a list */
    for (int i = from; i < to; i++) {
        int page = i * a->block_pages, n = pages - page < a->block_pages ? pages - page : a->block_pages;
        const float *low = NULL, *high = NULL;
        int live = block_bounds(kv, table, page, n, own, &low, &high);
        float one = -INFINITY;
        for (int g = 0; g < group; g++) {
            float s = live ? upper_bound(q + g * d, low, high, d) : -INFINITY;
            if (a->scope == SCORE_KV_SUM && g)
                one += s;
            else
                one = g % heads && one > s ? one : s;
            out[(size_t)(g / heads) * stride + (size_t)i] = one;
        }
    }
}

/* Extents, candidates, and what it cost to read: by one task of each (row, KV head). */
static void page_totals(const struct page_scores_args *a, int row, int h, int blocks)
{
    const struct kv_view *kv = &a->kv;
    size_t head = kv_head(kv, a->rows.seq[row], a->layer, h), table = head * (size_t)kv->max_pages;
    int live = 0, m = 0, lists = score_lists(a->scope, a->n_q / kv->n_kv);
    int pages = kv_pages(kv->n_slots[head]);
    for (int i = 0; i < blocks; i++) {
        int before = live;
        for (int p = i * a->block_pages; p < (i + 1) * a->block_pages && p < pages; p++)
            live += kv->live[table + (size_t)p] != 0;
        m += live > before;
    }
    for (int g = 0; g < lists; g++) {
        a->out.n[row * a->out.n_rows + h * lists + g] = blocks;
        a->out.m[row * a->out.n_rows + h * lists + g] = m;
    }
    kv->aux_half[head] += 2 * live;
}

void CPU_SYM(op_page_scores)(const void *args, struct cpu_ctx *c)
{
    const struct page_scores_args *a = args;
    int n_kv = a->kv.n_kv, span_slots = a->block_pages * KV_PAGE_TOKENS * SPAN;
    int spans = max_slots_of(&a->rows, &a->kv, a->layer) / span_slots + 1;
    FOR_TASKS(c, t, a->rows.cap * n_kv * spans)
    {
        int span = t / (a->rows.cap * n_kv), row = t / n_kv % a->rows.cap, h = t % n_kv,
            seq = a->rows.seq[row];
        if (seq < 0)
            continue;
        int pages = kv_pages(a->kv.n_slots[kv_head(&a->kv, seq, a->layer, h)]);
        int blocks = (pages + a->block_pages - 1) / a->block_pages, to = (span + 1) * SPAN;
        page_span(a, row, h, span * SPAN, to < blocks ? to : blocks);
        if (span == 0)
            page_totals(a, row, h, blocks);
    }
}

void CPU_SYM(op_mask_scores)(const void *args, struct cpu_ctx *c)
{
    const struct mask_scores_args *a = args;
    FOR_TASKS(c, t, a->rows.cap * a->s.n_rows)
    {
        const int32_t *idx = a->idx + (size_t)t * (size_t)a->cap;
        float *v = a->s.v + (size_t)t * (size_t)a->s.stride;
        int next = 0, n = a->len[t];
        if (a->rows.seq[t / a->s.n_rows] < 0 || n < 0)
            continue;
        for (int i = 0; i < n && idx[i] < a->s.n[t]; i++) {
            for (; next < idx[i]; next++)
                v[next] = -INFINITY;
            next = idx[i] + 1;
        }
        for (; next < a->s.n[t]; next++)
            v[next] = -INFINITY;
        a->s.m[t] = count_candidates(v, a->s.n[t]);
    }
}
