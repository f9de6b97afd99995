#ifndef KERNELS_CUDA_SELECT_REDUCE_CUH
#define KERNELS_CUDA_SELECT_REDUCE_CUH

#include "kernels/cuda/device/cuda.cuh"

/* What the kernels of reduce_stats share. */

/* The arguments, and what else the host knows: query heads of a list, and of a KV head. */
struct reduce {
    struct reduce_stats_args a;
    int heads, group;
    unsigned long long *counters;
};

/* Returns the arguments with what the host knows. */
static inline struct reduce reduce_of(struct device *d, const struct reduce_stats_args *a)
{
    return {*a, a->n_q / a->out.n_rows, a->n_q / a->kv.n_kv, (unsigned long long *)d->counters};
}

/* A sum of exponentials: e^top * sum. */
struct log_sum {
    float largest, sum;
};

/* Returns the number of thread blocks that share a list, where the longest list has work for `work` of them:
 * all of them, but at most a few times as many as the GPU holds. */
static inline int parts_of_list(const struct device *d, int lists, int work)
{
    return lists > CUDA_COUNTERS / 2 ? 1 : max(1, min(work, (d->n_sm * 32 + lists - 1) / lists));
}

/* Adds the candidates that a part of list `at` has found. The last of the list's parts to call it writes the
 * total and the list's length n. counters hold arrivals and candidates so far, both integers. */
__device__ static inline void report_candidates(const struct scores &out, unsigned long long *counters,
                                                int at, int n, int candidates, int parts)
{
    unsigned long long before = 0;
    if (parts > 1)
        before = atomicAdd(counters + at, 1ull << 32 | (unsigned)candidates);
    if ((int)(before >> 32) < parts - 1)
        return;
    out.n[at] = n;
    out.m[at] = (int)(unsigned)before + candidates;
    if (parts > 1)
        atomicExch(counters + at, 0ull);
}

/* op_reduce_pages.cu: enqueues the operation for statistics of pages. Returns 0 or a negative BACKEND_ERR_
 * code with d->error set. */
int reduce_pages(struct device *d, const struct reduce_stats_args *a);

#endif
