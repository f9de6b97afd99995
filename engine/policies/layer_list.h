#ifndef ENGINE_POLICIES_LAYER_LIST_H
#define ENGINE_POLICIES_LAYER_LIST_H

#include "engine/policies/policy.h"

/* Options that name layers, for example the refresh layers of delta and the anchors of kascade. */

/* Returns 1 if the list has the layer, else 0. */
int layer_list_has(const struct param_ints *layers, int layer);

/* Return 0, or ERR_USAGE when the model lacks one of the layers, or the layer, or it has a window; the
 * message names the option `key`, the layer, and which ones have full attention. */
int layer_list_check(const struct param_ints *layers, const char *key, const struct policy_model *m,
                     struct err *e);
int layer_list_check_one(int layer, const char *key, const struct policy_model *m, struct err *e);
/* Returns the model's first layer with full attention; n_layers: none has it. */
int layer_list_first_full(const struct policy_model *m);
/* Writes the numbers of the layers with full attention to out, which has room for n_layers, and returns how
 * many there are. */
int layer_list_full(const struct policy_model *m, int *out);
/* Returns 0, or ERR_USAGE when one of them is among the first, dense layers, where it would choose nothing,
 * or the list is empty. */
int layer_list_above(const struct param_ints *layers, const char *key, int dense_layers, struct err *e);

/* Removes the first, dense layers from a model's default list, which the run file did not name. */
void layer_list_drop_below(struct param_ints *layers, int dense_layers);

/* Returns the number of first layers that read everything: the dense ones and those below the first that
 * chooses. */
int layer_list_first(const struct param_ints *layers, int dense_layers);

#endif
