#ifndef ENGINE_MODEL_MODEL_LOAD_H
#define ENGINE_MODEL_MODEL_LOAD_H

#include "engine/model/model.h"
#include "engine/model/safetensors.h"

/* Loading one matrix or vector, from files or made of random numbers. */

struct loader {
    struct model *m;
    struct safetensors *st;          /* NULL: random weights */
    int only_headers;                /* allocates and checks, but reads and sends no values */
    const char *root;                /* what names of tensors begin with: "model." */
    const char *head;                /* the output head's: "lm_head" */
    int order[BACKEND_MAX_HEAD_DIM]; /* where a channel of a head of q or k goes */
    int is_ordered;                  /* 0: all channels stay where they are */
    struct err *e;
};

struct part {         /* rows of a tensor that become rows of a fused matrix */
    const char *name; /* without ".weight" */
    int rows;
    int from, all;  /* the part begins at row `from` of a tensor of `all` rows; all 0: it is all of it */
    int is_rotated; /* its rows are channels of heads that the rotation pairs */
};

/* All return 0 or a negative code of model_open(), with l->e set. */

/* Loads a matrix whose parts are stacked by rows, with a bias behind each if with_bias. */
int load_matrix(struct loader *l, struct weight *w, const struct part *parts, int n_parts, int k,
                int with_bias);
/* Loads a vector as fp32. is_gain: 1 is added where the family's norms multiply by 1 + gain. is_rotated: as
 * in struct part. Random models have ones, or zeros where it is no gain. */
int load_vector(struct loader *l, const char *name, int n, int is_gain, int is_rotated, float **out);
/* Keeps ERR_DEVICE with the backend's reason, for what was being loaded. */
int load_device_error(struct loader *l, const char *name);

#endif
