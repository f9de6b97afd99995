/* DMS (Lancucki et al., arXiv 2506.05345): a trained gate flags tokens; a flagged token is forgotten once it
 * is more than `window` tokens old, in the prompt too. The live sets are ragged by layer and KV head, and
 * their pages return to the pool.
 *
 * Gates are linear adapters on the layer's normed input, one logit per KV head, from a safetensors file whose
 * metadata carries window and shift. shift 1 (the official checkpoints): token k+1's logit decides about
 * token k. A shift of the whole window is the paper's ablation of immediate eviction: a token goes in the
 * step that decides about it. Query q sees a flagged key k while q - k <= window, which is window + 1 tokens,
 * the key's own included (docs/policies.md, dms). While decoding, token n takes the slot of token n - (window
 * + 1) if that one was flagged: keys are stored rotated, so their order does not matter. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/gates/shipped_gates.h"
#include "engine/model/safetensors.h"
#include "engine/policies/model_defaults.h"
#include "engine/policies/policies.h"
#include "engine/pocket/pocket.h"
#include "engine/policies/policy.h"

enum { PREFILL_SPARSE, PREFILL_IS_DENSE };
enum { PER_HEAD, PER_LAYER };

struct dms_params {
    const char *gate;
    int window, shift, prefill, window_inclusive, alpha_per;
    double cr, scale, bias;
    const char *data; /* of the safetensors file that ships for cr, set by resolve; not an option */
    size_t n_data;
};

static const char *const prefills[] = {"sparse", "dense", NULL};
static const char *const pers[] = {"head", "layer", NULL};

#define P(field) offsetof(struct dms_params, field)
static const struct param dms_params[] = {
    {"cr", PARAM_DOUBLE, P(cr), NULL, 1, 1000, NULL,
     "budget: compression ratio whose gates ship with the model (pocket, SmolLM2-135M-Instruct: 2, 4, 8)"},
    {"gate", PARAM_FILE, P(gate), NULL, 0, 0, NULL, "budget: gates from this safetensors file"},
    {"window", PARAM_INT, P(window), NULL, 0, 1e6, NULL,
     "tokens a flagged token stays visible; default from the gate file"},
    {"shift", PARAM_INT, P(shift), NULL, 0, 1e6, NULL,
     "token k + shift's gate decides about token k, at most window later; default from the gate file"},
    {"prefill", PARAM_ENUM, P(prefill), "sparse", 0, 0, prefills,
     "the rule holds inside the prompt too, or only after it"},
    {"window_inclusive", PARAM_BOOL, P(window_inclusive), "true", 0, 0, NULL,
     "visible while q - k <= window, else q - k < window"},
    {"scale", PARAM_DOUBLE, P(scale), "1", 0, 0, NULL, "the gate's logit is multiplied by this"},
    {"bias", PARAM_DOUBLE, P(bias), "0", 0, 0, NULL, "and this is added"},
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

static int open_gates(const struct dms_params *p, struct safetensors **out, struct err *e)
{
    return p->gate ? safetensors_open_file(out, p->gate, e)
                   : safetensors_open_memory(out, p->data, p->n_data, "the gates that ship", e);
}

/* ERR_USAGE, with the ratios that there are for this model (NULL: it is none that gates ship for), or the
 * models that gates ship for. */
static int no_gates(const struct dms_params *p, const char *model, const struct policy_model *m,
                    struct err *e)
{
    struct str have = {0}, models = {0};
    const struct shipped_gates *g;
    const char *last = "";
    for (size_t i = 0; (g = shipped_gates(i)); last = g->model, i++) {
        if (model && !strcmp(g->model, model))
            str_printf(&have, "%s%g", have.len ? ", " : "", g->cr);
        if (strcmp(g->model, last))
            str_printf(&models, "%s%s", models.len ? ", " : "; if it is one of ", g->model);
    }
    if (!strcmp(m->path, "pocket"))
        str_puts(&have, "2, 4, 8");
    else if (models.len)
        str_puts(&models, ", write \"model_name\" with that name beside \"model\"");
    int rc = have.len ? err_set(e, ERR_USAGE,
                                "no gates for cr %g ship with model %s; cr may be one of %s, otherwise give "
                                "\"gate\", a safetensors file",
                                p->cr, m->path, str_text(&have))
                      : err_set(e, ERR_USAGE,
                                "no gates for cr %g ship with model %s; give \"gate\", a safetensors file "
                                "(runs/gates/README.md shows how to train one)%s",
                                p->cr, m->path, str_text(&models));
    str_release(&have);
    str_release(&models);
    return rc;
}

/* The gates that ship for this model and cr. */
static int find_gates(struct policy_spec *spec, const struct policy_model *m, struct arena *a, struct err *e)
{
    struct dms_params *p = spec->params;
    const char *taken = NULL;
    const struct model_defaults *d = model_defaults_find(m, a, &taken);
    if (!strcmp(m->path, "pocket")) {
        p->data = pocket_gates(p->cr, &p->n_data);
        return p->data ? 0 : no_gates(p, NULL, m, e);
    }
    const struct shipped_gates *g = d ? shipped_gates_find(d->model, p->cr) : NULL;
    if (!g)
        return no_gates(p, d ? d->model : NULL, m, e);
    p->data = g->data;
    p->n_data = (size_t)(g->end - g->data);
    spec->taken = taken;
    return 0;
}

static int meta_int(const struct safetensors *s, const char *key, int max, int *out, struct err *e)
{
    const char *text = safetensors_meta(s, key);
    char *end;
    long v = text ? strtol(text, &end, 10) : -1;
    if (!text)
        return err_set(e, ERR_USAGE, "the gate file has no \"%s\" in its metadata; give %s in the run file",
                       key, key);
    if (*end || end == text || v < 0 || v > max)
        return err_set(e, ERR_FORMAT,
                       "the gate file's metadata \"%s\" is \"%.40s\"; a number from 0 to %d is expected", key,
                       text, max);
    *out = (int)v;
    return 0;
}

static int dms_resolve(struct policy_spec *spec, const struct policy_model *m, struct arena *a, struct err *e)
{
    struct dms_params *p = spec->params;
    int rc = p->gate ? 0 : find_gates(spec, m, a, e);
    struct safetensors *s = NULL;
    if (!rc)
        rc = open_gates(p, &s, e);
    if (!rc && p->window == PARAM_UNSET_INT)
        rc = meta_int(s, "window", 1000000, &p->window, e);
    if (!rc && p->shift == PARAM_UNSET_INT)
        rc = meta_int(s, "shift", 1000000, &p->shift, e);
    safetensors_close(s);
    if (!rc && p->window + p->window_inclusive < 1 + p->shift)
        rc = err_set(e, ERR_USAGE,
                     "with window %d a token has been forgotten before token k + %d decides about "
                     "it; use a larger window or a smaller shift",
                     p->window, p->shift);
    return rc;
}

static void dms_rule(const void *params, struct str *out)
{
    const struct dms_params *p = params;
    if (p->gate)
        str_puts(out, "learned gates from a file");
    else
        str_printf(out, "learned gates for compression ratio %g", p->cr);
    if (p->window != PARAM_UNSET_INT)
        str_printf(out, ", flagged tokens visible for %d more tokens",
                   p->window_inclusive ? p->window : p->window - 1);
    str_printf(out, ", %s prefill", prefills[p->prefill]);
}

/* For how many tokens a flagged token is visible, itself included. */
static int reach(const struct dms_params *p)
{
    return p->window + (p->window_inclusive ? 1 : 0);
}

/* Gates have no budget that they keep to: the ratio is what they were trained for, and is taken of the
 * context. Nothing is forgotten while the whole context lies within the window. */
static struct policy_budget dms_budget(const void *params, const struct budget_at *at)
{
    const struct dms_params *p = params;
    return (struct policy_budget){isnan(p->cr) ? NAN : at->context / p->cr,
                                  p->window == PARAM_UNSET_INT ? INFINITY : reach(p)};
}

static double dms_held(const void *params, const struct budget_at *at)
{
    const struct dms_params *p = params;
    double window = p->window == PARAM_UNSET_INT ? 0 : reach(p);
    return isnan(p->cr) ? at->context : at->context / p->cr + window;
}

static int load_gates(const struct policy *pol, const struct safetensors *s, float *w, float *b,
                      struct err *e)
{
    int n_kv = pol->dims.n_kv, hidden = pol->dims.hidden;
    for (int l = 0; l < pol->dims.n_layers; l++) {
        char name[128];
        const struct st_tensor *t;
        int64_t shape[2] = {n_kv, hidden};
        snprintf(name, sizeof name, "model.layers.%d.self_attn.dms_proj.weight", l);
        if (safetensors_need(s, name, 2, shape, &t, e) ||
            st_to_f32(t, w + (size_t)l * (size_t)n_kv * (size_t)hidden, (size_t)n_kv * (size_t)hidden, e))
            return e->code;
        snprintf(name, sizeof name, "model.layers.%d.self_attn.dms_proj.bias", l);
        if (safetensors_need(s, name, 1, shape, &t, e) || st_to_f32(t, b + l * n_kv, (size_t)n_kv, e))
            return e->code;
    }
    return 0;
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

static size_t until_values(const struct policy *pol, int layers)
{
    return (size_t)layers * (size_t)pol->dims.n_kv * (size_t)pol->dims.max_context;
}

static int dms_init(struct policy *pol, struct err *e)
{
    const struct dms_params *p = pol->params;
    struct safetensors *s = NULL;
    size_t n_w = (size_t)pol->dims.n_layers * (size_t)pol->dims.n_kv * (size_t)pol->dims.hidden;
    size_t n_b = (size_t)pol->dims.n_layers * (size_t)pol->dims.n_kv;
    float *w = xcalloc(n_w, sizeof *w), *b = xcalloc(n_b, sizeof *b);
    struct dms_own *own = xcalloc(1, sizeof *own);
    pol->own = own;
    int rc = open_gates(p, &s, e);
    if (!rc)
        rc = load_gates(pol, s, w, b, e);
    if (!rc) {
        own->w = device_copy(pol, w, n_w * sizeof *w);
        own->b = device_copy(pol, b, n_b * sizeof *b);
        own->flag =
            device_copy(pol, NULL, (size_t)pol->dims.max_rows * (size_t)pol->dims.n_kv * sizeof(int32_t));
        own->until = device_copy(pol, NULL, until_values(pol, pol->dims.n_layers) * sizeof *own->until);
        if (!own->w || !own->b || !own->flag || !own->until)
            rc = err_set(e, ERR_DEVICE,
                         "policy dms: no device memory for its gates; use a smaller --max-batch or fewer "
                         "policies in a run");
    }
    safetensors_close(s);
    free(w);
    free(b);
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
           (size_t)reach(pol->params);
}

static int32_t *until_of(const struct policy *pol, int layer)
{
    const struct dms_own *own = pol->own;
    return own->until + until_values(pol, layer);
}

static void dms_on_qkv(const struct policy *pol, const struct policy_ctx *c, int layer)
{
    const struct dms_params *p = pol->params;
    const struct dms_own *own = pol->own;
    int n_kv = pol->dims.n_kv, hidden = pol->dims.hidden;
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
    if (c->prefill) {
        struct until_args u = {.rows = c->rows,
                               .flag = own->flag,
                               .until = until_of(pol, layer),
                               .stride = pol->dims.max_context,
                               .n_kv = n_kv,
                               .reach = reach(p),
                               .shift = p->shift};
        policy_launch(c, OP_until, &u);
    } else {
        struct expire_args x = {.rows = c->rows,
                                .kv = c->kv,
                                .layer = layer,
                                .state = c->state,
                                .state_bytes = c->state_bytes,
                                .flag = own->flag,
                                .reach = reach(p),
                                .shift = p->shift};
        policy_launch(c, OP_expire, &x);
    }
}

static void dms_select_prefill(const struct policy *pol, const struct policy_ctx *c, int layer,
                               struct prefill_selection *s)
{
    const struct dms_params *p = pol->params;
    (void)c;
    if (p->prefill == PREFILL_IS_DENSE)
        return;
    s->kind = PREFILL_UNTIL;
    s->until = until_of(pol, layer);
    s->until_stride = pol->dims.max_context;
}

static void dms_prefill_end(const struct policy *pol, const struct policy_ctx *c)
{
    int32_t *ring = (int32_t *)(void *)(c->state + (size_t)c->seq * c->state_bytes);
    struct compact_args a = {.kv = c->kv,
                             .seq = c->seq,
                             .n = c->n_prompt,
                             .until = until_of(pol, 0),
                             .until_stride = pol->dims.max_context,
                             .ring_slot = ring,
                             .ring_flag = ring + dms_state(pol) / sizeof(int32_t) / 2,
                             .reach = reach(pol->params)};
    policy_launch(c, OP_compact, &a);
}

const struct policy_ops policy_dms = {
    .name = "dms",
    .help = "trained gates flag tokens, which are forgotten after a window (DMS, arXiv 2506.05345)",
    .params = dms_params,
    .params_size = sizeof(struct dms_params),
    .budget_keys = "cr,gate",
    .generous = "cr=2,window=2048",
    .tight = "cr=8",
    .needs = POLICY_DROP | POLICY_PREFILL,
    .resolve = dms_resolve,
    .budget = dms_budget,
    .held = dms_held,
    .rule = dms_rule,
    .init = dms_init,
    .release = dms_release,
    .state_size = dms_state,
    .on_qkv = dms_on_qkv,
    .select_prefill = dms_select_prefill,
    .prefill_end = dms_prefill_end,
};
