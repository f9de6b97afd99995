#ifndef TESTS_KERNELS_RIG_H
#define TESTS_KERNELS_RIG_H

#include "kernels/backend.h"
#include "tests/check.h"

/* A device, memory on it, and a cache with a plain mirror on the host. It uses only the backend's table of
 * functions, so it works with every backend; KVEVAL_TEST_BACKEND names one other than the CPU's. Any failure
 * here ends the test. */
struct rig {
    const struct backend *b;
    struct device *d;
    void *owned[1024];
    int n_owned;
    int apart;    /* rig_run waits until each operation has ended */
    int is_guest; /* the device is another rig's */
    uint64_t random;
};

/* isa NULL: the best instruction set. Returns 0 if this machine lacks the one that is named. */
int rig_open(struct rig *r, const char *isa, int threads);
void rig_close(struct rig *r);
/* Opens a rig with memory of its own on the device of another rig, which must be closed after this one. */
void rig_join(struct rig *r, const struct rig *host);
/* Runs the test on two threads with each instruction set, and prints a notice for those that this machine
 * lacks. */
void rig_each_isa(void (*test)(struct rig *r));

/* Small mode: is KVEVAL_TEST_SMALL=1 set? It is for tools that slow kernels down by orders of magnitude, like
 * compute-sanitizer --tool racecheck. Tests then use few, short rows and one instruction set. Every
 * operation, form of list and kernel template still runs, but for products by cuBLASLt; other lengths,
 * repetitions and statistics do not. */
int rig_small(void);
/* Reports that n cases of this kind were run. With n = 0 the test fails; in small mode a notice says how
 * many. */
void rig_ran(const char *kind, int n);

/* Does this backend feed bf16 factors to its matrix units? If so, a product with bf16 weights rounds the
 * other factor too, and decode attention splits that factor into two parts. */
int rig_rounds(const struct rig *r);
/* A GPU with our own products of decode steps, not one emulated on the CPU, which takes minutes for them? */
int rig_own_products(const struct rig *r);
/* Does attention to prompts in a bf16 cache round queries and weights to bf16? Plain kernels do not. */
int rig_rounds_weights(const struct rig *r, int head_dim);

float rig_uniform(struct rig *r);                 /* -1 .. 1 */
int rig_below(struct rig *r, int n);              /* 0 .. n-1 */
void rig_fill(struct rig *r, float *p, size_t n); /* host memory, uniform */
float rig_bf16(float x);                          /* rounded to bf16 */
/* Are the n bf16 numbers in this device array equal to the fp32 numbers `want`, rounded? */
int rig_is_rounded(struct rig *r, const void *half, const float *want, size_t n);

/* A gated unit as the operations define it, in double precision. */
double rig_glu(enum glu glu, double gate, double up);

void *rig_alloc(struct rig *r, size_t bytes); /* on the device, zeroed; released by rig_close */
void *rig_up(struct rig *r, const void *src, size_t bytes);
void rig_put(struct rig *r, void *dst, const void *src, size_t bytes);
void rig_get(struct rig *r, void *dst, const void *src, size_t bytes);
void rig_run(struct rig *r, enum op op, const void *args);

/* A random weight. `host` gets its (n, k) values exactly, and `host_bias`, if not NULL, its n biases. */
struct weight rig_weight(struct rig *r, int n, int k, enum dtype t, float *host, float *host_bias);
void rig_weight_free(struct rig *r, struct weight *w);

/* A cache of n_seqs sequences, and its mirror on the host: the values of each head and slot as the cache
 * holds them. */
struct cache {
    struct kv_view kv;
    int n_q, heads, max_slots;
    float *k, *v;  /* (heads, max_slots, head_dim) */
    uint8_t *live; /* (heads, max_slots) */
};
void cache_open(struct cache *c, struct rig *r, int n_seqs, int n_layers, int n_q, int n_kv, int d,
                int max_pages, enum dtype t);
void cache_close(struct cache *c);
/* Appends tokens at positions pos0 .. pos0+n-1 of a sequence to every layer, as prefill does. */
void cache_prefill(struct cache *c, struct rig *r, int seq, int pos0, int n);
/* Drops random tokens, each with probability percent/100, but never the one in the last slot. */
void cache_punch(struct cache *c, struct rig *r, int seq, int percent);
/* Checks that two caches hold the same, byte for byte. */
void cache_compare(struct rig *rx, const struct kv_view *x, struct rig *ry, const struct kv_view *y);
int cache_head(const struct cache *c, int seq, int layer, int kv_head);
int cache_slots(const struct cache *c, struct rig *r, int head);

#endif
