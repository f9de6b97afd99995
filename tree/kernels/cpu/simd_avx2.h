#ifndef KERNELS_CPU_SIMD_SIMD_AVX2_H
#define KERNELS_CPU_SIMD_SIMD_AVX2_H

/* Sixteen lanes on AVX2: two ymm registers. Part of simd.h, which includes it. */
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

#define V(x, y) ((struct v16){x, y})
#define I(x, y) ((struct i16){x, y})
#define M(x, y) ((struct m16){x, y})

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

#endif
