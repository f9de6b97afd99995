#ifndef KERNELS_CUDA_SELECT_SCORES_CUH
#define KERNELS_CUDA_SELECT_SCORES_CUH

#include "kernels/cuda/device/cuda.cuh"
#include "kernels/cuda/device/kv.cuh"
#include "kernels/cuda/device/math.cuh"

/* What the kernels of page_scores share. In their grids x counts KV heads, y counts rows, and z counts the
 * parts into which a head's pages are divided. */

/* Writes the length and the number of candidates of the score lists and adds the reads to kv.aux_half. The
 * last part of each row and KV head does this, by all threads of the block. */
__device__ static inline void page_totals(const struct page_scores_args &a, int row, int h, size_t head,
                                          int pages, int blocks)
{
    enum { FLIGHT = 8 };
    __shared__ int smem[WARP];
    const uint16_t *flags = a.kv.live + head * (size_t)a.kv.max_pages;
    int lists = score_lists(a.scope, a.n_q / a.kv.n_kv), live = 0, m = 0;
    int threads = blockDim.x;
    for (int i = threadIdx.x; i < pages; i += FLIGHT * threads) {
        uint16_t flag[FLIGHT];
#pragma unroll
        for (int u = 0; u < FLIGHT; u++) /* all at once: one wait for memory */
            flag[u] = i + u * threads < pages ? flags[i + u * threads] : 0;
#pragma unroll
        for (int u = 0; u < FLIGHT; u++)
            live += flag[u] != 0;
    }
    for (int i = threadIdx.x; a.block_pages > 1 && i < blocks; i += threads) {
        int some = 0;
        for (int p = i * a.block_pages; p < min((i + 1) * a.block_pages, pages); p++)
            some |= flags[p];
        m += some != 0;
    }
    live = block_sum(live, smem);
    m = a.block_pages > 1 ? block_sum(m, smem) : live;
    for (int g = threadIdx.x; g < lists; g += blockDim.x) {
        a.out.n[row * a.out.n_rows + h * lists + g] = blocks;
        a.out.m[row * a.out.n_rows + h * lists + g] = m;
    }
    if (threadIdx.x == 0)
        a.kv.aux_half[head] += 2 * live;
}

/* Returns the KV block of a page; -1: there is none, or nothing live in it. */
__device__ static inline int live_kv_block(const struct kv_view &kv, size_t table, int pages, int page)
{
    bool in = page < pages;
    unsigned live = in ? kv.live[table + page] : 0; /* both at once: one wait for memory */
    int kv_block = in ? kv.block_table[table + page] : 0;
    return live ? kv_block : -1;
}

/* Returns the number of parts into which each head's pages are divided so that there are about `blocks`
 * thread blocks in all, which take `per` pages at a time. No more than the longest head has pages for. */
static inline int page_parts(const struct page_scores_args *a, int blocks, int per)
{
    return max(1, min((a->kv.max_pages + per - 1) / per, blocks / (a->rows.cap * a->kv.n_kv)));
}

/* op_scores_mma.cu: bf16 bounds on tensor cores. scores_mma_fits() returns 1 if it takes these arguments,
 * else 0. scores_mma() enqueues the operation and returns 0 or a negative BACKEND_ERR_ code with d->error
 * set. */
int scores_mma_fits(const struct page_scores_args *a);
int scores_mma(struct device *d, const struct page_scores_args *a);

#endif
