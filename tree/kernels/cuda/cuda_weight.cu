/* Weights are stored as in the file: [n][k] in row-major order. */
#include <string.h>

#include "kernels/cuda/device/cuda.cuh"
#include "kernels/cuda/device/kv.cuh"

int cuda_weight_alloc(struct device *d, struct weight *w, int n, int k, enum dtype dtype, int with_bias)
{
    memset(w, 0, sizeof *w);
    if (n < 1 || k < 1)
        return cuda_error(d, BACKEND_ERR_UNSUPPORTED, "a weight of %d x %d is not possible", n, k);
    w->n = n;
    w->k = k;
    w->dtype = dtype;
    w->data = cuda_alloc(d, (size_t)n * (size_t)k * dtype_bytes(dtype));
    if (w->data && with_bias)
        w->bias = (float *)cuda_alloc(d, (size_t)n * sizeof *w->bias);
    if (w->data && (w->bias || !with_bias))
        return 0;
    cuda_weight_release(d, w);
    return BACKEND_ERR_MEMORY;
}

void cuda_weight_release(struct device *d, struct weight *w)
{
    cuda_release(d, w->data);
    cuda_release(d, w->bias);
    w->data = NULL;
    w->bias = NULL;
}

static __global__ void widen_kernel(float *to, const __nv_bfloat16 *from, size_t n)
{
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        to[i] = __bfloat162float(from[i]);
}

int cuda_weight_put(struct device *d, struct weight *w, int row0, int n_rows, enum dtype src_dtype,
                    const void *src)
{
    if (row0 < 0 || n_rows < 0 || row0 > w->n - n_rows)
        return cuda_error(d, BACKEND_ERR_UNSUPPORTED, "rows %d to %d are outside a weight of %d", row0,
                          row0 + n_rows, w->n);
    if (w->dtype == DTYPE_BF16 && src_dtype == DTYPE_F32)
        return cuda_error(d, BACKEND_ERR_UNSUPPORTED,
                          "an fp32 tensor does not go into a bf16 weight exactly");
    size_t n = (size_t)n_rows * (size_t)w->k;
    char *to = (char *)w->data + (size_t)row0 * (size_t)w->k * dtype_bytes(w->dtype);
    if (w->dtype == src_dtype || !n)
        return cuda_upload(d, to, src, n * dtype_bytes(w->dtype));
    void *workspace = cuda_workspace(d, n * sizeof(__nv_bfloat16));
    if (!workspace)
        return BACKEND_ERR_MEMORY;
    int rc = cuda_upload(d, workspace, src, n * sizeof(__nv_bfloat16));
    if (rc)
        return rc;
    widen_kernel<<<1024, 256, 0, d->stream>>>((float *)to, (const __nv_bfloat16 *)workspace, n);
    return cuda_check(d, cudaGetLastError(), "widening a weight");
}
