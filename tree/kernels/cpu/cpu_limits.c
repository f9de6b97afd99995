/* Limits of the CPU: the median of short runs, timed over all threads from a common start. The best run would
 * not do, since other virtual machines may share the last-level cache and it would show a lucky moment. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/cpu/cpu.h"
#include "kernels/limits.h"

static const double least_seconds = 0.1;

static double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double read_bandwidth(struct device *d, size_t bytes)
{
    enum { MOST = 1000 };
    size_t floats = bytes / sizeof(float) / (64 * (size_t)d->threads) * 64, passes = 1;
    float *p = floats ? cpu_alloc(floats * (size_t)d->threads * sizeof *p) : NULL;
    double speed[MOST], sink = 0, start = now_seconds();
    int n = 0;
    if (!p)
        return 0;
#pragma omp parallel num_threads(d->threads)
    memset(p + (size_t)omp_get_thread_num() * floats, 0, floats * sizeof *p);
    /* Small sets are read several times a run, so that starting the threads does not count. */
    while (passes * bytes < (size_t)32 << 20)
        passes *= 2;
    for (; n < MOST && (n < 4 || now_seconds() - start < least_seconds); n++) {
        double t = now_seconds(), sum = 0;
#pragma omp parallel num_threads(d->threads) reduction(+ : sum)
        for (size_t k = 0; k < passes; k++)
            sum += d->isa->peak_read(p + (size_t)omp_get_thread_num() * floats, floats);
        speed[n] = (double)passes * (double)floats * d->threads * sizeof *p / (now_seconds() - t) * 1e-9;
        sink += sum;
    }
    cpu_release(p);
    return sink == 0 ? limits_median(speed, n) : 0;
}

static double fma_peak(struct device *d)
{
    enum { ROUNDS = 1000000 };
    double best = 0, start = now_seconds(), sink = 0;
    for (int i = 0; i < 4 || now_seconds() - start < least_seconds; i++) {
        double t = now_seconds(), sum = 0;
#pragma omp parallel num_threads(d->threads) reduction(+ : sum)
        sum += d->isa->peak_fma(ROUNDS);
        t = ROUNDS * d->isa->peak_flop * d->threads / (now_seconds() - t) * 1e-9;
        best = t > best ? t : best;
        sink += sum;
    }
    return sink > 0 ? best : 0;
}

const struct limits cpu_limits = {read_bandwidth, fma_peak, NULL, NULL};
