/* RaaS as its released accuracy code has it (presets RaaS@...; docs/policies.md, raas): the policy's own
 * hooks run over a small cache and must choose, stamp and mask pages as the plain implementation below does,
 * per query head and, with scope=kv, per KV head. */
#include "engine/policies/policy.h"
#include "tests/kernels/rig.h"

enum { N_Q = 4, N_KV = 2, GROUP = N_Q / N_KV, D = 16, PAGES = 24, SLOTS = PAGES * 16, STEPS = 250 };

/* ---- the definition, over all keys so far */

struct repo {
    int budget, lists;
    double alpha; /* 0: the top half of the budget's pages is stamped */
    int stamp[N_Q][PAGES];
};

/* The k largest of v among `in`; of equal ones the lower index. */
static void top(const double *v, const int *in, int n, int k, int *out)
{
    for (int i = 0; i < n; i++) {
        int better = 0;
        for (int j = 0; j < n; j++)
            better += in[j] && (v[j] > v[i] || (v[j] == v[i] && j < i));
        out[i] = in[i] && better < k;
    }
}

/* The largest bound of the query heads that list has. */
static double page_bound(const struct cache *c, int lists, int list, const float *q, int page, int s)
{
    double best = -INFINITY;
    int heads = N_Q / lists;
    for (int head = list * heads; head < (list + 1) * heads; head++) {
        double sum = 0;
        for (int x = 0; x < D; x++) {
            double most = -INFINITY;
            for (int t = page * 16; t < page * 16 + 16 && t < s; t++)
                most = fmax(most,
                            (double)q[head * D + x] *
                                (double)c->k[((size_t)(head / GROUP) * SLOTS + (size_t)t) * D + (size_t)x]);
            sum += most;
        }
        best = fmax(best, sum);
    }
    return best;
}

/* One decode step of one list with context s: sel[page], and allowed[page], which no mask hides; returns
 * whether anything is masked. What is not attended to is not stamped. */
static int repo_step(struct repo *r, const struct cache *c, int h, const float *q, int s, int first, int *sel,
                     int *allowed)
{
    int n = (s + 15) / 16, k = (s < r->budget ? s : r->budget) / 16, all[PAGES], hit[PAGES], masked = 0;
    int half = r->budget / 16 / 2;
    k = k > 3 ? k : 3;
    double ub[PAGES], stamp[PAGES], sum = 0, most = -INFINITY;
    for (int p = 0; p < n; p++) {
        ub[p] = page_bound(c, r->lists, h, q, p, s);
        stamp[p] = r->stamp[h][p];
        all[p] = allowed[p] = 1;
    }
    if (!first && s > r->budget) {
        top(stamp, all, n, r->budget / 16, allowed);
        allowed[n - 1] = 1;
        for (int p = 0; p < n; p++)
            masked |= !allowed[p];
    }
    top(ub, allowed, n, k, sel);
    top(ub, allowed, n, half < k ? half : k, hit);
    for (int p = 0; p < n; p++)
        most = sel[p] ? fmax(most, ub[p]) : most;
    for (int p = 0; p < n; p++)
        sum += sel[p] ? exp(ub[p] - most) : 0;
    for (int p = 0; p < n; p++)
        if (r->alpha > 0 ? sel[p] && exp(ub[p] - most) / sum > r->alpha : hit[p])
            r->stamp[h][p] = s;
    return masked;
}

/* ---- the policy over a cache */

struct world {
    struct rig r;
    struct cache c;
    struct policy policy;
    struct policy_ctx ctx;
    struct arena arena;
    struct err e;
    float *qkv; /* device (1, (N_Q + 2 N_KV) D) */
    int32_t *row;
};

static void world_open(struct world *w, const char *spec, int prompt)
{
    memset(w, 0, sizeof *w);
    rig_open(&w->r, NULL, 1);
    cache_open(&w->c, &w->r, 1, 1, N_Q, N_KV, D, PAGES, DTYPE_F32);
    cache_prefill(&w->c, &w->r, 0, 0, prompt);
    CHECK_INT(policy_spec_text(&w->policy.spec, spec, &w->arena, &w->e), 0);
    struct policy *p = &w->policy;
    p->ops = p->spec.ops;
    p->params = p->spec.params;
    p->dims = (struct policy_dims){1, N_Q, N_KV, D, D, SLOTS, PAGES, 1, 1, 1, NULL};
    p->be = w->r.b;
    p->dev = w->r.d;
    p->state_bytes = p->ops->state_size(p);
    p->state = rig_alloc(&w->r, p->state_bytes);
    w->row = rig_alloc(&w->r, 2 * sizeof *w->row);
    w->qkv = rig_alloc(&w->r, (N_Q + 2 * N_KV) * D * sizeof(float));
    struct policy_ctx *c = &w->ctx;
    *c = (struct policy_ctx){.be = p->be,
                             .dev = p->dev,
                             .dims = p->dims,
                             .kv = w->c.kv,
                             .rows = {1, w->row, w->row + 1},
                             .prompt_len = rig_up(&w->r, &prompt, sizeof prompt),
                             .q = w->qkv,
                             .k = w->qkv + N_Q * D,
                             .v = w->qkv + (N_Q + N_KV) * D,
                             .qkv_stride = (N_Q + 2 * N_KV) * D,
                             .score = rig_alloc(&w->r, N_Q * SLOTS * sizeof(float)),
                             .score_n = rig_alloc(&w->r, N_Q * sizeof(int32_t)),
                             .score_m = rig_alloc(&w->r, N_Q * sizeof(int32_t)),
                             .state = p->state,
                             .state_bytes = p->state_bytes,
                             .n_prompt = prompt,
                             .e = &w->e};
    for (int i = 0; i < 2; i++)
        c->list[i] = (struct policy_list){rig_alloc(&w->r, N_Q * SLOTS * sizeof(int32_t)),
                                          rig_alloc(&w->r, N_Q * sizeof(int32_t)), SLOTS};
    p->ops->prefill_end(p, c);
}

/* Appends the token at pos and lets the policy choose; sel[list][page]. */
static void world_step(struct world *w, int pos, float *q, int lists, int sel[N_Q][PAGES])
{
    float qkv[(N_Q + 2 * N_KV) * D];
    int32_t row[2] = {0, pos}, idx[N_Q * PAGES], len[N_Q];
    struct selection s = {.granularity = SEL_LIVE, .n_rows = 1, .block_pages = 1};
    rig_fill(&w->r, qkv, sizeof qkv / sizeof *qkv);
    memcpy(q, qkv, N_Q * D * sizeof *q);
    rig_put(&w->r, w->qkv, qkv, sizeof qkv);
    rig_put(&w->r, w->row, row, sizeof row);
    struct append_args a = {
        .rows = w->ctx.rows, .kv = w->c.kv, .k = w->ctx.k, .v = w->ctx.v, .stride = w->ctx.qkv_stride};
    w->policy.ops->on_qkv(&w->policy, &w->ctx, 0);
    rig_run(&w->r, OP_append, &a);
    w->policy.ops->select(&w->policy, &w->ctx, 0, &s);
    for (int h = 0; h < N_KV; h++)
        memcpy(w->c.k + ((size_t)h * SLOTS + (size_t)pos) * D, qkv + (N_Q + h) * D, D * sizeof(float));
    CHECK(s.granularity == SEL_PAGES && s.n_rows == lists && s.cap == PAGES);
    rig_get(&w->r, idx, s.idx, (size_t)(lists * PAGES) * sizeof *idx);
    rig_get(&w->r, len, s.len, (size_t)lists * sizeof *len);
    memset(sel, 0, sizeof(int[N_Q][PAGES]));
    for (int h = 0; h < lists; h++) {
        for (int p = 0; len[h] < 0 && p <= pos / 16; p++)
            sel[h][p] = 1;
        for (int i = 0; i < len[h]; i++)
            sel[h][idx[h * PAGES + i]] = 1;
    }
}

static void compare(const char *spec, int prompt, int budget, double alpha, int lists)
{
    static struct world w;
    struct repo r = {.budget = budget, .lists = lists, .alpha = alpha};
    int sel[N_Q][PAGES], want[PAGES], allowed[PAGES], out[N_Q][PAGES] = {{0}};
    int masked = 0, back = 0, wrong = 0, short_of_one = 0;
    float q[N_Q * D];
    world_open(&w, spec, prompt);
    for (int pos = prompt; pos < prompt + STEPS; pos++) {
        world_step(&w, pos, q, lists, sel);
        int32_t stamp[N_Q * PAGES];
        for (int h = 0; h < lists; h++) {
            masked += repo_step(&r, &w.c, h, q, pos + 1, pos == prompt, want, allowed);
            for (int p = 0; p <= pos / 16; p++) {
                wrong += sel[h][p] != want[p];
                back += allowed[p] && out[h][p];
                out[h][p] = !allowed[p];
                short_of_one += pos < budget && !sel[h][p];
            }
        }
        rig_get(&w.r, stamp, w.policy.state, (size_t)(lists * PAGES) * sizeof *stamp);
        for (int h = 0; h < lists; h++)
            for (int p = 0; p <= pos / 16; p++)
                wrong += stamp[h * PAGES + p] != r.stamp[h][p];
        if (wrong) {
            fprintf(stderr, "%s: step %d differs from the definition\n", spec, pos - prompt);
            break;
        }
    }
    CHECK_INT(wrong, 0);
    CHECK_INT(w.e.code, 0);
    CHECK(budget >= prompt + STEPS ? masked == 0 : masked > STEPS);
    /* floor(S / 16) pages, before anything is masked */
    CHECK(short_of_one > 0 || budget <= (prompt + 16) / 16 * 16);
    CHECK_INT(back, 0); /* stamps only grow, so what is masked once stays masked */
    cache_close(&w.c);
    rig_close(&w.r);
    arena_release(&w.arena);
}

/* The other stored version reads everything in its first two layers. */
static void dense_layers(void)
{
    static struct world w;
    struct selection s = {.granularity = SEL_LIVE, .n_rows = 1, .block_pages = 1};
    world_open(&w, "raas:preset=RaaS@3ff39e7,budget_tokens=64", 100);
    w.policy.ops->select(&w.policy, &w.ctx, 0, &s);
    CHECK(s.granularity == SEL_LIVE);
    w.policy.ops->select(&w.policy, &w.ctx, 1, &s);
    CHECK(s.granularity == SEL_LIVE);
    cache_close(&w.c);
    rig_close(&w.r);
    arena_release(&w.arena);
}

int main(void)
{
    static const char released[] = "raas:preset=RaaS@22d925d,";
    char spec[128];
    static const struct {
        const char *options;
        int prompt, budget;
        double alpha;
        int lists;
    } rows[] = {
        {"budget_tokens=64", 100, 64, 0, N_Q},
        {"budget_tokens=96", 40, 96, 0, N_Q}, /* starts below its budget */
        {"budget_tokens=48", 33, 48, 0, N_Q},
        {"budget_tokens=32", 100, 32, 0, N_Q},    /* reads 3 pages, of which 2 or 3 are not masked */
        {"budget_tokens=130", 128, 130, 0, N_Q},  /* no whole pages: nothing is masked at S = 129 and 130 */
        {"budget_tokens=4096", 40, 4096, 0, N_Q}, /* nothing is masked, but a page is left out */
        {"budget_tokens=4096", 1, 4096, 0, N_Q},  /* fewer pages than the least that are read */
        {"budget_tokens=64,alpha=0.05,softmax_set=selected", 100, 64, 0.05, N_Q},
        {"budget_tokens=64,scope=kv", 100, 64, 0, N_KV},
        {"budget_tokens=96,scope=kv", 40, 96, 0, N_KV},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(spec, sizeof spec, "%s%s", released, rows[i].options);
        compare(spec, rows[i].prompt, rows[i].budget, rows[i].alpha, rows[i].lists);
    }
    dense_layers();
    return check_done();
}
