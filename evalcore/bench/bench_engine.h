#ifndef EVALCORE_BENCH_BENCH_ENGINE_H
#define EVALCORE_BENCH_BENCH_ENGINE_H

#include "engine/engine.h"
#include "evalcore/base/arena.h"
#include "evalcore/bench/bench_device.h"

/* An engine under measurement, beside the device on which the limits are measured. */
struct bench_engine {
    struct bench_device d;
    struct engine *en;
    struct policy *policy;
    struct arena arena;
    double peak; /* FLOP per second */
};

/* Number of sequences: b->batch, or the default for the device. */
int bench_batch(const struct bench *b);

/* b->policy or full; at most `batch` sequences of `context` tokens. */
int bench_engine_open(struct bench_engine *x, const struct bench *b, int batch, int context,
                      int share_prompts, struct err *e);
void bench_engine_close(struct bench_engine *x);

/* `batch` sequences of random tokens (same: one prompt for all of them). With `spread` they are submitted
 * over `spread` steps at equal distances, so that the first is `spread` steps ahead of the last. */
int bench_submit(struct bench_engine *x, int batch, int n_prompt, int same, int max_new, int spread,
                 struct err *e);

/* Two steps or more from now on: all submitted sequences must be decoding together. seconds: the mean step,
 * of all but the first. bytes: of K and V, page bounds included, that one step reads, as the engine counts
 * them. */
struct bench_window {
    double seconds, bytes;
};
int bench_window(struct bench_engine *x, int steps, struct bench_window *w, struct err *e);

/* Bytes per second, by the bytes of a step: of the weights alone where kv_bytes is 0. */
double bench_bandwidth(const struct bench_engine *x, double kv_bytes);

/* The lower bound of the seconds of a step of `batch` rows: every matrix once from memory (or its products at
 * peak), then the bytes of K and V (or attention's products at peak), each phase at its own limit, one after
 * the other. Norms, rotation, selection, sampling and all hand-over between phases are not in the bound. */
double bench_step_bound(const struct bench_engine *x, int batch, double kv_bytes, double bandwidth);

#endif
