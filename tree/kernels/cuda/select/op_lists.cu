/* Choices that are not simply the largest scores: sinks with the recent tokens (StreamingLLM, arXiv
 * 2309.17453), and the union of the query heads' rankings (LessIsMore, arXiv 2508.07101). */
#include "kernels/cuda/device/cuda.cuh"
#include "kernels/cuda/device/kv.cuh"
#include "kernels/cuda/device/ptx.cuh"
#include "kernels/cuda/select/keys.cuh"
#include "kernels/topk_params.h"

enum { THREADS = 512, MAX_RANKS = 16384 };

/* A block does one row. */
static __global__ void window_list_kernel(struct window_list_args a)
{
    pdl_wait();
    pdl_trigger();
    int row = blockIdx.x, pos = a.rows.pos[row], s = pos + 1;
    if (a.rows.seq[row] < 0)
        return;
    int k = topk_take(&a.params, s, s, pos, 0, a.cap).k, sinks = min(a.sinks, k);
    int32_t *idx = a.idx + (size_t)row * a.cap;
    for (int i = threadIdx.x; i < k; i += blockDim.x)
        idx[i] = i < sinks ? i : s - k + i;
    if (threadIdx.x == 0)
        a.len[row] = k < s ? k : -1;
}

int cuda_op_window_list(struct device *d, const struct window_list_args *a)
{
    if (a->rows.cap < 1)
        return 0;
    return cuda_launch_pdl(d, OP_window_list, window_list_kernel, a->rows.cap, 256, 0, 1, *a);
}

/* ---- rank_union. Places in the walk are whole numbers until the last kernel, so that the largest of several
 * is the same in any order. */

static __global__ void __launch_bounds__(THREADS) union_begin_kernel(struct rank_union_args a)
{
    pdl_wait();
    pdl_trigger();
    int row = blockIdx.x;
    if (a.rows.seq[row] < 0)
        return;
    struct union_split u = union_split(&a, a.rows.pos[row]);
    int *place = (int *)(a.out.v + (size_t)row * a.out.stride);
    for (int t = threadIdx.x; t < u.s; t += THREADS)
        place[t] = t < u.low || t >= u.high ? 0 : INT32_MIN;
}

struct rank_shared {
    int bins[BINS];
    int n; /* entries collected */
    struct digit digit;
};

/* The k-th largest key of n, 0 if there are fewer, and in *equal how many of those equal to it are taken. */
__device__ static uint32_t kth_key(struct rank_shared *s, const float *x, int n, int k, int *equal)
{
    uint32_t prefix = 0, mask = 0;
    for (int shift = 24; shift >= 0; shift -= 8) {
        for (int i = threadIdx.x; i < BINS; i += THREADS)
            s->bins[i] = 0;
        __syncthreads();
        for (int i = threadIdx.x; i < n; i += THREADS) {
            uint32_t key = key_of(x[i], 0, 0.0f);
            if ((key & mask) == prefix)
                atomicAdd(s->bins + (key >> shift & (BINS - 1)), 1);
        }
        __syncthreads();
        if (threadIdx.x < WARP) {
            int c[OWN_BINS];
            for (int i = 0; i < OWN_BINS; i++)
                c[i] = s->bins[OWN_BINS * threadIdx.x + i];
            find_bin(c, k, &s->digit);
        }
        __syncthreads();
        prefix |= (uint32_t)s->digit.value << shift;
        mask |= (uint32_t)(BINS - 1) << shift;
        k -= s->digit.above;
    }
    *equal = prefix ? k : 0;
    return prefix;
}

/* Of the keys equal to the threshold the first `equal`, by the first warp. */
__device__ static void collect_equal(struct rank_shared *s, const float *x, int low, int n,
                                     uint32_t threshold, int equal, uint64_t *entry)
{
    int lane = threadIdx.x, found = 0;
    for (int i = lane; i - lane < n && found < equal; i += WARP) {
        bool is = i < n && key_of(x[i], 0, 0.0f) == threshold;
        unsigned all = __ballot_sync(~0u, is);
        int at = found + __popc(all & ((1u << lane) - 1));
        if (is && at < equal)
            entry[s->n + at] = (uint64_t)~threshold << 32 | (uint32_t)(low + i);
        found += __popc(all);
    }
}

/* Ascending; size is a power of two. */
__device__ static void sort_entries(uint64_t *v, int size)
{
    for (int k = 2; k <= size; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            __syncthreads();
            for (int i = threadIdx.x; i < size; i += THREADS) {
                int other = i ^ j;
                if (other > i && (v[i] > v[other]) == ((i & k) == 0)) {
                    uint64_t t = v[i];
                    v[i] = v[other];
                    v[other] = t;
                }
            }
        }
    __syncthreads();
}

/* x: query heads, y: rows. memory: workspace for `max_ranks` entries a thread block, or NULL: they are in
 * shared memory. */
static __global__ void __launch_bounds__(THREADS)
    union_rank_kernel(struct rank_union_args a, uint64_t *memory, int max_ranks)
{
    extern __shared__ uint64_t union_ranks[];
    __shared__ struct rank_shared s;
    int q = blockIdx.x, row = blockIdx.y, equal = 0;
    if (a.rows.seq[row] < 0)
        return;
    struct union_split u = union_split(&a, a.rows.pos[row]);
    const float *x = a.in.logits + ((size_t)row * a.n_q + q) * (size_t)a.in.stride + u.low;
    int n = u.high - u.low, ranks = min(u.ranks, n), size = 1;
    int *place = (int *)(a.out.v + (size_t)row * a.out.stride);
    uint64_t *ranked = memory ? memory + ((size_t)row * a.n_q + q) * (size_t)max_ranks : union_ranks;
    while (size < ranks)
        size *= 2;
    if (ranks < 1)
        return;
    uint32_t threshold = kth_key(&s, x, n, ranks, &equal);
    if (threadIdx.x == 0)
        s.n = 0;
    for (int i = threadIdx.x; i < size; i += THREADS)
        ranked[i] = UINT64_MAX;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += THREADS) {
        uint32_t key = key_of(x[i], 0, 0.0f);
        if (key > threshold)
            ranked[atomicAdd(&s.n, 1)] = (uint64_t)~key << 32 | (uint32_t)(u.low + i);
    }
    __syncthreads();
    if (threadIdx.x < WARP && threshold)
        collect_equal(&s, x, u.low, n, threshold, equal, ranked);
    sort_entries(ranked, size);
    for (int r = threadIdx.x; r < ranks; r += THREADS)
        if (ranked[r] != UINT64_MAX)
            atomicMax(place + (uint32_t)ranked[r], -(r * a.n_q + q + 1));
}

static __global__ void __launch_bounds__(THREADS) union_end_kernel(struct rank_union_args a)
{
    pdl_wait();
    pdl_trigger();
    int row = blockIdx.x;
    if (a.rows.seq[row] < 0)
        return;
    int s = a.rows.pos[row] + 1;
    float *out = a.out.v + (size_t)row * a.out.stride;
    for (int t = threadIdx.x; t < s; t += THREADS)
        out[t] = (float)((const int *)out)[t];
    if (threadIdx.x == 0)
        a.out.n[row] = a.out.m[row] = s;
    book_statistics(a.kv, a.rows.seq[row], a.layer, a.n_q);
}

int cuda_op_rank_union(struct device *d, const struct rank_union_args *a)
{
    int size = 1, max_ranks = union_split(a, a->in.stride - 1).ranks;
    if (a->rows.cap < 1)
        return 0;
    while (size < max_ranks)
        size *= 2;
    if (size > MAX_RANKS)
        return cuda_error(d, BACKEND_ERR_UNSUPPORTED,
                          "rank_union: rankings of %d tokens; on a GPU at most %d", max_ranks, MAX_RANKS);
    size_t bytes = (size_t)size * sizeof(uint64_t);
    uint64_t *memory = NULL;
    if (bytes + sizeof(struct rank_shared) > d->max_smem) {
        memory = (uint64_t *)cuda_workspace(d, (size_t)a->rows.cap * (size_t)a->n_q * bytes);
        if (!memory)
            return BACKEND_ERR_MEMORY;
        bytes = 0;
    } else if (bytes > 32768) {
        cudaError_t e =
            cudaFuncSetAttribute(union_rank_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
        if (e != cudaSuccess)
            return cuda_check(d, e, "rank_union");
    }
    /* union_rank_kernel reads its keys five times: it is launched plainly, which leaves it the first-level
     * cache that an early launch gives to shared memory. */
    int rc = cuda_launch_pdl(d, OP_rank_union, union_begin_kernel, a->rows.cap, THREADS, 0, 1, *a);
    if (rc)
        return rc;
    union_rank_kernel<<<dim3(a->n_q, a->rows.cap), THREADS, bytes, d->stream>>>(*a, memory, size);
    rc = cuda_launched(d, OP_rank_union);
    return rc ? rc : cuda_launch_pdl(d, OP_rank_union, union_end_kernel, a->rows.cap, THREADS, 0, 1, *a);
}
