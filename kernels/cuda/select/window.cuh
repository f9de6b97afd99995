#ifndef KERNELS_CUDA_SELECT_WINDOW_CUH
#define KERNELS_CUDA_SELECT_WINDOW_CUH

/* What the kernels of window_mass share (kernels/backend_forget.h has the operation). */
#include "kernels/cuda/device/cuda.cuh"
#include "kernels/cuda/device/kv.cuh"
#include "kernels/cuda/device/math.cuh"
#include "kernels/cuda/device/ptx.cuh"
#include "kernels/keep_rule.h"

enum { THREADS = 256, WARPS = THREADS / WARP };
enum { AT_ONCE = 4, LISTS = AT_ONCE * THREADS }; /* heads that a thread, and a block, looks at in one go */

/* A head whose window is looked at. */
struct window {
    const float *ring; /* (n, n_q, d) */
    const int32_t *unit;
    size_t head, list;
    int pos, h, group, n_slots, before;
};

/* Slots of a list's head, or 0 where the rule does not act. */
static __device__ int slots_of(const struct window_mass_args &a, int list)
{
    int row = list / a.kv.n_kv, seq = a.rows.seq[row], pos = a.rows.pos[row], there = max(seq, 0);
    int n = a.kv.n_slots[kv_head(a.kv, there, a.layer, list % a.kv.n_kv)];
    return seq >= 0 && keep_acts(&a.rule, keep_budget(&a.rule, a.len_of_seq, there), n, pos) ? n : 0;
}

static __device__ struct window window_of(const struct window_mass_args &a, int list, int n_slots)
{
    const struct kv_view &kv = a.kv;
    int row = list / kv.n_kv, seq = a.rows.seq[row];
    struct window w = {};
    w.list = list;
    w.h = list % kv.n_kv;
    w.head = kv_head(kv, seq, a.layer, w.h);
    w.pos = a.rows.pos[row];
    w.group = a.n_q / kv.n_kv;
    w.unit = kv.unit + w.head * (size_t)kv.max_pages;
    w.ring =
        (const float *)(a.state + (size_t)seq * a.state_bytes) + (size_t)a.layer * a.n * a.n_q * kv.head_dim;
    w.n_slots = n_slots;
    w.before = n_slots - a.rule.recent;
    return w;
}

/* Calls work(window, item) for this block's share of the items of all heads in which the rule acts; a head
 * has items(its slots) of them. */
template <class Items, class Work>
static __device__ void share_items(const struct window_mass_args &a, Items items, Work work)
{
    __shared__ int n[LISTS];
    __shared__ unsigned acts[LISTS / WARP];
    int lists = a.rows.cap * a.kv.n_kv,
        item = blockIdx.x; /* the next of this block, counted from the head's */
    for (int first = 0; first < lists; first += LISTS) {
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            int at = i * THREADS + threadIdx.x;
            n[at] = first + at < lists ? slots_of(a, first + at) : 0;
            unsigned some = __ballot_sync(~0u, n[at] > 0);
            if (at % WARP == 0)
                acts[at / WARP] = some;
        }
        __syncthreads();
        for (int i = 0; i < LISTS / WARP; i++)
            for (unsigned left = acts[i]; left; left &= left - 1) {
                int at = i * WARP + __ffs((int)left) - 1, count = items(n[at]);
                for (; item < count; item += gridDim.x)
                    work(window_of(a, first + at, n[at]), item);
                item -= count;
            }
        __syncthreads();
    }
}

/* Query i of the window in head g of the group. */
static __device__ const float *query(const struct window_mass_args &a, const struct window &w, int i, int g)
{
    int entry = (w.pos - a.n + 1 + i) % a.n;
    return w.ring + (size_t)(entry * a.n_q + w.h * w.group + g) * a.kv.head_dim;
}

/* Slots that query i sees. */
static __device__ int sees(const struct window_mass_args &a, const struct window &w, int i)
{
    return a.causal ? w.n_slots - a.n + 1 + i : w.before;
}

#endif
