#ifndef ENGINE_POLICIES_EVICT_H
#define ENGINE_POLICIES_EVICT_H

#include "engine/policies/policy.h"

/* Shared by policies that forget tokens by their scores. A KV head's budget is `budget_tokens`, or `cr`: the
 * longest sequence that the prompt can become, divided by it (DMS paper, arXiv 2506.05345, for TOVA and H2O).
 */
#define EVICT_PARAMS(tokens_at, cr_at)                                                                       \
    {"budget_tokens", PARAM_INT, tokens_at, NULL, 1, 1e9, NULL, "budget: tokens kept per KV head"},          \
    {                                                                                                        \
        "cr", PARAM_DOUBLE, cr_at, NULL, 1, 1000, NULL,                                                      \
            "budget: (prompt + longest completion) / cr tokens per KV head"                                  \
    }

/* Returns the rule of a policy with these options, of which exactly one is set, that acts every `every`
 * tokens and always keeps `recent` ones. With cr it keeps at least one token besides them. */
struct keep_params evict_rule(int budget_tokens, double cr, int every, int recent);
/* Returns 0, or ERR_USAGE for a budget in tokens that holds no more than the recent tokens. */
int evict_check(const char *policy, const struct keep_params *r, struct err *e);

/* Returns 0 if a prompt of n tokens is known to fit the budget, else 1; always 1 with cr. */
int evict_may_act(const struct keep_params *r, int n);

/* Returns the budget in tokens, not rounded. */
double evict_budget(const struct keep_params *r, const struct budget_at *at);
/* Returns the context at which a KV head first forgets something that was in the prompt or came after it. */
double evict_whole(const struct keep_params *r, const struct budget_at *at);
/* Return what policy_ops.budget returns: for a policy that forgets in every step, and for one that forgets
 * every r->every tokens. */
struct policy_budget evict_budget_each_step(const struct keep_params *r, const struct budget_at *at);
struct policy_budget evict_budget_periodic(const struct keep_params *r, const struct budget_at *at);
/* Returns what policy_ops.period of the latter returns. */
struct policy_period evict_period(const struct keep_params *r, const struct budget_at *at);
/* Appends "128 tokens" or "(prompt + longest completion) / 4 tokens". */
void evict_rule_text(const struct keep_params *r, struct str *out);

/* evict_layers() returns the layers that forget after the attention of `layer`: n of them from `first` on, 0
 * where later ones join them; with the last layer all have forgotten, which is when a step's tokens are
 * counted. Layers with a window are not among them, and layers with sinks, of which each has its own, come
 * one by one. Nobody looks at a layer's cache between its attention and then, and one sequence's few heads
 * leave most of a GPU idle. */
struct evict_layers {
    int first, n;
};
struct evict_layers evict_layers(const struct policy_ctx *c, int layer);

/* Enqueues: each KV head keeps the tokens with the best scores, as many as the rule says; where `in` is empty
 * nothing happens. `in` has lists of the heads of one or more layers from `layer` on, or one that the heads
 * of `layer` share. carry: tables of the state that move along with the slots (keep_args). */
void evict_keep(const struct policy_ctx *c, int layer, struct scores in, const struct keep_params *r,
                int squeeze, int carry);
/* evict_keep with squeeze, after which the tokens before the recent ones lie in the order of their scores.
 * `in` has lists of the heads of one or more layers. */
void evict_keep_sorted(const struct policy_ctx *c, int layer, struct scores in, const struct keep_params *r);

/* For policies that look back from a sequence's last n queries: evict_rings() returns the bytes per sequence
 * of their rings, which lie at the beginning of the state. evict_queries() enqueues that the queries of this
 * call go there, in prefill and decoding; q must be as in select. evict_window() enqueues window_mass of
 * these layers, with everything that its arguments have in common filled in; the other members are the
 * caller's. It returns the scores that it writes, a list per KV head of these layers. */
size_t evict_rings(const struct policy *pol, int n);
void evict_queries(const struct policy_ctx *c, int layer, int n);
struct scores evict_window(const struct policy_ctx *c, struct evict_layers l, struct window_mass_args a);

#endif
