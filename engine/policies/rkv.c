/* R-KV (Cai et al., arXiv 2505.24133): whenever the context is a multiple of 128 tokens, a KV head keeps the
 * tokens that the last queries attend to and that are not like others. Reasoning repeats itself; of keys that
 * are alike the newest is spared the penalty.
 *
 * The rule is that of the released code (docs/policies.md, rkv): scores come from the largest logit of the
 * group, and in each row of the matrix of cosines one entry is spared, that of the last key above the
 * threshold (retain=first: of the first one) or, where there is none, of the first key. when=both and
 * order=score follow the released code where it is no rule of the paper: it cuts a prompt at once, and then
 * in the step after a multiple; and what it keeps lies in the order of scores from then on, so that the next
 * pooling and "the last key" run over that order. */
#include "engine/policies/evict.h"
#include "engine/policies/policies.h"

enum { RETAIN_LAST, RETAIN_FIRST };
enum { WHILE_DECODING, AT_BOTH };
enum { BY_TIME, BY_SCORE };

struct rkv_params {
    int budget_tokens, every, window, kernel, retain, when, order;
    double cr, lambda, threshold;
};

static const char *const retains[] = {"last", "first", NULL};
static const char *const whens[] = {"decode", "both", NULL};
static const char *const orders[] = {"time", "score", NULL};

#define P(field) offsetof(struct rkv_params, field)
static const struct param rkv_params[] = {
    EVICT_PARAMS(P(budget_tokens), P(cr)),
    {"every", PARAM_INT, P(every), "128", 1, 1e6, NULL, "tokens are forgotten at multiples of this context"},
    {"window", PARAM_INT, P(window), "8", 1, 4096, NULL,
     "latest queries that score, and whose keys are kept"},
    {"kernel", PARAM_INT, P(kernel), "7", 1, WINDOW_KERNEL_LIMIT, NULL,
     "neighbours of which the largest score counts, an odd number"},
    {"lambda", PARAM_DOUBLE, P(lambda), "0.07", 0, 1, NULL,
     "weight of attention; 1 - lambda is redundancy's"},
    {"threshold", PARAM_DOUBLE, P(threshold), "0.5", -1, 1, NULL, "cosine above which keys are alike"},
    {"retain", PARAM_ENUM, P(retain), NULL, 0, 0, retains,
     "which of a key's copies is spared the penalty: the newest or the oldest; last if not given"},
    {"when", PARAM_ENUM, P(when), NULL, 0, 0, whens,
     "while decoding, or both after the prompt and in the step after each such context; decode if not given"},
    {"order", PARAM_ENUM, P(order), NULL, 0, 0, orders,
     "in which order tokens that are kept lie, for the next pooling and copies; time if not given"},
    {0},
};
#undef P

static const struct preset rkv_presets[] = {
    {"script", "", "the released script's values (the defaults)"},
    {"readme", "lambda=0.1", "the repository's description"},
    {"R-KV@d15c976", "when=both,order=score",
     "Zefan-Cai/R-KV at d15c976 as it runs: the first problem of a process"},
    {0},
};

static struct keep_params keep_params_of(const struct rkv_params *p)
{
    struct keep_params r = evict_rule(p->budget_tokens, p->cr, p->every, p->window);
    r.of_context = 1;
    r.late = p->when == AT_BOTH;
    return r;
}

static int rkv_check(const void *params, struct err *e)
{
    const struct rkv_params *p = params;
    const struct keep_params r = keep_params_of(p);
    if (p->kernel % 2 == 0)
        return err_set(e, ERR_USAGE, "policy rkv: kernel is %d; use an odd number of neighbours", p->kernel);
    return evict_check("rkv", &r, e);
}

static struct policy_budget rkv_budget(const void *params, const struct budget_at *at)
{
    const struct keep_params r = keep_params_of(params);
    return evict_budget_periodic(&r, at);
}

/* The first time, as much as is read whole; later `every` tokens more than the budget. */
static double rkv_held(const void *params, const struct budget_at *at)
{
    const struct keep_params r = keep_params_of(params);
    double first = evict_whole(&r, at), later = evict_budget(&r, at) + r.every;
    return first > later ? first : later;
}

static struct policy_period rkv_period(const void *params, const struct budget_at *at)
{
    const struct keep_params r = keep_params_of(params);
    return evict_period(&r, at);
}

static void rkv_describe_budget(const void *params, struct str *out)
{
    const struct rkv_params *p = params;
    const struct keep_params r = keep_params_of(p);
    evict_rule_text(&r, out);
    str_printf(out, " kept per KV head every %d tokens: the last %d, and by %g attention less %g likeness%s",
               p->every, p->window, p->lambda, 1 - p->lambda,
               p->retain == RETAIN_FIRST ? ", which the oldest of copies is spared" : "");
    str_puts(out, p->when == AT_BOTH ? "; the prompt at once" : "");
    str_puts(out, p->order == BY_SCORE ? "; in the order of scores" : "");
}

static size_t rkv_state(const struct policy *pol)
{
    const struct rkv_params *p = pol->params;
    return evict_rings(pol, p->window);
}

static void rkv_select(const struct policy *pol, const struct policy_ctx *c, int layer, struct selection *s)
{
    const struct rkv_params *p = pol->params;
    (void)s;
    evict_queries(c, layer, p->window);
}

static void rkv_select_prefill(const struct policy *pol, const struct policy_ctx *c, int layer,
                               struct prefill_selection *s)
{
    const struct rkv_params *p = pol->params;
    (void)s;
    evict_queries(c, layer, p->window);
}

static void rkv_on_attn_out(const struct policy *pol, const struct policy_ctx *c, int layer)
{
    const struct rkv_params *p = pol->params;
    struct keep_params keep = keep_params_of(p);
    struct evict_layers l = evict_layers(c, layer);
    if (c->prefill ? !keep.late || !policy_at_end(c) : l.n == 0)
        return;
    struct policy_ctx one = c->prefill ? policy_last_row(c) : *c;
    keep.every = c->prefill ? 1 : keep.every;
    struct scores s = evict_window(
        &one, l,
        (struct window_mass_args){
            .params = keep, .n = p->window, .largest_first = 1, .kernel = p->kernel, .pool = WINDOW_MAX});
    struct key_redundancy_args a = {.rows = one.rows,
                                    .kv = c->kv,
                                    .layer = l.first,
                                    .recent = p->window,
                                    .first = p->retain == RETAIN_FIRST,
                                    .threshold = (float)p->threshold,
                                    .lambda = (float)p->lambda,
                                    .io = s,
                                    .spare = c->list[1].idx,
                                    .mean = (float *)(void *)c->list[0].idx};
    policy_launch(c, OP_key_redundancy, &a);
    if (p->order == BY_SCORE)
        evict_keep_sorted(&one, l.first, s, &keep);
    else
        evict_keep(&one, l.first, s, &keep, 1, 0);
}

static int rkv_tail(const void *params)
{
    const struct rkv_params *p = params;
    return p->window;
}

const struct policy_ops policy_rkv = {
    .name = "rkv",
    .help = "keeps what the latest queries attend to and is not like other keys (R-KV, arXiv 2505.24133)",
    .params = rkv_params,
    .params_size = sizeof(struct rkv_params),
    .presets = rkv_presets,
    .budget_keys = "budget_tokens,cr",
    .generous = "budget_tokens=4096",
    .tight = "budget_tokens=40,every=16",
    .needs = POLICY_DROP,
    .check = rkv_check,
    .budget = rkv_budget,
    .held = rkv_held,
    .period = rkv_period,
    .describe_budget = rkv_describe_budget,
    .state_size = rkv_state,
    .prompt_tail = rkv_tail,
    .select = rkv_select,
    .select_prefill = rkv_select_prefill,
    .on_attn_out = rkv_on_attn_out,
};
