/* Expiry as DMS has it (prefill with expiry, compaction, decode) against its rule: a flagged key is visible
 * to queries at most `window` positions later. With sinks, as StreamingLLM has it. */
#include "tests/kernels/rig.h"

/* Tokens carry their number as key, so that what lives can be read back whatever slot it is in. Decision n
 * (made with token n) is about token n - shift. */
enum { D = 16, TOTAL = 150, CAP = 192 };

static int expired; /* tokens so far; with rig_small() there are fewer steps, but some tokens still expire */

struct dms_world {
    struct rig *r;
    struct cache c;
    int reach, shift;
    int sinks; /* above 0: these are never flagged, all others are, and no flags are given */
    int decision[TOTAL];
    int32_t *dev, *flags; /* rows: seq, then pos, of every token; its decision */
    float *k;
    char *state;
    size_t state_bytes;
};

static void dms_open(struct dms_world *w, int percent, enum dtype t)
{
    struct rig *r = w->r;
    float k[TOTAL * D];
    int32_t ids[2 * TOTAL];
    cache_open(&w->c, r, 2, 1, 1, 1, D, CAP / 16, t);
    for (int i = 0; i < TOTAL; i++) {
        w->decision[i] = rig_below(r, 100) < percent;
        ids[i] = 1;
        ids[TOTAL + i] = i;
    }
    for (int i = 0; i < TOTAL * D; i++)
        k[i] = (float)(i / D);
    w->dev = rig_up(r, ids, sizeof ids);
    w->flags = rig_up(r, w->decision, sizeof w->decision);
    w->k = rig_up(r, k, sizeof k);
    w->state_bytes = (size_t)(2 * w->reach) * 4 + 64;
    w->state = rig_alloc(r, 2 * w->state_bytes);
}

/* The prompt in one piece; its flags in two. */
static void dms_prefill(struct dms_world *w, int prompt)
{
    int32_t *until = rig_alloc(w->r, CAP * 4), *ring = (int32_t *)(void *)(w->state + w->state_bytes + 64);
    int half = prompt / 2;
    struct append_args ap = {.rows = {prompt, w->dev, w->dev + TOTAL},
                             .kv = w->c.kv,
                             .prefill = 1,
                             .k = w->k,
                             .v = w->k,
                             .stride = D};
    struct until_args ua = {
        {half, w->dev, w->dev + TOTAL}, w->flags, until, CAP, 1, w->reach, w->shift, w->sinks};
    struct compact_args co = {.kv = w->c.kv,
                              .seq = 1,
                              .n = prompt,
                              .n_layers = 1,
                              .until = until,
                              .until_stride = w->sinks ? 0 : CAP,
                              .ring_slot = ring,
                              .ring_flag = ring + w->reach,
                              .reach = w->reach};
    rig_run(w->r, OP_append, &ap);
    if (w->sinks)
        ua.flag = NULL;
    rig_run(w->r, OP_until, &ua);
    ua.rows = (struct rows){prompt - half, w->dev + half, w->dev + TOTAL + half};
    if (!w->sinks)
        ua.flag = w->flags + half;
    rig_run(w->r, OP_until, &ua);
    rig_run(w->r, OP_compact, &co);
}

static void dms_step(struct dms_world *w, int n)
{
    struct rows row = {1, w->dev + n, w->dev + TOTAL + n};
    struct expire_args ex = {
        row,      w->c.kv,  0,       w->state, w->state_bytes, 64, w->sinks ? NULL : w->flags + n,
        w->reach, w->shift, w->sinks};
    struct append_args one = {.rows = row, .kv = w->c.kv, .k = w->k + n * D, .v = w->k + n * D, .stride = D};
    rig_run(w->r, OP_expire, &ex);
    rig_run(w->r, OP_append, &one);
}

/* Which tokens live after token n: their keys are read back through qk_stats. */
static void dms_compare(struct dms_world *w, int n, int window)
{
    static float logits[CAP];
    uint8_t seen[TOTAL] = {0};
    uint16_t live[CAP / 16];
    float q[D] = {1};
    int owned = w->r->n_owned;
    struct stats st = {rig_alloc(w->r, sizeof logits), rig_alloc(w->r, 4), CAP, 0};
    struct qk_stats_args qa = {
        {1, w->dev, w->dev + TOTAL}, w->c.kv, 0, 1, rig_up(w->r, q, sizeof q), D, 1, st, {0}};
    rig_get(w->r, live, w->c.kv.live + CAP / 16, sizeof live);
    rig_run(w->r, OP_qk_stats, &qa);
    rig_get(w->r, logits, st.logits, sizeof logits);
    while (w->r->n_owned > owned)
        w->r->b->release(w->r->d, w->r->owned[--w->r->n_owned]);
    for (int s = 0; s < CAP; s++)
        if (live[s / 16] >> s % 16 & 1)
            seen[(int)logits[s]]++;
    for (int i = 0; i < TOTAL; i++) {
        int by = i + w->shift, flagged = by <= n && by < TOTAL && w->decision[by] && i >= w->sinks;
        CHECK_INT(seen[i], i <= n && !(flagged && n - i > window));
        expired += flagged && n - i > window;
    }
}

static void check_dms(struct rig *r, int prompt, int window, int shift, int percent, int sinks, enum dtype t)
{
    struct dms_world w = {.r = r, .reach = window + 1, .shift = shift, .sinks = sinks};
    dms_open(&w, percent, t);
    if (prompt)
        dms_prefill(&w, prompt);
    int to = rig_small() && prompt + 20 < TOTAL ? prompt + 20 : TOTAL, apart = rig_small() ? 4 : 1;
    for (int n = prompt ? prompt - 1 : 0; n < to; n++) {
        if (n >= prompt)
            dms_step(&w, n);
        if ((to - 1 - n) % apart == 0)
            dms_compare(&w, n, window);
    }
    cache_close(&w.c);
}

int main(void)
{
    struct rig r;
    rig_open(&r, NULL, 1);
    check_dms(&r, 70, 16, 0, 50, 0, DTYPE_F32);
    check_dms(&r, 0, 16, 0, 50, 0, DTYPE_F32);
    check_dms(&r, 70, 7, 1, 50, 0, DTYPE_BF16);
    check_dms(&r, 0, 7, 1, 50, 0, DTYPE_F32);
    check_dms(&r, 70, 16, 1, 100, 0, DTYPE_F32);
    check_dms(&r, 70, 16, 0, 0, 0, DTYPE_F32);
    check_dms(&r, 5, 16, 1, 100, 0, DTYPE_F32);
    check_dms(&r, 70, 7, 7, 50, 0, DTYPE_F32); /* a token goes in the step that decides about it */
    check_dms(&r, 0, 16, 12, 50, 0, DTYPE_F32);
    check_dms(&r, 17, 16, 0, 100, 0, DTYPE_F32);
    check_dms(&r, 70, 16, 0, 100, 4, DTYPE_F32); /* StreamingLLM */
    check_dms(&r, 0, 16, 0, 100, 4, DTYPE_BF16);
    check_dms(&r, 3, 9, 0, 100, 5, DTYPE_F32);
    rig_ran("tokens seen to be expired", expired);
    rig_close(&r);
    return check_done();
}
