#ifndef ENGINE_MODEL_MODEL_H
#define ENGINE_MODEL_MODEL_H

#include "engine/model/model_config.h"
#include "evalcore/base/err.h"
#include "kernels/backend.h"

/* The room of models: their configuration, their files and their weights on a device. The rooms
 * engine/policies, engine and evalcore/bench include it. Nothing here decodes.
 *
 * This door loads weights. q, k and v are one matrix, and gate and up are one, so a layer has four matrix
 * products. The kernels rotate channel i of a head with channel i + head_dim / 2, so where a family pairs
 * other channels, rows of q and k are put in another order when they are loaded: products of q and k stay the
 * same. */
struct model_layer {
    struct weight qkv;     /* ((n_q + 2 n_kv) * head_dim, hidden) */
    struct weight o;       /* (hidden, n_q * head_dim) */
    struct weight gate_up; /* (2 * ffn, hidden) */
    struct weight down;    /* (hidden, ffn) */
    /* Norms (hidden) before attention and feed-forward, and behind them; NULL where the plan has none. */
    float *norm_attn, *norm_ffn, *norm_attn_out, *norm_ffn_out;
    float *q_norm, *k_norm; /* (head_dim), of QK_NORM_WIDE (n_q * head_dim) and (n_kv * head_dim); or NULL */
    float *sinks;           /* (n_q) or NULL */
};

struct model {
    struct model_config config;
    const struct backend *be;
    struct device *dev;
    struct model_layer *layer; /* (n_layers) */
    struct weight embed;       /* (vocab, hidden) */
    struct weight head;        /* (vocab, hidden); same memory as embed when tied */
    int is_head_own; /* config.json ties it, but the file has another one: config.tie_embeddings is 0 then */
    float *norm;     /* (hidden) */
    float *cos_sin[MODEL_ROPES]; /* by rotation: (max_context, 2, head_dim / 2) */
    float *query_scale;          /* (max_context), or NULL: all are 1 */
    char identity[65];           /* 64 hex digits (safetensors_identity) */
    size_t bytes, step_bytes; /* all weights; those a decode step reads: all but the embedding, unless it is
                               * the  head too */
};

/* Loads a model; model_close() frees it. path: as for model_config_open(). max_context sizes the rotation
 * table; cache_dir is for safetensors_identity(). Returns 0, a code of model_config_open(), ERR_IO (a weight
 * file is missing or cannot be read), ERR_FORMAT (a weight file is damaged, or a tensor is missing or has
 * another shape), ERR_UNSUPPORTED (a dtype, or tensors that no part of the model reads) or ERR_DEVICE (no
 * memory). On an error m is closed. */
int model_open(struct model *m, const char *path, const struct backend *be, struct device *dev,
               int max_context, const char *cache_dir, struct err *e);
/* The same without the values: opens the headers of all files, checks that every tensor is there, has a
 * supported dtype and the shape that config.json asks for, and that its bytes lie inside its file, and
 * allocates what loading would allocate. The identity stays "". Made for a backend that only counts
 * (engine/memory/counting.h). Returns as model_open(). */
int model_open_headers(struct model *m, const char *path, const struct backend *be, struct device *dev,
                       int max_context, struct err *e);
/* Frees the weights and zeroes m; a zeroed struct is allowed. */
void model_close(struct model *m);
/* Computes the identity of the files (safetensors_identity()) without loading them. For a "random:" model it
 * is a hash of its shape. Returns 0, or ERR_IO or ERR_FORMAT for a file that cannot be read or
 * is damaged. */
int model_identity(const char *path, const char *cache_dir, char out[65], struct err *e);
/* Returns 1 when model_identity() has little to hash, or nothing that it could. */
int model_identity_is_quick(const char *path, const char *cache_dir);

#endif
