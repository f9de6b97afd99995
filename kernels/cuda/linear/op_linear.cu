/* Linear layers. Most run by cuBLASLt, with bf16 (or fp32) factors and fp32 sums. In a decode step, weights
 * that suit it use a kernel for few rows, and shapes that cuBLASLt does not take use a plain kernel. The
 * choice depends only on the weight, on the stride of its output, which is its layer's, and on whether it is
 * a decode step. */
#include "kernels/cuda/device/cuda.cuh"
#include "kernels/cuda/device/kv.cuh"
#include "kernels/cuda/device/math.cuh"
#include "kernels/cuda/linear/gemm.cuh"

static __global__ void narrow_kernel(__nv_bfloat16 *to, const float *x, int k, int stride)
{
    const float *from = x + (size_t)blockIdx.x * stride;
    for (int j = 2 * (blockIdx.y * blockDim.x + threadIdx.x); j < k; j += 2 * gridDim.y * blockDim.x)
        *(__nv_bfloat162 *)(to + (size_t)blockIdx.x * k + j) = __floats2bfloat162_rn(from[j], from[j + 1]);
}

/* One warp an output. */
static __global__ void plain_kernel(struct linear_args a)
{
    int r = blockIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= a.w.n)
        return;
    float sum = 0, *out = a.out + (size_t)r * a.out_stride + i;
    for (int j = threadIdx.x; j < a.w.k; j += WARP) {
        float w = get_as(a.w.data, a.w.dtype, (size_t)i * a.w.k + j);
        sum = fmaf(w, get_as(a.x, a.type, (size_t)r * a.x_stride + j), sum);
    }
    sum = warp_sum(sum) + (a.w.bias ? a.w.bias[i] : 0.0f);
    if (threadIdx.x == 0)
        *out = a.accumulate ? *out + sum : sum;
}

int cuda_op_linear(struct device *d, const struct linear_args *a)
{
    if (!gemm_fits(&a->w, a->out_stride)) {
        plain_kernel<<<dim3(a->rows, (a->w.n + 7) / 8), dim3(WARP, 8), 0, d->stream>>>(*a);
        return cuda_launched(d, OP_linear);
    }
    if (a->rows > GEMM_MAX_ROWS)
        return cuda_error(d, BACKEND_ERR_UNSUPPORTED, "linear: %d rows; at most %d at once", a->rows,
                          GEMM_MAX_ROWS);
    if (a->x_stride * dtype_bytes(a->type) % 16 || (uintptr_t)a->x % 16 || (uintptr_t)a->out % 16)
        return cuda_error(d, BACKEND_ERR_UNSUPPORTED, "linear: rows must begin at multiples of 16 bytes");
    struct product p = {a->w.n,      a->w.k,        a->rows,       a->w.dtype, a->w.data, a->x,
                        a->x_stride, a->out_stride, a->accumulate, a->w.bias,  a->out};
    if (a->w.dtype == DTYPE_BF16 && a->type == DTYPE_F32) {
        void *x = cuda_workspace(d, (size_t)a->rows * (size_t)a->w.k * sizeof(__nv_bfloat16));
        if (!x)
            return BACKEND_ERR_MEMORY;
        narrow_kernel<<<dim3(a->rows, (a->w.k + 1023) / 1024), 256, 0, d->stream>>>(
            (__nv_bfloat16 *)x, (const float *)a->x, a->w.k, a->x_stride);
        int rc = cuda_launched(d, OP_linear);
        if (rc)
            return rc;
        p.x = x;
        p.x_stride = a->w.k;
    }
    return a->decode && gemm_split_fits(d, &a->w) ? gemm_split_run(d, &p) : gemm_run(d, &p);
}

/* In one kernel, which has no biases and SiLU alone? */
static bool does_at_once(const struct device *d, const struct linear_swiglu_args *a)
{
    if (a->type != DTYPE_BF16 || a->glu != GLU_SILU)
        return false;
    return a->decode ? gemm_gated_few_fits(d, &a->w) : gemm_gated_fits(d, &a->w);
}

int cuda_op_linear_swiglu(struct device *d, const struct linear_swiglu_args *a)
{
    if (does_at_once(d, a)) {
        if ((uintptr_t)a->x % 16 || (uintptr_t)a->out % (a->decode ? 16 : 4))
            return cuda_error(d, BACKEND_ERR_UNSUPPORTED,
                              "linear_swiglu: rows must begin at multiples of 16 bytes");
        struct product p = {a->w.n, a->w.k, a->rows, a->w.dtype, a->w.data, a->x, a->w.k};
        return a->decode ? gemm_gated_few_run(d, &p, a->out) : gemm_gated_run(d, &p, a->out);
    }
    struct linear_args product = linear_of(a);
    struct swiglu_args gated = swiglu_of(a);
    int rc = cuda_op_linear(d, &product);
    return rc ? rc : cuda_op_swiglu(d, &gated);
}
