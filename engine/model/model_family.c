/* Families of models, and how their config.json becomes a plan. To add a family, add a row to the table, a
 * fixture (tests/engine/families) and a line to docs/models.md; a switch that no row has yet is a flag in
 * model_parts.h, and one place below that reads it. Fields, their defaults and their meaning are those of the
 * family's class in Transformers 5.24. */
#include <math.h>
#include <string.h>

#include "engine/model/model_parts.h"

/* A field of the class that changes the arithmetic and that no column reads is refused (refuse_others). */
static const struct model_family families[] = {
    {.name = "llama",
     .models = "Llama 3, DeepSeek-R1-Distill-Llama, SmolLM2",
     .norms = NORM_BEFORE,
     .qkv_bias = "attention_bias",
     .o_bias = "attention_bias",
     .ffn_bias = "mlp_bias"},
    {.name = "qwen2",
     .models = "Qwen2, Qwen2.5, DeepSeek-R1-Distill-Qwen",
     .norms = NORM_BEFORE,
     .always_bias = 1,
     .windows = WINDOWS_LATE,
     .n_kv = 32,
     .window = 4096},
    {.name = "qwen3",
     .models = "Qwen3",
     .norms = NORM_BEFORE,
     .qk_norm = QK_NORM_HEAD,
     .qkv_bias = "attention_bias",
     .o_bias = "attention_bias",
     .windows = WINDOWS_LATE,
     .n_kv = 32,
     .head_dim = 128,
     .window = 4096},
    {.name = "mistral",
     .models = "Mistral, Mistral Nemo, Mistral Small, Magistral",
     .norms = NORM_BEFORE,
     .windows = WINDOWS_ALL,
     .n_kv = 8,
     .window = 4096},
    {.name = "ministral",
     .models = "Ministral 8B of 2024",
     .norms = NORM_BEFORE,
     .windows = WINDOWS_PATTERN,
     .n_kv = 8,
     .window = 4096},
    {.name = "ministral3",
     .models = "Ministral 3",
     .norms = NORM_BEFORE,
     .windows = WINDOWS_ALL,
     .switches = FAMILY_QUERY_SCALE,
     .n_kv = 8,
     .head_dim = 128},
    {.name = "phi3",
     .models = "Phi-3, Phi-4, Phi-4-reasoning, Phi-4-mini",
     .norms = NORM_BEFORE,
     .windows = WINDOWS_ALL,
     .switches = FAMILY_FUSED | FAMILY_PARTIAL | FAMILY_LONG_NAMES,
     .original = 4096},
    {.name = "seed_oss",
     .models = "Seed-OSS",
     .norms = NORM_BEFORE,
     .qkv_bias = "attention_bias",
     .bias_by_default = 1,
     .o_bias = "attention_out_bias",
     .ffn_bias = "mlp_bias",
     .n_kv = 8,
     .head_dim = 128},
    {.name = "granite",
     .models = "Granite 3",
     .norms = NORM_BEFORE,
     .qkv_bias = "attention_bias",
     .o_bias = "attention_bias",
     .ffn_bias = "mlp_bias",
     .switches = FAMILY_MULTIPLIERS},
    {.name = "hunyuan_v1_dense",
     .models = "Hunyuan 0.5B to 7B",
     .norms = NORM_BEFORE,
     .qk_norm = QK_NORM_HEAD_AFTER,
     .qkv_bias = "attention_bias",
     .o_bias = "attention_bias",
     .switches = FAMILY_ALPHA},
    {.name = "ernie4_5",
     .models = "ERNIE 4.5 0.3B",
     .norms = NORM_BEFORE,
     .qkv_bias = "use_bias",
     .o_bias = "use_bias",
     .ffn_bias = "use_bias",
     .switches = FAMILY_INTERLEAVED,
     .theta = 500000,
     .n_kv = 2,
     .head_dim = 128,
     .tied = 1},
    {.name = "smollm3",
     .models = "SmolLM3",
     .norms = NORM_BEFORE,
     .qkv_bias = "attention_bias",
     .o_bias = "attention_bias",
     .ffn_bias = "mlp_bias",
     .windows = WINDOWS_NO_ROPE,
     .switches = FAMILY_NO_ROPE_LAYERS,
     .theta = 2000000,
     .n_kv = 4,
     .tied = 1},
    {.name = "olmo2",
     .models = "OLMo 2",
     .norms = NORM_BEHIND,
     .qk_norm = QK_NORM_WIDE,
     .qkv_bias = "attention_bias",
     .o_bias = "attention_bias"},
    {.name = "olmo3",
     .models = "OLMo 3",
     .norms = NORM_BEHIND,
     .qk_norm = QK_NORM_WIDE,
     .qkv_bias = "attention_bias",
     .o_bias = "attention_bias",
     .windows = WINDOWS_PATTERN,
     .pattern = 4,
     .switches = FAMILY_ROPE_BY_TYPE,
     .theta = 500000,
     .local_theta = 500000,
     .window = 4096},
    {.name = "exaone4",
     .models = "EXAONE 4.0",
     .norms = NORM_BEHIND,
     .qk_norm = QK_NORM_HEAD,
     .windows = WINDOWS_PATTERN,
     .pattern = 4,
     .switches = FAMILY_WINDOW_PATTERN | FAMILY_ROPE_IN_WINDOWS,
     .n_kv = 32,
     .window = 4096},
    {.name = "gemma2",
     .models = "Gemma 2",
     .norms = NORM_BOTH,
     .qkv_bias = "attention_bias",
     .o_bias = "attention_bias",
     .glu = GLU_GELU,
     .windows = WINDOWS_PATTERN,
     .pattern = 2,
     .switches = FAMILY_GEMMA,
     .n_kv = 4,
     .head_dim = 256,
     .window = 4096,
     .tied = 1,
     .final_softcap = 30,
     .attention_softcap = 50},
    {.name = "gemma3_text",
     .models = "Gemma 3, without images",
     .norms = NORM_BOTH,
     .qk_norm = QK_NORM_HEAD,
     .qkv_bias = "attention_bias",
     .o_bias = "attention_bias",
     .glu = GLU_GELU,
     .windows = WINDOWS_PATTERN,
     .pattern = 6,
     .switches = FAMILY_GEMMA | FAMILY_ROPE_BY_TYPE | FAMILY_WINDOW_PATTERN,
     .theta = 1000000,
     .local_theta = 10000,
     .n_q = 8,
     .vocab = 262208,
     .max_position = 131072,
     .eps = 1e-6,
     .n_kv = 4,
     .head_dim = 256,
     .window = 4096,
     .tied = 1},
    /* Last, because it is of no published model: gpt-oss's attention (windows, sinks, biases) with dense
     * layers behind it, for tests. */
    {.name = "kveval_sinks",
     .norms = NORM_BEFORE,
     .qkv_bias = "attention_bias",
     .o_bias = "attention_bias",
     .ffn_bias = "mlp_bias",
     .windows = WINDOWS_PATTERN,
     .pattern = 2,
     .switches = FAMILY_SINKS,
     .window = 128},
};
enum { N_FAMILIES = sizeof families / sizeof *families, N_PUBLISHED = N_FAMILIES - 1 };

const char *model_family_name(const struct model_family *f)
{
    return f->name;
}

const char *model_family_at(size_t i, const char **models)
{
    if (i >= N_PUBLISHED)
        return NULL;
    *models = families[i].models;
    return families[i].name;
}

void model_families(struct str *out)
{
    for (int i = 0; i < N_PUBLISHED; i++)
        str_printf(out, "%s%s", i == 0 ? "" : i + 1 < N_PUBLISHED ? ", " : " and ", families[i].name);
}

const json_t *model_text_part(const json_t *o)
{
    static const char *const with_images[] = {"mistral3", "gemma3"};
    const char *type = json_string_value(json_object_get(o, "model_type"));
    for (size_t i = 0; type && i < sizeof with_images / sizeof *with_images; i++)
        if (!strcmp(type, with_images[i]) && json_is_object(json_object_get(o, "text_config")))
            return json_object_get(o, "text_config");
    return o;
}

int model_family_parse(struct model_config *c, const json_t *o, const char *what, struct err *e)
{
    const char *type, *names[N_FAMILIES + 1] = {0};
    if (json_get_str(o, "model_type", &type, what, e))
        return e->code;
    for (int i = 0; i < N_FAMILIES; i++) {
        names[i] = families[i].name;
        if (!strcmp(type, names[i]))
            c->family = &families[i];
    }
    if (c->family)
        return 0;
    struct str known = {0};
    const char *near = str_nearest(type, names);
    model_families(&known);
    int rc =
        err_set(e, ERR_UNSUPPORTED, "%s: \"model_type\" is \"%.60s\"; %s are supported%s%s%s", what, type,
                str_text(&known), near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
    str_release(&known);
    return rc;
}

/* ---- from the family's fields to the plan */

static int opt_positive(const json_t *o, const char *key, float *out, const char *what, struct err *e)
{
    double v = *out;
    if (json_opt_double(o, key, &v, what, e))
        return e->code;
    *out = (float)v;
    if (isfinite(*out) && *out > 0)
        return 0;
    return err_set(e, ERR_FORMAT, "%s: \"%s\" is %g; a number above 0 is expected", what, key, v);
}

/* absent: the class's default. Null means no cap. */
static int opt_softcap(const json_t *o, const char *key, double absent, float *out, const char *what,
                       struct err *e)
{
    *out = (float)absent;
    if (model_is_given(o, key))
        return opt_positive(o, key, out, what, e);
    if (json_object_get(o, key))
        *out = 0;
    return 0;
}

static int parse_activation(struct model_config *c, const json_t *o, const char *what, struct err *e)
{
    static const struct {
        const char *name;
        enum glu glu;
    } known[] = {{"silu", GLU_SILU},
                 {"swish", GLU_SILU},
                 {"gelu_pytorch_tanh", GLU_GELU},
                 {"swiglu_clamped", GLU_CLAMPED}};
    const char *key = (c->family->switches & FAMILY_GEMMA) ? "hidden_activation" : "hidden_act", *name = NULL;
    c->glu = c->family->glu;
    if (json_opt_str(o, key, &name, what, e))
        return e->code;
    for (size_t i = 0; name && i < sizeof known / sizeof *known; i++)
        if (!strcmp(name, known[i].name) &&
            (known[i].glu != GLU_CLAMPED || (c->family->switches & FAMILY_SINKS))) {
            c->glu = known[i].glu;
            return 0;
        }
    if (!name)
        return 0;
    return err_set(e, ERR_UNSUPPORTED, "%s: \"%s\" is \"%.40s\"; silu and gelu_pytorch_tanh are supported",
                   what, key, name);
}

static int parse_bias(const json_t *o, const char *key, int absent, int *out, const char *what, struct err *e)
{
    *out = absent;
    return key ? json_opt_bool(o, key, out, what, e) : 0;
}

static int parse_biases(struct model_config *c, const json_t *o, const char *what, struct err *e)
{
    const struct model_family *f = c->family;
    if (parse_bias(o, f->qkv_bias, f->bias_by_default, &c->qkv_bias, what, e) ||
        parse_bias(o, f->o_bias, 0, &c->o_bias, what, e) ||
        parse_bias(o, f->ffn_bias, 0, &c->ffn_bias, what, e))
        return e->code;
    c->qkv_bias |= f->always_bias;
    return 0;
}

static int parse_multipliers(struct model_config *c, const json_t *o, const char *what, struct err *e)
{
    float by = 1, scalar = 256;
    c->attention_scale = 1.0f / sqrtf((float)c->head_dim);
    c->embed_scale = c->residual_scale = c->logit_scale = 1;
    if (c->family->switches & FAMILY_MULTIPLIERS) {
        c->attention_scale = 1;
        if (opt_positive(o, "attention_multiplier", &c->attention_scale, what, e) ||
            opt_positive(o, "embedding_multiplier", &c->embed_scale, what, e) ||
            opt_positive(o, "residual_multiplier", &c->residual_scale, what, e) ||
            opt_positive(o, "logits_scaling", &by, what, e))
            return e->code;
        c->logit_scale = 1 / by;
    }
    if (c->family->switches & FAMILY_GEMMA) {
        c->gain_plus_one = 1;
        c->embed_scale = sqrtf((float)c->hidden);
        if (opt_positive(o, "query_pre_attn_scalar", &scalar, what, e) ||
            opt_softcap(o, "final_logit_softcapping", c->family->final_softcap, &c->logit_softcap, what, e) ||
            (c->family->attention_softcap > 0 &&
             opt_softcap(o, "attn_logit_softcapping", c->family->attention_softcap, &c->attention_softcap,
                         what, e)))
            return e->code;
        c->attention_scale = 1.0f / sqrtf(scalar);
    }
    return 0;
}

/* Sets is_off[i] to 1 where layer i does not rotate: where no_rope_layers has 0, or else each n-th layer. */
static int parse_no_rope(const struct model_config *c, const json_t *o, char *is_off, const char *what,
                         struct err *e)
{
    static const char key[] = "no_rope_layers";
    int every = 4;
    memset(is_off, 0, (size_t)c->n_layers);
    if (!(c->family->switches & FAMILY_NO_ROPE_LAYERS))
        return 0;
    const json_t *list = json_object_get(o, key);
    if (model_opt_int(o, "no_rope_layer_interval", 1, MODEL_MAX_LAYERS + 1, &every, what, e))
        return e->code;
    int given = model_is_given(o, key);
    if (given && (!json_is_array(list) || json_array_size(list) < (size_t)c->n_layers))
        return err_set(e, ERR_FORMAT, "%s: \"%s\" must be a list with a number for each of %d layers", what,
                       key, c->n_layers);
    for (int i = 0; i < c->n_layers; i++) {
        const json_t *v = given ? json_array_get(list, (size_t)i) : NULL;
        if (v && !json_is_integer(v) && !json_is_boolean(v))
            return err_set(e, ERR_FORMAT, "%s: \"%s\" must hold 0 (no rotation) and 1", what, key);
        is_off[i] =
            v ? json_is_boolean(v) ? !json_is_true(v) : json_integer_value(v) == 0 : (i + 1) % every == 0;
    }
    return 0;
}

/* Sets is_window[i] from "layer_types". Returns 1 if there is none. */
static int parse_types(const struct model_config *c, const json_t *o, char *is_window, const char *what,
                       struct err *e)
{
    static const char key[] = "layer_types";
    const json_t *list = json_object_get(o, key);
    if (!model_is_given(o, key))
        return 1;
    if (!json_is_array(list) || json_array_size(list) != (size_t)c->n_layers)
        return err_set(e, ERR_FORMAT, "%s: \"%s\" must be a list with a type for each of %d layers", what,
                       key, c->n_layers);
    for (int i = 0; i < c->n_layers; i++) {
        const char *type = json_string_value(json_array_get(list, (size_t)i));
        is_window[i] = type && !strcmp(type, "sliding_attention");
        if (!is_window[i] && !(type && !strcmp(type, "full_attention")))
            return err_set(e, ERR_UNSUPPORTED,
                           "%s: \"%s\" has \"%.40s\" for layer %d; full_attention and sliding_attention are "
                           "supported",
                           what, key, type ? type : "no text", i);
    }
    return 0;
}

/* Which layers have a window, by the family's rule; *listed is 1 if "layer_types" says so. */
static int find_windows(const struct model_config *c, const json_t *o, const char *is_off, char *is_window,
                        int *listed, const char *what, struct err *e)
{
    const struct model_family *f = c->family;
    int on = f->windows == WINDOWS_PATTERN, first = 28,
        pattern = f->pattern; /* 28: max_window_layers of Qwen's classes */
    memset(is_window, 0, (size_t)c->n_layers);
    if (f->windows == WINDOWS_NONE)
        return 0;
    if (f->windows == WINDOWS_ALL) {
        memset(is_window, 1, (size_t)c->n_layers);
        return 0;
    }
    *listed = parse_types(c, o, is_window, what, e) == 0;
    if (e->code || (!on && json_opt_bool(o, "use_sliding_window", &on, what, e)))
        return e->code;
    if (*listed && !on && memchr(is_window, 1, (size_t)c->n_layers))
        return err_set(
            e, ERR_UNSUPPORTED,
            "%s: \"layer_types\" has layers with a window, but \"use_sliding_window\" is not true; "
            "make them agree",
            what);
    if (*listed || !on)
        return 0;
    if (model_opt_int(o, "max_window_layers", 0, MODEL_MAX_LAYERS, &first, what, e) ||
        ((f->switches & FAMILY_WINDOW_PATTERN) &&
         model_opt_int(o, "sliding_window_pattern", 1, MODEL_MAX_LAYERS, &pattern, what, e)))
        return e->code;
    for (int i = 0; i < c->n_layers; i++)
        is_window[i] = f->windows == WINDOWS_LATE      ? i >= first
                       : f->windows == WINDOWS_NO_ROPE ? is_off[i]
                                                       : !pattern || (i + 1) % pattern != 0;
    return 0;
}

/* A window that no context outgrows is none: policies act on such a layer. Without a size all layers are
 * full, unless "layer_types" names some that are not. */
static int parse_layers(struct model_config *c, const json_t *o, const char *what, struct err *e)
{
    char is_off[MODEL_MAX_LAYERS], is_window[MODEL_MAX_LAYERS];
    int in_windows = (c->family->switches & FAMILY_ROPE_IN_WINDOWS) != 0;
    const json_t *given = json_object_get(o, "sliding_window");
    int window = given ? 0 : c->family->window, listed = 0;
    if (c->family->windows != WINDOWS_NONE &&
        model_opt_int(o, "sliding_window", 1, INT32_MAX, &window, what, e))
        return e->code;
    if (parse_no_rope(c, o, is_off, what, e) || find_windows(c, o, is_off, is_window, &listed, what, e))
        return e->code;
    for (int i = 0; i < c->n_layers; i++) {
        if (is_window[i] && !window && listed)
            return err_set(e, ERR_FORMAT, "%s: layer %d has a window, but \"sliding_window\" is null", what,
                           i);
        is_off[i] |= in_windows && window && !is_window[i];
        c->window[i] = is_window[i] && window < c->max_position ? window : 0;
        c->rope_of[i] = is_off[i] ? -1 : is_window[i] && c->n_ropes > 1;
        c->n_windows += c->window[i] > 0;
    }
    return 0;
}

/* Fields that change the arithmetic of any family, in ways that are not built. */
static int refuse_others(const json_t *o, const char *what, struct err *e)
{
    int both = 0, causal = 1;
    if (json_opt_bool(o, "use_bidirectional_attention", &both, what, e) ||
        json_opt_bool(o, "is_causal", &causal, what, e))
        return e->code;
    if (both || !causal)
        return err_set(e, ERR_UNSUPPORTED, "%s: \"%s\" is %s; a model that generates text is needed", what,
                       both ? "use_bidirectional_attention" : "is_causal", both ? "true" : "false");
    if (!model_is_given(o, "per_layer_config"))
        return 0;
    return err_set(e, ERR_UNSUPPORTED,
                   "%s: \"per_layer_config\" is present; layers of different shapes are not "
                   "supported",
                   what);
}

int model_plan_parse(struct model_config *c, const json_t *o, const char *what, struct err *e)
{
    const struct model_family *f = c->family;
    c->norms = f->norms;
    c->qk_norm = f->qk_norm;
    c->has_sinks = (f->switches & FAMILY_SINKS) != 0;
    if (refuse_others(o, what, e) || parse_activation(c, o, what, e) || parse_biases(c, o, what, e) ||
        parse_multipliers(c, o, what, e) || model_rope_parse(c, o, what, e) || parse_layers(c, o, what, e))
        return e->code;
    return 0;
}
