#ifndef KERNELS_CUDA_DEVICE_KV_CUH
#define KERNELS_CUDA_DEVICE_KV_CUH

#include <cuda_bf16.h>
#include <stdint.h>

#include "kernels/backend.h"

/* Where things of the cache lie, for device code.
 *
 * A KV block is K [16 tokens][head_dim], then V [16 tokens][head_dim], in the pool's type. A row consists of
 * 16-byte chunks. If the number of chunks in a row is a multiple of 8, chunk c of token t is stored at c ^ (t
 * & 7), so that ldmatrix can read a KV block without bank conflicts after a plain copy to shared memory. */
/* kv_pages() for device code. */
__host__ __device__ static inline int pages_of(int tokens)
{
    return (tokens + KV_PAGE_TOKENS - 1) / KV_PAGE_TOKENS;
}

/* dtype_bytes() for device code. */
__host__ __device__ static inline size_t kv_elem(enum dtype t)
{
    return t == DTYPE_BF16 ? 2 : 4;
}

/* Returns the bytes of one KV block in the pool. */
__host__ __device__ static inline size_t kv_block_bytes(enum dtype t, int head_dim)
{
    return 2 * KV_PAGE_TOKENS * (size_t)head_dim * kv_elem(t);
}

/* Returns the index of a head in the tables of the cache (backend.h: head). */
__device__ static inline size_t kv_head(const struct kv_view &kv, int seq, int layer, int kv_head_index)
{
    return ((size_t)seq * (size_t)kv.n_layers + (size_t)layer) * (size_t)kv.n_kv + (size_t)kv_head_index;
}

/* Returns the place of element i of token t within K or V of a KV block, in elements. */
__device__ static inline int kv_place(const struct kv_view &kv, int t, int i)
{
    int per = kv.dtype == DTYPE_BF16 ? 8 : 4, chunk = i / per;
    int turn = kv.head_dim % (8 * per) ? 0 : t & 7;
    return t * kv.head_dim + (chunk ^ turn) * per + i % per;
}

/* These return the addresses of a KV block's K and V in the pool. */
__device__ static inline char *kv_block_k(const struct kv_view &kv, int kv_block)
{
    return (char *)kv.pool + (size_t)kv_block * kv_block_bytes(kv.dtype, kv.head_dim);
}
__device__ static inline char *kv_block_v(const struct kv_view &kv, int kv_block)
{
    return kv_block_k(kv, kv_block) + KV_PAGE_TOKENS * (size_t)kv.head_dim * kv_elem(kv.dtype);
}

/* Returns element i of token t of K or V, which begin at k_or_v. */
__device__ static inline float kv_get(const struct kv_view &kv, const char *k_or_v, int t, int i)
{
    int at = kv_place(kv, t, i);
    return kv.dtype == DTYPE_BF16 ? __bfloat162float(((const __nv_bfloat16 *)k_or_v)[at])
                                  : ((const float *)k_or_v)[at];
}

/* Returns four bf16 that are adjacent in memory as fp32. */
__device__ static inline float4 four_bf16(uint2 x)
{
    return make_float4(__uint_as_float(x.x << 16), __uint_as_float(x.x & 0xffff0000u),
                       __uint_as_float(x.y << 16), __uint_as_float(x.y & 0xffff0000u));
}

/* Returns elements i .. i+3 of token t; i is a multiple of 4. */
__device__ static inline float4 kv_get4(const struct kv_view &kv, const char *k_or_v, int t, int i)
{
    int at = kv_place(kv, t, i);
    if (kv.dtype == DTYPE_F32)
        return *(const float4 *)((const float *)k_or_v + at);
    return four_bf16(*(const uint2 *)((const __nv_bfloat16 *)k_or_v + at));
}

/* Returns the place of value i of a KV block's bounds in kv.bounds, in values. */
__device__ static inline size_t bounds_place(const struct kv_view &kv, int kv_block, int i)
{
    return (size_t)kv_block * 2 * kv.head_dim + i;
}

/* Writes element i of token t, rounded to the cache's type. */
__device__ static inline void kv_put(const struct kv_view &kv, char *k_or_v, int t, int i, float x)
{
    int at = kv_place(kv, t, i);
    if (kv.dtype == DTYPE_BF16)
        ((__nv_bfloat16 *)k_or_v)[at] = __float2bfloat16_rn(x);
    else
        ((float *)k_or_v)[at] = x;
}

/* Counts the statistics of a row's live keys as written and read again: a value per query head. Threads of
 * one block share the work. */
__device__ static inline void book_statistics(const struct kv_view &kv, int seq, int layer, int n_q)
{
    for (int h = threadIdx.x; h < kv.n_kv; h += blockDim.x) {
        size_t head = kv_head(kv, seq, layer, h);
        kv.aux_values[head] += (int64_t)kv.n_live[head] * (n_q / kv.n_kv);
    }
}

#endif
