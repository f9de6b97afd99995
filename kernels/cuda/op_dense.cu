/* The small dense operations of a layer: embedding, norms, gated units, DMS gates. */
#include "kernels/cuda/device/cuda.cuh"
#include "kernels/cuda/device/kv.cuh"
#include "kernels/cuda/device/math.cuh"
#include "kernels/cuda/device/ptx.cuh"

static __global__ void embed_kernel(struct embed_args a)
{
    int r = blockIdx.x, token = a.token[r], k = a.w.k;
    bool none = (a.seq && a.seq[r] < 0) || token < 0 || token >= a.w.n;
    const __nv_bfloat16 *half = (const __nv_bfloat16 *)a.w.data + (none ? 0 : (size_t)token * k);
    const float *full = (const float *)a.w.data + (none ? 0 : (size_t)token * k);
    for (int j = threadIdx.x; j < k; j += blockDim.x)
        a.out[(size_t)r * k + j] = none                      ? 0.0f
                                   : a.w.dtype == DTYPE_BF16 ? __bfloat162float(half[j]) * a.scale
                                                             : full[j] * a.scale;
}

int cuda_op_embed(struct device *d, const struct embed_args *a)
{
    embed_kernel<<<a->rows, 256, 0, d->stream>>>(*a);
    return cuda_launched(d, OP_embed);
}

/* Elements 4i to 4i + 3 of a row of n; `whole`: at once, which the row's place in memory must allow. */
static __device__ float4 load_four(const float *x, int n, int i, bool whole)
{
    if (whole)
        return 4 * i < n ? ((const float4 *)x)[i] : make_float4(0, 0, 0, 0);
    float v[4];
#pragma unroll
    for (int e = 0; e < 4; e++)
        v[e] = 4 * i + e < n ? x[4 * i + e] : 0.0f;
    return make_float4(v[0], v[1], v[2], v[3]);
}

static __device__ void store_four(void *x, enum dtype t, size_t row, int n, int i, float4 v, bool whole)
{
    float one[4] = {v.x, v.y, v.z, v.w};
    if (whole && 4 * i < n)
        put4_as(x, t, row + 4 * i, v);
#pragma unroll
    for (int e = 0; e < 4; e++)
        if (!whole && 4 * i + e < n)
            put_as(x, t, row + 4 * i + e, one[e]);
}

static __device__ float add_squares(float4 v, float sum)
{
    return fmaf(v.w, v.w, fmaf(v.z, v.z, fmaf(v.y, v.y, fmaf(v.x, v.x, sum))));
}

static bool is_aligned(const void *p)
{
    return (uintptr_t)p % 16 == 0;
}

/* The template argument FOURS and the block's size of the kernels with a row a block, and with them the order
 * of a row's sum, follow from its length alone. */
enum { MAX_ROW = 16384 };

static int fours_of(int dim)
{
    return dim <= 8192 ? 2 : 8;
}

static int row_threads(int dim)
{
    int each = 4 * fours_of(dim) * WARP;
    return (dim + each - 1) / each * WARP;
}

/* A row a block. A thread keeps its FOURS groups of four elements, 4 * blockDim apart, between the passes.
 * TRIGGER_FIRST: the next kernel may begin before the wait, so that a product asks for its weights while x is
 * still being written.
 *
 * Tried and dropped, in decode steps of a 1.5B model with 64 rows on an H200: blocks beside the rows' that
 * ask for the weight of the gates and ups into the L2 cache while the norm waits (8 MB: at most 0.5 % faster,
 * 16 to 40 MB: 0.5 to 3 % slower), and products that ask for the next one's when they have asked for all of
 * their own (8 to 32 MB: 3 to 10 % slower). */
template <int FOURS, bool TRIGGER_FIRST>
static __global__ void __launch_bounds__(FOURS == 2 ? 1024 : 512)
    rmsnorm_kernel(struct rmsnorm_args a, bool whole)
{
    __shared__ float smem[WARP];
    size_t row = (size_t)blockIdx.x * a.stride;
    float4 x[FOURS], w[FOURS];
    float sum = 0;
#pragma unroll
    for (int k = 0; k < FOURS; k++) /* no kernel writes it */
        w[k] = a.w ? load_four(a.w, a.dim, threadIdx.x + k * blockDim.x, whole) : make_float4(1, 1, 1, 1);
    if (TRIGGER_FIRST)
        pdl_trigger();
    pdl_wait();
    if (!TRIGGER_FIRST)
        pdl_trigger();
#pragma unroll
    for (int k = 0; k < FOURS; k++)
        x[k] = load_four(a.x + row, a.dim, threadIdx.x + k * blockDim.x, whole);
#pragma unroll
    for (int k = 0; k < FOURS; k++)
        sum = add_squares(x[k], sum);
    float root = a.w ? sqrtf(block_sum(sum, smem) / (float)a.dim + a.eps) : 1;
#pragma unroll
    for (int k = 0; k < FOURS; k++)
        store_four(a.out, a.type, row, a.dim, threadIdx.x + k * blockDim.x,
                   make_float4(x[k].x / root * w[k].x, x[k].y / root * w[k].y, x[k].z / root * w[k].z,
                               x[k].w / root * w[k].w),
                   whole);
}

/* Between attention's product and the gates' one: the norm before q, k and v waits, so that attention knows
 * what is under way (op_append.cu). Measured on an H200: if it is early too, and the product of gates and ups
 * waits instead, a step of a 1.5B model (1,536) takes 1 % less with one row and 1 % more with 64; if both
 * norms of an 8B model (4,096) are early, one of its steps takes 2 % and 0.5 % more. Norms that two products
 * do half each, with no kernel of their own, are hardly faster. */
static bool triggers_before_wait(const struct device *d, int dim)
{
    return dim <= 2048 && d->pdl == OP_linear && d->before != OP_linear_swiglu && d->before != OP_swiglu;
}

int cuda_op_rmsnorm(struct device *d, const struct rmsnorm_args *args)
{
    struct rmsnorm_args a = *args;
    a.stride = a.stride ? a.stride : a.dim;
    bool whole =
        a.dim % 4 == 0 && a.stride % 4 == 0 && is_aligned(a.x) && is_aligned(a.w) && is_aligned(a.out);
    if (a.dim > MAX_ROW)
        return cuda_error(d, BACKEND_ERR_UNSUPPORTED, "rmsnorm: rows of %d; at most %d", a.dim, MAX_ROW);
    d->norm_waits = !triggers_before_wait(d, a.dim);
    auto kernel = fours_of(a.dim) == 8 ? rmsnorm_kernel<8, false> : rmsnorm_kernel<2, false>;
    if (!d->norm_waits)
        kernel = rmsnorm_kernel<2, true>;
    return cuda_launch_pdl(d, OP_rmsnorm, kernel, dim3(a.rows), row_threads(a.dim), 0, 1, a, whole);
}

/* A row a block, as in rmsnorm_kernel. */
template <int FOURS>
static __global__ void __launch_bounds__(FOURS == 2 ? 1024 : 512)
    add_part_kernel(struct add_part_args a, bool whole)
{
    __shared__ float smem[WARP];
    size_t row = (size_t)blockIdx.x * a.dim;
    float4 x[FOURS], t[FOURS];
    float sum = 0, root = 1;
    pdl_wait();
    pdl_trigger();
#pragma unroll
    for (int k = 0; k < FOURS; k++) {
        int i = threadIdx.x + k * blockDim.x;
        t[k] = load_four(a.t + row, a.dim, i, whole);
        x[k] = load_four(a.x + row, a.dim, i, whole);
    }
#pragma unroll
    for (int k = 0; k < FOURS; k++)
        sum = add_squares(t[k], sum);
    if (a.w)
        root = sqrtf(block_sum(sum, smem) / (float)a.dim + a.eps);
#pragma unroll
    for (int k = 0; k < FOURS; k++) {
        int i = threadIdx.x + k * blockDim.x;
        float4 v = t[k];
        if (a.w) {
            float4 w = load_four(a.w, a.dim, i, whole);
            v = make_float4(v.x / root * w.x, v.y / root * w.y, v.z / root * w.z, v.w / root * w.w);
        }
        store_four(a.x, DTYPE_F32, row, a.dim, i,
                   make_float4(fmaf(v.x, a.scale, x[k].x), fmaf(v.y, a.scale, x[k].y),
                               fmaf(v.z, a.scale, x[k].z), fmaf(v.w, a.scale, x[k].w)),
                   whole);
    }
}

int cuda_op_add_part(struct device *d, const struct add_part_args *a)
{
    bool whole = a->dim % 4 == 0 && is_aligned(a->x) && is_aligned(a->t) && is_aligned(a->w);
    if (a->dim > MAX_ROW)
        return cuda_error(d, BACKEND_ERR_UNSUPPORTED, "add_part: rows of %d; at most %d", a->dim, MAX_ROW);
    return cuda_launch_pdl(d, OP_add_part, fours_of(a->dim) == 8 ? add_part_kernel<8> : add_part_kernel<2>,
                           dim3(a->rows), row_threads(a->dim), 0, 1, *a, whole);
}

/* A tile of one KV head a block. */
static __global__ void pool_queries_kernel(struct pool_queries_args a)
{
    pdl_wait();
    pdl_trigger();
    int group = a.n_q / a.n_kv, from = blockIdx.x * a.tile, h = blockIdx.y * group;
    int n = min(a.rows - from, a.tile);
    for (int j = threadIdx.x; j < a.dim; j += blockDim.x) {
        float sum = 0;
        for (int r = from; r < from + n; r++)
            for (int g = h; g < h + group; g++)
                sum += a.q[(size_t)r * a.q_stride + g * a.dim + j];
        sum *= 1 / (float)(n * group);
        for (int r = from; r < from + n; r++)
            for (int g = h; g < h + group; g++)
                a.out[((size_t)r * a.n_q + g) * a.dim + j] = sum;
    }
}

int cuda_op_pool_queries(struct device *d, const struct pool_queries_args *a)
{
    if (a->rows < 1)
        return 0;
    return cuda_launch_pdl(d, OP_pool_queries, pool_queries_kernel,
                           dim3((a->rows + a->tile - 1) / a->tile, a->n_kv), 128, 0, 1, *a);
}

static __device__ float capped(float v, float scale, float cap)
{
    float x = v * scale;
    return cap > 0 && fabsf(x) < CUDART_INF_F ? cap * tanhf(x / cap) : x;
}

/* Logits that are not finite stay so: op_sample tells. */
static __global__ void cap_kernel(struct cap_logits_args a)
{
    pdl_wait();
    pdl_trigger();
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < a.n)
        a.v[i] = capped(a.v[i], a.scale, a.cap);
}

int cuda_op_cap_logits(struct device *d, const struct cap_logits_args *a)
{
    if (a->n < 1)
        return 0;
    return cuda_launch_pdl(d, OP_cap_logits, cap_kernel, dim3((unsigned)((a->n + 255) / 256)), 256, 0, 1, *a);
}

/* GELU: 1/2 (1 + tanh(y)) is the sigmoid of 2y, which loses nothing where tanh(y) is near -1. fminf would
 * lose a NaN. */
template <enum glu GLU> static __device__ float gated_unit(float gate, float up)
{
    if (GLU == GLU_GELU) {
        float y = 1.59576912f * (gate + 0.044715f * gate * (gate * gate)); /* 2 sqrt(2 / pi) */
        return gate / (1.0f + expf(-y)) * up;
    }
    if (GLU == GLU_CLAMPED) {
        gate = gate > 7.0f ? 7.0f : gate;
        up = up > 7.0f ? 7.0f : up < -7.0f ? -7.0f : up;
        return gate / (1.0f + expf(-1.702f * gate)) * (up + 1.0f);
    }
    return gate / (1.0f + expf(-gate)) * up;
}

/* Four elements a thread. */
template <enum glu GLU> static __global__ void swiglu_kernel(struct swiglu_args a, bool whole)
{
    int i = blockIdx.y * blockDim.x + threadIdx.x;
    size_t row = (size_t)blockIdx.x * a.n;
    pdl_wait();
    pdl_trigger();
    if (4 * i >= a.n)
        return;
    float4 gate = load_four(a.x + 2 * row, a.n, i, whole), up = load_four(a.x + 2 * row + a.n, a.n, i, whole);
    store_four(a.out, a.type, row, a.n, i,
               make_float4(gated_unit<GLU>(gate.x, up.x), gated_unit<GLU>(gate.y, up.y),
                           gated_unit<GLU>(gate.z, up.z), gated_unit<GLU>(gate.w, up.w)),
               whole);
}

int cuda_op_swiglu(struct device *d, const struct swiglu_args *a)
{
    bool whole = a->n % 4 == 0 && is_aligned(a->x) && is_aligned(a->out);
    auto kernel = a->glu == GLU_GELU      ? swiglu_kernel<GLU_GELU>
                  : a->glu == GLU_CLAMPED ? swiglu_kernel<GLU_CLAMPED>
                                          : swiglu_kernel<GLU_SILU>;
    return cuda_launch_pdl(d, OP_swiglu, kernel, dim3(a->rows, (a->n + 1023) / 1024), 256, 0, 1, *a, whole);
}

static __global__ void gate_kernel(struct gate_args a)
{
    __shared__ float smem[WARP];
    pdl_wait();
    pdl_trigger();
    int r = blockIdx.x, h = blockIdx.y, from = a.per_layer ? 0 : h;
    float sum = 0;
    for (int j = threadIdx.x; j < a.dim; j += blockDim.x)
        sum = fmaf(a.w[(size_t)from * a.dim + j], get_as(a.y, a.type, (size_t)r * a.dim + j), sum);
    sum = block_sum(sum, smem);
    if (threadIdx.x == 0)
        a.flag[r * a.n_kv + h] = (sum + a.b[from]) * a.scale + a.bias > 0;
}

int cuda_op_gate(struct device *d, const struct gate_args *a)
{
    return cuda_launch_pdl(d, OP_gate, gate_kernel, dim3(a->rows, a->n_kv), 256, 0, 1, *a);
}

/* A thread does the borrowed channel of one KV head's group in one row. flag NULL: mute. */
static __global__ void channel_kernel(struct borrow_args a)
{
    pdl_wait();
    pdl_trigger();
    int task = blockIdx.x * blockDim.x + threadIdx.x, r = task / a.n_kv, h = task % a.n_kv;
    if (r >= a.rows.cap || a.rows.seq[r] < 0)
        return;
    float *x = a.q + (size_t)r * a.stride + h * (a.n_q / a.n_kv) * a.head_dim + a.channel;
    if (a.flag)
        a.flag[task] = __fadd_rn(__fmul_rn(*x, a.scale), a.bias) > 0;
    *x = 0;
}

static int run_channel(struct device *d, const struct borrow_args *a, enum op op)
{
    int tasks = a->rows.cap * a->n_kv;
    if (tasks < 1)
        return 0;
    return cuda_launch_pdl(d, op, channel_kernel, (tasks + 63) / 64, 64, 0, 1, *a);
}

int cuda_op_borrow(struct device *d, const struct borrow_args *a)
{
    return run_channel(d, a, OP_borrow);
}

int cuda_op_mute(struct device *d, const struct mute_args *a)
{
    struct borrow_args b = {};
    b.rows = a->rows;
    b.n_q = a->n_q;
    b.n_kv = a->n_kv;
    b.head_dim = a->head_dim;
    b.q = a->q;
    b.stride = a->stride;
    b.channel = a->channel;
    return run_channel(d, &b, OP_mute);
}
