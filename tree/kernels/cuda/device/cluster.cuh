#ifndef KERNELS_CUDA_DEVICE_CLUSTER_CUH
#define KERNELS_CUDA_DEVICE_CLUSTER_CUH

#include <cooperative_groups.h>

#include "kernels/cuda/device/ptx.cuh"

/* Blocks of a cluster, for C++. Only kernels that need Hopper call these; the header above has no clusters
 * where it is compiled for older GPUs. */

/* All threads of the cluster meet: what was written before is seen after. */
__device__ static inline void cluster_meet(void)
{
#if !BELOW_90
    cooperative_groups::this_cluster().sync();
#endif
}

/* Returns the address of the same object in the shared memory of block `block` of the cluster. */
template <typename T> __device__ static inline T *cluster_object(T *mine, int block)
{
#if BELOW_90
    return mine;
#else
    return cooperative_groups::this_cluster().map_shared_rank(mine, block);
#endif
}

#endif
