#ifndef KERNELS_LIMITS_H
#define KERNELS_LIMITS_H

#include "kernels/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The machine's own limits, measured on an open device with all its threads and its instruction set: what
 * `kveval bench` compares with. Each call takes about a tenth of a second. 0 when memory is short. A
 * backend's is in its table. */
struct limits {
    /* GB/s, reading a working set of so many bytes again and again; the median pass. */
    double (*read_bandwidth)(struct device *d, size_t bytes);
    /* GFLOP/s of what linear layers use, a multiply-add counts 2; the best run. CPU: fp32 fused
     * multiply-adds; GPU: a large bf16 product. */
    double (*peak)(struct device *d);
    /* GB/s from pinned host memory to the device, large copies in a row. NULL on the CPU. */
    double (*upload_bandwidth)(struct device *d);
};

/* What both sides of a comparison use, the limit and the figure. Sorts x; 0 when n is 0. */
double limits_median(double *x, int n);

#ifdef __cplusplus
}
#endif
#endif
