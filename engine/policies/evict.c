/* Budgets and the act of forgetting, for policies that forget by scores (contract: evict.h). */
#include "engine/policies/evict.h"

#include <math.h>

struct keep_params evict_rule(int budget_tokens, double cr, int every, int recent)
{
    int given = budget_tokens != PARAM_UNSET_INT;
    struct keep_params r = {.tokens = given ? budget_tokens : 0,
                            .cr = given ? 0 : cr,
                            .min_tokens = recent + 1,
                            .every = every,
                            .recent = recent};
    return r;
}

int evict_check(const char *policy, const struct keep_params *r, struct err *e)
{
    if (r->cr > 0 || r->tokens >= r->min_tokens)
        return 0;
    return err_set(e, ERR_USAGE,
                   "policy %s: budget_tokens %d leaves no room beside the %d recent tokens that are always "
                   "kept; use at least %d",
                   policy, r->tokens, r->recent, r->min_tokens);
}

int evict_may_act(const struct keep_params *r, int n)
{
    return r->cr > 0 || n > r->tokens;
}

double evict_budget(const struct keep_params *r, const struct budget_at *at)
{
    double tokens = r->cr > 0 ? (at->prompt + at->longest) / r->cr : r->tokens;
    return fmax(tokens, r->min_tokens);
}

/* It acts once more than the budget is held, at a multiple of `every`, and while decoding. A late rule cuts
 * the prompt too, and acts in the step after a multiple. */
double evict_whole(const struct keep_params *r, const struct budget_at *at)
{
    double budget = floor(evict_budget(r, at)), held = fmax(budget, at->prompt);
    if (r->late)
        return at->prompt > budget ? at->prompt : ceil(budget / r->every) * r->every + 1;
    return (floor(held / r->every) + 1) * r->every;
}

struct policy_budget evict_budget_each_step(const struct keep_params *r, const struct budget_at *at)
{
    double tokens = evict_budget(r, at);
    return (struct policy_budget){tokens, floor(tokens) + 1};
}

struct policy_budget evict_budget_periodic(const struct keep_params *r, const struct budget_at *at)
{
    return (struct policy_budget){evict_budget(r, at), evict_whole(r, at)};
}

/* What is left then is the budget, and the next time is at the next multiple of `every`, of what is held or
 * of the context. */
struct policy_period evict_period(const struct keep_params *r, const struct budget_at *at)
{
    int past = r->of_context ? 0 : (int)fmod(floor(evict_budget(r, at)), r->every);
    return (struct policy_period){r->every, r->every - past};
}

void evict_rule_text(const struct keep_params *r, struct str *out)
{
    if (r->cr > 0)
        str_printf(out, "(prompt + longest completion) / %g tokens", r->cr);
    else
        str_printf(out, "%d tokens", r->tokens);
}

struct evict_layers evict_layers(const struct policy_ctx *c, int layer)
{
    int at_once = c->prefill || c->softmax.sink ? 1 : c->dims.list_layers, lowest = layer / at_once * at_once,
        first = layer;
    int next = policy_next_full(&c->dims, layer), is_joined = next == layer + 1 && next < lowest + at_once;
    while (first > lowest && policy_layer_is_full(&c->dims, first - 1))
        first--;
    return (struct evict_layers){first, is_joined && next < c->dims.n_layers ? 0 : layer + 1 - first};
}

void evict_keep(const struct policy_ctx *c, int layer, struct scores in, const struct keep_params *r,
                int squeeze, int carry)
{
    struct topk_params keep = {.kind = r->cr > 0 ? TOPK_CR : TOPK_FIXED,
                               .k = r->tokens,
                               .cr = r->cr,
                               .min_k = r->min_tokens,
                               .tokens_per = 1,
                               .force_last = r->recent,
                               .force = FORCE_INSIDE,
                               .dense_when_short = 1};
    policy_topk(c, in, &keep, c->total_len, 0);
    struct keep_args a = {.rows = c->rows,
                          .kv = c->kv,
                          .layer = layer,
                          .idx = c->list[0].idx,
                          .len = c->list[0].len,
                          .n_rows = in.n_rows,
                          .cap = in.stride,
                          .squeeze = squeeze,
                          .carry = carry,
                          .state = c->state,
                          .state_bytes = c->state_bytes};
    policy_launch(c, OP_keep, &a);
}

void evict_keep_sorted(const struct policy_ctx *c, int layer, struct scores in, const struct keep_params *r)
{
    struct sort_slots_args a = {.rows = c->rows,
                                .kv = c->kv,
                                .layer = layer,
                                .in = in,
                                .idx = c->list[0].idx,
                                .len = c->list[0].len,
                                .recent = r->recent};
    evict_keep(c, layer, in, r, 1, 0);
    policy_launch(c, OP_sort_slots, &a);
}

size_t evict_rings(const struct policy *pol, int n)
{
    return sizeof(float) * (size_t)pol->dims.n_layers * (size_t)n * (size_t)pol->dims.n_q *
           (size_t)pol->dims.head_dim;
}

void evict_queries(const struct policy_ctx *c, int layer, int n)
{
    struct put_queries_args a = {.rows = c->rows,
                                 .layer = layer,
                                 .n_q = c->dims.n_q,
                                 .dim = c->dims.head_dim,
                                 .n = n,
                                 .prefill = c->prefill,
                                 .q = c->q,
                                 .q_stride = c->qkv_stride,
                                 .state = c->state,
                                 .state_bytes = c->state_bytes};
    policy_launch(c, OP_put_queries, &a);
}

struct scores evict_window(const struct policy_ctx *c, struct evict_layers l, struct window_mass_args a)
{
    a.rows = c->rows;
    a.kv = c->kv;
    a.layer = l.first;
    a.n_q = c->dims.n_q;
    a.scale = c->scale;
    a.softmax = c->softmax;
    a.len_of_seq = c->total_len;
    a.state = c->state;
    a.state_bytes = c->state_bytes;
    a.out = policy_scores(c, l.n * c->dims.n_kv, c->dims.max_pages * KV_PAGE_TOKENS);
    policy_launch(c, OP_window_mass, &a);
    return a.out;
}
