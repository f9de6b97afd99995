/* Prefill attention on Hopper's tensor cores, for a bf16 cache. The kernel is warp-specialised: one or two
 * warpgroups multiply (consumers, called teams, 64 rows each), and a third one copies tiles of keys for them
 * by TMA (the producer). While a team turns the logits of a tile into weights, the weights of the tile before
 * are being multiplied with its V (FlashAttention-3, arXiv 2407.08608, section 3.2), and the other team's
 * products fill what is left.
 *
 * wgmma needs rows of 128 bytes, so a head of 128 dimensions is copied in halves. The order in which the
 * cache stores the 16-byte chunks of a row is already that of wgmma's 128-byte swizzle. Outputs stay in the
 * tensor cores' sums over a split's keys: what these truncate is little beside the rounding of the weights.
 * What was tried, with its times, is in the body of commit b65e1a7. */
#include <string.h>

#include "kernels/cuda/device/ptx.cuh"
#include "kernels/cuda/device/tensor_map.cuh"
#include "kernels/cuda/device/wgmma.cuh"
#include "kernels/cuda/attention/prefill_rows.cuh"

enum { TEAM = 4 * WARP, TEAM_ROWS = TEAM / WARP * WARP_ROWS, COPY_WARPS = 4 };
enum { KEYS = 128, KEY_GROUPS = KEYS / 8, TILE_PAGES = KEYS / KV_PAGE_TOKENS, STAGES = 4 };
enum { ROW = TENSOR_TILE * 2, ALIGN = 1024 };

/* Shared memory: a pipeline of tiles of K and of V (halves of KEYS rows), the queries of the teams (halves),
 * and barriers. */
template <int N_DIM, int N_TEAMS> struct team_config {
    enum {
        DIM = N_DIM,
        TEAMS = N_TEAMS,
        HALVES = DIM / TENSOR_TILE,
        HALF = KEYS * ROW,
        TILE = HALVES * HALF,
        Q_HALF = TEAM_ROWS * ROW,
        QUERIES = HALVES * Q_HALF,
        BARRIERS = 2 * STAGES + TEAMS,
        BYTES = ALIGN + STAGES * TILE + TEAMS * QUERIES + BARRIERS * 8,
        THREADS = TEAMS * TEAM + COPY_WARPS * WARP,
        /* Registers of a thread: at first, while it copies, and in one of two teams. */
        GIVEN = 65536 / THREADS / 8 * 8,
        KEPT = 24,
        TAKEN = 240
    };
    static_assert(BYTES <= 227 * 1024, "the pipeline fits");
    static_assert(TEAMS == 1 || COPY_WARPS * WARP * KEPT + TEAMS * TEAM * TAKEN <= THREADS * GIVEN,
                  "teams take what those who copy give");
};

struct wgmma_work {
    CUtensorMap pool; /* rows of all KV blocks: K of 16 tokens, then V */
    struct prefill_work w;
};

/* A block's shared memory, and its piece. Copies fill `full`, teams that are done with a tile empty `empty`,
 * (STAGES) barriers each; `ready`, one a team: its queries are there. */
struct smem {
    uint32_t tiles, queries, full, empty, ready;
};

/* The order in which tiles come: K of the first, then K of each next one before V, and the last V. */
__device__ static inline int turn_of_keys(int tile)
{
    return max(2 * tile - 1, 0);
}
__device__ static inline int turn_of_values(const struct piece &p, int tile)
{
    return min(2 * tile + 2, 2 * p.n_tiles - 1);
}

template <class F> __device__ static inline uint32_t tile_of(const struct smem &r, int turn)
{
    return r.tiles + turn % STAGES * F::TILE;
}

__device__ static inline void wait_for(const struct smem &r, int turn)
{
    barrier_wait(r.full + turn % STAGES * 8, turn / STAGES & 1);
}

/* The warp is done with what came then. */
__device__ static inline void give_back(const struct smem &r, int turn)
{
    __syncwarp();
    if (threadIdx.x % WARP == 0)
        barrier_arrive(r.empty + turn % STAGES * 8);
}

/* The part of the block's copies of a warp that copies: of K or V of each tile, every fourth half of a page.
 * A lane has one at most, and knows its page's KV block a tile ahead. */
template <class F>
static __device__ inline void copy_tiles(const struct wgmma_work &a, const struct piece &p,
                                         const struct smem &r)
{
    int copy = threadIdx.x % WARP * COPY_WARPS + threadIdx.x / WARP % COPY_WARPS;
    int page = copy / F::HALVES, half = copy % F::HALVES, last = 2 * p.n_tiles - 1;
    uint32_t to = half * F::HALF + page * KV_PAGE_TOKENS * ROW;
    int keys = unit_of(a.w, p, page), values = keys, next = unit_of(a.w, p, TILE_PAGES + page);
#pragma unroll 1
    for (int turn = 0; turn <= last; turn++) {
        uint32_t full = r.full + turn % STAGES * 8;
        bool is_keys = turn == 0 || (turn % 2 && turn < last);
        if (is_keys && turn) {
            keys = next;
            next = unit_of(a.w, p, (turn + 3) / 2 * TILE_PAGES + page);
        }
        if (turn >= STAGES)
            barrier_wait(r.empty + turn % STAGES * 8, (turn / STAGES - 1) & 1);
        if (threadIdx.x % WARP == 0)
            barrier_expect(full, F::TILE / COPY_WARPS);
        __syncwarp();
        if (page < TILE_PAGES)
            tma_tensor_copy(tile_of<F>(r, turn) + to, &a.pool, half * TENSOR_TILE,
                            is_keys ? 2 * keys * KV_PAGE_TOKENS : (2 * values + 1) * KV_PAGE_TOKENS, full);
        if (!is_keys)
            values = keys;
    }
}

/* The team's queries at `to`, in the places of the 128-byte swizzle. */
template <class F>
static __device__ inline void make_queries(const struct prefill_work &w, const struct piece &p, char *to)
{
    const float *q[2];
    int t = threadIdx.x % 4, row0 = threadIdx.x / WARP % 4 * WARP_ROWS;
    float x[F::DIM / 16][4], y[F::DIM / 16][4];
    find_queries(w, p.head, p.row0, q);
#pragma unroll
    for (int k = 0; k < F::DIM / 16; k++) /* all at once: one wait for memory */
        load_pairs(w, q, k, x[k], y[k]);
#pragma unroll
    for (int k = 0; k < F::DIM / 16; k++) {
#pragma unroll
        for (int e = 0; e < 4; e++) {
            int row = own_row(row0, e % 2), column = k * 16 + e / 2 * 8, half = column / TENSOR_TILE;
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

/* Asks for the logits of a tile whose K is at `keys`. */
template <class F>
static __device__ inline void ask_logits(uint32_t queries, uint32_t keys, float (&s)[KEY_GROUPS][4])
{
    hold_registers(flat_sums(s));
    wgmma_begin();
#pragma unroll
    for (int k = 0; k < F::DIM; k += 16) {
        int half = k / TENSOR_TILE, at = k % TENSOR_TILE * 2;
        wgmma(flat_sums(s), tile_at(queries + half * F::Q_HALF + at), tile_at(keys + half * F::HALF + at), k);
    }
    wgmma_commit();
}

/* Asks for outputs + weights . V, which is at `values`. */
template <class F>
static __device__ inline void ask_values(uint32_t values, const uint32_t (&p)[TILE_PAGES][4],
                                         float (&o)[F::DIM / 8][4])
{
    hold_registers(flat_sums(o));
    wgmma_begin();
#pragma unroll
    for (int page = 0; page < TILE_PAGES; page++)
        wgmma_values(flat_sums(o), p[page], turned_tile_at(values + page * KV_PAGE_TOKENS * ROW, F::HALF), 1);
    wgmma_commit();
}

/* What the rows do not see of the piece's i-th tile. */
template <int DIM>
static __device__ inline void hide_tile(const struct out_rows<DIM> &m, const struct prefill_work &w,
                                        const struct piece &p, int i, unsigned live,
                                        float (&s)[KEY_GROUPS][4])
{
    int key0 = p.from + i * KEYS;
    if (sees_all(w, p, key0, KEYS, live))
        return;
#pragma unroll
    for (int part = 0; part < KEYS / MASK_KEYS; part++) {
        uint64_t seen[2];
        needs_mask(w, p.head, key0 + part * MASK_KEYS, m.pos, live, part * MASK_PAGES, seen);
        hide_keys(s, part * MASK_GROUPS, seen);
    }
}

template <int DIM> static __device__ inline void rescale_sums(struct out_rows<DIM> &m, const float (&keep)[2])
{
    if (!__any_sync(~0u, keep[0] != 1.0f || keep[1] != 1.0f))
        return;
#pragma unroll
    for (int x = 0; x < DIM / 8; x++)
#pragma unroll
        for (int e = 0; e < 4; e++)
            m.o[x][e] *= keep[e / 2];
}

/* A team's work. The products of a tile's K and of the V before it are asked for together. */
template <class F>
static __device__ inline void attend_tiles(const struct prefill_work &w, const struct piece &p,
                                           const struct smem &r)
{
    struct out_rows<F::DIM> m;
    float s[KEY_GROUPS][4] = {}, keep[2];
    uint32_t weights[TILE_PAGES][4];
    unsigned live = lives_of(w, p, 0, TILE_PAGES);
    start_out(m, w, p.row0);
    wait_for(r, 0);
    ask_logits<F>(r.queries, tile_of<F>(r, 0), s);
    wgmma_wait();
    hold_registers(flat_sums(s));
    give_back(r, 0);
    hide_tile(m, w, p, 0, live, s);
    softmax_rows(m, s, keep);
    round_weights(m, s, keep, weights);
#pragma unroll 1
    for (int i = 1; i < p.n_tiles; i++) {
        int keys = turn_of_keys(i), values = turn_of_values(p, i - 1);
        live = lives_of(w, p, i, TILE_PAGES);
        wait_for(r, keys);
        ask_logits<F>(r.queries, tile_of<F>(r, keys), s);
        wait_for(r, values);
        ask_values<F>(tile_of<F>(r, values), weights, m.o);
        wgmma_wait_but_one();
        hold_registers(flat_sums(s));
        give_back(r, keys);
        hide_tile(m, w, p, i, live, s);
        softmax_rows(m, s, keep);
        wgmma_wait();
        hold_registers(flat_sums(m.o));
        give_back(r, values);
        rescale_sums(m, keep);
        round_weights(m, s, keep, weights);
    }
    int values = turn_of_values(p, p.n_tiles - 1);
    wait_for(r, values);
    ask_values<F>(tile_of<F>(r, values), weights, m.o);
    wgmma_wait();
    hold_registers(flat_sums(m.o));
    finish_rows(m, w, p.split, p.head, p.row0);
}

/* By all threads of the block. */
template <class F> static __device__ inline struct smem open_smem(uint32_t start, int team)
{
    uint32_t tiles = (start + ALIGN - 1) / ALIGN * ALIGN, queries = tiles + STAGES * F::TILE;
    uint32_t full = queries + F::TEAMS * F::QUERIES, empty = full + STAGES * 8, ready = empty + STAGES * 8;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            barrier_init(full + i * 8, COPY_WARPS);
            barrier_init(empty + i * 8, F::TEAMS * TEAM / WARP);
        }
        for (int i = 0; i < F::TEAMS; i++)
            barrier_init(ready + i * 8, TEAM);
        barrier_init_done();
    }
    __syncthreads();
    return {tiles, queries + team * F::QUERIES, full, empty, ready + team * 8};
}

template <class F>
static __global__ void __launch_bounds__(F::THREADS, 1)
    wgmma_kernel(const __grid_constant__ struct wgmma_work a)
{
    extern __shared__ __align__(1024) char shared[];
    needs_hopper();
    struct piece p;
    if (!find_piece(a.w, F::TEAMS * TEAM_ROWS, KEYS, &p))
        return;
    struct smem r = open_smem<F>(shared_address(shared), threadIdx.x / TEAM);
    if (threadIdx.x >= F::TEAMS * TEAM) {
        if (F::TEAMS > 1)
            give_registers<F::KEPT>();
        copy_tiles<F>(a, p, r);
        return;
    }
    if (F::TEAMS > 1)
        take_registers<F::TAKEN>();
    make_queries<F>(a.w, p, shared + (r.queries - shared_address(shared)));
    barrier_arrive(r.ready);
    barrier_wait(r.ready, 0);
    attend_tiles<F>(a.w, p, r);
}

template <class F> static int launch_wgmma(struct device *d, const struct prefill_work *w, int blocks)
{
    struct wgmma_work a;
    memset(&a, 0, sizeof a);
    a.w = *w;
    /* How many KV blocks the pool has is not said here; no table names another. */
    int rc = tensor_map(d, &a.pool, w->a.kv.pool, INT32_MAX, F::DIM, F::DIM, KV_PAGE_TOKENS, 0);
    if (!rc)
        rc = cuda_check(
            d,
            cudaFuncSetAttribute(wgmma_kernel<F>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)F::BYTES),
            "prefill_attend");
    if (rc)
        return rc;
    dim3 grid(blocks, w->a.kv.n_kv, w->n_splits);
    wgmma_kernel<F><<<grid, F::THREADS, F::BYTES, d->stream>>>(a);
    return cuda_launched(d, OP_prefill_attend);
}

template <int DIM> static int launch_teams(struct device *d, const struct prefill_work *w)
{
    int blocks, warps = prefill_warps(d, w, &blocks);
    return warps * WARP == TEAM ? launch_wgmma<team_config<DIM, 1>>(d, w, blocks)
                                : launch_wgmma<team_config<DIM, 2>>(d, w, blocks);
}

int prefill_wgmma(struct device *d, const struct prefill_work *w)
{
    return w->a.kv.head_dim == 64 ? launch_teams<64>(d, w) : launch_teams<128>(d, w);
}
