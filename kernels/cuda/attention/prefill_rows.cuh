#ifndef KERNELS_CUDA_ATTENTION_PREFILL_ROWS_CUH
#define KERNELS_CUDA_ATTENTION_PREFILL_ROWS_CUH

#include "kernels/cuda/attention/prefill.cuh"

/* Prefill attention on tensor cores: what its kernels share. A warp has 16 rows, a block up to 8 such warps,
 * which share tiles of keys. Queries and weights are rounded to bf16, as the K and V that they are multiplied
 * with have been; sums are fp32. A row's weights are relative to a power of 2, so that they are rounded alike
 * whatever the largest logit so far, and scaling them later is exact. What they are divided by is the sum of
 * the rounded ones: the largest of them is rounded too, which would otherwise scale the whole output. */
enum { MAX_WARPS = 8, WARP_ROWS = 16, PAGE_GROUPS = KV_PAGE_TOKENS / 8 };
enum { MASK_KEYS = 64, MASK_GROUPS = MASK_KEYS / 8, MASK_PAGES = MASK_KEYS / KV_PAGE_TOKENS };

/* What a thread holds of its warp's rows g = lane / 4 and g + 8 (index 0 and 1), in the layout of mma()'s and
 * wgmma()'s results: of every 8 columns 2(lane % 4) and the next. */
template <int DIM> struct out_rows {
    float o[DIM / 8][4];
    float running_max[2],
        sum[2]; /* running max: largest logit, rounded up to a whole number; sum: of the thread's columns */
    int pos[2];
};

/* Returns the thread's r-th row (0 or 1) in the warp that begins at row0; it may be beyond the last row. */
__device__ static inline int own_row(int row0, int r)
{
    return row0 + threadIdx.x % WARP / 4 + 8 * r;
}

/* Makes m empty sums of the rows of the warp that begins at row0. */
template <int DIM>
__device__ static inline void start_out(struct out_rows<DIM> &m, const struct prefill_work &w, int row0)
{
#pragma unroll
    for (int r = 0; r < 2; r++) {
        m.pos[r] = prefill_pos(w, min(own_row(row0, r), w.rows - 1));
        m.running_max[r] = -CUDART_INF_F;
        m.sum[r] = 0;
    }
#pragma unroll
    for (int i = 0; i < DIM / 8; i++)
        m.o[i][0] = m.o[i][1] = m.o[i][2] = m.o[i][3] = 0;
}

/* Sets q to the thread's columns of its two rows of queries; beyond the last row, of the last one. */
__device__ static inline void find_queries(const struct prefill_work &w, int head, int row0,
                                           const float *q[2])
{
#pragma unroll
    for (int r = 0; r < 2; r++)
        q[r] = prefill_q(w, head, min(own_row(row0, r), w.rows - 1)) + 2 * (threadIdx.x % 4);
}

/* Loads pairs of 16 columns from 16k on, scaled, in mma()'s first layout: pair e is of row e % 2, and of
 * columns 8 (e / 2) + 2 (lane % 4) and the next. */
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

/* Weights of a tile as the first factor, by its pages, and added to the sums. */
template <int DIM, int PAGES, int GROUPS>
__device__ static inline void round_weights(struct out_rows<DIM> &m, float (&s)[GROUPS][4],
                                            const float (&keep)[2], uint32_t (&p)[PAGES][4])
{
    static_assert(GROUPS == PAGES * PAGE_GROUPS, "a tile is whole pages");
    float sum[2] = {};
#pragma unroll
    for (int page = 0; page < PAGES; page++)
#pragma unroll
        for (int e = 0; e < 4; e++) {
            uint32_t pair = round_pair(s[2 * page + e / 2][e % 2 * 2], s[2 * page + e / 2][e % 2 * 2 + 1]);
            p[page][e] = pair;
            sum[e % 2] += __uint_as_float(pair << 16);
            sum[e % 2] += __uint_as_float(pair & 0xffff0000u);
        }
#pragma unroll
    for (int r = 0; r < 2; r++)
        m.sum[r] = fmaf(m.sum[r], keep[r], sum[r]);
}

/* Which of MASK_KEYS keys from key0 on, the tile's pages from page0 on, do a thread's rows see? Bit 8j + e:
 * row r sees the key of s[j][2r + e]. WINDOW, here and below: there is a window. */
template <bool WINDOW>
__device__ static inline void needs_mask(const struct prefill_work &w, int head, int key0,
                                         const int (&pos)[2], unsigned live, int page0, uint64_t (&seen)[2])
{
    int column = 2 * (threadIdx.x % 4);
    uint64_t alive = 0;
#pragma unroll
    for (int page = 0; page < MASK_PAGES; page++)
        alive |= (uint64_t)__shfl_sync(~0u, live, page0 + page) << (KV_PAGE_TOKENS * page);
#pragma unroll
    for (int r = 0; r < 2; r++)
        seen[r] = (alive & prefill_seen<WINDOW>(w, head, pos[r], key0)) >> column;
    if (WINDOW || !w.a.until)
        return;
    const int32_t *until = w.a.until + (size_t)head * (size_t)w.a.until_stride;
#pragma unroll
    for (int bit = 0; bit < MASK_KEYS; bit += bit % 2 ? 7 : 1) {
        int last = until[min(key0 + column + bit, w.a.until_stride - 1)];
#pragma unroll
        for (int r = 0; r < 2; r++)
            seen[r] &= last < pos[r] ? ~(1ull << bit) : ~0ull;
    }
}

/* Sets the logits of keys that are not seen to -inf, in the groups from group0 on, which the masks describe.
 */
template <int GROUPS>
__device__ static inline void hide_keys(float (&s)[GROUPS][4], int group0, const uint64_t (&seen)[2])
{
#pragma unroll
    for (int j = 0; j < MASK_GROUPS; j++)
#pragma unroll
        for (int e = 0; e < 4; e++)
            s[group0 + j][e] = seen[e / 2] >> (8 * j + e % 2) & 1 ? s[group0 + j][e] : -CUDART_INF_F;
}

/* Logits become weights, 0 from 2^-126 on; keep: what there is of the rows' outputs is scaled by, 1 for most
 * tiles. */
template <int DIM, int GROUPS>
__device__ static inline void softmax_rows(struct out_rows<DIM> &m, float (&s)[GROUPS][4], float (&keep)[2])
{
#pragma unroll
    for (int r = 0; r < 2; r++) {
        float new_max = fmaxf(s[0][2 * r], s[0][2 * r + 1]);
#pragma unroll
        for (int j = 1; j < GROUPS; j++)
            new_max = fmaxf(new_max, fmaxf(s[j][2 * r], s[j][2 * r + 1]));
        new_max = fmaxf(new_max, __shfl_xor_sync(~0u, new_max, 1));
        new_max = fmaxf(new_max, __shfl_xor_sync(~0u, new_max, 2));
        new_max = fmaxf(ceilf(new_max), m.running_max[r]);
        float zero = new_max == -CUDART_INF_F ? 0.0f : new_max;
#pragma unroll
        for (int j = 0; j < GROUPS; j++)
#pragma unroll
            for (int e = 0; e < 2; e++)
                s[j][2 * r + e] = power_of_2(s[j][2 * r + e] - zero);
        keep[r] = power_of_2(m.running_max[r] - zero);
        m.running_max[r] = new_max;
    }
}

/* Writes the outputs of rows below row_end, or with several splits their sums to o and max_sum. */
template <int DIM>
__device__ static inline void finish_rows(const struct out_rows<DIM> &m, const struct prefill_work &w,
                                          int split, int head, int row0, int row_end)
{
    int lane = threadIdx.x % WARP;
    bool whole = w.n_splits == 1;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        int row = own_row(row0, r);
        float sum = m.sum[r] + __shfl_xor_sync(~0u, m.sum[r], 1);
        sum += __shfl_xor_sync(~0u, sum, 2);
        if (row >= row_end)
            continue;
        size_t part = prefill_part(w, split, head, row);
        float scale = whole ? prefill_scale(w, head, row, m.running_max[r], sum) : 1.0f;
        void *out = whole ? w.a.out : w.o;
        enum dtype type = whole ? w.a.type : DTYPE_F32;
        size_t at = (whole ? prefill_out(w, head, row) : part * DIM) + 2 * (lane % 4);
#pragma unroll
        for (int i = 0; i < DIM / 8; i++)
            put2_as(out, type, at + i * 8, m.o[i][2 * r] * scale, m.o[i][2 * r + 1] * scale);
        if (!whole && lane % 4 == 0)
            w.max_sum[part] = make_float2(m.running_max[r], sum);
    }
}

/* What a block works on: rows of a KV head, keys from .. to - 1, in tiles. */
struct piece {
    int head, split, row0; /* row0: the warp's first */
    int from, to, n_tiles;
    int nearest; /* position of the warp's first row */
    /* Through a window: the first key that the block's first row sees, and that the warp's last row sees. */
    int first_key, common_key;
    size_t table;
};

/* Sets *p to the piece of a block of so many rows, in tiles of so many keys. Returns 1, or 0 if there are no
 * such keys. */
template <bool WINDOW>
__device__ static inline int find_piece(const struct prefill_work &w, int block_rows, int keys,
                                        struct piece *p)
{
    int first = blockIdx.x * block_rows;
    p->head = blockIdx.y;
    p->split = w.n_splits - 1 - (int)blockIdx.z; /* the longest splits go first */
    p->row0 = first + threadIdx.x / WARP * WARP_ROWS;
    int last = prefill_pos(w, min(first + block_rows, w.rows) - 1);
    p->from = prefill_split_key(p->split);
    p->to = min(prefill_split_key(p->split + 1), last + 1);
    if (WINDOW) {
        p->first_key = window_start(w.a.window, prefill_pos(w, first));
        p->common_key = window_start(w.a.window, prefill_pos(w, min(p->row0 + WARP_ROWS, w.rows) - 1));
        p->from = p->first_key / keys * keys;
        p->to = last + 1;
    }
    p->n_tiles = (p->to - p->from + keys - 1) / keys;
    p->nearest = prefill_pos(w, min(p->row0, w.rows - 1));
    p->table = kv_head(w.a.kv, w.a.seq, w.a.layer, p->head) * (size_t)w.a.kv.max_pages;
    return p->from < p->to;
}

/* Returns the KV block of the piece's i-th page. Pages past the last repeat it: no weight falls on them, but
 * 0 * what was in shared memory before could be NaN. So do pages before the window repeat its first, since
 * their entries of the table may be stale. */
template <bool WINDOW>
__device__ static inline int unit_of(const struct prefill_work &w, const struct piece &p, int i)
{
    int page = min(p.from / KV_PAGE_TOKENS + i, (p.to - 1) / KV_PAGE_TOKENS);
    if (WINDOW)
        page = max(page, p.first_key / KV_PAGE_TOKENS);
    return w.a.kv.block_table[p.table + page];
}

/* Returns the live bits of a tile of so many pages, lane i those of page i % pages; 0 past the last page. */
__device__ static inline unsigned lives_of(const struct prefill_work &w, const struct piece &p, int tile,
                                           int pages)
{
    int page = p.from / KV_PAGE_TOKENS + tile * pages + threadIdx.x % pages;
    return page <= (p.to - 1) / KV_PAGE_TOKENS ? w.a.kv.live[p.table + page] : 0;
}

/* Returns true if all rows of the warp see all keys of the tile. */
template <bool WINDOW>
__device__ static inline bool sees_all(const struct prefill_work &w, const struct piece &p, int key0,
                                       int keys, unsigned live)
{
    bool before = key0 + keys - 1 <= p.nearest && (WINDOW ? key0 >= p.common_key : !w.a.until && !w.listed);
    return __all_sync(~0u, live == 0xffff) && before;
}

/* Returns the warps with rows of a block and sets *blocks to the number of blocks: half as many warps are
 * faster only where each block gets an SM. */
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
