#ifndef KERNELS_CUDA_LINEAR_GEMM_TILES_CUH
#define KERNELS_CUDA_LINEAR_GEMM_TILES_CUH

/* The kernels for few rows (gemm_split.cu, gemm_gated_few.cu): how a block divides its tile, copies it and
 * multiplies it, and which sums a thread has. */
#include "kernels/cuda/device/math.cuh"
#include "kernels/cuda/device/ptx.cuh"
#include "kernels/cuda/device/wgmma.cuh"
#include "kernels/cuda/linear/gemm_launch.cuh"

enum { GROUP_N = 64, FOUR_WARPS = 4 * WARP };
enum { MOST_STAGES = 13, MOST_SPLITS = 8 };

/* What follows from the number of blocks that share a sum, of groups of four warps with other rows and with
 * other outputs, of the rows of each, of tiles that a block has asked for, and of the parts of a sum that it
 * makes itself. */
template <int BLOCKS, int N_GROUPS, int GROUP_ROWS, int N_STAGES, int N_WIDE = 1, int N_PARTS = 1>
struct form {
    enum {
        GATED = 0, /* 1: the groups' outputs are gates and the ups that belong to them (gemm_gated_few.cu) */
        CLUSTER = BLOCKS,
        PARTS = N_PARTS,
        SPLITS = CLUSTER * PARTS,
        ROWS = GROUP_ROWS,
        SUMS = ROWS / 2, /* of a thread */
        WIDE = N_WIDE,
        TILE_N = WIDE * GROUP_N,
        TILE_M = N_GROUPS * ROWS,
        MATH = WIDE * N_GROUPS * FOUR_WARPS,
        THREADS = MATH + WARP, /* a warp copies */
        STAGES = N_STAGES,
        W_TILE = TILE_N * ROW,
        X_TILE = TILE_M * ROW,
        STAGE = W_TILE + X_TILE,
        RING = STAGES * STAGE,
        SHARE = TILE_N / CLUSTER,                      /* outputs that a block adds */
        SENT = TILE_M * SHARE,                         /* sums that it gets of each block */
        FOURS = (SENT / 4 + MATH - 1) / MATH,          /* of them four at a time, a thread */
        ROOM = 4 * SENT * (CLUSTER > 1 ? CLUSTER : 0), /* bytes: where they arrive */
        IN_RING = WIDE > 1, /* they arrive there, when all blocks are done with it */
        BYTES = ALIGN + (IN_RING ? (RING > ROOM ? RING : ROOM) : RING + ROOM),
        RESIDENT = BYTES > 113 * 1024 ? 1 : 2 /* blocks of a multiprocessor */
    };
    static_assert(SPLITS <= (int)MOST_SPLITS && SHARE % 8 == 0, "a warp sends to one block");
    static_assert(CLUSTER == 1 || MATH / 2 % SHARE == 0, "a thread adds one output of several rows");
    static_assert(STAGES <= (int)MOST_STAGES && BYTES <= 227 * 1024, "the ring has room");
};

/* ---- which sums are a thread's */

/* The first output and row of a thread's group in the tile. */
template <typename F> static __device__ inline int wide_of(void)
{
    return F::WIDE == 1 ? 0 : threadIdx.x / FOUR_WARPS % F::WIDE * GROUP_N;
}

template <typename F> static __device__ inline int rows_of(void)
{
    return threadIdx.x / FOUR_WARPS / F::WIDE * F::ROWS;
}

/* Which output of the tile a thread's sum i is of, and which of its group's rows. */
template <typename F> static __device__ inline int output_of(int i)
{
    return wide_of<F>() + threadIdx.x % FOUR_WARPS / WARP * 16 + threadIdx.x % WARP / 4 + (i >> 1 & 1) * 8;
}

static __device__ inline int row_of(int i)
{
    return i / 4 * 8 + threadIdx.x % 4 * 2 + (i & 1);
}

/* ---- copies and products */

struct bars {
    uint64_t full[MOST_STAGES], empty[MOST_STAGES];
};

/* Of one block: tiles k0 .. k0 + n - 1 of k, for rows m0 .. of x and outputs n0 .. of the weight, or, for
 * gates and ups, gates from n0 on and as many ups from n1 on. x_bytes: of each of x's. */
struct tiles {
    const CUtensorMap *w, *x; /* of the kernel's parameter */
    int k0, n, n0, n1, m0, x_bytes;
};

/* The weight's part of a stage. */
template <typename F>
static __device__ inline void copy_weight(const struct tiles &a, uint32_t to, int k, uint32_t full)
{
    barrier_expect(full, F::W_TILE + a.x_bytes);
    tensor_copy(to, a.w, k * TILE_K, a.n0, full);
    if (F::GATED)
        tensor_copy(to + F::W_TILE / 2, a.w, k * TILE_K, a.n1, full);
}

/* What the copying thread does before anything else: the barriers, and the first tiles of the weight, which
 * no kernel writes. */
template <typename F>
static __device__ void begin_copies(const struct tiles &a, struct bars *b, uint32_t ring)
{
    tensor_map_soon(a.w);
    tensor_map_soon(a.x);
    for (int i = 0; i < F::STAGES; i++) {
        barrier_init(shared_address(&b->full[i]), 1);
        barrier_init(shared_address(&b->empty[i]), F::MATH / WARP);
    }
    barrier_init_done();
    for (int i = 0; i < F::STAGES && i < a.n; i++)
        copy_weight<F>(a, ring + i * F::STAGE, a.k0 + i, shared_address(&b->full[i]));
}

/* The same thread: the rest of both factors. */
template <typename F> static __device__ void copy_tiles(const struct tiles &a, struct bars *b, uint32_t ring)
{
    wait_for_inputs();
    for (int i = 0; i < F::STAGES && i < a.n; i++)
        tensor_copy(ring + i * F::STAGE + F::W_TILE, a.x, (a.k0 + i) * TILE_K, a.m0,
                    shared_address(&b->full[i]));
    for (int i = F::STAGES; i < a.n; i++) {
        int s = i % F::STAGES;
        uint32_t full = shared_address(&b->full[s]);
        barrier_wait(shared_address(&b->empty[s]), (i / F::STAGES - 1) & 1);
        copy_weight<F>(a, ring + s * F::STAGE, a.k0 + i, full);
        tensor_copy(ring + s * F::STAGE + F::W_TILE, a.x, (a.k0 + i) * TILE_K, a.m0, full);
    }
}

/* A group: its outputs and its rows, tiles first .. end - 1 of the block's n. A stage that is asked for again
 * is given back as soon as it has been read; where its products take long, the next ones are begun before
 * that. The last tiles follow each other without a wait. */
template <typename F>
static __device__ void add_tiles(struct bars *b, uint32_t ring, int first, int end, int n,
                                 float (&c)[F::SUMS])
{
    enum { BEHIND = F::TILE_M > 64 };
    uint32_t own_outputs = wide_of<F>() * ROW, own_rows = F::W_TILE + rows_of<F>() * ROW;
    hold(c);
    for (int i = first; i < end; i++) {
        int s = i % F::STAGES, read = i - BEHIND;
        barrier_wait(shared_address(&b->full[s]), i / F::STAGES & 1);
        uint32_t w = ring + s * F::STAGE + own_outputs, x = ring + s * F::STAGE + own_rows;
        wgmma_begin();
#pragma unroll
        for (int k = 0; k < TILE_K * 2; k += 32)
            wgmma(c, tile_at(w + k), tile_at(x + k), i > first || k);
        wgmma_commit();
        if (read < 0 || read + F::STAGES >= n)
            continue;
        if (BEHIND)
            wgmma_wait_but_one();
        else
            wgmma_wait();
        if (threadIdx.x % WARP == 0)
            barrier_arrive(shared_address(&b->empty[read % F::STAGES]));
    }
    wgmma_wait();
    hold(c);
}

#endif
