#ifndef EVALCORE_BENCH_BENCH_CACHE_H
#define EVALCORE_BENCH_BENCH_CACHE_H

#include "evalcore/bench/bench_device.h"

/* A cache full of random keys and values in scattered KV blocks, and buffers of one attention step: what the
 * benchmarks of attention and selection work on. */
struct bench_shape {
    int n_q, n_kv, dim, batch, context;
    enum dtype dtype;
    int pages_in_order; /* KV blocks of a sequence follow each other in memory; 0: they are scattered */
    int layers;
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

/* A table of cases, rows of `size` bytes that begin with the case's shape. Each runs on a cache of that
 * shape, which it shares with those beside it of the same one. */
struct bench_cases {
    const void *row;
    size_t n, size;
};
typedef int (*bench_case_fn)(struct bench *b, struct bench_kv *k, const void *row, struct err *e);
#define BENCH_CASES(rows) ((struct bench_cases){(rows), sizeof(rows) / sizeof *(rows), sizeof *(rows)})
/* Opens b's device and runs the cases for it (gpu or cpu), in order, up to the first error. Returns 0 or a
 * negative ERR_ code: of bench_device_open(), of a case, or ERR_DEVICE without memory for a cache. e may not
 * be NULL. */
int bench_kv_run(struct bench *b, struct bench_cases cpu, struct bench_cases gpu, bench_case_fn run,
                 struct err *e);

/* Device memory that is released after the case. NULL when there is none, and e is set to ERR_DEVICE; NULL
 * too when e holds an error already. At most 64 a case, those of the cache included. */
void *bench_kv_alloc(struct bench_kv *k, size_t bytes, struct err *e);
/* bench_check() for the device of the cache. */
int bench_kv_check(const struct bench_kv *k, int rc, struct err *e);

/* Bytes of K and V in one layer when each sequence of the batch has this number of tokens. */
double bench_kv_bytes(const struct bench_shape *s, double tokens);

#endif
