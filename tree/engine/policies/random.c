/* Random Attention (arXiv 2609.03430), the policy that looks at nothing: every 64 tokens each KV head of each
 * layer keeps the prompt, the most recent tokens, and of the others as many as the budget has room for, drawn
 * at random. What other policies that forget gain, they must gain over this one.
 *
 * A draw hangs on the seed, the problem, the sample, the position, the layer, the head and the slot, so that
 * neither batch nor order change it. In every round the survivors move down to the first slots in their
 * order, so that slots are in the order of time and the prompt is in the first ones. */
#include "engine/policies/evict.h"
#include "engine/policies/policies.h"

enum { PER_HEAD, SHARED };
enum { REST_RANDOM, REST_NEWEST };

struct random_params {
    int budget_tokens, every, recent, pin_prompt, draw, rest;
    double cr;
};

static const char *const draws[] = {"per_head", "shared", NULL};
static const char *const rests[] = {"random", "newest", NULL};

#define P(field) offsetof(struct random_params, field)
static const struct param random_params[] = {
    EVICT_PARAMS(P(budget_tokens), P(cr)),
    {"every", PARAM_INT, P(every), "64", 1, 1e6, NULL,
     "tokens are forgotten whenever a multiple of this is held"},
    {"recent", PARAM_INT, P(recent), "64", 1, 1e6, NULL, "latest tokens that are always kept"},
    {"pin_prompt", PARAM_BOOL, P(pin_prompt), "true", 0, 0, NULL,
     "the prompt is kept, as far as the budget has room for it"},
    {"draw", PARAM_ENUM, P(draw), "per_head", 0, 0, draws,
     "each KV head draws, or one draw is for all heads"},
    {"rest", PARAM_ENUM, P(rest), "random", 0, 0, rests, "what is kept besides: drawn, or the newest tokens"},
    {0},
};
#undef P

static const struct preset random_presets[] = {
    {"paper", "", "Random Attention (the defaults)"},
    {"recency_pp", "rest=newest,recent=1", "the prompt and the newest tokens, the paper's other baseline"},
    {0},
};

static struct keep_params keep_params_of(const struct random_params *p)
{
    return evict_rule(p->budget_tokens, p->cr, p->every, p->recent);
}

static int random_check(const void *params, struct err *e)
{
    const struct random_params *p = params;
    const struct keep_params r = keep_params_of(p);
    if (p->rest == REST_NEWEST && policy_no_effect(&policy_random, p, "draw", "with rest=newest", e))
        return ERR_USAGE;
    return evict_check("random", &r, e);
}

static struct policy_budget random_budget(const void *params, const struct budget_at *at)
{
    const struct keep_params r = keep_params_of(params);
    return evict_budget_periodic(&r, at);
}

static double random_held(const void *params, const struct budget_at *at)
{
    const struct keep_params r = keep_params_of(params);
    return evict_whole(&r, at);
}

static struct policy_period random_period(const void *params, const struct budget_at *at)
{
    const struct keep_params r = keep_params_of(params);
    return evict_period(&r, at);
}

static void random_describe_budget(const void *params, struct str *out)
{
    const struct random_params *p = params;
    const struct keep_params r = keep_params_of(p);
    evict_rule_text(&r, out);
    str_printf(out, " kept per KV head every %d tokens: %sthe last %d and %s", p->every,
               p->pin_prompt ? "the prompt, " : "", p->recent,
               p->rest == REST_NEWEST ? "the newest others"
               : p->draw == SHARED    ? "a random share of the others, one for all heads"
                                      : "a random share of the others");
}

/* After the layers' attention, in which the current token took part. */
static void random_on_attn_out(const struct policy *pol, const struct policy_ctx *c, int layer)
{
    const struct random_params *p = pol->params;
    struct evict_layers l = evict_layers(c, layer);
    if (c->prefill || l.n == 0)
        return;
    struct random_scores_args a = {
        .rows = c->rows,
        .kv = c->kv,
        .layer = l.first,
        .params = keep_params_of(p),
        .len_of_seq = c->total_len,
        .prompt_len = c->prompt_len,
        .settings = c->settings,
        .pin_prompt = p->pin_prompt,
        .shared = p->draw == SHARED,
        .newest = p->rest == REST_NEWEST,
        .out = policy_scores(c, l.n * c->dims.n_kv, c->dims.max_pages * KV_PAGE_TOKENS)};
    policy_launch(c, OP_random_scores, &a);
    evict_keep(c, l.first, a.out, &a.params, 1, 0);
}

const struct policy_ops policy_random = {
    .name = "random",
    .help = "keeps the prompt, recent tokens and a random share of the others (arXiv 2609.03430)",
    .params = random_params,
    .params_size = sizeof(struct random_params),
    .presets = random_presets,
    .budget_keys = "budget_tokens,cr",
    .generous = "budget_tokens=4096",
    .tight = "budget_tokens=40,recent=16,every=16",
    .needs = POLICY_DROP | POLICY_DRAWS,
    .check = random_check,
    .budget = random_budget,
    .held = random_held,
    .period = random_period,
    .describe_budget = random_describe_budget,
    .on_attn_out = random_on_attn_out,
};
