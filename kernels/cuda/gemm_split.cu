/* Products of few rows with a bf16 weight whose outputs alone would not fill the GPU: the blocks of a cluster
 * share the sum over k, and meet in shared memory in the order of k.
 *
 * A block takes 128 outputs for 64 rows: a warp copies tiles of both factors, two groups of four warps
 * multiply them (wgmma: 64 outputs x 64 rows x 16). Rows beyond the last are zeros, so that a row's bits are
 * the same for every number of rows. The weight's first tiles are asked for before the kernel that writes x
 * has ended. */
#include <cooperative_groups.h>
#include <cuda.h>
#include <string.h>

#include "kernels/cuda/gemm.cuh"
#include "kernels/cuda/math.cuh"
#include "kernels/cuda/ptx.cuh"

namespace cg = cooperative_groups;

enum { TILE_N = 128, TILE_M = 64, TILE_K = 64, STAGES = 4, MOST_SPLITS = 8, ENOUGH_BLOCKS = 96 };
enum { GROUPS = TILE_N / 64, GROUP_THREADS = 128, MATH = GROUPS * GROUP_THREADS, THREADS = MATH + WARP };
/* Bytes. Rows of a tile are 128 bytes, their 16-byte chunks rotated by the copy engine (its 128-byte
 * swizzle, which wgmma reads as it is; tiles begin at multiples of 1024). */
enum {
    ROW = TILE_K * 2,
    W_TILE = TILE_N * ROW,
    X_TILE = TILE_M * ROW,
    STAGE = W_TILE + X_TILE,
    ALIGN = 1024
};
enum { PITCH = TILE_N + 4 }; /* of sums in shared memory: no two lanes of a warp in the same bank */
static_assert(TILE_M * PITCH * 4 <= STAGES * STAGE, "sums lie where the tiles were");

struct split_args {
    CUtensorMap w, x;
    const float *bias;
    float *out;
    int n, rows, out_stride, accumulate, k_tiles;
};

struct bars {
    uint64_t full[STAGES], empty[STAGES];
};

/* ---- tensor cores */

/* Where a tile's rows lie, as wgmma is told: address, 1024 bytes from one group of 8 rows to the next,
 * 128-byte swizzle. */
static __device__ inline uint64_t tile_at(uint32_t address)
{
    return (uint64_t)(address >> 4 & 0x3fff) | (uint64_t)(1024 >> 4) << 32 | 1ull << 62;
}

/* c (64 x 64) = or += w (64 x 16) x' (16 x 64). A lane of warp i has rows 16i + lane / 4 (+ 8: the odd pairs)
 * and of each eight columns 2 (lane % 4) and the next. */
static __device__ inline void wgmma(float (&c)[32], uint64_t w, uint64_t x, int add)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "setp.ne.b32 p, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
                 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
                 "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, "
                 "%32, %33, p, 1, 1, 0, 0;\n"
                 "}"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]),
                   "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]),
                   "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]),
                   "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]),
                   "+f"(c[28]), "+f"(c[29]), "+f"(c[30]), "+f"(c[31])
                 : "l"(w), "l"(x), "r"(add));
#endif
}

static __device__ inline void wgmma_begin(void)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}

static __device__ inline void wgmma_end(void)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#endif
}

/* ---- the parts of a block */

/* One thread: n tiles of both factors from tile k0 on. */
static __device__ void copy_tiles(const struct split_args &a, struct bars *b, uint32_t ring, int k0, int n,
                                  int n0, int m0)
{
    int first = n < STAGES ? n : STAGES;
    for (int i = 0; i < first; i++) {
        barrier_expect(shared_address(&b->full[i]), STAGE);
        tensor_copy(ring + i * STAGE, &a.w, (k0 + i) * TILE_K, n0, shared_address(&b->full[i]));
    }
    wait_for_inputs();
    for (int i = 0; i < first; i++)
        tensor_copy(ring + i * STAGE + W_TILE, &a.x, (k0 + i) * TILE_K, m0, shared_address(&b->full[i]));
    for (int i = STAGES; i < n; i++) {
        int s = i % STAGES;
        uint32_t full = shared_address(&b->full[s]);
        barrier_wait(shared_address(&b->empty[s]), (i / STAGES - 1) & 1);
        barrier_expect(full, STAGE);
        tensor_copy(ring + s * STAGE, &a.w, (k0 + i) * TILE_K, n0, full);
        tensor_copy(ring + s * STAGE + W_TILE, &a.x, (k0 + i) * TILE_K, m0, full);
    }
}

/* A group of warps: its 64 of the outputs, all rows. */
static __device__ void add_tiles(struct bars *b, uint32_t ring, int n, float (&c)[32])
{
    uint32_t own = threadIdx.x / GROUP_THREADS * 64 * ROW;
    for (int i = 0; i < n; i++) {
        int s = i % STAGES;
        barrier_wait(shared_address(&b->full[s]), i / STAGES & 1);
        uint32_t w = ring + s * STAGE + own, x = ring + s * STAGE + W_TILE;
        wgmma_begin();
#pragma unroll
        for (int k = 0; k < TILE_K * 2; k += 32)
            wgmma(c, tile_at(w + k), tile_at(x + k), i || k);
        wgmma_end();
        if (threadIdx.x % WARP == 0)
            barrier_arrive(shared_address(&b->empty[s]));
    }
}

/* The group's sums as [row][output] into shared memory. */
static __device__ void lay_out(float *sums, const float (&c)[32])
{
    int lane = threadIdx.x % WARP, at = threadIdx.x / WARP * 16 + lane / 4;
#pragma unroll
    for (int i = 0; i < 32; i++)
        sums[(i / 4 * 8 + lane % 4 * 2 + (i & 1)) * PITCH + at + (i >> 1 & 1) * 8] = c[i];
}

/* This block's share of the rows: the sums of all blocks of the cluster, in the order of k. */
static __device__ void add_blocks(const struct split_args &a, float *sums, int n0, int m0)
{
    cg::cluster_group cluster = cg::this_cluster();
    int blocks = gridDim.x, per = TILE_M / blocks, first = blockIdx.x * per;
    for (int i = threadIdx.x; i < per * (TILE_N / 4); i += THREADS) {
        int m = first + i / (TILE_N / 4), f = i % (TILE_N / 4) * 4;
        if (m0 + m >= a.rows || n0 + f >= a.n)
            continue;
        float4 x[MOST_SPLITS], sum = make_float4(0, 0, 0, 0);
#pragma unroll
        for (int b = 0; b < MOST_SPLITS; b++)
            if (b < blocks)
                x[b] = *(const float4 *)(cluster.map_shared_rank(sums, b) + m * PITCH + f);
#pragma unroll
        for (int b = 0; b < MOST_SPLITS; b++)
            if (b < blocks)
                sum = make_float4(sum.x + x[b].x, sum.y + x[b].y, sum.z + x[b].z, sum.w + x[b].w);
        if (a.bias) {
            float4 bias = *(const float4 *)(a.bias + n0 + f);
            sum = make_float4(sum.x + bias.x, sum.y + bias.y, sum.z + bias.z, sum.w + bias.w);
        }
        float4 *to = (float4 *)(a.out + (size_t)(m0 + m) * a.out_stride + n0 + f);
        if (a.accumulate)
            sum = make_float4(to->x + sum.x, to->y + sum.y, to->z + sum.z, to->w + sum.w);
        *to = sum;
    }
}

/* x: blocks that share a sum (the cluster). y: outputs. z: rows. */
static __global__ void __launch_bounds__(THREADS, 2) split_kernel(const __grid_constant__ struct split_args a)
{
    extern __shared__ char room[];
    __shared__ struct bars b;
    char *shared = room + (ALIGN - shared_address(room) % ALIGN) % ALIGN;
    uint32_t ring = shared_address(shared);
    int from = a.k_tiles * blockIdx.x / gridDim.x, n = a.k_tiles * (blockIdx.x + 1) / gridDim.x - from;
    int n0 = blockIdx.y * TILE_N, m0 = blockIdx.z * TILE_M;
    float *sums = (float *)shared;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            barrier_init(shared_address(&b.full[i]), 1);
            barrier_init(shared_address(&b.empty[i]), MATH / WARP);
        }
        barrier_init_done();
    }
    __syncthreads();
    let_next_begin();
    if (threadIdx.x < MATH) {
        float c[32] = {};
        add_tiles(&b, ring, n, c);
        barrier_of(1, MATH); /* both groups have read the last tiles */
        lay_out(sums, c);
    } else if (threadIdx.x == MATH) {
        copy_tiles(a, &b, ring, from, n, n0, m0);
    }
    __syncwarp();
    wait_for_inputs(); /* every thread: what it adds to may be the last kernel's work */
    cg::this_cluster().sync();
    add_blocks(a, sums, n0, m0);
    cg::this_cluster().sync(); /* no block ends while its sums are read */
}

/* ---- host */

typedef CUresult (*encode_fn)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                              const cuuint64_t *, const cuuint32_t *, const cuuint32_t *,
                              CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                              CUtensorMapFloatOOBfill);

/* (rows, k) bf16, copied in tiles of `tile` rows and TILE_K columns; what lies outside is zero. */
static int describe(struct device *d, CUtensorMap *map, const void *p, int rows, int k, int stride, int tile)
{
    static encode_fn encode; /* the same for every thread that looks it up */
    enum cudaDriverEntryPointQueryResult found;
    if (!encode) {
        void *f = NULL;
        cudaError_t e =
            cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault, &found);
        if (e != cudaSuccess || !f)
            return cuda_error(d, BACKEND_ERR_UNSUPPORTED,
                              "the NVIDIA driver has no cuTensorMapEncodeTiled; update the driver");
        encode = (encode_fn)f;
    }
    cuuint64_t size[2] = {(cuuint64_t)k, (cuuint64_t)rows}, pitch[1] = {(cuuint64_t)stride * 2};
    cuuint32_t box[2] = {TILE_K, (cuuint32_t)tile}, step[2] = {1, 1};
    CUresult rc = encode(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, (void *)p, size, pitch, box, step,
                         CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                         CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (rc != CUDA_SUCCESS)
        return cuda_error(d, BACKEND_ERR_DEVICE, "describing a matrix of %d x %d failed with CUDA error %d",
                          rows, k, (int)rc);
    return 0;
}

/* Of the weight's shape alone: the order of a sum hangs on it. */
static int splits_of(int n, int k)
{
    int tiles = (n + TILE_N - 1) / TILE_N, splits = 1;
    while (splits < MOST_SPLITS && tiles * splits < ENOUGH_BLOCKS && 2 * splits * TILE_K <= k)
        splits *= 2;
    return splits;
}

int gemm_split_fits(const struct device *d, const struct weight *w)
{
    return d->wgmma && w->dtype == DTYPE_BF16 && gemm_fits(w) && (w->n + TILE_N - 1) / TILE_N < ENOUGH_BLOCKS;
}

int gemm_split_run(struct device *d, const struct product *p)
{
    struct split_args a;
    int bytes = STAGES * STAGE + ALIGN, splits = splits_of(p->n, p->k);
    memset(&a, 0, sizeof a);
    int rc = describe(d, &a.w, p->w, p->n, p->k, p->k, TILE_N);
    if (!rc)
        rc = describe(d, &a.x, p->x, p->rows, p->k, p->x_stride, TILE_M);
    if (!rc)
        rc = cuda_check(
            d, cudaFuncSetAttribute(split_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
            "linear");
    if (rc)
        return rc;
    a.bias = p->bias;
    a.out = p->out;
    a.n = p->n;
    a.rows = p->rows;
    a.out_stride = p->out_stride;
    a.accumulate = p->accumulate;
    a.k_tiles = (p->k + TILE_K - 1) / TILE_K;
    dim3 grid(splits, (p->n + TILE_N - 1) / TILE_N, (p->rows + TILE_M - 1) / TILE_M);
    return cuda_launch_early(d, OP_linear, split_kernel, grid, THREADS, bytes, splits, a);
}
