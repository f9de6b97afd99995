#ifndef KERNELS_CUDA_LINEAR_GEMM_TILES_CUH
#define KERNELS_CUDA_LINEAR_GEMM_TILES_CUH

/* The kernels for few rows (gemm_split.cu, gemm_gated_few.cu): tile shapes, and a warp-specialised pipeline.
 * One producer warp fills stages in shared memory by TMA copies; warpgroups are the consumers, which multiply
 * a stage by wgmma and give it back. */
#include "kernels/cuda/device/math.cuh"
#include "kernels/cuda/device/ptx.cuh"
#include "kernels/cuda/device/wgmma.cuh"
#include "kernels/cuda/linear/gemm_launch.cuh"

enum { WARPGROUP_N = 64, WARPGROUP = 4 * WARP };
enum { MAX_STAGES = 13, MAX_SPLITS = 8 };

/* Tile shape of one kernel (CUTLASS: its tile shape, cluster shape and number of stages). BLOCKS: thread
 * blocks of a cluster, which split k. N_GROUPS, N_WIDE: warpgroups along m (rows) and n (outputs).
 * GROUP_ROWS: rows of a warpgroup. N_STAGES: stages of the shared-memory pipeline. N_PARTS: split-k parts
 * inside a block. */
template <int BLOCKS, int N_GROUPS, int GROUP_ROWS, int N_STAGES, int N_WIDE = 1, int N_PARTS = 1>
struct tile_config {
    enum {
        GATED = 0, /* 1: the groups' outputs are gates and the ups that belong to them (gemm_gated_few.cu) */
        CLUSTER = BLOCKS,
        PARTS = N_PARTS,
        SPLITS = CLUSTER * PARTS,
        ROWS = GROUP_ROWS,
        SUMS = ROWS / 2, /* of a thread */
        WIDE = N_WIDE,
        TILE_N = WIDE * WARPGROUP_N,
        TILE_M = N_GROUPS * ROWS,
        MATH = WIDE * N_GROUPS * WARPGROUP,
        THREADS = MATH + WARP, /* and the producer warp */
        STAGES = N_STAGES,
        W_TILE = TILE_N * ROW,
        X_TILE = TILE_M * ROW,
        STAGE = W_TILE + X_TILE,
        PIPELINE_BYTES = STAGES * STAGE,
        SHARE = TILE_N / CLUSTER,                                /* outputs that a block adds */
        SENT = TILE_M * SHARE,                                   /* sums that it receives from each block */
        FOURS = (SENT / 4 + MATH - 1) / MATH,                    /* of these a thread adds four at a time */
        RECEIVED_BYTES = 4 * SENT * (CLUSTER > 1 ? CLUSTER : 0), /* bytes of smem in which they arrive */
        IN_PIPELINE = WIDE > 1, /* they arrive in the stages, when all blocks have read these */
        BYTES = ALIGN + (IN_PIPELINE ? (PIPELINE_BYTES > RECEIVED_BYTES ? PIPELINE_BYTES : RECEIVED_BYTES)
                                     : PIPELINE_BYTES + RECEIVED_BYTES),
        RESIDENT = BYTES > 113 * 1024 ? 1 : 2 /* blocks of an SM */
    };
    static_assert(SPLITS <= (int)MAX_SPLITS && SHARE % 8 == 0, "a warp sends to one block");
    static_assert(CLUSTER == 1 || MATH / 2 % SHARE == 0, "a thread adds one output of several rows");
    static_assert(STAGES <= (int)MAX_STAGES && BYTES <= 227 * 1024, "the pipeline fits");
};

/* ---- which sums are a thread's */

/* Return the first output and the first row of a thread's group in the tile. */
template <typename F> static __device__ inline int wide_of(void)
{
    return F::WIDE == 1 ? 0 : threadIdx.x / WARPGROUP % F::WIDE * WARPGROUP_N;
}

template <typename F> static __device__ inline int rows_of(void)
{
    return threadIdx.x / WARPGROUP / F::WIDE * F::ROWS;
}

/* Return which output of the tile a thread's sum i belongs to, and which of its group's rows. */
template <typename F> static __device__ inline int output_of(int i)
{
    return wide_of<F>() + threadIdx.x % WARPGROUP / WARP * 16 + threadIdx.x % WARP / 4 + (i >> 1 & 1) * 8;
}

static __device__ inline int row_of(int i)
{
    return i / 4 * 8 + threadIdx.x % 4 * 2 + (i & 1);
}

/* ---- the pipeline: producer and consumers */

struct bars {
    uint64_t full[MAX_STAGES], empty[MAX_STAGES];
};

/* The tiles of one block: k0 .. k0 + n - 1 along k, for rows from m0 on of x and outputs from n0 on of the
 * weight; for gates and ups, gates from n0 on and as many ups from n1 on. x_bytes: bytes of x in a stage. */
struct tiles {
    const CUtensorMap *w, *x; /* of the kernel's parameter */
    int k0, n, n0, n1, m0, x_bytes;
};

/* Producer: starts the copy of the weight's part of a stage. */
template <typename F>
static __device__ inline void copy_weight(const struct tiles &a, uint32_t to, int k, uint32_t full)
{
    barrier_expect(full, F::W_TILE + a.x_bytes);
    tma_tensor_copy(to, a.w, k * TILE_K, a.n0, full);
    if (F::GATED)
        tma_tensor_copy(to + F::W_TILE / 2, a.w, k * TILE_K, a.n1, full);
}

/* Producer, before anything else: initialises the mbarriers and fills the pipeline with the first tiles of
 * the weight. No kernel writes weights, so this needs no pdl_wait. */
template <typename F>
static __device__ void begin_copies(const struct tiles &a, struct bars *b, uint32_t pipeline)
{
    prefetch_tensor_map(a.w);
    prefetch_tensor_map(a.x);
    for (int i = 0; i < F::STAGES; i++) {
        barrier_init(shared_address(&b->full[i]), 1);
        barrier_init(shared_address(&b->empty[i]), F::MATH / WARP);
    }
    barrier_init_done();
    for (int i = 0; i < F::STAGES && i < a.n; i++)
        copy_weight<F>(a, pipeline + i * F::STAGE, a.k0 + i, shared_address(&b->full[i]));
}

/* Producer, after begin_copies(): the tiles of x, and all later tiles of both factors. */
template <typename F>
static __device__ void copy_tiles(const struct tiles &a, struct bars *b, uint32_t pipeline)
{
    pdl_wait();
    for (int i = 0; i < F::STAGES && i < a.n; i++)
        tma_tensor_copy(pipeline + i * F::STAGE + F::W_TILE, a.x, (a.k0 + i) * TILE_K, a.m0,
                        shared_address(&b->full[i]));
    for (int i = F::STAGES; i < a.n; i++) {
        int s = i % F::STAGES;
        uint32_t full = shared_address(&b->full[s]);
        barrier_wait(shared_address(&b->empty[s]), (i / F::STAGES - 1) & 1);
        copy_weight<F>(a, pipeline + s * F::STAGE, a.k0 + i, full);
        tma_tensor_copy(pipeline + s * F::STAGE + F::W_TILE, a.x, (a.k0 + i) * TILE_K, a.m0, full);
    }
}

/* Consumer: a warpgroup multiplies its outputs and rows of tiles first .. end - 1 of the block's n into c. A
 * stage that will be filled again is given back as soon as it has been read; where products take long, the
 * next ones are started before that. The last tiles follow each other without a wait. */
template <typename F>
static __device__ void add_tiles(struct bars *b, uint32_t pipeline, int first, int end, int n,
                                 float (&c)[F::SUMS])
{
    enum { BEHIND = F::TILE_M > 64 };
    uint32_t own_outputs = wide_of<F>() * ROW, own_rows = F::W_TILE + rows_of<F>() * ROW;
    hold_registers(c);
    for (int i = first; i < end; i++) {
        int s = i % F::STAGES, read = i - BEHIND;
        barrier_wait(shared_address(&b->full[s]), i / F::STAGES & 1);
        uint32_t w = pipeline + s * F::STAGE + own_outputs, x = pipeline + s * F::STAGE + own_rows;
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
    hold_registers(c);
}

#endif
