#ifndef ENGINE_MODEL_MODEL_RANDOM_H
#define ENGINE_MODEL_MODEL_RANDOM_H

#include "kernels/backend.h"

/* Parts of a "random:" model. 0 or a negative backend code. */
int model_random_matrix(const struct backend *be, struct device *dev, struct weight *w, int n, int k,
                        uint64_t key, int with_bias);
/* A norm's weights; NULL: no memory. */
float *model_random_ones(const struct backend *be, struct device *dev, int n);

#endif
