#ifndef KERNELS_CUDA_LINEAR_GEMM_LT_CUH
#define KERNELS_CUDA_LINEAR_GEMM_LT_CUH

/* What gemm.cu, which calls cuBLASLt, and gemm_choose.cu, which chooses among its algorithms, share. */
#include <cublasLt.h>

#include "kernels/cuda/linear/gemm.cuh"

#define LT_FUNCTIONS(X)                                                                                      \
    X(cublasLtGetVersion)                                                                                    \
    X(cublasLtCreate)                                                                                        \
    X(cublasLtDestroy)                                                                                       \
    X(cublasLtMatmulDescCreate)                                                                              \
    X(cublasLtMatmulDescDestroy)                                                                             \
    X(cublasLtMatmulDescSetAttribute)                                                                        \
    X(cublasLtMatrixLayoutCreate)                                                                            \
    X(cublasLtMatrixLayoutDestroy)                                                                           \
    X(cublasLtMatmulPreferenceCreate)                                                                        \
    X(cublasLtMatmulPreferenceDestroy)                                                                       \
    X(cublasLtMatmulPreferenceSetAttribute)                                                                  \
    X(cublasLtMatmulAlgoGetHeuristic) X(cublasLtMatmulAlgoConfigGetAttribute) X(cublasLtMatmul)

enum { MAX_SHAPES = 128, N_BUCKETS = 17, CANDIDATES = 12, REFERENCE_ROWS = 64 };

struct shape {
    int n, k, with_bias, accumulate;
    enum dtype dtype;
    cublasLtMatmulAlgo_t reference, algo[N_BUCKETS];
    char chosen[N_BUCKETS];
};

struct gemm {
    void *library;
    cublasLtHandle_t handle;
#define X(name) decltype(&::name) name;
    LT_FUNCTIONS(X)
#undef X
    cudaStream_t stream; /* for trials, which may happen while a step is captured */
    cudaEvent_t start, stop;
    struct shape shape[MAX_SHAPES];
    int n_shapes;
};

/* One product as cuBLASLt sees it: column-major out (n x rows) = w' (n x k) times x (k x rows). */
struct call {
    cublasLtMatmulDesc_t op;
    cublasLtMatrixLayout_t a, b, c;
};

/* Returns 0 for success; else sets d->error to a sentence about `what` and returns a negative BACKEND_ERR_
 * code.
 */
int lt_check(struct device *d, cublasStatus_t s, const char *what);
/* Makes the descriptions of a product, which call_close() frees. Returns 0, or a negative BACKEND_ERR_ code
 * with d->error set; then nothing is left to free. call_run() enqueues it by `algo` and returns the library's
 * status. */
int call_open(struct device *d, struct call *c, const struct product *p);
void call_close(struct gemm *g, struct call *c);
cublasStatus_t call_run(struct gemm *g, const struct call *c, const struct product *p,
                        const cublasLtMatmulAlgo_t *algo, void *workspace, size_t bytes, cudaStream_t stream);

#endif
