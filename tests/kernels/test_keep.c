/* What policies that forget by scores do with the cache: `keep` against the host's mirror of it, with and
 * without moving tokens, and the scores that lists are made from against plain loops. */
#include "tests/kernels/set.h"

static int dropped, moved; /* tokens so far */

/* ---- keep */

/* Lists of a keep: for each row and list the slots kept, and which they are. */
struct lists {
    int n, squeeze;
    int32_t *idx, *len;
    uint8_t *kept; /* (ROWS, n, SLOTS) */
};

/* Random slots, live or not. The list of row 1 is of length -1: it keeps everything. */
static struct lists make_lists(struct set *s, int n, int percent)
{
    size_t all = (size_t)(ROWS * n);
    struct lists l = {.n = n,
                      .idx = calloc(all * SLOTS, sizeof *l.idx),
                      .len = calloc(all, sizeof *l.len),
                      .kept = calloc(all * SLOTS, 1)};
    for (size_t i = 0; i < all; i++) {
        int row = (int)i / n, slots = s->seq[row] < 0 ? 0 : cache_slots(&s->c, s->r, set_head(s, row, 0));
        for (int t = 0; t < slots; t++)
            if (row == 1 || rig_below(s->r, 100) < percent) {
                l.idx[i * SLOTS + (size_t)l.len[i]++] = t;
                l.kept[i * SLOTS + (size_t)t] = 1;
            }
        l.len[i] = row == 1 ? -1 : l.len[i];
    }
    return l;
}

static void free_lists(struct lists *l)
{
    free(l->idx);
    free(l->len);
    free(l->kept);
}

/* The same in the mirror; table: by slot, or NULL. Returns how many tokens are left. */
static int mirror(struct set *s, int head, const uint8_t *kept, int squeeze, int32_t *table)
{
    uint8_t *live = s->c.live + (size_t)head * SLOTS;
    size_t d = (size_t)s->c.kv.head_dim, base = (size_t)head * SLOTS;
    int to = 0;
    for (int t = 0; t < SLOTS; t++) {
        dropped += live[t] && !kept[t];
        live[t] = live[t] && kept[t];
        if (!live[t])
            continue;
        int at = squeeze ? to : t;
        moved += at != t;
        memmove(s->c.k + (base + (size_t)at) * d, s->c.k + (base + (size_t)t) * d, d * sizeof(float));
        memmove(s->c.v + (base + (size_t)at) * d, s->c.v + (base + (size_t)t) * d, d * sizeof(float));
        if (table)
            table[at] = table[t];
        live[t] = 0;
        live[at] = 1;
        to++;
    }
    return to;
}

/* Live bits and counts of a head, and the bounds of its pages where they were made anew. */
static void check_head(struct set *s, int head, int n, int squeeze)
{
    static uint16_t bits[PAGES];
    static int32_t unit[PAGES];
    const uint8_t *live = s->c.live + (size_t)head * SLOTS;
    int d = s->c.kv.head_dim, wrong = 0;
    int32_t n_live, tail;
    rig_get(s->r, bits, s->c.kv.live + head * PAGES, sizeof bits);
    rig_get(s->r, unit, s->c.kv.unit + head * PAGES, sizeof unit);
    rig_get(s->r, &n_live, s->c.kv.n_live + head, 4);
    rig_get(s->r, &tail, s->c.kv.tail + head, 4);
    for (int t = 0; t < SLOTS; t++)
        wrong += (bits[t / 16] >> t % 16 & 1) != live[t];
    CHECK_INT(wrong, 0);
    CHECK_INT(n_live, n);
    if (!squeeze)
        return;
    CHECK_INT(cache_slots(&s->c, s->r, head), n);
    CHECK_INT(tail, n - 1);
    for (int p = 0; p < (n + 15) / 16; p++) {
        float low[BACKEND_MAX_HEAD_DIM], high[BACKEND_MAX_HEAD_DIM], have[2 * BACKEND_MAX_HEAD_DIM];
        size_t at = (size_t)unit[p] * 2 * (size_t)d;
        for (int t = p * 16; t < n && t < p * 16 + 16; t++)
            for (int i = 0; i < d; i++) {
                float k = s->c.k[((size_t)head * SLOTS + (size_t)t) * (size_t)d + (size_t)i];
                low[i] = t % 16 && low[i] < k ? low[i] : k;
                high[i] = t % 16 && high[i] > k ? high[i] : k;
            }
        if (s->c.kv.dtype == DTYPE_BF16) {
            const uint16_t *stored = (const uint16_t *)s->c.kv.bounds + at;
            CHECK(rig_is_rounded(s->r, stored, low, (size_t)d));
            CHECK(rig_is_rounded(s->r, stored + d, high, (size_t)d));
            continue;
        }
        rig_get(s->r, have, (const float *)s->c.kv.bounds + at, 2 * (size_t)d * sizeof *have);
        CHECK(!memcmp(have, low, (size_t)d * sizeof *low) &&
              !memcmp(have + d, high, (size_t)d * sizeof *high));
    }
}

/* Attention over what is left reads K and V of the mirror. */
static void check_values(struct set *s)
{
    int n_q = s->c.n_q, d = s->c.kv.head_dim, width = n_q * d;
    float *out = rig_alloc(s->r, (size_t)(ROWS * width) * 4), *have = malloc((size_t)(ROWS * width) * 4);
    double want[BACKEND_MAX_HEAD_DIM];
    struct attend_args a = {.rows = s->rows,
                            .kv = s->c.kv,
                            .layer = LAYER,
                            .n_q = n_q,
                            .q = s->q,
                            .q_stride = s->stride,
                            .out = out,
                            .scale = 0.25f,
                            .unit = SEL_LIVE,
                            .n_rows = 1,
                            .plan = s->plan};
    rig_run(s->r, OP_attend, &a);
    rig_get(s->r, have, out, (size_t)(ROWS * width) * 4);
    for (int row = 0; row < ROWS; row++)
        for (int q = 0; s->seq[row] >= 0 && q < n_q; q++) {
            int head = set_head(s, row, q);
            plain_attend(s, head, set_query(s, row, q), s->c.live + (size_t)head * SLOTS, 0.25, want);
            for (int i = 0; i < d; i++)
                CHECK_NEAR(have[row * width + q * d + i], want[i], rig_rounds(s->r) ? 2e-3 : 1e-4);
        }
    free(have);
}

enum { CARRY = 2 };

static void keep(struct set *s, int n_rows, int squeeze)
{
    const struct kv_view *kv = &s->c.kv;
    int owned = s->r->n_owned, n_kv = kv->n_kv;
    size_t table = (size_t)SLOTS, heads = (size_t)(LAYERS * n_kv), words = CARRY * heads * table;
    int32_t *state = malloc(SEQS * words * 4), *want = malloc(SEQS * words * 4);
    for (size_t i = 0; i < SEQS * words; i++)
        state[i] = want[i] = (int32_t)i;
    struct lists l = make_lists(s, n_rows, 60);
    struct keep_args a = {.rows = s->rows,
                          .kv = *kv,
                          .layer = LAYER,
                          .idx = rig_up(s->r, l.idx, (size_t)(ROWS * n_rows) * SLOTS * 4),
                          .len = rig_up(s->r, l.len, (size_t)(ROWS * n_rows) * 4),
                          .n_rows = n_rows,
                          .cap = SLOTS,
                          .squeeze = squeeze,
                          .carry = squeeze ? CARRY : 0,
                          .state = rig_up(s->r, state, SEQS * words * 4),
                          .state_bytes = words * 4};
    rig_run(s->r, OP_keep, &a);
    rig_get(s->r, state, a.state, SEQS * words * 4);
    for (int row = 0; row < ROWS; row++)
        for (int h = 0; s->seq[row] >= 0 && row != 1 && h < n_kv; h++) {
            int head = cache_head(&s->c, s->seq[row], LAYER, h);
            size_t first = (size_t)s->seq[row] * words + (size_t)(LAYER * n_kv + h) * table;
            const uint8_t *kept = l.kept + (size_t)(row * n_rows + (n_rows == 1 ? 0 : h)) * SLOTS;
            uint8_t live[SLOTS];
            memcpy(live, s->c.live + (size_t)head * SLOTS, SLOTS);
            int n = mirror(s, head, kept, squeeze, squeeze ? want + first : NULL);
            if (squeeze) {
                memcpy(s->c.live + (size_t)head * SLOTS, live, SLOTS); /* once more, for the second table */
                for (int t = 0, to = 0; t < SLOTS; t++)
                    if (live[t] && kept[t])
                        want[first + heads * table + (size_t)to++] = want[first + heads * table + (size_t)t];
                for (int t = 0; t < SLOTS; t++)
                    s->c.live[(size_t)head * SLOTS + (size_t)t] = t < n;
                CHECK(!memcmp(state + first, want + first, (size_t)n * 4));
                CHECK(!memcmp(state + first + heads * table, want + first + heads * table, (size_t)n * 4));
            }
            check_head(s, head, n, squeeze);
        }
    check_values(s);
    free_lists(&l);
    free(state);
    free(want);
    set_forget(s, owned);
}

static void keeps(struct set *s, int shape)
{
    int n_rows = shape % 2 ? 1 : s->c.kv.n_kv;
    keep(s, n_rows, 0);
    keep(s, n_rows, 1);
}

/* ---- scores */

/* Philox4x32-10, written from its definition. */
static void plain_philox(const uint32_t key[2], const uint32_t counter[4], uint32_t x[4])
{
    uint32_t k[2] = {key[0], key[1]};
    memcpy(x, counter, 16);
    for (int i = 0; i < 10; i++) {
        uint64_t a = 0xd2511f53ull * x[0], b = 0xcd9e8d57ull * x[2];
        uint32_t y[4] = {(uint32_t)(b >> 32) ^ x[1] ^ k[0], (uint32_t)b, (uint32_t)(a >> 32) ^ x[3] ^ k[1],
                         (uint32_t)a};
        memcpy(x, y, 16);
        k[0] += 0x9e3779b9u;
        k[1] += 0xbb67ae85u;
    }
}

enum { PROMPT = 700 };

static float plain_score(const struct random_scores_args *a, const struct sample_settings *s, int pos,
                         int head, int budget, int slot)
{
    int room = budget - a->rule.recent - 1, pinned = PROMPT < room ? PROMPT : room;
    uint32_t seed[2] = {(uint32_t)s->seed, (uint32_t)(s->seed >> 32)}, key[4], x[4];
    uint32_t first[4] = {0, s->sample, (uint32_t)s->problem, (uint32_t)(s->problem >> 32)};
    uint32_t counter[4] = {(uint32_t)pos, a->shared ? 0 : LAYER, a->shared ? 0 : (uint32_t)head,
                           (uint32_t)slot};
    if (a->pin_prompt && slot < pinned)
        return INFINITY;
    if (a->newest)
        return (float)slot;
    plain_philox(seed, first, key);
    plain_philox(key, counter, x);
    return (float)(x[0] >> 8) / 16777216;
}

static int acted;

/* Slots are all live here, as the operation wants it. */
static void random_scores(struct set *s, int shape)
{
    int n_kv = s->c.kv.n_kv, owned = s->r->n_owned;
    size_t lists = (size_t)(ROWS * n_kv);
    struct sample_settings set[SEQS];
    int32_t prompt[SEQS], total[SEQS], n[64], m[64];
    if (s->punch)
        return;
    memset(set, 0, sizeof set);
    for (int i = 0; i < SEQS; i++) {
        set[i].seed = 0x123456789abcdefull + (uint64_t)i;
        set[i].problem = 0xfedcba9876543210ull * (uint64_t)(i / 2);
        set[i].sample = (uint32_t)i % 2;
        prompt[i] = PROMPT;
        total[i] = 2 * set_length(i);
    }
    struct random_scores_args a = {
        .rows = s->rows,
        .kv = s->c.kv,
        .layer = LAYER,
        .rule = {.tokens = 400, .cr = shape ? 5 : 0, .least = 9, .every = 1 + shape % 4, .recent = 8},
        .len_of_seq = rig_up(s->r, total, sizeof total),
        .prompt_len = rig_up(s->r, prompt, sizeof prompt),
        .settings = rig_up(s->r, set, sizeof set),
        .pin_prompt = shape != 2,
        .shared = shape == 6,
        .newest = shape == 8,
        .out = {rig_alloc(s->r, lists * SLOTS * 4), rig_alloc(s->r, lists * 4), rig_alloc(s->r, lists * 4),
                n_kv, SLOTS}};
    float *v = malloc(lists * SLOTS * 4);
    rig_run(s->r, OP_random_scores, &a);
    rig_get(s->r, v, a.out.v, lists * SLOTS * 4);
    rig_get(s->r, n, a.out.n, lists * 4);
    rig_get(s->r, m, a.out.m, lists * 4);
    for (size_t i = 0; i < lists; i++) {
        int row = (int)i / n_kv, seq = s->seq[row], wrong = 0;
        if (seq < 0)
            continue;
        int live = set_length(seq), budget = a.rule.cr > 0 ? total[seq] / 5 : 400;
        budget = budget > 9 ? budget : 9;
        int acts = live > budget && live % a.rule.every == 0;
        CHECK_INT(n[i], acts ? live : 0);
        CHECK_INT(m[i], n[i]);
        for (int t = 0; t < n[i]; t++)
            wrong +=
                v[i * SLOTS + (size_t)t] != plain_score(&a, &set[seq], s->pos[row], (int)i % n_kv, budget, t);
        CHECK_INT(wrong, 0);
        acted += acts;
    }
    free(v);
    set_forget(s, owned);
}

/* ---- sums */

/* A head's tables before and after, and the scores that were made of them. */
struct sums {
    const float *sum, *new_sum, *mass, *score;
    const int32_t *born, *new_born;
};

static int recents, dead;

static void check_sums(struct set *s, struct sums t, int head, int pos, int tail, int recent, int prefill)
{
    const uint8_t *live = s->c.live + (size_t)head * SLOTS;
    int n = cache_slots(&s->c, s->r, head), wrong = 0;
    for (int i = 0; i < n; i++) {
        int fresh = !prefill && i == tail, born = prefill ? i : fresh ? pos : t.born[i];
        double sum = (fresh ? 0 : (double)t.sum[i]) + exp((double)t.mass[i]);
        wrong += t.new_born[i] != born || fabs((double)t.new_sum[i] - sum) > 1e-6 * sum;
        if (!live[i])
            wrong += t.score[i] != -INFINITY;
        else
            wrong += t.score[i] != (born > pos - recent ? INFINITY : t.new_sum[i]);
        recents += live[i] && born > pos - recent;
        dead += !live[i];
    }
    CHECK_INT(wrong, 0);
}

static void accumulate(struct set *s, int shape)
{
    const struct kv_view *kv = &s->c.kv;
    int n_kv = kv->n_kv, owned = s->r->n_owned, prefill = !s->punch;
    size_t lists = (size_t)(ROWS * n_kv), heads = (size_t)(LAYERS * n_kv), table = heads * SLOTS,
           all = SEQS * 2 * table;
    float *before = malloc(all * 4), *after = malloc(all * 4), *v = malloc(lists * SLOTS * 4),
          *out = malloc(lists * SLOTS * 4);
    int32_t n[64], m[64], total[SEQS];
    for (size_t i = 0; i < all; i++) {
        int32_t born = rig_below(s->r, 4400);
        before[i] = 1 + rig_uniform(s->r);
        if (i / table % 2)
            memcpy(before + i, &born, 4);
    }
    for (size_t i = 0; i < lists * SLOTS; i++)
        v[i] = i % 5 ? 6 * rig_uniform(s->r) : -INFINITY;
    for (size_t i = 0; i < lists; i++)
        n[i] = s->seq[i / (size_t)n_kv] < 0 ? 0 : cache_slots(&s->c, s->r, set_head(s, (int)i / n_kv, 0));
    for (int i = 0; i < SEQS; i++)
        total[i] = set_length(i);
    struct accumulate_args a = {.rows = s->rows,
                                .kv = *kv,
                                .layer = LAYER,
                                .prefill = prefill,
                                .rule = {.tokens = 500, .cr = shape % 2 ? 3 : 0, .least = 1, .every = 1},
                                .len_of_seq = rig_up(s->r, total, sizeof total),
                                .recent = 0.25,
                                .state = rig_up(s->r, before, all * 4),
                                .state_bytes = 2 * table * 4,
                                .io = {rig_up(s->r, v, lists * SLOTS * 4), rig_up(s->r, n, lists * 4),
                                       rig_alloc(s->r, lists * 4), n_kv, SLOTS}};
    rig_run(s->r, OP_accumulate, &a);
    rig_get(s->r, after, a.state, all * 4);
    rig_get(s->r, out, a.io.v, lists * SLOTS * 4);
    rig_get(s->r, m, a.io.m, lists * 4);
    for (size_t i = 0; i < lists; i++) {
        int seq = s->seq[i / (size_t)n_kv], head = seq < 0 ? 0 : cache_head(&s->c, seq, LAYER, (int)i % n_kv);
        if (seq < 0)
            continue;
        size_t at = (size_t)seq * 2 * table + (size_t)(LAYER * n_kv + (int)i % n_kv) * SLOTS;
        int budget = shape % 2 ? total[seq] / 3 : 500;
        int32_t tail, n_live;
        rig_get(s->r, &tail, kv->tail + head, 4);
        rig_get(s->r, &n_live, kv->n_live + head, 4);
        struct sums t = {before + at,
                         after + at,
                         v + i * SLOTS,
                         out + i * SLOTS,
                         (const int32_t *)(const void *)(before + at + table),
                         (const int32_t *)(const void *)(after + at + table)};
        check_sums(s, t, head, s->pos[i / (size_t)n_kv], tail, (budget > 1 ? budget : 1) / 4, prefill);
        CHECK_INT(m[i], n_live);
    }
    free(before);
    free(after);
    free(v);
    free(out);
    set_forget(s, owned);
}

int main(void)
{
    set_each(keeps);
    rig_ran("tokens dropped", dropped);
    rig_ran("tokens moved", moved);
    set_each(random_scores);
    rig_ran("heads with random scores", acted);
    set_each(accumulate);
    rig_ran("recent tokens", recents);
    rig_ran("slots without a token", dead);
    return check_done();
}
