/* The gates and ups of the few rows of a decode step and their SwiGLU in one kernel, limited by the time it
 * takes to read the weight. It is gemm_split.cu's, but that a block has 64, 96 or 128 gates and the ups that
 * belong to them, whose whole sums it makes itself: every tile of x serves both, and no sums are sent. They
 * pass through shared memory, so that a thread has gates and ups of eight neighbours and writes the results
 * at once. More than 128 rows are left to the kernel for prompts.
 *
 * A block takes more than half of an SM's shared memory, so that no other of this kernel lies
 * beside it. Blocks that begin while the last kernel runs crowd where it leaves room: two an SM,
 * 140 blocks of 64 gates lay on 86 of 132, and the SMs with two took 16 us where those with one
 * took 11 (a 1.5B model with 64 rows on an H200; with 128 rows, 140 such blocks take 23 us and 94 of 96 gates
 * 19.5).
 *
 * An output is summed over k from the first to the last in one chain of products, here and there, so its bits
 * depend on its row alone. */
#include <string.h>

#include "kernels/cuda/linear/gemm.cuh"
#include "kernels/cuda/linear/gemm_tiles.cuh"
#include "kernels/cuda/linear/quick_swiglu.cuh"

/* Gates that blocks of 128 can have at once, one an SM of 132: for weights with more of them
 * cuBLASLt is used. */
enum { MAX_GATES = 132 * 128, EIGHT = 8 };

/* By the rows and gates of a block and the tiles that it has asked for. */
template <int ROWS, int N_GATES, int STAGES>
struct gated_few : tile_config<1, 1, ROWS, STAGES, 2 * N_GATES / WARPGROUP_N> {
    typedef tile_config<1, 1, ROWS, STAGES, 2 * N_GATES / WARPGROUP_N> base;
    enum {
        GATED = 1,
        GATES = N_GATES,
        WIDTH = 2 * GATES + 4, /* floats of a row of sums: four more, so that eight rows use all banks */
        SUMS_BYTES = ROWS * WIDTH * 4,
        HALF = 115 * 1024, /* bytes that an SM does not have twice */
        BYTES = base::BYTES < HALF ? HALF : base::BYTES,
        RESIDENT = 1
    };
    static_assert(SUMS_BYTES <= STAGES * gated_few::STAGE, "the sums have room where the tiles were");
};

struct gated_few_args {
    CUtensorMap w, x, end; /* there is one tile of rows, the last */
    __nv_bfloat16 *out;
    int gates, rows, k_tiles;
};

/* A thread's sums into the table of the block's. */
template <typename F> static __device__ void put_sums(float *sums, const float (&c)[F::SUMS])
{
#pragma unroll
    for (int i = 0; i < F::SUMS; i++)
        sums[row_of(i) * F::WIDTH + output_of<F>(i)] = c[i];
}

/* Eight gates of a row at a time, and their ups. */
template <typename F>
static __device__ void write_rows(const struct gated_few_args &a, const float *sums, int gate0)
{
    for (int i = threadIdx.x; i < F::TILE_M * (F::GATES / EIGHT); i += F::MATH) {
        int row = i / (F::GATES / EIGHT), gate = i % (F::GATES / EIGHT) * EIGHT;
        if (row >= a.rows || gate0 + gate >= a.gates)
            continue;
        const float4 *from = (const float4 *)(sums + row * F::WIDTH + gate);
        float4 g0 = from[0], g1 = from[1], u0 = from[F::GATES / 4], u1 = from[F::GATES / 4 + 1];
        float g[EIGHT] = {g0.x, g0.y, g0.z, g0.w, g1.x, g1.y, g1.z, g1.w};
        float u[EIGHT] = {u0.x, u0.y, u0.z, u0.w, u1.x, u1.y, u1.z, u1.w};
        union {
            __nv_bfloat162 pair[EIGHT / 2];
            uint4 all;
        } v;
#pragma unroll
        for (int e = 0; e < EIGHT / 2; e++)
            v.pair[e] = __floats2bfloat162_rn(quick_swiglu(g[2 * e], u[2 * e]),
                                              quick_swiglu(g[2 * e + 1], u[2 * e + 1]));
        *(uint4 *)(a.out + (size_t)row * a.gates + gate0 + gate) = v.all;
    }
}

/* A block has all rows of its gates. */
template <typename F>
static __global__ void __launch_bounds__(F::THREADS, F::RESIDENT)
    gated_few_kernel(const __grid_constant__ struct gated_few_args a)
{
    extern __shared__ char shared[];
    __shared__ struct bars b;
    needs_hopper();
    uint32_t start = shared_address(shared), pipeline = (start + ALIGN - 1) / ALIGN * ALIGN;
    int gate0 = blockIdx.x * F::GATES;
    struct tiles tiles = {&a.w,  &a.end,          0, a.k_tiles,
                          gate0, a.gates + gate0, 0, rows_copied(a.rows, 0, F::TILE_M) * ROW};
    float *sums = (float *)(shared + (pipeline - start)), c[F::SUMS] = {};
    if (threadIdx.x == F::MATH)
        begin_copies<F>(tiles, &b, pipeline);
    __syncthreads();
    pdl_trigger();
    if (threadIdx.x < F::MATH)
        add_tiles<F>(&b, pipeline, 0, a.k_tiles, a.k_tiles, c);
    else if (threadIdx.x == F::MATH)
        copy_tiles<F>(tiles, &b, pipeline);
    __syncthreads(); /* the tiles have been read */
    pdl_wait();
    if (threadIdx.x < F::MATH)
        put_sums<F>(sums, c);
    __syncthreads();
    if (threadIdx.x < F::MATH)
        write_rows<F>(a, sums, gate0);
}

/* ---- host */

static int gate_blocks(int gates, int each)
{
    return (gates + each - 1) / each;
}

template <typename F> static int launch_gated_few(struct device *d, const struct product *p, void *out)
{
    struct gated_few_args a;
    memset(&a, 0, sizeof a);
    a.out = (__nv_bfloat16 *)out;
    a.gates = p->n / 2;
    a.rows = p->rows;
    a.k_tiles = (p->k + TILE_K - 1) / TILE_K;
    return launch_product<F>(d, OP_linear_swiglu, gated_few_kernel<F>, dim3(gate_blocks(a.gates, F::GATES)),
                             p, &a, F::GATES, F::TILE_M);
}

int gemm_gated_few_fits(const struct device *d, const struct weight *w)
{
    return gemm_gated_fits(d, w) && w->n % (2 * EIGHT) == 0 && w->n / 2 <= MAX_GATES;
}

/* The fewest gates with which every block has an SM, or 128. All give the same bits. */
template <int ROWS, int STAGES_64, int STAGES_96, int STAGES_128>
static int launch_alone(struct device *d, const struct product *p, void *out)
{
    if (gate_blocks(p->n / 2, 64) <= d->n_sm)
        return launch_gated_few<gated_few<ROWS, 64, STAGES_64>>(d, p, out);
    if (gate_blocks(p->n / 2, 96) <= d->n_sm)
        return launch_gated_few<gated_few<ROWS, 96, STAGES_96>>(d, p, out);
    return launch_gated_few<gated_few<ROWS, 128, STAGES_128>>(d, p, out);
}

int gemm_gated_few_run(struct device *d, const struct product *p, void *out)
{
    if (p->rows <= 8)
        return launch_alone<8, 6, 4, 3>(d, p, out);
    if (p->rows <= 32)
        return launch_alone<32, 5, 4, 3>(d, p, out);
    if (p->rows <= 64)
        return launch_alone<64, 5, 5, 3>(d, p, out);
    return p->rows <= 128 ? launch_alone<128, 6, 5, 4>(d, p, out) : gemm_gated_run(d, p, out);
}
