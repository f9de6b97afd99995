/* The gates and ups of many rows and their SwiGLU in one kernel, for prompts and large decode steps: what
 * cuBLASLt would write and SwiGLU read again, four times the bytes of the result, never leaves the registers.
 *
 * A block has tiles of 128 or 256 rows with GATES gates and as many ups, one after the other. Two warpgroups
 * multiply (wgmma: 64 rows x all of the tile's gates and ups x 16), each for half of the rows. A warp copies
 * for them, ahead into the next tile while the last one's results are written. An output is summed over k
 * from the first to the last in one chain of products, so its bits depend on its row alone.
 *
 * Its tiles of other numbers of gates and rows are compared with cuBLASLt and swiglu_kernel in the bodies of
 * commits 695460f4, 082bd905 and b65e1a7. Blocks in pairs that copy half of the gates and ups each, for both,
 * are not faster (with arrivals of .release.cluster at the other block's barriers, which wait for the warp's
 * writes everywhere, 1.6 times slower); tiles of 64 gates, two blocks an SM, take 1.05 times as
 * long with 2,048 rows, and are used where they leave fewer blocks waiting. */
#include <string.h>

#include "kernels/cuda/device/math.cuh"
#include "kernels/cuda/device/ptx.cuh"
#include "kernels/cuda/device/wgmma.cuh"
#include "kernels/cuda/linear/gemm_launch.cuh"
#include "kernels/cuda/linear/quick_swiglu.cuh"

enum { GROUPS = 2, ROWS_ONCE = 64, MATH = GROUPS * 4 * WARP };
enum { MAX_STAGES = 6 };

template <int N_TALL, int N_GATES, int N_STAGES> struct gated_tile_config {
    enum {
        TALL = N_TALL, /* products of 64 rows that a group makes with the same weights */
        GROUP_ROWS = TALL * ROWS_ONCE,
        TILE_ROWS = GROUPS * GROUP_ROWS,
        /* With two products a thread needs more registers than there are for each: it takes some of those who
         * copy, and that is done by four warps at a time. */
        COPY = TALL > 1 ? 4 * WARP : WARP,
        THREADS = MATH + COPY,
        CLUSTER = 1,
        GIVEN = 65536 / THREADS / 8 * 8, /* registers of a thread */
        KEPT = 40,                       /* by those who copy */
        TAKEN = GIVEN + (GIVEN - KEPT) / GROUPS,
        GATES = N_GATES,
        SUMS = GATES, /* of a thread and 64 rows: gates, then as many ups */
        STAGES = N_STAGES,
        X_TILE = TILE_ROWS * ROW,
        W_TILE = GATES * ROW,
        STAGE = X_TILE + 2 * W_TILE,
        BYTES = ALIGN + STAGES * STAGE
    };
    static_assert(STAGES <= (int)MAX_STAGES && BYTES <= 227 * 1024, "the pipeline fits");
    static_assert(TALL == 1 || (TAKEN % 8 == 0 && TAKEN <= 256), "registers move by eights");
};

struct gated_args {
    CUtensorMap w, x, end;
    __nv_bfloat16 *out;
    int n, rows, k_tiles, row_tiles, tiles; /* tiles: all; row_tiles: of the same gates */
};

struct gated_bars {
    uint64_t full[MAX_STAGES], empty[MAX_STAGES];
};

/* The block's i-th tile: its first gate and row. 0: there are no more. */
template <typename F>
static __device__ inline bool find_tile(const struct gated_args &a, int i, int *gate0, int *row0)
{
    int tile = blockIdx.x + i * gridDim.x;
    *gate0 = tile / a.row_tiles * F::GATES;
    *row0 = tile % a.row_tiles * F::TILE_ROWS;
    return tile < a.tiles;
}

template <typename F>
static __device__ inline void copy_weights(const struct gated_args &a, uint32_t to, int k, int gate0,
                                           int x_bytes, uint32_t full)
{
    barrier_expect(full, 2 * F::W_TILE + x_bytes);
    tma_tensor_copy(to + F::X_TILE, &a.w, k * TILE_K, gate0, full);
    tma_tensor_copy(to + F::X_TILE + F::W_TILE, &a.w, k * TILE_K, a.n + gate0, full);
}

/* Producer: copies all tiles of the block. No kernel writes the weights, so the first ones are requested
 * before pdl_wait. */
template <typename F>
static __device__ void copy_all(const struct gated_args &a, struct gated_bars *b, uint32_t pipeline)
{
    int gate0, row0, at = 0, early = min((int)F::STAGES, a.k_tiles);
    find_tile<F>(a, 0, &gate0, &row0);
    int x_bytes = rows_copied(a.rows, row0, F::TILE_ROWS) * ROW;
    for (int k = 0; k < early; k++)
        copy_weights<F>(a, pipeline + k * F::STAGE, k, gate0, x_bytes, shared_address(&b->full[k]));
    pdl_wait();
    for (int i = 0; find_tile<F>(a, i, &gate0, &row0); i++) {
        const CUtensorMap *x = row0 + F::TILE_ROWS < a.rows ? &a.x : &a.end;
        x_bytes = rows_copied(a.rows, row0, F::TILE_ROWS) * ROW;
        for (int k = 0; k < a.k_tiles; k++, at++) {
            int s = at % F::STAGES;
            uint32_t full = shared_address(&b->full[s]), to = pipeline + s * F::STAGE;
            if (at >= F::STAGES)
                barrier_wait(shared_address(&b->empty[s]), (at / F::STAGES - 1) & 1);
            if (at >= early)
                copy_weights<F>(a, to, k, gate0, x_bytes, full);
            tma_tensor_copy(to, x, k * TILE_K, row0, full);
        }
    }
}

/* Consumer: this warp has read a stage. */
static __device__ inline void give_back(uint64_t *empty)
{
    if (threadIdx.x % WARP == 0)
        barrier_arrive(shared_address(empty));
}

template <int TALL, int SUMS> static __device__ inline void hold_all(float (&c)[TALL][SUMS])
{
#pragma unroll
    for (int t = 0; t < TALL; t++)
        hold_registers(c[t]);
}

/* The products of a tile, whose first stage is number `at` of all. */
template <typename F>
static __device__ void multiply_tile(const struct gated_args &a, struct gated_bars *b, uint32_t pipeline,
                                     int at, float (&c)[F::TALL][F::SUMS])
{
    uint32_t own_rows = threadIdx.x / (4 * WARP) * F::GROUP_ROWS * ROW;
    hold_all(c);
    for (int k = 0; k < a.k_tiles; k++, at++) {
        int s = at % F::STAGES;
        uint32_t x = pipeline + s * F::STAGE + own_rows, w = pipeline + s * F::STAGE + F::X_TILE;
        barrier_wait(shared_address(&b->full[s]), at / F::STAGES & 1);
        wgmma_begin();
#pragma unroll
        for (int i = 0; i < TILE_K * 2; i += 32)
#pragma unroll
            for (int t = 0; t < F::TALL; t++)
                wgmma(c[t], tile_at(x + t * ROWS_ONCE * ROW + i), tile_at(w + i), k || i);
        wgmma_commit();
        if (k) {
            wgmma_wait_but_one();
            give_back(&b->empty[(at - 1) % F::STAGES]);
        }
    }
    wgmma_wait();
    hold_all(c);
    give_back(&b->empty[(at - 1) % F::STAGES]);
}

/* A thread has, of two rows, two of every eight gates, and the ups that belong to them. */
template <typename F>
static __device__ void write_gated(const struct gated_args &a, const float (&c)[F::SUMS], int gate0, int row0)
{
    int row = row0 + threadIdx.x % (4 * WARP) / WARP * 16 + threadIdx.x % WARP / 4,
        gate = gate0 + threadIdx.x % 4 * 2;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        __nv_bfloat16 *to = a.out + (size_t)(row + half * 8) * a.n;
        if (row + half * 8 >= a.rows)
            break;
#pragma unroll
        for (int i = 0; i < F::GATES / 2; i += 4) {
            const float *g = c + i + half * 2, *u = g + F::GATES / 2;
            if (gate + 2 * i < a.n)
                *(__nv_bfloat162 *)(to + gate + 2 * i) =
                    __floats2bfloat162_rn(quick_swiglu(g[0], u[0]), quick_swiglu(g[1], u[1]));
        }
    }
}

template <typename F>
static __global__ void __launch_bounds__(F::THREADS, 1)
    gated_kernel(const __grid_constant__ struct gated_args a)
{
    needs_hopper();
    extern __shared__ char shared[];
    __shared__ struct gated_bars b;
    uint32_t pipeline = (shared_address(shared) + ALIGN - 1) / ALIGN * ALIGN;
    if (threadIdx.x == MATH) {
        prefetch_tensor_map(&a.w);
        prefetch_tensor_map(&a.x);
        prefetch_tensor_map(&a.end);
        for (int i = 0; i < F::STAGES; i++) {
            barrier_init(shared_address(&b.full[i]), 1);
            barrier_init(shared_address(&b.empty[i]), MATH / WARP);
        }
        barrier_init_done();
    }
    __syncthreads();
    if (threadIdx.x < MATH) {
        float c[F::TALL][F::SUMS] = {};
        int gate0, row0;
        if (F::TALL > 1)
            take_registers<F::TAKEN>();
        pdl_wait();
        for (int i = 0; find_tile<F>(a, i, &gate0, &row0); i++) {
            multiply_tile<F>(a, &b, pipeline, i * a.k_tiles, c);
            row0 += threadIdx.x / (4 * WARP) * F::GROUP_ROWS;
#pragma unroll
            for (int t = 0; t < F::TALL; t++)
                write_gated<F>(a, c[t], gate0, row0 + t * ROWS_ONCE);
        }
    } else {
        if (F::TALL > 1)
            give_registers<F::KEPT>();
        if (threadIdx.x == MATH)
            copy_all<F>(a, &b, pipeline);
    }
}

/* ---- host */

template <typename F> static int row_tiles(const struct product *p)
{
    return (p->rows + F::TILE_ROWS - 1) / F::TILE_ROWS;
}

template <typename F> static int tiles_of(const struct product *p)
{
    return row_tiles<F>(p) * ((p->n / 2 + F::GATES - 1) / F::GATES);
}

/* How long the slowest SM takes. EACH: the cost of a product of 128 rows, one gate and one up
 * with a tile of k: 100, or 95 with 256 rows and 96 gates, which copy a quarter fewer bytes for it than 128
 * rows and 112 gates. END: what a tile's beginning and end cost beside them, START: how long tiles of 256
 * rows take to arrive at first, such that the forms rank as they were measured. */
template <typename F> static int64_t time_of(const struct device *d, const struct product *p)
{
    enum { EACH = F::TALL > 1 && F::GATES >= 96 ? 95 : 100, END = 25000, START = F::TALL > 1 ? 40000 : 0 };
    int rounds = (tiles_of<F>(p) + d->n_sm - 1) / d->n_sm;
    int64_t tile = (int64_t)EACH * F::TALL * F::GATES * ((p->k + TILE_K - 1) / TILE_K) + END;
    return START + rounds * tile;
}

struct gated_choice {
    int64_t time;
    int (*launch)(struct device *d, const struct product *p, void *out);
};

template <typename F> static int launch_gated(struct device *d, const struct product *p, void *out)
{
    struct gated_args a;
    memset(&a, 0, sizeof a);
    a.out = (__nv_bfloat16 *)out;
    a.n = p->n / 2;
    a.rows = p->rows;
    a.k_tiles = (p->k + TILE_K - 1) / TILE_K;
    a.row_tiles = row_tiles<F>(p);
    a.tiles = tiles_of<F>(p);
    return launch_product<F>(d, OP_linear_swiglu, gated_kernel<F>, dim3(min(a.tiles, d->n_sm)), p, &a,
                             F::GATES, F::TILE_ROWS);
}

int gemm_gated_fits(const struct device *d, const struct weight *w)
{
    return d->wgmma && w->dtype == DTYPE_BF16 && !w->bias && w->k % 16 == 0 && w->n % 8 == 0;
}

template <typename F> static struct gated_choice choice_of(const struct device *d, const struct product *p)
{
    return {time_of<F>(d, p), launch_gated<F>};
}

/* Bits are the same in all forms; what differs is how many tiles are left for the last round, and the bytes
 * that a tile's products need. Of the 8,960 gates of a 1.5B model, 72 leave the fewest tiles with 256 and 512
 * rows. */
int gemm_gated_run(struct device *d, const struct product *p, void *out)
{
    const struct gated_choice choices[] = {choice_of<gated_tile_config<1, 128, 4>>(d, p),
                                           choice_of<gated_tile_config<1, 112, 5>>(d, p),
                                           choice_of<gated_tile_config<1, 72, 6>>(d, p),
                                           choice_of<gated_tile_config<1, 64, 6>>(d, p),
                                           choice_of<gated_tile_config<2, 72, 4>>(d, p),
                                           choice_of<gated_tile_config<2, 96, 4>>(d, p)},
                              *best = choices;
    for (const struct gated_choice *c = choices; c < choices + sizeof choices / sizeof *choices; c++)
        if (c->time < best->time)
            best = c;
    return best->launch(d, p, out);
}
