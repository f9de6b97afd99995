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
int bench_device_open(struct bench_device *d, const struct bench *b, struct err *e);
void bench_device_close(struct bench_device *d);

#endif
