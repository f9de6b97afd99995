/* Statistics of pages: attend and qk_stats write each page's log-sum-exp, and reduce_stats adds them up,
 * against double-precision loops over the host's mirror of the cache (set.h) and beside the statistics of
 * tokens. */
#include "tests/kernels/set.h"

enum { MOST_HEADS = SEQS * LAYERS * 8 };

/* STEEP: logits reach hundreds, so that most pages lie further below the largest than exp() can say in fp32.
 */
static const float scales[] = {0.25f, 40};
enum { SCALES = 2, STEEP = 1 };

/* Log-sum-exps in double precision: of pages (ROWS, n_q, PAGES), and of all (ROWS, n_q). */
struct plain {
    double page[ROWS * MAX_Q * PAGES], all[ROWS * MAX_Q];
};

/* What one run has written, on the host. */
struct written {
    float page[ROWS * MAX_Q * PAGES], lse[ROWS * MAX_Q];
};

static void plain_sums(struct set *s, float scale, struct plain *p)
{
    double unused[256];
    for (int i = 0; i < ROWS * s->c.n_q; i++) {
        int head = set_head(s, i / s->c.n_q, i % s->c.n_q);
        p->all[i] = plain_attend(s, head, set_query(s, i / s->c.n_q, i % s->c.n_q),
                                 s->c.live + (size_t)head * SLOTS, (double)scale, unused);
        for (int page = 0; page < PAGES; page++)
            p->page[i * PAGES + page] = set_log_sum(s->logit + page * 16, 16);
    }
}

/* How exact logits are: fp32, and where factors are rounded to bf16 twice 2^-16 of the products. */
static double is_near(const struct set *s, int scale)
{
    int rounded = rig_rounds(s->r) && s->c.kv.dtype == DTYPE_BF16;
    return (scale == STEEP ? 160 : 1) * (rounded ? 5e-5 : 5e-6);
}

static struct stats page_stats(struct set *s)
{
    size_t lists = (size_t)(ROWS * s->c.n_q);
    return (struct stats){rig_alloc(s->r, lists * PAGES * 4), rig_alloc(s->r, lists * 4), PAGES, 1};
}

static int pages_of(const struct set *s, int row)
{
    return kv_pages(set_length(s->seq[row]));
}

/* By (row, query head, page), whatever lies where. */
static void get_written(struct set *s, struct stats st, struct written *w)
{
    int n_q = s->c.n_q, group = n_q / s->c.kv.n_kv;
    float *all = malloc((size_t)(ROWS * n_q) * PAGES * 4);
    rig_get(s->r, all, st.logits, (size_t)(ROWS * n_q) * PAGES * 4);
    rig_get(s->r, w->lse, st.lse, (size_t)(ROWS * n_q) * 4);
    for (int i = 0; i < ROWS * n_q; i++)
        for (int p = 0; p < PAGES; p++)
            w->page[i * PAGES + p] =
                all[stats_page(&st, n_q, s->c.kv.n_kv, i / n_q, i % n_q) + (size_t)(p * group)];
    free(all);
}

static void check_written(struct set *s, const struct plain *want, const struct written *have,
                          double tolerance)
{
    double worst = 0;
    for (int i = 0; i < ROWS * s->c.n_q; i++) {
        int row = i / s->c.n_q;
        if (s->seq[row] < 0)
            continue;
        worst = fmax(worst, fabs((double)have->lse[i] - want->all[i]));
        for (int p = 0; p < pages_of(s, row); p++) {
            double x = want->page[i * PAGES + p], y = (double)have->page[i * PAGES + p];
            if (x == -INFINITY || y == -INFINITY)
                CHECK(x == y);
            else
                worst = fmax(worst, fabs(x - y));
        }
    }
    CHECK_NEAR(worst, 0, tolerance);
}

static struct attend_args attend_of(struct set *s, float scale, struct stats st)
{
    size_t floats = (size_t)(ROWS * s->c.n_q * s->c.kv.head_dim);
    return (struct attend_args){.rows = s->rows,
                                .kv = s->c.kv,
                                .layer = LAYER,
                                .n_q = s->c.n_q,
                                .q = s->q,
                                .q_stride = s->stride,
                                .out = rig_alloc(s->r, floats * 4),
                                .scale = scale,
                                .granularity = SEL_LIVE,
                                .n_rows = 1,
                                .block_pages = 1,
                                .plan = s->plan,
                                .stats = st};
}

/* Neither what attention gives nor the log-sum-exp of everything depends on what else is written. */
static void check_beside_tokens(struct set *s, const struct attend_args *a)
{
    size_t lists = (size_t)(ROWS * s->c.n_q), bytes = lists * (size_t)s->c.kv.head_dim * 4;
    struct stats st = {rig_alloc(s->r, lists * SLOTS * 4), rig_alloc(s->r, lists * 4), SLOTS, 0};
    struct attend_args b = attend_of(s, a->scale, st);
    float *want = malloc(bytes), *have = malloc(bytes);
    rig_run(s->r, OP_attend, &b);
    rig_get(s->r, want, b.out, bytes);
    rig_get(s->r, have, a->out, bytes);
    CHECK(!memcmp(want, have, bytes));
    rig_get(s->r, want, b.stats.lse, lists * 4);
    rig_get(s->r, have, a->stats.lse, lists * 4);
    CHECK(!memcmp(want, have, lists * 4));
    free(want);
    free(have);
}

/* Each row alone has the bits that it had among the others. */
static void check_alone(struct set *s, struct attend_args a, const struct written *want)
{
    static struct written have;
    int n_q = s->c.n_q;
    for (int row = 0; row < ROWS; row += rig_small() ? 3 : 2) {
        if (s->seq[row] < 0)
            continue;
        a.rows = (struct rows){1, s->rows.seq + row, s->rows.pos + row};
        a.q = s->q + row * s->stride;
        rig_run(s->r, OP_attend, &a);
        get_written(s, a.stats, &have);
        for (int q = 0; q < n_q; q++) {
            int i = row * n_q + q;
            CHECK(!memcmp(have.page + q * PAGES, want->page + i * PAGES, (size_t)pages_of(s, row) * 4));
            CHECK(!memcmp(have.lse + q, want->lse + i, 4));
        }
    }
}

/* ---- reduce_stats */

struct mode {
    int lists, block, kind;
};

/* Score of block b over query heads first .. first + heads - 1 of a row. */
static double plain_score(const struct mode *k, const struct plain *p, int i0, int heads, int b)
{
    double x[MAX_Q * 8];
    int n = 0;
    for (int i = i0; i < i0 + heads; i++)
        for (int page = b * k->block; page < (b + 1) * k->block && page < PAGES; page++)
            x[n++] = p->page[i * PAGES + page] - p->all[i];
    return set_log_sum(x, n) - (k->kind == REDUCE_MEAN ? log(heads) : 0);
}

/* A value per query head and page with a live token, by KV head. */
static void check_booked(struct set *s, const int64_t *before)
{
    int64_t after[MOST_HEADS];
    rig_get(s->r, after, s->c.kv.aux_values, (size_t)s->c.heads * sizeof *after);
    for (int head = 0; head < s->c.heads; head++) {
        int n = 0, layer = head / s->c.kv.n_kv % LAYERS;
        for (int page = 0; page < PAGES && layer == LAYER; page++) {
            int any = 0;
            for (int t = 0; t < 16; t++)
                any |= s->c.live[(size_t)head * SLOTS + (size_t)(page * 16 + t)];
            n += any;
        }
        CHECK_INT(after[head] - before[head], n * (s->c.n_q / s->c.kv.n_kv));
    }
}

static void check_reduce(struct set *s, struct stats st, const struct plain *p, const struct mode *k,
                         double tolerance)
{
    int n_q = s->c.n_q, owned = s->r->n_owned, heads = n_q / k->lists;
    size_t lists = (size_t)(ROWS * k->lists);
    struct scores out = {rig_alloc(s->r, lists * PAGES * 4), rig_alloc(s->r, lists * 4),
                         rig_alloc(s->r, lists * 4), k->lists, PAGES};
    struct reduce_stats_args a = {s->rows,  s->c.kv, LAYER, n_q, (enum reduce_mode)k->kind,
                                  k->block, 0,       st,    out};
    int32_t n[ROWS * MAX_Q], m[ROWS * MAX_Q];
    int64_t before[MOST_HEADS];
    float v[ROWS * MAX_Q * PAGES];
    double worst = 0;
    rig_get(s->r, before, s->c.kv.aux_values, (size_t)s->c.heads * sizeof *before);
    rig_run(s->r, OP_reduce_stats, &a);
    check_booked(s, before);
    rig_get(s->r, v, out.v, lists * PAGES * 4);
    rig_get(s->r, n, out.n, lists * 4);
    rig_get(s->r, m, out.m, lists * 4);
    for (int i = 0; i < ROWS * k->lists; i++) {
        int row = i / k->lists, candidates = 0;
        if (s->seq[row] < 0)
            continue;
        CHECK_INT(n[i], (pages_of(s, row) + k->block - 1) / k->block);
        for (int b = 0; b < n[i]; b++) {
            double want = plain_score(k, p, row * n_q + i % k->lists * heads, heads, b);
            double have = (double)v[i * PAGES + b];
            candidates += want > -INFINITY;
            if (want == -INFINITY || have == -INFINITY)
                CHECK(want == have);
            else
                worst = fmax(worst, fabs(have - want));
        }
        CHECK_INT(m[i], candidates);
    }
    CHECK_NEAR(worst, 0, tolerance);
    set_forget(s, owned);
}

/* One row has the scores that it has in the batch, bit for bit. */
static void check_reduce_alone(struct set *s, struct stats st)
{
    int n_q = s->c.n_q, owned = s->r->n_owned, row = ROWS - 1;
    struct scores out = {rig_alloc(s->r, ROWS * PAGES * 4), rig_alloc(s->r, ROWS * 4),
                         rig_alloc(s->r, ROWS * 4), 1, PAGES};
    struct reduce_stats_args a = {s->rows, s->c.kv, LAYER, n_q, REDUCE_SUM, 1, 0, st, out};
    float want[PAGES], have[PAGES];
    rig_run(s->r, OP_reduce_stats, &a);
    rig_get(s->r, want, out.v + row * PAGES, sizeof want);
    a.rows = (struct rows){1, s->rows.seq + row, s->rows.pos + row};
    a.in.logits += (size_t)(row * n_q) * PAGES;
    a.in.lse += row * n_q;
    rig_run(s->r, OP_reduce_stats, &a);
    rig_get(s->r, have, out.v, sizeof have);
    CHECK(!memcmp(want, have, (size_t)pages_of(s, row) * 4));
    set_forget(s, owned);
}

static void check_scale(struct set *s, int scale)
{
    static struct plain plain;
    static struct written from_attend, from_scan;
    int owned = s->r->n_owned, n_kv = s->c.kv.n_kv;
    struct attend_args a = attend_of(s, scales[scale], page_stats(s));
    struct qk_stats_args k = {s->rows,   s->c.kv,       LAYER,         s->c.n_q, s->q,
                              s->stride, scales[scale], page_stats(s), {0}};
    plain_sums(s, scales[scale], &plain);
    rig_run(s->r, OP_attend, &a);
    get_written(s, a.stats, &from_attend);
    check_written(s, &plain, &from_attend, is_near(s, scale));
    rig_run(s->r, OP_qk_stats, &k);
    get_written(s, k.out, &from_scan);
    check_written(s, &plain, &from_scan, is_near(s, scale));
    for (int i = 0; i < 9; i++) {
        const int lists[] = {1, n_kv, s->c.n_q}, blocks[] = {1, 2, 5};
        struct mode m = {lists[i % 3], blocks[i / 3], (i + scale) % 2 ? REDUCE_SUM : REDUCE_MEAN};
        check_reduce(s, a.stats, &plain, &m, 2 * is_near(s, scale));
    }
    check_reduce_alone(s, a.stats);
    check_beside_tokens(s, &a);
    check_alone(s, a, &from_attend);
    set_forget(s, owned);
}

/* ---- what is refused */

static void is_refused(struct rig *r, enum op op, const void *args, const char *sentence)
{
    CHECK_INT(r->b->launch(r->d, op, args), BACKEND_ERR_UNSUPPORTED);
    CHECK_STR(r->b->last_error(r->d), sentence);
}

static void check_refusals(struct set *s)
{
    struct stats st = page_stats(s), few = st;
    few.stride = PAGES - 1;
    struct attend_args a = attend_of(s, 1, st);
    a.granularity = SEL_PAGES;
    is_refused(
        s->r, OP_attend, &a,
        "attend: statistics of pages need attention to all live tokens, not to lists; ask for those of "
        "tokens");
    a.granularity = SEL_LIVE;
    a.stats = few;
    is_refused(s->r, OP_attend, &a, "attend: statistics have room for 279 pages of 280");
    a.stats = st;
    a.stats.logits = NULL;
    is_refused(s->r, OP_attend, &a, "attend: statistics of pages need room for them");
    struct qk_stats_args k = {s->rows, s->c.kv, LAYER, s->c.n_q, s->q, s->stride, 1, few, {0}};
    is_refused(s->r, OP_qk_stats, &k, "qk_stats: statistics have room for 279 pages of 280");
    struct scores out = {NULL, NULL, NULL, 1, PAGES};
    struct reduce_stats_args m = {s->rows, s->c.kv, LAYER, s->c.n_q, REDUCE_MAX, 1, 0, st, out};
    is_refused(
        s->r, OP_reduce_stats, &m,
        "reduce_stats: the largest over heads needs statistics of tokens; those of pages are not enough");
    m.mode = REDUCE_SUM;
    m.block_pages = 0;
    is_refused(s->r, OP_reduce_stats, &m,
               "reduce_stats: scores of tokens need statistics of tokens; those of pages are not enough");
    m.block_pages = m.bf16 = 1;
    is_refused(
        s->r, OP_reduce_stats, &m,
        "reduce_stats: probabilities rounded to bf16 need statistics of tokens; those of pages are not "
        "enough");
    m.bf16 = 0;
    m.in = few;
    is_refused(s->r, OP_reduce_stats, &m, "reduce_stats: statistics have room for 279 pages of 280");
    struct rank_union_args u = {.rows = s->rows, .kv = s->c.kv, .n_q = s->c.n_q, .in = st, .out = out};
    is_refused(s->r, OP_rank_union, &u,
               "rank_union: ranks of tokens need statistics of tokens; those of pages are not enough");
}

static void check_shape(struct set *s, int shape)
{
    for (int scale = 0; scale < SCALES; scale++)
        if (!rig_small() || scale == shape % SCALES)
            check_scale(s, scale);
    if (shape == 0)
        check_refusals(s);
}

int main(void)
{
    set_each(check_shape);
    return check_done();
}
