#ifndef KERNELS_LIMITS_H
#define KERNELS_LIMITS_H

#include "kernels/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A front door of kernels/, for benchmarks: the machine's own limits, with which `kveval bench`
 * compares. They are measured on an open device with all its threads and its instruction set. Each call takes
 * about a tenth of a second and returns 0 when it cannot measure: memory is short or a call of the device
 * fails. backend.h's table holds each backend's. */
struct limits {
    /* GB/s of reading a working set of so many bytes again and again; the median of the passes. */
    double (*read_bandwidth)(struct device *d, size_t bytes);
    /* GFLOP/s of the instructions that linear layers use, counting 2 for a multiply-add; the best run. On the
     * CPU these are fp32 fused multiply-adds, on a GPU a large bf16 product. */
    double (*peak)(struct device *d);
    /* GB/s of large consecutive copies from pinned host memory to the device. NULL on the CPU. */
    double (*upload_bandwidth)(struct device *d);
    /* Seconds of a bf16 product of so many rows by the vendor's matrix library at its fastest, which may let
     * the bits of a row depend on the rows beside it. `launches` products are run one after the other with
     * the n weights, all of one shape, in turn. NULL on the CPU; 0 where the library does not take it. */
    double (*fastest_product)(struct device *d, const struct weight *w, int n, int launches, int rows,
                              int accumulate);
};

/* Returns the median that both sides of a comparison use, the limit and the figure: the upper of the two
 * middle values where n is even, 0 where n is 0. Sorts x. */
double limits_median(double *x, int n);

#ifdef __cplusplus
}
#endif
#endif
