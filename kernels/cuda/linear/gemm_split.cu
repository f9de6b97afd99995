/* Products of few rows with a bf16 weight (split-k), limited by the time it takes to read the weight.
 *
 * A block computes 64, 128 or 192 outputs for 8 to 256 rows. One warp is the producer, which copies tiles of
 * both factors, and warpgroups multiply them (wgmma: 64 outputs x 8 to 128 rows x 16), each for its own rows
 * or outputs. If the outputs alone are too few blocks to fill the GPU, the sum over k is split in 2, 4 or 8,
 * and the splits are added in pairs: neighbours first, then the sums of pairs. A block makes one split or
 * several; the blocks of a cluster share a sum, and each sends its part to the blocks that add it. Rows
 * beyond the last belong to nobody, so that a row's bits are the same for every number of rows. The first
 * tiles of the weight are requested before the kernel that writes x has ended (programmatic dependent
 * launch).
 *
 * Which tile shape is fastest depends on the rows: up to 64 rows the weight is
 * read once, by as many blocks as there are, each with an SM of its own if k is long; beyond, an SM's copies
 * take the time, some 77 KB a us, so that large tiles need fewer bytes, but leave SMs idle, and small ones
 * that make several parts of a sum send fewer sums. A group of 128 rows instead of two of 64 is slower. For
 * weights with more outputs cuBLASLt is faster, but for gates and ups (gemm_gated_few.cu).
 *
 * What a step of few rows waits for is one kernel after the other. Of the 10 us that a product takes on the
 * average in a 1.5B model with 64 rows its bytes take 5, launches and waits 1.8, sums and results 1.5, mostly
 * the wait for the slowest block of a cluster: one TMA bulk copy to each other block instead of stores takes
 * 1 % off the products of 64 rows and adds 2 % to those of one; and matrix instructions, were they left out,
 * 0.2. A second warp that copies x costs up to 2 %, a sixth stage instead of
 * five, for which sums arrive in the pipeline, 1 %. Rows as wgmma's first factor, 8 blocks a sum and gates
 * and ups by such a kernel took 2.5 % off a step of 64 rows, but cost 3 % with one row and 2 % in an 8B
 * model, where gemm_gated_few.cu gains; weights laid out tile by tile were
 * worth another 1.6 %. */
#include <string.h>

#include "kernels/cuda/device/math.cuh"
#include "kernels/cuda/linear/gemm.cuh"
#include "kernels/cuda/linear/gemm_tiles.cuh"

/* The number of splits is doubled while there are fewer than ENOUGH_BLOCKS blocks in all and twice as many
 * are not more than an H200 has SMs. */
enum { ENOUGH_BLOCKS = 96, MAX_BLOCKS = 132, MAX_TILES = 2 * ENOUGH_BLOCKS };

struct split_args {
    CUtensorMap w, x, end;
    const float *bias;
    float *out;
    int n, rows, out_stride, accumulate, k_tiles;
};

static __device__ inline float bias_of(const struct split_args &a, int output)
{
    return a.bias && output < a.n ? a.bias[output] : 0.0f;
}

/* Where an output of a row lies; NULL outside the matrix. */
static __device__ inline float *output_at(const struct split_args &a, int row, int output)
{
    return row < a.rows && output < a.n ? a.out + (size_t)row * a.out_stride + output : NULL;
}

/* The first tile of k of a part. */
static __device__ inline int part_begin(const struct split_args &a, int part, int parts)
{
    return a.k_tiles * part / parts;
}

/* Sums N of the block's splits, from its split number `first` on: neighbours first, so that four give (0 + 1)
 * + (2 + 3). */
template <typename F, int N>
static __device__ void add_parts(const struct split_args &a, struct bars *b, uint32_t pipeline, int first,
                                 float (&c)[F::SUMS])
{
    if constexpr (N == 1) {
        int part0 = blockIdx.x * F::PARTS, from = part_begin(a, part0, F::SPLITS);
        add_tiles<F>(b, pipeline, part_begin(a, part0 + first, F::SPLITS) - from,
                     part_begin(a, part0 + first + 1, F::SPLITS) - from,
                     part_begin(a, part0 + F::PARTS, F::SPLITS) - from, c);
    } else {
        float left[F::SUMS] = {};
        add_parts<F, N / 2>(a, b, pipeline, first, left);
        add_parts<F, N / 2>(a, b, pipeline, first + N / 2, c);
#pragma unroll
        for (int i = 0; i < F::SUMS; i++)
            c[i] = left[i] + c[i];
    }
}

/* The whole sum is this block's: out of the registers, eight outputs of four rows at a time. */
template <typename F>
static __device__ void write_sums(const struct split_args &a, const float (&c)[F::SUMS], int n0, int m0,
                                  const float (&bias)[2])
{
    m0 += rows_of<F>();
#pragma unroll
    for (int i = 0; i < F::SUMS; i += 4) {
        float *to[4], old[4];
#pragma unroll
        for (int e = 0; e < 4; e++) {
            to[e] = output_at(a, m0 + row_of(i + e), n0 + output_of<F>(i + e));
            old[e] = a.accumulate && to[e] ? *to[e] : 0.0f;
        }
#pragma unroll
        for (int e = 0; e < 4; e++)
            if (to[e])
                *to[e] = old[e] + (c[i + e] + bias[e / 2]);
    }
}

/* ---- a sum by the blocks of a cluster. Each adds SHARE of the outputs, all rows, so that the warps of a
 * block send to different blocks at a time. What a block sent lies there as [8 rows][output][row]. */

template <typename F> static __device__ void send_sums(uint32_t smem, const float (&c)[F::SUMS])
{
    int eights = (blockIdx.x * F::TILE_M + rows_of<F>()) / 8;
#pragma unroll
    for (int i = 0; i < F::SUMS; i += 2) {
        int output = output_of<F>(i);
        int at = ((eights + i / 4) * F::SHARE + output % F::SHARE) * 8 + row_of(0);
        store_far(address_in(smem, output / F::SHARE) + at * 4, c[i], c[i + 1]);
    }
}

/* A thread adds, of one output, four rows at a time. */
template <typename F> static __device__ inline int own_output(void)
{
    return blockIdx.x * F::SHARE + threadIdx.x / 2 % F::SHARE;
}

template <typename F> static __device__ inline int own_row(int four)
{
    int i = threadIdx.x + four * F::MATH;
    return i / 2 / F::SHARE * 8 + i % 2 * 4;
}

/* Whether the thread has this group of four sums. */
template <typename F> static __device__ inline bool has_four(int four)
{
    return F::SENT / 4 % F::MATH == 0 || threadIdx.x + four * F::MATH < F::SENT / 4;
}

/* Loads the values that are added to, while the sums are on their way. */
template <typename F>
static __device__ void load_old(const struct split_args &a, float (&old)[F::FOURS][4], int n0, int m0)
{
#pragma unroll
    for (int j = 0; j < F::FOURS; j++)
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const float *from = output_at(a, m0 + own_row<F>(j) + e, n0 + own_output<F>());
            old[j][e] = a.accumulate && from && has_four<F>(j) ? *from : 0.0f;
        }
}

/* Neighbours in k first, then theirs, as in add_parts. */
template <typename F>
static __device__ void add_blocks(const struct split_args &a, const float *sums,
                                  const float (&old)[F::FOURS][4], int n0, int m0, float bias)
{
#pragma unroll
    for (int j = 0; j < F::FOURS; j++) {
        if (!has_four<F>(j))
            break;
        float4 v[F::CLUSTER];
#pragma unroll
        for (int b = 0; b < F::CLUSTER; b++)
            v[b] = *(const float4 *)(sums + b * F::SENT + (threadIdx.x + j * F::MATH) * 4);
#pragma unroll
        for (int apart = 1; apart < F::CLUSTER; apart *= 2)
#pragma unroll
            for (int b = 0; b + apart < F::CLUSTER; b += 2 * apart)
                v[b] = add_four(v[b], v[b + apart]);
        float sum[4] = {v[0].x + bias, v[0].y + bias, v[0].z + bias, v[0].w + bias};
#pragma unroll
        for (int e = 0; e < 4; e++) {
            float *to = output_at(a, m0 + own_row<F>(j) + e, n0 + own_output<F>());
            if (to)
                *to = old[j][e] + sum[e];
        }
    }
}

/* Adds up the sums of a cluster's blocks; all threads of each block call it. */
template <typename F>
static __device__ void share_sums(const struct split_args &a, const char *arrived, const float (&c)[F::SUMS],
                                  int n0, int m0, float bias)
{
    bool math = threadIdx.x < F::MATH;
    float old[F::FOURS][4];
    if (F::IN_PIPELINE)
        cluster_arrive();
    cluster_wait(); /* all blocks have begun: their memory is there; in the pipeline: they have read it */
    if (math)
        send_sums<F>(shared_address(arrived), c);
    cluster_arrive();
    if (math)
        load_old<F>(a, old, n0, m0);
    cluster_wait(); /* all sums are there, and nothing else is sent: a block may end */
    if (math)
        add_blocks<F>(a, (const float *)arrived, old, n0, m0, bias);
}

/* x: blocks that share a sum (the cluster). y: rows. z: outputs, so that blocks of the same weights run
 * together. */
template <typename F>
static __global__ void __launch_bounds__(F::THREADS, F::RESIDENT)
    split_kernel(const __grid_constant__ struct split_args a)
{
    extern __shared__ char shared[];
    __shared__ struct bars b;
    needs_hopper();
    uint32_t start = shared_address(shared), pipeline = (start + ALIGN - 1) / ALIGN * ALIGN;
    int from = part_begin(a, blockIdx.x, F::CLUSTER), n = part_begin(a, blockIdx.x + 1, F::CLUSTER) - from;
    int m0 = blockIdx.y * F::TILE_M, n0 = blockIdx.z * F::TILE_N;
    float c[F::SUMS] = {}, bias[2] = {};
    struct tiles tiles = {&a.w, m0 + F::TILE_M < a.rows ? &a.x : &a.end, from, n, n0, 0,
                          m0,   rows_copied(a.rows, m0, F::TILE_M) * ROW};
    if (threadIdx.x == F::MATH)
        begin_copies<F>(tiles, &b, pipeline);
    __syncthreads();
    pdl_trigger();
    if (F::CLUSTER > 1 && !F::IN_PIPELINE)
        cluster_begin();
    if (threadIdx.x < F::MATH) {
        int output = n0 + (F::CLUSTER > 1 ? own_output<F>() : output_of<F>(0));
        bias[0] = bias_of(a, output);
        bias[1] = F::CLUSTER > 1 ? 0.0f : bias_of(a, output + 8);
    }
    if (threadIdx.x < F::MATH)
        add_parts<F, F::PARTS>(a, &b, pipeline, 0, c);
    else if (threadIdx.x == F::MATH)
        copy_tiles<F>(tiles, &b, pipeline);
    __syncwarp();
    pdl_wait(); /* every thread: what it adds to may be the last kernel's work */
    if (F::CLUSTER > 1)
        share_sums<F>(a, shared + (pipeline - start + (F::IN_PIPELINE ? 0 : F::PIPELINE_BYTES)), c, n0, m0,
                      bias[0]);
    else if (threadIdx.x < F::MATH)
        write_sums<F>(a, c, n0, m0, bias);
}

/* ---- host */

/* Splits of a sum over k. They depend on the weight's shape alone, because the order of a sum depends on
 * them. */
static int splits_of(int n, int k)
{
    int tiles = (n + WARPGROUP_N - 1) / WARPGROUP_N, splits = 1;
    while (splits < MAX_SPLITS && tiles * splits < ENOUGH_BLOCKS && 2 * tiles * splits <= MAX_BLOCKS &&
           2 * splits * TILE_K <= k)
        splits *= 2;
    return splits;
}

template <typename F> static dim3 grid_of(const struct product *p)
{
    return dim3(F::CLUSTER, (p->rows + F::TILE_M - 1) / F::TILE_M, (p->n + F::TILE_N - 1) / F::TILE_N);
}

template <typename F> static int launch_split(struct device *d, const struct product *p, struct split_args *a)
{
    return launch_product<F>(d, OP_linear, split_kernel<F>, grid_of<F>(p), p, a, F::TILE_N, F::TILE_M);
}

/* Waves of a launch: how many times the SMs are filled with blocks until all blocks are done. */
template <typename F> static int rounds_of(const struct product *p)
{
    cudaLaunchAttribute cluster;
    cudaLaunchConfig_t config = {};
    int n = 0;
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = F::CLUSTER;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    config.gridDim = grid_of<F>(p);
    config.blockDim = dim3(F::THREADS);
    config.dynamicSmemBytes = F::BYTES;
    config.attrs = &cluster;
    config.numAttrs = 1;
    auto kernel = split_kernel<F>;
    if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, F::BYTES) != cudaSuccess ||
        cudaOccupancyMaxActiveClusters(&n, kernel, &config) != cudaSuccess)
        cudaGetLastError();
    int clusters = (int)(config.gridDim.y * config.gridDim.z);
    return n > 0 ? (clusters + n - 1) / n : clusters;
}

/* How long a tile_config for many rows takes, in bytes that an SM would copy meanwhile (some 77 KB a us):
 * its tiles, where x, which is smaller than the weight, comes a little faster; sums that are sent; further
 * parts; and what a round takes beside them. The constants are those with which the tile_config that it picks
 * was nearest to the fastest for seven weights with 80 to 512 rows on an H200: it takes 1.015 times as long
 * on the average, 1.13 at most. */
template <typename F> static int64_t time_of(const struct product *p, const struct split_args *a)
{
    enum { ROUND = 60 << 10, PART = 10 << 10, SUMS = F::CLUSTER > 1 ? 3 * 4 * F::TILE_M * F::TILE_N : 0 };
    int x_bytes = rows_copied(p->rows, 0, F::TILE_M) * ROW;
    int64_t tiles = (int64_t)a->k_tiles * (F::W_TILE + x_bytes * 4 / 5) / F::CLUSTER;
    return rounds_of<F>(p) * (ROUND + tiles + SUMS + (F::PARTS - 1) * PART);
}

struct split_choice {
    int64_t time;
    int (*launch)(struct device *d, const struct product *p, struct split_args *a);
};

template <typename F>
static struct split_choice choice_of(const struct product *p, const struct split_args *a)
{
    return {time_of<F>(p, a), launch_split<F>};
}

/* Chooses the fastest tile_config for more than 64 rows; all give the same bits. With more splits inside a
 * block, fewer blocks share a sum and send theirs. Where a sum has one split or two, some choices are equal.
 */
template <int SPLITS> static int launch_many(struct device *d, const struct product *p, struct split_args *a)
{
    enum { TWO = SPLITS > 1 ? 2 : 1, FOUR = SPLITS > 2 ? 4 : TWO };
    const struct split_choice choices[] = {choice_of<tile_config<SPLITS / TWO, 1, 64, 8, 1, TWO>>(p, a),
                                           choice_of<tile_config<SPLITS / TWO, 2, 64, 8, 1, TWO>>(p, a),
                                           choice_of<tile_config<SPLITS / TWO, 1, 64, 8, 2, TWO>>(p, a),
                                           choice_of<tile_config<SPLITS / TWO, 1, 64, 6, 3, TWO>>(p, a),
                                           choice_of<tile_config<SPLITS / FOUR, 2, 64, 8, 1, FOUR>>(p, a),
                                           choice_of<tile_config<SPLITS, 2, 64, 6>>(p, a),
                                           choice_of<tile_config<SPLITS, 1, 128, 6, 2>>(p, a),
                                           choice_of<tile_config<SPLITS, 1, 128, 5, 3>>(p, a),
                                           choice_of<tile_config<SPLITS, 2, 128, 4, 2>>(p, a)},
                              *best = choices;
    for (const struct split_choice *c = choices; c < choices + sizeof choices / sizeof *choices; c++)
        if (c->time < best->time)
            best = c;
    return best->launch(d, p, a);
}

/* Up to ROWS rows. A deep pipeline leaves room for one block an SM, so that none lies idle while
 * another has two, if there are that many; with few tiles of k a block, more is gained if the next kernel's
 * blocks find room beside it. */
template <int SPLITS, int ROWS, int DEEP, int STAGES>
static int launch_few(struct device *d, const struct product *p, struct split_args *a)
{
    enum { LONG = 16 };
    typedef tile_config<SPLITS, 1, ROWS, DEEP> deep;
    return a->k_tiles >= LONG * SPLITS && rounds_of<deep>(p) == 1
               ? launch_split<deep>(d, p, a)
               : launch_split<tile_config<SPLITS, 1, ROWS, STAGES>>(d, p, a);
}

/* The tile follows the rows: a block reads its weights again for each tile of rows. */
template <int SPLITS> static int launch_rows(struct device *d, const struct product *p, struct split_args *a)
{
    if (p->rows <= 8)
        return launch_few<SPLITS, 8, 13, 8>(d, p, a);
    if (p->rows <= 32)
        return launch_few<SPLITS, 32, 13, 6>(d, p, a);
    if (p->rows <= 64)
        return launch_few<SPLITS, 64, 8, 5>(d, p, a);
    return launch_many<SPLITS>(d, p, a);
}

int gemm_split_fits(const struct device *d, const struct weight *w)
{
    return d->wgmma && w->dtype == DTYPE_BF16 && w->k % 16 == 0 && w->n % 8 == 0 &&
           (w->n + WARPGROUP_N - 1) / WARPGROUP_N < MAX_TILES;
}

int gemm_split_run(struct device *d, const struct product *p)
{
    struct split_args a;
    memset(&a, 0, sizeof a);
    a.bias = p->bias;
    a.out = p->out;
    a.n = p->n;
    a.rows = p->rows;
    a.out_stride = p->out_stride;
    a.accumulate = p->accumulate;
    a.k_tiles = (p->k + TILE_K - 1) / TILE_K;
    switch (splits_of(p->n, p->k)) {
    case 1:
        return launch_rows<1>(d, p, &a);
    case 2:
        return launch_rows<2>(d, p, &a);
    case 4:
        return launch_rows<4>(d, p, &a);
    default:
        return launch_rows<8>(d, p, &a);
    }
}
