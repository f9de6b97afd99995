/* What is alive and where: random appends and drops against a plain model of slots, page bounds after slots
 * are used again, and RaaS's evictions against a model of pages. */
#include "tests/kernels/rig.h"

enum { D = 16, PAGES = 12, SLOTS = PAGES * 16, N_KV = 2 };

/* Tokens so far. With rig_small() there are fewer steps, but some tokens are still dropped and RaaS still
 * evicts a page. */
static int dropped;

/* ---- appends and drops */

struct model {
    int live[SLOTS], n, tail;
    float key[SLOTS][D];
    float low[PAGES][D], high[PAGES][D];
};

static int model_next(const struct model *m)
{
    int t = m->tail + 1;
    if (t > 0 && t % 16 && (t == m->n || (t < m->n && !m->live[t])))
        return t;
    for (int i = 0; i < m->n; i++)
        if (!m->live[i])
            return i;
    return m->n;
}

static void model_append(struct model *m, const float *k)
{
    int s = model_next(m), p = s / 16, any = 0;
    for (int i = p * 16; i < p * 16 + 16; i++)
        any |= m->live[i];
    for (int j = 0; j < D; j++) {
        m->low[p][j] = any ? fminf(m->low[p][j], k[j]) : k[j];
        m->high[p][j] = any ? fmaxf(m->high[p][j], k[j]) : k[j];
        m->key[s][j] = k[j];
    }
    m->live[s] = 1;
    m->tail = s;
    m->n = s == m->n ? s + 1 : m->n;
}

static void compare_heads(struct rig *r, const struct kv_view *kv, int head, const struct model *m)
{
    uint16_t live[PAGES];
    int32_t n, n_live, tail, block_table[PAGES], count = 0;
    float bounds[2 * D];
    rig_get(r, live, kv->live + head * PAGES, sizeof live);
    rig_get(r, block_table, kv->block_table + head * PAGES, sizeof block_table);
    rig_get(r, &n, kv->n_slots + head, 4);
    rig_get(r, &n_live, kv->n_live + head, 4);
    rig_get(r, &tail, kv->tail + head, 4);
    CHECK_INT(n, m->n);
    CHECK_INT(tail, m->tail);
    for (int s = 0; s < SLOTS; s++) {
        count += m->live[s];
        CHECK((live[s / 16] >> s % 16 & 1) == m->live[s]);
    }
    CHECK_INT(n_live, count);
    for (int p = 0; p < PAGES; p++) {
        if (!live[p])
            continue;
        size_t at = (size_t)block_table[p] * 2 * D;
        if (kv->dtype == DTYPE_BF16) { /* the smallest rounded key is the smallest key, rounded */
            const uint16_t *stored = (const uint16_t *)kv->bounds + at;
            CHECK(rig_is_rounded(r, stored, m->low[p], D) && rig_is_rounded(r, stored + D, m->high[p], D));
            continue;
        }
        rig_get(r, bounds, (const float *)kv->bounds + at, sizeof bounds);
        for (int j = 0; j < D; j++)
            CHECK(bounds[j] == m->low[p][j] && bounds[D + j] == m->high[p][j]);
    }
}

static void check_appends(struct rig *r, enum dtype type)
{
    struct cache c;
    static struct model m[2 * N_KV];
    cache_open(&c, r, 2, 1, 4, N_KV, D, PAGES, type);
    memset(m, 0, sizeof m);
    for (int h = 0; h < 2 * N_KV; h++)
        m[h].tail = -1;
    int32_t ids[4] = {1, 0};
    int32_t *dev = rig_up(r, ids, sizeof ids);
    float kv_rows[2][2 * N_KV * D];
    float *rows = rig_alloc(r, sizeof kv_rows);
    struct append_args a = {
        .rows = {2, dev, dev + 2}, .kv = c.kv, .k = rows, .v = rows + N_KV * D, .stride = 2 * N_KV * D};
    struct drop_list_args d = {.rows = {2, dev, dev + 2}, .kv = c.kv, .cap = SLOTS};
    static int32_t idx[2 * N_KV][SLOTS];
    int32_t len[2 * N_KV];
    int32_t *idx_dev = rig_alloc(r, sizeof idx), *len_dev = rig_alloc(r, sizeof len);
    d.idx = idx_dev;
    d.len = len_dev;
    for (int step = 0; step < (rig_small() ? 60 : 400); step++) {
        rig_fill(r, kv_rows[0], sizeof kv_rows / 4);
        rig_put(r, rows, kv_rows, sizeof kv_rows);
        rig_run(r, OP_append, &a);
        for (int row = 0; row < 2; row++)
            for (int h = 0; h < N_KV; h++)
                model_append(&m[ids[row] * N_KV + h], kv_rows[row] + h * D);
        for (int l = 0; l < 2 * N_KV; l++) {
            struct model *x = &m[ids[l / N_KV] * N_KV + l % N_KV];
            int crowded = x->n > SLOTS - 20;
            len[l] = 0;
            for (int s = 0; s < x->n; s++)
                if (rig_below(r, 100) < (crowded ? 20 : 2) + (step % 50 == 49 ? 40 : 0)) {
                    idx[l][len[l]++] = s; /* dead ones too: dropping twice changes nothing */
                    dropped += x->live[s];
                    x->live[s] = 0;
                }
        }
        rig_put(r, idx_dev, idx, sizeof idx);
        rig_put(r, len_dev, len, sizeof len);
        rig_run(r, OP_drop_list, &d);
        for (int h = 0; h < 2 * N_KV; h++)
            compare_heads(r, &c.kv, h, &m[h]);
    }
    cache_close(&c);
}

/* ---- RaaS */

struct raas_page {
    int alive, stamp, born;
};

/* Pages by birth, as the published definition has them; the cache may put a new page where an old one was. */
struct raas_world {
    struct rig *r;
    struct cache c;
    struct raas_page page[64];
    int slot_of[64]; /* page of the cache */
    int n, prompt, budget, pinned, pin_counts, new_stamp, evicted;
    int32_t *row, *lists;
    char *state;
    float *k;
};

enum { RAAS_PAGES = 32, RAAS_STATE = 2 * RAAS_PAGES * 4 };

static void raas_open(struct raas_world *w, int pin)
{
    struct rig *r = w->r;
    int32_t state[2 * RAAS_PAGES], row[2] = {0, w->prompt};
    cache_open(&w->c, r, 1, 1, 1, 1, D, RAAS_PAGES, DTYPE_F32);
    cache_prefill(&w->c, r, 0, 0, w->prompt);
    w->n = (w->prompt + 15) / 16;
    w->pinned = pin ? w->n : 0;
    for (int i = 0; i < w->n; i++) {
        w->page[i] = (struct raas_page){1, w->prompt, 0};
        w->slot_of[i] = i;
    }
    for (int i = 0; i < 2 * RAAS_PAGES; i++)
        state[i] = i < RAAS_PAGES ? w->prompt : 0;
    w->row = rig_up(r, row, sizeof row);
    w->state = rig_up(r, state, sizeof state);
    w->k = rig_alloc(r, D * 4);
    w->lists = rig_alloc(r, 8);
}

/* Makes room in the model: over budget, the page with the oldest stamp goes; of equal ones the first born. */
static void raas_model(struct raas_world *w, int pos)
{
    int over = -w->budget;
    if (pos % 16 == 0)
        w->page[w->n++] = (struct raas_page){1, w->new_stamp ? pos + 1 : 0, pos + 1};
    for (int i = w->pin_counts ? 0 : w->pinned; i < w->n; i++)
        over += w->page[i].alive;
    for (; over > 0; over--) {
        int worst = -1;
        for (int i = w->pinned; i < w->n - 1; i++)
            if (w->page[i].alive && (worst < 0 || w->page[i].stamp < w->page[worst].stamp))
                worst = i;
        if (worst >= 0)
            w->page[worst].alive = 0;
        w->evicted += worst >= 0;
    }
}

static void raas_compare(struct raas_world *w, int pos)
{
    int32_t tail, n_live, want = 0;
    uint16_t live[RAAS_PAGES], expect[RAAS_PAGES] = {0};
    rig_get(w->r, &tail, w->c.kv.tail, 4);
    rig_get(w->r, live, w->c.kv.live, sizeof live);
    rig_get(w->r, &n_live, w->c.kv.n_live, 4);
    w->slot_of[w->n - 1] = tail / 16;
    for (int i = 0; i < w->n; i++) {
        int tokens = i == w->n - 1 ? pos % 16 + 1 : 16;
        if (w->page[i].alive) {
            expect[w->slot_of[i]] = (uint16_t)((1u << tokens) - 1);
            want += tokens;
        }
    }
    CHECK(memcmp(live, expect, sizeof live) == 0);
    CHECK_INT(n_live, want);
}

/* Some page is stamped now and then. */
static void raas_stamp(struct raas_world *w, int pos)
{
    struct stamp_args st = {.rows = {1, w->row, w->row + 1},
                            .kv = w->c.kv,
                            .state = w->state,
                            .state_bytes = RAAS_STATE,
                            .idx = w->lists,
                            .len = w->lists + 1,
                            .cap = 1,
                            .s = {.n_rows = 1}};
    int32_t list[2] = {0, 1}, state[2 * RAAS_PAGES];
    int pick = rig_below(w->r, w->n);
    if (w->page[pick].alive && pos % 3 == 0) {
        w->page[pick].stamp = pos + 1;
        list[0] = w->slot_of[pick];
        rig_put(w->r, w->lists, list, sizeof list);
        rig_run(w->r, OP_stamp, &st);
    }
    rig_get(w->r, state, w->state, sizeof state);
    for (int i = 0; i < w->n; i++)
        if (w->page[i].alive)
            CHECK_INT(state[w->slot_of[i]], w->page[i].stamp);
}

/* The same stamps as scores. */
static void raas_scores(struct raas_world *w)
{
    float *v = rig_alloc(w->r, RAAS_PAGES * 4), have[RAAS_PAGES];
    int32_t *nm = rig_alloc(w->r, 8), counts[2], alive = 0;
    struct load_stamps_args ls = {{1, w->row, w->row + 1},       w->c.kv, 0, w->state, RAAS_STATE,
                                  {v, nm, nm + 1, 1, RAAS_PAGES}};
    rig_run(w->r, OP_load_stamps, &ls);
    rig_get(w->r, have, v, sizeof have);
    rig_get(w->r, counts, nm, sizeof counts);
    for (int i = 0; i < w->n; i++)
        if (w->page[i].alive) {
            CHECK(have[w->slot_of[i]] == (float)w->page[i].stamp);
            alive++;
        }
    CHECK_INT(counts[1], alive);
}

static void check_raas(struct rig *r, int prompt, int budget, int pin, int pin_counts, int new_stamp)
{
    struct raas_world w = {
        .r = r, .prompt = prompt, .budget = budget, .pin_counts = pin_counts, .new_stamp = new_stamp};
    raas_open(&w, pin);
    struct drop_lowest_args dl = {{1, w.row, w.row + 1}, w.c.kv, 0,   w.state,    RAAS_STATE,
                                  rig_up(r, &prompt, 4), budget, pin, pin_counts, new_stamp};
    struct append_args ap = {.rows = {1, w.row, w.row + 1}, .kv = w.c.kv, .k = w.k, .v = w.k, .stride = D};
    for (int pos = prompt; pos < prompt + 250; pos++) {
        if (rig_small() && w.evicted && pos % 16 > 3)
            break; /* some tokens are in the evicted page's place */
        int32_t row[2] = {0, pos};
        rig_put(r, w.row, row, sizeof row);
        rig_run(r, OP_drop_lowest, &dl);
        rig_run(r, OP_append, &ap);
        raas_model(&w, pos);
        raas_compare(&w, pos);
        raas_stamp(&w, pos);
    }
    raas_scores(&w);
    rig_ran("pages evicted by RaaS", w.evicted);
    cache_close(&w.c);
}

static void stamp_by_mass(struct rig *r)
{
    struct cache c;
    cache_open(&c, r, 1, 1, 1, 1, D, 4, DTYPE_F32);
    cache_prefill(&c, r, 0, 0, 60);
    float v[4] = {1, -INFINITY, 3, 2.5f};
    int32_t ids[2] = {0, 59}, n[2] = {4, 3}, state[8] = {5, 6, 7, 8};
    int32_t *dev = rig_up(r, ids, sizeof ids), *dn = rig_up(r, n, sizeof n);
    struct stamp_args a = {.rows = {1, dev, dev + 1},
                           .kv = c.kv,
                           .state = rig_up(r, state, sizeof state),
                           .state_bytes = 32,
                           .s = {rig_up(r, v, sizeof v), dn, dn + 1, 1, 4},
                           .alpha = 0.3f};
    rig_run(r, OP_stamp, &a); /* masses .077, -, .571, .346... */
    rig_get(r, state, a.state, sizeof state);
    CHECK_INT(state[0], 5);
    CHECK_INT(state[1], 6);
    CHECK_INT(state[2], 60);
    CHECK_INT(state[3], 60);
    cache_close(&c);
}

int main(void)
{
    struct rig r;
    rig_open(&r, NULL, 1);
    check_appends(&r, DTYPE_F32);
    check_appends(&r, DTYPE_BF16);
    rig_ran("tokens dropped", dropped);
    rig_close(&r);
    rig_open(&r, NULL, 1);
    check_raas(&r, 40, 3, 1, 0, 1);
    check_raas(&r, 32, 3, 1, 0, 1);
    check_raas(&r, 40, 5, 1, 1, 1);
    check_raas(&r, 40, 4, 0, 0, 1);
    check_raas(&r, 17, 3, 0, 0, 0);
    check_raas(&r, 100, 2, 1, 1, 1);
    stamp_by_mass(&r);
    rig_close(&r);
    return check_done();
}
