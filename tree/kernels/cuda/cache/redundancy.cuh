#ifndef KERNELS_CUDA_FORGET_REDUNDANCY_CUH
#define KERNELS_CUDA_FORGET_REDUNDANCY_CUH

/* What the kernels of key_redundancy share (kernels/backend_forget.h has the operation). */
#include "kernels/cuda/device/cuda.cuh"
#include "kernels/cuda/device/kv.cuh"
#include "kernels/cuda/device/math.cuh"

/* A KV head whose keys are compared. h counts the KV heads of the row's layers, from the first layer's first
 * head on. */
struct redundancy_head {
    const int32_t *block_table;
    size_t list; /* of spare, mean and io */
    int n;       /* slots; 0: nothing to do */
};

/* Returns head h of a row; n is 0 for a padding row. */
__device__ static inline struct redundancy_head redundancy_head_of(const struct key_redundancy_args &a,
                                                                   int row, int h)
{
    struct redundancy_head s = {NULL, (size_t)row * a.io.n_rows + h, 0};
    int seq = a.rows.seq[row];
    if (seq < 0)
        return s;
    s.block_table = a.kv.block_table + kv_head(a.kv, seq, a.layer, h) * (size_t)a.kv.max_pages;
    s.n = a.io.n[s.list];
    return s;
}

/* op_redundancy_mma.cu: the operation for bf16 keys of 64 or 128 dimensions. op_redundancy.cu has everything
 * else. redundancy_mma_fits() returns 1 if it takes these arguments, else 0. redundancy_mma(), and
 * redundancy_mix() below, enqueue and return 0 or a negative BACKEND_ERR_ code with d->error set. */
int redundancy_mma_fits(const struct key_redundancy_args *a);
int redundancy_mma(struct device *d, const struct key_redundancy_args *a);

/* redundancy_mix.cu: launches the last kernel, the softmax of the means, mixed into the scores. spared: by
 * list and slot like io.v, what is still to be subtracted from a slot's sum, times SPARED_ONE; or NULL. */
static const float SPARED_ONE = 4294967296.0f;
int redundancy_mix(struct device *d, const struct key_redundancy_args *a, const int64_t *spared);

#endif
