/* Quest (Tang et al., ICML 2024, arXiv 2406.10774): a page's elementwise key minimum and maximum bound q.k
 * from above (Algorithm 1: sum over channels of max(q_d min_d, q_d max_d)); each step reads the k pages with
 * the largest bound.
 *
 * The defaults are those of the released kernel: each query head chooses, the last page is always read and
 * counts as part of the budget, the first two layers are dense, and a step whose pages all fit reads them
 * all. The accuracy code and the reproductions differ in exactly the options below; each published
 * combination is a preset (docs/policies.md, quest). */
#include <math.h>

#include "engine/policies/policies.h"
#include "engine/policies/policy.h"

enum { FORCE_NONE, FORCE_LAST, FORCE_EXTRA };
enum { ROUND_CEIL, ROUND_FLOOR };

struct quest_params {
    int k_pages, min_tokens, dense_layers, scope, force_last, round, min_pages, page_tokens;
    double ratio, cr;
};

/* In the order of enum score_scope. */
static const char *const scopes[] = {"q", "kv_max", "kv_sum", "pair_max", NULL};
static const char *const forces[] = {"false", "true", "extra", NULL};
static const char *const rounds[] = {"ceil", "floor", NULL};

#define P(field) offsetof(struct quest_params, field)
static const struct param quest_params[] = {
    {"k_pages", PARAM_INT, P(k_pages), NULL, 1, 1e6, NULL,
     "budget: pages a step reads per list, the current one inside"},
    {"ratio", PARAM_DOUBLE, P(ratio), NULL, 1e-6, 1, NULL,
     "budget: share of the context, at least min_tokens"},
    {"cr", PARAM_DOUBLE, P(cr), NULL, 1, 1e6, NULL, "budget: (prompt + longest completion) / cr tokens"},
    {"min_tokens", PARAM_INT, P(min_tokens), "128", 1, 1e9, NULL, "least tokens with ratio"},
    {"dense_layers", PARAM_INT, P(dense_layers), "2", 0, 1000, NULL, "first layers kept at full attention"},
    {"scope", PARAM_ENUM, P(scope), "q", 0, 0, scopes,
     "who chooses: each query head, each KV head by max or sum, or two neighbouring query heads by max"},
    {"force_last", PARAM_ENUM, P(force_last), "true", 0, 0, forces,
     "read the current page: inside the budget, or extra"},
    {"round", PARAM_ENUM, P(round), "ceil", 0, 0, rounds,
     "budgets in tokens, and short contexts, in whole pages: rounded up or down"},
    {"min_pages", PARAM_INT, P(min_pages), "0", 0, 1e6, NULL, "least pages"},
    {"page_tokens", PARAM_INT, P(page_tokens), "16", 0, 4096, NULL,
     "tokens per page, a multiple of 16; 0: 2 cr, at least 16"},
    {0},
};
#undef P

static const struct preset quest_presets[] = {
    {"kernel", "", "the released efficient kernel (the defaults)"},
    {"hf", "force_last=false,round=floor,min_pages=3",
     "the released accuracy code; drops a page even when all would fit"},
    {"kascade", "force_last=false,round=floor,min_pages=3,ratio=0.1,min_tokens=128",
     "as measured in the Kascade paper"},
    {"dms", "force_last=false,round=floor,min_pages=3,page_tokens=0",
     "as measured in the DMS paper: pages of max(16, 2 cr) tokens; give cr"},
    {"frontier", "dense_layers=0,scope=kv_sum,force_last=extra",
     "sparse-frontier: shared by the group, last page extra"},
    {"seer", "dense_layers=0,force_last=false,page_tokens=64", "SeerAttention-R's reproduction: pages of 64"},
    {0},
};

static int page_tokens(const struct quest_params *p)
{
    if (p->page_tokens)
        return p->page_tokens;
    return p->cr > KV_PAGE_TOKENS / 2.0 ? (int)(2 * p->cr) : KV_PAGE_TOKENS;
}

static int quest_check(const void *params, struct err *e)
{
    const struct quest_params *p = params;
    if (p->page_tokens % KV_PAGE_TOKENS)
        return err_set(e, ERR_USAGE, "policy quest: page_tokens is %d; it must be a multiple of 16",
                       p->page_tokens);
    if (!p->page_tokens && isnan(p->cr))
        return err_set(
            e, ERR_USAGE,
            "policy quest: page_tokens 0 makes pages of 2 cr tokens, as preset dms does; give cr as "
            "the budget, or page_tokens");
    if (!p->page_tokens && page_tokens(p) > KV_PAGE_TOKENS && fmod(2 * p->cr, KV_PAGE_TOKENS) != 0)
        return err_set(e, ERR_USAGE,
                       "policy quest: pages of 2 cr = %g tokens; pages are multiples of 16, so cr must be at "
                       "most 8 or a multiple of 8, or page_tokens given",
                       2 * p->cr);
    return isnan(p->ratio) ? policy_no_effect(&policy_quest, p, "min_tokens", "without ratio", e) : 0;
}

static int quest_resolve(struct policy_spec *s, const struct policy_model *m, struct arena *a, struct err *e)
{
    struct quest_params *p = s->params;
    (void)m;
    (void)a;
    (void)e;
    p->page_tokens = page_tokens(p);
    return 0;
}

/* Budgets as the papers define them: a page counts with all its tokens, a ratio is taken of the context, and
 * cr divides the length of the longest sequence that this prompt can become. */
static struct policy_budget quest_budget(const void *params, const struct budget_at *at)
{
    const struct quest_params *p = params;
    double page = page_tokens(p), tokens;
    if (p->k_pages != PARAM_UNSET_INT)
        tokens = p->k_pages * page;
    else if (!isnan(p->ratio))
        tokens = fmax(p->ratio * at->context, p->min_tokens);
    else
        tokens = (at->prompt + at->longest) / p->cr;
    tokens = fmax(tokens, p->min_pages * page);
    if (p->force_last == FORCE_EXTRA)
        tokens += page;
    return (struct policy_budget){tokens, ceil(tokens / page) * page};
}

static void quest_describe_budget(const void *params, struct str *out)
{
    const struct quest_params *p = params;
    if (p->k_pages != PARAM_UNSET_INT)
        str_printf(out, "%d pages of %d tokens", p->k_pages, page_tokens(p));
    else if (!isnan(p->ratio))
        str_printf(out, "%g of the context, at least %d tokens, in pages of %d", p->ratio, p->min_tokens,
                   page_tokens(p));
    else
        str_printf(out, "(prompt + longest completion) / %g tokens, in pages of %d", p->cr, page_tokens(p));
    if (p->min_pages)
        str_printf(out, ", at least %d pages", p->min_pages);
    str_printf(out, " per %s%s",
               p->scope == SCORE_Q          ? "query head"
               : p->scope == SCORE_PAIR_MAX ? "two query heads"
                                            : "KV head",
               p->force_last == FORCE_LAST    ? ", current page inside"
               : p->force_last == FORCE_EXTRA ? ", current page extra"
                                              : ", current page not forced");
    str_printf(out, "; layers below %d dense", p->dense_layers);
}

static struct topk_params quest_topk(const struct quest_params *p)
{
    struct topk_params r = {.kind = TOPK_FIXED, .tokens_per = p->page_tokens, .dense_when_short = 1};
    r.min_k = p->min_pages;
    if (p->k_pages != PARAM_UNSET_INT) {
        r.k = p->k_pages;
        if (p->round == ROUND_FLOOR)
            r.kind = TOPK_SHORT_FLOOR;
    } else if (!isnan(p->ratio)) {
        r.kind = TOPK_RATIO;
        r.ratio = p->ratio;
        r.min_tokens = r.dense_tokens = p->min_tokens;
    } else {
        r.kind = TOPK_CR;
        r.cr = p->cr;
    }
    if (p->round == ROUND_CEIL)
        r.round_tokens = r.tokens_per;
    r.force_last = p->force_last != FORCE_NONE;
    r.force = p->force_last == FORCE_EXTRA ? FORCE_BESIDE : FORCE_INSIDE;
    return r;
}

static void quest_select(const struct policy *pol, const struct policy_ctx *c, int layer, struct selection *s)
{
    const struct quest_params *p = pol->params;
    if (layer < p->dense_layers)
        return;
    struct topk_params topk = quest_topk(p);
    int block_pages = p->page_tokens / KV_PAGE_TOKENS;
    struct scores pages = policy_page_scores(c, layer, (enum score_scope)p->scope, block_pages);
    policy_topk(c, pages, &topk, c->total_len, 0);
    s->granularity = SEL_PAGES;
    s->n_rows = pages.n_rows;
    s->cap = pages.stride;
    s->block_pages = block_pages;
    if (topk.kind == TOPK_FIXED || topk.kind == TOPK_SHORT_FLOOR) /* + 1: a page may be forced beside them */
        s->max_pages_read = ((topk.k > topk.min_k ? topk.k : topk.min_k) + 1) * block_pages;
    s->idx = c->list[0].idx;
    s->len = c->list[0].len;
}

const struct policy_ops policy_quest = {
    .name = "quest",
    .help = "per step, the pages whose key bounds promise the largest q.k (Quest, arXiv 2406.10774)",
    .params = quest_params,
    .params_size = sizeof(struct quest_params),
    .presets = quest_presets,
    .budget_keys = "k_pages,ratio,cr",
    .generous = "k_pages=256",
    .tight = "k_pages=8",
    .needs = POLICY_BOUNDS,
    .check = quest_check,
    .resolve = quest_resolve,
    .budget = quest_budget,
    .describe_budget = quest_describe_budget,
    .select = quest_select,
};
