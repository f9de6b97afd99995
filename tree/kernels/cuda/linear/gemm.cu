/* See gemm.cuh. cuBLASLt is loaded when the first GPU is opened, so that the program also starts on machines
 * without it. */
#include <cublasLt.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/linear/gemm_lt.cuh"

int lt_check(struct device *d, cublasStatus_t s, const char *what)
{
    if (s == CUBLAS_STATUS_SUCCESS)
        return 0;
    cudaError_t cause = cudaGetLastError(); /* a GPU that failed before says more than the library's number */
    return cause != cudaSuccess ? cuda_check(d, cause, what)
                                : cuda_error(d, BACKEND_ERR_DEVICE,
                                             "cuBLASLt: %s failed with status %d; if that happens again, see "
                                             "nvidia-smi and dmesg",
                                             what, (int)s);
}

int gemm_open(struct device *d)
{
    struct gemm *g = (struct gemm *)calloc(1, sizeof *g);
    static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so"};
    if (!g)
        return cuda_error(d, BACKEND_ERR_MEMORY, "no memory for the matrix library's state");
    d->gemm = g;
    for (size_t i = 0; i < 2 && !g->library; i++)
        g->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!g->library)
        return cuda_error(
            d, BACKEND_ERR_DEVICE,
            "libcublasLt.so.13 is not there (%s); install cuBLAS of CUDA 13 or set LD_LIBRARY_PATH",
            dlerror());
#define X(name)                                                                                              \
    g->name = (decltype(g->name))dlsym(g->library, #name);                                                   \
    if (!g->name)                                                                                            \
        return cuda_error(d, BACKEND_ERR_DEVICE, "libcublasLt has no " #name "; cuBLAS of CUDA 13 is needed");
    LT_FUNCTIONS(X)
#undef X
    int rc = lt_check(d, g->cublasLtCreate(&g->handle), "opening it");
    if (!rc)
        rc = cuda_check(d, cudaStreamCreateWithFlags(&g->stream, cudaStreamNonBlocking), "creating a stream");
    if (!rc)
        rc = cuda_check(d, cudaEventCreate(&g->start), "creating an event");
    return rc ? rc : cuda_check(d, cudaEventCreate(&g->stop), "creating an event");
}

void gemm_close(struct device *d)
{
    struct gemm *g = d->gemm;
    if (!g)
        return;
    if (g->handle)
        g->cublasLtDestroy(g->handle);
    if (g->stop)
        cudaEventDestroy(g->stop);
    if (g->start)
        cudaEventDestroy(g->start);
    if (g->stream)
        cudaStreamDestroy(g->stream);
    if (g->library)
        dlclose(g->library);
    free(g);
    d->gemm = NULL;
}

void gemm_version(struct device *d, char *text, size_t size)
{
    size_t v = d->gemm->cublasLtGetVersion();
    snprintf(text, size, "cublaslt%zu.%zu.%zu", v / 10000, v / 100 % 100, v % 100);
}

void call_close(struct gemm *g, struct call *c)
{
    if (c->op)
        g->cublasLtMatmulDescDestroy(c->op);
    cublasLtMatrixLayout_t all[] = {c->a, c->b, c->c};
    for (int i = 0; i < 3; i++)
        if (all[i])
            g->cublasLtMatrixLayoutDestroy(all[i]);
}

int call_open(struct device *d, struct call *c, const struct product *p)
{
    struct gemm *g = d->gemm;
    cublasOperation_t transposed = CUBLAS_OP_T;
    cublasLtEpilogue_t bias = CUBLASLT_EPILOGUE_BIAS;
    cudaDataType_t in = p->dtype == DTYPE_BF16 ? CUDA_R_16BF : CUDA_R_32F;
    memset(c, 0, sizeof *c);
    cublasStatus_t s = g->cublasLtMatmulDescCreate(&c->op, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    if (!s)
        s = g->cublasLtMatmulDescSetAttribute(c->op, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                              sizeof transposed);
    if (!s && p->bias)
        s = g->cublasLtMatmulDescSetAttribute(c->op, CUBLASLT_MATMUL_DESC_EPILOGUE, &bias, sizeof bias);
    if (!s && p->bias)
        s = g->cublasLtMatmulDescSetAttribute(c->op, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &p->bias,
                                              sizeof p->bias);
    if (!s)
        s = g->cublasLtMatrixLayoutCreate(&c->a, in, p->k, p->n, p->k);
    if (!s)
        s = g->cublasLtMatrixLayoutCreate(&c->b, in, p->k, p->rows, p->x_stride);
    if (!s)
        s = g->cublasLtMatrixLayoutCreate(&c->c, CUDA_R_32F, p->n, p->rows, p->out_stride);
    if (s)
        call_close(g, c);
    return lt_check(d, s, "describing a product");
}

cublasStatus_t call_run(struct gemm *g, const struct call *c, const struct product *p,
                        const cublasLtMatmulAlgo_t *algo, void *workspace, size_t bytes, cudaStream_t stream)
{
    float one = 1, beta = p->accumulate ? 1.0f : 0.0f;
    return g->cublasLtMatmul(g->handle, c->op, &one, p->w, c->a, p->x, c->b, &beta, p->out, c->c, p->out,
                             c->c, algo, workspace, bytes, stream);
}
