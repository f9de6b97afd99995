#ifndef ENGINE_MODEL_MODEL_RANDOM_H
#define ENGINE_MODEL_MODEL_RANDOM_H

#include "kernels/backend.h"

/* Random weights for a "random:" model. */

/* An (n, k) matrix whose values follow from `key`. 0 or a negative backend code. */
int model_random_matrix(const struct backend *be, struct device *dev, struct weight *w, int n, int k,
                        uint64_t key, int with_bias);
/* The n weights of a norm, all 1; NULL: no memory. */
float *model_random_ones(const struct backend *be, struct device *dev, int n);

#endif
