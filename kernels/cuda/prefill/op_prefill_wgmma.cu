/* Prefill attention on Hopper's tensor cores, for a bf16 cache. Four warps form a team with 64 rows; a block
 * has one team or two, which share tiles of keys. While a team turns the logits of one tile into weights, the
 * logits of the next tile are being computed. See prefill_rows.cuh.
 *
 * wgmma needs rows of 128 bytes, so a head of 128 dimensions is copied in halves. The order in which the
 * cache stores the 16-byte chunks of a row is already that of wgmma's 128-byte swizzle.
 *
 * Measured on an H200, all attention over a prompt of 16,384 tokens of a 1.5B model takes 95 ms;
 * op_prefill_mma.cu takes 130 ms. With one part for queries and weights it takes 73 ms. With all copies made
 * by one warp, for which its team had to wait, it took 113 ms. With teams that start their products in turn,
 * by barriers as in FlashAttention-3 (arXiv 2407.08608), it took 106 ms. */
#include <string.h>

#include "kernels/cuda/device/ptx.cuh"
#include "kernels/cuda/device/tensor_map.cuh"
#include "kernels/cuda/device/wgmma.cuh"
#include "kernels/cuda/prefill/prefill_rows.cuh"

enum { TEAM = 4, TEAM_ROWS = TEAM * WARP_ROWS, ROW = TENSOR_TILE * 2, ALIGN = 1024 };

/* Bytes of shared memory: stages of tiles (K's halves, then V's), the queries of the teams (parts, halves),
 * barriers. */
template <int DIM> struct team_form {
    enum {
        HALVES = DIM / TENSOR_TILE,
        TILE = KEYS * ROW,
        STAGE = 2 * HALVES * TILE,
        Q_TILE = TEAM_ROWS * ROW,
        QUERIES = PARTS * HALVES * Q_TILE
    };
    static int bytes(int teams)
    {
        return ALIGN + STAGES * STAGE + teams * QUERIES + 2 * STAGES * 8;
    }
};

struct wgmma_work {
    CUtensorMap pool; /* rows of all units: K of 16 tokens, then V */
    struct prefill_work w;
};

/* The parts of the team's queries at `to`, in the places of the 128-byte swizzle. */
template <int DIM>
static __device__ inline void make_queries(const struct prefill_work &w, const struct piece &p, char *to)
{
    const float *q[2];
    int t = threadIdx.x % 4, row0 = threadIdx.x / WARP % TEAM * WARP_ROWS;
    float x[DIM / 16][4], y[DIM / 16][4];
    find_queries(w, p.head, p.row0, q);
#pragma unroll
    for (int k = 0; k < DIM / 16; k++) /* all at once: one wait for memory */
        load_pairs(w, q, k, x[k], y[k]);
#pragma unroll
    for (int k = 0; k < DIM / 16; k++) {
#pragma unroll
        for (int e = 0; e < 4; e++) {
            int row = own_row(row0, e % 2), column = k * 16 + e / 2 * 8, half = column / TENSOR_TILE;
            int at = half * team_form<DIM>::Q_TILE + row * ROW +
                     ((column % TENSOR_TILE / 8) ^ (row & 7)) * 16 + t * 4;
#pragma unroll
            for (int n = 0; n < PARTS; n++)
                *(uint32_t *)(to + n * team_form<DIM>::HALVES * team_form<DIM>::Q_TILE + at) =
                    round_pair(x[k][e], y[k][e]);
        }
    }
    written_for_products();
}

/* A lane's share of a tile's copies, each a page's K or V or half of it: every warp copies a part, since one
 * that did it all would keep its team waiting. */
struct share {
    int page, part; /* part: half of K, or after those of V; page TILE_PAGES: none */
    int unit;       /* of the tile that is fetched next, asked for a tile before */
    uint32_t to;    /* in stage 0 */
};

/* Starts copying tile i; all warps. */
template <int DIM>
static __device__ inline void fetch(const struct wgmma_work &a, const struct pipe &tiles,
                                    const struct share &s, int i)
{
    typedef team_form<DIM> F;
    int stage = i % STAGES;
    if (threadIdx.x == 0)
        barrier_expect(tiles.full + stage * 8, F::STAGE);
    if (s.page < TILE_PAGES)
        tensor_copy(s.to + stage * F::STAGE, &a.pool, s.part % F::HALVES * TENSOR_TILE,
                    (s.unit * 2 + s.part / F::HALVES) * KV_PAGE_TOKENS, tiles.full + stage * 8);
    __syncwarp();
}

/* Starts copying the first tiles. */
template <int DIM>
static __device__ inline struct share fetch_first(const struct wgmma_work &a, const struct piece &p,
                                                  const struct pipe &tiles)
{
    const int parts = 2 * team_form<DIM>::HALVES;
    int copy = threadIdx.x % WARP * (blockDim.x / WARP) + threadIdx.x / WARP, unit[STAGES + 1];
    struct share s = {min(copy / parts, (int)TILE_PAGES), copy % parts, 0, 0};
    s.to = tiles.room + s.part * team_form<DIM>::TILE + s.page * KV_PAGE_TOKENS * ROW;
#pragma unroll
    for (int i = 0; i <= STAGES; i++) /* all at once: one wait for memory */
        unit[i] = unit_of(a.w, p, i, s.page);
#pragma unroll
    for (int i = 0; i <= STAGES; i++) {
        s.unit = unit[i];
        if (i < min((int)STAGES, p.n_tiles))
            fetch<DIM>(a, tiles, s, i);
    }
    return s;
}

/* The same floats one after the other. */
template <int N> static __device__ inline float (&flat(float (&x)[N][4]))[4 * N]
{
    return *(float(*)[4 * N]) x;
}

/* Asks for the logits of a tile whose K is at `keys`. */
template <int DIM>
static __device__ inline void ask_logits(uint32_t queries, uint32_t keys, float (&s)[KEY_GROUPS][4])
{
    typedef team_form<DIM> F;
    hold(flat(s));
    wgmma_begin();
#pragma unroll
    for (int n = PARTS - 1; n >= 0; n--)
#pragma unroll
        for (int k = 0; k < DIM; k += 16) {
            int half = k / TENSOR_TILE, at = k % TENSOR_TILE * 2;
            wgmma(flat(s), tile_at(queries + (n * F::HALVES + half) * F::Q_TILE + at),
                  tile_at(keys + half * F::TILE + at), n < PARTS - 1 || k);
        }
    wgmma_commit();
}

/* Asks for weights . V, which is at `values`. */
template <int DIM>
static __device__ inline void ask_values(uint32_t values, const uint32_t (&p)[PARTS][TILE_PAGES][4],
                                         float (&add)[DIM / 8][4])
{
    hold(flat(add));
    wgmma_begin();
#pragma unroll
    for (int n = PARTS - 1; n >= 0; n--)
#pragma unroll
        for (int page = 0; page < TILE_PAGES; page++)
            wgmma_values(flat(add), p[n][page],
                         turned_tile_at(values + page * KV_PAGE_TOKENS * ROW, team_form<DIM>::TILE),
                         n < PARTS - 1 || page);
    wgmma_commit();
}

/* A tile whose logits are there: its weights, while the next tile's logits are made, then its outputs. */
template <int DIM>
static __device__ inline void add_tile(struct out_rows<DIM> &m, uint32_t values, float (&s)[KEY_GROUPS][4],
                                       float (&next)[KEY_GROUPS][4])
{
    uint32_t p[PARTS][TILE_PAGES][4];
    float add[DIM / 8][4] = {}, keep[2];
    soften(m, s, keep);
    split_weights(s, p);
    ask_values<DIM>(values, p, add);
    wgmma_wait();
    hold(flat(add));
    hold(flat(next));
#pragma unroll
    for (int i = 0; i < DIM / 8; i++)
#pragma unroll
        for (int e = 0; e < 4; e++)
            m.o[i][e] = fmaf(m.o[i][e], keep[e / 2], add[i][e]);
}

template <int DIM>
static __global__ void __launch_bounds__(MAX_WARPS *WARP, 1)
    wgmma_kernel(const __grid_constant__ struct wgmma_work a)
{
    typedef team_form<DIM> F;
    extern __shared__ __align__(1024) char shared[];
    needs_hopper();
    const struct prefill_work &w = a.w;
    int warp = threadIdx.x / WARP;
    uint32_t start = shared_address(shared);
    uint32_t room = (start + ALIGN - 1) / ALIGN * ALIGN, behind = room + STAGES * F::STAGE;
    uint32_t queries = behind + warp / TEAM * F::QUERIES;
    struct piece p;
    struct out_rows<DIM> m;
    if (!find_piece(w, &p))
        return;
    struct pipe tiles = open_pipe(room, behind + blockDim.x / (TEAM * WARP) * F::QUERIES);
    struct share mine = fetch_first<DIM>(a, p, tiles);
    make_queries<DIM>(w, p, shared + (queries - start));
    start_out(m, w, p.row0);
    __syncthreads();
    float s[KEY_GROUPS][4] = {}, next[KEY_GROUPS][4] = {};
    unsigned coming = lives_of(w, p, 0);
    barrier_wait(tiles.full, 0);
    ask_logits<DIM>(queries, tiles.room, s);
    wgmma_wait();
    hold(flat(s));
#pragma unroll 1
    for (int i = 0; i < p.n_tiles; i++) {
        int stage = i % STAGES, after = (i + 1) % STAGES, key0 = p.from + i * KEYS;
        unsigned live = coming;
        coming = lives_of(w, p, i + 1);
        int more = refill(tiles, p, i);
        if (more) {
            fetch<DIM>(a, tiles, mine, more);
            mine.unit = unit_of(w, p, more + 1, mine.page);
        }
        if (i + 1 < p.n_tiles) {
            barrier_wait(tiles.full + after * 8, (i + 1) / STAGES & 1);
            ask_logits<DIM>(queries, tiles.room + after * F::STAGE, next);
        }
        if (!sees_all(w, p, key0, live)) {
            uint64_t seen[2];
            masks(w, p.head, key0, m.pos, live, seen);
            hide(s, seen);
        }
        add_tile(m, tiles.room + stage * F::STAGE + F::HALVES * F::TILE, s, next);
        barrier_arrive(tiles.empty + stage * 8);
#pragma unroll
        for (int j = 0; j < KEY_GROUPS; j++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                s[j][e] = next[j][e];
    }
    finish(m, w, p.split, p.head, p.row0);
}

template <int DIM> static int launch(struct device *d, const struct prefill_work *w)
{
    int blocks, warps = prefill_warps(d, w, &blocks), bytes = team_form<DIM>::bytes(warps / TEAM);
    struct wgmma_work a;
    memset(&a, 0, sizeof a);
    a.w = *w;
    /* How many units the pool has is not said here; no table names another. */
    int rc = tensor_map(d, &a.pool, w->a.kv.pool, INT32_MAX, DIM, DIM, KV_PAGE_TOKENS, 0);
    if (!rc)
        rc = cuda_check(
            d, cudaFuncSetAttribute(wgmma_kernel<DIM>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
            "prefill_attend");
    if (rc)
        return rc;
    wgmma_kernel<DIM><<<dim3(blocks, w->a.kv.n_kv, w->n_splits), warps * WARP, bytes, d->stream>>>(a);
    return cuda_launched(d, OP_prefill_attend);
}

int prefill_wgmma(struct device *d, const struct prefill_work *w)
{
    return w->a.kv.head_dim == 64 ? launch<64>(d, w) : launch<128>(d, w);
}
