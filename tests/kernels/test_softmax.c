/* What changes the softmax of decode attention in some families, against double-precision loops over the
 * host's mirror of the cache (set.h): windows, sinks and softcaps. */
#include "tests/kernels/set.h"

enum { MOST_Q = 16, PAST = SLOTS + 5 };

static int windows, sunk, capped, stale; /* cases so far; entries of block tables that must not be used */

/* Sinks of the query heads, by turns near the logits, far above them all and far below. */
struct sinks {
    float of[MOST_Q];
    const float *device;
};

static struct sinks make_sinks(struct set *s, int turn)
{
    struct sinks k;
    for (int q = 0; q < MOST_Q; q++)
        k.of[q] = (q + turn) % 3 == 0   ? 6 * rig_uniform(s->r)
                  : (q + turn) % 3 == 1 ? 120 + (float)q
                                        : -120 - (float)q;
    k.device = rig_up(s->r, k.of, sizeof k.of);
    return k;
}

static size_t out_floats(const struct set *s)
{
    return (size_t)(ROWS * s->c.n_q * s->c.kv.head_dim);
}

static struct attend_args attend_of(struct set *s)
{
    struct attend_args a = {.rows = s->rows,
                            .kv = s->c.kv,
                            .layer = LAYER,
                            .n_q = s->c.n_q,
                            .q = s->q,
                            .q_stride = s->stride,
                            .out = rig_alloc(s->r, out_floats(s) * 4),
                            .scale = 0.25f,
                            .granularity = SEL_LIVE,
                            .n_rows = 1,
                            .block_pages = 1,
                            .plan = s->plan};
    return a;
}

/* Which slots each query head of a row reads: (ROWS, MOST_Q, SLOTS). */
static uint8_t reads[ROWS][MOST_Q][SLOTS];

static void read_live(struct set *s, int window)
{
    memset(reads, 0, sizeof reads);
    for (int r = 0; r < ROWS; r++)
        for (int q = 0; q < s->c.n_q && s->seq[r] >= 0; q++)
            for (int t = 0; t < SLOTS; t++)
                reads[r][q][t] = s->c.live[(size_t)set_head(s, r, q) * SLOTS + (size_t)t] &&
                                 (!window || t > s->pos[r] - window);
}

static double tolerance(const struct set *s, const struct softmax_args *m)
{
    return rig_rounds(s->r) && s->c.kv.dtype == DTYPE_BF16 && m->softcap <= 0 ? 10 : 1;
}

/* What is written of one query head's statistics beside the logits of the last plain_softmax(). */
static void check_logits(struct set *s, const struct stats *st, int row, int q, double close)
{
    int n_q = s->c.n_q, pages = kv_pages(set_length(s->seq[row]));
    static float have[SLOTS * MOST_Q];
    double worst = 0;
    if (st->by_page)
        rig_get(s->r, have, st->logits + stats_page(st, n_q, s->c.kv.n_kv, row, q),
                (size_t)((pages - 1) * (n_q / s->c.kv.n_kv) + 1) * 4);
    else
        rig_get(s->r, have, st->logits + (size_t)(row * n_q + q) * SLOTS, (size_t)pages * 16 * 4);
    for (int i = 0; i < (st->by_page ? pages : pages * 16); i++) {
        double x = (double)have[st->by_page ? i * (n_q / s->c.kv.n_kv) : i],
               want = st->by_page ? set_log_sum(s->logit + i * 16, 16) : s->logit[i];
        if (x == -INFINITY || want == -INFINITY)
            CHECK(x == want);
        else
            worst = fmax(worst, fabs(x - want));
    }
    CHECK_NEAR(worst, 0, close);
}

/* Outputs (unless out is NULL) and statistics, where they were asked for, of `reads`. */
static void compare(struct set *s, const float *out, const struct stats *st, double scale,
                    const struct softmax_args *m, const struct sinks *k)
{
    int n_q = s->c.n_q, d = s->c.kv.head_dim;
    float *have = malloc(out_floats(s) * 4), lse[ROWS * MOST_Q];
    double worst = 0, close = tolerance(s, m);
    if (out)
        rig_get(s->r, have, out, out_floats(s) * 4);
    if (st->logits)
        rig_get(s->r, lse, st->lse, (size_t)(ROWS * n_q) * 4);
    for (int i = 0; i < ROWS * n_q; i++) {
        int r = i / n_q, q = i % n_q;
        double want[BACKEND_MAX_HEAD_DIM];
        if (s->seq[r] < 0)
            continue;
        double l = plain_softmax(s, set_head(s, r, q), set_query(s, r, q), reads[r][q], scale,
                                 m->sink ? (double)k->of[q] : -INFINITY, (double)m->softcap, want);
        for (int x = 0; out && x < d; x++) {
            double off = fabs((double)have[i * d + x] - want[x]);
            worst = off >= 0 ? fmax(worst, off) : INFINITY;
        }
        if (!st->logits)
            continue;
        if (l == -INFINITY)
            CHECK(lse[i] == -INFINITY);
        else
            CHECK_NEAR(lse[i], l, 5e-6 * close + 3e-7 * fabs(l));
        check_logits(s, st, r, q, 5e-6 * close);
    }
    CHECK_NEAR(worst, 0, 2e-6 * close);
    free(have);
}

/* ---- windows */

/* Entries of pages before the window are no KV blocks, as where the host has taken these back. */
static int32_t *spoil_tables(struct set *s, int window)
{
    size_t n = (size_t)s->c.heads * PAGES;
    int32_t *table = malloc(n * sizeof *table), *old = malloc(n * sizeof *old);
    rig_get(s->r, old, s->c.kv.block_table, n * sizeof *old);
    memcpy(table, old, n * sizeof *old);
    for (int seq = 0; seq < SEQS; seq++)
        for (int h = 0; h < s->c.kv.n_kv; h++)
            for (int p = 0; p < (set_length(seq) - window) / 16; p++, stale++)
                table[cache_head(&s->c, seq, LAYER, h) * PAGES + p] = p % 2 ? INT32_MAX : INT32_MIN;
    rig_put(s->r, s->c.kv.block_table, table, n * sizeof *table);
    free(table);
    return old;
}

static void check_reads(struct set *s, const int64_t *before, int window)
{
    int64_t after[SEQS * LAYERS * 8];
    rig_get(s->r, after, s->c.kv.reads, (size_t)s->c.heads * sizeof *after);
    for (int seq = 0; seq < SEQS; seq++)
        for (int h = 0; h < s->c.kv.n_kv; h++) {
            int head = cache_head(&s->c, seq, LAYER, h), n = set_length(seq);
            CHECK_INT(after[head] - before[head], n < window ? n : window);
        }
}

/* Each row alone has the bits that it had among the others. */
static void check_alone(struct set *s, struct attend_args a, const float *want)
{
    size_t row = (size_t)(s->c.n_q * s->c.kv.head_dim);
    float *have = malloc(row * 4);
    for (int r = 0; r < ROWS; r++) {
        if (s->seq[r] < 0)
            continue;
        a.rows = (struct rows){1, s->rows.seq + r, s->rows.pos + r};
        a.q = s->q + r * s->stride;
        rig_run(s->r, OP_attend, &a);
        rig_get(s->r, have, a.out, row * 4);
        CHECK(memcmp(have, want + (size_t)r * row, row * 4) == 0);
    }
    free(have);
}

static void check_window(struct set *s, int window, const struct softmax_args *m, const struct sinks *k)
{
    int owned = s->r->n_owned;
    size_t floats = out_floats(s);
    float *got = malloc(floats * 4), *other = malloc(floats * 4);
    int64_t before[SEQS * LAYERS * 8];
    struct attend_args a = attend_of(s);
    a.softmax = *m;
    a.in_order = 1;
    a.window = window;
    int32_t *table = spoil_tables(s, window);
    rig_get(s->r, before, s->c.kv.reads, (size_t)s->c.heads * sizeof *before);
    rig_run(s->r, OP_attend, &a);
    check_reads(s, before, window);
    rig_get(s->r, got, a.out, floats * 4);
    read_live(s, window);
    compare(s, a.out, &a.stats, 0.25, m, k);
    check_alone(s, a, got);
    if (s->r->b->activations == DTYPE_BF16) {
        a.out = rig_alloc(s->r, floats * 2); /* nothing is written of a padding row */
        a.type = DTYPE_BF16;
        rig_run(s->r, OP_attend, &a);
        CHECK(rig_is_rounded(s->r, a.out, got, floats));
        a.type = DTYPE_F32;
    }
    rig_put(s->r, s->c.kv.block_table, table, (size_t)s->c.heads * PAGES * sizeof *table);
    if (window >= SLOTS) { /* the bits of attention without a window */
        a.out = rig_alloc(s->r, floats * 4);
        a.window = 0;
        rig_run(s->r, OP_attend, &a);
        rig_get(s->r, other, a.out, floats * 4);
        CHECK(memcmp(got, other, floats * 4) == 0);
    }
    windows++;
    free(got);
    free(other);
    free(table);
    set_forget(s, owned);
}

static void check_windows(struct set *s, int shape)
{
    static const int window[] = {1, 15, 16, 17, 33, 100, 1030, PAST};
    int owned = s->r->n_owned;
    for (size_t i = 0; i < sizeof window / sizeof *window; i++) {
        struct sinks k = make_sinks(s, (int)i);
        struct softmax_args m = {(i + (size_t)shape) % 2 ? k.device : NULL, i % 3 == 2 ? 0.6f : 0};
        if (!rig_small() || window[i] != 15)
            check_window(s, window[i], &m, &k);
    }
    set_forget(s, owned);
}

/* ---- sinks and caps, with and without lists and statistics */

/* Lists by the page, some of them of all pages and one of none; or by the token, of these pages' even tokens.
 */
static void make_lists(struct set *s, struct attend_args *a, enum sel_granularity granularity, int n_rows)
{
    int n_q = s->c.n_q, step = granularity == SEL_TOKENS ? 1 : 16;
    a->granularity = granularity;
    a->n_rows = n_rows;
    a->cap = SLOTS / step;
    int32_t *idx = calloc((size_t)(ROWS * n_rows * a->cap), 4), *len = calloc((size_t)(ROWS * n_rows), 4);
    read_live(s, 0);
    for (int l = 0; l < ROWS * n_rows; l++) {
        len[l] = l % 7 == 5 ? -1 : 0;
        for (int t = 0; t < SLOTS && len[l] >= 0 && l % 7 != 3; t += step)
            if ((t / 16 + l) % 3 == 0 && (step > 1 || t % 2 == 0))
                idx[l * a->cap + len[l]++] = t / step;
    }
    for (int q = 0; q < n_q; q++)
        a->row_of_q[q] = (uint8_t)(q * n_rows / n_q);
    for (int r = 0; r < ROWS; r++)
        for (int q = 0; q < n_q; q++)
            for (int t = 0; t < SLOTS; t++) {
                int l = r * n_rows + a->row_of_q[q];
                if (len[l] >= 0 && (l % 7 == 3 || (t / 16 + l) % 3 || (step == 1 && t % 2)))
                    reads[r][q][t] = 0;
            }
    a->idx = rig_up(s->r, idx, (size_t)(ROWS * n_rows * a->cap) * 4);
    a->len = rig_up(s->r, len, (size_t)(ROWS * n_rows) * 4);
    free(idx);
    free(len);
}

static struct stats make_stats(struct set *s, enum stats_wanted want)
{
    size_t lists = (size_t)(ROWS * s->c.n_q);
    int stride = want == STATS_PAGES ? PAGES : SLOTS;
    if (want == STATS_NONE)
        return (struct stats){0};
    return (struct stats){rig_alloc(s->r, lists * (size_t)stride * 4), rig_alloc(s->r, lists * 4), stride,
                          want == STATS_PAGES};
}

static void check_list(struct set *s, enum sel_granularity granularity, int n_rows, enum stats_wanted want,
                       const struct softmax_args *m, const struct sinks *k)
{
    int owned = s->r->n_owned;
    struct attend_args a = attend_of(s);
    a.softmax = *m;
    a.scale = m->softcap > 0 ? 0.5f : 0.25f;
    if (granularity == SEL_LIVE)
        read_live(s, 0);
    else
        make_lists(s, &a, granularity, n_rows);
    a.stats = make_stats(s, want);
    rig_run(s->r, OP_attend, &a);
    compare(s, a.out, &a.stats, (double)a.scale, m, k);
    sunk += m->sink != NULL;
    capped += m->softcap > 0;
    if (granularity == SEL_LIVE && want != STATS_NONE) {
        struct qk_stats_args x = {a.rows, a.kv, a.layer, a.n_q, a.q, a.q_stride, a.scale, make_stats(s, want),
                                  *m};
        rig_run(s->r, OP_qk_stats, &x);
        compare(s, NULL, &x.out, (double)a.scale, m, k);
    }
    set_forget(s, owned);
}

/* A promise of few pages, under which a GPU's blocks may add up both splits of a list themselves, changes no
 * bit.
 */
static void check_promise(struct set *s, const struct softmax_args *m)
{
    int owned = s->r->n_owned;
    size_t bytes = out_floats(s) * 4;
    float *want = malloc(bytes), *have = malloc(bytes);
    int32_t len[ROWS * 2], *idx = calloc(ROWS * 2 * 64, sizeof *idx);
    struct attend_args a = attend_of(s);
    for (int l = 0; l < ROWS * 2; l++) {
        len[l] = l == 4 ? 0 : 20 + 3 * l;
        for (int i = 0; i < len[l]; i++)
            idx[l * 64 + i] = i;
    }
    a.softmax = *m;
    a.granularity = SEL_PAGES;
    a.n_rows = s->c.kv.n_kv;
    a.cap = 64;
    a.idx = rig_up(s->r, idx, ROWS * 2 * 64 * sizeof *idx);
    a.len = rig_up(s->r, len, sizeof len);
    for (int q = 0; q < a.n_q; q++)
        a.row_of_q[q] = (uint8_t)(q * a.n_rows / a.n_q);
    rig_run(s->r, OP_attend, &a);
    rig_get(s->r, want, a.out, bytes);
    a.max_pages_read = 64;
    rig_run(s->r, OP_attend, &a);
    rig_get(s->r, have, a.out, bytes);
    CHECK(memcmp(want, have, bytes) == 0);
    free(want);
    free(have);
    free(idx);
    set_forget(s, owned);
}

static void check_softmax(struct set *s, int shape)
{
    int n_q = s->c.n_q, n_kv = s->c.kv.n_kv, owned = s->r->n_owned;
    const struct {
        enum sel_granularity granularity;
        int n_rows;
        enum stats_wanted want;
    } row[] = {{SEL_LIVE, 1, STATS_NONE},      {SEL_LIVE, 1, STATS_TOKENS},
               {SEL_LIVE, 1, STATS_PAGES},     {SEL_PAGES, n_kv, STATS_NONE},
               {SEL_PAGES, n_q, STATS_TOKENS}, {SEL_TOKENS, n_kv, STATS_TOKENS}};
    for (int i = 0; i < 6; i++)
        for (int kind = 0; kind < 3; kind++) { /* a sink, a cap, both */
            struct sinks k = make_sinks(s, i + shape);
            struct softmax_args m = {kind != 1 ? k.device : NULL, kind ? 2 : 0};
            if (!rig_small() || kind == (i + shape) % 3)
                check_list(s, row[i].granularity, row[i].n_rows, row[i].want, &m, &k);
            if (i == 0 && kind == 0)
                check_promise(s, &m);
        }
    set_forget(s, owned);
    if (!s->punch)
        check_windows(s, shape);
}

static void refuse(struct rig *r, const struct attend_args *a, const char *word)
{
    CHECK_INT(r->b->launch(r->d, OP_attend, a), BACKEND_ERR_UNSUPPORTED);
    CHECK(strstr(r->b->last_error(r->d), word) != NULL);
}

static void check_refusals(struct set *s)
{
    struct attend_args good = attend_of(s), a;
    good.in_order = 1;
    good.window = 16;
    a = good;
    a.in_order = 0;
    refuse(s->r, &a, "window");
    a = good;
    a.window = -1;
    refuse(s->r, &a, "window");
    a = good;
    a.granularity = SEL_PAGES;
    refuse(s->r, &a, "lists");
    a = good;
    a.stats = make_stats(s, STATS_TOKENS);
    refuse(s->r, &a, "statistics");
    a = good;
    a.softmax.softcap = -1;
    refuse(s->r, &a, "softcap");
    a.softmax.softcap = NAN;
    refuse(s->r, &a, "softcap");
    rig_run(s->r, OP_attend, &good);
}

/* Groups of 16 and of 7, and the largest heads. */
static void extra_shapes(void)
{
    static struct set s;
    for (int shape = SET_WIDE; shape < SET_ALL; shape++) {
        struct rig r;
        rig_open(&r, NULL, 2);
        set_open(&s, &r, shape);
        check_softmax(&s, shape);
        if (shape == SET_WIDE)
            check_refusals(&s);
        set_close(&s);
        rig_close(&r);
    }
}

int main(void)
{
    set_each(check_softmax);
    extra_shapes();
    rig_ran("windows", windows);
    rig_ran("stale entries of block tables", stale);
    rig_ran("attention with sinks", sunk);
    rig_ran("attention with capped logits", capped);
    return check_done();
}
