/* Causal attention of prompt chunks. It is most of the work on long contexts, so both products run in
 * register tiles over blocks of (query, head) rows. Keys are visited in chunks of 32 pages at fixed page
 * numbers. For each chunk and row come the logits, masked by the row's position, their largest, the
 * exponentials, and then output = output * exp(old largest - new largest) + weights . V, with the tokens in
 * sequence. Masked keys have weight 0 and change nothing, so a row's bits depend only on the keys 0 .. pos,
 * or those of its window: pages wholly before the window of a block's first row are left out.
 *
 * The mass of a tile of queries comes from the same logits: first each row's log-sum-exp, then for each key
 * the sum over the rows, in order. */
#include "kernels/cpu/ops.h"
#include "kernels/cpu/scores.h"
#include "kernels/cpu/tile.h"

enum { BLOCK_ROWS = 48, MAX_DIM = BACKEND_MAX_HEAD_DIM, VALUE_PAGES = 2 };

struct block {
    const struct prefill_attend_args *a;
    const int32_t *block_table, *until;
    const uint16_t *live;
    int rows, group, d; /* row i: query i / group, head i % group */
    int head;           /* KV head */
    int pos0;           /* of the first query */
    int first_page;     /* that it sees a key of */
    float running_max[BLOCK_ROWS], sum[BLOCK_ROWS];
    float q[BLOCK_ROWS * MAX_DIM], o[BLOCK_ROWS * MAX_DIM];
    float s[BLOCK_ROWS][ATTEND_SPLIT_TOKENS];
    float wide[VALUE_PAGES * KV_PAGE_TOKENS * MAX_DIM];
};

/* K or V of a page in fp32: itself, or widened to `to`. */
static const float *widen_page(const struct block *b, const char *p, float *to)
{
    if (b->a->kv.dtype == DTYPE_F32)
        return (const float *)(const void *)p;
    for (int i = 0; i < b->d; i++)
        v_store(to + i * LANES, v_load_bf16((const uint16_t *)(const void *)p + i * LANES));
    return to;
}

static struct m16 visible_mask(const struct block *b, int pos, int page)
{
    int n = pos + 1 - page * KV_PAGE_TOKENS, before = window_start(b->a->window, pos) - page * KV_PAGE_TOKENS;
    unsigned seen = n >= KV_PAGE_TOKENS ? b->live[page] : n > 0 ? b->live[page] & ((1u << n) - 1) : 0;
    return m_bits(before >= KV_PAGE_TOKENS ? 0 : before > 0 ? seen >> before << before : seen);
}

/* Keys of the page that a sparse prefill has forgotten by `pos` are masked too. */
static void hide_expired(const struct block *b, int i, int page, float *s)
{
    int32_t last[KV_PAGE_TOKENS] = {0};
    int from = page * KV_PAGE_TOKENS, n = b->a->until_stride - from;
    memcpy(last, b->until + from, sizeof *last * (size_t)(n < KV_PAGE_TOKENS ? n : KV_PAGE_TOKENS));
    struct m16 seen = m_at_least(i_load(last), i_set(b->pos0 + i / b->group));
    v_store(s, v_select(seen, v_load(s), v_set(-INFINITY)));
}

/* Of the keys before the query's tile those outside its list are masked. */
static void hide_unlisted(const struct block *b, int i, int page, float *s)
{
    const struct prefill_attend_args *a = b->a;
    int tile = (b->pos0 + i / b->group) / a->tile, own = tile * a->tile - page * KV_PAGE_TOKENS, low = 0;
    size_t list = (size_t)(tile - a->pos0 / a->tile) * (size_t)a->n_rows + a->row_of_kv[b->head];
    const int32_t *idx = a->idx + list * (size_t)a->cap;
    unsigned seen = own <= 0 ? 0xffff : own < KV_PAGE_TOKENS ? 0xffffu << own & 0xffff : 0;
    if (a->len[list] < 0 || seen == 0xffff)
        return;
    for (int high = a->len[list]; low < high;) {
        int middle = (low + high) / 2;
        if (idx[middle] < page * KV_PAGE_TOKENS)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < a->len[list] && idx[low] / KV_PAGE_TOKENS == page; low++)
        seen |= 1u << idx[low] % KV_PAGE_TOKENS;
    v_store(s, v_select(m_bits(seen), v_load(s), v_set(-INFINITY)));
}

INLINE void score_tile(struct block *b, const int R, const float *k, int i, int page, int column)
{
    struct v16 acc[TILE_ROWS];
    const void *at[1] = {k};
    int first = b->pos0 + i / b->group, last = b->pos0 + (i + R - 1) / b->group;
    int plain = b->live[page] == 0xffff && page * KV_PAGE_TOKENS + KV_PAGE_TOKENS - 1 <= first &&
                page * KV_PAGE_TOKENS >= window_start(b->a->window, last);
    for (int r = 0; r < R; r++)
        acc[r] = v_set(0);
    tile_run(R, 1, 0, acc, b->q + i * b->d, (size_t)b->d, 1, b->d, at);
    for (int r = 0; r < R; r++) {
        struct v16 s = v_mul(acc[r], v_set(b->a->scale));
        if (!plain)
            s = v_select(visible_mask(b, b->pos0 + (i + r) / b->group, page), s, v_set(-INFINITY));
        v_store(b->s[i + r] + column * LANES, s);
        if (b->until)
            hide_expired(b, i + r, page, b->s[i + r] + column * LANES);
        if (b->a->tile)
            hide_unlisted(b, i + r, page, b->s[i + r] + column * LANES);
    }
}

static void score_page(struct block *b, int page, int column)
{
    const float *k = widen_page(b, kv_block_k(&b->a->kv, b->block_table[page]), b->wide);
    for (int i = 0, n; i < b->rows; i += n) {
        n = tile_split(i, b->rows);
        switch (n) {
#define CASE(R)                                                                                              \
    case R:                                                                                                  \
        score_tile(b, R, k, i, page, column);                                                                \
        break;
            TILE_CASES(CASE)
#undef CASE
        }
    }
    for (int i = 0; b->a->softmax.softcap > 0 && i < b->rows; i++) {
        float *s = b->s[i] + column * LANES;
        v_store(s, v_softcap(v_load(s), b->a->softmax.softcap));
    }
}

INLINE void value_tile(struct block *b, const int R, const int P, const void *const *v, int n, int i,
                       int column, int at)
{
    struct v16 acc[TILE_ROWS * TILE_PANELS];
    float *o = b->o + i * b->d + at;
    for (int r = 0; r < R; r++)
        for (int p = 0; p < P; p++)
            acc[r * P + p] = v_load(o + r * b->d + p * LANES);
    tile_pages(R, P, 0, 0, acc, b->s[i] + column * LANES, ATTEND_SPLIT_TOKENS, n, v, (size_t)at);
    for (int r = 0; r < R; r++)
        for (int p = 0; p < P; p++)
            v_store(o + r * b->d + p * LANES, acc[r * P + p]);
}

/* Adds pages page .. page+n-1, whose weights start at `column`, to the outputs. */
static void value_pages(struct block *b, int page, int n, int column)
{
    const void *v[VALUE_PAGES];
    for (int x = 0; x < n; x++)
        v[x] = widen_page(b, kv_block_v(&b->a->kv, b->block_table[page + x]),
                          b->wide + x * KV_PAGE_TOKENS * b->d);
    for (int i = 0, rows; i < b->rows; i += rows) {
        rows = tile_split(i, b->rows);
        switch (rows) {
#define CASE(R)                                                                                              \
    case R: {                                                                                                \
        int at = 0;                                                                                          \
        for (; at + TILE_PANELS_OF(R) * LANES <= b->d; at += TILE_PANELS_OF(R) * LANES)                      \
            value_tile(b, R, TILE_PANELS_OF(R), v, n, i, column, at);                                        \
        for (; at < b->d; at += LANES)                                                                       \
            value_tile(b, R, 1, v, n, i, column, at);                                                        \
    } break;
            TILE_CASES(CASE)
#undef CASE
        }
    }
}

/* Row i: logits of pages first .. n_pages-1 of the chunk become weights; what is there already is scaled to
 * the new largest logit. */
static void softmax_rows(struct block *b, int i, int first, int n_pages)
{
    float *s = b->s[i], *o = b->o + i * b->d;
    struct v16 new_max = v_set(-INFINITY), sum = v_set(0);
    for (int p = first; p < n_pages; p++)
        new_max = v_max(v_load(s + p * LANES), new_max);
    float running_max = v_largest(new_max), old = b->running_max[i];
    if (running_max == -INFINITY) {
        for (int p = first; p < n_pages; p++)
            v_store(s + p * LANES, v_set(0));
        return;
    }
    running_max = running_max > old ? running_max : old;
    for (int p = first; p < n_pages; p++) {
        struct v16 w = v_softmax_exp(v_sub(v_load(s + p * LANES), v_set(running_max)));
        v_store(s + p * LANES, w);
        sum = v_add(sum, w);
    }
    float keep = v_first(v_softmax_exp(v_set(old - running_max)));
    b->sum[i] = fmaf(b->sum[i], keep, v_sum(sum));
    b->running_max[i] = running_max;
    for (int x = 0; keep != 1 && x < b->d; x += LANES)
        v_store(o + x, v_mul(v_load(o + x), v_set(keep)));
}

/* The sinks join the rows' sums. */
static void add_sinks(struct block *b)
{
    const float *sink = b->a->softmax.sink;
    for (int i = 0; sink && i < b->rows; i++) {
        float x = sink[b->head * b->group + i % b->group], old = b->running_max[i], *o = b->o + i * b->d;
        float new_max = x > old ? x : old;
        if (new_max == -INFINITY)
            continue;
        float keep = v_first(v_softmax_exp(v_set(old - new_max)));
        b->sum[i] = fmaf(b->sum[i], keep, v_first(v_softmax_exp(v_set(x - new_max))));
        b->running_max[i] = new_max;
        for (int at = 0; keep != 1 && at < b->d; at += LANES)
            v_store(o + at, v_mul(v_load(o + at), v_set(keep)));
    }
}

/* Sets the rows' largest logits, sums and, with values, outputs, which are yet to be divided by the sums. */
static void run_block(struct block *b, int with_values)
{
    int last = b->pos0 + (b->rows - 1) / b->group, pages = last / KV_PAGE_TOKENS + 1;
    for (int from = b->first_page / ATTEND_SPLIT_PAGES * ATTEND_SPLIT_PAGES; from < pages;
         from += ATTEND_SPLIT_PAGES) {
        int n = pages - from < ATTEND_SPLIT_PAGES ? pages - from : ATTEND_SPLIT_PAGES;
        int first = b->first_page > from ? b->first_page - from : 0;
        for (int p = first; p < n; p++)
            score_page(b, from + p, p);
        for (int i = 0; i < b->rows; i++)
            softmax_rows(b, i, first, n);
        for (int p = first; with_values && p < n; p += VALUE_PAGES)
            value_pages(b, from + p, n - p < VALUE_PAGES ? n - p : VALUE_PAGES, p);
    }
    add_sinks(b);
}

static void start_block(struct block *b, const struct prefill_attend_args *a, int h, int from, int to)
{
    size_t head = kv_head(&a->kv, a->seq, a->layer, h), table = head * (size_t)a->kv.max_pages;
    b->a = a;
    b->block_table = a->kv.block_table + table;
    b->live = a->kv.live + table;
    b->until = a->until ? a->until + (size_t)h * (size_t)a->until_stride : NULL;
    b->head = h;
    b->group = a->n_q / a->kv.n_kv;
    b->d = a->kv.head_dim;
    b->rows = (to - from) * b->group;
    b->pos0 = a->pos0 + from;
    b->first_page = window_start(a->window, b->pos0) / KV_PAGE_TOKENS;
    for (int i = 0; i < b->rows; i++) {
        size_t row = (size_t)(from + i / b->group), q_head = (size_t)(h * b->group + i % b->group);
        memcpy(b->q + i * b->d, a->q + row * (size_t)a->q_stride + q_head * (size_t)b->d,
               (size_t)b->d * sizeof(float));
        b->running_max[i] = -INFINITY;
        b->sum[i] = 0;
    }
    memset(b->o, 0, (size_t)(b->rows * b->d) * sizeof(float));
}

static void finish_block(const struct block *b, int h, int from)
{
    for (int i = 0; i < b->rows; i++) {
        size_t row = (size_t)(from + i / b->group), q_head = (size_t)(h * b->group + i % b->group);
        float *out = (float *)b->a->out + (row * (size_t)b->a->n_q + q_head) * (size_t)b->d;
        for (int x = 0; x < b->d; x += LANES)
            v_store(out + x, b->running_max[i] == -INFINITY
                                 ? v_set(0)
                                 : v_div(v_load(b->o + i * b->d + x), v_set(b->sum[i])));
    }
}

void CPU_SYM(op_prefill_attend)(const void *args, struct cpu_ctx *c)
{
    const struct prefill_attend_args *a = args;
    int step = BLOCK_ROWS / (a->n_q / a->kv.n_kv), blocks = (a->nq + step - 1) / step;
    struct block b;
    /* The last queries see most keys: they go first. */
    FOR_TASKS(c, t, blocks * a->kv.n_kv)
    {
        int h = t % a->kv.n_kv, from = (blocks - 1 - t / a->kv.n_kv) * step;
        start_block(&b, a, h, from, from + step < a->nq ? from + step : a->nq);
        run_block(&b, 1);
        finish_block(&b, h, from);
    }
}

/* ---- attention mass */

/* Rows of a tile: queries from .. to - 1 of the call, those that count. */
struct tile_span {
    int from, to, start, end; /* positions of its first key, and after its last query */
};

static struct tile_span tile_span(const struct prefill_mass_args *a, int tile)
{
    int first = tile * a->tile, to = first + a->tile < a->nq ? first + a->tile : a->nq,
        skip = a->from - a->pos0;
    return (struct tile_span){skip > first ? skip : first, to, a->pos0 + first, a->pos0 + to};
}

/* What start_block() takes: plain causal attention. */
static struct prefill_attend_args causal_limit(const struct prefill_mass_args *a)
{
    return (struct prefill_attend_args){.kv = a->kv,
                                        .seq = a->seq,
                                        .layer = a->layer,
                                        .n_q = a->n_q,
                                        .pos0 = a->pos0,
                                        .nq = a->nq,
                                        .q = a->q,
                                        .q_stride = a->q_stride,
                                        .scale = a->scale,
                                        .softmax = a->softmax};
}

/* Log-sum-exp of a block's rows. */
static void block_lse(struct block *b, float *lse)
{
    run_block(b, 0);
    for (int i = 0; i < b->rows; i++)
        lse[i] =
            b->running_max[i] == -INFINITY ? -INFINITY : b->running_max[i] + v_first(v_log(v_set(b->sum[i])));
}

/* Adds a block's rows to e^running max * sum of the 16 keys at `column`. */
static void add_rows(const struct block *b, const float *lse, int column, struct v16 *running_max,
                     struct v16 *sum)
{
    struct v16 new_max = *running_max, none = v_set(-INFINITY);
    for (int i = 0; i < b->rows; i++)
        if (lse[i] > -INFINITY)
            new_max = v_max(v_sub(v_load(b->s[i] + column * LANES), v_set(lse[i])), new_max);
    struct v16 zero = v_select(m_less(none, new_max), new_max, v_set(0));
    *sum = v_mul(*sum, v_softmax_exp(v_sub(*running_max, zero)));
    for (int i = 0; i < b->rows; i++)
        if (lse[i] > -INFINITY) {
            struct v16 x = v_sub(v_load(b->s[i] + column * LANES), v_set(lse[i]));
            *sum = v_add(*sum, v_softmax_exp(v_sub(x, zero)));
        }
    *running_max = new_max;
}

/* The mass of the keys of pages page .. page+31 for one of a tile's lists. */
static void mass_chunk(struct block *b, const struct prefill_mass_args *a, const float *lse, int tile,
                       int list, int page)
{
    struct prefill_attend_args view = causal_limit(a);
    struct tile_span t = tile_span(a, tile);
    int group = a->n_q / a->kv.n_kv, step = BLOCK_ROWS / group, pages = kv_pages(t.end) - page;
    int heads = a->kv.n_kv / a->out.n_rows;
    struct v16 running_max[ATTEND_SPLIT_PAGES], sum[ATTEND_SPLIT_PAGES];
    pages = pages < ATTEND_SPLIT_PAGES ? pages : ATTEND_SPLIT_PAGES;
    for (int p = 0; p < pages; p++) {
        running_max[p] = v_set(-INFINITY);
        sum[p] = v_set(0);
    }
    for (int h = list * heads; h < (list + 1) * heads; h++)
        for (int q = t.from; q < t.to; q += step) {
            const float *of_rows = lse + ((size_t)h * (size_t)a->nq + (size_t)q) * (size_t)group;
            start_block(b, &view, h, q, q + step < t.to ? q + step : t.to);
            for (int p = 0; p < pages; p++) {
                score_page(b, page + p, p);
                add_rows(b, of_rows, p, &running_max[p], &sum[p]);
            }
        }
    float *out = a->out.v + ((size_t)tile * (size_t)a->out.n_rows + (size_t)list) * (size_t)a->out.stride;
    for (int p = 0; p < pages; p++) {
        int key = (page + p) * KV_PAGE_TOKENS, n = t.end - key < LANES ? t.end - key : LANES;
        v_storen(out + key, v_add(running_max[p], v_log(sum[p])), n);
    }
}

/* Length, candidates and the mass inside the tile, once the keys' are there. */
static void mass_totals(const struct prefill_mass_args *a, int list)
{
    struct tile_span t = tile_span(a, list / a->out.n_rows);
    const float *v = a->out.v + (size_t)list * (size_t)a->out.stride;
    float running_max = -INFINITY, sum = 0, term[LANES];
    a->out.n[list] = a->before ? t.start : t.end;
    a->out.m[list] = count_candidates(v, a->out.n[list]);
    if (!a->own)
        return;
    for (int i = t.start; i < t.end; i++)
        running_max = v[i] > running_max ? v[i] : running_max;
    for (int i = t.start; i < t.end && running_max > -INFINITY; i++) {
        v_store(term, v_softmax_exp(v_set(v[i] - running_max)));
        sum += term[0];
    }
    a->own[list] = running_max == -INFINITY ? running_max : running_max + v_first(v_log(v_set(sum)));
}

void CPU_SYM(op_prefill_mass)(const void *args, struct cpu_ctx *c)
{
    const struct prefill_mass_args *a = args;
    int n_kv = a->kv.n_kv, group = a->n_q / n_kv, step = BLOCK_ROWS / group, skip = a->from - a->pos0;
    int blocks = (a->nq + step - 1) / step, tiles = (a->nq + a->tile - 1) / a->tile, lists = a->out.n_rows;
    int chunks = (kv_pages(a->pos0 + a->nq) + ATTEND_SPLIT_PAGES - 1) / ATTEND_SPLIT_PAGES;
    float *lse = c->workspace; /* (n_kv, nq, group) */
    struct prefill_attend_args view = causal_limit(a);
    struct block b;
    FOR_TASKS(c, t, blocks * n_kv)
    {
        int h = t % n_kv, from = (blocks - 1 - t / n_kv) * step,
            to = from + step < a->nq ? from + step : a->nq;
        if (to <= skip)
            continue;
        start_block(&b, &view, h, from, to);
        block_lse(&b, lse + ((size_t)h * (size_t)a->nq + (size_t)from) * (size_t)group);
    }
    cpu_barrier(c);
    FOR_TASKS(c, t, tiles * lists * chunks)
    {
        int tile = tiles - 1 - t / (lists * chunks), page = t / lists % chunks * ATTEND_SPLIT_PAGES;
        if (page * KV_PAGE_TOKENS < tile_span(a, tile).end)
            mass_chunk(&b, a, lse, tile, t % lists, page);
    }
    cpu_barrier(c);
    FOR_TASKS(c, t, tiles * lists)
    mass_totals(a, t);
}
