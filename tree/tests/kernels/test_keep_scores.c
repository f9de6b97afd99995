/* The scores by which policies that forget choose what `keep` keeps: drawn ones, and sums of attention,
 * against plain loops. */
#include "tests/kernels/set.h"

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
                         int layer, int head, int budget, int slot)
{
    int room = budget - a->params.recent - 1, pinned = PROMPT < room ? PROMPT : room;
    uint32_t seed[2] = {(uint32_t)s->seed, (uint32_t)(s->seed >> 32)}, key[4], x[4];
    uint32_t first[4] = {0, s->sample, (uint32_t)s->problem, (uint32_t)(s->problem >> 32)};
    uint32_t counter[4] = {(uint32_t)pos, a->shared ? 0 : (uint32_t)layer, a->shared ? 0 : (uint32_t)head,
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
    int n_kv = s->c.kv.n_kv, owned = s->r->n_owned, layers = shape % 3 ? 1 : LAYERS, of_row = layers * n_kv,
        first = layers == 1 ? LAYER : 0;
    size_t lists = (size_t)(ROWS * of_row);
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
        .layer = first,
        .params = {.tokens = 400, .cr = shape ? 5 : 0, .min_tokens = 9, .every = 1 + shape % 4, .recent = 8},
        .len_of_seq = rig_up(s->r, total, sizeof total),
        .prompt_len = rig_up(s->r, prompt, sizeof prompt),
        .settings = rig_up(s->r, set, sizeof set),
        .pin_prompt = shape != 2,
        .shared = shape == 6,
        .newest = shape == 8,
        .out = {rig_alloc(s->r, lists * SLOTS * 4), rig_alloc(s->r, lists * 4), rig_alloc(s->r, lists * 4),
                of_row, SLOTS}};
    float *v = malloc(lists * SLOTS * 4);
    rig_run(s->r, OP_random_scores, &a);
    rig_get(s->r, v, a.out.v, lists * SLOTS * 4);
    rig_get(s->r, n, a.out.n, lists * 4);
    rig_get(s->r, m, a.out.m, lists * 4);
    for (size_t i = 0; i < lists; i++) {
        int row = (int)i / of_row, h = (int)i % of_row, seq = s->seq[row], wrong = 0;
        if (seq < 0)
            continue;
        int live = set_length(seq), budget = a.params.cr > 0 ? total[seq] / 5 : 400;
        budget = budget > 9 ? budget : 9;
        int acts = live > budget && live % a.params.every == 0;
        CHECK_INT(n[i], acts ? live : 0);
        CHECK_INT(m[i], n[i]);
        for (int t = 0; t < n[i]; t++)
            wrong += v[i * SLOTS + (size_t)t] !=
                     plain_score(&a, &set[seq], s->pos[row], first + h / n_kv, h % n_kv, budget, t);
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

static void check_accumulate(struct set *s, int shape)
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
    struct accumulate_args a = {
        .rows = s->rows,
        .kv = *kv,
        .layer = LAYER,
        .prefill = prefill,
        .params = {.tokens = 500, .cr = shape % 2 ? 3 : 0, .min_tokens = 1, .every = 1},
        .len_of_seq = rig_up(s->r, total, sizeof total),
        .recent = 0.25,
        .state = rig_up(s->r, before, all * 4),
        .state_bytes = 2 * table * 4,
        .io = {rig_up(s->r, v, lists * SLOTS * 4), rig_up(s->r, n, lists * 4), rig_alloc(s->r, lists * 4),
               n_kv, SLOTS}};
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
    set_each(random_scores);
    rig_ran("heads with random scores", acted);
    set_each(check_accumulate);
    rig_ran("recent tokens", recents);
    rig_ran("slots without a token", dead);
    return check_done();
}
