/* Quest's page bounds as scores on tensor cores: bf16 bounds, head_dim 64 or 128, groups of up to 8 heads.
 *
 * The sum over dimensions of max(q low, q high) is one product, [min(q, 0), max(q, 0)] . [low, high]: pages
 * are the 16-row side of m16n8k16 and the query heads of a group its 8 columns. q is written as the sum of
 * three bf16, so that products are exact; the tensor cores truncate their sums by about 2^-23 of the sum each
 * time.
 *
 * A warp reads 16 pages at a time straight from memory into the first factor. A lane holds 16 bytes of every
 * 64 of rows g and g + 8, whichever dimensions those are, and the second factor is laid out to match. Each
 * warp thus has 8 KiB in flight, with 16 warps on each SM. */
#include "kernels/cuda/device/ptx.cuh"
#include "kernels/cuda/select/scores.cuh"

enum { WARPS = 8, THREADS = WARPS * WARP, ROWS = 16, PARTS = 3, HEADS = 8 };
enum { BLOCKS = 2 }; /* an SM holds; more in all are slower, each begins with a few waits for memory */

/* Rows g and g + 8 of a tile: low, then high, 2 * D values a row, 32 of them every four lanes. */
template <int D> struct bound_rows {
    enum { FOURS = 2 * D / 32 };
    uint4 x[2][FOURS];
};

/* The second factor in shared memory: for each 32 dimensions and part what a lane needs of two products. */
template <int D> struct bound_queries {
    uint4 part[bound_rows<D>::FOURS][PARTS][WARP];
};

template <int D>
static __device__ void make_queries(const struct page_scores_args &a, int row, int h,
                                    struct bound_queries<D> *to)
{
    enum { EACH = bound_rows<D>::FOURS * WARP * 4 / THREADS };
    int group = a.n_q / a.kv.n_kv;
    const float *q = a.q + (size_t)row * a.q_stride + (size_t)h * group * D;
    float x[EACH], y[EACH];
    int first[EACH]; /* of two dimensions */
#pragma unroll
    for (int u = 0; u < EACH; u++) { /* all at once: one wait for memory */
        int i = threadIdx.x + u * THREADS, g = i / 4 % WARP / 4;
        first[u] = i / (WARP * 4) * 32 + i / 4 % 4 * 8 + i % 4 * 2;
        x[u] = g < group ? q[g * D + first[u] % D] : 0.0f;
        y[u] = g < group ? q[g * D + first[u] % D + 1] : 0.0f;
    }
#pragma unroll
    for (int u = 0; u < EACH; u++) {
        int i = threadIdx.x + u * THREADS;
        bool low = first[u] < D;
        x[u] = low ? fminf(x[u], 0.0f) : fmaxf(x[u], 0.0f);
        y[u] = low ? fminf(y[u], 0.0f) : fmaxf(y[u], 0.0f);
        for (int p = 0; p < PARTS; p++)
            ((uint32_t *)&to->part[i / (WARP * 4)][p][i / 4 % WARP])[i % 4] = round_pair(x[u], y[u]);
    }
}

/* The KV blocks of a lane's rows, page j of their blocks of pages; -1: none, or nothing live in it. */
static __device__ inline void find_kv_blocks(const struct page_scores_args &a, size_t table, int pages,
                                             int block, int j, int kv_block[2])
{
#pragma unroll
    for (int r = 0; r < 2; r++)
        kv_block[r] =
            live_kv_block(a.kv, table, pages, (block + threadIdx.x % WARP / 4 + 8 * r) * a.block_pages + j);
}

/* A lane's first 16 bytes of a KV block's bounds; the next are 64 further. What a row without a KV block
 * holds does not matter: rows do not mix, and its score is not used. */
static __device__ inline const uint4 *row_of(const struct page_scores_args &a, int kv_block)
{
    size_t at = bounds_place(a.kv, max(kv_block, 0), threadIdx.x % 4 * 8);
    return (const uint4 *)((const __nv_bfloat16 *)a.kv.bounds + at);
}

template <int D>
static __device__ inline void load_rows(const struct page_scores_args &a, const int kv_block[2],
                                        struct bound_rows<D> *to)
{
#pragma unroll
    for (int r = 0; r < 2; r++)
#pragma unroll
        for (int i = 0; i < bound_rows<D>::FOURS; i++)
            to->x[r][i] = __ldcs(row_of(a, kv_block[r]) + 4 * i);
}

/* Two bf16 each: the smaller ones, or the larger ones. */
static __device__ inline uint32_t wider_bound(uint32_t x, uint32_t y, bool smaller)
{
    bool low = __uint_as_float(x << 16) < __uint_as_float(y << 16);
    bool high = __uint_as_float(x & 0xffff0000u) < __uint_as_float(y & 0xffff0000u);
    return ((low == smaller ? x : y) & 0xffffu) | ((high == smaller ? x : y) & 0xffff0000u);
}

/* The other pages of blocks of several: bounds grow, `KV block` becomes one that is live. */
template <int D>
static __device__ void widen_rows(const struct page_scores_args &a, size_t table, int pages, int block,
                                  int kv_block[2], struct bound_rows<D> *to)
{
    for (int j = 1; j < a.block_pages; j++) {
        int next[2];
        find_kv_blocks(a, table, pages, block, j, next);
#pragma unroll
        for (int r = 0; r < 2; r++) {
            bool first = kv_block[r] < 0, none = next[r] < 0;
#pragma unroll
            for (int i = 0; i < bound_rows<D>::FOURS; i++) {
                uint4 x = to->x[r][i], y = __ldcs(row_of(a, next[r]) + 4 * i);
                bool smaller = i < bound_rows<D>::FOURS / 2;
                uint4 both = make_uint4(wider_bound(x.x, y.x, smaller), wider_bound(x.y, y.y, smaller),
                                        wider_bound(x.z, y.z, smaller), wider_bound(x.w, y.w, smaller));
                to->x[r][i] = none ? x : first ? y : both;
            }
            kv_block[r] = none ? kv_block[r] : next[r];
        }
    }
}

/* Scores of rows g (0, 1) and g + 8 (2, 3) for heads 2t and 2t + 1. */
template <int D>
static __device__ inline void score_rows(const struct bound_rows<D> &k, const struct bound_queries<D> &q,
                                         float (&c)[4])
{
    float part[PARTS][4] = {};
#pragma unroll
    for (int i = 0; i < bound_rows<D>::FOURS; i++) {
        uint4 x = k.x[0][i], y = k.x[1][i];
        const uint32_t first[4] = {x.x, y.x, x.y, y.y}, second[4] = {x.z, y.z, x.w, y.w};
#pragma unroll
        for (int p = 0; p < PARTS; p++) {
            uint4 b = q.part[i][p][threadIdx.x % WARP];
            mma(part[p], first, b.x, b.y);
            mma(part[p], second, b.z, b.w);
        }
    }
#pragma unroll
    for (int e = 0; e < 4; e++)
        c[e] = part[0][e] + (part[1][e] + part[2][e]);
}

/* out is the first list of the KV head. */
static __device__ inline void write_rows(const struct page_scores_args &a, float *out, int block, int blocks,
                                         const int kv_block[2], const float (&c)[4])
{
    int lane = threadIdx.x % WARP, head = lane % 4 * 2, group = a.n_q / a.kv.n_kv;
    bool sum = a.scope == SCORE_KV_SUM;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        int at = block + lane / 4 + 8 * r;
        float one = sum ? 0.0f : -CUDART_INF_F;
#pragma unroll
        for (int e = 0; e < 2; e++) {
            float x = kv_block[r] >= 0 ? c[2 * r + e] : -CUDART_INF_F;
            if (head + e >= group)
                break;
            one = sum ? one + x : fmaxf(one, x);
            if (a.scope == SCORE_Q && at < blocks)
                out[(size_t)(head + e) * a.out.stride + at] = x;
        }
        if (a.scope == SCORE_PAIR_MAX && head < group && at < blocks)
            out[(size_t)(head / 2) * a.out.stride + at] = one; /* a lane's two heads are a pair */
        if (a.scope == SCORE_Q || a.scope == SCORE_PAIR_MAX)
            continue;
        for (int o = 1; o < 4; o *= 2) {
            float other = __shfl_xor_sync(~0u, one, o);
            one = sum ? one + other : fmaxf(one, other);
        }
        if (head == 0 && at < blocks)
            out[at] = one;
    }
}

template <int D>
static __global__ void __launch_bounds__(THREADS, BLOCKS) mma_kernel(struct page_scores_args a)
{
    __shared__ struct bound_queries<D> q;
    pdl_wait();
    pdl_trigger();
    int row = blockIdx.y, h = blockIdx.x, parts = gridDim.z, part = blockIdx.z, seq = a.rows.seq[row];
    if (seq < 0)
        return;
    size_t head = kv_head(a.kv, seq, a.layer, h), table = head * (size_t)a.kv.max_pages;
    /* Parts take turns, so that all have equally much to do; two warps at a time, whose 32 KV blocks are one
     * line of the cache. */
    int warp = threadIdx.x / WARP, turn = (warp / 2 * parts + part) * 2 + warp % 2;
    int block = turn * ROWS, step = WARPS * ROWS * parts, kv_block[2];
    int lists = score_lists(a.scope, a.n_q / a.kv.n_kv);
    float *out = a.out.v + ((size_t)row * a.out.n_rows + (size_t)h * lists) * a.out.stride;
    struct bound_rows<D> k;
    int slots = a.kv.n_slots[head];
    find_kv_blocks(a, table, a.kv.max_pages, block, 0, kv_block); /* without a wait for `slots` */
    int pages = pages_of(slots), blocks = (pages + a.block_pages - 1) / a.block_pages;
    for (int r = 0; r < 2; r++)
        if (block + (int)threadIdx.x % WARP / 4 + 8 * r >= blocks)
            kv_block[r] = -1;
    if (block < blocks)
        load_rows(a, kv_block, &k);
    make_queries(a, row, h, &q); /* while the first rows are on their way */
    if (part == parts - 1)
        page_totals(a, row, h, head, pages, blocks);
    __syncthreads();
    while (block < blocks) {
        int next[2];
        float c[4];
        find_kv_blocks(a, table, pages, block + step, 0, next);
        widen_rows(a, table, pages, block, kv_block, &k);
        score_rows(k, q, c);
        write_rows(a, out, block, blocks, kv_block, c);
        block += step;
        kv_block[0] = next[0];
        kv_block[1] = next[1];
        if (block < blocks)
            load_rows(a, kv_block, &k);
    }
}

int scores_mma_fits(const struct page_scores_args *a)
{
    return a->kv.dtype == DTYPE_BF16 && a->n_q / a->kv.n_kv <= HEADS &&
           (a->kv.head_dim == 64 || a->kv.head_dim == 128);
}

int scores_mma(struct device *d, const struct page_scores_args *a)
{
    dim3 grid(a->kv.n_kv, a->rows.cap, page_parts(a, BLOCKS * d->n_sm, WARPS * ROWS * a->block_pages));
    return cuda_launch_pdl(d, OP_page_scores, a->kv.head_dim == 128 ? mma_kernel<128> : mma_kernel<64>, grid,
                           THREADS, 0, 1, *a);
}
