/* Whole decode steps under full attention at about 1k tokens of context, batch 1 and 32.
 *
 * The bound of a step: every matrix once from memory (or its products at FMA peak) and every sequence's K and
 * V once (or attention's products at FMA peak), each phase at its own limit, one after the other. Norms,
 * rotation, sampling and all hand-over between phases are not in the bound. */
#include <string.h>

#include "engine/engine.h"
#include "evalcore/base/arena.h"
#include "evalcore/base/rng.h"
#include "evalcore/bench_device.h"

enum { PROMPT = 960, STEPS = 128, RUNS = 4 };

struct limits {
    double bandwidth; /* bytes per second */
    double peak;      /* FLOP per second */
};

static double phase(double bytes, double flop, const struct limits *l)
{
    double a = bytes / l->bandwidth, b = flop / l->peak;
    return a > b ? a : b;
}

/* Seconds a step takes at least. ffn follows from the weights' size: everything else in it is known. */
static double bound(const struct engine_info *i, int batch, const struct limits *l)
{
    double context = PROMPT + STEPS / 2.0, kv_bytes = 4, d = i->head_dim;
    double kv = batch * context * i->n_layers * i->n_kv * 2 * d * kv_bytes;
    double attention_flop = batch * context * i->n_layers * i->n_q * 4 * d;
    double weights = (double)i->weight_bytes; /* bf16: two bytes a parameter, each used once a row */
    return phase(weights, weights * batch, l) + phase(kv, attention_flop, l);
}

static double step_bytes(const struct engine_info *i, int batch)
{
    double context = PROMPT + STEPS / 2.0;
    return (double)i->weight_bytes + batch * context * i->n_layers * i->n_kv * 2 * i->head_dim * 4;
}

static int submit(struct engine *en, struct policy *p, int batch, struct err *e)
{
    const struct engine_info *info = engine_info(en);
    int32_t prompt[PROMPT];
    struct rng r;
    for (int i = 0; i < batch; i++) {
        rng_init(&r, 1, (uint64_t)i);
        for (int t = 0; t < PROMPT; t++)
            prompt[t] = (int32_t)rng_below(&r, (uint32_t)info->vocab);
        struct request q = {.prompt = prompt,
                            .n_prompt = PROMPT,
                            .policy = p,
                            .max_new_tokens = STEPS,
                            .ignore_eos = 1,
                            .end_token = -1};
        if (engine_submit(en, &q, e))
            return e->code;
    }
    return 0;
}

/* Seconds of the median step once all sequences decode. */
static int measure(struct engine *en, struct policy *p, int batch, double *seconds, struct err *e)
{
    double step[STEPS];
    int n = 0;
    if (submit(en, p, batch, e))
        return e->code;
    while (engine_pending(en)) {
        const struct completion *c;
        struct engine_stats before, after;
        int n_done;
        engine_stats(en, &before);
        if (engine_step(en, &c, &n_done, e))
            return e->code;
        engine_stats(en, &after);
        if (after.decode_steps > before.decode_steps && n < STEPS)
            step[n++] = after.decode_seconds - before.decode_seconds;
    }
    *seconds = probe_median(step, n);
    return 0;
}

/* Runs and measurements of the bandwidth in turns; the best of each counts. */
static int compare(struct bench *b, struct bench_device *d, struct engine *en, struct policy *p, int batch,
                   struct err *e)
{
    struct limits l = {0, d->probe->peak(d->dev) * 1e9};
    double best = 0;
    for (int run = 0; run < RUNS; run++) {
        double s = 0,
               bandwidth = d->probe->read_bandwidth(d->dev, (size_t)step_bytes(engine_info(en), batch)) * 1e9;
        l.bandwidth = bandwidth > l.bandwidth ? bandwidth : l.bandwidth;
        if (measure(en, p, batch, &s, e))
            return e->code;
        best = !run || s < best ? s : best;
    }
    char name[96];
    snprintf(name, sizeof name, "decode %s batch %d context 1k", b->model, batch);
    bench_print(b, name, batch / best, "tok/s", batch / bound(engine_info(en), batch, &l));
    return 0;
}

int bench_decode(struct bench *b, struct err *e)
{
    int gpu = strcmp(b->device->backend, "cpu") != 0, batches[] = {1, gpu ? 64 : 32};
    struct bench_device d = {0};
    struct engine *en = NULL;
    struct arena a = {0};
    struct policy_spec spec;
    struct policy *p;
    struct engine_options o = {.model = b->model,
                               .backend = b->device->backend,
                               .ordinal = b->device->ordinal[0],
                               .threads = b->threads,
                               .isa = b->isa,
                               .share_prompts = -1,
                               .max_context = PROMPT + STEPS + 16};
    int rc = bench_device_open(&d, b, e);
    if (!rc)
        rc = engine_open(&en, &o, e);
    if (!rc)
        rc = policy_spec_text(&spec, "full", &a, e) || engine_policy(en, &spec, &p, e);
    for (size_t i = 0; i < sizeof batches / sizeof *batches && !rc; i++)
        rc = compare(b, &d, en, p, batches[i], e);
    engine_close(en);
    bench_device_close(&d);
    arena_release(&a);
    return rc ? e->code : 0;
}
