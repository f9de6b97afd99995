#ifndef ENGINE_MODEL_MODEL_CONFIG_H
#define ENGINE_MODEL_MODEL_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "evalcore/base/err.h"

/* config.json (and generation_config.json) of a Hugging Face folder, checked: Qwen2/Qwen2.5, Qwen3 and
 * Llama-3 shapes. Anything else is refused with the field's name. */
enum { MODEL_MAX_EOS = 7 }; /* with a chat form's own, as many as a sampler can ban */

/* What sets a family's arithmetic apart; the rest of a model's shape is in its config.json. Adding a family:
 * a row of the table in model_config.c. */
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
    int rope_llama3; /* Llama 3.1's frequency scaling, with the four numbers below */
    double rope_factor, rope_low, rope_high, rope_original;
    int32_t bos; /* -1: none */
    int32_t eos[MODEL_MAX_EOS];
    int n_eos;
};

/* Values of a token's row of queries, keys and values, as one linear layer gives them. */
static inline int model_qkv_values(const struct model_config *c)
{
    return (c->n_q + 2 * c->n_kv) * c->head_dim;
}

/* Parameters of the layers' matrices. */
static inline size_t model_layer_values(const struct model_config *c)
{
    size_t attention = (size_t)(model_qkv_values(c) + c->n_q * c->head_dim);
    return (size_t)c->n_layers * (attention + 3 * (size_t)c->ffn) * (size_t)c->hidden;
}

/* generation may be NULL; its end tokens replace the configuration's. what names the file in messages. */
int model_config_parse(struct model_config *c, const char *text, size_t n, const char *generation,
                       size_t n_generation, const char *what, struct err *e);
/* "pocket", a folder, or "random:CONFIG.json": that shape with random weights, for benchmarks. */
int model_config_open(struct model_config *c, const char *model, struct err *e);

/* The configuration file of a "random:" model, else NULL. */
const char *model_random_config(const char *model);

/* The rotation's frequency of pair i (of head_dim / 2), Llama 3.1 scaling applied. */
double model_rope_frequency(const struct model_config *c, int i);

#endif
