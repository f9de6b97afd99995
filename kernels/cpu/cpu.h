#ifndef KERNELS_CPU_CPU_H
#define KERNELS_CPU_CPU_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/backend.h"
#include "kernels/fault.h"

/* What the files of the CPU backend share. A graph is a list of items. One parallel region runs the whole
 * list: every thread calls every item, and inside an item the threads take numbered tasks (cpu_take). The
 * result does not depend on which thread does a task. */
struct cpu_share {
    _Alignas(64) atomic_ullong taken; /* phase << 32 | tasks given out in it */
};

struct cpu_team {
    struct cpu_share *share; /* one for each thread */
    _Alignas(64) atomic_int arrived;
    _Alignas(64) atomic_uint phase; /* never reset between graphs, so that an old share can be recognised */
};

struct cpu_ctx {
    struct cpu_team *team;
    void *workspace; /* of the device, at least cpu_workspace_bytes() of the item */
    int tid, n;      /* this thread, threads */
    int ticket;      /* tasks taken, when n is 1 */
    int helped;      /* the share we take tasks from is that of the thread this far after ours; 0: our own */
    unsigned phase;  /* barriers passed */
};

/* Takes a task of this phase and returns its number, 0 .. tasks-1, or -1 when all are taken. A thread begins
 * with its own share, which is the same each time the item runs, so that its weights and pages stay in its
 * caches. Then it helps the other threads. */
int cpu_take_of_team(struct cpu_ctx *c, int tasks);
static inline int cpu_take(struct cpu_ctx *c, int tasks)
{
    if (c->n == 1)
        return c->ticket < tasks ? c->ticket++ : -1;
    return cpu_take_of_team(c, tasks);
}
/* Ends a phase: waits for all threads, then numbers the tasks from 0 again. */
void cpu_barrier(struct cpu_ctx *c);

typedef void (*cpu_op_fn)(const void *args, struct cpu_ctx *c);
typedef double (*cpu_read_fn)(const float *p, size_t n);
typedef double (*cpu_fma_fn)(long rounds);

/* What one instruction set provides. */
struct cpu_isa {
    const char *name;
    cpu_op_fn op[OP_COUNT];
    cpu_read_fn peak_read; /* adds up n floats (a multiple of 64) */
    cpu_fma_fn peak_fma;   /* does `rounds` times peak_flop floating point operations */
    double peak_flop;
};
/* Returns instruction set i that was compiled, best first, whether this processor has it or not; NULL past
 * the end. */
const struct cpu_isa *cpu_isa_at(int i);
/* Returns 1 if this processor has the instruction set, else 0. */
int cpu_isa_supported(const struct cpu_isa *isa);

struct cpu_item {
    cpu_op_fn fn;
    void *args;
    int serial; /* too small to share: thread 0 runs it alone */
};

struct op_graph {
    struct cpu_item *item;
    int n, capacity;
};

struct device {
    const struct cpu_isa *isa;
    int threads;
    struct cpu_team team;
    void *workspace;
    size_t workspace_bytes;
    struct op_graph *capturing;
    char landed[BACKEND_STAGING_BUFFERS][BACKEND_STAGING_BYTES];
    struct fault fault;
    char name[64], error[256];
};

/* Returns memory, 64-byte aligned and zeroed, or NULL when there is none; large blocks are mapped, so that
 * untouched pages cost nothing. cpu_release() frees it; NULL is allowed. */
void *cpu_alloc(size_t bytes);
void cpu_release(void *p);

/* These are the functions of the same names in struct backend; backend.h has their contracts. */
int cpu_weight_alloc(struct device *d, struct weight *w, int n, int k, enum dtype dtype, int with_bias);
int cpu_weight_put(struct device *d, struct weight *w, int row0, int n_rows, enum dtype src_dtype,
                   const void *src);
void cpu_weight_release(struct device *d, struct weight *w);

int cpu_launch(struct device *d, enum op op, const void *args);
int cpu_capture_begin(struct device *d);
int cpu_capture_end(struct device *d, struct op_graph **out);
int cpu_replay(struct device *d, struct op_graph *p);
void cpu_graph_release(struct device *d, struct op_graph *p);
int cpu_branch(struct device *d);
int cpu_join(struct device *d);

/* Returns the bytes of workspace that the operation needs with this many threads. */
size_t cpu_workspace_bytes(enum op op, const void *args, int threads);
/* Returns roughly how many elementary steps the operation takes. Operations with few are not shared between
 * threads. */
double cpu_work(enum op op, const void *args);
/* Sets the sentence that last_error() gives and returns code. */
int cpu_error(struct device *d, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

extern const struct backend cpu_backend;
extern const struct limits cpu_limits; /* cpu_limits.c */

/* ---- the cache: where things are */

/* Returns the index of a head in the tables of the cache (backend.h: head). */
static inline size_t kv_head(const struct kv_view *kv, int seq, int layer, int kv_head_index)
{
    return ((size_t)seq * (size_t)kv->n_layers + (size_t)layer) * (size_t)kv->n_kv + (size_t)kv_head_index;
}
/* K of a KV block is [head_dim][16 tokens]; V follows as [head_dim / 16][16 tokens][16]. The vector lanes are
 * thus tokens in q.K and dimensions in the sum over V, and both are read front to back. Lanes of bf16 are
 * stored in pairs (simd.h). These return the addresses of a KV block's K and V in the pool. */
static inline char *kv_block_k(const struct kv_view *kv, int kv_block)
{
    return (char *)kv->pool +
           (size_t)kv_block * 2 * KV_PAGE_TOKENS * (size_t)kv->head_dim * dtype_bytes(kv->dtype);
}
static inline char *kv_block_v(const struct kv_view *kv, int kv_block)
{
    return kv_block_k(kv, kv_block) + KV_PAGE_TOKENS * (size_t)kv->head_dim * dtype_bytes(kv->dtype);
}
/* Returns the slot that the next token of a head takes (see append_args): n_slots[head], or a free one below
 * it. */
int cpu_next_slot(const struct kv_view *kv, size_t head);

/* Returns 1 if a linear layer packs x into panels first. It does for many long rows: their starts may share
 * cache sets. */
static inline int linear_packs(const struct linear_args *a)
{
    return a->rows > 12 && a->w.k >= 1024;
}

/* Split-KV on the CPU: attention cuts a head's pages into splits of this many pages. The cuts are at fixed
 * page numbers, whatever the list, so that a query head's result depends on the tokens that it reads and not
 * on what the rest of its group reads. */
enum { ATTEND_SPLIT_PAGES = 32, ATTEND_SPLIT_TOKENS = ATTEND_SPLIT_PAGES * KV_PAGE_TOKENS };

/* Number of float buffers, indexed by slot, in a thread's workspace. WINDOW_BUFFERS, of window_mass: the
 * logits of WINDOW_QUERIES queries, and a sum. REDUNDANCY_BUFFERS, of key_redundancy: norms, a row of
 * products, and a sum. */
enum { WINDOW_QUERIES = 4, WINDOW_BUFFERS = WINDOW_QUERIES + 1, REDUNDANCY_BUFFERS = 3 };

#endif
