/* The registry of policies, their parameters from JSON or text, their presets, and the functions that hooks
 * call. */
#include "engine/policies/policy.h"

#include <math.h>
#include <string.h>

#include "engine/memory/device.h"
#include "engine/policies/policies.h"

static const struct policy_ops *const policies[] = {
#define X(name) &policy_##name,
    POLICIES(X)
#undef X
};

const struct policy_ops *policy_at(size_t i)
{
    return i < sizeof policies / sizeof *policies ? policies[i] : NULL;
}

const struct policy_ops *policy_find(const char *name)
{
    for (size_t i = 0; policy_at(i); i++)
        if (!strcmp(policies[i]->name, name))
            return policies[i];
    return NULL;
}

const char *policy_nearest(const char *name)
{
    const char *best = NULL;
    int distance = 4;
    for (size_t i = 0; policy_at(i); i++) {
        int d = str_distance(name, policies[i]->name);
        if (d < distance) {
            distance = d;
            best = policies[i]->name;
        }
    }
    return best;
}

const char *policy_name(const struct policy_ops *ops)
{
    return ops->name;
}

const char *policy_help(const struct policy_ops *ops)
{
    return ops->help;
}

const struct param *policy_params(const struct policy_ops *ops)
{
    return ops->params;
}

const struct preset *policy_presets(const struct policy_ops *ops)
{
    return ops->presets;
}

const char *policy_budget_keys(const struct policy_ops *ops)
{
    return ops->budget_keys;
}

static int spec_find(struct policy_spec *out, const char *name, struct arena *a, struct err *e)
{
    const struct policy_ops *ops = policy_find(name);
    if (!ops) {
        const char *near = policy_nearest(name);
        if (near)
            return err_set(e, ERR_USAGE, "unknown policy \"%s\"; did you mean \"%s\"?", name, near);
        return err_set(e, ERR_USAGE, "unknown policy \"%s\"; `kveval list policies` shows them", name);
    }
    *out = (struct policy_spec){.ops = ops};
    out->params = arena_alloc(a, ops->params_size ? ops->params_size : 1);
    param_defaults(ops->params, out->params);
    return 0;
}

static int spec_preset(struct policy_spec *out, const char *name, struct arena *a, struct err *e)
{
    struct str known = {0};
    for (const struct preset *p = out->ops->presets; p && p->name; p++) {
        if (!strcmp(p->name, name)) {
            str_release(&known);
            out->preset = p->name;
            return param_set_pairs(out->ops->params, out->params, a, p->pairs, "preset", e);
        }
        str_printf(&known, "%s%s", known.len ? ", " : "", p->name);
    }
    int rc = err_set(e, ERR_USAGE, "policy %s: unknown preset \"%s\"; it has %s", out->ops->name, name,
                     known.len ? str_text(&known) : "none");
    str_release(&known);
    return rc;
}

/* How many of the budget keys are given; *first is the first of them. */
static int budgets_given(const struct policy_spec *s, const struct param **first)
{
    int n = 0;
    const char *k = s->ops->budget_keys;
    *first = NULL;
    while (*k) {
        char name[64];
        size_t len = strcspn(k, ",");
        memcpy(name, k, len);
        name[len] = 0;
        const struct param *p = param_find(s->ops->params, name);
        if (param_is_set(p, s->params)) {
            n++;
            if (!*first)
                *first = p;
        }
        k += len + (k[len] == ',');
    }
    return n;
}

static int spec_check(const struct policy_spec *s, struct err *e)
{
    const struct param *first;
    int n = budgets_given(s, &first);
    if (*s->ops->budget_keys && n == 0) {
        const char *comma = strchr(s->ops->budget_keys, ',');
        return err_set(e, ERR_USAGE,
                       "policy %s: %s \"%s\" is missing; a budget has no default. For example \"%s:%s\"",
                       s->ops->name, comma ? "one of the budgets" : "the budget", s->ops->budget_keys,
                       s->ops->name, s->ops->tight);
    }
    if (n > 1)
        return err_set(e, ERR_USAGE, "policy %s: more than one of the budgets \"%s\" is given; keep one",
                       s->ops->name, s->ops->budget_keys);
    if (s->preset && s->ops->preset_by_cr && !strcmp(s->preset, s->ops->preset_by_cr) &&
        strcmp(first->name, "cr") != 0)
        return err_set(e, ERR_USAGE,
                       "policy %s: preset %s is measured at a compression ratio; give cr as the budget "
                       "instead of %s",
                       s->ops->name, s->preset, first->name);
    return s->ops->check ? s->ops->check(s->params, e) : 0;
}

int policy_spec_json(struct policy_spec *out, const json_t *o, struct arena *a, struct err *e)
{
    const char *name = json_string_value(json_object_get(o, "name"));
    if (!name)
        return err_set(e, ERR_USAGE, "a policy needs a \"name\"; `kveval list policies` shows them");
    int rc = spec_find(out, name, a, e);
    if (rc)
        return rc;
    const json_t *preset = json_object_get(o, "preset");
    if (preset && !json_is_string(preset))
        return err_set(e, ERR_USAGE, "policy %s: \"preset\" must be a string", name);
    if (preset && (rc = spec_preset(out, json_string_value(preset), a, e)))
        return rc;
    char where[80];
    snprintf(where, sizeof where, "policy %s", name);
    const char *key;
    json_t *v;
    json_object_foreach((json_t *)o, key, v)
    {
        static const char *const ours[] = {"name", "preset", "as", "note", "where"};
        int skip = 0;
        for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
            skip |= !strcmp(key, ours[i]);
        if (!skip && (rc = param_set_json(out->ops->params, out->params, a, key, v, where, e)))
            return rc;
    }
    return spec_check(out, e);
}

int policy_spec_text(struct policy_spec *out, const char *text, struct arena *a, struct err *e)
{
    size_t n = strcspn(text, ":");
    char *name = arena_strndup(a, text, n);
    int rc = spec_find(out, name, a, e);
    if (rc)
        return rc;
    char where[80];
    snprintf(where, sizeof where, "policy %s", out->ops->name);
    const char *pairs = text[n] ? text + n + 1 : "";
    struct str rest = {0};
    while (*pairs && !rc) { /* a preset goes first, wherever it stands */
        size_t len = strcspn(pairs, ",");
        if (len > 7 && !strncmp(pairs, "preset=", 7)) {
            rc = spec_preset(out, arena_strndup(a, pairs + 7, len - 7), a, e);
        } else if (len) {
            str_printf(&rest, "%s%.*s", rest.len ? "," : "", (int)len, pairs);
        }
        pairs += len + (pairs[len] == ',');
    }
    if (!rc && rest.len)
        rc = param_set_pairs(out->ops->params, out->params, a, str_text(&rest), where, e);
    str_release(&rest);
    return rc ? rc : spec_check(out, e);
}

json_t *policy_spec_to_json(const struct policy_spec *s)
{
    json_t *o = param_json(s->ops->params, s->params);
    json_object_set_new(o, "name", json_string(s->ops->name));
    return o;
}

static void spec_copy(struct policy_spec *out, const struct policy_spec *in, struct arena *a)
{
    *out = *in;
    out->taken = NULL;
    out->params = arena_alloc(a, in->ops->params_size ? in->ops->params_size : 1);
    if (in->ops->params_size)
        param_copy(in->ops->params, out->params, in->params, in->ops->params_size, a);
}

int policy_spec_reference(struct policy_spec *out, const struct policy_spec *in, int *own, struct arena *a,
                          struct err *e)
{
    const char *pairs = in->ops->reference ? in->ops->reference(in->params) : NULL;
    *own = pairs != NULL;
    if (!pairs)
        return policy_spec_text(out, "full", a, e);
    spec_copy(out, in, a);
    return param_set_pairs(in->ops->params, out->params, a, pairs, "reference", e);
}

int policy_spec_resolve(struct policy_spec *out, const struct policy_spec *in, const struct policy_model *m,
                        struct arena *a, struct err *e)
{
    const struct policy_dims d = {.n_layers = m->n_layers, .window = m->window};
    spec_copy(out, in, a);
    if (*in->ops->budget_keys && policy_next_full(&d, -1) == m->n_layers)
        return err_set(e, ERR_USAGE,
                       "policy %s: policies act on layers with full attention, and all %d layers of this "
                       "model have a window; only policy full can be used",
                       in->ops->name, m->n_layers);
    if (!in->ops->resolve)
        return 0;
    if (in->ops->resolve(out, m, a, e))
        return err_add(e, "policy %s", in->ops->name);
    return 0;
}

struct policy_budget policy_budget_at(const struct policy_spec *s, const struct budget_at *at)
{
    return s->ops->budget ? s->ops->budget(s->params, at) : (struct policy_budget){INFINITY, INFINITY};
}

struct policy_budget policy_mass_budget(double mass, double least, const struct budget_at *at)
{
    if (mass < 1)
        return (struct policy_budget){NAN, least};
    return (struct policy_budget){fmax(at->context, least), fmax(at->context, least)};
}

double policy_held_at(const struct policy_spec *s, const struct budget_at *at)
{
    double held = fmin(s->ops->held ? s->ops->held(s->params, at) : at->context, at->context), sum = 0;
    for (int l = 0; at->window && l < at->n_layers; l++)
        sum += at->window[l] ? fmin(at->window[l], at->context) : held;
    return at->window ? sum / at->n_layers : held;
}

int policy_no_effect(const struct policy_ops *ops, const void *params, const char *key, const char *why,
                     struct err *e)
{
    const struct param *p = param_find(ops->params, key);
    struct str text = {0};
    param_text(p, params, &text);
    int is_default = p->def ? !strcmp(str_text(&text), p->def) : !text.len;
    str_release(&text);
    return is_default ? 0
                      : err_set(e, ERR_USAGE, "policy %s: \"%s\" has no effect %s; leave it out", ops->name,
                                key, why);
}

struct policy_period policy_period(const struct policy_spec *s, const struct budget_at *at)
{
    return s->ops->period ? s->ops->period(s->params, at) : (struct policy_period){1, 1};
}

int policy_draws(const struct policy_ops *ops)
{
    return (ops->needs & POLICY_DRAWS) != 0;
}

int policy_is_bound(const struct policy_ops *ops)
{
    return ops->is_bound;
}

const void *policy_data(const struct policy_spec *s, size_t *n)
{
    return s->ops->data ? s->ops->data(s->params, n) : NULL;
}

unsigned policy_needs(const struct policy_spec *s)
{
    return s->ops->needs | (s->ops->needs_of ? s->ops->needs_of(s->params) : 0);
}

void policy_describe_budget(const struct policy_spec *s, struct str *out)
{
    if (s->ops->describe_budget)
        s->ops->describe_budget(s->params, out);
    else
        str_puts(out, "all tokens");
}

int policy_layer_is_full(const struct policy_dims *d, int layer)
{
    return !d->window || !d->window[layer];
}

int policy_next_full(const struct policy_dims *d, int layer)
{
    for (layer++; layer < d->n_layers && !policy_layer_is_full(d, layer); layer++)
        ;
    return layer;
}

void policy_launch(const struct policy_ctx *c, enum op op, const void *args)
{
    device_launch(c->be, c->dev, op, args, c->e);
}

int policy_at_end(const struct policy_ctx *c)
{
    return c->prefill && c->pos0 + c->nq == c->n_prompt;
}

struct policy_ctx policy_last_row(const struct policy_ctx *c)
{
    struct policy_ctx one = *c;
    int row = c->nq - 1;
    one.rows = (struct rows){1, c->rows.seq + row, c->rows.pos + row};
    one.q += (size_t)row * (size_t)c->qkv_stride;
    one.k += (size_t)row * (size_t)c->qkv_stride;
    one.v += (size_t)row * (size_t)c->qkv_stride;
    return one;
}

struct scores policy_scores(const struct policy_ctx *c, int n_rows, int stride)
{
    struct scores s = {c->score, c->score_n, c->score_m, n_rows, stride};
    return s;
}

struct scores policy_page_scores(const struct policy_ctx *c, int layer, enum score_scope scope,
                                 int block_pages)
{
    int n_lists = c->dims.n_kv * score_lists(scope, c->dims.n_q / c->dims.n_kv);
    /* A sink and a softcap change neither the order of logits nor that of their bounds. */
    struct page_scores_args a = {
        .rows = c->rows,
        .kv = c->kv,
        .layer = layer,
        .n_q = c->dims.n_q,
        .block_pages = block_pages,
        .scope = scope,
        .q = c->q,
        .q_stride = c->qkv_stride,
        .out = policy_scores(c, n_lists, (c->dims.max_pages + block_pages - 1) / block_pages)};
    policy_launch(c, OP_page_scores, &a);
    return a.out;
}

void policy_qk_stats(const struct policy_ctx *c, int layer, struct stats out)
{
    struct qk_stats_args a = {.rows = c->rows,
                              .kv = c->kv,
                              .layer = layer,
                              .n_q = c->dims.n_q,
                              .q = c->q,
                              .q_stride = c->qkv_stride,
                              .scale = c->scale,
                              .out = out,
                              .softmax = c->softmax};
    policy_launch(c, OP_qk_stats, &a);
}

struct scores policy_reduce_stats(const struct policy_ctx *c, int layer, struct reduce_stats_args a)
{
    a.rows = c->rows;
    a.kv = c->kv;
    a.layer = layer;
    a.n_q = c->dims.n_q;
    if (!a.in.logits)
        a.in = c->stats;
    policy_launch(c, OP_reduce_stats, &a);
    return a.out;
}

void policy_prefill_mass(const struct policy_ctx *c, int layer, struct prefill_mass_args a)
{
    a.kv = c->kv;
    a.seq = c->seq;
    a.layer = layer;
    a.n_q = c->dims.n_q;
    a.pos0 = c->pos0;
    a.nq = c->nq;
    a.q = c->q;
    a.q_stride = c->qkv_stride;
    a.scale = c->scale;
    a.softmax = c->softmax;
    policy_launch(c, OP_prefill_mass, &a);
}

void policy_compact(const struct policy_ctx *c, struct compact_args a)
{
    a.kv = c->kv;
    a.seq = c->seq;
    a.n = c->n_prompt;
    for (int l = policy_next_full(&c->dims, -1); l < c->dims.n_layers; l = policy_next_full(&c->dims, l)) {
        a.layer = l;
        while (l + 1 < c->dims.n_layers && policy_layer_is_full(&c->dims, l + 1))
            l++;
        a.n_layers = l + 1 - a.layer;
        policy_launch(c, OP_compact, &a);
    }
}

void policy_read_tokens(const struct policy_ctx *c, int n_rows, struct selection *s)
{
    s->granularity = SEL_TOKENS;
    s->n_rows = n_rows;
    s->cap = c->stats.stride;
    s->idx = c->list[0].idx;
    s->len = c->list[0].len;
}

void policy_topk(const struct policy_ctx *c, struct scores in, const struct topk_params *topk,
                 const int32_t *len_of_seq, int list)
{
    struct topk_args a = {.rows = c->rows,
                          .len_of_seq = len_of_seq,
                          .in = in,
                          .params = *topk,
                          .idx = c->list[list].idx,
                          .len = c->list[list].len,
                          .cap = in.stride};
    policy_launch(c, OP_topk, &a);
}
