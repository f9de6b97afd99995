#ifndef KERNELS_CPU_SIMD_SIMD_AVX512_H
#define KERNELS_CPU_SIMD_SIMD_AVX512_H

/* Sixteen lanes on AVX-512: one zmm register. Part of simd.h, which includes it. */
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
/* Keeps x in a register from here on. Without this, compilers read it from memory again in every instruction
 * that uses it. */
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

#endif
