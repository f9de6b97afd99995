/* The bound of every policy that selects: each layer scores all keys exactly, reads only the best of them,
 * and forgets nothing. It saves no time, but no choice of as many tokens by a cheaper score should do better
 * (Kascade, arXiv 2512.16391, Figure 2, calls it oracle top-k). Policies that forget have no such bound.
 *
 * Softmax runs over all keys before the choice and over the chosen ones when they are read. Probabilities are
 * pooled over the query heads as logarithms, which have the same order and do not underflow. Nothing is
 * forced, not even the current token. */
#include <math.h>

#include "engine/policies/policies.h"
#include "engine/policies/policy.h"

enum { UNIT_TOKENS, UNIT_PAGES };
enum { POOL_GROUP, POOL_ALL, POOL_MAX };

struct oracle_params {
    int budget_tokens, min_tokens, unit, page_tokens, pool, dense_layers;
    double ratio, mass;
};

static const char *const units[] = {"tokens", "pages", NULL};
static const char *const pools[] = {"group_sum", "all", "max", NULL};

#define P(field) offsetof(struct oracle_params, field)
static const struct param oracle_params[] = {
    {"budget_tokens", PARAM_INT, P(budget_tokens), NULL, 1, 1e9, NULL,
     "budget: tokens that a list holds (whole pages with unit=pages)"},
    {"ratio", PARAM_DOUBLE, P(ratio), NULL, 1e-6, 1, NULL,
     "budget: share of the context's tokens, at least min_tokens"},
    {"mass", PARAM_DOUBLE, P(mass), NULL, 1e-6, 1, NULL,
     "budget: the fewest that hold this share of the attention mass, at least min_tokens"},
    {"min_tokens", PARAM_INT, P(min_tokens), "1", 1, 1e9, NULL, "least tokens with ratio and mass"},
    {"unit", PARAM_ENUM, P(unit), "tokens", 0, 0, units, "what is chosen"},
    {"page_tokens", PARAM_INT, P(page_tokens), "16", 16, 4096, NULL,
     "tokens per page with unit=pages, a multiple of 16"},
    {"pool", PARAM_ENUM, P(pool), "group_sum", 0, 0, pools,
     "probabilities summed over each group, over all heads into one list, or the group's largest"},
    {"dense_layers", PARAM_INT, P(dense_layers), "1", 0, 1000, NULL, "first layers kept at full attention"},
    {0},
};
#undef P

static int oracle_check(const void *params, struct err *e)
{
    const struct oracle_params *p = params;
    if (p->page_tokens % KV_PAGE_TOKENS)
        return err_set(e, ERR_USAGE, "policy oracle: page_tokens is %d; it must be a multiple of 16",
                       p->page_tokens);
    if (p->unit == UNIT_PAGES && p->budget_tokens != PARAM_UNSET_INT && p->budget_tokens < p->page_tokens)
        return err_set(e, ERR_USAGE,
                       "policy oracle: budget_tokens (%d) holds no page of %d tokens; raise it, or use "
                       "unit=tokens",
                       p->budget_tokens, p->page_tokens);
    if (p->unit != UNIT_PAGES && policy_no_effect(&policy_oracle, p, "page_tokens", "with unit=tokens", e))
        return ERR_USAGE;
    return p->budget_tokens != PARAM_UNSET_INT
               ? policy_no_effect(&policy_oracle, p, "min_tokens", "with budget_tokens", e)
               : 0;
}

static int unit_tokens(const struct oracle_params *p)
{
    return p->unit == UNIT_PAGES ? p->page_tokens : 1;
}

/* A ratio, and the least tokens with a mass, are rounded up to whole pages. */
static struct policy_budget oracle_budget(const void *params, const struct budget_at *at)
{
    const struct oracle_params *p = params;
    double unit = unit_tokens(p), tokens;
    if (!isnan(p->mass))
        return policy_mass_budget(p->mass, ceil(p->min_tokens / unit) * unit, at);
    if (p->budget_tokens != PARAM_UNSET_INT)
        tokens = floor(p->budget_tokens / unit) * unit;
    else
        tokens = fmax(p->ratio * at->context, p->min_tokens);
    return (struct policy_budget){tokens, p->unit == UNIT_PAGES ? ceil(tokens / unit) * unit : tokens};
}

static void oracle_describe_budget(const void *params, struct str *out)
{
    const struct oracle_params *p = params;
    static const char *const who[] = {"per KV head", "one list for all heads",
                                      "per KV head by its group's largest probability"};
    if (p->budget_tokens != PARAM_UNSET_INT)
        str_printf(out, "the %d best tokens", p->budget_tokens / unit_tokens(p) * unit_tokens(p));
    else if (!isnan(p->ratio))
        str_printf(out, "the best %g of the context's tokens, at least %d", p->ratio, p->min_tokens);
    else
        str_printf(out, "the fewest tokens that hold %g of the attention mass, at least %d", p->mass,
                   p->min_tokens);
    if (p->unit == UNIT_PAGES)
        str_printf(out, ", in pages of %d", p->page_tokens);
    str_printf(out, ", %s; every layer scans all keys first; layers below %d dense", who[p->pool],
               p->dense_layers);
}

static struct topk_params topk_params_of(const struct oracle_params *p)
{
    int unit = unit_tokens(p), least = (p->min_tokens + unit - 1) / unit;
    if (!isnan(p->mass))
        return (struct topk_params){.kind = TOPK_MASS, .ratio = p->mass, .min_k = least, .tokens_per = unit};
    if (!isnan(p->ratio))
        return (struct topk_params){.kind = TOPK_RATIO,
                                    .ratio = p->ratio,
                                    .min_tokens = p->min_tokens,
                                    .round_tokens = unit,
                                    .tokens_per = unit};
    return (struct topk_params){.kind = TOPK_FIXED, .k = p->budget_tokens / unit, .tokens_per = unit};
}

/* Sums over the tokens of pages: each head's log-sum-exp of a page is enough. */
static int takes_page_stats(const struct oracle_params *p)
{
    return p->unit == UNIT_PAGES && p->pool != POOL_MAX;
}

static unsigned oracle_needs(const void *params)
{
    return takes_page_stats(params) ? POLICY_PAGE_STATS : POLICY_STATS;
}

static void oracle_select(const struct policy *pol, const struct policy_ctx *c, int layer,
                          struct selection *s)
{
    const struct oracle_params *p = pol->params;
    int n_rows = p->pool == POOL_ALL ? 1 : c->dims.n_kv, block_pages = p->page_tokens / KV_PAGE_TOKENS;
    if (layer < p->dense_layers)
        return;
    struct topk_params topk = topk_params_of(p);
    struct stats stats = takes_page_stats(p) ? c->page_stats : c->stats;
    policy_qk_stats(c, layer, stats);
    s->granularity = p->unit == UNIT_PAGES ? SEL_PAGES : SEL_TOKENS;
    s->n_rows = n_rows;
    s->cap = p->unit == UNIT_PAGES ? (c->dims.max_pages + block_pages - 1) / block_pages : c->stats.stride;
    s->block_pages = block_pages;
    struct scores best =
        policy_reduce_stats(c, layer,
                            (struct reduce_stats_args){.mode = p->pool == POOL_MAX ? REDUCE_MAX : REDUCE_SUM,
                                                       .block_pages = p->unit == UNIT_PAGES ? block_pages : 0,
                                                       .in = stats,
                                                       .out = policy_scores(c, n_rows, s->cap)});
    policy_topk(c, best, &topk, NULL, 0);
    s->idx = c->list[0].idx;
    s->len = c->list[0].len;
}

const struct policy_ops policy_oracle = {
    .name = "oracle",
    .help = "the bound of selection: every layer scores all keys and reads only the best of them",
    .params = oracle_params,
    .params_size = sizeof(struct oracle_params),
    .budget_keys = "budget_tokens,ratio,mass",
    .generous = "ratio=1",
    .tight = "budget_tokens=32",
    .is_bound = 1,
    .needs_of = oracle_needs,
    .check = oracle_check,
    .budget = oracle_budget,
    .describe_budget = oracle_describe_budget,
    .select = oracle_select,
};
