/* H2O (Zhang et al., arXiv 2306.14048): each KV head keeps the most recent tokens and the heavy hitters,
 * those that have been attended to most since they came. What a token has been attended to is summed over all
 * queries of the prompt and all decode steps; who is forgotten takes its sum along.
 *
 * The paper sums per query head. K and V are stored per KV head, so here the sum is over the group too. A
 * prompt is read densely and then cut to the budget. While decoding, a new token takes a freed slot, and
 * which tokens are recent is known from their positions, which lie beside the sums. */
#include <math.h>

#include "engine/policies/evict.h"
#include "engine/policies/policies.h"

enum { TILE = 128, TABLES = 2 }; /* queries of a prompt whose sum is added at once; sums and positions */

struct h2o_params {
    int budget_tokens;
    double cr, recent;
};

#define P(field) offsetof(struct h2o_params, field)
static const struct param h2o_params[] = {
    EVICT_PARAMS(P(budget_tokens), P(cr)),
    {"recent", PARAM_DOUBLE, P(recent), "0.5", 0, 1, NULL, "share of the budget for the most recent tokens"},
    {0},
};
#undef P

static const struct preset h2o_presets[] = {
    {"paper", "", "half recent, half heavy hitters (the defaults)"},
    {"dms", "", "as measured by the DMS paper; give cr"},
    {0},
};

static struct keep_params keep_params_of(const struct h2o_params *p)
{
    return evict_rule(p->budget_tokens, p->cr, 1, 0);
}

/* A step reads the current token too, and then forgets one. */
static struct policy_budget h2o_budget(const void *params, const struct budget_at *at)
{
    const struct keep_params r = keep_params_of(params);
    return evict_budget_each_step(&r, at);
}

static double h2o_held(const void *params, const struct budget_at *at)
{
    return h2o_budget(params, at).whole;
}

static void h2o_describe_budget(const void *params, struct str *out)
{
    const struct h2o_params *p = params;
    const struct keep_params r = keep_params_of(p);
    evict_rule_text(&r, out);
    str_printf(out,
               " kept per KV head: a share of %g the most recent, the others those attended to most so far",
               p->recent);
}

static size_t h2o_state(const struct policy *pol)
{
    return TABLES * sizeof(float) * (size_t)pol->dims.n_layers * (size_t)pol->dims.n_kv *
           (size_t)pol->dims.max_pages * KV_PAGE_TOKENS;
}

static void add_mass(const struct policy *pol, const struct policy_ctx *c, int layer, struct scores mass)
{
    const struct h2o_params *p = pol->params;
    struct accumulate_args a = {.rows = c->rows,
                                .kv = c->kv,
                                .layer = layer,
                                .prefill = c->prefill,
                                .params = keep_params_of(p),
                                .len_of_seq = c->total_len,
                                .recent = p->recent,
                                .state = c->state,
                                .state_bytes = c->state_bytes,
                                .io = mass};
    policy_launch(c, OP_accumulate, &a);
}

static void h2o_select(const struct policy *pol, const struct policy_ctx *c, int layer, struct selection *s)
{
    (void)pol, (void)c, (void)layer;
    s->want_stats = STATS_TOKENS;
}

static void h2o_observe(const struct policy *pol, const struct policy_ctx *c, int layer)
{
    const struct keep_params keep = keep_params_of(pol->params);
    struct scores mass =
        policy_reduce_stats(c, layer,
                            (struct reduce_stats_args){
                                .mode = REDUCE_SUM, .out = policy_scores(c, c->dims.n_kv, c->stats.stride)});
    add_mass(pol, c, layer, mass);
    evict_keep(c, layer, mass, &keep, 0, 0);
}

/* Every chunk's attention is looked at a second time, for its masses. */
static void h2o_select_prefill(const struct policy *pol, const struct policy_ctx *c, int layer,
                               struct prefill_selection *s)
{
    (void)pol, (void)c, (void)layer;
    s->scanned = 1;
}

/* The lists of the tile that comes `tiles` after the first one. */
static struct scores tile_of(struct scores s, int tiles)
{
    size_t lists = (size_t)tiles * (size_t)s.n_rows;
    return (struct scores){s.v + lists * (size_t)s.stride, s.n + lists, s.m + lists, s.n_rows, s.stride};
}

/* The masses that a chunk of the prompt gives, of as many tiles at once as there is scratch for: a single one
 * would leave most of a GPU idle. Each tile is added on its own, in order, and tiles begin at the same
 * positions whatever the chunks are. */
static void h2o_on_attn_out(const struct policy *pol, const struct policy_ctx *c, int layer)
{
    const struct keep_params keep = keep_params_of(pol->params);
    struct scores all = policy_scores(c, c->dims.n_kv, c->dims.max_pages * KV_PAGE_TOKENS), mass = all;
    struct policy_ctx some = *c, one = *c;
    int most = TILE * c->dims.max_batch;
    if (!c->prefill)
        return;
    for (int at = 0; at < c->nq; at += some.nq) {
        some.pos0 = c->pos0 + at;
        some.nq = c->nq - at < most ? c->nq - at : most;
        some.q = c->q + (size_t)at * (size_t)c->qkv_stride;
        policy_prefill_mass(&some, layer, (struct prefill_mass_args){.tile = TILE, .out = all});
        for (int t = 0; t * TILE < some.nq; t++) {
            int end = at + (some.nq < (t + 1) * TILE ? some.nq : (t + 1) * TILE);
            one.rows = (struct rows){1, c->rows.seq + end - 1, c->rows.pos + end - 1};
            mass = tile_of(all, t);
            add_mass(pol, &one, layer, mass);
        }
    }
    if (policy_at_end(c))
        evict_keep(&one, layer, mass, &keep, 1, TABLES);
}

const struct policy_ops policy_h2o = {
    .name = "h2o",
    .help = "keeps recent tokens and those attended to most since they came (H2O, arXiv 2306.14048)",
    .params = h2o_params,
    .params_size = sizeof(struct h2o_params),
    .presets = h2o_presets,
    .preset_by_cr = "dms",
    .budget_keys = "budget_tokens,cr",
    .generous = "budget_tokens=4096",
    .tight = "budget_tokens=60",
    .needs = POLICY_DROP | POLICY_STATS | POLICY_PREFILL,
    .budget = h2o_budget,
    .held = h2o_held,
    .describe_budget = h2o_describe_budget,
    .state_size = h2o_state,
    .select = h2o_select,
    .observe = h2o_observe,
    .on_attn_out = h2o_on_attn_out,
    .select_prefill = h2o_select_prefill,
};
