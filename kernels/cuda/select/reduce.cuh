#ifndef KERNELS_CUDA_SELECT_REDUCE_CUH
#define KERNELS_CUDA_SELECT_REDUCE_CUH

#include "kernels/cuda/device/cuda.cuh"

/* What the kernels of reduce_stats share. */

/* A part of list `at` has found so many candidates; the last of the list's parts writes what they all have
 * found, and the list's length n. counters hold arrivals and candidates so far, both whole numbers. */
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
        counters[at] = 0;
}

/* op_reduce_pages.cu: statistics of pages. */
int reduce_pages(struct device *d, const struct reduce_stats_args *a);

#endif
