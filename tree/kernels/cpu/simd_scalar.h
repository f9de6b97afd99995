#ifndef KERNELS_CPU_SIMD_SIMD_SCALAR_H
#define KERNELS_CPU_SIMD_SIMD_SCALAR_H

/* Sixteen lanes on any processor: an array. Part of simd.h, which includes it. */
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
