#ifndef KERNELS_CUDA_DEVICE_SHARE_CUH
#define KERNELS_CUDA_DEVICE_SHARE_CUH

/* How thread blocks divide work, and how the last one to finish is found. */
#include "kernels/cuda/device/math.cuh"
#include "kernels/cuda/device/ptx.cuh"

/* For work that few lists of a batch have in one step, and often none: all blocks of a launch share it. Every
 * block asks slots(list) of all lists, which is 0 for those without work. A list with work has items(its
 * slots) items; this block does its share of them by work(list, slots, item). note(list, slots) is called
 * once for each list, by a thread of the first block.
 *
 * Where two kernels overlap, the first blocks of the later one, which get the items when there are few, are
 * placed wherever an SM has capacity, two on one SM beside idle ones. So the kernels on tensor cores have an
 * occupancy of one block an SM; those of op_window.cu need two to hide latencies, and op_keep.cu's, which
 * hold many tokens, have one. */
template <int THREADS, class Slots, class Note, class Items, class Work>
static __device__ void share_items(int lists, Slots slots, Note note, Items items, Work work)
{
    enum { LISTS = 1024 }; /* that the block looks at in one go */
    __shared__ int n[LISTS];
    __shared__ unsigned some[LISTS / WARP];
    int item = blockIdx.x; /* this block's next, counted from the list's first */
    for (int first = 0; first < lists; first += LISTS) {
#pragma unroll
        for (int i = 0; i < LISTS && first + i < lists; i += THREADS) {
            int at = i + threadIdx.x, here = slots(min(first + at, lists - 1));
            n[at] = first + at < lists ? here : 0;
            unsigned with = __ballot_sync(~0u, n[at] > 0);
            if (at % WARP == 0)
                some[at / WARP] = with;
            if (blockIdx.x == 0 && first + at < lists)
                note(first + at, here);
        }
        __syncthreads();
        for (int i = 0; i < min(LISTS, lists - first); i += WARP)
            for (unsigned left = some[i / WARP]; left; left &= left - 1) {
                int at = i + __ffs((int)left) - 1, count = items(n[at]);
                for (; item < count; item += gridDim.x)
                    work(first + at, n[at], item);
                item -= count;
            }
        __syncthreads();
    }
}

/* Returns true if this block is the last of `blocks` to call it; all its threads get the answer, and the last
 * block
 * sees everything that the others wrote before. arrived[which] must be 0, and is 0 again afterwards; with one
 * block it is not used. */
static __device__ bool last_to_come(int *arrived, size_t which, int blocks)
{
    __shared__ bool last;
    __syncthreads();
    if (threadIdx.x == 0) {
        last = blocks == 1 || count_in_order(arrived + which) == blocks - 1;
        if (last && blocks > 1)
            arrived[which] = 0;
    }
    __syncthreads();
    return last;
}

#endif
