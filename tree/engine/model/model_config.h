#ifndef ENGINE_MODEL_MODEL_CONFIG_H
#define ENGINE_MODEL_MODEL_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "evalcore/base/err.h"
#include "evalcore/base/str.h"

/* A door of engine/model (model.h says what the room is for): the shape of a model, from config.json and
 * generation_config.json of a Hugging Face folder. Qwen2, Qwen2.5, Qwen3 and Llama 3 are supported; anything
 * else is refused with the name of the field. */
enum { MODEL_MAX_EOS = 7 }; /* with the chat form's end token as many as a sampler can ban */
enum { MODEL_UNAPPLIED = 160 };

/* Properties of a family's arithmetic that config.json does not hold. To add a family, add a row to the table
 * in model_config.c. */
struct model_family {
    const char *name; /* "model_type" in config.json */
    int qkv_bias;     /* the projections of q, k and v have a bias */
    int qk_norm;      /* RMSNorm over each head of q and k, before the rotation */
};

struct model_config {
    const struct model_family *family;
    int n_layers, n_q, n_kv, head_dim, hidden, ffn, vocab, max_position;
    int tie_embeddings;
    float eps;
    double rope_theta;
    enum rope_kind { ROPE_DEFAULT, ROPE_LINEAR, ROPE_LLAMA3, ROPE_YARN } rope;
    double rope_factor, rope_low, rope_high, rope_original;
    int rope_is_exact;     /* yarn: the ends of the ramp are not rounded to whole pairs */
    double rope_attention; /* cosines and sines are multiplied by this: 1, but for yarn */
    int32_t eos[MODEL_MAX_EOS];
    int n_eos;
    /* Names of the entries of generation_config.json that are not applied; "" for none. */
    char unapplied[MODEL_UNAPPLIED];
};

/* Returns the values per token of the fused linear layer of queries, keys and values. */
static inline int model_qkv_values(const struct model_config *c)
{
    return (c->n_q + 2 * c->n_kv) * c->head_dim;
}

/* Appends a line to out that names the shape: two configurations with the same line have the same tensors
 * and the same arithmetic on them, but for the rotation and eps. */
void model_config_shape(const struct model_config *c, struct str *out);

/* Returns the number of parameters in the matrices of all layers. */
static inline size_t model_layer_values(const struct model_config *c)
{
    size_t attention = (size_t)(model_qkv_values(c) + c->n_q * c->head_dim);
    return (size_t)c->n_layers * (attention + 3 * (size_t)c->ffn) * (size_t)c->hidden;
}

/* Parses the texts of both files. generation may be NULL; its end tokens replace those of the configuration.
 * `what` names the file in messages. Returns 0, ERR_FORMAT (no JSON, or a field that is missing or has no
 * possible value) or ERR_UNSUPPORTED (a model that is not built); then *c has no meaning. */
int model_config_parse(struct model_config *c, const char *text, size_t n, const char *generation,
                       size_t n_generation, const char *what, struct err *e);
/* Reads a model's configuration. model: "pocket", a folder, or "random:CONFIG.json", which means that shape
 * with random weights, for benchmarks. Returns 0, ERR_USAGE when there is no such folder, ERR_IO when a file
 * cannot be read, or a code of model_config_parse(). */
int model_config_open(struct model_config *c, const char *model, struct err *e);

/* Returns 0, or ERR_USAGE with advice when there is no folder of that name. */
int model_check_folder(const char *model, struct err *e);

/* Returns the configuration file of a "random:" model, which points into `model`; NULL for any other. */
const char *model_random_config(const char *model);

/* Returns the context for which the rotation is stretched, original x factor, when max_position_embeddings is
 * below that: people add YaRN and leave the other field alone. 0: it is not, or no original is known. */
int model_scaled_context(const struct model_config *c);

/* Returns the frequency, in radians per position, by which RoPE rotates pair i of head_dim / 2, stretched as
 * the model asks. */
double model_rope_frequency(const struct model_config *c, int i);

#endif
