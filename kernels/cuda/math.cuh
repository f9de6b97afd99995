#ifndef KERNELS_CUDA_MATH_CUH
#define KERNELS_CUDA_MATH_CUH

#include <math_constants.h>
#include <stdint.h>

/* Arithmetic that several kernels share. Reductions take a fixed tree over a warp's lanes and a block's
 * warps: the bits depend on the block size of the kernel alone, never on the grid. */
enum { WARP = 32 };

/* A softmax's term: exp(x), 0 below -69, so that sums meet no denormals. */
__device__ static inline float term(float x)
{
    return x < -69.0f ? 0.0f : expf(x);
}

__device__ static inline float warp_sum(float x)
{
    for (int lane = WARP / 2; lane; lane /= 2)
        x += __shfl_xor_sync(~0u, x, lane);
    return x;
}

__device__ static inline float warp_max(float x)
{
    for (int lane = WARP / 2; lane; lane /= 2)
        x = fmaxf(x, __shfl_xor_sync(~0u, x, lane));
    return x;
}

__device__ static inline int warp_sum(int x)
{
    for (int lane = WARP / 2; lane; lane /= 2)
        x += __shfl_xor_sync(~0u, x, lane);
    return x;
}

/* Over a block of whole warps; every thread gets the result. `room` is shared memory for 32 values, free
 * again after the next barrier. */
template <typename T> __device__ static inline T block_sum(T x, T *room)
{
    int warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    x = warp_sum(x);
    if (threadIdx.x % WARP == 0)
        room[warp] = x;
    __syncthreads();
    T sum = room[0];
    for (int i = 1; i < warps; i++)
        sum += room[i];
    __syncthreads();
    return sum;
}

__device__ static inline float block_max(float x, float *room)
{
    int warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    x = warp_max(x);
    if (threadIdx.x % WARP == 0)
        room[warp] = x;
    __syncthreads();
    float most = room[0];
    for (int i = 1; i < warps; i++)
        most = fmaxf(most, room[i]);
    __syncthreads();
    return most;
}

#endif
