/* DeltaLLM's keys against Eq. 2 to 4 done plainly: a prompt at once, then token by token. Keys are read back
 * through qk_stats with one channel of the query at a time. */
#include "tests/kernels/rig.h"

enum { D = 16, N_KV = 2, SEQ = 1, LAYER = 1, MOST = 80, PAGES = 5, SLOTS = PAGES * 16 };

static long held; /* channels that kept an earlier value */

/* What the cache must hold after token n - 1: the keys of the mirror, or khat of those that are old enough.
 */
static void hold_reference(const struct cache *c, int h, int n, int window, float theta, float *want)
{
    const float *k = c->k + (size_t)cache_head(c, SEQ, LAYER, h) * (size_t)c->max_slots * D;
    for (int t = 0; t < n; t++)
        for (int i = 0; i < D; i++) {
            int keep = t > 0 && t <= n - 1 - window && !(fabsf(k[t * D + i] - want[(t - 1) * D + i]) > theta);
            want[t * D + i] = keep ? want[(t - 1) * D + i] : k[t * D + i];
            held += keep;
        }
}

static void compare_keys(struct rig *r, struct cache *c, int n, int window, float theta)
{
    static float logits[N_KV * SLOTS], want[MOST * D];
    int32_t ids[2] = {SEQ, n - 1};
    int owned = r->n_owned;
    int32_t *dev = rig_up(r, ids, sizeof ids);
    struct stats st = {rig_alloc(r, sizeof logits), rig_alloc(r, N_KV * sizeof(float)), SLOTS, 0};
    for (int i = 0; i < D; i++) {
        float q[N_KV * D] = {0};
        q[i] = q[D + i] = 1;
        struct qk_stats_args a = {{1, dev, dev + 1}, c->kv, LAYER, N_KV, rig_up(r, q, sizeof q),
                                  N_KV * D,          1,     st,    {0}};
        rig_run(r, OP_qk_stats, &a);
        rig_get(r, logits, st.logits, sizeof logits);
        for (int h = 0; h < N_KV; h++) {
            hold_reference(c, h, n, window, theta, want);
            for (int t = 0; t < n; t++)
                CHECK_NEAR(logits[h * SLOTS + t], want[t * D + i], 0);
        }
    }
    while (r->n_owned > owned)
        r->b->release(r->d, r->owned[--r->n_owned]);
}

/* The counts of a step (of none: prompt) after token n - 1: what the reference keeps is not read, and the
 * window is read whole. `elements` are the sums so far. */
static void check_counts(struct rig *r, const struct cache *c, int n, int window, float theta, int is_step,
                         int64_t elements[N_KV])
{
    static float want[MOST * D];
    int64_t moved[2 * 2 * N_KV], read[2 * 2 * N_KV];
    rig_get(r, moved, c->kv.keys_moved, sizeof moved);
    rig_get(r, read, c->kv.key_elements, sizeof read);
    for (int i = 0; i < 2 * 2 * N_KV; i++) {
        int h = i - cache_head(c, SEQ, LAYER, 0), old = n > window ? n - window : 0;
        long before = held;
        if (h < 0 || h >= N_KV) {
            CHECK(!moved[i] && !read[i]);
            continue;
        }
        hold_reference(c, h, n, window, theta, want);
        int64_t not_held = (int64_t)old * D - (held - before);
        elements[h] += is_step ? not_held + (n - old) * D : 0;
        CHECK_INT(moved[i], not_held);
        CHECK_INT(read[i], elements[h]);
        held = before;
    }
}

static void make_world(struct rig *r, int prompt, int window, float theta, enum dtype t)
{
    struct cache c;
    int64_t elements[N_KV] = {0};
    size_t state_bytes = 2 * N_KV * D * sizeof(float);
    cache_open(&c, r, 2, 2, N_KV, N_KV, D, PAGES, t);
    char *state = rig_alloc(r, 2 * state_bytes);
    struct hold_keys_args a = {.kv = c.kv,
                               .layer = LAYER,
                               .seq = SEQ,
                               .n = prompt,
                               .state = state,
                               .state_bytes = state_bytes,
                               .window = window,
                               .theta = theta};
    cache_prefill(&c, r, SEQ, 0, prompt);
    rig_run(r, OP_hold_keys, &a);
    compare_keys(r, &c, prompt, window, theta);
    check_counts(r, &c, prompt, window, theta, 0, elements);
    a.n = 0;
    for (int n = prompt; n < prompt + 20; n++) {
        int32_t ids[4] = {-1, SEQ, n, n};
        int32_t *dev = rig_up(r, ids, sizeof ids);
        cache_prefill(&c, r, SEQ, n, 1);
        a.rows = (struct rows){2, dev, dev + 2};
        rig_run(r, OP_hold_keys, &a);
        check_counts(r, &c, n + 1, window, theta, 1, elements);
        if (n % 5 == 0)
            compare_keys(r, &c, n + 1, window, theta);
    }
    compare_keys(r, &c, prompt + 20, window, theta);
    cache_close(&c);
}

int main(void)
{
    struct rig r;
    rig_open(&r, NULL, 2);
    make_world(&r, 40, 4, 0.7f, DTYPE_F32);
    make_world(&r, 1, 4, 0.7f, DTYPE_F32);
    make_world(&r, 5, 4, 1.3f, DTYPE_BF16);
    make_world(&r, 33, 1, 0.2f, DTYPE_F32);
    long before = held;
    make_world(&r, 40, 4, 0, DTYPE_F32); /* every change counts */
    CHECK_INT(held - before, 0);
    rig_ran("channels held", (int)before);
    rig_close(&r);
    return check_done();
}
