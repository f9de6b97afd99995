/* Scores that selections are made from: attention mass (qk_stats, then reduce_stats in every mode) and page
 * bounds, against double-precision loops over the host's mirror of the cache (set.h). */
#include "tests/kernels/set.h"

static void get_aux(struct set *s, int64_t *aux)
{
    rig_get(s->r, aux, s->c.kv.aux_half, (size_t)s->c.heads * sizeof *aux);
}

/* Room for `lists` lists per row. */
static struct scores scores_alloc(struct set *s, int lists, int stride)
{
    size_t total = (size_t)(ROWS * lists);
    return (struct scores){rig_alloc(s->r, total * (size_t)stride * 4), rig_alloc(s->r, total * 4),
                           rig_alloc(s->r, total * 4), lists, stride};
}

/* Host copies; v is to be freed. */
static float *scores_get(struct set *s, struct scores d, int32_t *n, int32_t *m)
{
    size_t total = (size_t)(ROWS * d.n_rows), bytes = total * (size_t)d.stride * 4;
    float *v = malloc(bytes);
    rig_get(s->r, v, d.v, bytes);
    rig_get(s->r, n, d.n, total * 4);
    rig_get(s->r, m, d.m, total * 4);
    return v;
}

/* ---- attention mass */

/* Runs qk_stats, which books half a token per live key of the layer. */
static struct stats run_stats(struct set *s)
{
    int n_q = s->c.n_q, n_kv = s->c.kv.n_kv;
    size_t lists = (size_t)(ROWS * n_q);
    struct stats st = {rig_alloc(s->r, lists * SLOTS * 4), rig_alloc(s->r, lists * 4), SLOTS, 0};
    struct qk_stats_args k = {s->rows, s->c.kv, LAYER, n_q, s->q, s->stride, 0.25f, st, {0}};
    int64_t before[SEQS * LAYERS * 8], after[SEQS * LAYERS * 8];
    int32_t n_live[SEQS * LAYERS * 8];
    get_aux(s, before);
    rig_run(s->r, OP_qk_stats, &k);
    get_aux(s, after);
    rig_get(s->r, n_live, s->c.kv.n_live, (size_t)s->c.heads * 4);
    for (int h = 0; h < s->c.heads; h++)
        CHECK_INT(after[h] - before[h], h / n_kv % LAYERS == LAYER ? n_live[h] : 0);
    return st;
}

/* Log-probabilities (ROWS, n_q, SLOTS), to be freed. */
static double *plain_log_probs(struct set *s)
{
    int n_q = s->c.n_q;
    double *lp = malloc((size_t)(ROWS * n_q) * SLOTS * sizeof *lp), unused[256];
    for (int i = 0; i < ROWS * n_q; i++) {
        int head = set_head(s, i / n_q, i % n_q);
        double l = plain_attend(s, head, set_query(s, i / n_q, i % n_q), s->c.live + (size_t)head * SLOTS,
                                0.25, unused);
        for (int t = 0; t < SLOTS; t++)
            lp[(size_t)i * SLOTS + (size_t)t] = s->logit[t] - l;
    }
    return lp;
}

struct mode {
    int lists, block, kind, bf16; /* block: pages, 0: tokens */
};

/* Mass of block b over query heads first .. first + heads - 1 of a row. */
static double plain_mass(const struct mode *k, const double *lp, int n_q, int row, int first, int heads,
                         int b)
{
    int span = k->block ? 16 * k->block : 1;
    double mass = 0;
    for (int t = b * span; t < (b + 1) * span && t < SLOTS; t++) {
        double one = k->kind == REDUCE_MAX ? -INFINITY : 0;
        for (int q = first; q < first + heads; q++) {
            double e = exp(lp[(size_t)(row * n_q + q) * SLOTS + (size_t)t]);
            e = k->bf16 ? (double)rig_bf16((float)e) : e;
            one = k->kind == REDUCE_MAX ? fmax(one, e) : one + e;
        }
        mass += k->kind == REDUCE_MEAN ? one / heads : one;
    }
    return mass;
}

static void check_reduce(struct set *s, struct stats st, const double *lp, const struct mode *k)
{
    int n_q = s->c.n_q, owned = s->r->n_owned, heads = n_q / k->lists, span = k->block ? 16 * k->block : 1;
    struct reduce_stats_args a = {s->rows,
                                  s->c.kv,
                                  LAYER,
                                  n_q,
                                  (enum reduce_mode)k->kind,
                                  k->block,
                                  k->bf16,
                                  st,
                                  scores_alloc(s, k->lists, SLOTS)};
    int32_t n[ROWS * 8], m[ROWS * 8];
    double worst = 0;
    rig_run(s->r, OP_reduce_stats, &a);
    float *v = scores_get(s, a.out, n, m);
    for (int i = 0; i < ROWS * k->lists; i++) {
        int r = i / k->lists, candidates = 0;
        if (s->seq[r] < 0)
            continue;
        CHECK_INT(n[i], (set_length(s->seq[r]) + span - 1) / span);
        for (int b = 0; b < n[i]; b++) {
            double mass = plain_mass(k, lp, n_q, r, i % k->lists * heads, heads, b);
            float have = v[(size_t)i * SLOTS + (size_t)b];
            candidates += mass > 0;
            if (mass <= 0 || have == -INFINITY)
                CHECK(have == -INFINITY && mass <= 0);
            else
                worst = fmax(worst, fabs((double)have - log(mass)));
        }
        CHECK_INT(m[i], candidates);
    }
    /* bf16: a value at a rounding boundary may fall either way */
    CHECK_NEAR(worst, 0, k->bf16 ? 1e-2 : 1e-5);
    free(v);
    set_forget(s, owned);
}

/* first_lse of the first slots of each sequence, 0 of them in one, with a sink or without; then the largest
 * logit as it is. */
static void check_first_lse(struct set *s, struct stats st, int has_sink)
{
    int n_q = s->c.n_q, owned = s->r->n_owned, lists = ROWS * n_q;
    int32_t len[SEQS];
    float *logits = malloc((size_t)lists * SLOTS * 4), lse[ROWS * MAX_Q], before[ROWS * MAX_Q], sink[MAX_Q];
    for (int seq = 0; seq < SEQS; seq++)
        len[seq] = seq == 2 ? 0 : set_length(seq) * (seq + 1) / SEQS;
    for (int q = 0; q < n_q; q++) /* below all logits, among them, and above them */
        sink[q] = (float)(q % 3 - 1) * 30 + (float)q / 8;
    struct first_lse_args a = {.rows = s->rows,
                               .n_q = n_q,
                               .len_of_seq = rig_up(s->r, len, sizeof len),
                               .io = st,
                               .sink = has_sink ? rig_up(s->r, sink, sizeof sink) : NULL};
    rig_get(s->r, logits, st.logits, (size_t)lists * SLOTS * 4);
    rig_get(s->r, before, st.lse, (size_t)lists * 4);
    rig_run(s->r, OP_first_lse, &a);
    rig_get(s->r, lse, st.lse, (size_t)lists * 4);
    for (int i = 0; i < lists; i++) {
        double sum = has_sink ? exp((double)sink[i % n_q]) : 0;
        if (s->seq[i / n_q] < 0)
            continue;
        for (int t = 0; t < len[s->seq[i / n_q]]; t++)
            sum += exp((double)logits[(size_t)i * SLOTS + (size_t)t]);
        if (sum > 0)
            CHECK_NEAR((double)lse[i], log(sum), 1e-5);
        else
            CHECK(lse[i] == -INFINITY);
    }
    a.len_of_seq = NULL;
    rig_run(s->r, OP_first_lse, &a);
    rig_get(s->r, lse, st.lse, (size_t)lists * 4);
    for (int i = 0; i < lists; i++)
        CHECK(s->seq[i / n_q] < 0 || lse[i] == 0);
    rig_put(s->r, st.lse, before, (size_t)lists * 4);
    free(logits);
    set_forget(s, owned);
}

static void check_stats(struct set *s)
{
    struct stats st = run_stats(s);
    double *lp = plain_log_probs(s);
    check_first_lse(s, st, 0);
    check_first_lse(s, st, 1);
    for (int mode = 0; mode < 24; mode++) {
        struct mode k = {mode & 1 ? 1 : s->c.kv.n_kv, (mode >> 1) % 3, mode / 6 % 3, mode >= 18};
        check_reduce(s, st, lp, &k);
    }
    free(lp);
}

/* With bf16 a mass that rounds to 0 keeps its token a candidate, below all others and equal to its like. */
static void bf16_floor(void)
{
    struct rig r;
    static struct set s;
    rig_open(&r, NULL, 1);
    set_open(&s, &r, 6); /* one KV head, five query heads, fp32 */
    size_t lists = (size_t)(ROWS * s.c.n_q);
    float *logits = calloc(lists * SLOTS, sizeof *logits), lse[ROWS * MAX_Q] = {0};
    for (size_t i = 0; i < lists * SLOTS; i++)
        logits[i] = i % SLOTS == 3 ? -1 : i % SLOTS % 2 ? -90 : -300;
    struct stats st = {rig_up(&r, logits, lists * SLOTS * 4), rig_up(&r, lse, lists * 4), SLOTS, 0};
    for (int kind = 0; kind < 3; kind++) {
        struct reduce_stats_args a = {
            s.rows, s.c.kv, LAYER, s.c.n_q, (enum reduce_mode)kind, 0, 1, st, scores_alloc(&s, 1, SLOTS)};
        int32_t n[ROWS], m[ROWS];
        rig_run(&r, OP_reduce_stats, &a);
        float *v = scores_get(&s, a.out, n, m);
        for (int row = 0; row < ROWS; row++)
            for (int t = 0; s.seq[row] >= 0 && t < n[row]; t++)
                CHECK(t == 3  ? v[row * SLOTS + t] > -2
                      : t % 2 ? v[row * SLOTS + t] > -95
                              : v[row * SLOTS + t] == -104);
        for (int row = 0; row < ROWS; row++)
            CHECK(s.seq[row] < 0 || m[row] == n[row]);
        free(v);
    }
    free(logits);
    set_close(&s);
    rig_close(&r);
}

/* ---- page bounds */

/* Elementwise smallest and largest key of pages first .. last - 1 of a head; returns how many have a live
 * token. Bounds cover what was alive when the page was written: they do not shrink with drops. */
static int plain_bounds(const struct set *s, int head, int length, int first, int last, double *low,
                        double *high)
{
    int d = s->c.kv.head_dim, pages = 0;
    for (int p = first; p < last && p * 16 < length; p++) {
        int any = 0;
        for (int t = p * 16; t < p * 16 + 16; t++)
            any |= s->c.live[(size_t)head * SLOTS + (size_t)t];
        for (int t = p * 16; any && t < p * 16 + 16 && t < length; t++) {
            const float *k = s->c.k + ((size_t)head * SLOTS + (size_t)t) * (size_t)d;
            for (int x = 0; x < d; x++) {
                int start = pages == 0 && t == p * 16;
                low[x] = !start && low[x] < (double)k[x] ? low[x] : (double)k[x];
                high[x] = !start && high[x] > (double)k[x] ? high[x] : (double)k[x];
            }
        }
        pages += any;
    }
    return pages;
}

static double plain_bound(const struct set *s, const float *q, const double *low, const double *high)
{
    double sum = 0;
    for (int x = 0; x < s->c.kv.head_dim; x++)
        sum += fmax((double)q[x] * low[x], (double)q[x] * high[x]);
    return sum;
}

/* Each row has the same scores alone, when a GPU divides its pages among more blocks of threads. */
static void check_alone(struct set *s, struct page_scores_args a, const float *want, const int32_t *want_n)
{
    size_t row = (size_t)a.out.n_rows * (size_t)a.out.stride;
    int32_t n[MAX_Q];
    float *have = malloc(row * sizeof *have);
    const float *q = a.q;
    for (int r = 0; r < ROWS; r++) {
        if (s->seq[r] < 0)
            continue;
        a.rows = (struct rows){1, s->rows.seq + r, s->rows.pos + r};
        a.q = q + (size_t)r * (size_t)a.q_stride;
        rig_run(s->r, OP_page_scores, &a);
        rig_get(s->r, have, a.out.v, row * sizeof *have);
        rig_get(s->r, n, a.out.n, (size_t)a.out.n_rows * sizeof *n);
        for (int l = 0; l < a.out.n_rows; l++) {
            size_t at = (size_t)(l * a.out.stride);
            CHECK_INT(n[l], want_n[r * a.out.n_rows + l]);
            CHECK(memcmp(have + at, want + (size_t)r * row + at, (size_t)n[l] * sizeof *have) == 0);
        }
    }
    free(have);
}

static void check_page_scores(struct set *s, enum score_scope scope, int block)
{
    int n_q = s->c.n_q, n_kv = s->c.kv.n_kv, group = n_q / n_kv, owned = s->r->n_owned;
    int own = scope == SCORE_Q ? group : scope == SCORE_PAIR_MAX ? (group + 1) / 2 : 1, lists = n_kv * own;
    int heads = scope == SCORE_Q ? 1 : scope == SCORE_PAIR_MAX ? 2 : group; /* of a list */
    struct page_scores_args a = {
        s->rows, s->c.kv, LAYER, n_q, block, scope, s->q, s->stride, scores_alloc(s, lists, PAGES)};
    int64_t before[SEQS * LAYERS * 8], after[SEQS * LAYERS * 8];
    int32_t n[ROWS * MAX_Q], m[ROWS * MAX_Q];
    double worst = 0;
    get_aux(s, before);
    rig_run(s->r, OP_page_scores, &a);
    get_aux(s, after);
    float *v = scores_get(s, a.out, n, m);
    for (int i = 0; i < ROWS * lists; i++) {
        int r = i / lists, list = i % lists, h = list / own;
        int candidates = 0, pages = 0, head = set_head(s, r, h * group);
        if (s->seq[r] < 0)
            continue;
        CHECK_INT(n[i], ((set_length(s->seq[r]) + 15) / 16 + block - 1) / block);
        for (int b = 0; b < n[i]; b++) {
            double low[256], high[256], score = scope == SCORE_KV_SUM ? 0 : -INFINITY;
            int live = plain_bounds(s, head, set_length(s->seq[r]), b * block, (b + 1) * block, low, high);
            for (int g = 0; g < group && live; g++) {
                double one = plain_bound(s, set_query(s, r, h * group + g), low, high);
                if (g / heads == list % own)
                    score = scope == SCORE_KV_SUM ? score + one : fmax(score, one);
            }
            pages += live;
            candidates += live > 0;
            float have = v[i * PAGES + b];
            if (!live)
                CHECK(have == -INFINITY);
            else
                worst = fmax(worst, fabs((double)have - score));
        }
        CHECK_INT(m[i], candidates);
        if (own == 1)
            CHECK_INT(after[head] - before[head], 2 * pages);
    }
    CHECK_NEAR(worst, 0, 1e-4); /* sums reach 300 */
    a.out = scores_alloc(s, lists, PAGES);
    check_alone(s, a, v, n);
    free(v);
    set_forget(s, owned);
}

static void check_shape(struct set *s, int shape)
{
    (void)shape;
    check_page_scores(s, SCORE_Q, 1);
    check_page_scores(s, SCORE_KV_MAX, 1);
    check_page_scores(s, SCORE_KV_SUM, 2);
    check_page_scores(s, SCORE_KV_MAX, 5);
    check_page_scores(s, SCORE_PAIR_MAX, 1);
    check_page_scores(s, SCORE_PAIR_MAX, 3);
    check_stats(s);
}

int main(void)
{
    set_each(check_shape);
    bf16_floor();
    return check_done();
}
