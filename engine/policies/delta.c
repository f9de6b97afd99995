/* DELTA (Zarch et al., arXiv 2510.09883): a few refresh layers attend fully and choose one page list for all
 * heads; the layers up to the next refresh read that list (Algorithms 1 and 2).
 *
 * s[t] = max over query heads of the softmax probability of token t; a page's score is the sum over its
 * tokens; the last l_pages are kept and the k_pages - l_pages best of the older ones. Scores are kept as
 * logarithms, so that tiny masses do not underflow into ties. With k_tokens the tokens themselves are chosen,
 * by s[t]; with mass as many pages as hold that share of it (top-p, arXiv 2502.02770). The released code adds
 * an empty page after a full last one, and a bias against ties, which at long contexts reorders real
 * differences; only the preset `release` has these two (docs/policies.md, delta).
 *
 * A share of the score (mass) is of what the tokens hold together: a sink takes its part of every
 * probability, so that a head which leaves much to it counts less, but it is none of the score. */
#include <math.h>

#include "engine/policies/layer_list.h"
#include "engine/policies/model_defaults.h"
#include "engine/policies/policies.h"
#include "engine/policies/policy.h"

struct delta_params {
    struct param_ints layers;
    int dense_layers, k_pages, l_pages, k_tokens, l_tokens, head_reduce, trailing_empty_page, page_tokens;
    double tie_bias, mass;
};

static const char *const reduces[] = {"max", "sum", "mean", NULL}; /* in the order of enum reduce_mode */

#define P(field) offsetof(struct delta_params, field)
static const struct param delta_params[] = {
    {"k_pages", PARAM_INT, P(k_pages), NULL, 1, 1e6, NULL, "budget: pages that sparse layers read"},
    {"k_tokens", PARAM_INT, P(k_tokens), NULL, 1, 1e9, NULL,
     "budget: single tokens that sparse layers read, instead of pages"},
    {"mass", PARAM_DOUBLE, P(mass), NULL, 1e-6, 1, NULL,
     "budget: the fewest pages, the recent ones included, that hold this share of the score"},
    {"l_pages", PARAM_INT, P(l_pages), NULL, 1, 1e6, NULL,
     "of these, the most recent pages; default: 8 (pocket: 4), or all k_pages if these are fewer"},
    {"l_tokens", PARAM_INT, P(l_tokens), NULL, 0, 1e9, NULL,
     "of k_tokens, the most recent; default: those of l_pages pages of 16, or all if these are fewer"},
    {"layers", PARAM_INTS, P(layers), NULL, 0, 1000, NULL,
     "refresh layers; default: those published for the model (run file: model_name)"},
    {"dense_layers", PARAM_INT, P(dense_layers), "2", 0, 1000, NULL, "first layers kept at full attention"},
    {"tie_bias", PARAM_DOUBLE, P(tie_bias), "0", 0, 1, NULL,
     "subtracted from a page's probability per page index"},
    {"head_reduce", PARAM_ENUM, P(head_reduce), "max", 0, 0, reduces, "over the query heads"},
    {"trailing_empty_page", PARAM_BOOL, P(trailing_empty_page), "false", 0, 0, NULL,
     "a page that has just filled up is followed by an empty one, which uses up one of K and one of L"},
    {"page_tokens", PARAM_INT, P(page_tokens), "16", 16, 4096, NULL, "tokens per page, a multiple of 16"},
    {0},
};
#undef P

static const struct preset delta_presets[] = {
    {"paper", "l_pages=8", "the paper's text: L = 8, no bias, no empty page"},
    {"release", "l_pages=8,tie_bias=1e-7,trailing_empty_page=true", "the released code"},
    {0},
};

static int delta_check(const void *params, struct err *e)
{
    const struct delta_params *p = params;
    int tokens = p->k_tokens != PARAM_UNSET_INT;
    if (tokens && (p->l_pages != PARAM_UNSET_INT || p->page_tokens != KV_PAGE_TOKENS))
        return err_set(e, ERR_USAGE,
                       "policy delta: l_pages and page_tokens go with a budget in pages; with k_tokens give "
                       "l_tokens");
    if (!tokens && p->l_tokens != PARAM_UNSET_INT)
        return err_set(e, ERR_USAGE, "policy delta: l_tokens goes with k_tokens; give l_pages");
    if (tokens && p->l_tokens != PARAM_UNSET_INT && p->l_tokens > p->k_tokens)
        return err_set(
            e, ERR_USAGE,
            "policy delta: l_tokens (%d) is above k_tokens (%d); the recent tokens are part of the k_tokens",
            p->l_tokens, p->k_tokens);
    if ((tokens || !isnan(p->mass)) && (p->tie_bias > 0 || p->trailing_empty_page))
        return err_set(e, ERR_USAGE,
                       "policy delta: tie_bias and trailing_empty_page, as in preset release, need k_pages "
                       "as the budget");
    if (p->l_pages != PARAM_UNSET_INT && p->k_pages != PARAM_UNSET_INT && p->l_pages > p->k_pages)
        return err_set(
            e, ERR_USAGE,
            "policy delta: l_pages (%d) is above k_pages (%d); the recent pages are part of the k_pages",
            p->l_pages, p->k_pages);
    if (p->trailing_empty_page && (p->k_pages < 2 || p->l_pages == 1))
        return err_set(
            e, ERR_USAGE,
            "policy delta: with trailing_empty_page the empty page uses up one of k_pages and one of "
            "l_pages; both must be 2 or more");
    if (p->page_tokens % KV_PAGE_TOKENS)
        return err_set(e, ERR_USAGE, "policy delta: page_tokens is %d; it must be a multiple of 16",
                       p->page_tokens);
    return 0;
}

enum { PAPERS_L_PAGES = 8 };

static int delta_resolve(struct policy_spec *s, const struct policy_model *m, struct arena *a, struct err *e)
{
    struct delta_params *p = s->params;
    const char *taken = NULL;
    const struct model_defaults *d = model_defaults_find(m, a, &taken);
    int pages = d && d->delta_l_pages ? d->delta_l_pages : PAPERS_L_PAGES, tokens = pages * KV_PAGE_TOKENS;
    if (p->k_tokens != PARAM_UNSET_INT) {
        if (p->l_tokens == PARAM_UNSET_INT)
            p->l_tokens = tokens < p->k_tokens ? tokens : p->k_tokens;
    } else if (p->l_pages == PARAM_UNSET_INT) {
        p->l_pages = p->k_pages == PARAM_UNSET_INT || pages < p->k_pages ? pages : p->k_pages;
    }
    int is_default = p->layers.n < 0;
    int rc = model_defaults_layers(s, &p->layers, "layers", MODEL_DEFAULT_DELTA, m, a, e);
    if (!rc && is_default)
        layer_list_drop_below(&p->layers, p->dense_layers);
    return rc ? rc : layer_list_above(&p->layers, "layers", p->dense_layers, e);
}

static struct policy_budget delta_budget(const void *params, const struct budget_at *at)
{
    const struct delta_params *p = params;
    double tokens = (double)p->k_pages * p->page_tokens;
    if (!isnan(p->mass))
        return policy_mass_budget(p->mass, p->l_pages == PARAM_UNSET_INT ? 1 : p->l_pages * p->page_tokens,
                                  at);
    if (p->k_tokens != PARAM_UNSET_INT)
        tokens = p->k_tokens;
    return (struct policy_budget){tokens, tokens};
}

static void delta_describe_budget(const void *params, struct str *out)
{
    const struct delta_params *p = params;
    int last = p->k_tokens != PARAM_UNSET_INT ? p->l_tokens : p->l_pages;
    if (p->k_tokens != PARAM_UNSET_INT)
        str_printf(out, "%d tokens", p->k_tokens);
    else if (isnan(p->mass))
        str_printf(out, "%d pages of %d tokens", p->k_pages, p->page_tokens);
    else
        str_printf(out, "the fewest pages of %d tokens that hold %g of the score", p->page_tokens, p->mass);
    if (last != PARAM_UNSET_INT)
        str_printf(out, ", the last %d forced", last);
    str_printf(out, ", one list for all heads; layers below %d and the refresh layers dense",
               layer_list_first(&p->layers, p->dense_layers));
    if (p->trailing_empty_page)
        str_puts(out, "; an empty page after a full last one counts");
    if (p->tie_bias > 0)
        str_printf(out, "; page scores less %g a page", p->tie_bias);
}

/* Sums over heads and tokens may be taken in any order, so each head's sum over a page says enough; the
 * largest over heads needs every token's. */
static int takes_page_stats(const struct delta_params *p)
{
    return p->head_reduce != REDUCE_MAX && p->k_tokens == PARAM_UNSET_INT;
}

static unsigned delta_needs(const void *params)
{
    return takes_page_stats(params) ? POLICY_PAGE_STATS : POLICY_STATS;
}

/* A refresh layer chooses only when the next layer with full attention reads its choice. */
static int is_refresh(const struct delta_params *p, int layer, const struct policy_dims *d)
{
    int next = policy_next_full(d, layer);
    return layer >= p->dense_layers && layer_list_has(&p->layers, layer) && next < d->n_layers &&
           !layer_list_has(&p->layers, next);
}

static int list_cap(const struct policy *pol, const struct policy_ctx *c)
{
    const struct delta_params *p = pol->params;
    int block_pages = p->page_tokens / KV_PAGE_TOKENS;
    return p->k_tokens != PARAM_UNSET_INT ? c->stats.stride
                                          : (pol->dims.max_pages + block_pages - 1) / block_pages;
}

static void delta_select(const struct policy *pol, const struct policy_ctx *c, int layer, struct selection *s)
{
    const struct delta_params *p = pol->params;
    if (layer < p->dense_layers)
        return;
    if (layer_list_has(&p->layers, layer)) {
        if (is_refresh(p, layer, &pol->dims))
            s->want_stats = takes_page_stats(p) ? STATS_PAGES : STATS_TOKENS;
        return;
    }
    for (int l = layer - 1; l >= p->dense_layers; l--)
        if (is_refresh(p, l, &pol->dims)) {
            s->granularity = p->k_tokens != PARAM_UNSET_INT ? SEL_TOKENS : SEL_PAGES;
            s->n_rows = 1;
            s->cap = list_cap(pol, c);
            s->block_pages = p->page_tokens / KV_PAGE_TOKENS;
            s->max_pages_read = p->k_pages != PARAM_UNSET_INT ? p->k_pages * s->block_pages : 0;
            s->idx = c->list[0].idx;
            s->len = c->list[0].len;
            return;
        }
}

static void delta_observe(const struct policy *pol, const struct policy_ctx *c, int layer)
{
    const struct delta_params *p = pol->params;
    int tokens = p->k_tokens != PARAM_UNSET_INT;
    struct scores best = policy_reduce_stats(
        c, layer,
        (struct reduce_stats_args){.mode = (enum reduce_mode)p->head_reduce,
                                   .block_pages = tokens ? 0 : p->page_tokens / KV_PAGE_TOKENS,
                                   .in = takes_page_stats(p) ? c->page_stats : c->stats,
                                   .out = policy_scores(c, 1, list_cap(pol, c))});
    struct topk_params topk = {.kind = TOPK_FIXED,
                               .k = p->k_pages,
                               .tokens_per = p->page_tokens,
                               .force_last = p->l_pages,
                               .dense_when_short = 1,
                               .phantom_page = p->trailing_empty_page,
                               .tie_bias = (float)p->tie_bias};
    if (tokens)
        topk = (struct topk_params){
            .kind = TOPK_FIXED, .k = p->k_tokens, .force_last = p->l_tokens, .dense_when_short = 1};
    if (!isnan(p->mass))
        topk = (struct topk_params){.kind = TOPK_MASS,
                                    .ratio = p->mass,
                                    .min_k = 1,
                                    .tokens_per = p->page_tokens,
                                    .force_last = p->l_pages};
    policy_topk(c, best, &topk, NULL, 0);
}

const struct policy_ops policy_delta = {
    .name = "delta",
    .help =
        "refresh layers attend fully and choose the pages of the layers above them (DELTA, arXiv 2510.09883)",
    .params = delta_params,
    .params_size = sizeof(struct delta_params),
    .presets = delta_presets,
    .budget_keys = "k_pages,k_tokens,mass",
    .generous = "k_pages=256",
    .tight = "k_pages=8",
    .needs_of = delta_needs,
    .check = delta_check,
    .resolve = delta_resolve,
    .budget = delta_budget,
    .describe_budget = delta_describe_budget,
    .select = delta_select,
    .observe = delta_observe,
};
