#ifndef KERNELS_CPU_UNIT_H
#define KERNELS_CPU_UNIT_H

#include "kernels/cpu/cpu.h"
#include "kernels/cpu/simd.h"

/* Writing and reading single tokens of a unit, and page bounds. */

INLINE void unit_put(const struct kv_view *kv, int unit, int t, const float *k, const float *v)
{
    int d = kv->head_dim;
    if (kv->dtype == DTYPE_BF16) {
        uint16_t *to_k = (uint16_t *)(void *)kv_unit_k(kv, unit) + bf16_place(t);
        uint16_t *to_v = (uint16_t *)(void *)kv_unit_v(kv, unit) + (size_t)t * (size_t)d;
        for (int i = 0; i < d; i++) {
            to_k[i * LANES] = f32_to_bf16(k[i]);
            to_v[i / LANES * LANES + bf16_place(i % LANES)] = f32_to_bf16(v[i]);
        }
        return;
    }
    float *to_k = (float *)(void *)kv_unit_k(kv, unit) + t;
    for (int i = 0; i < d; i++)
        to_k[i * LANES] = k[i];
    memcpy((float *)(void *)kv_unit_v(kv, unit) + (size_t)t * (size_t)d, v, (size_t)d * sizeof *v);
}

INLINE float unit_key(const struct kv_view *kv, int unit, int t, int i)
{
    return kv->dtype == DTYPE_BF16
               ? bf16_to_f32(((const uint16_t *)(const void *)kv_unit_k(kv, unit))[i * LANES + bf16_place(t)])
               : ((const float *)(const void *)kv_unit_k(kv, unit))[i * LANES + t];
}

/* Token t of one unit becomes token u of another. */
INLINE void unit_move(const struct kv_view *kv, int from, int t, int to, int u)
{
    size_t d = (size_t)kv->head_dim;
    const char *k = kv_unit_k(kv, from), *v = kv_unit_v(kv, from);
    char *new_k = kv_unit_k(kv, to), *new_v = kv_unit_v(kv, to);
    if (kv->dtype == DTYPE_BF16) {
        for (size_t i = 0; i < d; i++)
            ((uint16_t *)(void *)new_k)[i * LANES + (size_t)bf16_place(u)] =
                ((const uint16_t *)(const void *)k)[i * LANES + (size_t)bf16_place(t)];
    } else {
        for (size_t i = 0; i < d; i++)
            ((float *)(void *)new_k)[i * LANES + (size_t)u] =
                ((const float *)(const void *)k)[i * LANES + (size_t)t];
    }
    memmove(new_v + (size_t)u * d * kv_elem(kv->dtype), v + (size_t)t * d * kv_elem(kv->dtype),
            d * kv_elem(kv->dtype));
}

/* A page that starts anew: masked tokens take part in the sums with weight 0, so nothing of an earlier owner
 * (which may be infinite) is left in V. */
INLINE void unit_clear_v(const struct kv_view *kv, int unit)
{
    memset(kv_unit_v(kv, unit), 0, KV_PAGE_TOKENS * (size_t)kv->head_dim * kv_elem(kv->dtype));
}

INLINE void bounds_add(const struct kv_view *kv, int unit, int t, int fresh)
{
    float *low = kv->bounds + (size_t)unit * 2 * (size_t)kv->head_dim, *high = low + kv->head_dim;
    for (int i = 0; i < kv->head_dim; i++) {
        float k = unit_key(kv, unit, t, i);
        low[i] = fresh || k < low[i] ? k : low[i];
        high[i] = fresh || k > high[i] ? k : high[i];
    }
}

#endif
