#ifndef KERNELS_CUDA_FORGET_WINDOW_CUH
#define KERNELS_CUDA_FORGET_WINDOW_CUH

/* What the kernels of window_mass share (kernels/backend_forget.h has the operation). */
#include "kernels/cuda/device/cuda.cuh"
#include "kernels/cuda/device/kv.cuh"
#include "kernels/cuda/device/ptx.cuh"
#include "kernels/cuda/device/share.cuh"
#include "kernels/keep_params.h"

/* A head whose window is looked at. */
struct window {
    const float *ring; /* (n, n_q, d) */
    const int32_t *block_table;
    size_t head, list;
    int oldest; /* the ring's entry of query 0 */
    int h, group, n_slots, before;
};

/* Returns the index of a list's head, of its row's sequence: those of a layer follow each other, and layers
 * too. */
static __device__ size_t head_of(const struct window_mass_args &a, int seq, int list)
{
    return kv_head(a.kv, seq, a.layer, list % a.out.n_rows);
}

/* Returns the slots of a list's head, or 0 for a padding row and where params do not act. */
static __device__ int slots_of(const struct window_mass_args &a, int list)
{
    int row = list / a.out.n_rows, seq = a.rows.seq[row], pos = a.rows.pos[row], there = max(seq, 0);
    int n = a.kv.n_slots[head_of(a, there, list)];
    return seq >= 0 && keep_acts(&a.params, keep_budget(&a.params, a.len_of_seq, there), n, pos) ? n : 0;
}

/* Returns the window of a list's head that has n_slots slots. */
static __device__ struct window window_of(const struct window_mass_args &a, int list, int n_slots)
{
    const struct kv_view &kv = a.kv;
    int row = list / a.out.n_rows, of_row = list % a.out.n_rows, seq = a.rows.seq[row];
    int layer = a.layer + of_row / kv.n_kv;
    struct window w = {};
    w.list = list;
    w.h = of_row % kv.n_kv;
    w.head = head_of(a, seq, list);
    w.oldest = (a.rows.pos[row] + 1) % a.n;
    w.group = a.n_q / kv.n_kv;
    w.block_table = kv.block_table + w.head * (size_t)kv.max_pages;
    w.ring =
        (const float *)(a.state + (size_t)seq * a.state_bytes) + (size_t)layer * a.n * a.n_q * kv.head_dim;
    w.n_slots = n_slots;
    w.before = n_slots - a.params.recent;
    return w;
}

/* Writes the length and the number of candidates of a list, and adds the keys looked at to kv.aux_half. */
static __device__ void put_totals(const struct window_mass_args &a, int list, int n_slots)
{
    int seq = a.rows.seq[list / a.out.n_rows];
    if (seq < 0)
        return;
    a.out.n[list] = a.out.m[list] = n_slots;
    if (n_slots)
        a.kv.aux_half[head_of(a, seq, list)] += a.causal ? n_slots : n_slots - a.params.recent;
}

/* Calls work(window, item) for this block's share of the items of the windows of all heads in which the rule
 * acts; one has items(slots) of them. totals: put_totals of all lists besides. */
template <int THREADS, class Items, class Work>
static __device__ void share_windows(const struct window_mass_args &a, bool totals, Items items, Work work)
{
    share_items<THREADS>(
        a.rows.cap * a.out.n_rows, [&](int list) { return slots_of(a, list); },
        [&](int list, int n_slots) {
            if (totals)
                put_totals(a, list, n_slots);
        },
        items, [&](int list, int n_slots, int item) { work(window_of(a, list, n_slots), item); });
}

/* Returns query i of the observation window, 0 the oldest, for head g of the group: head_dim floats. */
static __device__ const float *query_at(const struct window_mass_args &a, const struct window &w, int i,
                                        int g)
{
    int entry = w.oldest + i < a.n ? w.oldest + i : w.oldest + i - a.n;
    return w.ring + (size_t)(entry * a.n_q + w.h * w.group + g) * a.kv.head_dim;
}

/* Returns the number of slots that query i sees, from slot 0 on. */
static __device__ int query_sees(const struct window_mass_args &a, const struct window &w, int i)
{
    return a.causal ? w.n_slots - a.n + 1 + i : w.before;
}

/* Returns the sink in the softmax of head g of the group, or with largest_first the group's largest. There
 * are sinks. */
static __device__ float sink_of(const struct window_mass_args &a, const struct window &w, int g)
{
    const float *sink = a.softmax.sink + w.h * w.group;
    float new_max = sink[g];
    for (int other = 0; a.largest_first && other < w.group; other++)
        new_max = fmaxf(new_max, sink[other]);
    return new_max;
}

/* Adds two sums of exponentials y, each relative to its own running max x, into one (online softmax). */
static __device__ float2 join_running(float2 x, float2 y)
{
    float running_max = fmaxf(x.x, y.x);
    if (running_max == -CUDART_INF_F)
        return x;
    return make_float2(running_max,
                       x.y * softmax_exp(x.x - running_max) + y.y * softmax_exp(y.x - running_max));
}

enum { MAX_PARTS = 16 }; /* of a list's slots, in which their exponentials are summed */

/* op_window_mma.cu: for bf16 keys of 64 or 128 dimensions and up to 128 queries, no softcap. op_window.cu has
 * everything else. window_mma_fits() returns 1 if it takes these arguments, else 0. window_mma() enqueues the
 * operation and returns 0 or a negative BACKEND_ERR_ code with d->error set. */
int window_mma_fits(const struct window_mass_args *a);
int window_mma(struct device *d, const struct window_mass_args *a);

#endif
