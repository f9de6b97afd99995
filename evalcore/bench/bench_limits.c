/* The machine's limits as figures of their own, and the device that measures them. */
#include "evalcore/bench/bench_device.h"

int bench_device_open(struct bench_device *d, const struct bench *b, struct err *e)
{
    struct device_options o = {b->threads, b->isa};
    char why[320];
    d->be = backend_find(b->device->backend);
    if (!d->be)
        return err_set(
            e, ERR_USAGE,
            "this program was built without a backend \"%s\": build it where a CUDA 13 toolkit is installed",
            b->device->backend);
    d->limits = d->be->limits;
    int rc = d->be->open(&d->dev, b->device->ordinal[0], &o, why, sizeof why);
    return rc < 0 ? err_set(e, rc == BACKEND_ERR_UNSUPPORTED ? ERR_USAGE : ERR_DEVICE, "%s:%d: %s",
                            b->device->backend, b->device->ordinal[0], why)
                  : 0;
}

void bench_device_close(struct bench_device *d)
{
    if (d->dev)
        d->be->close(d->dev);
    d->dev = NULL;
}

int bench_check(const struct bench_device *d, int rc, struct err *e)
{
    return rc < 0 ? err_set(e, ERR_DEVICE, "benchmark: %s", d->be->last_error(d->dev)) : 0;
}

int bench_limits(struct bench *b, struct err *e)
{
    static const size_t sizes[] = {1 << 20, 8 << 20, 16 << 20, 64 << 20, 512 << 20};
    struct bench_device d = {0};
    if (bench_device_open(&d, b, e))
        return e->code;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char name[64];
        snprintf(name, sizeof name, "read bandwidth at %zu MiB", sizes[i] >> 20);
        bench_print(b, name, d.limits->read_bandwidth(d.dev, sizes[i]), "GB/s", 0);
    }
    bench_print(b, b->device->is_gpu ? "bf16 matrix peak" : "FMA peak", d.limits->peak(d.dev), "GFLOP/s", 0);
    bench_device_close(&d);
    return 0;
}
