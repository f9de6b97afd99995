#ifndef EVALCORE_BENCH_KV_H
#define EVALCORE_BENCH_KV_H

#include "evalcore/bench_device.h"

/* A one-layer cache full of random keys and values in scattered units, and buffers of one attention step:
 * what the benchmarks of attention and selection work on. */
struct bench_shape {
    int n_q, n_kv, dim, batch, context;
    enum dtype dtype;
};

struct bench_kv {
    struct bench_device d;
    struct bench_shape shape;
    struct kv_view kv;
    struct rows rows;
    struct plan plan;
    float *qkv, *out; /* queries, then keys and values, at row stride `stride` */
    int stride;
    void *owned[64];
    int n_owned;
};

/* d is open. */
int bench_kv_open(struct bench_kv *k, const struct bench_device *d, const struct bench_shape *s,
                  struct err *e);
void bench_kv_close(struct bench_kv *k);
/* Device memory that goes with the cache. */
void *bench_kv_room(struct bench_kv *k, size_t bytes, struct err *e);
int bench_kv_check(const struct bench_kv *k, int rc, struct err *e);

/* Bytes of K and V of so many tokens of each sequence. */
double bench_kv_bytes(const struct bench_shape *s, double tokens);

/* Median seconds of one of the n operations that `enqueue` launches, over replays of them all. */
typedef int (*bench_enqueue_fn)(void *context, int i);
int bench_replay(const struct bench_kv *k, bench_enqueue_fn enqueue, void *context, int n, double *seconds,
                 struct err *e);

#endif
