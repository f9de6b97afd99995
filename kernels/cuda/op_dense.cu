/* The small dense operations of a layer: embedding, norm, SwiGLU, DMS gates. */
#include "kernels/cuda/cuda.cuh"
#include "kernels/cuda/kv.cuh"
#include "kernels/cuda/math.cuh"

static __global__ void embed_kernel(struct embed_args a)
{
    int r = blockIdx.x, token = a.token[r], k = a.w.k;
    bool none = (a.seq && a.seq[r] < 0) || token < 0 || token >= a.w.n;
    const __nv_bfloat16 *half = (const __nv_bfloat16 *)a.w.data + (none ? 0 : (size_t)token * k);
    const float *full = (const float *)a.w.data + (none ? 0 : (size_t)token * k);
    for (int j = threadIdx.x; j < k; j += blockDim.x)
        a.out[(size_t)r * k + j] = none                      ? 0.0f
                                   : a.w.dtype == DTYPE_BF16 ? __bfloat162float(half[j])
                                                             : full[j];
}

int cuda_op_embed(struct device *d, const struct embed_args *a)
{
    embed_kernel<<<a->rows, 256, 0, d->stream>>>(*a);
    return cuda_launched(d, OP_embed);
}

static __global__ void rmsnorm_kernel(struct rmsnorm_args a)
{
    __shared__ float room[WARP];
    const float *x = a.x + (size_t)blockIdx.x * a.dim;
    float sum = 0;
    for (int j = threadIdx.x; j < a.dim; j += blockDim.x)
        sum = fmaf(x[j], x[j], sum);
    float root = sqrtf(block_sum(sum, room) / (float)a.dim + a.eps);
    for (int j = threadIdx.x; j < a.dim; j += blockDim.x)
        put_as(a.out, a.type, (size_t)blockIdx.x * a.dim + j, x[j] / root * a.w[j]);
}

int cuda_op_rmsnorm(struct device *d, const struct rmsnorm_args *a)
{
    rmsnorm_kernel<<<a->rows, 512, 0, d->stream>>>(*a);
    return cuda_launched(d, OP_rmsnorm);
}

static __global__ void swiglu_kernel(struct swiglu_args a)
{
    int r = blockIdx.x;
    const float *gate = a.x + (size_t)r * 2 * a.n, *up = gate + a.n;
    for (int j = blockIdx.y * blockDim.x + threadIdx.x; j < a.n; j += gridDim.y * blockDim.x)
        put_as(a.out, a.type, (size_t)r * a.n + j, gate[j] / (1.0f + expf(-gate[j])) * up[j]);
}

int cuda_op_swiglu(struct device *d, const struct swiglu_args *a)
{
    swiglu_kernel<<<dim3(a->rows, (a->n + 1023) / 1024), 256, 0, d->stream>>>(*a);
    return cuda_launched(d, OP_swiglu);
}

static __global__ void gate_kernel(struct gate_args a)
{
    __shared__ float room[WARP];
    int r = blockIdx.x, h = blockIdx.y, from = a.per_layer ? 0 : h;
    float sum = 0;
    for (int j = threadIdx.x; j < a.dim; j += blockDim.x)
        sum = fmaf(a.w[(size_t)from * a.dim + j], get_as(a.y, a.type, (size_t)r * a.dim + j), sum);
    sum = block_sum(sum, room);
    if (threadIdx.x == 0)
        a.flag[r * a.n_kv + h] = (sum + a.b[from]) * a.scale + a.bias > 0;
}

int cuda_op_gate(struct device *d, const struct gate_args *a)
{
    gate_kernel<<<dim3(a->rows, a->n_kv), 256, 0, d->stream>>>(*a);
    return cuda_launched(d, OP_gate);
}

static __global__ void fill_i32_kernel(struct fill_i32_args a)
{
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < a.n;
         i += (int64_t)gridDim.x * blockDim.x)
        a.out[i] = a.value;
}

int cuda_op_fill_i32(struct device *d, const struct fill_i32_args *a)
{
    fill_i32_kernel<<<256, 256, 0, d->stream>>>(*a);
    return cuda_launched(d, OP_fill_i32);
}
