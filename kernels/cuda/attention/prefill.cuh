#ifndef KERNELS_CUDA_ATTENTION_PREFILL_CUH
#define KERNELS_CUDA_ATTENTION_PREFILL_CUH

#include "kernels/cuda/device/cuda.cuh"
#include "kernels/cuda/device/kv.cuh"
#include "kernels/cuda/device/math.cuh"
#include "kernels/cuda/device/ptx.cuh"

/* What the kernels of prefill attention share. A row of a KV head is one query of one head of its group. A
 * block takes some rows and one split of the keys. Splits, and the tiles within them, begin at fixed
 * positions, and rows are computed independently, so a row's bits depend only on its own keys, whichever
 * block does it. Through a window a block reads all that its rows see, from the tile on that holds the first
 * one's first key: that is seldom more than a split, and tiles that a row sees nothing of leave its sums
 * empty. Logits are in base 2: log2(e) is part of the scale. */
struct prefill_work {
    struct prefill_attend_args a;
    int group, rows; /* query heads per KV head; rows per KV head: nq * group */
    int n_splits;
    float *o;        /* (n_splits, n_kv, rows, head_dim): sums of weight * V; one split: outputs at once */
    float2 *max_sum; /* (n_splits, n_kv, rows): largest logit or the next whole number, sum of weights */
    uint64_t
        *listed; /* (tiles of a, a.n_rows, words): keys that the tile's list lets through; NULL: no lists */
    int words;
};

/* prefill_split_key() returns the first key of split i, and prefill_split_of() the split of a key: 0, 2,048,
 * 4,096, then every 4,096. Shorter ones would fill a GPU with fewer queries, but a block's beginning and its
 * end cost as much as hundreds of keys, and sums have to be written and added. */
__host__ __device__ static constexpr int prefill_split_key(int i)
{
    return i < 2 ? i * 2048 : (i - 1) * 4096;
}

__host__ __device__ static constexpr int prefill_split_of(int key)
{
    return key < 4096 ? key / 2048 : 1 + key / 4096;
}

/* Returns true if split i is where the function of its keys says. */
constexpr bool prefill_splits_agree(int i)
{
    return prefill_split_of(prefill_split_key(i)) == i && prefill_split_of(prefill_split_key(i) - 1) == i - 1;
}
static_assert(prefill_splits_agree(1) && prefill_splits_agree(2) && prefill_splits_agree(3) &&
                  prefill_splits_agree(4),
              "splits and their keys");

/* Returns the position of a row's query. */
__device__ static inline int prefill_pos(const struct prefill_work &w, int row)
{
    return w.a.pos0 + row / w.group;
}

/* Return the address of a row's query (head_dim floats), and where its output begins, in values. */
__device__ static inline const float *prefill_q(const struct prefill_work &w, int head, int row)
{
    return w.a.q + (size_t)(row / w.group) * (size_t)w.a.q_stride +
           (size_t)(head * w.group + row % w.group) * (size_t)w.a.kv.head_dim;
}
__device__ static inline size_t prefill_out(const struct prefill_work &w, int head, int row)
{
    return ((size_t)(row / w.group) * (size_t)w.a.n_q + (size_t)(head * w.group + row % w.group)) *
           (size_t)w.a.kv.head_dim;
}

/* Returns where a row's part of a split is in max_sum, and, times head_dim, in o. */
__device__ static inline size_t prefill_part(const struct prefill_work &w, int split, int head, int row)
{
    return ((size_t)split * (size_t)w.a.kv.n_kv + (size_t)head) * (size_t)w.rows + (size_t)row;
}

/* Returns bits; bit t is set if position and lists let the query at pos see key key0 + t. key0 is a multiple
 * of 64. WINDOW: there is a window. */
template <bool WINDOW>
__device__ static inline uint64_t prefill_seen(const struct prefill_work &w, int head, int pos, int key0)
{
    int n = pos + 1 - key0;
    uint64_t seen = n >= 64 ? ~0ull : n > 0 ? (1ull << n) - 1 : 0;
    if (WINDOW) {
        int before = window_start(w.a.window, pos) - key0;
        return before >= 64 ? 0 : before > 0 ? seen >> before << before : seen;
    }
    if (!w.listed || !seen)
        return seen;
    size_t list = (size_t)(pos / w.a.tile - w.a.pos0 / w.a.tile) * (size_t)w.a.n_rows + w.a.row_of_kv[head];
    return seen & w.listed[list * (size_t)w.words + (size_t)(key0 / 64)];
}

/* As exponential() of math.cuh, in base 2. */
__device__ static inline float softmax_exp2(float x)
{
    return x < -69.0f * 1.44269504f ? 0.0f : power_of_2(x);
}

/* Returns what a row's sum of weight * V is multiplied by, once its sink has joined the weights; 0 for rows
 * that see nothing. */
__device__ static inline float prefill_scale(const struct prefill_work &w, int head, int row,
                                             float running_max, float sum)
{
    if (running_max == -CUDART_INF_F)
        return 0.0f;
    if (!w.a.softmax.sink)
        return 1.0f / sum;
    float sink = w.a.softmax.sink[head * w.group + row % w.group] * (float)CUDART_L2E,
          new_max = fmaxf(running_max, sink), keep = softmax_exp2(running_max - new_max);
    return keep / fmaf(sum, keep, softmax_exp2(sink - new_max));
}

/* Enqueue one slice of queries, which writes outputs if there is one split, else o and max_sum. They return 0
 * or a negative BACKEND_ERR_ code with d->error set. */
int prefill_plain(struct device *d, const struct prefill_work *w);
/* bf16, head_dim 64 or 128, no softcap; d->hopper, and prefill_wgmma() on Hopper alone */
int prefill_mma(struct device *d, const struct prefill_work *w);
int prefill_wgmma(struct device *d, const struct prefill_work *w);
/* The same where each tile of queries has a list, with outputs at once. prefill_lists(): given lists, no
 * expiry. prefill_expiring(): expiry and no lists; it makes them, of tiles of PREFILL_LIST_ROWS rows. */
enum { PREFILL_LIST_ROWS = 128 };
int prefill_lists(struct device *d, const struct prefill_work *w);
int prefill_expiring(struct device *d, const struct prefill_work *w);

#endif
