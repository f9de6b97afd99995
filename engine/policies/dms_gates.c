/* Finds and reads the gates of policy dms. A checkpoint with a borrowed neuron is nvidia/Qwen3-8B-DMS-8x's
 * kind: config.json has dms_window_size, dms_alpha_scale and dms_initial_alpha_offset beside an ordinary
 * model, and the logit is channel * scale - offset (NVIDIA Model-Optimizer, experimental/dms,
 * configuration_qwen3_dms.py, from where the defaults 100 and 5 are too). There token k + 1's logit decides
 * about token k. */
#include "engine/policies/dms_gates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/model/model_config.h"
#include "engine/model/safetensors.h"
#include "engine/pocket/pocket.h"
#include "engine/policies/model_defaults.h"
#include "evalcore/base/file.h"

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
    p->is_shipped = 1;
    spec->taken = arena_printf(a, "gates for cr %g, %s", p->cr, taken);
    return 0;
}

/* A number of the file's metadata into *out unless that is set; text of none of them is `otherwise`, NaN: an
 * error. */
static int meta_number(const struct safetensors *s, const char *key, double low, double high,
                       double otherwise, double *out, struct err *e)
{
    const char *text = safetensors_meta(s, key);
    char *end = NULL;
    double v = text ? strtod(text, &end) : otherwise;
    if (!text && isnan(otherwise))
        return err_set(e, ERR_USAGE, "the gate file has no \"%s\" in its metadata; give %s in the run file",
                       key, key);
    if (text && (*end || end == text || !(v >= low && v <= high)))
        return err_set(e, ERR_FORMAT,
                       "the gate file's metadata \"%s\" is \"%.40s\"; a number from %g to %g is expected",
                       key, text, low, high);
    *out = v;
    return 0;
}

static int meta_int(const struct safetensors *s, const char *key, int *out, struct err *e)
{
    double v;
    if (*out != PARAM_UNSET_INT)
        return 0;
    if (meta_number(s, key, 0, 1e6, NAN, &v, e))
        return e->code;
    if (v != floor(v))
        return err_set(e, ERR_FORMAT, "the gate file's metadata \"%s\" is %g; a whole number is expected",
                       key, v);
    *out = (int)v;
    return 0;
}

static int from_file(struct dms_params *p, struct err *e)
{
    struct safetensors *s = NULL;
    int rc = open_gates(p, &s, e);
    if (!rc)
        rc = meta_int(s, "window", &p->window, e);
    if (!rc)
        rc = meta_int(s, "shift", &p->shift, e);
    if (!rc && isnan(p->scale))
        rc = meta_number(s, "scale", -1e6, 1e6, 1, &p->scale, e);
    if (!rc && isnan(p->bias))
        rc = meta_number(s, "bias", -1e6, 1e6, 0, &p->bias, e);
    safetensors_close(s);
    return rc;
}

static int config_of(json_t **out, const struct policy_model *m, struct err *e)
{
    struct str path = {0};
    const char *random = model_random_config(m->path);
    size_t n;
    int rc = 0;
    if (!strcmp(m->path, "pocket")) {
        const char *text = pocket_config(&n);
        rc = json_read_text(out, text, n, "config.json", e);
    } else {
        if (random)
            str_puts(&path, random);
        else
            file_join(&path, m->path, "config.json");
        rc = json_read_file(out, str_text(&path), e);
    }
    str_release(&path);
    return rc;
}

static int from_config(struct dms_params *p, const json_t *o, const struct policy_model *m, struct err *e)
{
    const char *what = "config.json", *per = "head";
    int64_t window = -1;
    double scale = 100, offset = 5;
    int separate = 0;
    if (json_opt_int(o, "dms_window_size", &window, what, e) ||
        json_opt_double(o, "dms_alpha_scale", &scale, what, e) ||
        json_opt_double(o, "dms_initial_alpha_offset", &offset, what, e) ||
        json_opt_bool(o, "dms_separate_alpha", &separate, what, e) ||
        json_opt_str(o, "dms_alpha_per", &per, what, e))
        return e->code;
    if (separate)
        return err_set(e, ERR_USAGE,
                       "the checkpoint %s has gates of its own (dms_separate_alpha), not a borrowed neuron; "
                       "make a file for \"gate\" of them with kveval convert gates",
                       m->path);
    if (strcmp(per, "head") || p->alpha_per)
        return err_set(e, ERR_USAGE, "a borrowed neuron decides for each KV head; alpha_per must be head");
    if (p->window == PARAM_UNSET_INT && window < 0)
        return err_set(e, ERR_USAGE,
                       "model %s has no dms_window_size in config.json, so it was not trained to lend a "
                       "neuron; give \"gate\", or \"window\" if it was",
                       m->path);
    if (p->window == PARAM_UNSET_INT && window > 1000000)
        return err_set(e, ERR_FORMAT, "config.json: dms_window_size is %lld; at most 1000000",
                       (long long)window);
    if (p->window == PARAM_UNSET_INT)
        p->window = (int)window;
    if (p->shift == PARAM_UNSET_INT)
        p->shift = 1;
    p->scale = isnan(p->scale) ? scale : p->scale;
    p->bias = isnan(p->bias) ? -offset : p->bias;
    return 0;
}

int dms_gates_resolve(struct policy_spec *spec, const struct policy_model *m, struct arena *a, struct err *e)
{
    struct dms_params *p = spec->params;
    json_t *config = NULL;
    if (p->neuron >= 0) {
        int rc = config_of(&config, m, e);
        if (!rc)
            rc = from_config(p, config, m, e);
        json_decref(config);
        return rc;
    }
    if (!p->gate && find_gates(spec, m, a, e))
        return e->code;
    return from_file(p, e);
}

static int load_gates(const struct safetensors *s, const struct policy_dims *dims, float *w, float *b,
                      struct err *e)
{
    int n_kv = dims->n_kv, hidden = dims->hidden;
    for (int l = policy_next_full(dims, -1); l < dims->n_layers; l = policy_next_full(dims, l)) {
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

int dms_gates_load(const struct dms_params *p, const struct policy_dims *dims, float *w, float *b,
                   struct err *e)
{
    struct safetensors *s = NULL;
    int rc = open_gates(p, &s, e);
    if (!rc)
        rc = load_gates(s, dims, w, b, e);
    safetensors_close(s);
    return rc;
}
