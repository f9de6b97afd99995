#ifndef KERNELS_CUDA_PREFILL_PREFILL_ROWS_CUH
#define KERNELS_CUDA_PREFILL_PREFILL_ROWS_CUH

#include "kernels/cuda/prefill/prefill.cuh"

/* Prefill attention on tensor cores: what its kernels share. A warp has 16 rows, a block up to 8 warps, which
 * share tiles of 64 keys (4 pages). Queries and weights are sums of PARTS bf16 numbers, so that with 2 parts
 * results are within 1e-5 of exact attention over the cache; 1 part is the usual precision. Products of a
 * tile are added to the output in fp32 by the CUDA cores: tensor cores truncate their sums, and over
 * thousands of keys that would be seen. */
enum { PARTS = 2, MAX_WARPS = 8, WARP_ROWS = 16, KEYS = 64, STAGES = 4, LAG = 2 };
enum { KEY_GROUPS = KEYS / 8, TILE_PAGES = KEYS / KV_PAGE_TOKENS };

/* What a thread holds of its warp's rows g = lane / 4 and g + 8 (index 0 and 1), in the layout of mma()'s and
 * wgmma()'s results: of every 8 columns 2(lane % 4) and the next. */
template <int DIM> struct out_rows {
    float o[DIM / 8][4];
    float top[2], sum[2]; /* sum: of the thread's own columns */
    int pos[2];
};

/* The row of a thread's r-th (0 or 1), of the warp that begins at row0; there may be none. */
__device__ static inline int own_row(int row0, int r)
{
    return row0 + threadIdx.x % WARP / 4 + 8 * r;
}

template <int DIM>
__device__ static inline void start_out(struct out_rows<DIM> &m, const struct prefill_work &w, int row0)
{
#pragma unroll
    for (int r = 0; r < 2; r++) {
        m.pos[r] = prefill_pos(w, min(own_row(row0, r), w.rows - 1));
        m.top[r] = -CUDART_INF_F;
        m.sum[r] = 0;
    }
#pragma unroll
    for (int i = 0; i < DIM / 8; i++)
        m.o[i][0] = m.o[i][1] = m.o[i][2] = m.o[i][3] = 0;
}

/* A thread's two rows of queries. */
__device__ static inline void find_queries(const struct prefill_work &w, int head, int row0,
                                           const float *q[2])
{
#pragma unroll
    for (int r = 0; r < 2; r++)
        q[r] = prefill_q(w, head, min(own_row(row0, r), w.rows - 1)) + 2 * (threadIdx.x % 4);
}

/* Pairs of 16 columns from 16k on, scaled, in mma()'s first layout: pair e is of row e % 2, and of columns 8
 * (e / 2) + 2 (lane % 4) and the next. */
__device__ static inline void load_pairs(const struct prefill_work &w, const float *const q[2], int k,
                                         float x[4], float y[4])
{
    float scale = w.a.scale * (float)CUDART_L2E;
#pragma unroll
    for (int e = 0; e < 4; e++) {
        const float *at = q[e % 2] + k * 16 + e / 2 * 8;
        x[e] = at[0] * scale;
        y[e] = at[1] * scale;
    }
}

/* Weights of a tile as the first factor: the parts of its pages. */
__device__ static inline void split_weights(float (&s)[KEY_GROUPS][4], uint32_t (&p)[PARTS][TILE_PAGES][4])
{
#pragma unroll
    for (int page = 0; page < TILE_PAGES; page++)
#pragma unroll
        for (int e = 0; e < 4; e++)
#pragma unroll
            for (int n = 0; n < PARTS; n++)
                p[n][page][e] =
                    round_pair(s[2 * page + e / 2][e % 2 * 2], s[2 * page + e / 2][e % 2 * 2 + 1]);
}

/* Bit 8j + e: row r sees the key of s[j][2r + e]. */
__device__ static inline void masks(const struct prefill_work &w, int head, int key0, const int (&pos)[2],
                                    unsigned live, uint64_t (&seen)[2])
{
    int column = 2 * (threadIdx.x % 4);
    uint64_t alive = 0;
#pragma unroll
    for (int page = 0; page < TILE_PAGES; page++)
        alive |= (uint64_t)__shfl_sync(~0u, live, page) << (KV_PAGE_TOKENS * page);
#pragma unroll
    for (int r = 0; r < 2; r++)
        seen[r] = (alive & prefill_seen(w, head, pos[r], key0)) >> column;
    if (!w.a.until)
        return;
    const int32_t *until = w.a.until + (size_t)head * (size_t)w.a.until_stride;
#pragma unroll
    for (int bit = 0; bit < KEYS; bit += bit % 2 ? 7 : 1) {
        int last = until[min(key0 + column + bit, w.a.until_stride - 1)];
#pragma unroll
        for (int r = 0; r < 2; r++)
            seen[r] &= last < pos[r] ? ~(1ull << bit) : ~0ull;
    }
}

__device__ static inline void hide(float (&s)[KEY_GROUPS][4], const uint64_t (&seen)[2])
{
#pragma unroll
    for (int j = 0; j < KEY_GROUPS; j++)
#pragma unroll
        for (int e = 0; e < 4; e++)
            s[j][e] = seen[e / 2] >> (8 * j + e % 2) & 1 ? s[j][e] : -CUDART_INF_F;
}

/* Logits become weights, 0 from 2^-126 on; keep: what there is of the rows' outputs is scaled by. */
template <int DIM>
__device__ static inline void soften(struct out_rows<DIM> &m, float (&s)[KEY_GROUPS][4], float (&keep)[2])
{
#pragma unroll
    for (int r = 0; r < 2; r++) {
        float most = fmaxf(s[0][2 * r], s[0][2 * r + 1]), sum = 0;
#pragma unroll
        for (int j = 1; j < KEY_GROUPS; j++)
            most = fmaxf(most, fmaxf(s[j][2 * r], s[j][2 * r + 1]));
        most = fmaxf(most, __shfl_xor_sync(~0u, most, 1));
        most = fmaxf(most, __shfl_xor_sync(~0u, most, 2));
        most = fmaxf(most, m.top[r]);
        float zero = most == -CUDART_INF_F ? 0.0f : most;
#pragma unroll
        for (int j = 0; j < KEY_GROUPS; j++)
#pragma unroll
            for (int e = 0; e < 2; e++) {
                s[j][2 * r + e] = power_of_2(s[j][2 * r + e] - zero);
                sum += s[j][2 * r + e];
            }
        keep[r] = power_of_2(m.top[r] - zero);
        m.sum[r] = fmaf(m.sum[r], keep[r], sum);
        m.top[r] = most;
    }
}

template <int DIM>
__device__ static inline void finish(const struct out_rows<DIM> &m, const struct prefill_work &w, int split,
                                     int head, int row0)
{
    int lane = threadIdx.x % WARP;
    bool whole = w.n_splits == 1;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        int row = own_row(row0, r);
        float sum = m.sum[r] + __shfl_xor_sync(~0u, m.sum[r], 1);
        sum += __shfl_xor_sync(~0u, sum, 2);
        if (row >= w.rows)
            continue;
        size_t part = prefill_part(w, split, head, row);
        float scale = whole ? prefill_inverse(m.top[r], sum) : 1.0f;
        void *out = whole ? w.a.out : w.o;
        enum dtype type = whole ? w.a.type : DTYPE_F32;
        size_t at = (whole ? prefill_out(w, head, row) : part * DIM) + 2 * (lane % 4);
#pragma unroll
        for (int i = 0; i < DIM / 8; i++)
            put2_as(out, type, at + i * 8, m.o[i][2 * r] * scale, m.o[i][2 * r + 1] * scale);
        if (!whole && lane % 4 == 0)
            w.top_sum[part] = make_float2(m.top[r], sum);
    }
}

/* What a block works on: rows of a KV head, keys from .. to - 1, in tiles. */
struct piece {
    int head, split, row0; /* row0: the warp's first */
    int from, to, n_tiles;
    int nearest; /* position of the warp's first row */
    size_t table;
};

/* 0: there are no such keys. */
__device__ static inline int find_piece(const struct prefill_work &w, struct piece *p)
{
    int block_rows = blockDim.x / WARP * WARP_ROWS, first = blockIdx.x * block_rows;
    p->head = blockIdx.y;
    p->split = w.n_splits - 1 - (int)blockIdx.z; /* the longest splits go first */
    p->row0 = first + threadIdx.x / WARP * WARP_ROWS;
    int last = prefill_pos(w, min(first + block_rows, w.rows) - 1);
    p->from = prefill_split_key(p->split);
    p->to = min(prefill_split_key(p->split + 1), last + 1);
    p->n_tiles = (p->to - p->from + KEYS - 1) / KEYS;
    p->nearest = prefill_pos(w, min(p->row0, w.rows - 1));
    p->table = kv_head(w.a.kv, w.a.seq, w.a.layer, p->head) * (size_t)w.a.kv.max_pages;
    return p->from < p->to;
}

/* The unit of page i of tile `tile`. Pages past the last repeat it: no weight falls on them, but 0 * what was
 * in shared memory before could be NaN. */
__device__ static inline int unit_of(const struct prefill_work &w, const struct piece &p, int tile, int i)
{
    int page = min(p.from / KV_PAGE_TOKENS + tile * TILE_PAGES + i, (p.to - 1) / KV_PAGE_TOKENS);
    return w.a.kv.unit[p.table + page];
}

/* Live bits of the tile's pages, lane i those of page i % TILE_PAGES; 0 past the last page. */
__device__ static inline unsigned lives_of(const struct prefill_work &w, const struct piece &p, int tile)
{
    int page = p.from / KV_PAGE_TOKENS + tile * TILE_PAGES + threadIdx.x % TILE_PAGES;
    return page <= (p.to - 1) / KV_PAGE_TOKENS ? w.a.kv.live[p.table + page] : 0;
}

/* Do all rows of the warp see all keys of the tile? */
__device__ static inline bool sees_all(const struct prefill_work &w, const struct piece &p, int key0,
                                       unsigned live)
{
    bool before = key0 + KEYS - 1 <= p.nearest && !w.a.until && !w.listed;
    return __all_sync(~0u, live == 0xffff) && before;
}

/* Tiles on their way to shared memory: copies fill `full`, threads that are done with a tile empty `empty`,
 * (STAGES) barriers each. */
struct pipe {
    uint32_t room, full, empty;
};

/* By all threads, before any of them goes on to copies. */
__device__ static inline struct pipe open_pipe(uint32_t room, uint32_t barriers)
{
    struct pipe p = {room, barriers, barriers + STAGES * 8};
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
__device__ static inline int refill(const struct pipe &tiles, const struct piece &p, int i)
{
    int tile = i - LAG + STAGES;
    if (i < LAG || tile >= p.n_tiles)
        return 0;
    barrier_wait(tiles.empty + (i - LAG) % STAGES * 8, (i - LAG) / STAGES & 1);
    return tile;
}

/* Warps of a block: half as many are faster only where each block gets a multiprocessor. */
static inline int prefill_warps(const struct device *d, const struct prefill_work *w, int *blocks)
{
    int warps = MAX_WARPS / 2;
    *blocks = (w->rows + warps * WARP_ROWS - 1) / (warps * WARP_ROWS);
    if (*blocks * w->a.kv.n_kv * w->n_splits <= d->n_sm)
        return warps;
    *blocks = (*blocks + 1) / 2;
    return MAX_WARPS;
}

#endif
