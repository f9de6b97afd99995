/* Prefill attention on tensor cores for a bf16 cache, on GPUs after Hopper: each warp multiplies on its own.
 * Tiles are copied as they are stored in the cache; see prefill_rows.cuh. */
#include "kernels/cuda/device/ptx.cuh"
#include "kernels/cuda/attention/prefill_rows.cuh"

enum { KEYS = 64, KEY_GROUPS = KEYS / 8, TILE_PAGES = KEYS / KV_PAGE_TOKENS, STAGES = 4, LAG = 2 };

template <int DIM> struct warp_queries {
    uint32_t q[DIM / 16][4];
};

template <int DIM>
__device__ static inline void start_queries(struct warp_queries<DIM> &m, const struct prefill_work &w,
                                            int head, int row0)
{
    const float *q[2];
    find_queries(w, head, row0, q);
#pragma unroll
    for (int k = 0; k < DIM / 16; k++) {
        float x[4], y[4];
        load_pairs(w, q, k, x, y);
#pragma unroll
        for (int e = 0; e < 4; e++)
            m.q[k][e] = round_pair(x[e], y[e]);
    }
}

/* Logits of a tile. `tile` is its address in shared memory. */
template <int DIM>
__device__ static inline void dot_tile(const struct warp_queries<DIM> &m, uint32_t tile,
                                       float (&s)[KEY_GROUPS][4])
{
    int lane = threadIdx.x % WARP, row = lane / 16 * 8 + lane % 8;
    /* Chunk 2k + (lane / 8) % 2 of the row, in its swizzled place: 2k is the exclusive or's other half. */
    uint32_t at = tile + row * DIM * 2 + ((lane / 8 % 2) ^ (row & 7)) * 16;
#pragma unroll
    for (int j = 0; j < KEY_GROUPS; j++)
        s[j][0] = s[j][1] = s[j][2] = s[j][3] = 0;
#pragma unroll
    for (int k = 0; k < DIM / 16; k++) {
        uint32_t keys[TILE_PAGES][4];
#pragma unroll
        for (int page = 0; page < TILE_PAGES; page++)
            load_matrices(keys[page], (at ^ (k * 32)) + page * DIM * 64);
#pragma unroll
        for (int page = 0; page < TILE_PAGES; page++) {
            mma(s[2 * page], m.q[k], keys[page][0], keys[page][1]);
            mma(s[2 * page + 1], m.q[k], keys[page][2], keys[page][3]);
        }
    }
}

/* Outputs = themselves * keep + weights . V. The layout of mma()'s results is that of its left operand. */
template <int DIM>
__device__ static inline void add_values(struct out_rows<DIM> &m, uint32_t tile, float (&s)[KEY_GROUPS][4],
                                         const float (&keep)[2])
{
    enum { WIDE = 4 }; /* groups of 8 columns at a time: independent sums that hide the latency */
    int lane = threadIdx.x % WARP, row = lane % 16;
    uint32_t at = tile + DIM * 32 + row * DIM * 2 + ((lane / 16) ^ (row & 7)) * 16;
    uint32_t p[TILE_PAGES][4];
    round_weights(m, s, keep, p);
#pragma unroll
    for (int i = 0; i < DIM / 8; i += WIDE) {
        float add[WIDE][4] = {};
#pragma unroll
        for (int page = 0; page < TILE_PAGES; page++)
#pragma unroll
            for (int x = 0; x < WIDE; x += 2) {
                uint32_t v[4];
                load_transposed(v, (at ^ ((i + x) * 16)) + page * DIM * 64);
                mma(add[x], p[page], v[0], v[1]);
                mma(add[x + 1], p[page], v[2], v[3]);
            }
#pragma unroll
        for (int x = 0; x < WIDE; x++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                m.o[i + x][e] = fmaf(m.o[i + x][e], keep[e / 2], add[x][e]);
    }
}

/* Tiles on their way to shared memory: copies fill `full`, threads that are done with a tile empty `empty`,
 * (STAGES) barriers each. */
struct pipe {
    uint32_t smem, full, empty;
};

/* By all threads, before any of them goes on to copies. */
__device__ static inline struct pipe open_pipe(uint32_t smem, uint32_t barriers)
{
    struct pipe p = {smem, barriers, barriers + STAGES * 8};
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            barrier_init(p.full + i * 8, 1);
            barrier_init(p.empty + i * 8, blockDim.x);
        }
        barrier_init_done();
    }
    __syncthreads();
    return p;
}

/* For tile i a stage is refilled that was used LAG tiles ago, so that a warp need not wait for the others. 0:
 * there is nothing to refill. */
__device__ static inline int refill_stage(const struct pipe &tiles, const struct piece &p, int i)
{
    int tile = i - LAG + STAGES;
    if (i < LAG || tile >= p.n_tiles)
        return 0;
    barrier_wait(tiles.empty + (i - LAG) % STAGES * 8, (i - LAG) / STAGES & 1);
    return tile;
}

/* Starts copying tile i; one warp's work. */
template <int DIM, bool WINDOW>
__device__ static inline void fetch_pages(const struct prefill_work &w, const struct piece &p,
                                          const struct pipe &to, int i)
{
    const int kv_block_bytes = 2 * KV_PAGE_TOKENS * DIM * 2;
    int lane = threadIdx.x % WARP, stage = i % STAGES;
    if (lane == 0)
        barrier_expect(to.full + stage * 8, TILE_PAGES * kv_block_bytes);
    __syncwarp();
    if (lane < TILE_PAGES)
        tma_bulk_copy(to.smem + (stage * TILE_PAGES + lane) * kv_block_bytes,
                      (const char *)w.a.kv.pool +
                          (size_t)unit_of<WINDOW>(w, p, i * TILE_PAGES + lane) * kv_block_bytes,
                      kv_block_bytes, to.full + stage * 8);
    __syncwarp();
}

template <int DIM, bool WINDOW>
__device__ static inline void run_tile(const struct warp_queries<DIM> &q, struct out_rows<DIM> &m,
                                       const struct prefill_work &w, const struct piece &p, uint32_t tile,
                                       int key0, unsigned live)
{
    uint64_t seen[2] = {~0ull, ~0ull};
    float s[KEY_GROUPS][4], keep[2];
    bool whole = sees_all<WINDOW>(w, p, key0, KEYS, live);
    if (!whole)
        needs_mask<WINDOW>(w, p.head, key0, m.pos, live, 0, seen);
    if (!__any_sync(~0u, (seen[0] | seen[1]) != 0))
        return;
    dot_tile(q, tile, s);
    if (!whole)
        hide_keys(s, 0, seen);
    softmax_rows(m, s, keep);
    add_values(m, tile, s, keep);
}

template <int DIM, bool WINDOW>
static __global__ void __launch_bounds__(MAX_WARPS *WARP, 1)
    mma_kernel(const __grid_constant__ struct prefill_work w)
{
    extern __shared__ __align__(1024) char shared[];
    needs_hopper();
    int warp = threadIdx.x / WARP;
    struct piece p;
    struct warp_queries<DIM> q;
    struct out_rows<DIM> m;
    if (!find_piece<WINDOW>(w, blockDim.x / WARP * WARP_ROWS, KEYS, &p))
        return;
    uint32_t smem = shared_address(shared);
    struct pipe tiles = open_pipe(smem, smem + STAGES * KEYS * DIM * 4);
    for (int i = 0; warp == 0 && i < min(STAGES, p.n_tiles); i++)
        fetch_pages<DIM, WINDOW>(w, p, tiles, i);
    start_queries(q, w, p.head, p.row0);
    start_out(m, w, p.row0);
#pragma unroll 1
    for (int i = 0; i < p.n_tiles; i++) {
        int stage = i % STAGES, key0 = p.from + i * KEYS;
        unsigned live = lives_of(w, p, i, TILE_PAGES);
        int more = warp == 0 ? refill_stage(tiles, p, i) : 0;
        if (more)
            fetch_pages<DIM, WINDOW>(w, p, tiles, more);
        barrier_wait(tiles.full + stage * 8, i / STAGES & 1);
        run_tile<DIM, WINDOW>(q, m, w, p, tiles.smem + stage * KEYS * DIM * 4, key0, live);
        /* All threads: racecheck does not know that one may speak for a warp. */
        barrier_arrive(tiles.empty + stage * 8);
    }
    finish_rows(m, w, p.split, p.head, p.row0, w.rows);
}

template <int DIM, bool WINDOW> static int launch_mma(struct device *d, const struct prefill_work *w)
{
    int blocks, warps = prefill_warps(d, w, &blocks);
    int bytes = STAGES * KEYS * DIM * 4 + 2 * STAGES * 8;
    int rc = cuda_check(
        d, cudaFuncSetAttribute(mma_kernel<DIM, WINDOW>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
        "prefill_attend");
    if (rc)
        return rc;
    mma_kernel<DIM, WINDOW><<<dim3(blocks, w->a.kv.n_kv, w->n_splits), warps * WARP, bytes, d->stream>>>(*w);
    return cuda_launched(d, OP_prefill_attend);
}

template <int DIM> static int launch_dim(struct device *d, const struct prefill_work *w)
{
    return w->a.window > 0 ? launch_mma<DIM, true>(d, w) : launch_mma<DIM, false>(d, w);
}

int prefill_mma(struct device *d, const struct prefill_work *w)
{
    return w->a.kv.head_dim == 64 ? launch_dim<64>(d, w) : launch_dim<128>(d, w);
}
