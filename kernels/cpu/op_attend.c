/* Decode attention over lists of pages, and the same without V for statistics.
 *
 * The pages of a row and KV head are cut into splits of 32 at fixed page numbers (ATTEND_SPLIT_PAGES). Each
 * split goes through four steps: the logits of all query heads of the group, a page at a time with the
 * dimensions in sequence; the largest logit; the exponentials and their sum in 16 lanes, with the pages in
 * sequence; and the weighted sum of V, with the tokens in sequence. The splits are combined in order. A token
 * that a head does not read has logit -inf and weight 0 and changes no sum, so a head's bits depend only on
 * its own tokens: a list merged over a group, or one that covers everything, gives each head what it would
 * get by itself. */
#include "kernels/cpu/ops.h"
#include "kernels/cpu/tile.h"

enum {
    PART_EXTRA = 2, /* largest logit and sum, before the head_dim outputs */
    AHEAD = 4       /* pages of V; a part of one takes less time than memory to answer */
};

struct job {
    const struct kv_view *kv;
    const float *q; /* (group, head_dim) */
    int group, n;   /* query heads, entries */
    float scale, softcap;
    const struct plan_entry *entry;
    float *logits; /* of the group's first head at the split's first slot; or NULL */
    size_t stride; /* between heads in logits */
    float *pages;  /* (pages, group) from the split's first page on: log-sum-exps; or NULL */
    float *part;   /* (group, PART_EXTRA + head_dim) */
    int with_v;
    const void *v[ATTEND_SPLIT_PAGES + AHEAD]; /* of the entries; the last one again for tile_pages */
    float s[BACKEND_MAX_GROUP][ATTEND_SPLIT_TOKENS];
    struct v16 largest[BACKEND_MAX_GROUP];
};

/* Logits of heads g .. g+R-1 for entries i .. i+P-1. */
INLINE void score_tile(struct job *j, const int R, const int P, const int bf16, int g, int i)
{
    struct v16 acc[TILE_ROWS * TILE_PANELS];
    const void *k[TILE_PANELS];
    const char *ahead[TILE_PANELS];
    size_t d = (size_t)j->kv->head_dim;
    for (int p = 0; p < P; p++) {
        k[p] = kv_block_k(j->kv, j->entry[i + p].kv_block);
        ahead[p] = i + p + P < j->n ? kv_block_k(j->kv, j->entry[i + p + P].kv_block)
                                    : kv_block_v(j->kv, j->entry[p < j->n ? p : 0].kv_block);
    }
    for (int x = 0; x < R * P; x++)
        acc[x] = v_set(0);
    tile_run_ahead(R, P, bf16, acc, j->q + (size_t)g * d, d, j->kv->head_dim, k, ahead);
    for (int p = 0; p < P; p++) {
        const struct plan_entry *e = j->entry + i + p;
        for (int r = 0; r < R; r++) {
            struct m16 read = m_bits(e->heads >> (g + r) & 1 ? e->tokens : 0);
            struct v16 s = v_select(read, v_mul(acc[r * P + p], v_set(j->scale)), v_set(-INFINITY));
            v_store(j->s[g + r] + (i + p) * LANES, s);
            j->largest[g + r] = v_max(s, j->largest[g + r]);
        }
    }
}

/* Weighted sums of the split's values: dimensions at .. at+16P-1 of heads g .. g+R-1. */
INLINE void value_tile(struct job *j, const int R, const int P, const int bf16, int g, int at)
{
    struct v16 acc[TILE_ROWS * TILE_PANELS];
    size_t d = (size_t)j->kv->head_dim;
    float *out = j->part + (size_t)g * (PART_EXTRA + d) + PART_EXTRA + at;
    for (int x = 0; x < R * P; x++)
        acc[x] = v_set(0);
    tile_pages(R, P, bf16, AHEAD, acc, j->s[g], ATTEND_SPLIT_TOKENS, j->n, j->v, (size_t)at);
    for (int r = 0; r < R; r++)
        for (int p = 0; p < P; p++)
            v_store(out + (size_t)r * (PART_EXTRA + d) + p * LANES, acc[r * P + p]);
}

INLINE void score_rows(struct job *j, const int R, const int bf16, int g)
{
    int i = 0;
    for (; i + TILE_PANELS_OF(R) <= j->n; i += TILE_PANELS_OF(R))
        score_tile(j, R, TILE_PANELS_OF(R), bf16, g, i);
    for (; i < j->n; i++)
        score_tile(j, R, 1, bf16, g, i);
}

INLINE void value_rows(struct job *j, const int R, const int bf16, int g)
{
    int at = 0;
    for (; at + TILE_PANELS_OF(R) * LANES <= j->kv->head_dim; at += TILE_PANELS_OF(R) * LANES)
        value_tile(j, R, TILE_PANELS_OF(R), bf16, g, at);
    for (; at < j->kv->head_dim; at += LANES)
        value_tile(j, R, 1, bf16, g, at);
}

static void all_rows(struct job *j, int values)
{
    int bf16 = j->kv->dtype == DTYPE_BF16;
    for (int g = 0, rows; g < j->group; g += rows) {
        rows = tile_split(g, j->group);
        switch (rows) {
#define CASE(R)                                                                                              \
    case R:                                                                                                  \
        if (values && bf16)                                                                                  \
            value_rows(j, R, 1, g);                                                                          \
        else if (values)                                                                                     \
            value_rows(j, R, 0, g);                                                                          \
        else if (bf16)                                                                                       \
            score_rows(j, R, 1, g);                                                                          \
        else                                                                                                 \
            score_rows(j, R, 0, g);                                                                          \
        break;
            TILE_CASES(CASE)
#undef CASE
        }
    }
}

/* Logits become weights exp(logit - largest), in place; writes the part's largest and sum. */
static void softmax_weights(struct job *j, int g)
{
    float *part = j->part + (size_t)g * (size_t)(PART_EXTRA + j->kv->head_dim), *s = j->s[g];
    struct v16 sum = v_set(0);
    float largest = v_largest(j->largest[g]);
    part[0] = largest;
    for (int i = 0; i < j->n; i++) {
        struct v16 w = v_set(0);
        if (largest != -INFINITY)
            w = v_softmax_exp(v_sub(v_load(s + i * LANES), v_set(largest)));
        sum = v_add(sum, w);
        v_store(s + i * LANES, w);
    }
    part[1] = v_sum(sum);
}

/* Log-sum-exps of the pages' logits, each relative to its own largest, so that none is lost however far it
 * lies below the others. */
static void page_sums(struct job *j, int first_page, int n_pages)
{
    for (int i = 0; i < n_pages * j->group; i++)
        j->pages[i] = -INFINITY;
    for (int g = 0; g < j->group; g++)
        for (int from = 0; from < j->n; from += LANES) {
            float largest[LANES] = {0}, sum[LANES] = {0};
            int n = j->n - from < LANES ? j->n - from : LANES;
            for (int i = 0; i < n; i++) {
                struct v16 s = v_load(j->s[g] + (from + i) * LANES);
                largest[i] = v_largest(s);
                if (largest[i] != -INFINITY)
                    sum[i] = v_sum(v_softmax_exp(v_sub(s, v_set(largest[i]))));
            }
            v_store(largest, v_add(v_load(largest), v_log(v_load(sum))));
            for (int i = 0; i < n; i++)
                j->pages[(j->entry[from + i].page - first_page) * j->group + g] = largest[i];
        }
}

static void cap_logits(struct job *j)
{
    for (int g = 0; g < j->group; g++) {
        j->largest[g] = v_set(-INFINITY);
        for (int i = 0; i < j->n; i++) {
            struct v16 s = v_softcap(v_load(j->s[g] + i * LANES), j->softcap);
            v_store(j->s[g] + i * LANES, s);
            j->largest[g] = v_max(s, j->largest[g]);
        }
    }
}

static void attend_split(struct job *j, int first_page, int n_pages)
{
    for (int g = 0; g < j->group; g++)
        j->largest[g] = v_set(-INFINITY);
    all_rows(j, 0);
    if (j->softcap > 0)
        cap_logits(j);
    for (int g = 0; j->logits && g < j->group; g++) {
        float *to = j->logits + (size_t)g * j->stride;
        for (int p = 0; p < n_pages; p++)
            v_store(to + p * LANES, v_set(-INFINITY));
        for (int i = 0; i < j->n; i++)
            v_store(to + (j->entry[i].page - first_page) * LANES, v_load(j->s[g] + i * LANES));
    }
    if (j->pages)
        page_sums(j, first_page, n_pages);
    for (int g = 0; g < j->group; g++)
        softmax_weights(j, g);
    if (!j->with_v)
        return;
    for (int i = 0; i < j->n + AHEAD; i++)
        j->v[i] = j->n ? kv_block_v(j->kv, j->entry[i < j->n ? i : j->n - 1].kv_block) : NULL;
    all_rows(j, 1);
}

/* Splits of one query head, in order, after the head's sink (or NULL): out (or NULL) and the log of the sum
 * of exponentials (or NULL). */
static void combine_splits(const float *part, size_t step, int n, int d, const float *sink, float *out,
                           float *lse)
{
    float largest = sink ? *sink : -INFINITY, sum = 0, w[1];
    struct v16 o[16];
    for (int i = 0; i < n; i++)
        largest = part[(size_t)i * step] > largest ? part[(size_t)i * step] : largest;
    for (int x = 0; x < d / LANES; x++)
        o[x] = v_set(0);
    if (sink)
        sum = v_first(v_softmax_exp(v_set(*sink - largest)));
    for (int i = 0; i < n; i++) {
        const float *p = part + (size_t)i * step;
        if (p[0] == -INFINITY)
            continue;
        w[0] = v_first(v_softmax_exp(v_set(p[0] - largest)));
        sum = fmaf(p[1], w[0], sum);
        for (int x = 0; out && x < d / LANES; x++)
            o[x] = v_fma(v_load(p + PART_EXTRA + x * LANES), v_set(w[0]), o[x]);
    }
    for (int x = 0; out && x < d / LANES; x++)
        v_store(out + x * LANES, largest == -INFINITY ? v_set(0) : v_div(o[x], v_set(sum)));
    if (lse)
        *lse = largest == -INFINITY ? largest : largest + v_first(v_log(v_set(sum)));
}

static int splits_of(int pages)
{
    return (pages + ATTEND_SPLIT_PAGES - 1) / ATTEND_SPLIT_PAGES;
}

/* One launch of attend or qk_stats; plan.entry is NULL for the latter, which lists the live pages itself. */
struct work {
    const struct attend_args *a;
    float *parts;
    int group, max_splits; /* max_splits: splits of the longest head; parts are laid out for max_pages */
    size_t part_floats, list_parts;
};

/* The first of a list's splits, and the number of those from there on: the splits before and after hold
 * nothing that is read. Statistics are wanted of all. */
static int list_chunks(const struct work *w, int list, int *first)
{
    const struct attend_args *a = w->a;
    int row = list / a->kv.n_kv, seq = a->rows.seq[row], n;
    *first = 0;
    if (seq < 0)
        return 0;
    if (a->stats.logits || !a->plan.entry)
        return splits_of(kv_pages(a->kv.n_slots[kv_head(&a->kv, seq, a->layer, list % a->kv.n_kv)]));
    n = a->plan.n[list];
    const struct plan_entry *entry = a->plan.entry + (size_t)list * (size_t)a->kv.max_pages;
    *first = n ? entry[0].page / ATTEND_SPLIT_PAGES : 0;
    return n ? entry[n - 1].page / ATTEND_SPLIT_PAGES + 1 - *first : 0;
}

/* The first entry at or after a page. */
static int lower_bound(const struct plan_entry *e, int n, int page)
{
    int low = 0;
    while (low < n) {
        int mid = low + (n - low) / 2;
        if (e[mid].page < page)
            low = mid + 1;
        else
            n = mid;
    }
    return low;
}

static int live_entries(const struct kv_view *kv, size_t head, int page, int n_pages, struct plan_entry *out)
{
    size_t table = head * (size_t)kv->max_pages;
    int n = 0;
    for (int p = page; p < page + n_pages; p++)
        if (kv->live[table + (size_t)p])
            out[n++] = (struct plan_entry){kv->block_table[table + (size_t)p], p, kv->live[table + (size_t)p],
                                           0xffff};
    return n;
}

static void run_chunk(const struct work *w, struct job *j, int list, int chunk)
{
    const struct attend_args *a = w->a;
    int row = list / a->kv.n_kv, h = list % a->kv.n_kv, page = chunk * ATTEND_SPLIT_PAGES;
    size_t head = kv_head(&a->kv, a->rows.seq[row], a->layer, h), d = (size_t)a->kv.head_dim;
    int left = kv_pages(a->kv.n_slots[head]) - page,
        n_pages = left < ATTEND_SPLIT_PAGES ? left : ATTEND_SPLIT_PAGES;
    struct plan_entry own[ATTEND_SPLIT_PAGES];
    if (a->plan.entry) {
        const struct plan_entry *e = a->plan.entry + (size_t)list * (size_t)a->kv.max_pages;
        int from = lower_bound(e, a->plan.n[list], page);
        j->entry = e + from;
        j->n = lower_bound(e, a->plan.n[list], page + ATTEND_SPLIT_PAGES) - from;
    } else {
        j->entry = own;
        j->n = live_entries(&a->kv, head, page, n_pages, own);
    }
    j->kv = &a->kv;
    j->q = a->q + (size_t)row * (size_t)a->q_stride + (size_t)(h * w->group) * d;
    j->group = w->group;
    j->scale = a->scale;
    j->softcap = a->softmax.softcap;
    j->stride = (size_t)a->stats.stride;
    j->logits = j->pages = NULL;
    if (a->stats.logits && a->stats.by_page)
        j->pages = a->stats.logits + stats_page(&a->stats, a->n_q, a->kv.n_kv, row, h * w->group) +
                   (size_t)page * (size_t)w->group;
    else if (a->stats.logits)
        j->logits = a->stats.logits + ((size_t)row * (size_t)a->n_q + (size_t)(h * w->group)) * j->stride +
                    (size_t)page * KV_PAGE_TOKENS;
    j->part = w->parts + (size_t)list * w->list_parts + (size_t)chunk * (size_t)w->group * w->part_floats;
    j->with_v = a->out != NULL;
    attend_split(j, page, n_pages);
}

static void combine_list(const struct work *w, int list)
{
    const struct attend_args *a = w->a;
    int row = list / a->kv.n_kv, h = list % a->kv.n_kv, d = a->kv.head_dim, first,
        n = list_chunks(w, list, &first);
    size_t step = (size_t)w->group * w->part_floats;
    for (int g = 0; g < w->group; g++) {
        size_t at = (size_t)row * (size_t)a->n_q + (size_t)(h * w->group + g);
        combine_splits(
            w->parts + (size_t)list * w->list_parts + (size_t)first * step + (size_t)g * w->part_floats, step,
            n, d, a->softmax.sink ? a->softmax.sink + h * w->group + g : NULL,
            a->out ? (float *)a->out + at * (size_t)d : NULL, a->stats.logits ? a->stats.lse + at : NULL);
    }
}

static void attend_list(const struct attend_args *a, struct cpu_ctx *c)
{
    int lists = a->rows.cap * a->kv.n_kv, total = 0, span, spans, first;
    struct work w = {.a = a, .parts = c->workspace, .group = a->n_q / a->kv.n_kv};
    w.part_floats = (size_t)(PART_EXTRA + a->kv.head_dim);
    w.list_parts = (size_t)splits_of(a->kv.max_pages) * (size_t)w.group * w.part_floats;
    for (int i = 0; i < lists; i++) {
        int n = list_chunks(&w, i, &first);
        total += n;
        w.max_splits = n > w.max_splits ? n : w.max_splits;
    }
    /* Tasks of several splits where there are many: about 16 for each thread. */
    span = total / (16 * c->n) > 1 ? total / (16 * c->n) : 1;
    spans = (w.max_splits + span - 1) / span;
    struct job j;
    FOR_TASKS(c, t, lists * spans)
    {
        int list = t / spans, n = list_chunks(&w, list, &first), from = t % spans * span;
        for (int i = from; i < from + span && i < n; i++)
            run_chunk(&w, &j, list, first + i);
    }
    cpu_barrier(c);
    FOR_TASKS(c, list, lists)
    combine_list(&w, list);
}

void CPU_SYM(op_attend)(const void *args, struct cpu_ctx *c)
{
    CPU_SYM(attend_plan)(args, c);
    cpu_barrier(c);
    attend_list(args, c);
}

void CPU_SYM(op_qk_stats)(const void *args, struct cpu_ctx *c)
{
    const struct qk_stats_args *q = args;
    struct attend_args a = {.rows = q->rows,
                            .kv = q->kv,
                            .layer = q->layer,
                            .n_q = q->n_q,
                            .q = q->q,
                            .q_stride = q->q_stride,
                            .scale = q->scale,
                            .stats = q->out,
                            .softmax = q->softmax};
    attend_list(&a, c);
    for (int list = c->tid; list < a.rows.cap * a.kv.n_kv; list += c->n) {
        int seq = a.rows.seq[list / a.kv.n_kv];
        size_t head = seq < 0 ? 0 : kv_head(&a.kv, seq, a.layer, list % a.kv.n_kv);
        if (seq >= 0)
            a.kv.aux_half[head] += a.kv.n_live[head];
    }
}
