/* The end of a sparse prefill (DMS): tokens that the last query no longer sees are dropped, the others move
 * down to the first slots, and the rings of the last `reach` tokens are filled. */
#include "kernels/cuda/cache/squeeze.cuh"

/* The rings' entries of a thread's slots. */
static __device__ void fill_rings(const struct compact_args &a, size_t list, const int32_t *until,
                                  const struct moves &m)
{
    int32_t *slot = a.ring_slot + list * (size_t)a.reach, *flag = a.ring_flag + list * (size_t)a.reach;
#pragma unroll
    for (int j = 0; j < HOLD; j++) {
        int t = m.first + j * BESIDE;
        if (does_once() && t < a.n && t >= a.n - a.reach) {
            slot[t % a.reach] = m.to[j];
            flag[t % a.reach] = until[t] != INT32_MAX;
        }
    }
}

/* Grid (parts, KV heads, layers). */
static __global__ void __launch_bounds__(THREADS) compact_kernel(struct compact_args a, int *arrived)
{
    const struct kv_view &kv = a.kv;
    extern __shared__ unsigned compact_bits[];
    int h = blockIdx.y, layer = a.layer + blockIdx.z, lane = threadIdx.x % WARP, words = words_of(a.n);
    size_t head = kv_head(kv, a.seq, layer, h), list = (size_t)layer * kv.n_kv + h;
    size_t of_launch = (size_t)blockIdx.z * kv.n_kv + h;
    const int32_t *until = a.until + list * (size_t)a.until_stride;
    const uint16_t *live = kv.live + head * (size_t)kv.max_pages;
    for (int w = threadIdx.x / WARP; w < words; w += WARPS) {
        int t = w * WARP + lane;
        bool sees = t < a.n && until[t] >= a.n - 1 && live[t / KV_PAGE_TOKENS] >> t % KV_PAGE_TOKENS & 1;
        unsigned seen = __ballot_sync(~0u, sees);
        if (lane == 0)
            compact_bits[w] = seen;
    }
    __syncthreads();
    squeeze_part(kv, head, compact_bits, words, blockIdx.x, gridDim.x, arrived, of_launch,
                 [&](const struct moves &m) { fill_rings(a, list, until, m); });
}

int cuda_op_compact(struct device *d, const struct compact_args *a)
{
    const struct kv_view *kv = &a->kv;
    int parts = parts_of_head(kv, a->n_layers * kv->n_kv);
    return cuda_launch(d, OP_compact, compact_kernel, dim3(parts, kv->n_kv, a->n_layers), THREADS,
                       words_of(a->n) * sizeof(unsigned), 1, 0, *a, d->counters);
}
