/* DeltaLLM (arXiv 2507.19608) while decoding: a key that leaves the window of the last few is replaced by
 * khat, which keeps each channel's earlier value until the key has moved away from it by more than theta
 * (Eq. 2 to 4). Nothing is chosen and nothing is forgotten; what is saved are key channels that need not be
 * read again, since their difference to the token before is 0.
 *
 * Here khat is written over the cached key, after RoPE, which gives the same scores as the paper's running
 * sum of q . delta. So a step still reads every K and V, and reports count them as read. The paper's own
 * measure, what is left to read of the keys, is counted besides (kv_counts.key_elements). The prompt itself
 * is attended exactly, and its keys are replaced at its end. */
#include <math.h>

#include "engine/policies/policies.h"
#include "engine/policies/policy.h"

struct deltallm_params {
    double theta;
    int window_tokens;
};

#define P(field) offsetof(struct deltallm_params, field)
static const struct param deltallm_params[] = {
    {"theta", PARAM_DOUBLE, P(theta), NULL, 0, 1e6, NULL,
     "budget: a channel of a key keeps its earlier value until it differs by more than this"},
    {"window_tokens", PARAM_INT, P(window_tokens), "4", 1, 1e6, NULL, "most recent keys that are exact"},
    {0},
};
#undef P

static void deltallm_describe_budget(const void *params, struct str *out)
{
    const struct deltallm_params *p = params;
    str_printf(out,
               "every token read; channels of keys older than %d tokens keep their value until it changes by "
               "more than %g, exact prefill",
               p->window_tokens, p->theta);
}

/* It reads everything, so there is no number of tokens that it keeps to. */
static struct policy_budget deltallm_budget(const void *params, const struct budget_at *at)
{
    (void)params, (void)at;
    return (struct policy_budget){INFINITY, INFINITY};
}

/* Per sequence: khat of the newest key replaced, float (n_layers, n_kv, head_dim). */
static size_t deltallm_state(const struct policy *pol)
{
    return sizeof(float) * (size_t)pol->dims.n_layers * (size_t)pol->dims.n_kv * (size_t)pol->dims.head_dim;
}

static struct hold_keys_args hold_args(const struct policy *pol, const struct policy_ctx *c, int layer)
{
    const struct deltallm_params *p = pol->params;
    return (struct hold_keys_args){.rows = c->rows,
                                   .kv = c->kv,
                                   .layer = layer,
                                   .state = c->state,
                                   .state_bytes = c->state_bytes,
                                   .window = p->window_tokens,
                                   .theta = (float)p->theta};
}

static void deltallm_select(const struct policy *pol, const struct policy_ctx *c, int layer,
                            struct selection *s)
{
    struct hold_keys_args a = hold_args(pol, c, layer);
    (void)s;
    policy_launch(c, OP_hold_keys, &a);
}

static void deltallm_prefill_end(const struct policy *pol, const struct policy_ctx *c)
{
    for (int l = policy_next_full(&c->dims, -1); l < c->dims.n_layers; l = policy_next_full(&c->dims, l)) {
        struct hold_keys_args a = hold_args(pol, c, l);
        a.seq = c->seq;
        a.n = c->n_prompt;
        policy_launch(c, OP_hold_keys, &a);
    }
}

const struct policy_ops policy_deltallm = {
    .name = "deltallm",
    .help = "replaces old keys by ones whose channels change rarely (DeltaLLM, arXiv 2507.19608)",
    .params = deltallm_params,
    .params_size = sizeof(struct deltallm_params),
    .budget_keys = "theta",
    .generous = "theta=0",
    .tight = "theta=0.6",
    .needs = POLICY_OWN_KEYS,
    .budget = deltallm_budget,
    .describe_budget = deltallm_describe_budget,
    .state_size = deltallm_state,
    .select = deltallm_select,
    .prefill_end = deltallm_prefill_end,
};
