#ifndef ENGINE_MODEL_MODEL_PARTS_H
#define ENGINE_MODEL_MODEL_PARTS_H

#include "engine/model/model_config.h"
#include "evalcore/base/json.h"

/* What the files that read config.json and load weights share. */

/* How a family's config.json says which layers have a window. */
enum window_rule {
    WINDOWS_NONE,
    WINDOWS_ALL,     /* "sliding_window": all layers */
    WINDOWS_PATTERN, /* "layer_types"; without it every layer but each `pattern`-th (0: all layers) */
    WINDOWS_LATE,    /* with "use_sliding_window": "layer_types", or those from "max_window_layers" on */
    WINDOWS_NO_ROPE  /* with "use_sliding_window": "layer_types", or those that do not rotate */
};

/* Switches of a family's arithmetic and of its files, beside what has a column. */
enum family_switch {
    FAMILY_FUSED = 1,            /* qkv_proj and gate_up_proj are one tensor each */
    FAMILY_INTERLEAVED = 2,      /* pairs that rotate are channels 2i and 2i + 1 */
    FAMILY_PARTIAL = 4,          /* "partial_rotary_factor" may be below 1 */
    FAMILY_ROPE_BY_TYPE = 8,     /* full layers and those with windows rotate otherwise */
    FAMILY_NO_ROPE_LAYERS = 16,  /* "no_rope_layers", "no_rope_layer_interval" */
    FAMILY_ROPE_IN_WINDOWS = 32, /* full layers do not rotate where "sliding_window" is given */
    FAMILY_GEMMA = 64,        /* 1 + gain, embeddings times sqrt(hidden), "query_pre_attn_scalar", softcaps */
    FAMILY_MULTIPLIERS = 128, /* Granite's four */
    FAMILY_QUERY_SCALE = 256, /* "llama_4_scaling_beta" */
    FAMILY_SINKS = 512,       /* self_attn.sinks, and clamped units */
    FAMILY_LONG_NAMES = 1024, /* rotations "su" and "yarn" mean longrope */
    FAMILY_ALPHA = 2048,      /* a rotation "dynamic" with an alpha */
    FAMILY_WINDOW_PATTERN = 4096 /* "sliding_window_pattern" */
};

struct model_family {
    const char *name;   /* "model_type" in config.json */
    const char *models; /* what people know it by */
    enum norm_place norms;
    enum qk_norm qk_norm;
    /* Booleans of config.json that say whether a projection has a bias; NULL: there is none for it, and it
     * has one where always_bias says so. */
    const char *qkv_bias, *o_bias, *ffn_bias;
    int always_bias;     /* 1: q, k and v have one whatever config.json says */
    int bias_by_default; /* qkv_bias is true where it is not given */
    enum glu glu;        /* without "hidden_act" and "hidden_activation" */
    enum window_rule windows;
    int pattern; /* WINDOWS_PATTERN */
    unsigned switches;
    /* Defaults of fields that are not given; 0: none, or what follows from others. */
    double theta, local_theta; /* local_theta: of layers with windows */
    int head_dim, n_q, n_kv, vocab, max_position, window, tied, original;
    double eps;
    double final_softcap, attention_softcap;
};

/* Returns a nonzero value if the key is there and is not null. */
int model_is_given(const json_t *o, const char *key);
/* Read a whole number from min to max; opt: absent or null leaves *out as it is. Return 0, ERR_FORMAT or
 * ERR_UNSUPPORTED. */
int model_get_int(const json_t *o, const char *key, int64_t min, int64_t max, int *out, const char *what,
                  struct err *e);
int model_opt_int(const json_t *o, const char *key, int64_t min, int64_t max, int *out, const char *what,
                  struct err *e);
/* Returns the object that describes the language model: "text_config" in models that also take images, else
 * o.
 */
const json_t *model_text_part(const json_t *o);
/* Sets c->family from "model_type". Returns 0, ERR_FORMAT, or ERR_UNSUPPORTED with the families that are
 * known and the nearest. */
int model_family_parse(struct model_config *c, const json_t *o, const char *what, struct err *e);
/* Fills in the plan of a model whose shape is read: norms, biases, windows, rotations, multipliers. Returns
 * 0, ERR_FORMAT or ERR_UNSUPPORTED. */
int model_plan_parse(struct model_config *c, const json_t *o, const char *what, struct err *e);
/* Reads the rotations of the model: c->rope and c->n_ropes, and query_beta. Returns as model_plan_parse(). */
int model_rope_parse(struct model_config *c, const json_t *o, const char *what, struct err *e);

#endif
