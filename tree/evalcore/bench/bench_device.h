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
/* Opens the first of b's devices. *d must be zero before; close it in any case. Returns 0, ERR_USAGE when the
 * program has no such backend or does not support the device, or ERR_DEVICE when it cannot be opened. */
int bench_device_open(struct bench_device *d, const struct bench *b, struct err *e);
void bench_device_close(struct bench_device *d);
/* 0 when rc, a result of the backend, is not negative; else sets e to the device's message and returns
 * ERR_DEVICE. */
int bench_check(const struct bench_device *d, int rc, struct err *e);

/* Measures *seconds, the median over replays of the time of n operations divided by n. enqueue(context, i)
 * launches operation i (0 to n - 1) and returns the backend's result, negative for an error. They are
 * captured as a graph and replayed back to back, so that what a device begins before the operation before has
 * ended is not counted twice. mark: four bytes on the device, which are read to wait for the end. Returns 0
 * or ERR_DEVICE. e may not be NULL. */
typedef int (*bench_enqueue_fn)(void *context, int i);
int bench_replay(const struct bench_device *d, const void *mark, bench_enqueue_fn enqueue, void *context,
                 int n, double *seconds, struct err *e);

#endif
