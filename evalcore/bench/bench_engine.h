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
    double peak;      /* FLOP per second */
    double bandwidth; /* of a GPU's memory, bytes per second; 0 on the CPU, where it depends on the bytes */
};

/* Number of sequences: b->batch, or where that is 0 the default for the device (64 on a GPU, 32 on the CPU).
 */
int bench_batch(const struct bench *b);

/* Opens b's device, measures its limits and opens an engine with b->model and b->policy (NULL: full), for at
 * most `batch` sequences of `context` tokens. Returns 0; ERR_USAGE for a policy or device that does not
 * exist; ERR_DEVICE when the device or a limit fails; or a code of engine_open(). Call bench_engine_close()
 * in any case. */
int bench_engine_open(struct bench_engine *x, const struct bench *b, int batch, int context,
                      int share_prompts, struct err *e);
void bench_engine_close(struct bench_engine *x);

/* Submits `batch` sequences of n_prompt random tokens (same: one prompt for all of them) that end after
 * max_new tokens. Returns 0, a code of engine_submit() or engine_step(), or ERR_DEVICE when a sequence ends
 * already. With `spread` they are submitted over `spread` steps at equal distances, so that the first is
 * `spread` steps ahead of the last. */
int bench_submit(struct bench_engine *x, int batch, int n_prompt, int same, int max_new, int spread,
                 struct err *e);

/* Runs `steps` steps, two or more, and fills *w. All submitted sequences must be decoding together: ERR_USAGE
 * when the KV cache does not hold them, ERR_DEVICE when one ends, or a code of engine_step(). seconds: the
 * mean step, of all but the first. bytes: of K and V, page bounds included, that one step reads, as the
 * engine counts them. */
struct bench_window {
    double seconds, bytes;
};
int bench_window(struct bench_engine *x, int steps, struct bench_window *w, struct err *e);

/* Measured read bandwidth in bytes per second, for a working set of the bytes of a step: the weights and
 * kv_bytes. */
double bench_bandwidth(const struct bench_engine *x, double kv_bytes);

/* The lower bound of the seconds of a step of `batch` rows: every matrix once from memory (or its products at
 * peak), then the bytes of K and V (or attention's products at peak), each phase at its own limit, one after
 * the other. Norms, rotation, selection, sampling and all hand-over between phases are not in the bound. */
double bench_step_bound(const struct bench_engine *x, int batch, double kv_bytes, double bandwidth);

#endif
