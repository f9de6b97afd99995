#ifndef ENGINE_POLICIES_LAYER_LIST_H
#define ENGINE_POLICIES_LAYER_LIST_H

#include "evalcore/base/err.h"
#include "evalcore/base/param.h"

/* Options that name layers, for example the refresh layers of delta and the anchors of kascade. */

/* Returns 1 if the list has the layer, else 0. */
int layer_list_has(const struct param_ints *layers, int layer);

/* Returns 0, or ERR_USAGE when the model lacks one of them; the message names the option `key` and the layer.
 */
int layer_list_check(const struct param_ints *layers, const char *key, int n_layers, struct err *e);
/* Returns 0, or ERR_USAGE when one of them is among the first, dense layers, where it would choose nothing,
 * or the list is empty. */
int layer_list_above(const struct param_ints *layers, const char *key, int dense_layers, struct err *e);

/* Removes the first, dense layers from a model's default list, which the run file did not name. */
void layer_list_drop_below(struct param_ints *layers, int dense_layers);

/* Returns the number of first layers that read everything: the dense ones and those below the first that
 * chooses. */
int layer_list_first(const struct param_ints *layers, int dense_layers);

#endif
