/* RaaS (Hu et al., arXiv 2502.11147): pages carry the step at which they last mattered; over budget, the one
 * with the oldest stamp is forgotten. A page matters when its Quest bound is among the top share r (or its
 * probability exceeds alpha).
 *
 * The defaults follow the paper's text as far as it is known: each KV head forgets pages for good, prompt
 * pages are pinned, decoded tokens have a fixed budget, and all retained pages are attended. The released
 * code differs, and each difference is an option (docs/policies.md, raas): it pins nothing, stamps new pages
 * 0, only masks pages, and attends to the best max(3, min(S, budget) / 16) of the retained ones, in every
 * step. There too a masked page is never stamped again, and since stamps only grow it does not return; but it
 * stays in memory, so that each query head can have its own mask. Nothing is masked while the context fits
 * the budget, nor on the first decode step. Query heads cannot forget on their own, because K and V are
 * stored per KV head. */
#include <math.h>

#include "engine/policies/policies.h"
#include "engine/policies/policy.h"

enum { SCOPE_OF_KV, SCOPE_OF_Q };
enum { ATTEND_RETAINED, ATTEND_TOPK };
enum { STAMP_NOW, STAMP_ZERO };
enum { SET_RETAINED, SET_SELECTED, SET_ALL };
enum { LEAST_PAGES = 3 }; /* that attend=topk reads, as the released code does */

struct raas_params {
    int budget_tokens, scope, pin_prefill, pin_counts, dense_layers, attend, new_stamp, permanent;
    int softmax_set;
    double r, alpha;
};

static const char *const scopes[] = {"kv", "q", NULL};
static const char *const attends[] = {"retained", "topk", NULL};
static const char *const stamps[] = {"S", "0", NULL};
static const char *const sets[] = {"retained", "selected", "all", NULL};

#define P(field) offsetof(struct raas_params, field)
static const struct param raas_params[] = {
    {"budget_tokens", PARAM_INT, P(budget_tokens), NULL, 16, 1e9, NULL,
     "budget: tokens kept per KV head (whole pages)"},
    {"scope", PARAM_ENUM, P(scope), NULL, 0, 0, scopes,
     "whose stamps and masks: each KV head's, or with permanent=false each query head's (q); kv if not "
     "given"},
    {"r", PARAM_DOUBLE, P(r), "0.5", 0, 1, NULL,
     "share of the retained pages that is stamped each step; with permanent=false, of the budget's"},
    {"alpha", PARAM_DOUBLE, P(alpha), "0", 0, 1, NULL,
     "above 0: stamp pages whose softmax over the bounds exceeds it, instead of r"},
    {"softmax_set", PARAM_ENUM, P(softmax_set), "retained", 0, 0, sets,
     "with alpha: over which pages the softmax runs"},
    {"pin_prefill", PARAM_BOOL, P(pin_prefill), "true", 0, 0, NULL, "prompt pages are never forgotten"},
    {"pin_counts", PARAM_BOOL, P(pin_counts), "false", 0, 0, NULL, "pinned pages use up the budget"},
    {"dense_layers", PARAM_INT, P(dense_layers), "2", 0, 1000, NULL, "first layers kept at full attention"},
    {"attend", PARAM_ENUM, P(attend), "retained", 0, 0, attends,
     "all retained pages, or the best budget of them"},
    {"new_stamp", PARAM_ENUM, P(new_stamp), "S", 0, 0, stamps, "a new page's stamp: its step, or 0"},
    {"permanent", PARAM_BOOL, P(permanent), "true", 0, 0, NULL,
     "forgotten pages are gone; false: they are masked while over budget, and stay in memory"},
    {0},
};
#undef P

#define RELEASED "scope=q,pin_prefill=false,new_stamp=0,permanent=false,attend=topk"
static const struct preset raas_presets[] = {
    {"paper", "", "the paper's text as far as it is known (the defaults)"},
    {"RaaS@22d925d", RELEASED ",dense_layers=0",
     "DerekHJH/RaaS at 22d925d, quest/models: sparse in all layers"},
    {"RaaS@3ff39e7", RELEASED ",dense_layers=2", "DerekHJH/RaaS at 3ff39e7: the first two layers are dense"},
    {0},
};

static int budget_pages(const struct raas_params *p)
{
    return p->budget_tokens / KV_PAGE_TOKENS;
}

static int raas_check(const void *params, struct err *e)
{
    const struct raas_params *p = params;
    if (!p->permanent && p->pin_prefill)
        return err_set(
            e, ERR_USAGE,
            "policy raas: permanent=false goes with pin_prefill=false, as in the released code; set both");
    if (p->scope == SCOPE_OF_Q && (p->permanent || p->new_stamp != STAMP_ZERO))
        return err_set(
            e, ERR_USAGE,
            "policy raas: scope=q goes with permanent=false and new_stamp=0, since K and V are stored "
            "per KV head, so that a query head can mask pages but not forget them");
    if (p->softmax_set == SET_ALL && p->permanent && p->alpha > 0)
        return err_set(
            e, ERR_USAGE,
            "policy raas: softmax_set \"all\" needs permanent=false; forgotten pages have no score");
    if (p->softmax_set == SET_SELECTED && p->attend != ATTEND_TOPK)
        return err_set(e, ERR_USAGE, "policy raas: softmax_set \"selected\" needs attend=topk");
    if (!p->pin_prefill && policy_no_effect(&policy_raas, p, "pin_counts", "with pin_prefill=false", e))
        return ERR_USAGE;
    if (p->alpha > 0)
        return policy_no_effect(&policy_raas, p, "r", "with alpha", e);
    return policy_no_effect(&policy_raas, p, "softmax_set", "without alpha", e);
}

/* Pages that are only masked stay, so a prompt can be shared. */
static unsigned raas_needs(const void *params)
{
    const struct raas_params *p = params;
    return p->permanent ? POLICY_DROP : 0;
}

/* Pinned prompt tokens are read besides the budget. When they count against it, they are still all read, so
 * the budget is at least the prompt. With a mask the current page is read besides the budget, unless the best
 * pages are attended: of these there are floor(S / 16), so that only the least number is sure to be all. */
static struct policy_budget raas_budget(const void *params, const struct budget_at *at)
{
    const struct raas_params *p = params;
    double page = KV_PAGE_TOKENS, kept = budget_pages(p) * page, pinned = ceil(at->prompt / page) * page;
    if (p->attend == ATTEND_TOPK && !p->permanent)
        return (struct policy_budget){fmax(kept, LEAST_PAGES * page), LEAST_PAGES * page};
    if (p->attend == ATTEND_TOPK)
        kept = fmax(kept, LEAST_PAGES * page);
    if (!p->permanent)
        return (struct policy_budget){kept, fmax(kept, p->budget_tokens) + page};
    if (p->attend == ATTEND_TOPK || !p->pin_prefill)
        return (struct policy_budget){kept, kept};
    if (p->pin_counts)
        return (struct policy_budget){fmax(kept, at->prompt), fmax(kept, pinned + page)};
    return (struct policy_budget){kept + at->prompt, kept + pinned};
}

/* Of layers with full attention: a mask forgets nothing, and dense layers do not. In the others pages beyond
 * the budget go, and the one that is being filled is beside it. */
static double raas_held(const void *params, const struct budget_at *at)
{
    const struct raas_params *p = params;
    double n = 0, dense = 0;
    for (int l = 0; l < at->n_layers; l++)
        if (!at->window || !at->window[l]) {
            n++;
            dense += l < p->dense_layers;
        }
    double kept = fmin(raas_budget(params, at).whole + KV_PAGE_TOKENS, at->context);
    return p->permanent ? (dense * at->context + (n - dense) * kept) / n : at->context;
}

/* The rule of masks was another one: everything was read while nothing was masked. */
static const void *raas_data(const void *params, size_t *n)
{
    static const char text[] = "the best pages in every step";
    const struct raas_params *p = params;
    *n = sizeof text - 1;
    return !p->permanent && p->attend == ATTEND_TOPK ? text : NULL;
}

static void raas_describe_budget(const void *params, struct str *out)
{
    const struct raas_params *p = params;
    str_printf(out, "%d tokens kept per %s head%s, ", budget_pages(p) * KV_PAGE_TOKENS,
               p->scope == SCOPE_OF_Q ? "query" : "KV",
               !p->pin_prefill ? ", prompt included"
               : p->pin_counts ? ", the pinned prompt counted"
                               : " besides the pinned prompt");
    if (p->alpha > 0)
        str_printf(out, "pages above probability %g stamped", p->alpha);
    else
        str_printf(out, "the top %g %sstamped each step", p->r, p->permanent ? "" : "of the budget ");
    str_printf(out, "%s%s; layers below %d dense",
               p->attend == ATTEND_TOPK ? ", the best of them attended" : ", all attended",
               p->permanent ? "" : ", the others masked, not gone", p->dense_layers);
}

static int n_lists(const struct raas_params *p, const struct policy_dims *dims)
{
    return p->scope == SCOPE_OF_Q ? dims->n_q : dims->n_kv;
}

/* Per sequence: int32 stamp, then, where pages are forgotten, born, each (n_layers, lists, max_pages). */
static size_t raas_state(const struct policy *pol)
{
    const struct raas_params *p = pol->params;
    return (size_t)(p->scope == SCOPE_OF_Q ? 1 : 2) * sizeof(int32_t) * (size_t)pol->dims.n_layers *
           (size_t)n_lists(p, &pol->dims) * (size_t)pol->dims.max_pages;
}

/* All prompt pages get the same stamp, at the end of the prompt. Their births stay 0, so of two of them the
 * lower one counts as older. */
static void raas_prefill_end(const struct policy *pol, const struct policy_ctx *c)
{
    const struct raas_params *p = pol->params;
    struct fill_i32_args a = {(int32_t *)(void *)(c->state + (size_t)c->seq * c->state_bytes),
                              p->new_stamp == STAMP_NOW ? c->n_prompt : 0,
                              (int64_t)c->dims.n_layers * n_lists(p, &c->dims) * c->dims.max_pages};
    policy_launch(c, OP_fill_i32, &a);
}

/* A page is forgotten before this token is appended, so that the token's page can take its place. With a mask
 * no page is forgotten, and the operation only stamps the new page, which with scope=q has 0 already. */
static void raas_on_qkv(const struct policy *pol, const struct policy_ctx *c, int layer)
{
    const struct raas_params *p = pol->params;
    if (c->prefill || layer < p->dense_layers || p->scope == SCOPE_OF_Q)
        return;
    struct drop_lowest_args a = {.rows = c->rows,
                                 .kv = c->kv,
                                 .layer = layer,
                                 .state = c->state,
                                 .state_bytes = c->state_bytes,
                                 .prompt_len = c->prompt_len,
                                 .budget_pages = p->permanent ? budget_pages(p) : INT32_MAX,
                                 .pin = p->pin_prefill,
                                 .pin_counts = p->pin_counts,
                                 .new_stamp = p->new_stamp == STAMP_NOW};
    policy_launch(c, OP_drop_lowest, &a);
}

static void choose_pages(const struct policy_ctx *c, struct scores s, int list, struct topk_params topk)
{
    topk.tokens_per = KV_PAGE_TOKENS;
    policy_topk(c, s, &topk, c->prompt_len, list);
}

static void mask_pages(const struct policy_ctx *c, struct scores s, int list)
{
    struct mask_scores_args m = {
        .rows = c->rows, .s = s, .idx = c->list[list].idx, .len = c->list[list].len, .cap = s.stride};
    policy_launch(c, OP_mask_scores, &m);
}

/* With a mask: the best k pages, and no more than are attended to, which are fewer while the context is
 * short. */
static struct topk_params best_pages(const struct raas_params *p, int k)
{
    if (p->attend != ATTEND_TOPK)
        return (struct topk_params){.kind = TOPK_FIXED, .k = k};
    return (struct topk_params){.kind = TOPK_SHORT_FLOOR, .k = k, .min_k = k < LEAST_PAGES ? k : LEAST_PAGES};
}

static void stamp_pages(const struct raas_params *p, const struct policy_ctx *c, int layer, struct scores s)
{
    struct stamp_args a = {.rows = c->rows,
                           .kv = c->kv,
                           .layer = layer,
                           .state = c->state,
                           .state_bytes = c->state_bytes,
                           .s = s,
                           .alpha = (float)p->alpha};
    if (p->alpha <= 0) {
        struct topk_params topk = {.kind = TOPK_FLOOR, .ratio = p->r};
        if (!p->permanent)
            topk = best_pages(p, (int)(p->r * budget_pages(p)));
        choose_pages(c, s, 0, topk);
        a.idx = c->list[0].idx;
        a.len = c->list[0].len;
        a.cap = s.stride;
    }
    policy_launch(c, OP_stamp, &a);
}

/* With a mask: puts the pages with the latest stamps and the current one into list 1, or all pages while
 * nothing is masked yet. */
static void retain_pages(const struct policy *pol, const struct policy_ctx *c, int layer)
{
    const struct raas_params *p = pol->params;
    struct load_stamps_args l = {.rows = c->rows,
                                 .kv = c->kv,
                                 .layer = layer,
                                 .state = c->state,
                                 .state_bytes = c->state_bytes,
                                 .out = policy_scores(c, n_lists(p, &c->dims), c->dims.max_pages)};
    policy_launch(c, OP_load_stamps, &l);
    choose_pages(c, l.out, 1,
                 (struct topk_params){.kind = TOPK_FIXED,
                                      .k = budget_pages(p),
                                      .force_last = 1,
                                      .force = FORCE_UNION,
                                      .dense_tokens = p->budget_tokens,
                                      .dense_first = 1});
}

static void raas_select(const struct policy *pol, const struct policy_ctx *c, int layer, struct selection *s)
{
    const struct raas_params *p = pol->params;
    if (layer < p->dense_layers)
        return;
    if (!p->permanent)
        retain_pages(pol, c, layer);
    struct scores pages = policy_page_scores(c, layer, p->scope == SCOPE_OF_Q ? SCORE_Q : SCORE_KV_MAX, 1);
    int late = p->alpha > 0 && p->softmax_set == SET_SELECTED;
    int early = p->alpha > 0 && p->softmax_set == SET_ALL;
    if (early)
        stamp_pages(p, c, layer, pages);
    if (!p->permanent)
        mask_pages(c, pages, 1);
    if (!early && !late)
        stamp_pages(p, c, layer, pages);
    if (p->attend == ATTEND_TOPK) {
        struct topk_params topk = {
            .kind = p->permanent ? TOPK_FIXED : TOPK_SHORT_FLOOR, .k = budget_pages(p), .min_k = LEAST_PAGES};
        choose_pages(c, pages, 1, topk);
    }
    if (late) {
        mask_pages(c, pages, 1);
        stamp_pages(p, c, layer, pages);
    }
    if (p->permanent && p->attend == ATTEND_RETAINED)
        return;
    s->granularity = SEL_PAGES;
    s->n_rows = n_lists(p, &c->dims);
    s->cap = c->dims.max_pages;
    s->idx = c->list[1].idx;
    s->len = c->list[1].len;
}

const struct policy_ops policy_raas = {
    .name = "raas",
    .help = "forgets the pages that have not mattered for longest, keeps the prompt (RaaS, arXiv 2502.11147)",
    .params = raas_params,
    .params_size = sizeof(struct raas_params),
    .presets = raas_presets,
    .budget_keys = "budget_tokens",
    .generous = "budget_tokens=4096",
    .tight = "budget_tokens=16",
    .needs = POLICY_BOUNDS,
    .needs_of = raas_needs,
    .check = raas_check,
    .budget = raas_budget,
    .held = raas_held,
    .data = raas_data,
    .describe_budget = raas_describe_budget,
    .state_size = raas_state,
    .on_qkv = raas_on_qkv,
    .select = raas_select,
    .prefill_end = raas_prefill_end,
};
