/* Converts gates of other projects (contract: convert_gates.h).
 *
 * The adapter's norm and the layer's divide the same residual stream by the same root mean square, with the
 * same eps, and differ only in their weights g_own and g_in. So the adapter on the stream is a linear map of
 * the layer's normed input: W'[h][d] = W[h][d] * g_own[d] / g_in[d]. */
#include "evalcore/commands/convert_gates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/model/model_config.h"
#include "engine/model/safetensors.h"
#include "evalcore/base/arena.h"
#include "evalcore/base/file.h"
#include "evalcore/base/json.h"
#include "evalcore/base/param.h"

enum { SHIFT_OF_DMS = 1, WINDOW_OF_KVZAP = 128 };

struct job {
    const struct convert_gates *c;
    struct model_config config;
    struct safetensors *from, *model; /* may be the same file, opened twice */
    const char *prefix;               /* before the names of the source's tensors: "model." or "" */
    struct arena arena;
    struct st_new *tensor; /* weight and bias of each layer */
    float *w, *b;
    int per_layer; /* 1: head 0 decides for the layer */
    char window[32], shift[32], scale[64], bias[64];
};

static int open_source(struct safetensors **s, const char *path, struct err *e)
{
    return file_is_dir(path) ? safetensors_open_folder(s, path, e) : safetensors_open_file(s, path, e);
}

static const struct st_tensor *find_tensor(const struct job *j, int layer, const char *name)
{
    char full[160];
    snprintf(full, sizeof full, "%slayers.%d.%s", j->prefix, layer, name);
    return safetensors_find(j->from, full);
}

/* The values of a tensor with that shape (cols 0: one dimension). */
static int read_values(const struct safetensors *s, const char *name, int rows, int cols, float *out,
                       struct err *e)
{
    const struct st_tensor *t;
    int64_t shape[2] = {rows, cols};
    if (safetensors_need(s, name, cols ? 2 : 1, shape, &t, e))
        return e->code;
    return st_to_f32(t, out, (size_t)rows * (size_t)(cols ? cols : 1), e);
}

static int source_values(const struct job *j, int layer, const char *name, int rows, int cols, float *out,
                         struct err *e)
{
    char full[160];
    snprintf(full, sizeof full, "%slayers.%d.%s", j->prefix, layer, name);
    return read_values(j->from, full, rows, cols, out, e);
}

/* The adapter of one layer, folded into w. */
static int fold_layer(const struct job *j, int layer, float *w, struct err *e)
{
    int hidden = j->config.hidden, n_kv = j->config.n_kv;
    float *own = xcalloc(2 * (size_t)hidden, sizeof *own), *in = own + hidden;
    char name[160];
    snprintf(name, sizeof name, "model.layers.%d.input_layernorm.weight", layer);
    int rc = read_values(j->model, name, hidden, 0, in, e);
    if (!rc)
        rc = source_values(j, layer, "self_attn.dms_proj_alpha_norm.weight", hidden, 0, own, e);
    for (int d = 0; d < hidden && !rc; d++)
        for (int h = 0; h < n_kv && !rc; h++) {
            float *x = &w[(size_t)h * (size_t)hidden + (size_t)d];
            double folded = (double)*x * (double)own[d];
            if (in[d] == 0 && folded != 0)
                rc =
                    err_set(e, ERR_UNSUPPORTED,
                            "%s: channel %d is 0, so the layer's normed input does not have what the adapter "
                            "reads there; these gates cannot be converted",
                            name, d);
            else
                *x = in[d] == 0 ? 0 : (float)(folded / (double)in[d]);
        }
    free(own);
    return rc;
}

static int adapter_layer(const struct job *j, int layer, float *w, float *b, struct err *e)
{
    if (source_values(j, layer, "self_attn.dms_proj_alpha.weight", j->config.n_kv, j->config.hidden, w, e))
        return e->code;
    if (find_tensor(j, layer, "self_attn.dms_proj_alpha.bias") &&
        source_values(j, layer, "self_attn.dms_proj_alpha.bias", j->config.n_kv, 0, b, e))
        return e->code;
    return fold_layer(j, layer, w, e);
}

static int kvzap_layer(const struct job *j, int layer, float *w, float *b, struct err *e)
{
    int rc = source_values(j, layer, "weight", j->config.n_kv, j->config.hidden, w, e);
    return rc ? rc : source_values(j, layer, "bias", j->config.n_kv, 0, b, e);
}

/* dms_... of the source's config.json, where it has one, else of the model's. */
static int dms_config(struct job *j, double *scale, double *offset, int64_t *window, struct err *e)
{
    const struct convert_gates *c = j->c;
    struct str path = {0};
    const char *what = "config.json", *per = "head";
    json_t *o = NULL;
    *scale = 100; /* the defaults of Model-Optimizer's Qwen3ConfigDMS */
    *offset = 5;
    *window = -1;
    file_join(&path, file_is_dir(c->from) ? c->from : c->model, what);
    if (!file_exists(str_text(&path))) {
        str_clear(&path);
        file_join(&path, c->model, what);
    }
    int rc = json_read_file(&o, str_text(&path), e);
    if (!rc && (json_opt_double(o, "dms_alpha_scale", scale, what, e) ||
                json_opt_double(o, "dms_initial_alpha_offset", offset, what, e) ||
                json_opt_int(o, "dms_window_size", window, what, e) ||
                json_opt_str(o, "dms_alpha_per", &per, what, e)))
        rc = e->code;
    j->per_layer = !rc && !strcmp(per, "layer");
    if (!rc && !j->per_layer && strcmp(per, "head"))
        rc = err_set(e, ERR_UNSUPPORTED,
                     "config.json: \"dms_alpha_per\" is \"%.40s\"; head or layer is known", per);
    json_decref(o);
    str_release(&path);
    return rc;
}

static int set_meta(struct job *j, int window, int shift, double scale, double bias, struct err *e)
{
    if (window < 0 || window > 1000000)
        return err_set(e, ERR_USAGE,
                       "the source does not say for how many tokens a flagged token stays visible "
                       "(dms_window_size in config.json); give --window");
    snprintf(j->window, sizeof j->window, "%d", window);
    snprintf(j->shift, sizeof j->shift, "%d", shift);
    snprintf(j->scale, sizeof j->scale, "%.17g", scale);
    snprintf(j->bias, sizeof j->bias, "%.17g", bias);
    return 0;
}

static int adapter_meta(struct job *j, struct err *e)
{
    double scale, offset;
    int64_t window;
    if (!isnan(j->c->threshold))
        return err_set(e, ERR_USAGE, "--threshold is for KVzap's gates; these are adapters with their own");
    if (dms_config(j, &scale, &offset, &window, e))
        return e->code;
    if (j->c->window != PARAM_UNSET_INT)
        window = j->c->window;
    return set_meta(j, window > 1000000 ? -1 : (int)window, SHIFT_OF_DMS, scale, -offset, e);
}

/* Dropped where w . y + b < threshold, that is where -(w . y + b) + threshold > 0. */
static int kvzap_meta(struct job *j, struct err *e)
{
    if (isnan(j->c->threshold))
        return err_set(
            e, ERR_USAGE,
            "KVzap's gates are scores, and a token is dropped where its score is below a threshold; "
            "give --threshold, for example -4");
    int window = j->c->window == PARAM_UNSET_INT ? WINDOW_OF_KVZAP : j->c->window;
    return set_meta(j, window, 0, -1, j->c->threshold, e);
}

struct kind {
    const char *name, *tensor; /* which a layer has */
    int (*layer)(const struct job *j, int layer, float *w, float *b, struct err *e);
    int (*meta)(struct job *j, struct err *e);
    const char *use; /* what to write beside gate=FILE */
};
static const struct kind kinds[] = {
    {"adapters of dms_separate_alpha", "self_attn.dms_proj_alpha.weight", adapter_layer, adapter_meta, ""},
    {"linear gates of KVzap", "weight", kvzap_layer, kvzap_meta, ",prefill=dense"},
};

static int find_kind(struct job *j, const struct kind **out, struct err *e)
{
    static const char *const prefixes[] = {"model.", ""};
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            j->prefix = prefixes[i];
            if (find_tensor(j, 0, kinds[k].tensor)) {
                *out = &kinds[k];
                return 0;
            }
        }
    if (find_tensor(j, 0, "0.weight") || find_tensor(j, 0, "mlp.0.weight"))
        return err_set(
            e, ERR_UNSUPPORTED,
            "%s holds KVzap's two-layer gates (MLP); policy dms has linear gates only, so take the "
            "linear ones of the same model",
            j->c->from);
    return err_set(
        e, ERR_FORMAT,
        "%s has neither layers.0.self_attn.dms_proj_alpha.weight (an adapter of dms_separate_alpha) "
        "nor layers.0.weight (KVzap); other gates are not known. A checkpoint with a borrowed neuron "
        "needs no file: policy dms:neuron=last",
        j->c->from);
}

static int fill_gates(struct job *j, const struct kind *kind, struct err *e)
{
    size_t n_kv = (size_t)j->config.n_kv, hidden = (size_t)j->config.hidden;
    int layers = j->config.n_layers, rc = 0;
    j->w = xcalloc((size_t)layers * n_kv * hidden, sizeof *j->w);
    j->b = xcalloc((size_t)layers * n_kv, sizeof *j->b);
    j->tensor = xcalloc(2 * (size_t)layers, sizeof *j->tensor);
    for (int l = 0; l < layers && !rc; l++) {
        float *w = j->w + (size_t)l * n_kv * hidden, *b = j->b + (size_t)l * n_kv;
        const char *name = arena_printf(&j->arena, "model.layers.%d.self_attn.dms_proj.weight", l);
        j->tensor[2 * l] = (struct st_new){name, 2, {(int64_t)n_kv, (int64_t)hidden}, w};
        name = arena_printf(&j->arena, "model.layers.%d.self_attn.dms_proj.bias", l);
        j->tensor[2 * l + 1] = (struct st_new){name, 1, {(int64_t)n_kv, 0}, b};
        rc = kind->layer(j, l, w, b, e);
    }
    return rc;
}

static int run_job(struct job *j, struct str *told, struct err *e)
{
    const struct kind *kind = NULL;
    if (model_config_open(&j->config, j->c->model, e) || open_source(&j->from, j->c->from, e) ||
        open_source(&j->model, j->c->model, e) || find_kind(j, &kind, e) || kind->meta(j, e) ||
        fill_gates(j, kind, e))
        return e->code;
    const struct st_meta meta[] = {{"window", j->window}, {"shift", j->shift},  {"scale", j->scale},
                                   {"bias", j->bias},     {"from", kind->name}, {0}};
    if (safetensors_write(j->c->out, j->tensor, 2 * (size_t)j->config.n_layers, meta, e))
        return e->code;
    str_printf(told, "%s of %d layers, window %s, shift %s: run them with dms:gate=%s%s%s", kind->name,
               j->config.n_layers, j->window, j->shift, j->c->out, kind->use,
               j->per_layer ? ",alpha_per=layer" : "");
    return 0;
}

int convert_gates(const struct convert_gates *c, struct str *told, struct err *e)
{
    struct convert_gates with = *c;
    struct job j = {.c = &with, .prefix = ""};
    with.model = c->model ? c->model : c->from;
    if (!c->model && !file_is_dir(c->from))
        return err_set(e, ERR_USAGE,
                       "%s is a file of gates alone; name with --model the folder of the model "
                       "that they are for",
                       c->from);
    int rc = run_job(&j, told, e);
    safetensors_close(j.from);
    safetensors_close(j.model);
    free(j.w);
    free(j.b);
    free(j.tensor);
    arena_release(&j.arena);
    return rc;
}
