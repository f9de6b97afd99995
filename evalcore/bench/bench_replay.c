/* How long an operation takes among others of its kind (contract: bench_device.h). */
#include "evalcore/base/clock.h"
#include "evalcore/bench/bench_device.h"

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
