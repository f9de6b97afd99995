#ifndef KERNELS_CUDA_DEVICE_SLOTS_CUH
#define KERNELS_CUDA_DEVICE_SLOTS_CUH

#include "kernels/cuda/device/kv.cuh"
#include "kernels/cuda/device/math.cuh"

/* Returns the slot that the next token of a head takes (see append_args and kernels/cpu/cpu_slots.c). One
 * whole warp calls this, and every lane gets the result. A caller that then changes the tables must first
 * wait for the warp. Nothing comes out of the first-level cache: a kernel may look before it waits for its
 * inputs. */
__device__ static inline int next_slot(const struct kv_view &kv, size_t head)
{
    enum { AHEAD = 4 };
    const uint16_t *live = kv.live + head * (size_t)kv.max_pages;
    int n = __ldcg(&kv.n_slots[head]), next = __ldcg(&kv.tail[head]) + 1, pages = pages_of(n);
    int lane = threadIdx.x % WARP;
    if (next > 0 && next % KV_PAGE_TOKENS && next <= n &&
        (next == n || !(__ldcg(&live[next / KV_PAGE_TOKENS]) >> next % KV_PAGE_TOKENS & 1)))
        return next;
    if (__ldcg(&kv.n_live[head]) == n)
        return n;
    for (int p0 = 0; p0 < pages; p0 += AHEAD * WARP) {
        unsigned used[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
            int p = p0 + u * WARP + lane;
            used[u] = p < pages ? __ldcg(&live[p]) : 0xffff;
            if (n - p * KV_PAGE_TOKENS < KV_PAGE_TOKENS)
                used[u] |= 0xffffu << n % KV_PAGE_TOKENS;
        }
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
            unsigned some = __ballot_sync(~0u, (used[u] & 0xffff) != 0xffff);
            if (some) {
                int first = __ffs((int)some) - 1, of = (int)__shfl_sync(~0u, used[u], first);
                return (p0 + u * WARP + first) * KV_PAGE_TOKENS + __ffs(~of) - 1;
            }
        }
    }
    return n;
}

#endif
