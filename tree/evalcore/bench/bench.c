/* A benchmark's figure as a line of JSON, and of CSV where that is wanted. */
#include "evalcore/bench/bench.h"

#include <string.h>

#include "evalcore/base/json.h"
#include "evalcore/bench/bench_device.h"
#include "evalcore/base/clock.h"

/* Names hold commas. */
static void csv_quote(struct str *s, const char *text)
{
    str_putc(s, '"');
    for (; *text; text++)
        str_puts(s, *text == '"' ? "\"\"" : (const char[]){*text, 0});
    str_putc(s, '"');
}

void bench_print(struct bench *b, const char *name, double value, const char *unit, double floor)
{
    struct str s = {0};
    str_puts(&s, "{\"name\": ");
    json_quote(&s, name, strlen(name));
    str_printf(&s, ", \"value\": %.6g, \"unit\": ", value);
    json_quote(&s, unit, strlen(unit));
    if (floor > 0)
        str_printf(&s, ", \"floor\": %.6g, \"share\": %.3f", floor, value / floor);
    else
        str_puts(&s, ", \"floor\": null, \"share\": null");
    str_puts(&s, ", \"command\": ");
    json_quote(&s, b->command, strlen(b->command));
    str_puts(&s, "}\n");
    fputs(str_text(&s), stdout);
    fflush(stdout);
    if (b->csv && !b->n_printed)
        fputs("name,value,unit,floor,share,command\n", b->csv);
    str_clear(&s);
    csv_quote(&s, name);
    str_printf(&s, ",%.6g,%s,", value, unit);
    if (floor > 0)
        str_printf(&s, "%.6g,%.3f,", floor, value / floor);
    else
        str_puts(&s, ",,");
    csv_quote(&s, b->command);
    if (b->csv)
        fprintf(b->csv, "%s\n", str_text(&s));
    b->n_printed++;
    str_release(&s);
}

/* ---- How long an operation takes among others of its kind (contract: bench_device.h). */

enum { REPLAYS = 21 };

int bench_replay(const struct bench_device *d, const void *mark, bench_enqueue_fn enqueue, void *context,
                 int n, double *seconds, struct err *e)
{
    struct op_graph *p = NULL;
    double t[REPLAYS];
    int32_t done;
    if (bench_check(d, enqueue(context, 0), e) || bench_check(d, d->be->capture_begin(d->dev), e))
        return e->code;
    for (int i = 0; i < n; i++)
        bench_check(d, enqueue(context, i), e);
    if (bench_check(d, d->be->capture_end(d->dev, &p), e))
        return e->code;
    for (int i = -2; i < REPLAYS && !e->code; i++) {
        double start = clock_seconds();
        bench_check(d, d->be->replay(d->dev, p), e);
        bench_check(d, d->be->download(d->dev, &done, mark, sizeof done), e);
        t[i < 0 ? 0 : i] = (clock_seconds() - start) / n;
    }
    d->be->graph_release(d->dev, p);
    *seconds = limits_median(t, REPLAYS);
    return e->code;
}

/* ---- The machine's limits as figures of their own, and the device that measures them. */

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
