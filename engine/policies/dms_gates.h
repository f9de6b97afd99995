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
 * or for a neuron from the model's config.json. spec->params is a struct dms_params. Returns 0, ERR_USAGE (no
 * gates ship for this model and cr, the file does not say an option that is unset, or the checkpoint was not
 * trained to lend a neuron), ERR_FORMAT (a damaged file, or a value outside its range) or ERR_IO (a file
 * cannot be read). */
int dms_gates_resolve(struct policy_spec *spec, const struct policy_model *m, struct arena *a, struct err *e);

/* Reads the linear gates of resolved options into w (n_layers, n_kv, hidden) and b (n_layers, n_kv), which
 * the caller allocates; layers with a window need none, and theirs are left alone. Returns 0, or ERR_IO,
 * ERR_FORMAT or ERR_UNSUPPORTED for a file that cannot be read, is damaged or does not fit the model. */
int dms_gates_load(const struct dms_params *p, const struct policy_dims *dims, float *w, float *b,
                   struct err *e);

#endif
