/* Lists and attention, against double-precision loops over the host's mirror of the cache (set.h). */
#include "tests/kernels/set.h"

/* Cases run, by enum sel_granularity or as MERGED (lists of pages that differ within a group); prompt chunks,
 * by their kind. */
enum { MERGED = 3 };
static int decodes[4], prompts[3];

/* Infinite where `have` is not a number, which no maximum would keep. */
static double largest_distance(float have, double want)
{
    double d = fabs((double)have - want);
    return d >= 0 ? d : INFINITY;
}

/* A random selection; read[q][slot] says what it means. */
struct choice {
    enum sel_granularity granularity;
    int n_rows, cap, block, most; /* most: pages of the longest list */
    int32_t *idx, *len;
    uint8_t row_of_q[BACKEND_MAX_Q_HEADS];
    uint8_t read[ROWS][MAX_Q][SLOTS];
};

static void choose_list(struct set *s, struct choice *ch, enum sel_granularity granularity, int n_rows,
                        int block, int percent)
{
    int n_q = s->c.n_q, cap = granularity == SEL_TOKENS ? SLOTS : (PAGES + block - 1) / block,
        lists = ROWS * n_rows;
    int32_t *idx = calloc((size_t)(lists * cap), sizeof *idx), *len = calloc((size_t)lists, sizeof *len);
    uint8_t *want = calloc((size_t)lists, SLOTS);
    int span = granularity == SEL_TOKENS ? 1 : 16 * block;
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
    ch->most = 0;
    for (int l = 0; l < lists; l++) {
        int pages = len[l] < 0 ? PAGES : len[l] * block;
        ch->most = pages > ch->most ? pages : ch->most;
    }
    for (int q = 0; q < n_q; q++) {
        int group = n_q / s->c.kv.n_kv, per = n_rows / s->c.kv.n_kv, pair = per > 1 ? q % group / 2 : 0;
        /* Not the default map: KV heads cross over. */
        ch->row_of_q[q] = (uint8_t)(n_rows == n_q ? q : n_rows - 1 - (q / group * per + pair));
        for (int r = 0; r <= SEQS; r++)
            for (int t = 0; t < SLOTS; t++)
                ch->read[r][q][t] =
                    s->seq[r] < 0
                        ? 0
                        : (granularity == SEL_LIVE || want[(r * n_rows + ch->row_of_q[q]) * SLOTS + t]) &&
                              s->c.live[(size_t)cache_head(&s->c, s->seq[r], LAYER, q / group) * SLOTS +
                                        (size_t)t];
    }
    ch->granularity = granularity;
    ch->n_rows = n_rows;
    ch->cap = cap;
    ch->block = block;
    ch->idx = rig_up(s->r, idx, (size_t)(lists * cap) * sizeof *idx);
    ch->len = rig_up(s->r, len, (size_t)lists * sizeof *len);
    free(idx);
    free(len);
    free(want);
}

/* reads, and how many of them heads of a group did not choose for themselves; before[1]: of the latter. */
static void check_reads(struct set *s, const struct choice *ch, int64_t (*before)[SEQS * LAYERS * 8])
{
    int n_kv = s->c.kv.n_kv, group = s->c.n_q / n_kv;
    for (int r = 0; r <= SEQS; r++)
        for (int h = 0; h < n_kv && s->seq[r] >= 0; h++) {
            int64_t after, not_chosen, want = 0, others = 0;
            int head = cache_head(&s->c, s->seq[r], LAYER, h);
            rig_get(s->r, &after, s->c.kv.reads + head, sizeof after);
            for (int t = 0; t < SLOTS; t++) {
                int n = 0;
                for (int g = 0; g < group; g++)
                    n += ch->read[r][h * group + g][t] != 0;
                want += n > 0;
                others += n > 0 ? group - n : 0;
            }
            rig_get(s->r, &not_chosen, s->c.kv.not_chosen + head, sizeof not_chosen);
            CHECK_INT(after - before[0][head], want);
            CHECK_INT(not_chosen - before[1][head], others);
        }
}

/* Outputs and, where they were asked for, logits and log-sum-exps. */
static void compare_attend(struct set *s, const struct choice *ch, const struct attend_args *a)
{
    int n_q = s->c.n_q, d = s->c.kv.head_dim, with_stats = a->stats.logits != NULL;
    size_t floats = (size_t)(ROWS * n_q * d), n_stats = (size_t)(ROWS * n_q) * SLOTS;
    float *out = malloc(floats * 4), *logits = malloc(n_stats * 4), lse[ROWS * MAX_Q];
    rig_get(s->r, out, a->out, floats * 4);
    if (with_stats) {
        rig_get(s->r, logits, a->stats.logits, n_stats * 4);
        rig_get(s->r, lse, a->stats.lse, (size_t)(ROWS * n_q) * 4);
    }
    double worst = 0, worst_logit = 0;
    for (int i = 0; i < ROWS * n_q; i++) {
        int r = i / n_q, q = i % n_q, head = set_head(s, r, q);
        double want[256], l = plain_attend(s, head, set_query(s, r, q), ch->read[r][q], 0.25, want);
        for (int x = 0; x < d; x++)
            worst = fmax(worst, largest_distance(out[i * d + x], want[x]));
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
    CHECK_NEAR(worst, 0, rig_rounds(s->r) && s->c.kv.dtype == DTYPE_BF16 ? 2e-5 : 2e-6);
    CHECK_NEAR(worst_logit, 0, rig_rounds(s->r) && s->c.kv.dtype == DTYPE_BF16 ? 5e-5 : 5e-6);
    free(out);
    free(logits);
}

/* The rows of short sequences again and again and one of a long one, more lists than a block has threads:
 * each has the bits that it had among few. */
static void check_many(struct set *s, const struct choice *ch, struct attend_args a)
{
    enum { MANY = 160 };
    int n_q = s->c.n_q, lists = ROWS * ch->n_rows, of[MANY], n = 0, longest = 0;
    size_t row = (size_t)(n_q * s->c.kv.head_dim), list = (size_t)ch->n_rows;
    while (n < MANY)
        for (int r = 0; r < ROWS && n < MANY; r++)
            if (s->seq[r] < 0 || set_length(s->seq[r]) < 200)
                of[n++] = r;
            else if (set_length(s->seq[r]) < 2000)
                longest = r;
    of[MANY / 3] = longest;
    float *want = malloc(ROWS * row * 4), *have = malloc(MANY * row * 4);
    float *q = malloc(MANY * (size_t)s->stride * 4);
    int32_t *idx = malloc((size_t)(lists * ch->cap) * 4), *len = malloc((size_t)lists * 4);
    int32_t *many_idx = malloc(MANY * list * (size_t)ch->cap * 4), *many_len = malloc(MANY * list * 4);
    int32_t seq[MANY], pos[MANY];
    rig_get(s->r, want, a.out, ROWS * row * 4);
    rig_get(s->r, idx, ch->idx, (size_t)(lists * ch->cap) * 4);
    rig_get(s->r, len, ch->len, (size_t)lists * 4);
    for (int i = 0; i < MANY; i++) {
        size_t from = (size_t)of[i], to = (size_t)i;
        seq[i] = s->seq[from];
        pos[i] = s->pos[from];
        memcpy(q + to * (size_t)s->stride, s->host_q + from * (size_t)s->stride, (size_t)s->stride * 4);
        memcpy(many_idx + to * list * (size_t)ch->cap, idx + from * list * (size_t)ch->cap,
               list * (size_t)ch->cap * 4);
        memcpy(many_len + to * list, len + from * list, list * 4);
    }
    a.rows = (struct rows){MANY, rig_up(s->r, seq, sizeof seq), rig_up(s->r, pos, sizeof pos)};
    a.q = rig_up(s->r, q, MANY * (size_t)s->stride * 4);
    a.idx = rig_up(s->r, many_idx, MANY * list * (size_t)ch->cap * 4);
    a.len = rig_up(s->r, many_len, MANY * list * 4);
    a.plan = (struct plan){rig_alloc(s->r, MANY * (size_t)s->c.kv.n_kv * PAGES * sizeof *a.plan.entry),
                           rig_alloc(s->r, MANY * (size_t)s->c.kv.n_kv * 4)};
    a.out = rig_alloc(s->r, MANY * row * 4);
    rig_run(s->r, OP_attend, &a);
    rig_get(s->r, have, a.out, MANY * row * 4);
    for (size_t i = 0; i < MANY; i++)
        CHECK(memcmp(have + i * row, want + (size_t)of[i] * row, row * 4) == 0);
    free(want);
    free(have);
    free(q);
    free(idx);
    free(len);
    free(many_idx);
    free(many_len);
}

static void check_attend(struct set *s, enum sel_granularity granularity, int n_rows, int block, int percent,
                         int with_stats)
{
    static struct choice ch;
    int n_q = s->c.n_q, rows = ROWS, owned = s->r->n_owned;
    size_t floats = (size_t)(rows * n_q * s->c.kv.head_dim), n_stats = (size_t)(rows * n_q) * SLOTS;
    choose_list(s, &ch, granularity, n_rows, block, percent);
    int64_t before[2][SEQS * LAYERS * 8];
    rig_get(s->r, before[0], s->c.kv.reads, (size_t)s->c.heads * sizeof **before);
    rig_get(s->r, before[1], s->c.kv.not_chosen, (size_t)s->c.heads * sizeof **before);
    struct attend_args a = {.rows = s->rows,
                            .kv = s->c.kv,
                            .layer = LAYER,
                            .n_q = n_q,
                            .q = s->q,
                            .q_stride = s->stride,
                            .out = rig_alloc(s->r, floats * 4),
                            .scale = 0.25f,
                            .granularity = granularity,
                            .n_rows = n_rows,
                            .cap = ch.cap,
                            .block_pages = block,
                            .idx = ch.idx,
                            .len = ch.len,
                            .plan = s->plan};
    memcpy(a.row_of_q, ch.row_of_q, sizeof a.row_of_q);
    if (with_stats)
        a.stats =
            (struct stats){rig_alloc(s->r, n_stats * 4), rig_alloc(s->r, (size_t)(rows * n_q) * 4), SLOTS, 0};
    decodes[n_rows > s->c.kv.n_kv ? MERGED : granularity]++;
    rig_run(s->r, OP_attend, &a);
    check_reads(s, &ch, before);
    compare_attend(s, &ch, &a);
    if (n_rows <= s->c.kv.n_kv && !with_stats)
        check_many(s, &ch, a);
    if (granularity == SEL_PAGES) { /* the same bits when it is known that no list is longer */
        float *want = malloc(floats * 4), *have = malloc(floats * 4);
        rig_get(s->r, want, a.out, floats * 4);
        a.out = rig_alloc(s->r, floats * 4);
        a.max_pages_read = ch.most;
        rig_run(s->r, OP_attend, &a);
        rig_get(s->r, have, a.out, floats * 4);
        CHECK(memcmp(want, have, floats * 4) == 0);
        /* ... and when it is known that nothing was dropped */
        a.in_order = !s->punch;
        rig_run(s->r, OP_attend, &a);
        rig_get(s->r, have, a.out, floats * 4);
        CHECK(memcmp(want, have, floats * 4) == 0);
        free(want);
        free(have);
    }
    if (s->r->b->activations == DTYPE_BF16) {
        float *out = malloc(floats * 4);
        rig_get(s->r, out, a.out, floats * 4);
        a.out = rig_alloc(s->r, floats * 2);
        a.type = DTYPE_BF16;
        rig_run(s->r, OP_attend, &a);
        CHECK(rig_is_rounded(s->r, a.out, out, floats));
        free(out);
    }
    set_forget(s, owned);
}

/* Every form of list. Small: every second row, the other half for the next shape; each half has every KV
 * block, and lists that differ within a group. `pairs`: two neighbours of a group share one, the last of an
 * odd group is alone. */
static void check_lists(struct set *s, int shape)
{
    int n_q = s->c.n_q, n_kv = s->c.kv.n_kv, pairs = n_kv * ((n_q / n_kv + 1) / 2);
    const struct {
        enum sel_granularity granularity;
        int n_rows, block, percent, with_stats;
    } row[] = {{SEL_LIVE, 1, 1, 101, 0},   {SEL_LIVE, 1, 1, 101, 1},     {SEL_PAGES, 1, 1, 30, 1},
               {SEL_PAGES, 1, 1, 12, 1},   {SEL_PAGES, n_kv, 2, 30, 0},  {SEL_PAGES, n_q, 1, 20, 1},
               {SEL_PAGES, n_q, 3, 20, 0}, {SEL_TOKENS, n_kv, 1, 10, 1}, {SEL_TOKENS, 1, 1, 3, 0},
               {SEL_TOKENS, 1, 1, 0, 1},   {SEL_PAGES, pairs, 1, 20, 1}, {SEL_PAGES, pairs, 2, 20, 0}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if (!rig_small() || (i + (size_t)shape) % 2 == 0)
            check_attend(s, row[i].granularity, row[i].n_rows, row[i].block, row[i].percent,
                         row[i].with_stats);
}

/* A prompt chunk of every sequence against causal attention: plain, with expiry, or with a list per tile.
 * Small: shorter ones, of every second sequence. */
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

/* Does the query at pos see the key t? */
static int query_sees(const struct prefill_attend_args *a, const int32_t *until, const int32_t *idx,
                      const int32_t *len, int h, int pos, int t)
{
    int tile = a->tile ? pos / a->tile : 0;
    if (a->tile && t < tile * a->tile) {
        size_t list = (size_t)((tile - a->pos0 / a->tile) * a->n_rows + a->row_of_kv[h]);
        return in_list(idx + list * (size_t)a->cap, len[list], t);
    }
    return t <= pos && (!a->until || until[h * a->until_stride + t] >= pos);
}

/* prefill_count twice, once with a scan, beside one pair after the other. */
static void check_pairs(struct set *s, const struct prefill_attend_args *a, const int32_t *until,
                        const int32_t *idx, const int32_t *len)
{
    int64_t reads[SEQS * 2 * 8], scans[SEQS * 2 * 8], old[SEQS * 2 * 8];
    size_t bytes = (size_t)s->c.heads * sizeof *reads;
    CHECK(bytes <= sizeof reads);
    struct prefill_count_args p = {.read = *a};
    rig_get(s->r, old, s->c.kv.prefill_scans, bytes);
    rig_get(s->r, reads, s->c.kv.prefill_reads, bytes);
    for (int h = 0; h < s->c.kv.n_kv; h++) {
        int head = cache_head(&s->c, a->seq, a->layer, h);
        for (int pos = a->pos0; pos < a->pos0 + a->nq; pos++) {
            old[head] += pos + 1;
            for (int t = 0; t <= pos; t++)
                reads[head] += 2 * query_sees(a, until, idx, len, h, pos, t);
        }
    }
    rig_run(s->r, OP_prefill_count, &p);
    p.scanned = 1;
    rig_run(s->r, OP_prefill_count, &p);
    rig_get(s->r, scans, s->c.kv.prefill_scans, bytes);
    CHECK(!memcmp(scans, old, bytes));
    rig_get(s->r, scans, s->c.kv.prefill_reads, bytes);
    CHECK(!memcmp(scans, reads, bytes));
}

/* How far a row's output of prefill is off, beyond what rounding explains. */
static double off_by(struct set *s, int head, const float *q, const uint8_t *read, int rounds,
                     const float *out)
{
    double want[256], slack[256] = {0}, worst = 0;
    if (rounds)
        rounded_attend(s, head, q, read, 0.25f, want, slack);
    else
        plain_attend(s, head, q, read, 0.25, want);
    for (int x = 0; x < s->c.kv.head_dim; x++)
        worst = fmax(worst, largest_distance(out[x], want[x]) - slack[x]);
    return worst;
}

static void check_prefill(struct set *s, int kind)
{
    static int32_t until[8 * SLOTS], idx[8 * 8 * SLOTS];
    int n_q = s->c.n_q, n_kv = s->c.kv.n_kv, d = s->c.kv.head_dim, group = n_q / n_kv, keys = SLOTS - 3;
    int32_t len[8 * 8] = {0};
    for (int i = 0; i < n_kv * keys;
         i++) /* under the first KV head all keys expire, tiles of them at a time */
        until[i] = i >= keys && rig_below(s->r, 2) ? INT32_MAX : i % keys + 40;
    int most = rig_small() ? 40 : 70;
    for (int seq = 0; seq < SEQS; seq += rig_small() ? 2 : 1) {
        int n = set_length(seq), nq = n < most ? n : most, stride = n_q * d + 1, owned = s->r->n_owned;
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
            a.n_rows = n_kv;
            for (int h = 0; h < n_kv; h++) /* KV heads cross over */
                a.row_of_kv[h] = (uint8_t)(n_kv - 1 - h);
            a.idx = rig_up(s->r, idx, lists * SLOTS * 4);
            a.len = rig_up(s->r, len, lists * 4);
        }
        prompts[kind]++;
        rig_run(s->r, OP_prefill_attend, &a);
        check_pairs(s, &a, until, idx, len);
        rig_get(s->r, out, a.out, (size_t)(nq * n_q * d) * 4);
        int rounds = s->c.kv.dtype == DTYPE_BF16 && rig_rounds_weights(s->r, d);
        double worst = 0;
        for (int i = 0; i<nq * n_q; i += nq> 20 ? 3 : 1) {
            int pos = a.pos0 + i / n_q, h = i % n_q / group;
            uint8_t read[SLOTS];
            for (int t = 0; t < SLOTS; t++)
                read[t] = (uint8_t)query_sees(&a, until, idx, len, h, pos, t);
            worst = fmax(worst, off_by(s, cache_head(&s->c, seq, LAYER, h),
                                       q + i / n_q * stride + i % n_q * d, read, rounds, out + i * d));
        }
        CHECK_NEAR(worst, 0, rig_rounds(s->r) && s->c.kv.dtype == DTYPE_BF16 ? 2e-5 : 2e-6);
        if (s->r->b->activations == DTYPE_BF16) {
            a.type = DTYPE_BF16;
            rig_run(s->r, OP_prefill_attend, &a);
            CHECK(rig_is_rounded(s->r, a.out, out, (size_t)(nq * n_q * d)));
        }
        free(q);
        free(out);
        set_forget(s, owned);
    }
}

static void check_refusals(struct rig *r)
{
    struct cache c;
    cache_open(&c, r, 1, 1, 4, 2, 16, 2, DTYPE_F32);
    struct attend_args p = {
        .kv = c.kv, .n_q = 4, .granularity = SEL_TOKENS, .n_rows = 4, .row_of_q = {0, 1, 2, 3}};
    CHECK_INT(r->b->launch(r->d, OP_attend, &p), BACKEND_ERR_UNSUPPORTED);
    CHECK_STR(r->b->last_error(r->d),
              "attend: token lists must be shared by the query heads of a KV head; head 1 differs");
    struct attend_args a = {.kv = c.kv, .n_q = 5};
    CHECK_INT(r->b->launch(r->d, OP_attend, &a), BACKEND_ERR_UNSUPPORTED);
    a.n_q = 4;
    a.kv.head_dim = 24;
    CHECK_INT(r->b->launch(r->d, OP_attend, &a), BACKEND_ERR_UNSUPPORTED);
    struct prefill_attend_args t = {.kv = c.kv, .n_q = 4, .tile = 16};
    CHECK_INT(r->b->launch(r->d, OP_prefill_attend, &t), BACKEND_ERR_UNSUPPORTED);
    cache_close(&c);
}

/* Where the plain kernels run, more sequences than a block's memory can list: the number in the sentence is
 * the most that run. */
static void most_rows(struct rig *r)
{
    enum { MANY = 20000 };
    static int32_t padding[MANY];
    struct cache c;
    int many, most;
    cache_open(&c, r, 1, 1, 4, 2, 16, 2, DTYPE_F32);
    for (int i = 0; i < MANY; i++)
        padding[i] = -1;
    struct attend_args a = {.rows = {MANY, rig_up(r, padding, sizeof padding), rig_alloc(r, sizeof padding)},
                            .kv = c.kv,
                            .n_q = 4,
                            .q = rig_alloc(r, MANY * 64 * 4),
                            .q_stride = 64,
                            .out = rig_alloc(r, MANY * 64 * 4),
                            .granularity = SEL_LIVE};
    CHECK_INT(r->b->launch(r->d, OP_attend, &a), BACKEND_ERR_UNSUPPORTED);
    CHECK_INT(sscanf(r->b->last_error(r->d),
                     "attend: %d sequences at once are too many for this GPU; give a --max-batch (bench and "
                     "doctor: --batch) of at most %d",
                     &many, &most),
              2);
    CHECK_INT(many, MANY);
    a.rows.cap = most + 1;
    CHECK_INT(r->b->launch(r->d, OP_attend, &a), BACKEND_ERR_UNSUPPORTED);
    a.rows.cap = most;
    rig_run(r, OP_attend, &a);
    cache_close(&c);
}

static void check_shape(struct set *s, int shape)
{
    if (!s->punch) {
        check_prefill(s, CAUSAL);
        check_prefill(s, UNTIL);
        check_prefill(s, TILES);
    }
    check_lists(s, shape);
    if (shape == 0)
        check_refusals(s->r);
    if (shape == 0 && strstr(s->r->b->describe(s->r->d), "older GPU"))
        most_rows(s->r);
}

/* Their prompts take the most shared memory of all (op_prefill_plain.cu). */
static void wide_heads(void)
{
    static struct set s;
    struct rig r;
    rig_open(&r, NULL, 2);
    set_open(&s, &r, SET_WIDE);
    check_prefill(&s, CAUSAL);
    set_close(&s);
    rig_close(&r);
}

int main(void)
{
    set_each(check_shape);
    wide_heads();
    rig_ran("attention to what is alive", decodes[SEL_LIVE]);
    rig_ran("attention to lists of pages", decodes[SEL_PAGES]);
    rig_ran("attention to lists of pages that differ within a group", decodes[MERGED]);
    rig_ran("attention to lists of tokens", decodes[SEL_TOKENS]);
    rig_ran("plain prompt chunks", prompts[CAUSAL]);
    rig_ran("prompt chunks with expiry", prompts[UNTIL]);
    rig_ran("prompt chunks with lists", prompts[TILES]);
    return check_done();
}
