/* reduce_stats over statistics of pages: scores of blocks of pages, summed over the heads of a list. A thread
 * has a block of pages. It asks for the values of up to 16 heads at once, those of its first page before it
 * knows which of them are there: the kernel takes little longer than memory takes to answer three times. */
#include "kernels/cuda/device/kv.cuh"
#include "kernels/cuda/device/math.cuh"
#include "kernels/cuda/device/ptx.cuh"
#include "kernels/cuda/select/reduce.cuh"

enum { THREADS = 128, FLIGHT = 16 };

/* What a block of threads knows of the heads of its list. */
struct list_heads {
    float lse[BACKEND_MAX_Q_HEADS + FLIGHT]; /* 0 where nothing is live */
    int pages[BACKEND_MAX_Q_HEADS + FLIGHT]; /* 0 after the last head */
    int values[BACKEND_MAX_Q_HEADS];         /* read, by KV head */
    int longest;                             /* pages */
};

/* So many values that lie together, in one load. */
template <int VEC> struct alignas(VEC * sizeof(float)) values {
    float x[VEC];
};

/* The values of a page under heads i to i + FLIGHT - 1 of the list, whose first head is q0; VEC of them,
 * which have the same KV head, at a time. Anything where there is no such head or page. */
template <int VEC>
__device__ static inline void load_pages(const struct reduce &r, const float *row, int q0, int page, int i,
                                         float (&x)[FLIGHT])
{
    int h = (q0 + i) / r.group, g = q0 + i - h * r.group;
    const float *from = row + ((size_t)h * r.a.in.stride + page) * r.group + g;
#pragma unroll
    for (int u = 0; u < FLIGHT; u += VEC) {
        struct values<VEC> v = {
        };
        if (i + u < r.heads && page < r.a.in.stride)
            v = *(const struct values<VEC> *)from;
#pragma unroll
        for (int e = 0; e < VEC; e++)
            x[u + e] = v.x[e];
        from += VEC;
        g += VEC;
        if (g == r.group) { /* the next KV head */
            g = 0;
            from += (size_t)(r.a.in.stride - 1) * r.group;
        }
    }
}

/* Everything about the heads in one look at memory. All threads of the block. */
__device__ static inline void find_heads(const struct reduce &r, struct list_heads *m, int seq, int q0,
                                         const float *lse)
{
    if (threadIdx.x == 0)
        m->longest = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < r.heads + FLIGHT; i += THREADS) {
        int n = 0;
        float l = 0;
        if (i < r.heads) {
            l = lse[i];
            n = pages_of(r.a.kv.n_slots[kv_head(r.a.kv, seq, r.a.layer, (q0 + i) / r.group)]);
            m->values[i] = 0;
            atomicMax(&m->longest, n);
        }
        m->lse[i] = l == -CUDART_INF_F ? 0.0f : l;
        m->pages[i] = n;
    }
    __syncthreads();
}

/* Adds a page's values under heads i to i + FLIGHT - 1, and counts them: each warp's by its first lane. */
__device__ static inline void add_page(const struct reduce &r, struct list_heads *m, int page, int i,
                                       float (&x)[FLIGHT], struct log_sum *s)
{
    const float none = -CUDART_INF_F;
    float largest = s->largest, sum = 0;
#pragma unroll
    for (int u = 0; u < FLIGHT; u++) {
        x[u] = page < m->pages[i + u] ? x[u] - m->lse[i + u] : none;
        largest = fmaxf(largest, x[u]);
    }
#pragma unroll
    for (int u = 0; u < FLIGHT; u++)
        if (i + u < r.heads) {
            unsigned there = __ballot_sync(~0u, x[u] != none);
            if (threadIdx.x % WARP == 0)
                atomicAdd(&m->values[i + u], __popc(there));
            sum += softmax_exp(x[u] - (largest == none ? 0.0f : largest));
        }
    if (s->largest != none)
        sum = fmaf(s->sum, softmax_exp(s->largest - largest), sum);
    s->largest = largest;
    s->sum = sum;
}

/* x: list. y: row. z: parts that share the list. */
template <int VEC> static __global__ void __launch_bounds__(THREADS) reduce_pages_kernel(struct reduce r)
{
    __shared__ struct list_heads m;
    __shared__ int smem[WARP];
    pdl_wait();
    pdl_trigger();
    const struct reduce_stats_args &a = r.a;
    int row = blockIdx.y, list = blockIdx.x, at = row * a.out.n_rows + list, seq = a.rows.seq[row];
    int q0 = list * r.heads, candidates = 0;
    const float *values = a.in.logits + (size_t)row * a.n_q * a.in.stride;
    float x[FLIGHT];
    bool asked = true;
    load_pages<VEC>(r, values, q0, (blockIdx.z * THREADS + threadIdx.x) * a.block_pages, 0, x);
    if (seq < 0)
        return;
    find_heads(r, &m, seq, q0, a.in.lse + (size_t)row * a.n_q + q0);
    int blocks = (m.longest + a.block_pages - 1) / a.block_pages;
    int parts = min((int)gridDim.z, max(1, (blocks + THREADS - 1) / THREADS));
    if ((int)blockIdx.z >= parts)
        return;
    for (int first = blockIdx.z * THREADS; first < blocks; first += parts * THREADS) {
        struct log_sum s = {-CUDART_INF_F, 0.0f};
        int block = first + threadIdx.x;
        for (int page = block * a.block_pages; page < (block + 1) * a.block_pages; page++)
            for (int i = 0; i < r.heads; i += FLIGHT) {
                if (!asked)
                    load_pages<VEC>(r, values, q0, page, i, x);
                asked = false;
                add_page(r, &m, page, i, x, &s);
            }
        float mass = s.largest;
        if (s.largest != -CUDART_INF_F)
            mass += logf(a.mode == REDUCE_MEAN ? s.sum / (float)r.heads : s.sum);
        if (block < blocks)
            a.out.v[(size_t)at * a.out.stride + block] = mass;
        candidates += mass > -CUDART_INF_F;
    }
    candidates = block_sum(candidates, smem); /* and all have counted what they read */
    if (threadIdx.x == 0)
        report_candidates(a.out, r.counters, at, blocks, candidates, parts);
    for (int i = threadIdx.x; i < r.heads; i += THREADS)
        if (m.values[i])
            atomicAdd((unsigned long long *)&a.kv.aux_values[kv_head(a.kv, seq, a.layer, (q0 + i) / r.group)],
                      (unsigned long long)m.values[i]);
}

int reduce_pages(struct device *d, const struct reduce_stats_args *a)
{
    int lists = a->rows.cap * a->out.n_rows, blocks = (a->in.stride + a->block_pages - 1) / a->block_pages;
    int parts = parts_of_list(d, lists, (blocks + THREADS - 1) / THREADS);
    struct reduce r = reduce_of(d, a);
    int together = r.heads < r.group ? r.heads : r.group; /* a list's heads are one of n_q, or whole groups */
    auto kernel = together % 4 == 0   ? reduce_pages_kernel<4>
                  : together % 2 == 0 ? reduce_pages_kernel<2>
                                      : reduce_pages_kernel<1>;
    return cuda_launch_pdl(d, OP_reduce_stats, kernel, dim3(a->out.n_rows, a->rows.cap, parts), THREADS, 0, 1,
                           r);
}
