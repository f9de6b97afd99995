#ifndef KERNELS_CUDA_SELECT_TOPK_CUH
#define KERNELS_CUDA_SELECT_TOPK_CUH

#include "kernels/cuda/device/cluster.cuh"
#include "kernels/cuda/device/cuda.cuh"
#include "kernels/cuda/device/ptx.cuh"
#include "kernels/cuda/select/keys.cuh"
#include "kernels/topk_params.h"

/* What op_topk.cu and topk_mass.cuh share: lists in parts, and their keys. */

/* Where a list's keys are kept: in the shared memory of one thread block, in that of a cluster, or in device
 * memory. */
enum place { BLOCK, OF_CLUSTER, MEMORY };

template <enum place PLACE, int N_THREADS> struct tile_config {
    enum {
        CLUSTER = PLACE == OF_CLUSTER,
        IN_MEMORY = PLACE == MEMORY,
        THREADS = N_THREADS,
        WARPS = THREADS / WARP
    };
};

/* A block's part of a list: entries begin .. begin + n - 1. */
struct part {
    uint32_t *key;
    int begin, n;
};

/* Returns the number of entries of each block's part of n, a multiple of WARP. */
__host__ __device__ static inline int part_of(int n, int blocks)
{
    return (n + blocks * WARP - 1) / (blocks * WARP) * WARP;
}

/* FLIGHT: loads of scores that a thread has in flight at once. AHEAD: those that it issues before it knows
 * the list's length, where one block has the whole list. */
enum { FLIGHT = 8, AHEAD = 4 };

/* ask_ahead() loads a thread's first AHEAD scores of a list of at most `stride`; make_keys_ahead() then
 * writes their keys, as far as they are in the part. */
template <class F> __device__ static inline void ask_ahead(const float *v, int stride, float (&x)[AHEAD])
{
#pragma unroll
    for (int u = 0; u < AHEAD; u++) {
        int j = threadIdx.x + u * F::THREADS;
        x[u] = j < stride ? v[j] : 0.0f;
    }
}

template <class F>
__device__ static inline void make_keys_ahead(const struct part &p, const float (&x)[AHEAD], float bias)
{
#pragma unroll
    for (int u = 0; u < AHEAD; u++) {
        int j = threadIdx.x + u * F::THREADS;
        if (j < p.n)
            p.key[j] = key_of(x[u], p.begin + j, bias);
    }
}

/* Writes the keys of v[j], j from `from` on, to the part; several loads in flight before the first is used.
 */
template <class F>
__device__ static void make_keys(const struct part &p, const float *v, int from, float bias)
{
    if (bias != 0) {
        for (int j = from + threadIdx.x; j < p.n; j += F::THREADS)
            p.key[j] = key_of(v[j], p.begin + j, bias);
        return;
    }
    for (int j = from + threadIdx.x; j < p.n; j += FLIGHT * F::THREADS) {
        float x[FLIGHT];
#pragma unroll
        for (int u = 0; u < FLIGHT; u++)
            x[u] = j + u * F::THREADS < p.n ? v[j + u * F::THREADS] : 0.0f;
#pragma unroll
        for (int u = 0; u < FLIGHT; u++)
            if (j + u * F::THREADS < p.n)
                p.key[j + u * F::THREADS] = key_of(x[u], 0, 0.0f);
    }
}

/* All threads of the blocks that share a list meet. */
template <class F> __device__ static inline void block_barrier()
{
    if (F::CLUSTER)
        cluster_meet();
    else
        __syncthreads();
}

/* Returns the address of the same object of block `rank` of the cluster. */
template <class F, typename T> __device__ static inline T *of_block(T *mine, int rank)
{
    return F::CLUSTER ? cluster_object(mine, rank) : mine;
}

#endif
