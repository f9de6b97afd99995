/* DMS (Lancucki et al., arXiv 2506.05345): a trained gate flags tokens; a flagged token is forgotten once it
 * is more than `window` tokens old, in the prompt too. The live sets are ragged by layer and KV head, and
 * their pages return to the pool.
 *
 * Gates are linear adapters on the layer's normed input, one logit per KV head, from a safetensors file whose
 * metadata carries window and shift. Or the checkpoint lends a neuron: a channel of the first query head of
 * each group, taken after the norms over heads and zeroed, before RoPE and again after it, since RoPE has
 * mixed it with another channel. The model then differs from the one without gates even if nothing is
 * forgotten. Layers with a window need no gate, and lend no neuron. shift 1 (the official checkpoints): token
 * k+1's logit decides about token k. A shift of the whole window is the paper's ablation of immediate
 * eviction: a token goes one step after the one that decides about it. Query q sees a flagged key k while
 * q - k <= window, which is window + 1 tokens, the key's own included (docs/policies.md, dms). While
 * decoding, token n takes the slot of token n - (window + 1) if that one was flagged: keys are stored
 * rotated, so their order does not matter. */
#include <math.h>
#include <stdlib.h>

#include "engine/policies/dms_gates.h"
#include "engine/policies/policies.h"
#include "engine/policies/policy.h"

enum { PREFILL_SPARSE, PREFILL_IS_DENSE };
enum { PER_HEAD, PER_LAYER };

static const char *const prefills[] = {"sparse", "dense", NULL};
static const char *const pers[] = {"head", "layer", NULL};
static const char *const neurons[] = {"last", "first", NULL};

#define P(field) offsetof(struct dms_params, field)
static const struct param dms_params[] = {
    {"cr", PARAM_DOUBLE, P(cr), NULL, 1, 1000, NULL,
     "budget: compression ratio whose gates ship with the model (pocket, SmolLM2-135M-Instruct: 2, 4, 8)"},
    {"gate", PARAM_FILE, P(gate), NULL, 0, 0, NULL, "budget: gates from this safetensors file"},
    {"neuron", PARAM_ENUM, P(neuron), NULL, 0, 0, neurons,
     "budget: gates that the checkpoint borrows from a channel of the first query head of each group "
     "(released "
     "code: last, paper: first); window, scale and bias from its config.json, shift 1"},
    {"window", PARAM_INT, P(window), NULL, 0, 1e6, NULL,
     "tokens a flagged token stays visible; default from the gate file"},
    {"shift", PARAM_INT, P(shift), NULL, 0, 1e6, NULL,
     "token k + shift's gate decides about token k, at most window later; default from the gate file"},
    {"prefill", PARAM_ENUM, P(prefill), "sparse", 0, 0, prefills,
     "the rule holds inside the prompt too, or only after it"},
    {"window_inclusive", PARAM_BOOL, P(window_inclusive), "true", 0, 0, NULL,
     "visible while q - k <= window, else q - k < window"},
    {"scale", PARAM_DOUBLE, P(scale), NULL, 0, 0, NULL,
     "the gate's logit is multiplied by this; default from the gate file, or 1"},
    {"bias", PARAM_DOUBLE, P(bias), NULL, 0, 0, NULL, "and this is added; default from the gate file, or 0"},
    {"evict", PARAM_BOOL, P(evict), NULL, 0, 0, NULL,
     "false: nothing is forgotten, which is the reference for a checkpoint that lends a neuron; true if not "
     "given"},
    {"alpha_per", PARAM_ENUM, P(alpha_per), "head", 0, 0, pers,
     "one decision per KV head, or head 0's for the layer"},
    {0},
};
#undef P

struct dms_own {
    float *w;      /* device (n_layers, n_kv, hidden) */
    float *b;      /* device (n_layers, n_kv) */
    int32_t *flag; /* device (rows, n_kv): scratch */
    /* Device (n_layers, n_kv, max_context): the last query that sees each key of the prompt. One prompt is
     * prefilled at a time. */
    int32_t *until;
};

static int dms_resolve(struct policy_spec *spec, const struct policy_model *m, struct arena *a, struct err *e)
{
    const struct dms_params *p = spec->params;
    int rc = dms_gates_resolve(spec, m, a, e);
    if (!rc && p->window + p->window_inclusive < 1 + p->shift)
        rc = err_set(e, ERR_USAGE,
                     "with window %d a token has been forgotten before token k + %d decides about "
                     "it; use a larger window or a smaller shift",
                     p->window, p->shift);
    return rc;
}

/* A lent channel is zeroed, which alone changes the model: its full attention is not what forgetting costs.
 */
static const char *dms_reference(const void *params)
{
    const struct dms_params *p = params;
    return p->neuron >= 0 ? "evict=false" : NULL;
}

static void dms_describe_budget(const void *params, struct str *out)
{
    const struct dms_params *p = params;
    if (p->evict == 0)
        str_puts(out, "nothing forgotten; ");
    if (p->gate)
        str_puts(out, "learned gates from a file");
    else if (p->neuron >= 0)
        str_printf(out, "learned gates on the %s channel of queries", neurons[p->neuron]);
    else
        str_printf(out, "learned gates for compression ratio %g", p->cr);
    if (p->window != PARAM_UNSET_INT)
        str_printf(out, ", flagged tokens visible for %d more tokens",
                   p->window_inclusive ? p->window : p->window - 1);
    str_printf(out, ", %s prefill", prefills[p->prefill]);
}

/* For how many tokens a flagged token is visible, itself included. */
static int visible_tokens(const struct dms_params *p)
{
    return p->window + (p->window_inclusive ? 1 : 0);
}

/* Gates may be trained anew under the same ratio. */
static const void *dms_data(const void *params, size_t *n)
{
    const struct dms_params *p = params;
    *n = p->n_data;
    return p->is_shipped ? p->data : NULL;
}

/* Gates have no budget that they keep to: the ratio is what they were trained for, and is taken of the
 * context. Nothing is forgotten while the whole context lies within the window. */
static struct policy_budget dms_budget(const void *params, const struct budget_at *at)
{
    const struct dms_params *p = params;
    if (p->evict == 0)
        return (struct policy_budget){INFINITY, INFINITY};
    return (struct policy_budget){isnan(p->cr) ? NAN : at->context / p->cr,
                                  p->window == PARAM_UNSET_INT ? INFINITY : visible_tokens(p)};
}

static double dms_held(const void *params, const struct budget_at *at)
{
    const struct dms_params *p = params;
    double window = p->window == PARAM_UNSET_INT ? 0 : visible_tokens(p);
    return isnan(p->cr) || p->evict == 0 ? at->context : at->context / p->cr + window;
}

static void *device_copy(const struct policy *pol, const void *src, size_t bytes)
{
    void *p = pol->be->alloc(pol->dev, bytes);
    if (p && src && pol->be->upload(pol->dev, p, src, bytes) < 0) {
        pol->be->release(pol->dev, p);
        p = NULL;
    }
    return p;
}

static int no_memory(struct err *e)
{
    return err_set(e, ERR_DEVICE,
                   "policy dms: no device memory for its gates; use a smaller --max-batch or fewer "
                   "policies in a run");
}

static size_t until_values(const struct policy *pol, int layers)
{
    return (size_t)layers * (size_t)pol->dims.n_kv * (size_t)pol->dims.max_context;
}

/* w and b of linear gates, on the device. */
static int upload_gates(struct policy *pol, struct dms_own *own, struct err *e)
{
    size_t n_w = (size_t)pol->dims.n_layers * (size_t)pol->dims.n_kv * (size_t)pol->dims.hidden;
    size_t n_b = (size_t)pol->dims.n_layers * (size_t)pol->dims.n_kv;
    float *w = xcalloc(n_w, sizeof *w), *b = xcalloc(n_b, sizeof *b);
    int rc = dms_gates_load(pol->params, &pol->dims, w, b, e);
    if (!rc) {
        own->w = device_copy(pol, w, n_w * sizeof *w);
        own->b = device_copy(pol, b, n_b * sizeof *b);
        if (!own->w || !own->b)
            rc = no_memory(e);
    }
    free(w);
    free(b);
    return rc;
}

static int dms_init(struct policy *pol, struct err *e)
{
    const struct dms_params *p = pol->params;
    struct dms_own *own = xcalloc(1, sizeof *own);
    pol->own = own;
    pol->takes_qk = p->neuron >= 0;
    int rc = pol->takes_qk ? 0 : upload_gates(pol, own, e);
    if (!rc) {
        own->flag =
            device_copy(pol, NULL, (size_t)pol->dims.max_rows * (size_t)pol->dims.n_kv * sizeof(int32_t));
        own->until = device_copy(pol, NULL, until_values(pol, pol->dims.n_layers) * sizeof *own->until);
        if (!own->flag || !own->until)
            rc = no_memory(e);
    }
    return rc ? err_add(e, "gates") : 0;
}

static void dms_release(struct policy *pol)
{
    struct dms_own *own = pol->own;
    pol->be->release(pol->dev, own->w);
    pol->be->release(pol->dev, own->b);
    pol->be->release(pol->dev, own->flag);
    pol->be->release(pol->dev, own->until);
    free(own);
}

/* Per sequence: ring of slots and ring of flags, each int32 (n_layers, n_kv, reach). */
static size_t dms_state(const struct policy *pol)
{
    return 2 * sizeof(int32_t) * (size_t)pol->dims.n_layers * (size_t)pol->dims.n_kv *
           (size_t)visible_tokens(pol->params);
}

static int32_t *until_of(const struct policy *pol, int layer)
{
    const struct dms_own *own = pol->own;
    return own->until + until_values(pol, layer);
}

/* What follows from the flags of this chunk or step, before its tokens are appended. */
static void decide_evictions(const struct policy *pol, const struct policy_ctx *c, int layer)
{
    const struct dms_params *p = pol->params;
    const struct dms_own *own = pol->own;
    int n_kv = pol->dims.n_kv;
    if (p->evict == 0) {
        struct fill_i32_args f = {own->flag, 0, (int64_t)c->rows.cap * n_kv};
        policy_launch(c, OP_fill_i32, &f);
    }
    if (c->prefill) {
        struct until_args u = {.rows = c->rows,
                               .flag = own->flag,
                               .until = until_of(pol, layer),
                               .stride = pol->dims.max_context,
                               .n_kv = n_kv,
                               .reach = visible_tokens(p),
                               .shift = p->shift};
        policy_launch(c, OP_until, &u);
    } else {
        struct expire_args x = {.rows = c->rows,
                                .kv = c->kv,
                                .layer = layer,
                                .state = c->state,
                                .state_bytes = c->state_bytes,
                                .flag = own->flag,
                                .reach = visible_tokens(p),
                                .shift = p->shift};
        policy_launch(c, OP_expire, &x);
    }
}

static void dms_on_qkv(const struct policy *pol, const struct policy_ctx *c, int layer)
{
    const struct dms_params *p = pol->params;
    const struct dms_own *own = pol->own;
    int n_kv = pol->dims.n_kv, hidden = pol->dims.hidden;
    if (pol->takes_qk)
        return;
    struct gate_args g = {.y = c->y,
                          .w = own->w + (size_t)layer * (size_t)n_kv * (size_t)hidden,
                          .b = own->b + (size_t)layer * (size_t)n_kv,
                          .scale = (float)p->scale,
                          .bias = (float)p->bias,
                          .flag = own->flag,
                          .rows = c->rows.cap,
                          .dim = hidden,
                          .n_kv = n_kv,
                          .per_layer = p->alpha_per == PER_LAYER,
                          .type = c->y_type};
    policy_launch(c, OP_gate, &g);
    decide_evictions(pol, c, layer);
}

static int borrowed_channel(const struct policy *pol)
{
    const struct dms_params *p = pol->params;
    return p->neuron == NEURON_LAST ? pol->dims.head_dim - 1 : 0;
}

static void dms_on_qk(const struct policy *pol, const struct policy_ctx *c, int layer)
{
    const struct dms_params *p = pol->params;
    const struct dms_own *own = pol->own;
    struct borrow_args b = {.rows = c->rows,
                            .n_q = pol->dims.n_q,
                            .n_kv = pol->dims.n_kv,
                            .head_dim = pol->dims.head_dim,
                            .q = c->q,
                            .stride = c->qkv_stride,
                            .channel = borrowed_channel(pol),
                            .scale = (float)p->scale,
                            .bias = (float)p->bias,
                            .flag = own->flag};
    policy_launch(c, OP_borrow, &b);
    decide_evictions(pol, c, layer);
}

/* The borrowed channel is zeroed once more, after RoPE. */
static void mute_channel(const struct policy *pol, const struct policy_ctx *c)
{
    struct mute_args m = {.rows = c->rows,
                          .n_q = pol->dims.n_q,
                          .n_kv = pol->dims.n_kv,
                          .head_dim = pol->dims.head_dim,
                          .q = c->q,
                          .stride = c->qkv_stride,
                          .channel = borrowed_channel(pol)};
    if (pol->takes_qk)
        policy_launch(c, OP_mute, &m);
}

static void dms_select(const struct policy *pol, const struct policy_ctx *c, int layer, struct selection *s)
{
    (void)layer, (void)s; /* all live tokens are read */
    mute_channel(pol, c);
}

static void dms_select_prefill(const struct policy *pol, const struct policy_ctx *c, int layer,
                               struct prefill_selection *s)
{
    const struct dms_params *p = pol->params;
    mute_channel(pol, c);
    if (p->prefill == PREFILL_IS_DENSE)
        return;
    s->kind = PREFILL_UNTIL;
    s->until = until_of(pol, layer);
    s->until_stride = pol->dims.max_context;
}

static void dms_prefill_end(const struct policy *pol, const struct policy_ctx *c)
{
    int32_t *ring = (int32_t *)(void *)(c->state + (size_t)c->seq * c->state_bytes);
    policy_compact(c, (struct compact_args){.until = until_of(pol, 0),
                                            .until_stride = pol->dims.max_context,
                                            .ring_slot = ring,
                                            .ring_flag = ring + dms_state(pol) / sizeof(int32_t) / 2,
                                            .reach = visible_tokens(pol->params)});
}

const struct policy_ops policy_dms = {
    .name = "dms",
    .help = "trained gates flag tokens, which are forgotten after a window (DMS, arXiv 2506.05345)",
    .params = dms_params,
    .params_size = sizeof(struct dms_params),
    .budget_keys = "cr,gate,neuron",
    .generous = "cr=2,window=2048",
    .tight = "cr=8",
    .needs = POLICY_DROP | POLICY_PREFILL | POLICY_NO_LISTS,
    .resolve = dms_resolve,
    .data = dms_data,
    .budget = dms_budget,
    .held = dms_held,
    .describe_budget = dms_describe_budget,
    .reference = dms_reference,
    .init = dms_init,
    .release = dms_release,
    .state_size = dms_state,
    .on_qkv = dms_on_qkv,
    .on_qk = dms_on_qk,
    .select = dms_select,
    .select_prefill = dms_select_prefill,
    .prefill_end = dms_prefill_end,
};
