#ifndef KERNELS_CPU_SIMD_SIMD_H
#define KERNELS_CPU_SIMD_SIMD_H

/* Sixteen float lanes in three forms: one zmm register, two ymm registers, or an array. The CPU's operations
 * include this header.
 *
 * The files that include it are compiled once per instruction set (CPU_ISA is avx512, avx2 or scalar) and
 * give the same bits each time. Every function here rounds exactly or only selects, multiplications and
 * additions are fused only where v_fma() is called, and lanes are added up in one fixed order: first (i, i +
 * 8), then (i, i + 4), (i, i + 2), and (0, 1).
 *
 * 16 lanes of bf16 are stored in pairs: word 2i holds lane i and word 2i + 1 holds lane i + 8, so that a
 * shift and a mask give the two halves without a shuffle. bf16_place() computes this order. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#define CPU_CAT2(a, b) a##_##b
#define CPU_CAT(a, b)  CPU_CAT2(a, b)
#define CPU_SYM(name)  CPU_CAT(name, CPU_ISA)

#define INLINE static inline __attribute__((always_inline, unused))
#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

enum { LANES = 16 };

/* Returns the word that holds this lane. */
INLINE int bf16_place(int lane)
{
    return (lane & 7) * 2 + (lane >> 3);
}

/* Returns the value, exactly. */
INLINE float bf16_to_f32(uint16_t b)
{
    uint32_t u = (uint32_t)b << 16;
    float f;
    memcpy(&f, &u, 4);
    return f;
}

/* Rounds to nearest even; a NaN stays a NaN. */
INLINE uint16_t f32_to_bf16(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    if ((u & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)(u >> 16 | 64);
    return (uint16_t)((u + 0x7fffu + (u >> 16 & 1)) >> 16);
}

/* Each form defines three types and the same functions, which act lane by lane: v16 (floats), i16 (32-bit
 * integers) and m16 (a mask).
 *   v_set, i_set             all lanes x
 *   v_load, i_load, v_store  16 values at any address; v_loadn, v_storen the first n, the others 0 or
 * untouched v_load_bf16              16 stored bf16, in the order of lanes v_keep                   x, which
 * the compiler then keeps in a register v_fma                    x * y + z, rounded once v_max, v_min the
 * second operand when the two are equal or one is not a number m_bits                   lane i is set if bit
 * i is m_less, m_at_least       x < y, false when one is not a number; x >= y v_select                 yes
 * where the mask is set, else no i_shl, i_sar             shifts, i_sar with the sign v_bits, i_as_float the
 * same bits as the other type; i_to_float converts the number */
#if defined(__AVX512F__)
#include "kernels/cpu/simd_avx512.h"
#elif defined(__AVX2__)
#include "kernels/cpu/simd_avx2.h"
#else
#include "kernels/cpu/simd_scalar.h"
#endif

/* ---- what all three forms share: v_sum() and v_largest() return the sum and the largest of the lanes,
 * v_first() lane 0 */

#if defined(__AVX2__)
INLINE float v_sum(struct v16 x)
{
    __m256 h = _mm256_add_ps(v_low8(x), v_high8(x));
    __m128 q = _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
    q = _mm_add_ps(q, _mm_movehl_ps(q, q));
    return _mm_cvtss_f32(_mm_add_ss(q, _mm_shuffle_ps(q, q, 1)));
}
INLINE float v_largest(struct v16 x)
{
    __m256 h = _mm256_max_ps(v_low8(x), v_high8(x));
    __m128 q = _mm_max_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
    q = _mm_max_ps(q, _mm_movehl_ps(q, q));
    return _mm_cvtss_f32(_mm_max_ss(q, _mm_shuffle_ps(q, q, 1)));
}
#else
INLINE float v_sum(struct v16 x)
{
    for (int h = LANES / 2; h; h /= 2)
        for (int i = 0; i < h; i++)
            x.x[i] = x.x[i] + x.x[i + h];
    return x.x[0];
}
INLINE float v_largest(struct v16 x)
{
    for (int h = LANES / 2; h; h /= 2)
        for (int i = 0; i < h; i++)
            x.x[i] = x.x[i] > x.x[i + h] ? x.x[i] : x.x[i + h];
    return x.x[0];
}
#endif

INLINE float v_first(struct v16 x)
{
    float t[LANES];
    v_store(t, x);
    return t[0];
}

/* e^x to about 1 ulp: x = n ln 2 + r, the Taylor series to r^7 (the next term is below 0.1 ulp), scaled by
 * 2^n in two steps, of which only the last can round, so that denormal results are rounded once. -inf gives
 * 0; a NaN stays a NaN. */
INLINE struct v16 v_exp(struct v16 x)
{
    const struct v16 magic = v_set(12582912.0f); /* 1.5 * 2^23: adding it rounds to an integer */
    x = v_min(v_set(89.0f), v_max(v_set(-104.0f), x));
    struct v16 t = v_fma(x, v_set(1.44269504f), magic), n = v_sub(t, magic);
    struct v16 r = v_fma(n, v_set(2.12194440e-4f), v_fma(n, v_set(-0.693359375f), x));
    struct v16 p = v_set(1.0f / 5040);
    p = v_fma(p, r, v_set(1.0f / 720));
    p = v_fma(p, r, v_set(1.0f / 120));
    p = v_fma(p, r, v_set(1.0f / 24));
    p = v_fma(p, r, v_set(1.0f / 6));
    p = v_fma(p, r, v_set(0.5f));
    p = v_fma(p, r, v_set(1.0f));
    p = v_fma(p, r, v_set(1.0f));
    struct i16 whole = i_sub(v_bits(t), i_set(0x4b400000)), half = i_sar(whole, 1), rest = i_sub(whole, half);
    struct v16 s = i_as_float(i_shl(i_add(half, i_set(127)), 23));
    struct v16 u = i_as_float(i_shl(i_add(rest, i_set(127)), 23));
    return v_mul(v_mul(p, s), u);
}

/* A term e^x of a softmax, where x = logit - largest logit <= 0. It is 0 below about 2^-100, which makes no
 * difference to a sum that contains a 1. Smaller terms would end in denormals, and some processors take a
 * hundred cycles for each of those. */
INLINE struct v16 v_softmax_exp(struct v16 x)
{
    const struct v16 least = v_set(-69.0f);
    return v_select(m_less(x, least), v_set(0), v_exp(v_max(least, x)));
}

/* Natural logarithm to about 1 ulp: x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt 2), then the odd series of
 * atanh in s = f / (2 + f). Denormals are scaled first. 0 gives -inf, and negative numbers give NaN. */
INLINE struct v16 v_log(struct v16 x)
{
    struct m16 tiny = m_less(x, v_set(1.17549435e-38f));
    struct v16 y = v_select(tiny, v_mul(x, v_set(8388608.0f)), x);
    struct i16 k = i_sar(i_sub(v_bits(y), i_set(0x3f3504f3)), 23);
    struct v16 f = v_sub(i_as_float(i_sub(v_bits(y), i_shl(k, 23))), v_set(1.0f));
    struct v16 e = v_sub(i_to_float(k), v_select(tiny, v_set(23.0f), v_set(0.0f)));
    struct v16 s = v_div(f, v_add(f, v_set(2.0f))), z = v_mul(s, s);
    struct v16 r = v_set(2.0f / 11);
    r = v_fma(r, z, v_set(2.0f / 9));
    r = v_fma(r, z, v_set(2.0f / 7));
    r = v_fma(r, z, v_set(2.0f / 5));
    r = v_fma(r, z, v_set(2.0f / 3));
    r = v_mul(r, z);
    struct v16 h = v_mul(v_set(0.5f), v_mul(f, f));
    struct v16 l = v_fma(e, v_set(-2.12194440e-4f), v_mul(s, v_add(h, r)));
    l = v_fma(e, v_set(0.693359375f), v_add(f, v_sub(l, h)));
    l = v_select(m_less(v_set(3.40282347e38f), x), x, l);
    struct m16 positive = m_less(v_set(0.0f), x), negative = m_less(x, v_set(0.0f));
    struct v16 special =
        v_select(negative, v_set(NAN), v_select(m_less(x, v_set(1.0f)), v_set(-INFINITY), x));
    return v_select(positive, l, special);
}

/* Hyperbolic tangent to about 2 ulp: its Taylor series to x^11 up to 0.35 (the next term is below 0.1 ulp),
 * else (1 - e) / (1 + e) with e = exp(-2 |x|). A NaN stays a NaN. */
INLINE struct v16 v_tanh(struct v16 x)
{
    const struct v16 one = v_set(1.0f);
    struct v16 size = v_max(x, v_sub(v_set(0), x)), z = v_mul(x, x);
    struct v16 p = v_set(-1382.0f / 155925);
    p = v_fma(p, z, v_set(62.0f / 2835));
    p = v_fma(p, z, v_set(-17.0f / 315));
    p = v_fma(p, z, v_set(2.0f / 15));
    p = v_fma(p, z, v_set(-1.0f / 3));
    struct v16 e = v_softmax_exp(v_mul(v_set(-2.0f), size));
    struct v16 t = v_div(v_sub(one, e), v_add(one, e));
    t = v_select(m_less(x, v_set(0)), v_sub(v_set(0), t), t);
    return v_select(m_less(size, v_set(0.35f)), v_fma(v_mul(x, z), p, x), t);
}

/* cap * tanh(x / cap) of logits. What is not finite stays: -infinity stands for a key that is not read, and
 * sampling notices the rest. This code does not belong in unrolled tiles, where the scalar form takes minutes
 * to compile. */
INLINE struct v16 v_softcap(struct v16 x, float cap)
{
    struct v16 y = v_mul(v_set(cap), v_tanh(v_div(x, v_set(cap))));
    return v_select(m_less(v_max(x, v_sub(v_set(0), x)), v_set(INFINITY)), y, x);
}

#undef V
#undef I
#undef M
#undef EACH
#endif
