/* Whole decode steps under full attention at about 1k tokens of context, batch 1 and 32 (64 on a GPU); with
 * --tokens another measurement, bench_length.c. */
#include "evalcore/bench/bench_engine.h"

enum { PROMPT = 960, STEPS = 128, RUNS = 4 };

/* Seconds of the median step once all sequences decode. */
static int measure_step(struct bench_engine *x, int batch, double *seconds, struct err *e)
{
    double step[STEPS];
    int n = 0;
    if (bench_submit(x, batch, PROMPT, 0, STEPS, 0, e))
        return e->code;
    while (engine_pending(x->en)) {
        const struct completion *c;
        struct engine_stats before, after;
        int n_done;
        engine_stats(x->en, &before);
        if (engine_step(x->en, &c, &n_done, e))
            return e->code;
        engine_stats(x->en, &after);
        if (after.decode_steps > before.decode_steps && n < STEPS)
            step[n++] = after.decode_seconds - before.decode_seconds;
    }
    *seconds = limits_median(step, n);
    return 0;
}

/* Runs and measurements of the bandwidth in turns; the best of each counts. */
static int compare_with_bandwidth(struct bench *b, struct bench_engine *x, int batch, struct err *e)
{
    double best = 0, bandwidth = 0;
    double kv = batch * (PROMPT + STEPS / 2.0) * (double)engine_info(x->en)->kv_token_bytes;
    for (int run = 0; run < RUNS; run++) {
        double s = 0, now = bench_bandwidth(x, kv);
        bandwidth = now > bandwidth ? now : bandwidth;
        if (measure_step(x, batch, &s, e))
            return e->code;
        best = !run || s < best ? s : best;
    }
    char name[160];
    snprintf(name, sizeof name, "decode %s batch %d context 1k", b->model, batch);
    bench_print(b, name, batch / best, "tok/s", batch / bench_step_bound(x, batch, kv, bandwidth));
    return 0;
}

int bench_decode(struct bench *b, struct err *e)
{
    if (b->tokens)
        return bench_length(b, e);
    if (b->policy || b->batch || b->sampled)
        return err_set(e, ERR_USAGE, "decode: --policy, --batch and --sampled go with --tokens");
    int batches[] = {1, bench_batch(b)};
    struct bench_engine x;
    int rc = bench_engine_open(&x, b, 0, PROMPT + STEPS + 16, -1, e);
    for (size_t i = 0; i < sizeof batches / sizeof *batches && !rc; i++)
        rc = compare_with_bandwidth(b, &x, batches[i], e);
    bench_engine_close(&x);
    return rc ? e->code : 0;
}
