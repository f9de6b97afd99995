#ifndef TESTS_EMULATED_GRID_H
#define TESTS_EMULATED_GRID_H

#include <memory>
#include <stdint.h>
#include <vector>

#include "tests/emulated/emulated_device.h"
#include "tests/emulated/races.h"

/* The blocks and threads of running kernels, and which of them may go on. One thread of the host runs
 * everything. */

enum thread_state { READY, IN_WARP, IN_BLOCK, AT_BARRIER, IN_CLUSTER, FOR_INPUTS, ENDED };

struct warp;
struct block;

struct thread {
    void *sp;
    char *stack;
    dim3 index;
    bool in_cluster_phase; /* it has arrived at the cluster's barrier and not waited yet */
    struct block *block;
    struct warp *warp;
    int lane;
    enum thread_state state;
    const char *what;                           /* what it waits for */
    uint32_t barrier, parity;                   /* AT_BARRIER: shared address and parity */
    uint32_t cluster_phase;                     /* in which it arrived */
    unsigned exchanges;                         /* made so far */
    std::vector<struct copy> own_copies;        /* cp.async since the last arrival */
    std::vector<struct wgmma_product> products; /* wgmma products not yet waited for */
    unsigned wgmma_groups;                      /* of them, committed so far */
    struct observer races;
    bool reads_old; /* what it reads may be old, and it knows */
};

/* wgmma: c (+)= a tile times tile x, by this thread's share of it. */
struct wgmma_product {
    float *c;
    int n;            /* of c */
    uint64_t w;       /* the first tile, in shared memory; or else */
    float row[2][16]; /* the thread's two rows of it, from registers, x turned */
    bool registers;
    uint64_t x;
    int add;
    unsigned group; /* how many were committed before */
    bool done;
};

/* What a CUtensorMap (128 bytes) holds here: a bf16 matrix, copied by tiles of `rows` rows of `columns`, in
 * shared memory with the 128-byte swizzle or as they are. */
struct tensor {
    const char *p;
    uint64_t width, height, pitch; /* elements, rows, bytes */
    uint32_t columns, rows;
    bool swizzle;
};

/* A copy to shared memory that is under way, and which barrier it reports to when it lands. */
struct copy {
    uint32_t to, barrier, bytes;
    const void *from;
    struct tensor map; /* p NULL: bytes as they lie */
    int x, y;
    std::shared_ptr<int>
        group; /* copies that are one arrival together, how many are left; NULL: bytes count */
    struct observer by;
};

struct warp {
    struct thread *lane[EMULATED_LANES];
    int lazy;
    unsigned present, arrived; /* lanes that have not ended; lanes that wait in an exchange */
    const char *what;
    slot words[2][EMULATED_LANES];
};

struct cluster {
    int threads, arrived; /* that have not ended; in this phase */
    uint32_t phase;
    struct meeting races;
    std::vector<struct block *> blocks;
};

struct kernel {
    struct launch l;
    size_t next;          /* cluster to start */
    int blocks;           /* all of them */
    int ended, let_go;    /* blocks; those that let the next kernel begin, or ended */
    struct kernel *after; /* the kernel that must have ended for pdl_wait, or NULL */
    bool done;
    int lazy;
    uint32_t dynamic_at; /* where dynamic shared memory begins */
    size_t n_static;     /* bytes of static shared memory so far: which variable is where is the same in all
                            blocks */
    std::vector<const void *> keys;
    std::vector<uint32_t> places;
    struct kernel_races races;
};

struct block {
    std::shared_ptr<struct kernel> kernel;
    std::shared_ptr<struct cluster> cluster;
    dim3 index;
    int rank; /* in its cluster */
    std::vector<struct thread> threads;
    std::vector<struct warp> warps;
    int alive, arrived;
    bool all, result; /* __syncthreads_and: so far, of the last barrier */
    bool let_go, began;
    int lazy;                        /* here and below: how seldom it gets a turn, drawn anew for each */
    char *arena;                     /* dynamic shared memory, then static */
    std::vector<struct copy> copies; /* on their way */
    struct meeting together;         /* at __syncthreads */
    struct block_races races;
};

/* Where things are in an arena, and how much a block of compute capability 9.0 may have: 227 KiB. */
enum { ARENA = 1 << 18, STATIC_AT = 0x39800, MOST_SHARED = 232448 };
/* What fresh shared memory holds (NaN as fp32 and as bf16), and how far behind its end that is checked. */
enum { FILL = 0xf5, FENCE = 256, STACK_BYTES = 64 << 10, STACK_END = 0x5eed };

extern struct thread *running; /* NULL: the host */
extern size_t most_static;     /* bytes of static shared memory that any kernel has had */

/* runtime.cc: what a block of the emulated card may have, and dynamic shared memory that a kernel may have.
 */
size_t emulated_most_shared(void);
size_t emulated_limit(const void *kernel);
void thread_show(const struct thread *t); /* on standard error: where it is and what it waits for */
void thread_prepare(struct thread *t);    /* to begin on its stack */
void thread_run(struct thread *t);        /* until it waits or ends */
/* All threads of the block that wait for this may go on. */
void threads_wake(struct block *b, enum thread_state why);
/* The running thread waits. Returns when another thread has made it READY. */
void thread_wait(enum thread_state why, const char *what);
/* All threads of the block that wait at this barrier and phase look again. */
void barrier_changed(struct block *b, uint32_t barrier);
/* The block allows the next kernel to begin, unless it has done so before. */
void block_let_go(struct block *b);
/* One more thread has come to the end of the cluster's phase. */
void cluster_arrived(struct cluster *c);
/* ptx.cc: the copy lands and reports to its barrier. */
void copy_land(struct block *b, const struct copy *c);

/* Kernels that run at the same time: one, and those after it that began early. */
struct grids {
    std::vector<std::shared_ptr<struct kernel>> kernels; /* in order */
    std::vector<std::unique_ptr<struct block>> blocks;   /* begun and not yet ended */
};
void grid_add(struct grids *g, const struct launch &l, const struct place &at);
bool grid_may_add_early(const struct grids *g);
/* Lets something happen, or ends the test when nothing can. */
void grid_step(struct grids *g);
uint32_t grid_random(void);

#endif
