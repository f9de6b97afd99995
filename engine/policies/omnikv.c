/* OmniKV (Hao et al., ICLR 2025): a few filter layers attend fully and choose one list of tokens for all
 * heads; the layers up to the next filter read that list. s[t] = max over query heads of the softmax
 * probability of token t, kept as its logarithm.
 *
 * Two variants are in use (docs/policies.md, omnikv). Kascade's port chooses among the whole context (`of` =
 * context) and keeps the layer after a filter dense as well. The authors' code chooses a share of the prompt
 * only and reads every generated token besides (`of` = prompt), so a short prompt with a long chain of
 * thought is read nearly whole. There s[t] is the largest logit, or the softmax runs over the prompt's keys
 * only (`score`); neither orders tokens as a softmax over the context does, since heads weigh otherwise. A
 * sink is in each of these softmaxes. */
#include <math.h>

#include "engine/policies/layer_list.h"
#include "engine/policies/model_defaults.h"
#include "engine/policies/policies.h"
#include "engine/policies/policy.h"

enum { OF_CONTEXT, OF_PROMPT };
enum { SCORE_CONTEXT, SCORE_PROMPT, SCORE_LOGIT };

struct omnikv_params {
    struct param_ints layers;
    int min_tokens, of, score, dense_layers, dense_after;
    double ratio;
};

static const char *const ofs[] = {"context", "prompt", NULL};
static const char *const scores[] = {"context", "prompt", "logit", NULL};

#define P(field) offsetof(struct omnikv_params, field)
static const struct param omnikv_params[] = {
    {"ratio", PARAM_DOUBLE, P(ratio), NULL, 1e-6, 1, NULL,
     "budget: share of the context's tokens, or of the prompt's (of)"},
    {"min_tokens", PARAM_INT, P(min_tokens), "128", 1, 1e9, NULL, "least tokens with of=context"},
    {"of", PARAM_ENUM, P(of), "context", 0, 0, ofs,
     "choose among all tokens, or among the prompt's and read all generated ones besides"},
    {"score", PARAM_ENUM, P(score), NULL, 0, 0, scores,
     "over which keys the softmax of a score runs, all or with of=prompt the prompt's; logit: the logit "
     "itself; "
     "context if not given"},
    {"layers", PARAM_INTS, P(layers), NULL, 0, 1000, NULL,
     "filter layers; default: those published for the model (run file: model_name)"},
    {"dense_layers", PARAM_INT, P(dense_layers), "2", 0, 1000, NULL, "first layers kept at full attention"},
    {"dense_after", PARAM_INT, P(dense_after), "1", 0, 1000, NULL,
     "layers after each filter kept at full attention"},
    {0},
};
#undef P

static const struct preset omnikv_presets[] = {
    {"kascade", "ratio=0.1", "as measured in the Kascade paper: 10 % of the context, at least 128 tokens"},
    {"OmniKV@5c33cb5", "ratio=0.067,of=prompt,score=logit",
     "antgroup/OmniKV at 5c33cb5, configs/example.json: 6.7 % of the prompt by the largest logit, and all "
     "generated tokens"},
    {"OmniKV@5c33cb5-class", "ratio=0.067,of=prompt,score=prompt",
     "the same with the default of its class: a softmax over the prompt's keys"},
    {0},
};

static int omnikv_check(const void *params, struct err *e)
{
    const struct omnikv_params *p = params;
    if (p->of != OF_PROMPT && p->score == SCORE_PROMPT)
        return err_set(e, ERR_USAGE,
                       "policy omnikv: score=prompt scores the prompt's keys only; give of=prompt as well");
    return p->of == OF_PROMPT ? policy_no_effect(&policy_omnikv, p, "min_tokens", "with of=prompt", e) : 0;
}

static int omnikv_resolve(struct policy_spec *s, const struct policy_model *m, struct arena *a, struct err *e)
{
    struct omnikv_params *p = s->params;
    int is_default = p->layers.n < 0;
    int rc = model_defaults_layers(s, &p->layers, "layers", MODEL_DEFAULT_OMNIKV, m, a, e);
    if (!rc && is_default)
        layer_list_drop_below(&p->layers, p->dense_layers);
    return rc ? rc : layer_list_above(&p->layers, "layers", p->dense_layers, e);
}

static struct policy_budget omnikv_budget(const void *params, const struct budget_at *at)
{
    const struct omnikv_params *p = params;
    double tokens = fmax(p->ratio * at->context, p->min_tokens);
    if (p->of == OF_PROMPT) {
        tokens = p->ratio * at->prompt + at->context - at->prompt;
        return (struct policy_budget){tokens, p->ratio < 1 ? 0 : at->context};
    }
    return (struct policy_budget){tokens, tokens};
}

static void omnikv_describe_budget(const void *params, struct str *out)
{
    const struct omnikv_params *p = params;
    if (p->of == OF_PROMPT)
        str_printf(out, "%g of the prompt's tokens and all generated ones", p->ratio);
    else
        str_printf(out, "%g of the context's tokens, at least %d", p->ratio, p->min_tokens);
    str_printf(out, "%s, one list for all heads; layers below %d, the filter layers and %d after each dense",
               p->score == SCORE_LOGIT    ? ", by the largest logit"
               : p->score == SCORE_PROMPT ? ", by a softmax over the prompt"
                                          : "",
               layer_list_first(&p->layers, p->dense_layers), p->dense_after);
}

/* The filter layer whose list this layer reads; -1: it reads everything. */
static int filter_of(const struct omnikv_params *p, int layer)
{
    if (layer < p->dense_layers || layer_list_has(&p->layers, layer))
        return -1;
    for (int l = layer - 1; l >= p->dense_layers; l--)
        if (layer_list_has(&p->layers, l))
            return layer - l > p->dense_after ? l : -1;
    return -1;
}

static void omnikv_select(const struct policy *pol, const struct policy_ctx *c, int layer,
                          struct selection *s)
{
    const struct omnikv_params *p = pol->params;
    for (int l = policy_next_full(&pol->dims, layer); l < pol->dims.n_layers;
         l = policy_next_full(&pol->dims, l))
        if (filter_of(p, l) == layer)
            s->want_stats = STATS_TOKENS;
    if (filter_of(p, layer) < 0)
        return;
    policy_read_tokens(c, 1, s);
}

static void omnikv_observe(const struct policy *pol, const struct policy_ctx *c, int layer)
{
    const struct omnikv_params *p = pol->params;
    struct first_lse_args lse = {.rows = c->rows,
                                 .n_q = c->dims.n_q,
                                 .len_of_seq = p->score == SCORE_PROMPT ? c->prompt_len : NULL,
                                 .io = c->stats,
                                 .sink = c->softmax.sink};
    if (p->score == SCORE_PROMPT || p->score == SCORE_LOGIT)
        policy_launch(c, OP_first_lse, &lse);
    struct scores best = policy_reduce_stats(
        c, layer,
        (struct reduce_stats_args){.mode = REDUCE_MAX, .out = policy_scores(c, 1, c->stats.stride)});
    struct topk_params topk = {.kind = TOPK_RATIO, .ratio = p->ratio, .min_tokens = p->min_tokens};
    if (p->of == OF_PROMPT)
        topk = (struct topk_params){
            .kind = TOPK_LEN, .ratio = p->ratio, .force_after_len = 1, .force = FORCE_BESIDE};
    policy_topk(c, best, &topk, p->of == OF_PROMPT ? c->prompt_len : NULL, 0);
}

const struct policy_ops policy_omnikv = {
    .name = "omnikv",
    .help = "filter layers attend fully and choose the tokens of the layers above them (OmniKV, ICLR 2025)",
    .params = omnikv_params,
    .params_size = sizeof(struct omnikv_params),
    .presets = omnikv_presets,
    .budget_keys = "ratio",
    .generous = "ratio=1",
    .tight = "ratio=0.2",
    .needs = POLICY_STATS,
    .check = omnikv_check,
    .resolve = omnikv_resolve,
    .budget = omnikv_budget,
    .describe_budget = omnikv_describe_budget,
    .select = omnikv_select,
    .observe = omnikv_observe,
};
