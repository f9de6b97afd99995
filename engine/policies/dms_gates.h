#ifndef ENGINE_DMS_GATES_H
#define ENGINE_DMS_GATES_H

#include "engine/policies/policy.h"

/* Where policy dms has its gates from (dms.c): a file, those that ship with a model, or a channel of the
 * queries that the checkpoint itself was trained to give up. */
enum { NEURON_LAST, NEURON_FIRST }; /* the released code's channel, and the paper's */

struct dms_params {
    const char *gate;
    int window, shift, prefill, window_inclusive, alpha_per, neuron, evict;
    double cr, scale, bias;
    const char *data; /* of the safetensors file that ships for cr, set by dms_gates_resolve; not an option */
    size_t n_data;
    int is_shipped; /* 1: data is of a model of the Hub; the embedded model's gates are as fixed as its
                       weights */
};

/* Finds the gates and fills in window, shift, scale and bias where they are unset: from the file's metadata,
 * or for a neuron from the model's config.json. spec->params is a struct dms_params. */
int dms_gates_resolve(struct policy_spec *spec, const struct policy_model *m, struct arena *a, struct err *e);

/* Linear gates of resolved options: w (n_layers, n_kv, hidden), b (n_layers, n_kv). */
int dms_gates_load(const struct dms_params *p, const struct policy_dims *dims, float *w, float *b,
                   struct err *e);

#endif
