/* Lists, attention, and the scores made from it, against double-precision loops over the host's mirror of the
 * cache: GQA groups 1 to 8, ragged lengths around page and chunk boundaries, dropped tokens, fp32 and bf16.
 */
#include "tests/kernels/rig.h"

enum { SEQS = 6, PAGES = 64, LAYERS = 2, LAYER = 1, SLOTS = PAGES * 16, MAX_Q = 8 };
static const int lengths[SEQS] = {1, 16, 17, 100, 513, 1000};

struct set {
    struct rig *r;
    struct cache c;
    int32_t seq[SEQS + 1], pos[SEQS + 1];
    struct rows rows;
    float *q, *host_q; /* (rows, n_q, d) */
    int stride;
    struct plan plan;
    double logit[SLOTS], p[SLOTS];
};

static void set_open(struct set *s, struct rig *r, int n_q, int n_kv, int d, enum dtype t, int punch)
{
    s->r = r;
    cache_open(&s->c, r, SEQS, LAYERS, n_q, n_kv, d, PAGES, t);
    for (int i = 0; i < SEQS; i++) {
        cache_prefill(&s->c, r, i, 0, lengths[i] / 2);
        cache_prefill(&s->c, r, i, lengths[i] / 2, lengths[i] - lengths[i] / 2);
        if (punch)
            cache_punch(&s->c, r, i, i == 4 ? 97 : 30);
    }
    /* Rows in another order than sequences, one of them padding. */
    for (int i = 0; i <= SEQS; i++) {
        s->seq[i] = i == 3 ? -1 : (i < 3 ? i : i - 1) * 5 % SEQS;
        s->pos[i] = i == 3 ? 0 : lengths[s->seq[i]] - 1;
    }
    s->rows = (struct rows){SEQS + 1, rig_up(r, s->seq, sizeof s->seq), rig_up(r, s->pos, sizeof s->pos)};
    s->stride = n_q * d + 3;
    s->host_q = malloc((size_t)((SEQS + 1) * s->stride) * sizeof(float));
    rig_fill(r, s->host_q, (size_t)((SEQS + 1) * s->stride));
    s->q = rig_up(r, s->host_q, (size_t)((SEQS + 1) * s->stride) * sizeof(float));
    size_t lists = (size_t)((SEQS + 1) * n_kv);
    s->plan.entry = rig_alloc(r, lists * PAGES * sizeof *s->plan.entry);
    s->plan.n = rig_alloc(r, lists * sizeof *s->plan.n);
}

static void set_close(struct set *s)
{
    cache_close(&s->c);
    free(s->host_q);
}

/* Softmax attention of one query head over the slots marked in `read`; returns the log-sum-exp. */
static double plain_attend(struct set *s, int head, const float *q, const uint8_t *read, double scale,
                           double *out)
{
    int d = s->c.kv.head_dim;
    size_t base = (size_t)head * SLOTS;
    double top = -INFINITY, sum = 0;
    for (int t = 0; t < SLOTS; t++) {
        s->logit[t] = -INFINITY;
        if (!read[t])
            continue;
        double x = 0;
        for (int i = 0; i < d; i++)
            x += (double)q[i] * (double)s->c.k[(base + (size_t)t) * (size_t)d + (size_t)i];
        s->logit[t] = x * scale;
        top = s->logit[t] > top ? s->logit[t] : top;
    }
    for (int i = 0; i < d; i++)
        out[i] = 0;
    for (int t = 0; t < SLOTS; t++)
        sum += top > -INFINITY ? exp(s->logit[t] - top) : 0;
    for (int t = 0; t < SLOTS && sum > 0; t++)
        for (int i = 0; read[t] && i < d; i++)
            out[i] +=
                exp(s->logit[t] - top) / sum * (double)s->c.v[(base + (size_t)t) * (size_t)d + (size_t)i];
    return sum > 0 ? top + log(sum) : -INFINITY;
}

/* A random selection; read[q][slot] says what it means. */
struct choice {
    enum sel_unit unit;
    int n_rows, cap, block;
    int32_t *idx, *len;
    uint8_t row_of_q[BACKEND_MAX_Q_HEADS];
    uint8_t read[SEQS + 1][MAX_Q][SLOTS];
};

static void choose(struct set *s, struct choice *ch, enum sel_unit unit, int n_rows, int block, int percent)
{
    int n_q = s->c.n_q, cap = unit == SEL_TOKENS ? SLOTS : (PAGES + block - 1) / block,
        lists = (SEQS + 1) * n_rows;
    int32_t *idx = calloc((size_t)(lists * cap), sizeof *idx), *len = calloc((size_t)lists, sizeof *len);
    uint8_t *want = calloc((size_t)lists, SLOTS);
    int span = unit == SEL_TOKENS ? 1 : 16 * block;
    for (int l = 0; l < lists; l++) {
        len[l] = percent > 100 || l % 11 == 10 ? -1 : 0;
        for (int i = 0; i < cap && len[l] >= 0; i++)
            if (rig_below(s->r, 100) < percent)
                idx[l * cap + len[l]++] = i;
        for (int t = 0; t < SLOTS; t++)
            want[l * SLOTS + t] = len[l] < 0;
        for (int i = 0; i < len[l]; i++)
            for (int t = idx[l * cap + i] * span; t < (idx[l * cap + i] + 1) * span && t < SLOTS; t++)
                want[l * SLOTS + t] = 1;
    }
    for (int q = 0; q < n_q; q++) {
        int group = n_q / s->c.kv.n_kv;
        /* Not the default map: KV heads cross over. */
        ch->row_of_q[q] = (uint8_t)(n_rows == n_q ? q : n_rows - 1 - q / group * n_rows / s->c.kv.n_kv);
        for (int r = 0; r <= SEQS; r++)
            for (int t = 0; t < SLOTS; t++)
                ch->read[r][q][t] =
                    s->seq[r] < 0
                        ? 0
                        : (unit == SEL_LIVE || want[(r * n_rows + ch->row_of_q[q]) * SLOTS + t]) &&
                              s->c.live[(size_t)cache_head(&s->c, s->seq[r], LAYER, q / group) * SLOTS +
                                        (size_t)t];
    }
    ch->unit = unit;
    ch->n_rows = n_rows;
    ch->cap = cap;
    ch->block = block;
    ch->idx = rig_up(s->r, idx, (size_t)(lists * cap) * sizeof *idx);
    ch->len = rig_up(s->r, len, (size_t)lists * sizeof *len);
    free(idx);
    free(len);
    free(want);
}

static void check_reads(struct set *s, const struct choice *ch, const int64_t *before)
{
    int n_kv = s->c.kv.n_kv, group = s->c.n_q / n_kv;
    for (int r = 0; r <= SEQS; r++)
        for (int h = 0; h < n_kv && s->seq[r] >= 0; h++) {
            int64_t after, want = 0;
            int head = cache_head(&s->c, s->seq[r], LAYER, h);
            rig_get(s->r, &after, s->c.kv.reads + head, sizeof after);
            for (int t = 0; t < SLOTS; t++) {
                int any = 0;
                for (int g = 0; g < group; g++)
                    any |= ch->read[r][h * group + g][t];
                want += any;
            }
            CHECK_INT(after - before[head], want);
        }
}

static void check_attend(struct set *s, enum sel_unit unit, int n_rows, int block, int percent,
                         int with_stats)
{
    static struct choice ch;
    int n_q = s->c.n_q, n_kv = s->c.kv.n_kv, d = s->c.kv.head_dim, rows = SEQS + 1, owned = s->r->n_owned;
    size_t floats = (size_t)(rows * n_q * d), n_stats = (size_t)(rows * n_q) * SLOTS;
    choose(s, &ch, unit, n_rows, block, percent);
    int64_t before[SEQS * LAYERS * 8];
    rig_get(s->r, before, s->c.kv.reads, (size_t)s->c.heads * sizeof *before);
    struct plan_args p = {.rows = s->rows,
                          .kv = s->c.kv,
                          .layer = LAYER,
                          .n_q = n_q,
                          .unit = unit,
                          .n_rows = n_rows,
                          .cap = ch.cap,
                          .block_pages = block,
                          .idx = ch.idx,
                          .len = ch.len,
                          .out = s->plan};
    memcpy(p.row_of_q, ch.row_of_q, sizeof p.row_of_q);
    rig_run(s->r, OP_plan, &p);
    check_reads(s, &ch, before);
    struct attend_args a = {.rows = s->rows,
                            .kv = s->c.kv,
                            .layer = LAYER,
                            .n_q = n_q,
                            .q = s->q,
                            .q_stride = s->stride,
                            .out = rig_alloc(s->r, floats * 4),
                            .scale = 0.25f,
                            .plan = s->plan};
    if (with_stats)
        a.stats =
            (struct stats){rig_alloc(s->r, n_stats * 4), rig_alloc(s->r, (size_t)(rows * n_q) * 4), SLOTS};
    rig_run(s->r, OP_attend, &a);
    float *out = malloc(floats * 4), *logits = malloc(n_stats * 4), lse[(SEQS + 1) * MAX_Q];
    rig_get(s->r, out, a.out, floats * 4);
    if (with_stats) {
        rig_get(s->r, logits, a.stats.logits, n_stats * 4);
        rig_get(s->r, lse, a.stats.lse, (size_t)(rows * n_q) * 4);
    }
    double worst = 0, worst_logit = 0;
    for (int i = 0; i < rows * n_q; i++) {
        int r = i / n_q, q = i % n_q,
            head = s->seq[r] < 0 ? 0 : cache_head(&s->c, s->seq[r], LAYER, q / (n_q / n_kv));
        double want[256];
        double l = plain_attend(s, head, s->host_q + r * s->stride + q * d, ch.read[r][q], 0.25, want);
        for (int x = 0; x < d; x++)
            worst = fmax(worst, fabs((double)out[i * d + x] - want[x]));
        if (!with_stats || s->seq[r] < 0)
            continue;
        if (l == -INFINITY)
            CHECK(lse[i] == -INFINITY);
        else
            worst_logit = fmax(worst_logit, fabs((double)lse[i] - l));
        for (int t = 0; t < (cache_slots(&s->c, s->r, head) + 15) / 16 * 16; t++) {
            float have = logits[(size_t)i * SLOTS + (size_t)t];
            if (s->logit[t] == -INFINITY || have == -INFINITY)
                CHECK(have == -INFINITY && s->logit[t] == -INFINITY);
            else
                worst_logit = fmax(worst_logit, fabs((double)have - s->logit[t]));
        }
    }
    CHECK_NEAR(worst, 0, 2e-6);
    CHECK_NEAR(worst_logit, 0, 5e-6);
    free(out);
    free(logits);
    while (s->r->n_owned > owned)
        s->r->b->release(s->r->d, s->r->owned[--s->r->n_owned]);
}

/* qk_stats, then reduce_stats in every mode, then mask_scores. */
static void check_stats(struct set *s)
{
    int n_q = s->c.n_q, n_kv = s->c.kv.n_kv, d = s->c.kv.head_dim, rows = SEQS + 1, group = n_q / n_kv;
    size_t n_stats = (size_t)(rows * n_q) * SLOTS;
    struct stats st = {rig_alloc(s->r, n_stats * 4), rig_alloc(s->r, (size_t)(rows * n_q) * 4), SLOTS};
    struct qk_stats_args k = {s->rows, s->c.kv, LAYER, n_q, s->q, s->stride, 0.25f, st};
    int64_t aux0[SEQS * LAYERS * 8], aux1[SEQS * LAYERS * 8];
    int32_t n_live[SEQS * LAYERS * 8];
    rig_get(s->r, aux0, s->c.kv.aux_half, (size_t)s->c.heads * 8);
    rig_run(s->r, OP_qk_stats, &k);
    rig_get(s->r, aux1, s->c.kv.aux_half, (size_t)s->c.heads * 8);
    rig_get(s->r, n_live, s->c.kv.n_live, (size_t)s->c.heads * 4);
    for (int h = 0; h < s->c.heads; h++)
        CHECK_INT(aux1[h] - aux0[h], h / n_kv % LAYERS == LAYER ? n_live[h] : 0);

    double *lp = malloc(n_stats * sizeof *lp), unused[256];
    for (int i = 0; i < rows * n_q; i++) {
        int r = i / n_q, head = s->seq[r] < 0 ? 0 : cache_head(&s->c, s->seq[r], LAYER, i % n_q / group);
        double l = plain_attend(s, head, s->host_q + r * s->stride + i % n_q * d,
                                s->c.live + (size_t)head * SLOTS, 0.25, unused);
        for (int t = 0; t < SLOTS; t++)
            lp[(size_t)i * SLOTS + (size_t)t] = s->logit[t] - l;
    }
    for (int mode = 0; mode < 24; mode++) {
        int lists = mode & 1 ? 1 : n_kv, block = (mode >> 1) % 3 == 0 ? 0 : (mode >> 1) % 3,
            kind = mode / 6 % 3;
        int bf16 = mode >= 18, owned = s->r->n_owned, heads = n_q / lists, span = block ? 16 * block : 1;
        size_t total = (size_t)(rows * lists);
        struct scores out = {rig_alloc(s->r, total * SLOTS * 4), rig_alloc(s->r, total * 4),
                             rig_alloc(s->r, total * 4), lists, SLOTS};
        struct reduce_stats_args a = {s->rows, s->c.kv, LAYER, n_q, (enum reduce_mode)kind,
                                      block,   bf16,    st,    out};
        rig_run(s->r, OP_reduce_stats, &a);
        float *v = malloc(total * SLOTS * 4);
        int32_t n[(SEQS + 1) * 8], m[(SEQS + 1) * 8];
        rig_get(s->r, v, out.v, total * SLOTS * 4);
        rig_get(s->r, n, out.n, total * 4);
        rig_get(s->r, m, out.m, total * 4);
        double worst = 0;
        for (size_t i = 0; i < total; i++) {
            int r = (int)i / lists, first = (int)i % lists * heads, candidates = 0;
            if (s->seq[r] < 0)
                continue;
            CHECK_INT(n[i], (lengths[s->seq[r]] + span - 1) / span);
            for (int b = 0; b < n[i]; b++) {
                double mass = 0;
                for (int t = b * span; t < (b + 1) * span && t < SLOTS; t++) {
                    double one = kind == REDUCE_MAX ? -INFINITY : 0;
                    for (int q = first; q < first + heads; q++) {
                        double e = exp(lp[(size_t)(r * n_q + q) * SLOTS + (size_t)t]);
                        e = bf16 ? (double)rig_bf16((float)e) : e;
                        one = kind == REDUCE_MAX ? fmax(one, e) : one + e;
                    }
                    mass += kind == REDUCE_MEAN ? one / heads : one;
                }
                float have = v[i * SLOTS + (size_t)b];
                candidates += mass > 0;
                if (mass <= 0 || have == -INFINITY)
                    CHECK(have == -INFINITY && mass <= 0);
                else
                    worst = fmax(worst, fabs((double)have - log(mass)));
            }
            CHECK_INT(m[i], candidates);
        }
        CHECK_NEAR(worst, 0,
                   bf16 ? 1e-2 : 1e-5); /* bf16: a value at a rounding boundary may fall either way */
        free(v);
        while (s->r->n_owned > owned)
            s->r->b->release(s->r->d, s->r->owned[--s->r->n_owned]);
    }
    free(lp);
}

static void check_page_scores(struct set *s, enum score_scope scope, int block)
{
    int n_q = s->c.n_q, n_kv = s->c.kv.n_kv, d = s->c.kv.head_dim, rows = SEQS + 1, group = n_q / n_kv;
    int lists = scope == SCORE_Q ? n_q : n_kv, owned = s->r->n_owned;
    size_t total = (size_t)(rows * lists);
    struct scores out = {rig_alloc(s->r, total * PAGES * 4), rig_alloc(s->r, total * 4),
                         rig_alloc(s->r, total * 4), lists, PAGES};
    struct page_scores_args a = {s->rows, s->c.kv, LAYER, n_q, block, scope, s->q, s->stride, out};
    int64_t aux0[SEQS * LAYERS * 8], aux1[SEQS * LAYERS * 8];
    rig_get(s->r, aux0, s->c.kv.aux_half, (size_t)s->c.heads * 8);
    rig_run(s->r, OP_page_scores, &a);
    rig_get(s->r, aux1, s->c.kv.aux_half, (size_t)s->c.heads * 8);
    float *v = malloc(total * PAGES * 4);
    int32_t n[(SEQS + 1) * MAX_Q], m[(SEQS + 1) * MAX_Q];
    rig_get(s->r, v, out.v, total * PAGES * 4);
    rig_get(s->r, n, out.n, total * 4);
    rig_get(s->r, m, out.m, total * 4);
    double worst = 0;
    for (size_t i = 0; i < total; i++) {
        int r = (int)i / lists, list = (int)i % lists, h = scope == SCORE_Q ? list / group : list,
            candidates = 0, pages = 0;
        if (s->seq[r] < 0)
            continue;
        int head = cache_head(&s->c, s->seq[r], LAYER, h), have_pages = (lengths[s->seq[r]] + 15) / 16;
        CHECK_INT(n[i], (have_pages + block - 1) / block);
        for (int b = 0; b < n[i]; b++) {
            double low[256], high[256], score = scope == SCORE_KV_SUM ? 0 : -INFINITY;
            int live = 0;
            for (int p = b * block; p < (b + 1) * block && p < have_pages; p++) {
                int any = 0;
                /* Bounds cover what was alive when the page was written: they do not shrink with drops. */
                for (int t = p * 16; t < p * 16 + 16; t++)
                    any |= s->c.live[(size_t)head * SLOTS + (size_t)t];
                for (int t = p * 16; any && t < p * 16 + 16 && t < lengths[s->seq[r]]; t++) {
                    const float *k = s->c.k + ((size_t)head * SLOTS + (size_t)t) * (size_t)d;
                    for (int x = 0; x < d; x++) {
                        low[x] = live && low[x] < (double)k[x] ? low[x] : (double)k[x];
                        high[x] = live && high[x] > (double)k[x] ? high[x] : (double)k[x];
                    }
                    live = 1;
                }
                pages += any;
            }
            for (int g = 0; g < group && live; g++) {
                if (scope == SCORE_Q && g != list % group)
                    continue;
                const float *q = s->host_q + r * s->stride + (h * group + g) * d;
                double one = 0;
                for (int x = 0; x < d; x++)
                    one += fmax((double)q[x] * low[x], (double)q[x] * high[x]);
                score = scope == SCORE_KV_SUM ? score + one : fmax(score, one);
            }
            candidates += live;
            float have = v[i * PAGES + (size_t)b];
            if (!live)
                CHECK(have == -INFINITY);
            else
                worst = fmax(worst, fabs((double)have - score));
        }
        CHECK_INT(m[i], candidates);
        if (scope != SCORE_Q)
            CHECK_INT(aux1[head] - aux0[head], 2 * pages);
    }
    CHECK_NEAR(worst, 0, 1e-4); /* sums reach 300 */
    free(v);
    while (s->r->n_owned > owned)
        s->r->b->release(s->r->d, s->r->owned[--s->r->n_owned]);
}

/* A prompt chunk of every sequence against causal attention: plain, with expiry, or with a list per tile. */
enum { CAUSAL, UNTIL, TILES, TILE = 24 };

static int in_list(const int32_t *idx, int n, int slot)
{
    for (int i = 0; i < n; i++)
        if (idx[i] == slot)
            return 1;
    return n < 0;
}

/* Tile lists of one chunk: (tiles, n_kv, SLOTS) with lengths, every fifth list "all". */
static int make_lists(struct set *s, const struct prefill_attend_args *a, int32_t *idx, int32_t *len)
{
    int first = a->pos0 / TILE, n = (a->pos0 + a->nq - 1) / TILE - first + 1;
    for (int l = 0; l < n * s->c.kv.n_kv; l++) {
        len[l] = l % 5 == 4 ? -1 : 0;
        for (int t = 0; t < (first + l / s->c.kv.n_kv) * TILE && len[l] >= 0; t++)
            if (rig_below(s->r, 4) == 0)
                idx[(size_t)l * SLOTS + (size_t)len[l]++] = t;
    }
    return n;
}

static void check_prefill(struct set *s, int kind)
{
    static int32_t until[8 * SLOTS], idx[8 * 8 * SLOTS];
    int n_q = s->c.n_q, n_kv = s->c.kv.n_kv, d = s->c.kv.head_dim, group = n_q / n_kv, keys = SLOTS - 3;
    int32_t len[8 * 8];
    for (int i = 0; i < n_kv * keys; i++)
        until[i] = rig_below(s->r, 2) ? INT32_MAX : i % keys + 40;
    for (int seq = 0; seq < SEQS; seq++) {
        int n = lengths[seq], nq = n < 70 ? n : 70, stride = n_q * d + 1, owned = s->r->n_owned;
        float *q = malloc((size_t)(nq * stride) * 4), *out = malloc((size_t)(nq * n_q * d) * 4);
        rig_fill(s->r, q, (size_t)(nq * stride));
        struct prefill_attend_args a = {.kv = s->c.kv,
                                        .seq = seq,
                                        .layer = LAYER,
                                        .n_q = n_q,
                                        .pos0 = n - nq,
                                        .nq = nq,
                                        .q_stride = stride,
                                        .scale = 0.25f,
                                        .until_stride = keys};
        a.q = rig_up(s->r, q, (size_t)(nq * stride) * 4);
        a.out = rig_alloc(s->r, (size_t)(nq * n_q * d) * 4);
        a.until = kind == UNTIL ? rig_up(s->r, until, (size_t)(n_kv * keys) * 4) : NULL;
        if (kind == TILES) {
            size_t lists = (size_t)(make_lists(s, &a, idx, len) * n_kv);
            a.tile = TILE;
            a.cap = SLOTS;
            a.idx = rig_up(s->r, idx, lists * SLOTS * 4);
            a.len = rig_up(s->r, len, lists * 4);
        }
        rig_run(s->r, OP_prefill_attend, &a);
        rig_get(s->r, out, a.out, (size_t)(nq * n_q * d) * 4);
        double worst = 0;
        for (int i = 0; i<nq * n_q; i += nq> 20 ? 3 : 1) {
            int pos = a.pos0 + i / n_q, h = i % n_q / group, head = cache_head(&s->c, seq, LAYER, h);
            int tile = pos / TILE, list = (tile - a.pos0 / TILE) * n_kv + h;
            uint8_t read[SLOTS];
            double want[256];
            for (int t = 0; t < SLOTS; t++) {
                read[t] = t <= pos && (kind != UNTIL || until[h * keys + t] >= pos);
                if (kind == TILES && t < tile * TILE)
                    read[t] = (uint8_t)in_list(idx + (size_t)list * SLOTS, len[list], t);
            }
            plain_attend(s, head, q + i / n_q * stride + i % n_q * d, read, 0.25, want);
            for (int x = 0; x < d; x++)
                worst = fmax(worst, fabs((double)out[i * d + x] - want[x]));
        }
        CHECK_NEAR(worst, 0, 2e-6);
        free(q);
        free(out);
        while (s->r->n_owned > owned)
            s->r->b->release(s->r->d, s->r->owned[--s->r->n_owned]);
    }
}

static void refusals(struct rig *r)
{
    struct cache c;
    cache_open(&c, r, 1, 1, 4, 2, 16, 2, DTYPE_F32);
    struct plan_args p = {.kv = c.kv, .n_q = 4, .unit = SEL_TOKENS, .n_rows = 4, .row_of_q = {0, 1, 2, 3}};
    CHECK_INT(r->b->launch(r->d, OP_plan, &p), BACKEND_ERR_UNSUPPORTED);
    CHECK_STR(r->b->last_error(r->d),
              "plan: token lists must be shared by the query heads of a KV head; head 1 differs");
    struct attend_args a = {.kv = c.kv, .n_q = 5};
    CHECK_INT(r->b->launch(r->d, OP_attend, &a), BACKEND_ERR_UNSUPPORTED);
    a.n_q = 4;
    a.kv.head_dim = 24;
    CHECK_INT(r->b->launch(r->d, OP_attend, &a), BACKEND_ERR_UNSUPPORTED);
    struct prefill_attend_args t = {.kv = c.kv, .n_q = 4, .tile = 16};
    CHECK_INT(r->b->launch(r->d, OP_prefill_attend, &t), BACKEND_ERR_UNSUPPORTED);
    cache_close(&c);
}

int main(void)
{
    static const struct {
        int n_q, n_kv, d;
        enum dtype t;
        int punch;
    } shape[] = {{4, 2, 64, DTYPE_F32, 0},  {4, 2, 64, DTYPE_BF16, 1}, {2, 2, 128, DTYPE_BF16, 0},
                 {7, 1, 128, DTYPE_F32, 1}, {8, 1, 32, DTYPE_BF16, 1}, {6, 2, 48, DTYPE_F32, 1},
                 {5, 1, 16, DTYPE_F32, 0}};
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) {
        struct rig r;
        static struct set s;
        rig_open(&r, NULL, 2);
        set_open(&s, &r, shape[i].n_q, shape[i].n_kv, shape[i].d, shape[i].t, shape[i].punch);
        int n_q = shape[i].n_q, n_kv = shape[i].n_kv;
        if (!shape[i].punch) {
            check_prefill(&s, CAUSAL);
            check_prefill(&s, UNTIL);
            check_prefill(&s, TILES);
        }
        check_attend(&s, SEL_LIVE, 1, 1, 101, 0);
        check_attend(&s, SEL_LIVE, 1, 1, 101, 1);
        check_attend(&s, SEL_PAGES, 1, 1, 30, 1);
        check_attend(&s, SEL_PAGES, n_kv, 2, 30, 0);
        check_attend(&s, SEL_PAGES, n_q, 1, 20, 1);
        check_attend(&s, SEL_PAGES, n_q, 3, 20, 0);
        check_attend(&s, SEL_TOKENS, n_kv, 1, 10, 1);
        check_attend(&s, SEL_TOKENS, 1, 1, 3, 0);
        check_attend(&s, SEL_TOKENS, 1, 1, 0, 1);
        check_page_scores(&s, SCORE_Q, 1);
        check_page_scores(&s, SCORE_KV_MAX, 1);
        check_page_scores(&s, SCORE_KV_SUM, 2);
        check_page_scores(&s, SCORE_KV_MAX, 5);
        check_stats(&s);
        if (i == 0)
            refusals(&r);
        set_close(&s);
        rig_close(&r);
    }
    return check_done();
}
