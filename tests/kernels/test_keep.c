/* What policies that forget do with the cache: `keep`, with and without moving tokens, and `compact` at the
 * end of a sparse prompt, against the host's mirror of it. */
#include "tests/kernels/set.h"

static int dropped, moved, sorted; /* tokens so far */

/* ---- keep */

/* Lists of a keep: for each row and list the slots kept, and which they are. */
struct lists {
    int n, squeeze;
    int32_t *idx, *len;
    uint8_t *kept; /* (ROWS, n, SLOTS) */
};

/* Random slots, live or not. The list of row 1 is of length -1: it keeps everything. None of the row `empty`.
 */
static struct lists make_lists(struct set *s, int n, int percent, int empty)
{
    size_t all = (size_t)(ROWS * n);
    struct lists l = {.n = n,
                      .idx = calloc(all * SLOTS, sizeof *l.idx),
                      .len = calloc(all, sizeof *l.len),
                      .kept = calloc(all * SLOTS, 1)};
    for (size_t i = 0; i < all; i++) {
        int row = (int)i / n, slots = s->seq[row] < 0 ? 0 : cache_slots(&s->c, s->r, set_head(s, row, 0));
        for (int t = 0; t < slots; t++)
            if (row == 1 || (row != empty && rig_below(s->r, 100) < percent)) {
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
static int mirror_head(struct set *s, int head, const uint8_t *kept, int squeeze, int32_t *table)
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
    static int32_t block_table[PAGES];
    const uint8_t *live = s->c.live + (size_t)head * SLOTS;
    int d = s->c.kv.head_dim, wrong = 0;
    int32_t n_live, tail;
    rig_get(s->r, bits, s->c.kv.live + head * PAGES, sizeof bits);
    rig_get(s->r, block_table, s->c.kv.block_table + head * PAGES, sizeof block_table);
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
        size_t at = (size_t)block_table[p] * 2 * (size_t)d;
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
static void check_values(struct set *s, int layer)
{
    int n_q = s->c.n_q, d = s->c.kv.head_dim, width = n_q * d;
    float *out = rig_alloc(s->r, (size_t)(ROWS * width) * 4), *have = malloc((size_t)(ROWS * width) * 4);
    double want[BACKEND_MAX_HEAD_DIM];
    struct attend_args a = {.rows = s->rows,
                            .kv = s->c.kv,
                            .layer = layer,
                            .n_q = n_q,
                            .q = s->q,
                            .q_stride = s->stride,
                            .out = out,
                            .scale = 0.25f,
                            .granularity = SEL_LIVE,
                            .n_rows = 1,
                            .plan = s->plan};
    rig_run(s->r, OP_attend, &a);
    rig_get(s->r, have, out, (size_t)(ROWS * width) * 4);
    for (int row = 0; row < ROWS; row++)
        for (int q = 0; s->seq[row] >= 0 && q < n_q; q++) {
            int head = cache_head(&s->c, s->seq[row], layer, q / (n_q / s->c.kv.n_kv));
            plain_attend(s, head, set_query(s, row, q), s->c.live + (size_t)head * SLOTS, 0.25, want);
            for (int i = 0; i < d; i++)
                CHECK_NEAR(have[row * width + q * d + i], want[i], rig_rounds(s->r) ? 2e-3 : 1e-4);
        }
    free(have);
}

enum { CARRY = 2 };

/* In one layer, or in both, whose heads' lists follow each other. empty: a row that keeps nothing, or -1. */
static void check_keep(struct set *s, int layers, int n_rows, int squeeze, int empty)
{
    const struct kv_view *kv = &s->c.kv;
    int owned = s->r->n_owned, n_kv = kv->n_kv, of_row = n_rows == 1 ? n_kv : n_rows,
        first_layer = layers == 1 ? LAYER : 0;
    size_t table = (size_t)SLOTS, heads = (size_t)(LAYERS * n_kv), words = CARRY * heads * table;
    int32_t *state = malloc(SEQS * words * 4), *want = malloc(SEQS * words * 4);
    for (size_t i = 0; i < SEQS * words; i++)
        state[i] = want[i] = (int32_t)i;
    struct lists l = make_lists(s, n_rows, 60, empty);
    struct keep_args a = {.rows = s->rows,
                          .kv = *kv,
                          .layer = first_layer,
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
        for (int h = 0; s->seq[row] >= 0 && row != 1 && h < of_row; h++) {
            int head = cache_head(&s->c, s->seq[row], first_layer + h / n_kv, h % n_kv);
            size_t first = (size_t)s->seq[row] * words + (size_t)(first_layer * n_kv + h) * table;
            const uint8_t *kept = l.kept + (size_t)(row * n_rows + (n_rows == 1 ? 0 : h)) * SLOTS;
            uint8_t live[SLOTS];
            memcpy(live, s->c.live + (size_t)head * SLOTS, SLOTS);
            int n = mirror_head(s, head, kept, squeeze, squeeze ? want + first : NULL);
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
    for (int i = 0; i < layers && empty < 0; i++)
        check_values(s, first_layer + i);
    free_lists(&l);
    free(state);
    free(want);
    set_forget(s, owned);
}

/* ---- sort_slots */

/* Token t of the mirror comes to slot `at` of a copy. */
static void copy_token(struct set *s, int head, int t, float *k, float *v, int at)
{
    size_t d = (size_t)s->c.kv.head_dim, from = ((size_t)head * SLOTS + (size_t)t) * d;
    memcpy(k + (size_t)at * d, s->c.k + from, d * sizeof *k);
    memcpy(v + (size_t)at * d, s->c.v + from, d * sizeof *v);
}

/* The mirror's slots 0 .. n-1 in the order of score, of equal ones as they were. */
static void mirror_sort(struct set *s, int head, const float *score, int n)
{
    size_t d = (size_t)s->c.kv.head_dim, base = (size_t)head * SLOTS * d;
    float *k = malloc(SLOTS * d * sizeof *k), *v = malloc(SLOTS * d * sizeof *v);
    for (int t = 0; t < n; t++) {
        int rank = 0;
        for (int u = 0; u < n; u++)
            rank += score[u] > score[t] || (score[u] == score[t] && u < t);
        sorted += rank != t;
        copy_token(s, head, t, k, v, rank);
    }
    if (n > 0) {
        memcpy(s->c.k + base, k, (size_t)n * d * sizeof *k);
        memcpy(s->c.v + base, v, (size_t)n * d * sizeof *v);
    }
    free(k);
    free(v);
}

/* Of all live slots, as a keep with squeeze has left them: with a list of length -1, and with lists that say
 * which scores have stayed. Few values, so that many are equal. Row 2 has no scores, nor has row 1 where keep
 * has left it with slots that are not live. A keep afterwards shows which token is where. */
static void check_sort(struct set *s, int layers, int recent)
{
    int n_kv = s->c.kv.n_kv, n_rows = layers * n_kv, first = layers == 1 ? LAYER : 0, owned = s->r->n_owned;
    size_t lists = (size_t)(ROWS * n_rows);
    float *v = calloc(lists * SLOTS, sizeof *v);
    int32_t *idx = calloc(lists * SLOTS, 4), *n = calloc(lists, 4), *len = calloc(lists, 4);
    for (int i = 0; i < (int)lists; i++) {
        int row = i / n_rows, h = i % n_rows;
        if (s->seq[row] < 0)
            continue;
        int head = cache_head(&s->c, s->seq[row], first + h / n_kv, h % n_kv),
            slots = cache_slots(&s->c, s->r, head);
        float own[SLOTS];
        n[i] = row == 2 || (row == 1 && s->punch) ? 0 : slots;
        len[i] = row % 2 ? -1 : slots;
        for (int t = 0, gap = 0; t < slots; t++) {
            gap += row % 2 == 0 && gap + slots < SLOTS && rig_below(s->r, 3) == 0;
            own[t] = v[(size_t)i * SLOTS + (size_t)(t + gap)] = (float)(rig_below(s->r, 50) - 25);
            idx[(size_t)i * SLOTS + (size_t)t] = t + gap;
        }
        if (n[i] && slots > recent)
            mirror_sort(s, head, own, slots - recent);
    }
    struct sort_slots_args a = {.rows = s->rows,
                                .kv = s->c.kv,
                                .layer = first,
                                .in = {rig_up(s->r, v, lists * SLOTS * 4), rig_up(s->r, n, lists * 4),
                                       rig_up(s->r, n, lists * 4), n_rows, SLOTS},
                                .idx = rig_up(s->r, idx, lists * SLOTS * 4),
                                .len = rig_up(s->r, len, lists * 4),
                                .recent = recent};
    rig_run(s->r, OP_sort_slots, &a);
    for (int i = 0; i < layers; i++)
        check_values(s, first + i);
    free(v);
    free(idx);
    free(n);
    free(len);
    set_forget(s, owned);
}

static void check_keeps(struct set *s, int shape)
{
    int n_kv = s->c.kv.n_kv, n_rows = shape % 2 ? 1 : n_kv;
    check_keep(s, 1, n_rows, 0, -1);
    check_keep(s, 1, n_rows, 1, -1);
    check_keep(s, LAYERS, LAYERS * n_kv, shape % 3 > 0, -1);
    check_keep(s, LAYERS, LAYERS * n_kv, 1, -1);
    check_sort(s, 1, 3);
    check_sort(s, LAYERS, 0);
    check_keep(s, LAYERS, LAYERS * n_kv, 1, -1);
    check_keep(s, 1, n_rows, 1, 2);
    check_keep(s, 1, n_rows, 1, -1); /* also where there is nothing left */
}

/* ---- compact */

enum { REACH = 40 };

/* What a list says of its tokens: which the last query sees, at random, and which have a flag. */
static int32_t *make_until(struct set *s, int lists, int n)
{
    int32_t *until = malloc((size_t)(lists * SLOTS) * sizeof *until);
    for (int i = 0; i < lists * SLOTS; i++)
        until[i] = rig_below(s->r, 3) == 0 ? INT32_MAX : n - 1 - rig_below(s->r, 2);
    return until;
}

static void check_rings(const int32_t *until, const uint8_t *live, int n, const int32_t *slot,
                        const int32_t *flag)
{
    int to = 0, wrong = 0;
    for (int t = 0; t < n; t++) {
        int stays = live[t] && until[t] >= n - 1;
        if (t >= n - REACH)
            wrong += slot[t % REACH] != (stays ? to : -1) || flag[t % REACH] != (until[t] != INT32_MAX);
        to += stays;
    }
    CHECK_INT(wrong, 0);
}

/* All layers of a sequence at the end of its prompt, or those from the second one on: the first, which may
 * have a window, stays as it is, and so do its rings. */
static void check_compact(struct set *s, int seq)
{
    enum { UNTOUCHED = -7 };
    const struct kv_view *kv = &s->c.kv;
    int lists = LAYERS * kv->n_kv, n = set_length(seq), owned = s->r->n_owned;
    int first = seq % 2 * kv->n_kv;
    size_t ring = (size_t)(lists * REACH) * 4;
    int32_t *until = make_until(s, lists, n), *slot = malloc(ring), *flag = malloc(ring);
    uint8_t kept[SLOTS];
    for (int i = 0; i < lists * REACH; i++)
        slot[i] = flag[i] = UNTOUCHED;
    struct compact_args a = {.kv = *kv,
                             .seq = seq,
                             .n = n,
                             .layer = seq % 2,
                             .n_layers = LAYERS - seq % 2,
                             .until = rig_up(s->r, until, (size_t)(lists * SLOTS) * 4),
                             .until_stride = SLOTS,
                             .ring_slot = rig_up(s->r, slot, ring),
                             .ring_flag = rig_up(s->r, flag, ring),
                             .reach = REACH};
    rig_run(s->r, OP_compact, &a);
    rig_get(s->r, slot, a.ring_slot, ring);
    rig_get(s->r, flag, a.ring_flag, ring);
    for (int i = 0; i < first * REACH; i++)
        CHECK(slot[i] == UNTOUCHED && flag[i] == UNTOUCHED);
    for (int i = first; i < lists; i++) {
        int head = cache_head(&s->c, seq, i / kv->n_kv, i % kv->n_kv);
        uint8_t *live = s->c.live + (size_t)head * SLOTS;
        if (n >= REACH)
            check_rings(until + i * SLOTS, live, n, slot + i * REACH, flag + i * REACH);
        for (int t = 0; t < SLOTS; t++)
            kept[t] = t < n && until[i * SLOTS + t] >= n - 1;
        check_head(s, head, mirror_head(s, head, kept, 1, NULL), 1);
    }
    free(until);
    free(slot);
    free(flag);
    set_forget(s, owned);
}

static void check_compacts(struct set *s, int shape)
{
    (void)shape;
    for (int seq = 0; seq < SEQS; seq++)
        check_compact(s, seq);
    for (int layer = 0; layer < LAYERS; layer++)
        check_values(s, layer);
}

int main(void)
{
    set_each(check_keeps);
    rig_ran("tokens dropped", dropped);
    rig_ran("tokens in another place by their scores", sorted);
    set_each(check_compacts);
    rig_ran("tokens moved", moved);
    return check_done();
}
