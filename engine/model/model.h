#ifndef ENGINE_MODEL_MODEL_H
#define ENGINE_MODEL_MODEL_H

#include "engine/model/model_config.h"
#include "evalcore/base/err.h"
#include "kernels/backend.h"

/* A model's weights on a device. q, k and v, and gate and up, are one matrix each, so a layer is four
 * products. */
struct model_layer {
    struct weight qkv;          /* ((n_q + 2 n_kv) * head_dim, hidden), bias where the file has one (Qwen2) */
    struct weight o;            /* (hidden, n_q * head_dim) */
    struct weight gate_up;      /* (2 * ffn, hidden) */
    struct weight down;         /* (hidden, ffn) */
    float *norm_in, *norm_post; /* (hidden) */
    float *q_norm, *k_norm;     /* (head_dim) or NULL */
};

struct model {
    struct model_config config;
    const struct backend *be;
    struct device *dev;
    struct model_layer *layer; /* (n_layers) */
    struct weight embed;       /* (vocab, hidden) */
    struct weight head;        /* (vocab, hidden); same memory as embed when tied */
    float *norm;               /* (hidden) */
    float *cos_sin;            /* (max_context, 2, head_dim / 2) */
    char identity[65];
    size_t bytes, step_bytes; /* all; without the embedding where that is not the head too */
};

/* path: "pocket" or a folder. max_context sizes the rotation table. */
int model_open(struct model *m, const char *path, const struct backend *be, struct device *dev,
               int max_context, const char *cache_dir, struct err *e);
void model_close(struct model *m);

#endif
