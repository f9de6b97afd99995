/* The small dense operations of a layer: embedding, norms, rotation, gated units, DMS gates, linear or
 * borrowed. A sum over a row is kept in 64 partial sums (element j is added to sum j mod 64). In the end
 * these are added by groups of sixteen, (0 + 1) + (2 + 3), and then over the sixteen lanes. */
#include "kernels/cpu/ops.h"

INLINE struct v16 load_upto(const float *p, int n)
{
    return n >= LANES ? v_load(p) : v_loadn(p, n);
}

INLINE void store_upto(float *p, struct v16 x, int n)
{
    if (n >= LANES)
        v_store(p, x);
    else
        v_storen(p, x, n);
}

INLINE float dot_product(const float *x, const float *y, int n)
{
    struct v16 s[4] = {v_set(0), v_set(0), v_set(0), v_set(0)};
    int j = 0;
    for (; j + 4 * LANES <= n; j += 4 * LANES) {
        UNROLL
        for (int i = 0; i < 4; i++)
            s[i] = v_fma(v_load(x + j + i * LANES), v_load(y + j + i * LANES), s[i]);
    }
    for (int i = 0; j < n; j += LANES, i++)
        s[i] = v_fma(load_upto(x + j, n - j), load_upto(y + j, n - j), s[i]);
    return v_sum(v_add(v_add(s[0], s[1]), v_add(s[2], s[3])));
}

INLINE float root_of_row(const float *x, int n, float eps)
{
    return sqrtf(dot_product(x, x, n) / (float)n + eps);
}

INLINE void norm_row(const float *x, const float *w, float *out, int n, float eps)
{
    float root = root_of_row(x, n, eps);
    for (int j = 0; j < n; j += LANES)
        store_upto(out + j, v_mul(v_div(load_upto(x + j, n - j), v_set(root)), load_upto(w + j, n - j)),
                   n - j);
}

void CPU_SYM(op_embed)(const void *args, struct cpu_ctx *c)
{
    const struct embed_args *a = args;
    FOR_TASKS(c, r, a->rows)
    {
        float *out = a->out + (size_t)r * (size_t)a->w.k;
        int token = a->token[r];
        if ((a->seq && a->seq[r] < 0) || token < 0 || token >= a->w.n) {
            memset(out, 0, (size_t)a->w.k * sizeof *out);
            continue;
        }
        size_t base = (size_t)(token / LANES) * (size_t)a->w.k * LANES;
        const uint16_t *half = (const uint16_t *)a->w.data + base + bf16_place(token % LANES);
        const float *full = (const float *)a->w.data + base + token % LANES;
        for (int j = 0; j < a->w.k; j++)
            out[j] = a->scale * (a->w.dtype == DTYPE_BF16 ? bf16_to_f32(half[(size_t)j * LANES])
                                                          : full[(size_t)j * LANES]);
    }
}

void CPU_SYM(op_rmsnorm)(const void *args, struct cpu_ctx *c)
{
    const struct rmsnorm_args *a = args;
    size_t stride = (size_t)(a->stride ? a->stride : a->dim);
    FOR_TASKS(c, r, a->rows)
    if (a->w)
        norm_row(a->x + (size_t)r * stride, a->w, (float *)a->out + (size_t)r * stride, a->dim, a->eps);
    else
        memmove((float *)a->out + (size_t)r * stride, a->x + (size_t)r * stride,
                (size_t)a->dim * sizeof(float));
}

void CPU_SYM(op_add_part)(const void *args, struct cpu_ctx *c)
{
    const struct add_part_args *a = args;
    FOR_TASKS(c, r, a->rows)
    {
        float *x = a->x + (size_t)r * (size_t)a->dim;
        const float *t = a->t + (size_t)r * (size_t)a->dim;
        struct v16 root = v_set(a->w ? root_of_row(t, a->dim, a->eps) : 1);
        for (int j = 0; j < a->dim; j += LANES) {
            int left = a->dim - j;
            struct v16 v = load_upto(t + j, left);
            if (a->w)
                v = v_mul(v_div(v, root), load_upto(a->w + j, left));
            store_upto(x + j, v_add(load_upto(x + j, left), v_mul(v, v_set(a->scale))), left);
        }
    }
}

void CPU_SYM(op_pool_queries)(const void *args, struct cpu_ctx *c)
{
    const struct pool_queries_args *a = args;
    int group = a->n_q / a->n_kv, tiles = (a->rows + a->tile - 1) / a->tile;
    FOR_TASKS(c, t, tiles * a->n_kv)
    {
        int from = t / a->n_kv * a->tile, h = t % a->n_kv * group;
        int n = a->rows - from < a->tile ? a->rows - from : a->tile;
        for (int j = 0; j < a->dim; j += LANES) {
            int left = a->dim - j;
            struct v16 sum = v_set(0);
            for (int r = from; r < from + n; r++)
                for (int g = h; g < h + group; g++)
                    sum =
                        v_add(sum, load_upto(a->q + (size_t)r * (size_t)a->q_stride + g * a->dim + j, left));
            sum = v_mul(sum, v_set(1 / (float)(n * group)));
            for (int r = from; r < from + n; r++)
                for (int g = h; g < h + group; g++)
                    store_upto(a->out + ((size_t)r * (size_t)a->n_q + (size_t)g) * (size_t)a->dim + j, sum,
                               left);
        }
    }
}

/* Logits that are not finite stay so: op_sample tells. */
void CPU_SYM(op_cap_logits)(const void *args, struct cpu_ctx *c)
{
    enum { STEP = 4096 };
    const struct cap_logits_args *a = args;
    FOR_TASKS(c, t, (int)((a->n + STEP - 1) / STEP))
    {
        float *v = a->v + (size_t)t * STEP;
        int left = a->n - (int64_t)t * STEP < STEP ? (int)(a->n - (int64_t)t * STEP) : STEP;
        for (int j = 0; j < left; j += LANES) {
            struct v16 x = v_mul(load_upto(v + j, left - j), v_set(a->scale));
            if (a->cap > 0)
                x = v_softcap(x, a->cap);
            store_upto(v + j, x, left - j);
        }
    }
}

INLINE void rotate_pairs(float *x, int heads, int half, const float *cosine, const float *sine)
{
    for (int h = 0; h < heads; h++, x += 2 * half)
        for (int j = 0; j < half; j += LANES) {
            struct v16 u = load_upto(x + j, half - j), v = load_upto(x + half + j, half - j);
            struct v16 co = load_upto(cosine + j, half - j), si = load_upto(sine + j, half - j);
            store_upto(x + j, v_sub(v_mul(u, co), v_mul(v, si)), half - j);
            store_upto(x + half + j, v_add(v_mul(v, co), v_mul(u, si)), half - j);
        }
}

INLINE void norm_heads(float *x, int heads, int d, const float *w, float eps)
{
    for (int h = 0; h < heads; h++)
        norm_row(x + h * d, w, x + h * d, d, eps);
}

INLINE void rope_heads(const struct rope_append_args *a, float *x, int heads, const float *w, int pos)
{
    int d = a->kv.head_dim;
    if (w && !a->norm_after)
        norm_heads(x, heads, d, w, a->eps);
    if (a->cos_sin) {
        const float *table = a->cos_sin + (size_t)pos * (size_t)d;
        rotate_pairs(x, heads, d / 2, table, table + d / 2);
    }
    if (w && a->norm_after)
        norm_heads(x, heads, d, w, a->eps);
}

void CPU_SYM(rope_rows)(const struct rope_append_args *a, struct cpu_ctx *c)
{
    int values = a->n_q * a->kv.head_dim;
    FOR_TASKS(c, r, a->rows.cap)
    {
        float *q = a->q + (size_t)r * (size_t)a->stride, *k = a->k + (size_t)r * (size_t)a->stride;
        int pos = a->rows.pos[r];
        if (a->rows.seq[r] < 0)
            continue;
        rope_heads(a, q, a->n_q, a->wq, pos);
        rope_heads(a, k, a->kv.n_kv, a->wk, pos);
        for (int j = 0; a->q_scale && j < values; j += LANES)
            v_store(q + j, v_mul(v_load(q + j), v_set(a->q_scale[pos])));
    }
}

void CPU_SYM(op_head_norm)(const void *args, struct cpu_ctx *c)
{
    const struct head_norm_args *a = args;
    FOR_TASKS(c, r, a->rows.cap)
    {
        float *q = a->q + (size_t)r * (size_t)a->stride, *k = a->k + (size_t)r * (size_t)a->stride;
        if (a->rows.seq[r] < 0)
            continue;
        norm_heads(q, a->n_q, a->head_dim, a->wq, a->eps);
        norm_heads(k, a->n_kv, a->head_dim, a->wk, a->eps);
    }
}

/* z / (1 + exp(-y)) */
INLINE struct v16 times_sigmoid(struct v16 z, struct v16 y)
{
    return v_div(z, v_add(v_set(1.0f), v_exp(v_sub(v_set(0), y))));
}

/* GELU: 1/2 (1 + tanh(y)) is the sigmoid of 2y, which loses nothing where tanh(y) is near -1. v_min and v_max
 * keep a NaN that is their second operand. */
INLINE struct v16 gated_unit(enum glu glu, struct v16 z, struct v16 u)
{
    const struct v16 most = v_set(7.0f);
    switch (glu) {
    case GLU_GELU: {
        struct v16 cubic = v_mul(v_mul(v_set(0.044715f), z), v_mul(z, z));
        return v_mul(times_sigmoid(z, v_mul(v_set(1.59576912f), v_add(z, cubic))), u); /* 2 sqrt(2 / pi) */
    }
    case GLU_CLAMPED:
        z = v_min(most, z);
        u = v_max(v_set(-7.0f), v_min(most, u));
        return v_mul(times_sigmoid(z, v_mul(v_set(1.702f), z)), v_add(u, v_set(1.0f)));
    default:
        return v_mul(times_sigmoid(z, z), u);
    }
}

INLINE void gated_values(enum glu glu, const float *gate, const float *up, float *out, int n)
{
    for (int j = 0; j < n; j += LANES)
        store_upto(out + j, gated_unit(glu, load_upto(gate + j, n - j), load_upto(up + j, n - j)), n - j);
}

void CPU_SYM(op_swiglu)(const void *args, struct cpu_ctx *c)
{
    enum { STEP = 256 };
    const struct swiglu_args *a = args;
    int parts = (a->n + STEP - 1) / STEP;
    FOR_TASKS(c, t, a->rows * parts)
    {
        size_t r = (size_t)(t / parts), n = (size_t)a->n, j0 = (size_t)(t % parts * STEP);
        int left = a->n - (int)j0 < STEP ? a->n - (int)j0 : STEP;
        const float *gate = a->x + r * 2 * n + j0, *up = gate + n;
        float *out = (float *)a->out + r * n + j0;
        if (a->glu == GLU_GELU)
            gated_values(GLU_GELU, gate, up, out, left);
        else if (a->glu == GLU_CLAMPED)
            gated_values(GLU_CLAMPED, gate, up, out, left);
        else
            gated_values(GLU_SILU, gate, up, out, left);
    }
}

void CPU_SYM(op_linear_swiglu)(const void *args, struct cpu_ctx *c)
{
    struct linear_args product = linear_of(args);
    struct swiglu_args gated = swiglu_of(args);
    CPU_SYM(op_linear)(&product, c);
    cpu_barrier(c);
    CPU_SYM(op_swiglu)(&gated, c);
}

void CPU_SYM(op_gate)(const void *args, struct cpu_ctx *c)
{
    const struct gate_args *a = args;
    const float *y = a->y;
    FOR_TASKS(c, r, a->rows)
    for (int h = 0; h < a->n_kv; h++) {
        int from = a->per_layer ? 0 : h;
        float s = dot_product(a->w + (size_t)from * (size_t)a->dim, y + (size_t)r * (size_t)a->dim, a->dim);
        float logit = (s + a->b[from]) * a->scale + a->bias;
        a->flag[r * a->n_kv + h] = logit > 0;
    }
}

/* The borrowed channel of each KV head's group. */
INLINE float *borrowed_channel(float *q, int r, int h, int stride, int group, int head_dim, int channel)
{
    return q + (size_t)r * (size_t)stride + h * group * head_dim + channel;
}

void CPU_SYM(op_borrow)(const void *args, struct cpu_ctx *c)
{
    const struct borrow_args *a = args;
    FOR_TASKS(c, r, a->rows.cap)
    for (int h = 0; h < a->n_kv && a->rows.seq[r] >= 0; h++) {
        float *x = borrowed_channel(a->q, r, h, a->stride, a->n_q / a->n_kv, a->head_dim, a->channel);
        a->flag[r * a->n_kv + h] = *x * a->scale + a->bias > 0;
        *x = 0;
    }
}

void CPU_SYM(op_mute)(const void *args, struct cpu_ctx *c)
{
    const struct mute_args *a = args;
    FOR_TASKS(c, r, a->rows.cap)
    for (int h = 0; h < a->n_kv && a->rows.seq[r] >= 0; h++)
        *borrowed_channel(a->q, r, h, a->stride, a->n_q / a->n_kv, a->head_dim, a->channel) = 0;
}
