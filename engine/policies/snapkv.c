/* SnapKV (Li et al., arXiv 2404.14469): a KV head keeps the keys that the last queries attend to, and those
 * of these queries themselves. The scores are pooled over neighbours, so that whole phrases stay.
 *
 * The paper does this once, at the end of the prompt (when=prompt); what is decoded then stays. Later papers
 * measure the same rule while decoding, every 64 tokens by the last 64 queries (when=decode), as Random
 * Attention does. The paper chooses per query head; K and V are stored per KV head, so here the scores of a
 * group are averaged, as kvpress does. Survivors move down to the first slots in order, so slots stay in the
 * order of time. R-KV's class of that name differs (when=both, group=max_logit, order=score): the largest
 * logit of a group counts, prompts are cut as well, and what is kept lies in the order of scores. */
#include <math.h>

#include "engine/policies/evict.h"
#include "engine/policies/policies.h"

enum { AT_PROMPT, AT_DECODE, AT_BOTH };
enum { GROUP_MEAN, GROUP_MAX_LOGIT };
enum { BY_TIME, BY_SCORE };

struct snapkv_params {
    int budget_tokens, when, window, every, kernel, pool, group, order;
    double cr;
};

static const char *const whens[] = {"prompt", "decode", "both", NULL};
static const char *const groups[] = {"mean", "max_logit", NULL};
static const char *const orders[] = {"time", "score", NULL};
static const char *const pools[] = {"mean", "max", NULL};

#define P(field) offsetof(struct snapkv_params, field)
static const struct param snapkv_params[] = {
    EVICT_PARAMS(P(budget_tokens), P(cr)),
    {"when", PARAM_ENUM, P(when), "prompt", 0, 0, whens,
     "once after the prompt, or while decoding; both: also in the step after each context that is a multiple "
     "of `every`"},
    {"window", PARAM_INT, P(window), "64", 1, 4096, NULL,
     "latest queries that score, and whose keys are kept"},
    {"every", PARAM_INT, P(every), "64", 1, 1e6, NULL,
     "with when=decode: whenever a multiple of this is held; with both: of the context"},
    {"kernel", PARAM_INT, P(kernel), "5", 1, WINDOW_KERNEL_LIMIT, NULL,
     "neighbours over which scores are pooled, an odd number"},
    {"pool", PARAM_ENUM, P(pool), "mean", 0, 0, pools, "how they are pooled"},
    {"group", PARAM_ENUM, P(group), NULL, 0, 0, groups,
     "what counts of a group: the mean over its heads, or the largest logit before the softmax; mean if not "
     "given"},
    {"order", PARAM_ENUM, P(order), NULL, 0, 0, orders,
     "in which order tokens that are kept lie, for the next pooling; time if not given"},
    {0},
};
#undef P

static const struct preset snapkv_presets[] = {
    {"original", "", "the released constructor's values (the defaults)"},
    {"paper", "window=32,kernel=7,pool=max", "the paper's LongBench runs"},
    {"Random-Attention@066c520", "when=decode",
     "SalesforceAIResearch/Random-Attention at 066c520: its baseline while decoding"},
    {"R-KV@d15c976", "when=both,group=max_logit,order=score,window=8,every=128,kernel=7,pool=max",
     "Zefan-Cai/R-KV at d15c976: its class SnapKV as it runs, the first problem of a process"},
    {0},
};

static struct keep_params keep_params_of(const struct snapkv_params *p)
{
    struct keep_params r =
        evict_rule(p->budget_tokens, p->cr, p->when == AT_PROMPT ? 1 : p->every, p->window);
    r.of_context = r.late = p->when == AT_BOTH;
    return r;
}

static int snapkv_check(const void *params, struct err *e)
{
    const struct snapkv_params *p = params;
    const struct keep_params r = keep_params_of(p);
    if (p->kernel % 2 == 0)
        return err_set(e, ERR_USAGE, "policy snapkv: kernel is %d; use an odd number of neighbours",
                       p->kernel);
    if (p->when == AT_PROMPT && policy_no_effect(&policy_snapkv, p, "every", "with when=prompt", e))
        return ERR_USAGE;
    return evict_check("snapkv", &r, e);
}

/* After the prompt everything that is decoded comes on top. */
static struct policy_budget snapkv_budget(const void *params, const struct budget_at *at)
{
    const struct snapkv_params *p = params;
    const struct keep_params r = keep_params_of(p);
    double kept = evict_budget(&r, at), decoded = fmax(at->context - at->prompt, 0);
    if (p->when != AT_PROMPT)
        return (struct policy_budget){kept, evict_whole(&r, at)};
    return (struct policy_budget){fmin(kept, at->prompt) + decoded,
                                  at->prompt > floor(kept) ? at->prompt : INFINITY};
}

static double snapkv_held(const void *params, const struct budget_at *at)
{
    const struct snapkv_params *p = params;
    struct policy_budget b = snapkv_budget(params, at);
    return p->when == AT_BOTH     ? fmax(b.whole, b.tokens + p->every)
           : p->when == AT_DECODE ? b.whole
                                  : b.tokens;
}

static struct policy_period snapkv_period(const void *params, const struct budget_at *at)
{
    const struct snapkv_params *p = params;
    const struct keep_params r = keep_params_of(p);
    return p->when != AT_PROMPT ? evict_period(&r, at) : (struct policy_period){1, 1};
}

static void snapkv_describe_budget(const void *params, struct str *out)
{
    const struct snapkv_params *p = params;
    const struct keep_params r = keep_params_of(p);
    evict_rule_text(&r, out);
    if (p->when == AT_PROMPT)
        str_printf(out,
                   " of the prompt kept per KV head, the last %d and those they attend to; every decoded "
                   "token on top",
                   p->window);
    else
        str_printf(out, " kept per KV head every %d tokens, the last %d and those they attend to", p->every,
                   p->window);
    str_puts(out, p->when == AT_BOTH ? "; the prompt at once" : "");
    str_puts(out, p->group == GROUP_MAX_LOGIT ? "; by a group's largest logit" : "");
    str_puts(out, p->order == BY_SCORE ? "; in the order of scores" : "");
}

static size_t snapkv_state(const struct policy *pol)
{
    const struct snapkv_params *p = pol->params;
    return evict_rings(pol, p->window);
}

static void snapkv_select(const struct policy *pol, const struct policy_ctx *c, int layer,
                          struct selection *s)
{
    const struct snapkv_params *p = pol->params;
    (void)s;
    if (p->when != AT_PROMPT)
        evict_queries(c, layer, p->window);
}

static void snapkv_select_prefill(const struct policy *pol, const struct policy_ctx *c, int layer,
                                  struct prefill_selection *s)
{
    const struct snapkv_params *p = pol->params;
    (void)s;
    evict_queries(c, layer, p->window);
}

static void snapkv_on_attn_out(const struct policy *pol, const struct policy_ctx *c, int layer)
{
    const struct snapkv_params *p = pol->params;
    struct keep_params keep = keep_params_of(p);
    struct evict_layers l = evict_layers(c, layer);
    if (c->prefill
            ? p->when == AT_DECODE || !policy_at_end(c) || !evict_may_act(&keep, c->n_prompt + keep.late)
            : p->when == AT_PROMPT || l.n == 0)
        return;
    struct policy_ctx one = c->prefill ? policy_last_row(c) : *c;
    keep.every = c->prefill ? 1 : keep.every;
    struct scores s = evict_window(&one, l,
                                   (struct window_mass_args){.params = keep,
                                                             .n = p->window,
                                                             .causal = p->when == AT_PROMPT,
                                                             .largest_first = p->group == GROUP_MAX_LOGIT,
                                                             .kernel = p->kernel,
                                                             .pool = (enum window_pool)p->pool});
    if (p->order == BY_SCORE)
        evict_keep_sorted(&one, l.first, s, &keep);
    else
        evict_keep(&one, l.first, s, &keep, 1, 0);
}

static int snapkv_tail(const void *params)
{
    const struct snapkv_params *p = params;
    return p->window;
}

const struct policy_ops policy_snapkv = {
    .name = "snapkv",
    .help = "keeps what the latest queries attend to, at the end of the prompt or every few tokens (SnapKV, "
            "arXiv 2404.14469)",
    .params = snapkv_params,
    .params_size = sizeof(struct snapkv_params),
    .presets = snapkv_presets,
    .budget_keys = "budget_tokens,cr",
    .generous = "budget_tokens=4096",
    .tight = "budget_tokens=40,window=16,every=16,when=decode",
    .needs = POLICY_DROP,
    .check = snapkv_check,
    .budget = snapkv_budget,
    .held = snapkv_held,
    .period = snapkv_period,
    .describe_budget = snapkv_describe_budget,
    .state_size = snapkv_state,
    .prompt_tail = snapkv_tail,
    .select = snapkv_select,
    .select_prefill = snapkv_select_prefill,
    .on_attn_out = snapkv_on_attn_out,
};
