#ifndef KERNELS_CPU_KV_BLOCK_H
#define KERNELS_CPU_KV_BLOCK_H

#include "kernels/cpu/cpu.h"
#include "kernels/cpu/simd.h"

/* Writing and reading single tokens of a KV block, and page bounds. */

/* key_place() and value_place() return where dimension i of token t lies in K and in V of a KV block, in
 * elements; lanes of bf16 lie in pairs. */
INLINE size_t key_place(const struct kv_view *kv, int t, int i)
{
    return (size_t)(i * LANES + (kv->dtype == DTYPE_BF16 ? bf16_place(t) : t));
}

INLINE size_t value_place(const struct kv_view *kv, int t, int i)
{
    int lane = i % LANES;
    return (size_t)((i / LANES * LANES + t) * LANES + (kv->dtype == DTYPE_BF16 ? bf16_place(lane) : lane));
}

/* Writes K and V (head_dim floats each) of token t, rounded to the cache's type. */
INLINE void put_token(const struct kv_view *kv, int kv_block, int t, const float *k, const float *v)
{
    void *to_k = kv_block_k(kv, kv_block), *to_v = kv_block_v(kv, kv_block);
    for (int i = 0; i < kv->head_dim; i++) {
        if (kv->dtype == DTYPE_BF16) {
            ((uint16_t *)to_k)[key_place(kv, t, i)] = f32_to_bf16(k[i]);
            ((uint16_t *)to_v)[value_place(kv, t, i)] = f32_to_bf16(v[i]);
        } else {
            ((float *)to_k)[key_place(kv, t, i)] = k[i];
            ((float *)to_v)[value_place(kv, t, i)] = v[i];
        }
    }
}

/* Returns dimension i of token t's key, and put_key_element() writes it, rounded to the cache's type. */
INLINE float key_element(const struct kv_view *kv, int kv_block, int t, int i)
{
    const void *k = kv_block_k(kv, kv_block);
    size_t at = key_place(kv, t, i);
    return kv->dtype == DTYPE_BF16 ? bf16_to_f32(((const uint16_t *)k)[at]) : ((const float *)k)[at];
}

INLINE void put_key_element(const struct kv_view *kv, int kv_block, int t, int i, float x)
{
    void *k = kv_block_k(kv, kv_block);
    size_t at = key_place(kv, t, i);
    if (kv->dtype == DTYPE_BF16)
        ((uint16_t *)k)[at] = f32_to_bf16(x);
    else
        ((float *)k)[at] = x;
}

/* Copies K and V of token t of one KV block to token u of another, or of the same. */
INLINE void move_token(const struct kv_view *kv, int from, int t, int to, int u)
{
    char *k = kv_block_k(kv, from), *v = kv_block_v(kv, from), *new_k = kv_block_k(kv, to),
         *new_v = kv_block_v(kv, to);
    size_t size = dtype_bytes(kv->dtype);
    for (int i = 0; i < kv->head_dim; i++) {
        memcpy(new_k + key_place(kv, u, i) * size, k + key_place(kv, t, i) * size, size);
        memcpy(new_v + value_place(kv, u, i) * size, v + value_place(kv, t, i) * size, size);
    }
}

/* Clears V of a page that starts anew. Masked tokens take part in the sums with weight 0, so V must not hold
 * an infinity that an earlier owner has left. */
INLINE void clear_values(const struct kv_view *kv, int kv_block)
{
    memset(kv_block_v(kv, kv_block), 0, KV_PAGE_TOKENS * (size_t)kv->head_dim * dtype_bytes(kv->dtype));
}

/* Returns the index of a KV block's first bound among all values of kv->bounds: head_dim minima, then as many
 * maxima. */
INLINE size_t bounds_place(const struct kv_view *kv, int kv_block)
{
    return (size_t)kv_block * 2 * (size_t)kv->head_dim;
}

/* bounds_get() returns value i of the bounds; bounds_put() writes it. */
INLINE float bounds_get(const struct kv_view *kv, size_t i)
{
    return kv->dtype == DTYPE_BF16 ? bf16_to_f32(((const uint16_t *)kv->bounds)[i])
                                   : ((const float *)kv->bounds)[i];
}

INLINE void bounds_put(const struct kv_view *kv, size_t i, float x)
{
    if (kv->dtype == DTYPE_BF16)
        ((uint16_t *)kv->bounds)[i] = f32_to_bf16(x);
    else
        ((float *)kv->bounds)[i] = x;
}

/* Widens the bounds of a KV block by the key of token t; fresh 1: they become that key alone. */
INLINE void bounds_add(const struct kv_view *kv, int kv_block, int t, int fresh)
{
    size_t low = bounds_place(kv, kv_block), high = low + (size_t)kv->head_dim;
    for (int i = 0; i < kv->head_dim; i++, low++, high++) {
        float k = key_element(kv, kv_block, t, i);
        if (fresh || k < bounds_get(kv, low))
            bounds_put(kv, low, k);
        if (fresh || k > bounds_get(kv, high))
            bounds_put(kv, high, k);
    }
}

#endif
