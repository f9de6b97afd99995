#ifndef EVALCORE_BENCH_BENCH_DEVICE_H
#define EVALCORE_BENCH_BENCH_DEVICE_H

#include "evalcore/bench/bench.h"
#include "kernels/backend.h"
#include "kernels/limits.h"

/* A device opened for benchmarks, with what measures its limits. */
struct bench_device {
    const struct backend *be;
    const struct limits *limits;
    struct device *dev;
};
/* Opens b's device. Close it in any case. */
int bench_device_open(struct bench_device *d, const struct bench *b, struct err *e);
void bench_device_close(struct bench_device *d);
/* Returns rc; when it is negative sets e to the device's message. */
int bench_check(const struct bench_device *d, int rc, struct err *e);

/* Measures the median seconds of one of the n operations that `enqueue` launches, over replays of them
 * all: back to back, so that what a device begins before the operation before has ended is not counted
 * twice. mark: four bytes on the device, which are read to wait for the end. */
typedef int (*bench_enqueue_fn)(void *context, int i);
int bench_replay(const struct bench_device *d, const void *mark, bench_enqueue_fn enqueue, void *context,
                 int n, double *seconds, struct err *e);

#endif
