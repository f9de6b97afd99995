#ifndef KERNELS_CUDA_ATTENTION_PREFILL_PIPE_CUH
#define KERNELS_CUDA_ATTENTION_PREFILL_PIPE_CUH

#include "kernels/cuda/attention/prefill_rows.cuh"
#include "kernels/cuda/device/ptx.cuh"
#include "kernels/cuda/device/tensor_map.cuh"
#include "kernels/cuda/device/wgmma.cuh"

/* Kernels of prompts on Hopper's tensor cores: what they share. They are warp-specialised: one to four
 * warpgroups multiply (consumers, called teams, 64 rows each), and one more copies tiles of keys for them
 * (the producer), a few tiles ahead.
 *
 * wgmma needs rows of 128 bytes, so a head of 128 dimensions is copied in halves. The order in which the
 * cache stores the 16-byte chunks of a row is already that of wgmma's 128-byte swizzle. */
enum { TEAM = 4 * WARP, TEAM_ROWS = TEAM / WARP * WARP_ROWS, COPY_WARPS = 4 };
enum { KEYS = 128, KEY_GROUPS = KEYS / 8, TILE_PAGES = KEYS / KV_PAGE_TOKENS, STAGES = 4 };
enum { ROW = TENSOR_TILE * 2, ALIGN = 1024 };

/* Shared memory: a pipeline of tiles of K or V (halves of KEYS rows), the queries of the teams (halves), and
 * barriers. Kernels add what they need besides behind it, from BYTES on. A producer's thread gets N_KEPT
 * registers, a consumer's N_TAKEN where there are several teams. N_ROWS: of a block; where there are more
 * teams than these need, a tile is for N_ROWS / TEAM_ROWS of them. */
template <int N_DIM, int N_TEAMS, int N_KEPT, int N_TAKEN, int N_ROWS = N_TEAMS *TEAM_ROWS>
struct team_config {
    enum {
        DIM = N_DIM,
        TEAMS = N_TEAMS,
        HALVES = DIM / TENSOR_TILE,
        HALF = KEYS * ROW,
        TILE = HALVES * HALF,
        ROWS = N_ROWS,
        Q_HALF = ROWS * ROW,
        QUERIES = HALVES * Q_HALF,
        BARRIERS = 2 * STAGES + 1,
        BYTES = ALIGN + STAGES * TILE + QUERIES + (BARRIERS * 8 + 15) / 16 * 16,
        THREADS = TEAMS * TEAM + COPY_WARPS * WARP,
        GIVEN = 65536 / THREADS / 8 * 8, /* registers of a thread at first */
        KEPT = N_KEPT,
        TAKEN = N_TAKEN
    };
    static_assert(BYTES <= 227 * 1024, "the pipeline fits");
    static_assert(TEAMS == 1 || COPY_WARPS * WARP * KEPT + TEAMS * TEAM * TAKEN <= THREADS * GIVEN,
                  "teams take what those who copy give");
};

/* A block's shared memory. Copies fill `full`, teams that are done with a tile empty `empty`, (STAGES)
 * barriers each; the teams meet at `ready`. `more` is what lies behind. */
struct smem {
    uint32_t tiles, queries, full, empty, ready, more;
};

/* Which team the thread is of, TEAMS or more for those that copy: in a form that the compiler knows to be the
 * same for the whole warp, so that it computes descriptors once a warp. */
__device__ static inline int team_of_warp(void)
{
    return __shfl_sync(~0u, (int)threadIdx.x / TEAM, 0);
}

/* Opens it; a stage is full after so many arrivals. By all threads of the block. */
template <class F> static __device__ inline struct smem open_smem(uint32_t start, int full_arrivals)
{
    uint32_t tiles = (start + ALIGN - 1) / ALIGN * ALIGN, queries = tiles + STAGES * F::TILE;
    uint32_t full = queries + F::QUERIES, empty = full + STAGES * 8, ready = empty + STAGES * 8;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            barrier_init(full + i * 8, full_arrivals);
            barrier_init(empty + i * 8, F::ROWS / WARP_ROWS);
        }
        barrier_init(ready, F::TEAMS * TEAM);
        barrier_init_done();
    }
    __syncthreads();
    return {tiles, queries, full, empty, ready, full + (F::BARRIERS * 8 + 15) / 16 * 16};
}

/* The order in which tiles of attention come: K of the first, then K of each next one before V, and the last
 * V. turn_is_keys(): the turn brings K. */
__device__ static inline int turn_of_keys(int tile)
{
    return max(2 * tile - 1, 0);
}
__device__ static inline int turn_of_values(int n_tiles, int tile)
{
    return min(2 * tile + 2, 2 * n_tiles - 1);
}
__device__ static inline bool turn_is_keys(int n_tiles, int turn)
{
    return turn == 0 || (turn % 2 && turn < 2 * n_tiles - 1);
}

template <class F> __device__ static inline uint32_t tile_of(const struct smem &r, unsigned turn)
{
    return r.tiles + turn % STAGES * F::TILE;
}

__device__ static inline uint32_t full_of(const struct smem &r, unsigned turn)
{
    return r.full + turn % STAGES * 8;
}

/* The consumers wait for what comes at a turn. */
__device__ static inline void wait_for(const struct smem &r, unsigned turn)
{
    barrier_wait(full_of(r, turn), turn / STAGES & 1);
}

/* The producers wait until its stage is empty. */
__device__ static inline void wait_for_room(const struct smem &r, unsigned turn)
{
    if (turn >= STAGES)
        barrier_wait(r.empty + turn % STAGES * 8, (turn / STAGES - 1) & 1);
}

/* The warp is done with what came then. */
__device__ static inline void give_back(const struct smem &r, unsigned turn)
{
    __syncwarp();
    if (threadIdx.x % WARP == 0)
        barrier_arrive(r.empty + turn % STAGES * 8);
}

/* All teams meet, for the times-th time (0: first). */
__device__ static inline void teams_meet(const struct smem &r, int times)
{
    barrier_arrive(r.ready);
    barrier_wait(r.ready, times & 1);
}

/* Writes the team's queries, the rows of `head` that its warps begin at row0, to where its rows are in `to`,
 * in the places of the 128-byte swizzle. */
template <class F>
static __device__ inline void make_queries(const struct prefill_work &w, int head, int row0, char *to)
{
    const float *q[2];
    int t = threadIdx.x % 4, team_row = threadIdx.x / WARP * WARP_ROWS;
    float x[F::DIM / 16][4], y[F::DIM / 16][4];
    find_queries(w, head, row0, q);
#pragma unroll
    for (int k = 0; k < F::DIM / 16; k++) /* all at once: one wait for memory */
        load_pairs(w, q, k, x[k], y[k]);
#pragma unroll
    for (int k = 0; k < F::DIM / 16; k++) {
#pragma unroll
        for (int e = 0; e < 4; e++) {
            int row = own_row(team_row, e % 2), column = k * 16 + e / 2 * 8, half = column / TENSOR_TILE;
            int at = half * F::Q_HALF + row * ROW + ((column % TENSOR_TILE / 8) ^ (row & 7)) * 16 + t * 4;
            *(uint32_t *)(to + at) = round_pair(x[k][e], y[k][e]);
        }
    }
    written_for_products();
}

/* The same floats one after the other. */
template <int N> static __device__ inline float (&flat_sums(float (&x)[N][4]))[4 * N]
{
    return *(float(*)[4 * N]) x;
}

/* Asks for the products of the team's 64 rows at `rows`, halves rows_half apart, with those at `columns`, 8
 * for each of the groups. */
template <class F, int GROUPS>
static __device__ inline void ask_logits(uint32_t rows, uint32_t rows_half, uint32_t columns,
                                         uint32_t columns_half, float (&s)[GROUPS][4])
{
    hold_registers(flat_sums(s));
    wgmma_begin();
#pragma unroll
    for (int k = 0; k < F::DIM; k += 16) {
        uint32_t half = k / TENSOR_TILE, at = k % TENSOR_TILE * 2;
        wgmma(flat_sums(s), tile_at(rows, half * rows_half + at), tile_at(columns, half * columns_half + at),
              k);
    }
    wgmma_commit();
}

/* Asks for outputs + weights . V, which is at `values`. */
template <class F>
static __device__ inline void ask_values(uint32_t values, const uint32_t (&p)[TILE_PAGES][4],
                                         float (&o)[F::DIM / 8][4])
{
    hold_registers(flat_sums(o));
    uint64_t v = turned_tile_at(values, F::HALF);
    wgmma_begin();
#pragma unroll
    for (int page = 0; page < TILE_PAGES; page++)
        wgmma_values(flat_sums(o), p[page], v + page * KV_PAGE_TOKENS * ROW / 16, 1);
    wgmma_commit();
}

template <int DIM> static __device__ inline void rescale_sums(struct out_rows<DIM> &m, const float (&keep)[2])
{
#pragma unroll
    for (int x = 0; x < DIM / 8; x++)
#pragma unroll
        for (int e = 0; e < 4; e++)
            m.o[x][e] *= keep[e / 2];
}

/* A team's work. The products of a tile's K and of the V before it are asked for together: while a team turns
 * the logits of a tile into weights, the weights of the tile before are being multiplied with its V
 * (FlashAttention-3, arXiv 2407.08608, section 3.2), and the other team's products fill what is left. `hide`
 * sets logits that a row does not see to -inf: before(i) is called before tile i is there, landed() when it
 * or its V is, came(m, i, turn) once its logits are asked for and before its stage is given back, and then
 * hide(m, i, s). */
template <class F, class H>
static __device__ inline void attend_tiles(struct out_rows<F::DIM> &m, const struct smem &r, int n_tiles,
                                           H &hide)
{
    uint32_t queries = r.queries + team_of_warp() * TEAM_ROWS * ROW;
    float s[KEY_GROUPS][4] = {}, keep[2];
    uint32_t weights[TILE_PAGES][4];
    hide.before(0);
    wait_for(r, 0);
    hide.landed();
    ask_logits<F>(queries, F::Q_HALF, tile_of<F>(r, 0), F::HALF, s);
    hide.came(m, 0, 0);
    wgmma_wait();
    hold_registers(flat_sums(s));
    give_back(r, 0);
    hide.hide(m, 0, s);
    softmax_rows(m, s, keep);
    round_weights(m, s, keep, weights);
#pragma unroll 1
    for (int i = 1; i < n_tiles; i++) {
        int keys = turn_of_keys(i), values = turn_of_values(n_tiles, i - 1);
        hide.before(i);
        wait_for(r, keys);
        hide.landed();
        ask_logits<F>(queries, F::Q_HALF, tile_of<F>(r, keys), F::HALF, s);
        hide.came(m, i, keys);
        wait_for(r, values);
        hide.landed();
        ask_values<F>(tile_of<F>(r, values), weights, m.o);
        wgmma_wait_but_one();
        hold_registers(flat_sums(s));
        give_back(r, keys);
        hide.hide(m, i, s);
        softmax_rows(m, s, keep);
        /* The branch keeps the exponentials before the wait, where the compiler would not leave them. */
        hold_registers(flat_sums(s));
        if (__any_sync(~0u, keep[0] != 1.0f || keep[1] != 1.0f)) {
            wgmma_wait();
            hold_registers(flat_sums(m.o));
            rescale_sums(m, keep);
        }
        wgmma_wait();
        hold_registers(flat_sums(m.o));
        give_back(r, values);
        round_weights(m, s, keep, weights);
    }
    int values = turn_of_values(n_tiles, n_tiles - 1);
    wait_for(r, values);
    hide.landed();
    ask_values<F>(tile_of<F>(r, values), weights, m.o);
    wgmma_wait();
    hold_registers(flat_sums(m.o));
}

/* Lets a kernel have so much shared memory. */
static inline int allow_smem(struct device *d, const void *kernel, int bytes, const char *op)
{
    return cuda_check(d, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
                      op);
}

#endif
