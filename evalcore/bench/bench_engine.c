/* See bench_engine.h. */
#include "evalcore/bench/bench_engine.h"

#include <stdlib.h>

#include "evalcore/base/rng.h"

int bench_batch(const struct bench *b)
{
    return b->batch ? b->batch : b->device->is_gpu ? 64 : 32;
}

/* While memory is free. A GPU's bandwidth is its memory's, whatever a step reads. */
static int measure_limits(struct bench_engine *x, int is_gpu, struct err *e)
{
    x->peak = x->d.limits->peak(x->d.dev) * 1e9;
    if (is_gpu)
        x->bandwidth = x->d.limits->read_bandwidth(x->d.dev, 0) * 1e9;
    if (x->peak > 0 && (x->bandwidth > 0 || !is_gpu))
        return 0;
    const char *why = x->d.be->last_error(x->d.dev);
    return err_set(e, ERR_DEVICE,
                   "the limits beside which figures stand could not be measured%s%s; "
                   "is the device's memory free?",
                   *why ? ": " : "", why);
}

int bench_engine_open(struct bench_engine *x, const struct bench *b, int batch, int context,
                      int share_prompts, struct err *e)
{
    struct policy_spec spec;
    struct engine_options o = {.model = b->model,
                               .backend = b->device->backend,
                               .ordinal = b->device->ordinal[0],
                               .threads = b->threads,
                               .isa = b->isa,
                               .share_prompts = share_prompts,
                               .max_batch = batch,
                               .max_context = context};
    *x = (struct bench_engine){.peak = 0};
    int rc = policy_spec_text(&spec, b->policy ? b->policy : "full", &x->arena, e);
    if (!rc)
        rc = bench_device_open(&x->d, b, e);
    if (!rc)
        rc = measure_limits(x, b->device->is_gpu, e);
    if (!rc)
        rc = engine_open(&x->en, &o, e);
    return rc ? rc : engine_policy(x->en, &spec, &x->policy, e);
}

void bench_engine_close(struct bench_engine *x)
{
    engine_close(x->en);
    bench_device_close(&x->d);
    arena_release(&x->arena);
}

static int run_steps(struct bench_engine *x, int steps, struct err *e)
{
    for (int i = 0; i < steps; i++) {
        const struct completion *c;
        int n = 0;
        if (engine_step(x->en, &c, &n, e))
            return e->code;
        if (n)
            return err_set(e, ERR_DEVICE, "a sequence ended while it was measured%s%s", c->error ? ": " : "",
                           c->error ? c->error : "");
    }
    return 0;
}

int bench_submit(struct bench_engine *x, int batch, int n_prompt, int same, int max_new, int spread,
                 struct err *e)
{
    int32_t *prompt = xmalloc((size_t)n_prompt * sizeof *prompt);
    struct rng r;
    for (int i = 0; i < batch && !e->code; i++) {
        rng_init(&r, 1, same ? 0 : (uint64_t)i);
        for (int t = 0; t < n_prompt; t++)
            prompt[t] = (int32_t)rng_below(&r, (uint32_t)engine_info(x->en)->vocab);
        struct request q = {.prompt = prompt,
                            .n_prompt = n_prompt,
                            .policy = x->policy,
                            .max_new_tokens = max_new,
                            .ignore_eos = 1,
                            .end_token = -1};
        engine_submit(x->en, &q, e);
        if (!e->code)
            run_steps(x, (i + 1) * spread / batch - i * spread / batch, e);
    }
    free(prompt);
    return e->code;
}

/* Reading the counters waits for the step in flight. The first engine_step then finds it done and takes
 * almost no time; from the second on each waits for one whole step. So the first is left out. */
int bench_window(struct bench_engine *x, int steps, struct bench_window *w, struct err *e)
{
    struct engine_stats before, after;
    double read = 0;
    if (engine_read_bytes(x->en, &read, e) || run_steps(x, 1, e))
        return e->code;
    engine_stats(x->en, &before);
    if (run_steps(x, steps - 1, e))
        return e->code;
    engine_stats(x->en, &after);
    if (engine_waiting(x->en) || after.preemptions)
        return err_set(e, ERR_USAGE,
                       "the KV cache does not hold %d sequences of this length together; use a smaller "
                       "--batch or --tokens",
                       engine_pending(x->en));
    if (engine_read_bytes(x->en, &w->bytes, e))
        return e->code;
    w->seconds = (after.decode_seconds - before.decode_seconds) / (steps - 1);
    w->bytes = (w->bytes - read) / steps;
    return 0;
}

double bench_bandwidth(const struct bench_engine *x, double kv_bytes)
{
    const double max_bytes = 1 << 30; /* as good as endless, and the memory may be the cache's */
    double bytes = (double)engine_info(x->en)->step_bytes + kv_bytes;
    if (x->bandwidth > 0)
        return x->bandwidth;
    return x->d.limits->read_bandwidth(x->d.dev, (size_t)(bytes < max_bytes ? bytes : max_bytes)) * 1e9;
}

static double phase_seconds(double bytes, double flop, double bandwidth, double peak)
{
    double a = bytes / bandwidth, b = flop / peak;
    return a > b ? a : b;
}

double bench_step_bound(const struct bench_engine *x, int batch, double kv_bytes, double bandwidth)
{
    const struct engine_info *i = engine_info(x->en);
    double weights = (double)i->step_bytes, values = (double)i->layer_values + (double)i->vocab * i->hidden;
    double tokens = kv_bytes / (double)i->kv_token_bytes;
    return phase_seconds(weights, 2 * values * batch, bandwidth, x->peak) +
           phase_seconds(kv_bytes, tokens * i->n_layers * i->n_q * 4 * i->head_dim, bandwidth, x->peak);
}
