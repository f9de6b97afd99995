#ifndef KERNELS_CUDA_DEVICE_MATH_CUH
#define KERNELS_CUDA_DEVICE_MATH_CUH

#include <cuda_bf16.h>
#include <math_constants.h>
#include <stdint.h>

#include "kernels/backend.h"

/* Arithmetic that several kernels share. Reductions go through the lanes of a warp and the warps of a block
 * in a fixed order, so their bits depend only on the kernel's block size and never on the grid. */
enum { WARP = 32 };

/* Division by a number n that the host knows, in few instructions: x / n is x * reciprocal_of(n) / 2^32, for
 * x >= 0 with x * n < 2^32. The reciprocal is rounded up, by less than 1, so that the result is less than
 * x / 2^32 too large, which is less than the 1 / n that would be needed to reach the next whole number. */
__host__ __device__ static inline uint64_t reciprocal_of(int n)
{
    return ((1ull << 32) + (unsigned)n - 1) / (unsigned)n;
}

__device__ static inline int quotient_of(int x, uint64_t reciprocal)
{
    return (int)((unsigned)x * reciprocal >> 32);
}

/* Access to arrays of fp32 or bf16: get_as() returns element i as fp32; put_as(), put2_as() and put4_as()
 * write element i, or the two or four elements from i on, rounded to the type, where i is a multiple of two
 * or four. */
__device__ static inline float get_as(const void *p, enum dtype t, size_t i)
{
    return t == DTYPE_BF16 ? __bfloat162float(((const __nv_bfloat16 *)p)[i]) : ((const float *)p)[i];
}

__device__ static inline void put_as(void *p, enum dtype t, size_t i, float x)
{
    if (t == DTYPE_BF16)
        ((__nv_bfloat16 *)p)[i] = __float2bfloat16_rn(x);
    else
        ((float *)p)[i] = x;
}

__device__ static inline void put2_as(void *p, enum dtype t, size_t i, float x, float y)
{
    if (t == DTYPE_BF16)
        *(__nv_bfloat162 *)((__nv_bfloat16 *)p + i) = __floats2bfloat162_rn(x, y);
    else
        *(float2 *)((float *)p + i) = make_float2(x, y);
}

__device__ static inline void put4_as(void *p, enum dtype t, size_t i, float4 v)
{
    if (t == DTYPE_BF16) {
        __nv_bfloat162 low = __floats2bfloat162_rn(v.x, v.y), high = __floats2bfloat162_rn(v.z, v.w);
        *(uint2 *)((__nv_bfloat16 *)p + i) = make_uint2(*(const uint32_t *)&low, *(const uint32_t *)&high);
    } else {
        *(float4 *)((float *)p + i) = v;
    }
}

/* Returns the four sums. */
__device__ static inline float4 add_four(float4 a, float4 b)
{
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

/* Returns exp(x) of a softmax, where x = logit - max: 0 where x is below -69, so that sums meet no denormals.
 */
__device__ static inline float softmax_exp(float x)
{
    return x < -69.0f ? 0.0f : expf(x);
}

/* Returns cap * tanh(x / cap), or x itself where cap is 0. */
__device__ static inline float softcap_of(float x, float cap)
{
    return cap > 0 ? cap * tanhf(x / cap) : x;
}

/* warp_sum() and warp_max() reduce over the lanes of a warp, all of which call them and get the result. */
template <typename T> __device__ static inline T warp_sum(T x)
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

/* Returns the inclusive prefix sum over the lanes of a warp: of this lane's x and those of the lanes below.
 */
template <typename T> __device__ static inline T sum_before(T x)
{
    int lane = threadIdx.x % WARP;
    for (int by = 1; by < WARP; by *= 2) {
        T y = __shfl_up_sync(~0u, x, by);
        x += lane >= by ? y : 0;
    }
    return x;
}

/* Writes each warp's value to smem[warp]; on return the whole block sees them. */
template <typename T> __device__ static inline void show_by_warp(T x, T *smem)
{
    if (threadIdx.x % WARP == 0)
        smem[threadIdx.x / WARP] = x;
    __syncthreads();
}

/* Reductions over a block of whole warps; every thread gets the result. `smem` is shared memory for 32
 * values, which is free again on return. */
template <typename T> __device__ static inline T block_sum(T x, T *smem)
{
    int warps = blockDim.x / WARP;
    show_by_warp(warp_sum(x), smem);
    T sum = smem[0];
    for (int i = 1; i < warps; i++)
        sum += smem[i];
    __syncthreads();
    return sum;
}

__device__ static inline float block_max(float x, float *smem)
{
    int warps = blockDim.x / WARP;
    show_by_warp(warp_max(x), smem);
    float largest = smem[0];
    for (int i = 1; i < warps; i++)
        largest = fmaxf(largest, smem[i]);
    __syncthreads();
    return largest;
}

#endif
