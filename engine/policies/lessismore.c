/* LessIsMore (arXiv 2508.07101): selection layers attend fully and choose one list of tokens for all heads;
 * the layers up to the next selection read it. Of k tokens m = floor(middle * k) are chosen, and the others
 * are the first `sinks` and the most recent.
 *
 * For the chosen ones each query head ranks the tokens between sinks and recent ones by its logits; rank 0 of
 * all heads, then rank 1 and so on are collected, without repeats, until there are m (OP_rank_union). The
 * authors' option lim_ratio is `middle`; Kascade's option of that name is 1 - middle. */
#include <math.h>

#include "engine/policies/layer_list.h"
#include "engine/policies/model_defaults.h"
#include "engine/policies/policies.h"
#include "engine/policies/policy.h"

struct lessismore_params {
    struct param_ints layers;
    int k_tokens, min_tokens, sinks;
    double ratio, middle;
};

#define P(field) offsetof(struct lessismore_params, field)
static const struct param lessismore_params[] = {
    {"k_tokens", PARAM_INT, P(k_tokens), NULL, 1, 1e9, NULL, "budget: tokens that a list holds"},
    {"ratio", PARAM_DOUBLE, P(ratio), NULL, 1e-6, 1, NULL,
     "budget: share of the context's tokens, at least min_tokens"},
    {"min_tokens", PARAM_INT, P(min_tokens), "128", 1, 1e9, NULL, "least tokens with ratio"},
    {"middle", PARAM_DOUBLE, P(middle), "0.75", 0, 1, NULL,
     "share of the list that is chosen; the rest are sinks and recent tokens"},
    {"sinks", PARAM_INT, P(sinks), "4", 0, 1e6, NULL,
     "first tokens of that rest; none, if the rest has fewer places"},
    {"layers", PARAM_INTS, P(layers), NULL, 0, 1000, NULL,
     "selection layers; default: those published for the model (run file: model_name)"},
    {0},
};
#undef P

static const struct preset lessismore_presets[] = {
    {"kascade", "ratio=0.1", "as measured in the Kascade paper: 10 % of the context, at least 128 tokens"},
    {"authors", "k_tokens=2048", "the authors' scripts: a fixed budget, 2,048 being the larger of theirs"},
    {0},
};

static int lessismore_check(const void *params, struct err *e)
{
    const struct lessismore_params *p = params;
    return isnan(p->ratio) ? policy_no_effect(&policy_lessismore, p, "min_tokens", "without ratio", e) : 0;
}

static int lessismore_resolve(struct policy_spec *s, const struct policy_model *m, struct arena *a,
                              struct err *e)
{
    struct lessismore_params *p = s->params;
    return model_defaults_layers(s, &p->layers, "layers", MODEL_DEFAULT_LESSISMORE, m, a, e);
}

static struct policy_budget lessismore_budget(const void *params, const struct budget_at *at)
{
    const struct lessismore_params *p = params;
    double tokens =
        p->k_tokens != PARAM_UNSET_INT ? p->k_tokens : fmax(p->ratio * at->context, p->min_tokens);
    return (struct policy_budget){tokens, tokens};
}

static void lessismore_describe_budget(const void *params, struct str *out)
{
    const struct lessismore_params *p = params;
    if (p->k_tokens != PARAM_UNSET_INT)
        str_printf(out, "%d tokens", p->k_tokens);
    else
        str_printf(out, "%g of the context's tokens, at least %d", p->ratio, p->min_tokens);
    str_printf(out,
               ", %g of them chosen, the others the first %d and the most recent, one list for all heads; "
               "selection layers and those below the first dense",
               p->middle, p->sinks);
}

/* The selection layer whose list this layer reads; -1: it reads everything. */
static int selection_of(const struct lessismore_params *p, int layer)
{
    if (layer_list_has(&p->layers, layer))
        return -1;
    while (--layer >= 0 && !layer_list_has(&p->layers, layer))
        ;
    return layer;
}

static void lessismore_select(const struct policy *pol, const struct policy_ctx *c, int layer,
                              struct selection *s)
{
    const struct lessismore_params *p = pol->params;
    int next = policy_next_full(&pol->dims, layer);
    if (next < pol->dims.n_layers && selection_of(p, next) == layer)
        s->want_stats = STATS_TOKENS;
    if (selection_of(p, layer) < 0)
        return;
    policy_read_tokens(c, 1, s);
}

static void lessismore_observe(const struct policy *pol, const struct policy_ctx *c, int layer)
{
    const struct lessismore_params *p = pol->params;
    struct topk_params topk = {.kind = TOPK_RATIO, .ratio = p->ratio, .min_tokens = p->min_tokens};
    if (p->k_tokens != PARAM_UNSET_INT)
        topk = (struct topk_params){.kind = TOPK_FIXED, .k = p->k_tokens};
    struct rank_union_args u = {.rows = c->rows,
                                .kv = c->kv,
                                .layer = layer,
                                .n_q = c->dims.n_q,
                                .in = c->stats,
                                .params = topk,
                                .middle = p->middle,
                                .sinks = p->sinks,
                                .out = policy_scores(c, 1, c->stats.stride)};
    policy_launch(c, OP_rank_union, &u);
    policy_topk(c, u.out, &topk, NULL, 0);
}

const struct policy_ops policy_lessismore = {
    .name = "lessismore",
    .help = "selection layers collect the best tokens of all heads by rank (LessIsMore, arXiv 2508.07101)",
    .params = lessismore_params,
    .params_size = sizeof(struct lessismore_params),
    .presets = lessismore_presets,
    .budget_keys = "ratio,k_tokens",
    .generous = "ratio=1",
    .tight = "ratio=0.2",
    .needs = POLICY_STATS,
    .check = lessismore_check,
    .resolve = lessismore_resolve,
    .budget = lessismore_budget,
    .describe_budget = lessismore_describe_budget,
    .select = lessismore_select,
    .observe = lessismore_observe,
};
