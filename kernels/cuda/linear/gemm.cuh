#ifndef KERNELS_CUDA_LINEAR_GEMM_CUH
#define KERNELS_CUDA_LINEAR_GEMM_CUH

#include "kernels/cuda/device/cuda.cuh"

/* The door of this room: matrix products by cuBLASLt whose rows have the same bits for every number of rows.
 *
 * Which kernel cuBLASLt picks depends on the shape, and some kernels split a sum over several blocks. So for
 * each shape of a weight one algorithm that does not split is the reference. For each range of row counts the
 * candidates are run once beside it on random data; those with other bits are dropped, and the fastest of the
 * rest is used. */
struct product {
    int n, k, rows;
    enum dtype dtype; /* of both factors */
    const void *w, *x;
    int x_stride, out_stride, accumulate;
    const float *bias; /* or NULL */
    float *out;
};

/* Bits are compared up to this many rows. More rows occur only where speed alone matters (cuda_limits.cu);
 * they use the same algorithm. */
enum { GEMM_MAX_ROWS = 2048 };

/* The functions below named _fits return 1 if this way takes the weight, else 0; those named _run enqueue the
 * product and return 0 or a negative BACKEND_ERR_ code with d->error set. */

/* Returns 1 if cuBLAS takes this shape at all: its rows must be multiples of 16 bytes, of the weight and of
 * the output, whose stride may be above n. */
static inline int gemm_fits(const struct weight *w, int out_stride)
{
    return w->k % 16 == 0 && out_stride % 4 == 0;
}

/* The least stride that it takes. */
static inline int gemm_stride(int n)
{
    return (n + 3) / 4 * 4;
}

/* gemm_choose.cu: the product by cuBLASLt, for a weight that gemm_fits() takes. The first product of a shape
 * chooses its algorithms, which takes time. */
int gemm_run(struct device *d, const struct product *p);

/* gemm_limit.cu: what kernels/limits.h calls fastest_product. Returns seconds; 0 where the library does not
 * take the product or a call fails. */
double gemm_fastest(struct device *d, const struct weight *w, int n, int launches, int rows, int accumulate);

/* gemm_split.cu: products for the few rows of a decode step, where reading the weight takes most of the time.
 * Whether this kernel is used depends on the weight alone. */
int gemm_split_fits(const struct device *d, const struct weight *w);
int gemm_split_run(struct device *d, const struct product *p);

/* gemm_gated.cu: gates, ups and SwiGLU of many rows. p: the product without its out; out: (rows, n / 2) bf16.
 * Whether this kernel is used depends on the weight alone. */
int gemm_gated_fits(const struct device *d, const struct weight *w);
int gemm_gated_run(struct device *d, const struct product *p, void *out);

/* gemm_gated_few.cu: the same of a decode step; more than a few rows it leaves to gemm_gated_run, whose bits
 * are the same. Whether this kernel is used depends on the weight alone. */
int gemm_gated_few_fits(const struct device *d, const struct weight *w);
int gemm_gated_few_run(struct device *d, const struct product *p, void *out);

#endif
