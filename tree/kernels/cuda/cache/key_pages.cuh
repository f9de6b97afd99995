#ifndef KERNELS_CUDA_FORGET_KEY_PAGES_CUH
#define KERNELS_CUDA_FORGET_KEY_PAGES_CUH

/* Pages of bf16 keys in shared memory, as a factor of products on tensor cores. D: the head dimension, 64 or
 * 128. */
#include "kernels/cuda/device/kv.cuh"
#include "kernels/cuda/device/math.cuh"
#include "kernels/cuda/device/ptx.cuh"

template <int D> struct key_page {
    static const int ROW = D * 2, BYTES = KV_PAGE_TOKENS * ROW;
};

/* Producer: starts TMA bulk copies of the keys of pages first .. first + n - 1, at most WARP of them, as far
 * as they are below `pages`. One warp calls it: each lane looks up the KV block of one page in the block
 * table, so that all are looked up at once. beside: bytes that the caller copies to the same barrier. */
template <int D>
static __device__ void copy_key_pages(const struct kv_view &kv, const int32_t *block_table, int first, int n,
                                      int pages, uint32_t to, uint32_t bar, int beside = 0)
{
    int p = threadIdx.x % WARP;
    n = max(min(n, pages - first), 0);
    int mine = p < n ? block_table[first + p] : 0;
    if (p == 0)
        barrier_expect(bar, n * key_page<D>::BYTES + beside);
    __syncwarp();
    if (p < n)
        tma_bulk_copy(to + p * key_page<D>::BYTES, kv_block_k(kv, mine), key_page<D>::BYTES, bar);
}

/* Loads 16 keys x 16 dimensions from dimension 16k on, of a page in shared memory: as the first factor, or as
 * the second one of keys 0-7 (r[0], r[2]) and 8-15 (r[1], r[3]). */
template <int D> static __device__ void load_keys(uint32_t (&r)[4], uint32_t page, int k)
{
    int lane = threadIdx.x % WARP, row = lane & 15;
    load_matrices(r, (page + row * key_page<D>::ROW + ((lane >> 4) ^ (row & 7)) * 16) ^ k * 32);
}

/* Returns the slot of value x, 0 to 7, of a lane's products with a page as the second factor, when the page's
 * first slot is `first`. */
static __device__ int slot_of(int first, int x)
{
    return first + x / 4 * 8 + threadIdx.x % 4 * 2 + x % 2;
}

#endif
