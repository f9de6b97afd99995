/* StreamingLLM (Xiao et al., arXiv 2309.17453): a query sees the first few tokens, the sinks, and the most
 * recent ones, whatever they are about. Query n sees position t where t < sinks or n - t < W - sinks.
 *
 * form=mask is the port that Kascade compares with (SinkedSlidingWindowStrategy): W grows with the context,
 * so a hidden token can come back, and nothing is forgotten. In the prompt W is that of the whole prompt, for
 * all its queries. form=evict has a fixed W and forgets for good: the token that leaves the window makes room
 * for the new one. The original numbers the positions anew inside its cache; here, as in the ports to
 * Transformers, keys keep the rotation of their position in the text. */
#include <math.h>
#include <stdlib.h>

#include "engine/policies/policies.h"
#include "engine/policies/policy.h"

enum { FORM_MASK, FORM_EVICT };

struct streaming_params {
    int window_tokens, min_tokens, sinks, form;
    double ratio;
};

static const char *const forms[] = {"mask", "evict", NULL};

#define P(field) offsetof(struct streaming_params, field)
static const struct param streaming_params[] = {
    {"window_tokens", PARAM_INT, P(window_tokens), NULL, 2, 1e6, NULL,
     "budget: tokens that a query sees, the sinks and itself among them"},
    {"ratio", PARAM_DOUBLE, P(ratio), NULL, 1e-6, 1, NULL,
     "budget: share of the context that a query sees, at least min_tokens; form=mask only"},
    {"min_tokens", PARAM_INT, P(min_tokens), "128", 2, 1e6, NULL, "least tokens with ratio"},
    {"sinks", PARAM_INT, P(sinks), "4", 0, 1e6, NULL, "first tokens that are always seen"},
    {"form", PARAM_ENUM, P(form), "mask", 0, 0, forms,
     "what is out of the window is hidden, or forgotten for good"},
    {0},
};
#undef P

static const struct preset streaming_presets[] = {
    {"kascade", "ratio=0.3",
     "as measured in the Kascade paper: 30 % of the context, at least 128, by a mask"},
    {"evict", "form=evict", "forgets what leaves a window of fixed size; give window_tokens"},
    {0},
};

struct streaming_own {
    /* Device (n_kv, max_context): the last query that sees each key of the prompt, in every layer. One prompt
     * is prefilled at a time. */
    int32_t *until;
};

static int streaming_check(const void *params, struct err *e)
{
    const struct streaming_params *p = params;
    int fixed = p->window_tokens != PARAM_UNSET_INT, least = fixed ? p->window_tokens : p->min_tokens;
    if (p->form == FORM_EVICT && !fixed)
        return err_set(e, ERR_USAGE,
                       "policy streamingllm: form=evict needs a window of fixed size; give window_tokens "
                       "instead of ratio");
    if (p->sinks >= least)
        return err_set(e, ERR_USAGE,
                       "policy streamingllm: sinks (%d) leaves no recent token in %s (%d); lower it",
                       p->sinks, fixed ? "window_tokens" : "min_tokens", least);
    return fixed ? policy_no_effect(&policy_streamingllm, p, "min_tokens", "with window_tokens", e) : 0;
}

static unsigned streaming_needs(const void *params)
{
    const struct streaming_params *p = params;
    return p->form == FORM_EVICT ? POLICY_DROP : 0;
}

static struct policy_budget streaming_budget(const void *params, const struct budget_at *at)
{
    const struct streaming_params *p = params;
    double tokens =
        p->window_tokens != PARAM_UNSET_INT ? p->window_tokens : fmax(p->ratio * at->context, p->min_tokens);
    return (struct policy_budget){tokens, tokens};
}

static double streaming_held(const void *params, const struct budget_at *at)
{
    const struct streaming_params *p = params;
    return p->form == FORM_EVICT ? p->window_tokens : at->context;
}

static void streaming_describe_budget(const void *params, struct str *out)
{
    const struct streaming_params *p = params;
    if (p->window_tokens != PARAM_UNSET_INT)
        str_printf(out, "%d tokens", p->window_tokens);
    else
        str_printf(out, "%g of the context's tokens, at least %d", p->ratio, p->min_tokens);
    str_printf(out,
               ": the first %d and the most recent, in the prompt too; the others are %s; no dense layers",
               p->sinks, p->form == FORM_EVICT ? "gone" : "masked, not gone");
}

/* W for a prompt of so many tokens. */
static int prompt_window(const struct streaming_params *p, int n_prompt)
{
    if (p->window_tokens != PARAM_UNSET_INT)
        return p->window_tokens;
    int tokens = (int)floor(p->ratio * n_prompt);
    return tokens > p->min_tokens ? tokens : p->min_tokens;
}

static int streaming_init(struct policy *pol, struct err *e)
{
    struct streaming_own *own = xcalloc(1, sizeof *own);
    pol->own = own;
    own->until =
        pol->be->alloc(pol->dev, (size_t)pol->dims.n_kv * (size_t)pol->dims.max_context * sizeof *own->until);
    if (!own->until)
        return err_set(e, ERR_DEVICE,
                       "policy streamingllm: no device memory for the prompt's mask; use a smaller "
                       "--max-batch or fewer policies in a run");
    return 0;
}

static void streaming_release(struct policy *pol)
{
    struct streaming_own *own = pol->own;
    pol->be->release(pol->dev, own->until);
    free(own);
}

/* How many recent tokens the evicting form holds. */
static int window_length(const struct streaming_params *p)
{
    return p->window_tokens - p->sinks;
}

/* Per sequence, where tokens are forgotten: ring of slots and ring of flags, each int32 (n_layers, n_kv,
 * reach), as OP_expire wants them. */
static size_t streaming_state(const struct policy *pol)
{
    const struct streaming_params *p = pol->params;
    if (p->form == FORM_MASK)
        return 0;
    return 2 * sizeof(int32_t) * (size_t)pol->dims.n_layers * (size_t)pol->dims.n_kv *
           (size_t)window_length(p);
}

static void streaming_on_qkv(const struct policy *pol, const struct policy_ctx *c, int layer)
{
    const struct streaming_params *p = pol->params;
    const struct streaming_own *own = pol->own;
    if (c->prefill && layer == policy_next_full(&c->dims, -1)) {
        struct until_args u = {.rows = c->rows,
                               .until = own->until,
                               .stride = pol->dims.max_context,
                               .n_kv = pol->dims.n_kv,
                               .reach = prompt_window(p, c->n_prompt) - p->sinks,
                               .sinks = p->sinks};
        policy_launch(c, OP_until, &u);
    } else if (!c->prefill && p->form == FORM_EVICT) {
        struct expire_args x = {.rows = c->rows,
                                .kv = c->kv,
                                .layer = layer,
                                .state = c->state,
                                .state_bytes = c->state_bytes,
                                .reach = window_length(p),
                                .sinks = p->sinks};
        policy_launch(c, OP_expire, &x);
    }
}

static void streaming_select_prefill(const struct policy *pol, const struct policy_ctx *c, int layer,
                                     struct prefill_selection *s)
{
    const struct streaming_own *own = pol->own;
    (void)c, (void)layer;
    s->kind = PREFILL_UNTIL;
    s->until = own->until;
    s->until_stride = pol->dims.max_context;
}

static void streaming_prefill_end(const struct policy *pol, const struct policy_ctx *c)
{
    const struct streaming_params *p = pol->params;
    const struct streaming_own *own = pol->own;
    if (p->form == FORM_MASK)
        return;
    int32_t *ring = (int32_t *)(void *)(c->state + (size_t)c->seq * c->state_bytes);
    policy_compact(c, (struct compact_args){.until = own->until,
                                            .ring_slot = ring,
                                            .ring_flag = ring + streaming_state(pol) / sizeof(int32_t) / 2,
                                            .reach = window_length(p)});
}

/* One list for all heads and layers, made in the step's first layer with full attention. */
static void streaming_select(const struct policy *pol, const struct policy_ctx *c, int layer,
                             struct selection *s)
{
    const struct streaming_params *p = pol->params;
    if (p->form == FORM_EVICT)
        return;
    struct window_list_args w = {
        .rows = c->rows,
        .params = {.kind = TOPK_RATIO, .ratio = p->ratio, .min_tokens = p->min_tokens},
        .sinks = p->sinks,
        .idx = c->list[0].idx,
        .len = c->list[0].len,
        .cap = c->dims.max_pages * KV_PAGE_TOKENS};
    if (p->window_tokens != PARAM_UNSET_INT)
        w.params = (struct topk_params){.kind = TOPK_FIXED, .k = p->window_tokens};
    if (layer == policy_next_full(&c->dims, -1))
        policy_launch(c, OP_window_list, &w);
    s->granularity = SEL_TOKENS;
    s->n_rows = 1;
    s->cap = w.cap;
    s->idx = w.idx;
    s->len = w.len;
}

const struct policy_ops policy_streamingllm = {
    .name = "streamingllm",
    .help =
        "sees the first few and the most recent tokens, whatever they are (StreamingLLM, arXiv 2309.17453)",
    .params = streaming_params,
    .params_size = sizeof(struct streaming_params),
    .presets = streaming_presets,
    .budget_keys = "ratio,window_tokens",
    .generous = "window_tokens=4096",
    .tight = "window_tokens=48,form=evict",
    .needs = POLICY_PREFILL,
    .needs_of = streaming_needs,
    .check = streaming_check,
    .budget = streaming_budget,
    .held = streaming_held,
    .describe_budget = streaming_describe_budget,
    .init = streaming_init,
    .release = streaming_release,
    .state_size = streaming_state,
    .on_qkv = streaming_on_qkv,
    .select = streaming_select,
    .select_prefill = streaming_select_prefill,
    .prefill_end = streaming_prefill_end,
};
