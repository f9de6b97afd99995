/* Quest's page bounds as scores, for fp32 and for shapes that op_scores_mma.cu does not take, and masks over
 * scores. */
#include "kernels/cuda/device/ptx.cuh"
#include "kernels/cuda/select/scores.cuh"

/* ---- page_scores
 *
 * A warp takes four blocks of pages at once: their bounds are read once for all heads of the group, four
 * floats of each a lane, so that eight loads are in flight. The 4 * GROUP sums over lanes are made together:
 * in each step two halves of the warp exchange halves of their sums. Every sum goes by the same tree over
 * lanes. */

enum { WARPS = 8, QUAD = 4 };

/* Which KV block page j of each of the four blocks from `block` on lies in; -1: none, or nothing live in it.
 */
__device__ static inline void find_kv_blocks(const struct page_scores_args &a, size_t table, int pages,
                                             int block, int j, int kv_block[QUAD])
{
#pragma unroll
    for (int b = 0; b < QUAD; b++)
        kv_block[b] = live_kv_block(a.kv, table, pages, (block + b) * a.block_pages + j);
}

/* Four values of the bounds, from value i on. */
__device__ static inline float4 bounds_four(const struct kv_view &kv, size_t i)
{
    if (kv.dtype == DTYPE_F32)
        return __ldcs((const float4 *)((const float *)kv.bounds + i));
    return four_bf16(__ldcs((const uint2 *)((const __nv_bfloat16 *)kv.bounds + i)));
}

/* Four values of the bounds of four blocks: low and high begin empty. */
__device__ static inline void widen_bounds(const struct kv_view &kv, const int kv_block[QUAD], int chunk,
                                           float4 low[QUAD], float4 high[QUAD])
{
    const float inf = CUDART_INF_F;
    float4 l[QUAD], h[QUAD];
#pragma unroll
    for (int b = 0; b < QUAD; b++) {
        size_t at = bounds_place(kv, max(kv_block[b], 0), 4 * chunk);
        l[b] = make_float4(inf, inf, inf, inf);
        h[b] = make_float4(-inf, -inf, -inf, -inf);
        if (kv_block[b] >= 0) {
            l[b] = bounds_four(kv, at);
            h[b] = bounds_four(kv, at + kv.head_dim);
        }
    }
#pragma unroll
    for (int b = 0; b < QUAD; b++) {
        low[b] = make_float4(fminf(l[b].x, low[b].x), fminf(l[b].y, low[b].y), fminf(l[b].z, low[b].z),
                             fminf(l[b].w, low[b].w));
        high[b] = make_float4(fmaxf(h[b].x, high[b].x), fmaxf(h[b].y, high[b].y), fmaxf(h[b].z, high[b].z),
                              fmaxf(h[b].w, high[b].w));
    }
}

__device__ static inline float dot_bounds(float4 x, float4 y, float sum)
{
    return fmaf(x.w, y.w, fmaf(x.z, y.z, fmaf(x.y, y.y, fmaf(x.x, y.x, sum))));
}

/* One step: lanes that differ in `bit` share the first 2 * HALF sums between them. */
template <int HALF> __device__ static inline void exchange_sums(float *s, int bit)
{
    bool upper = threadIdx.x & bit;
#pragma unroll
    for (int i = 0; i < HALF; i++) {
        float keep = upper ? s[i + HALF] : s[i], give = upper ? s[i] : s[i + HALF];
        s[i] = keep + __shfl_xor_sync(~0u, give, bit);
    }
}

/* Sums of N values over lanes; value i ends up in lane i * 32 / N (and those after it), or for N = 64 two in
 * each. */
template <int N> __device__ static inline void sum_lanes(float *s)
{
    int bit = WARP / 2;
    exchange_sums<N / 2>(s, bit);
    exchange_sums<N / 4>(s, bit /= 2);
    if (N >= 8)
        exchange_sums<(N >= 8 ? N / 8 : 1)>(s, bit /= 2);
    if (N >= 16)
        exchange_sums<(N >= 16 ? N / 16 : 1)>(s, bit /= 2);
    if (N >= 32)
        exchange_sums<(N >= 32 ? N / 32 : 1)>(s, bit /= 2);
    for (bit /= 2; bit; bit /= 2)
        s[0] += __shfl_xor_sync(~0u, s[0], bit);
}

/* Sums of q+ high + q- low, as lanes hold them, of four blocks; bit b of the result: block b is live. */
template <int GROUP>
__device__ static inline unsigned four_blocks(const struct page_scores_args &a, const float4 *query,
                                              size_t table, int pages, int block, const int kv_block[QUAD],
                                              float *s)
{
    const float inf = CUDART_INF_F;
    int lane = threadIdx.x % WARP, d = a.kv.head_dim, group = a.n_q / a.kv.n_kv;
    unsigned alive = 0;
#pragma unroll
    for (int i = 0; i < QUAD * GROUP; i++)
        s[i] = 0;
    for (int chunk = lane; chunk < d / 4; chunk += WARP) {
        float4 low[QUAD], high[QUAD];
#pragma unroll
        for (int b = 0; b < QUAD; b++) {
            low[b] = make_float4(inf, inf, inf, inf);
            high[b] = make_float4(-inf, -inf, -inf, -inf);
        }
        widen_bounds(a.kv, kv_block, chunk, low, high);
        for (int j = 1; j < a.block_pages; j++) {
            int more[QUAD];
            find_kv_blocks(a, table, pages, block, j, more);
            widen_bounds(a.kv, more, chunk, low, high);
        }
#pragma unroll
        for (int g = 0; g < GROUP; g++)
            if (g < group) {
                float4 above = query[g * 2 * (d / 4) + chunk], below = query[(g * 2 + 1) * (d / 4) + chunk];
#pragma unroll
                for (int b = 0; b < QUAD; b++)
                    s[b * GROUP + g] =
                        dot_bounds(below, low[b], dot_bounds(above, high[b], s[b * GROUP + g]));
            }
    }
#pragma unroll
    for (int b = 0; b < QUAD; b++)
        alive |= (unsigned)(kv_block[b] >= 0) << b;
    for (int j = 1; j < a.block_pages; j++) {
        int more[QUAD];
        find_kv_blocks(a, table, pages, block, j, more);
#pragma unroll
        for (int b = 0; b < QUAD; b++)
            alive |= (unsigned)(more[b] >= 0) << b;
    }
    sum_lanes<QUAD * GROUP>(s);
    return alive;
}

/* Writes the scores of four blocks: eight lanes hold the heads of one. out is the first list of the KV head.
 */
template <int GROUP>
__device__ static inline void write_four(const struct page_scores_args &a, float *out, int block, int blocks,
                                         unsigned alive, const float *s)
{
    const int each = GROUP > 8 ? GROUP / 8 : 1,
              apart = GROUP < 8 ? 8 / GROUP : 1; /* heads a lane, lanes a head */
    int lane = threadIdx.x % WARP, b = lane / 8, first = lane % 8 / apart * each, group = a.n_q / a.kv.n_kv;
    bool live = alive >> b & 1, writes = block + b < blocks && lane % apart == 0;
    float one = a.scope == SCORE_KV_SUM ? 0.0f : -CUDART_INF_F;
#pragma unroll
    for (int i = 0; i < each; i++)
        if (first + i < group) {
            float x = live ? s[i] : -CUDART_INF_F;
            one = a.scope == SCORE_KV_SUM ? one + x : fmaxf(one, x);
            if (a.scope == SCORE_Q && writes)
                out[(size_t)(first + i) * a.out.stride + block + b] = x;
        }
    if (a.scope == SCORE_Q)
        return;
    if (a.scope == SCORE_PAIR_MAX) { /* of two heads, or two a lane */
        if (each == 1 && apart < 8)
            one = fmaxf(one, __shfl_xor_sync(~0u, one, apart));
        if (writes && first < group && first % 2 == 0)
            out[(size_t)(first / 2) * a.out.stride + block + b] = one;
        return;
    }
    for (int o = 4; o >= apart; o /= 2) {
        float other = __shfl_xor_sync(~0u, one, o);
        one = a.scope == SCORE_KV_SUM ? one + other : fmaxf(one, other);
    }
    if (writes && lane % 8 == 0)
        out[block + b] = one;
}

template <int GROUP>
static __global__ void __launch_bounds__(WARPS *WARP, 2) page_scores_kernel(struct page_scores_args a)
{
    extern __shared__ float4 page_query[]; /* (group, 2, d): positive parts, negative parts */
    int n_kv = a.kv.n_kv, row = blockIdx.y, h = blockIdx.x, seq = a.rows.seq[row];
    if (seq < 0)
        return;
    size_t head = kv_head(a.kv, seq, a.layer, h), table = head * (size_t)a.kv.max_pages;
    int pages = (a.kv.n_slots[head] + KV_PAGE_TOKENS - 1) / KV_PAGE_TOKENS,
        blocks = (pages + a.block_pages - 1) / a.block_pages;
    if (blockIdx.z == gridDim.z - 1)
        page_totals(a, row, h, head, pages, blocks);
    int group = a.n_q / n_kv, d = a.kv.head_dim, step = gridDim.z * WARPS * QUAD;
    int first = blockIdx.z * WARPS * QUAD, kv_block[QUAD];
    if (first >= blocks)
        return;
    const float *q = a.q + (size_t)row * a.q_stride + h * group * d;
    for (int i = threadIdx.x; i < group * d; i += WARPS * WARP) {
        float *place = (float *)page_query + i / d * 2 * d + i % d;
        place[0] = fmaxf(q[i], 0.0f);
        place[d] = fminf(q[i], 0.0f);
    }
    __syncthreads();
    float *out = a.out.v + ((size_t)row * a.out.n_rows + h * score_lists(a.scope, group)) * a.out.stride;
    int block = first + threadIdx.x / WARP * QUAD;
    find_kv_blocks(a, table, pages, block, 0, kv_block);
    for (; block < blocks; block += step) {
        float s[QUAD * GROUP];
        int next[QUAD];
        find_kv_blocks(a, table, pages, block + step, 0, next);
        unsigned alive = four_blocks<GROUP>(a, page_query, table, pages, block, kv_block, s);
        write_four<GROUP>(a, out, block, blocks, alive, s);
        for (int b = 0; b < QUAD; b++)
            kv_block[b] = next[b];
    }
}

template <int GROUP> static int score_pages(struct device *d, const struct page_scores_args &a)
{
    dim3 grid(a.kv.n_kv, a.rows.cap, page_parts(&a, 8 * d->n_sm, WARPS * QUAD * a.block_pages));
    size_t bytes = (size_t)(a.n_q / a.kv.n_kv) * 2 * a.kv.head_dim * sizeof(float);
    page_scores_kernel<GROUP><<<grid, WARPS * WARP, bytes, d->stream>>>(a);
    return cuda_launched(d, OP_page_scores);
}

int cuda_op_page_scores(struct device *d, const struct page_scores_args *a)
{
    int group = a->n_q / a->kv.n_kv;
    return scores_mma_fits(a) ? scores_mma(d, a)
           : group > 8        ? score_pages<16>(d, *a)
           : group > 4        ? score_pages<8>(d, *a)
           : group > 2        ? score_pages<4>(d, *a)
           : group > 1        ? score_pages<2>(d, *a)
                              : score_pages<1>(d, *a);
}

/* ---- mask_scores */

/* One block of threads a list: its entries as bits in shared memory, then one pass over the scores. */
static __global__ void mask_scores_kernel(struct mask_scores_args a)
{
    extern __shared__ unsigned mask_bits[];
    __shared__ int smem[WARP];
    pdl_wait();
    pdl_trigger();
    int row = blockIdx.y;
    size_t at = (size_t)row * a.s.n_rows + blockIdx.x;
    int n = min(a.s.n[at], a.s.stride), len = a.len[at], m = 0;
    if (a.rows.seq[row] < 0 || len < 0)
        return;
    for (int i = threadIdx.x; i < (n + 31) / 32; i += blockDim.x)
        mask_bits[i] = 0;
    __syncthreads();
    const int32_t *idx = a.idx + at * (size_t)a.cap;
    for (int i = threadIdx.x; i < len; i += blockDim.x)
        if (idx[i] < n)
            atomicOr(mask_bits + idx[i] / 32, 1u << idx[i] % 32);
    __syncthreads();
    float *v = a.s.v + at * (size_t)a.s.stride;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        if (mask_bits[i / 32] >> i % 32 & 1)
            m += v[i] > -CUDART_INF_F;
        else
            v[i] = -CUDART_INF_F;
    m = block_sum(m, smem);
    if (threadIdx.x == 0)
        a.s.m[at] = m;
}

int cuda_op_mask_scores(struct device *d, const struct mask_scores_args *a)
{
    int bytes = (a->s.stride + 31) / 32 * 4;
    return cuda_launch_pdl(d, OP_mask_scores, mask_scores_kernel, dim3(a->s.n_rows, a->rows.cap), 512, bytes,
                           1, *a);
}
