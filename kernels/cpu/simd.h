#ifndef KERNELS_CPU_SIMD_H
#define KERNELS_CPU_SIMD_H

/* Sixteen float lanes, three ways: one zmm, two ymm, or an array. The files that include this are compiled
 * once per instruction set (CPU_ISA is avx512, avx2 or scalar) and give the same bits each time: every
 * operation here is exactly rounded or an exact selection, fused multiply-add is used where it is written and
 * nowhere else, and reductions over lanes go by one tree, (i, i + 8), (i, i + 4), (i, i + 2), (0, 1).
 *
 * bf16 data lies in pairs: of 16 lanes the word 2i is lane i and the word 2i + 1 is lane i + 8, so that a
 * shift and a mask make the two halves without a shuffle. bf16_place() is that order. */
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

INLINE int bf16_place(int lane)
{
    return (lane & 7) * 2 + (lane >> 3);
}

INLINE float bf16_to_f32(uint16_t b)
{
    uint32_t u = (uint32_t)b << 16;
    float f;
    memcpy(&f, &u, 4);
    return f;
}

/* Round to nearest even; a NaN stays one. */
INLINE uint16_t f32_to_bf16(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    if ((u & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)(u >> 16 | 64);
    return (uint16_t)((u + 0x7fffu + (u >> 16 & 1)) >> 16);
}

/* ---- AVX-512 */
#if defined(__AVX512F__)
#include <immintrin.h>

struct v16 {
    __m512 a;
};
struct i16 {
    __m512i a;
};
struct m16 {
    __mmask16 a;
};

#define V(x) ((struct v16){x})
#define I(x) ((struct i16){x})
#define M(x) ((struct m16){x})

INLINE struct v16 v_set(float x)
{
    return V(_mm512_set1_ps(x));
}
/* In a register from here on: compilers would rather read memory again in every instruction that uses it. */
INLINE struct v16 v_keep(struct v16 x)
{
    __asm__("" : "+v"(x.a));
    return x;
}
INLINE struct v16 v_load(const float *p)
{
    return V(_mm512_loadu_ps(p));
}
INLINE void v_store(float *p, struct v16 x)
{
    _mm512_storeu_ps(p, x.a);
}
INLINE struct v16 v_loadn(const float *p, int n)
{
    return V(_mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p));
}
INLINE void v_storen(float *p, struct v16 x, int n)
{
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), x.a);
}
INLINE struct v16 v_load_bf16(const uint16_t *p)
{
    const __m512i count = _mm512_set_epi32(0, 0, 0, 0, 0, 0, 0, 0, 16, 16, 16, 16, 16, 16, 16, 16);
    __m512i w = _mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *)p));
    w = _mm512_and_si512(_mm512_sllv_epi32(w, count), _mm512_set1_epi32((int)0xffff0000u));
    return V(_mm512_castsi512_ps(w));
}
INLINE struct v16 v_fma(struct v16 x, struct v16 y, struct v16 z)
{
    return V(_mm512_fmadd_ps(x.a, y.a, z.a));
}
INLINE struct v16 v_add(struct v16 x, struct v16 y)
{
    return V(_mm512_add_ps(x.a, y.a));
}
INLINE struct v16 v_sub(struct v16 x, struct v16 y)
{
    return V(_mm512_sub_ps(x.a, y.a));
}
INLINE struct v16 v_mul(struct v16 x, struct v16 y)
{
    return V(_mm512_mul_ps(x.a, y.a));
}
INLINE struct v16 v_div(struct v16 x, struct v16 y)
{
    return V(_mm512_div_ps(x.a, y.a));
}
INLINE struct v16 v_max(struct v16 x, struct v16 y)
{
    return V(_mm512_max_ps(x.a, y.a));
}
INLINE struct v16 v_min(struct v16 x, struct v16 y)
{
    return V(_mm512_min_ps(x.a, y.a));
}
INLINE struct m16 m_bits(unsigned bits)
{
    return M((__mmask16)bits);
}
INLINE unsigned m_to_bits(struct m16 m)
{
    return m.a;
}
INLINE struct m16 m_less(struct v16 x, struct v16 y)
{
    return M(_mm512_cmp_ps_mask(x.a, y.a, _CMP_LT_OQ));
}
INLINE struct m16 m_at_least(struct i16 x, struct i16 y)
{
    return M(_mm512_cmpge_epi32_mask(x.a, y.a));
}
INLINE struct v16 v_select(struct m16 m, struct v16 yes, struct v16 no)
{
    return V(_mm512_mask_blend_ps(m.a, no.a, yes.a));
}
INLINE struct i16 i_set(int x)
{
    return I(_mm512_set1_epi32(x));
}
INLINE struct i16 i_load(const int32_t *p)
{
    return I(_mm512_loadu_si512(p));
}
INLINE struct i16 i_add(struct i16 x, struct i16 y)
{
    return I(_mm512_add_epi32(x.a, y.a));
}
INLINE struct i16 i_sub(struct i16 x, struct i16 y)
{
    return I(_mm512_sub_epi32(x.a, y.a));
}
#define i_shl(x, n) I(_mm512_slli_epi32((x).a, (n)))
#define i_sar(x, n) I(_mm512_srai_epi32((x).a, (n)))
INLINE struct i16 v_bits(struct v16 x)
{
    return I(_mm512_castps_si512(x.a));
}
INLINE struct v16 i_as_float(struct i16 x)
{
    return V(_mm512_castsi512_ps(x.a));
}
INLINE struct v16 i_to_float(struct i16 x)
{
    return V(_mm512_cvtepi32_ps(x.a));
}
INLINE __m256 v_low8(struct v16 x)
{
    return _mm512_castps512_ps256(x.a);
}
INLINE __m256 v_high8(struct v16 x)
{
    return _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(x.a), 1));
}

/* ---- AVX2 */
#elif defined(__AVX2__)
#include <immintrin.h>

struct v16 {
    __m256 a, b;
};
struct i16 {
    __m256i a, b;
};
struct m16 {
    __m256 a, b;
};

#define V(x, y)     ((struct v16){x, y})
#define I(x, y)     ((struct i16){x, y})
#define M(x, y)     ((struct m16){x, y})

INLINE struct v16 v_set(float x)
{
    __m256 t = _mm256_set1_ps(x);
    return V(t, t);
}
INLINE struct v16 v_keep(struct v16 x)
{
    __asm__("" : "+x"(x.a), "+x"(x.b));
    return x;
}
INLINE struct v16 v_load(const float *p)
{
    return V(_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8));
}
INLINE void v_store(float *p, struct v16 x)
{
    _mm256_storeu_ps(p, x.a);
    _mm256_storeu_ps(p + 8, x.b);
}
INLINE struct v16 v_loadn(const float *p, int n)
{
    float t[LANES] = {0};
    memcpy(t, p, (size_t)n * sizeof *t);
    return v_load(t);
}
INLINE void v_storen(float *p, struct v16 x, int n)
{
    float t[LANES];
    v_store(t, x);
    memcpy(p, t, (size_t)n * sizeof *t);
}
INLINE struct v16 v_load_bf16(const uint16_t *p)
{
    __m256i w = _mm256_loadu_si256((const __m256i *)p);
    return V(_mm256_castsi256_ps(_mm256_slli_epi32(w, 16)),
             _mm256_castsi256_ps(_mm256_and_si256(w, _mm256_set1_epi32((int)0xffff0000u))));
}
INLINE struct v16 v_fma(struct v16 x, struct v16 y, struct v16 z)
{
    return V(_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b));
}
INLINE struct v16 v_add(struct v16 x, struct v16 y)
{
    return V(_mm256_add_ps(x.a, y.a), _mm256_add_ps(x.b, y.b));
}
INLINE struct v16 v_sub(struct v16 x, struct v16 y)
{
    return V(_mm256_sub_ps(x.a, y.a), _mm256_sub_ps(x.b, y.b));
}
INLINE struct v16 v_mul(struct v16 x, struct v16 y)
{
    return V(_mm256_mul_ps(x.a, y.a), _mm256_mul_ps(x.b, y.b));
}
INLINE struct v16 v_div(struct v16 x, struct v16 y)
{
    return V(_mm256_div_ps(x.a, y.a), _mm256_div_ps(x.b, y.b));
}
INLINE struct v16 v_max(struct v16 x, struct v16 y)
{
    return V(_mm256_max_ps(x.a, y.a), _mm256_max_ps(x.b, y.b));
}
INLINE struct v16 v_min(struct v16 x, struct v16 y)
{
    return V(_mm256_min_ps(x.a, y.a), _mm256_min_ps(x.b, y.b));
}
INLINE struct m16 m_bits(unsigned bits)
{
    const __m256i lo = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    __m256i all = _mm256_set1_epi32((int)bits), hi = _mm256_slli_epi32(lo, 8);
    return M(_mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_and_si256(all, lo), lo)),
             _mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_and_si256(all, hi), hi)));
}
INLINE unsigned m_to_bits(struct m16 m)
{
    return (unsigned)_mm256_movemask_ps(m.a) | (unsigned)_mm256_movemask_ps(m.b) << 8;
}
INLINE struct m16 m_less(struct v16 x, struct v16 y)
{
    return M(_mm256_cmp_ps(x.a, y.a, _CMP_LT_OQ), _mm256_cmp_ps(x.b, y.b, _CMP_LT_OQ));
}
INLINE struct m16 m_at_least(struct i16 x, struct i16 y)
{
    const __m256i ones = _mm256_set1_epi32(-1);
    return M(_mm256_castsi256_ps(_mm256_xor_si256(_mm256_cmpgt_epi32(y.a, x.a), ones)),
             _mm256_castsi256_ps(_mm256_xor_si256(_mm256_cmpgt_epi32(y.b, x.b), ones)));
}
INLINE struct v16 v_select(struct m16 m, struct v16 yes, struct v16 no)
{
    return V(_mm256_blendv_ps(no.a, yes.a, m.a), _mm256_blendv_ps(no.b, yes.b, m.b));
}
INLINE struct i16 i_set(int x)
{
    __m256i t = _mm256_set1_epi32(x);
    return I(t, t);
}
INLINE struct i16 i_load(const int32_t *p)
{
    return I(_mm256_loadu_si256((const __m256i *)p), _mm256_loadu_si256((const __m256i *)(p + 8)));
}
INLINE struct i16 i_add(struct i16 x, struct i16 y)
{
    return I(_mm256_add_epi32(x.a, y.a), _mm256_add_epi32(x.b, y.b));
}
INLINE struct i16 i_sub(struct i16 x, struct i16 y)
{
    return I(_mm256_sub_epi32(x.a, y.a), _mm256_sub_epi32(x.b, y.b));
}
#define i_shl(x, n) I(_mm256_slli_epi32((x).a, (n)), _mm256_slli_epi32((x).b, (n)))
#define i_sar(x, n) I(_mm256_srai_epi32((x).a, (n)), _mm256_srai_epi32((x).b, (n)))
INLINE struct i16 v_bits(struct v16 x)
{
    return I(_mm256_castps_si256(x.a), _mm256_castps_si256(x.b));
}
INLINE struct v16 i_as_float(struct i16 x)
{
    return V(_mm256_castsi256_ps(x.a), _mm256_castsi256_ps(x.b));
}
INLINE struct v16 i_to_float(struct i16 x)
{
    return V(_mm256_cvtepi32_ps(x.a), _mm256_cvtepi32_ps(x.b));
}
INLINE __m256 v_low8(struct v16 x)
{
    return x.a;
}
INLINE __m256 v_high8(struct v16 x)
{
    return x.b;
}

/* ---- scalar */
#else

struct v16 {
    float x[LANES];
};
struct i16 {
    int32_t x[LANES];
};
struct m16 {
    unsigned bits;
};

#define EACH(type, expr)                                                                                     \
    do {                                                                                                     \
        type r_;                                                                                             \
        for (int i = 0; i < LANES; i++)                                                                      \
            r_.x[i] = (expr);                                                                                \
        return r_;                                                                                           \
    } while (0)

INLINE struct v16 v_set(float x)
{
    EACH(struct v16, x);
}
INLINE struct v16 v_keep(struct v16 x)
{
    return x;
}
INLINE struct v16 v_load(const float *p)
{
    EACH(struct v16, p[i]);
}
INLINE void v_store(float *p, struct v16 x)
{
    memcpy(p, x.x, sizeof x.x);
}
INLINE struct v16 v_loadn(const float *p, int n)
{
    EACH(struct v16, i < n ? p[i] : 0.0f);
}
INLINE void v_storen(float *p, struct v16 x, int n)
{
    memcpy(p, x.x, (size_t)n * sizeof *p);
}
INLINE struct v16 v_load_bf16(const uint16_t *p)
{
    EACH(struct v16, bf16_to_f32(p[bf16_place(i)]));
}
INLINE struct v16 v_fma(struct v16 x, struct v16 y, struct v16 z)
{
    EACH(struct v16, fmaf(x.x[i], y.x[i], z.x[i]));
}
INLINE struct v16 v_add(struct v16 x, struct v16 y)
{
    EACH(struct v16, x.x[i] + y.x[i]);
}
INLINE struct v16 v_sub(struct v16 x, struct v16 y)
{
    EACH(struct v16, x.x[i] - y.x[i]);
}
INLINE struct v16 v_mul(struct v16 x, struct v16 y)
{
    EACH(struct v16, x.x[i] * y.x[i]);
}
INLINE struct v16 v_div(struct v16 x, struct v16 y)
{
    EACH(struct v16, x.x[i] / y.x[i]);
}
/* As the vector instructions: the second operand when the two are equal or one is not a number. */
INLINE struct v16 v_max(struct v16 x, struct v16 y)
{
    EACH(struct v16, x.x[i] > y.x[i] ? x.x[i] : y.x[i]);
}
INLINE struct v16 v_min(struct v16 x, struct v16 y)
{
    EACH(struct v16, x.x[i] < y.x[i] ? x.x[i] : y.x[i]);
}
INLINE struct m16 m_bits(unsigned bits)
{
    return (struct m16){bits};
}
INLINE unsigned m_to_bits(struct m16 m)
{
    return m.bits;
}
INLINE struct m16 m_less(struct v16 x, struct v16 y)
{
    unsigned bits = 0;
    for (int i = 0; i < LANES; i++)
        bits |= (unsigned)(x.x[i] < y.x[i]) << i;
    return (struct m16){bits};
}
INLINE struct m16 m_at_least(struct i16 x, struct i16 y)
{
    unsigned bits = 0;
    for (int i = 0; i < LANES; i++)
        bits |= (unsigned)(x.x[i] >= y.x[i]) << i;
    return (struct m16){bits};
}
INLINE struct v16 v_select(struct m16 m, struct v16 yes, struct v16 no)
{
    EACH(struct v16, m.bits >> i & 1 ? yes.x[i] : no.x[i]);
}
INLINE struct i16 i_set(int x)
{
    EACH(struct i16, x);
}
INLINE struct i16 i_load(const int32_t *p)
{
    EACH(struct i16, p[i]);
}
INLINE struct i16 i_add(struct i16 x, struct i16 y)
{
    EACH(struct i16, (int32_t)((uint32_t)x.x[i] + (uint32_t)y.x[i]));
}
INLINE struct i16 i_sub(struct i16 x, struct i16 y)
{
    EACH(struct i16, (int32_t)((uint32_t)x.x[i] - (uint32_t)y.x[i]));
}
INLINE struct i16 i_shl(struct i16 x, int n)
{
    EACH(struct i16, (int32_t)((uint32_t)x.x[i] << n));
}
INLINE struct i16 i_sar(struct i16 x, int n)
{
    EACH(struct i16, x.x[i] >> n);
}
INLINE struct i16 v_bits(struct v16 x)
{
    struct i16 r;
    memcpy(&r, &x, sizeof r);
    return r;
}
INLINE struct v16 i_as_float(struct i16 x)
{
    struct v16 r;
    memcpy(&r, &x, sizeof r);
    return r;
}
INLINE struct v16 i_to_float(struct i16 x)
{
    EACH(struct v16, (float)x.x[i]);
}
#endif

/* ---- the same for all */

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

/* e^x to about 1 ulp: x = n ln 2 + r, Taylor to r^7 (next term below 0.1 ulp), scaled by 2^n in two exact
 * steps so that denormal results round once. -inf gives 0; NaN stays. */
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

/* Natural logarithm to about 1 ulp: x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt 2), s = f / (2 + f) and
 * the odd series of atanh in s. 0 gives -inf, negative numbers NaN, denormals are scaled first. */
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

#undef V
#undef I
#undef M
#undef EACH
#endif
