/* TOVA (Oren et al., arXiv 2401.06104): after each step the token that the current query attends to least is
 * forgotten, so that the budget is kept. Its attention is the mean over all query heads, and one set of
 * tokens is kept for all KV heads of a layer. Nothing is forced: the current token may go too.
 *
 * A prompt is read densely, and then cut to the budget by the attention of its last query. While decoding, a
 * new token takes a freed slot, in the same place in all heads of a layer. */
#include <math.h>

#include "engine/policies/evict.h"
#include "engine/policies/policies.h"

struct tova_params {
    int budget_tokens;
    double cr;
};

#define P(field) offsetof(struct tova_params, field)
static const struct param tova_params[] = {EVICT_PARAMS(P(budget_tokens), P(cr)), {0}};
#undef P

static const struct preset tova_presets[] = {
    {"paper", "", "the paper and its code (the defaults)"},
    {"dms", "", "as measured by the DMS paper; give cr"},
    {0},
};

static struct keep_params keep_params_of(const struct tova_params *p)
{
    return evict_rule(p->budget_tokens, p->cr, 1, 0);
}

/* A step reads the current token too, and then forgets one. */
static struct policy_budget tova_budget(const void *params, const struct budget_at *at)
{
    const struct keep_params r = keep_params_of(params);
    return evict_budget_each_step(&r, at);
}

static double tova_held(const void *params, const struct budget_at *at)
{
    return tova_budget(params, at).whole;
}

static void tova_describe_budget(const void *params, struct str *out)
{
    const struct keep_params r = keep_params_of(params);
    evict_rule_text(&r, out);
    str_puts(out, " kept per layer, the same ones for all KV heads; each step the least attended goes");
}

/* The mean over all heads of the probabilities in c->stats. */
static void forget_tokens(const struct policy *pol, const struct policy_ctx *c, int layer, int squeeze)
{
    const struct keep_params keep = keep_params_of(pol->params);
    struct scores mean = policy_reduce_stats(
        c, layer,
        (struct reduce_stats_args){.mode = REDUCE_MEAN, .out = policy_scores(c, 1, c->stats.stride)});
    evict_keep(c, layer, mean, &keep, squeeze, 0);
}

static void tova_select(const struct policy *pol, const struct policy_ctx *c, int layer, struct selection *s)
{
    (void)pol, (void)c, (void)layer;
    s->want_stats = STATS_TOKENS;
}

static void tova_observe(const struct policy *pol, const struct policy_ctx *c, int layer)
{
    forget_tokens(pol, c, layer, 0);
}

/* The end of the prompt: its last query looks at all keys once more. */
static void tova_on_attn_out(const struct policy *pol, const struct policy_ctx *c, int layer)
{
    const struct keep_params keep = keep_params_of(pol->params);
    if (!policy_at_end(c) || !evict_may_act(&keep, c->n_prompt))
        return;
    struct policy_ctx one = policy_last_row(c);
    policy_qk_stats(&one, layer, one.stats);
    forget_tokens(pol, &one, layer, 1);
}

/* The prompt is cut by the attention of its last query. */
static int tova_tail(const void *params)
{
    (void)params;
    return 1;
}

const struct policy_ops policy_tova = {
    .name = "tova",
    .help = "forgets the token that the current query attends to least (TOVA, arXiv 2401.06104)",
    .params = tova_params,
    .params_size = sizeof(struct tova_params),
    .presets = tova_presets,
    .preset_by_cr = "dms",
    .budget_keys = "budget_tokens,cr",
    .generous = "budget_tokens=4096",
    .tight = "budget_tokens=60",
    .needs = POLICY_DROP | POLICY_STATS,
    .budget = tova_budget,
    .held = tova_held,
    .describe_budget = tova_describe_budget,
    .prompt_tail = tova_tail,
    .select = tova_select,
    .observe = tova_observe,
    .on_attn_out = tova_on_attn_out,
};
