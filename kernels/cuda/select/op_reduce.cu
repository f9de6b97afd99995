/* Logarithms of attention weights, reduced over the heads of a list and over pages. */
#include <cuda_bf16.h>

#include "kernels/cuda/device/cuda.cuh"
#include "kernels/cuda/device/kv.cuh"
#include "kernels/cuda/device/math.cuh"
#include "kernels/cuda/device/ptx.cuh"
#include "kernels/cuda/select/reduce.cuh"

/* A lane has four tokens, four lanes a page of each head: 64 bytes. Many blocks of threads share a list, each
 * takes PAGES pages (or blocks of pages) at a time, and who is the last to finish writes the number of
 * candidates: counters hold arrivals and candidates so far, both whole numbers. */
enum { THREADS = 128, LANES = 4, TOKENS = 4, PAGES = THREADS / LANES, MOST_FLIGHT = 12 };

/* BF16_MASS: the sum of rounded exponentials. */
enum kind { LARGEST, LOG_SUM, BF16_MASS };

/* The arguments, and what else the host knows: query heads of a list, and of a KV head. */
struct reduce {
    struct reduce_stats_args a;
    int heads, group;
    unsigned long long *counters;
};

/* The heads that make up one out list. */
struct mass {
    float lse[BACKEND_MAX_Q_HEADS + MOST_FLIGHT];
    int slots[BACKEND_MAX_Q_HEADS + MOST_FLIGHT]; /* 0 when nothing was read, and after the last */
    int longest;                                  /* of all heads */
};

/* A sum of exponentials: e^top * sum. */
struct log_sum {
    float top, sum;
};

__device__ static inline void add(struct log_sum *s, float top, float sum)
{
    float d = top - s->top, e = term(-fabsf(d));
    if (top == -CUDART_INF_F)
        return;
    s->sum = d > 0 ? fmaf(s->sum, e, sum) : fmaf(sum, e, s->sum);
    s->top = fmaxf(s->top, top);
}

__device__ static inline float rounded_exp(float x)
{
    return __bfloat162float(__float2bfloat16_rn(expf(x)));
}

template <enum kind KIND> __device__ static inline void add_head(struct log_sum *s, float lp)
{
    if (KIND == LOG_SUM) {
        add(s, lp, 1.0f);
        return;
    }
    s->top = fmaxf(s->top, lp);
    if (KIND == BF16_MASS)
        s->sum += rounded_exp(lp);
}

/* A rounded mass of 0 keeps its token a candidate: below every logarithm of a float. */
template <enum kind KIND> __device__ static inline float over(const struct reduce &r, struct log_sum s)
{
    const float bf16_floor = -104.0f;
    if (s.top == -CUDART_INF_F || (KIND == LARGEST && !r.a.bf16))
        return s.top;
    if (KIND == LARGEST)
        return fmaxf(logf(rounded_exp(s.top)), bf16_floor);
    float mass = logf(r.a.mode == REDUCE_MEAN ? s.sum / (float)r.heads : s.sum);
    return KIND == BF16_MASS ? fmaxf(mass, bf16_floor) : s.top + mass;
}

/* Log-probabilities of four tokens from `slot` on, over the heads, FLIGHT of which are asked for at once;
 * -inf where nothing was read. */
template <enum kind KIND, int FLIGHT>
__device__ static inline void over_heads(const struct reduce &r, const struct mass &m, const float *logits,
                                         int slot, float out[TOKENS])
{
    const float none = -CUDART_INF_F;
    struct log_sum s[TOKENS];
#pragma unroll
    for (int t = 0; t < TOKENS; t++)
        s[t] = {none, 0.0f};
    for (int i = 0; i < r.heads; i += FLIGHT) {
        float4 x[FLIGHT];
#pragma unroll
        for (int u = 0; u < FLIGHT; u++) { /* beyond an end: anything, it is not used */
            size_t at = slot < m.slots[i + u] ? (size_t)(i + u) * r.a.in.stride + slot : 0;
            x[u] = __ldcs((const float4 *)(logits + at));
        }
#pragma unroll
        for (int u = 0; u < FLIGHT; u++)
            if (i + u < r.heads) {
                const float one[TOKENS] = {x[u].x, x[u].y, x[u].z, x[u].w};
#pragma unroll
                for (int t = 0; t < TOKENS; t++)
                    add_head<KIND>(&s[t], slot + t < m.slots[i + u] ? one[t] - m.lse[i + u] : none);
            }
    }
#pragma unroll
    for (int t = 0; t < TOKENS; t++)
        out[t] = over<KIND>(r, s[t]);
}

/* Log of the sum over block `block`, by its four lanes: page by page. */
template <enum kind KIND, int FLIGHT>
__device__ static inline float over_block(const struct reduce &r, const struct mass &m, const float *logits,
                                          int block)
{
    struct log_sum all = {-CUDART_INF_F, 0.0f};
    for (int j = 0; j < r.a.block_pages; j++) {
        float x[TOKENS];
        int page = block * r.a.block_pages + j;
        over_heads<KIND, FLIGHT>(r, m, logits, page * KV_PAGE_TOKENS + threadIdx.x % LANES * TOKENS, x);
        float top = fmaxf(fmaxf(x[0], x[1]), fmaxf(x[2], x[3])), sum = 0;
        for (int lane = 1; lane < LANES; lane *= 2)
            top = fmaxf(top, __shfl_xor_sync(~0u, top, lane));
#pragma unroll
        for (int t = 0; t < TOKENS; t++)
            sum += term(x[t] - (top == -CUDART_INF_F ? 0.0f : top));
        for (int lane = 1; lane < LANES; lane *= 2)
            sum += __shfl_xor_sync(~0u, sum, lane);
        add(&all, top, sum);
    }
    return all.top == -CUDART_INF_F ? all.top : all.top + logf(all.sum);
}

/* Writes four tokens, those below n; returns how many of them are candidates. */
__device__ static inline int write_tokens(float *out, int slot, int n, const float x[TOKENS])
{
    int candidates = 0;
    for (int t = 0; t < TOKENS; t++)
        candidates += slot + t < n && x[t] > -CUDART_INF_F;
    if (slot + TOKENS <= n && (uintptr_t)(out + slot) % sizeof(float4) == 0)
        *(float4 *)(out + slot) = make_float4(x[0], x[1], x[2], x[3]);
    else
        for (int t = 0; t < TOKENS; t++)
            if (slot + t < n)
                out[slot + t] = x[t];
    return candidates;
}

/* Everything about the heads in one look at memory. All threads of the block. */
__device__ static inline void find_heads(const struct reduce &r, struct mass *m, int seq, int list,
                                         size_t head0)
{
    if (threadIdx.x == 0)
        m->longest = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < r.heads + MOST_FLIGHT; i += THREADS) {
        bool in = i < r.heads;
        float lse = in ? r.a.in.lse[head0 + i] : -CUDART_INF_F;
        int h = (list * r.heads + (in ? i : 0)) / r.group,
            n = r.a.kv.n_slots[kv_head(r.a.kv, seq, r.a.layer, h)];
        m->lse[i] = lse;
        m->slots[i] = lse == -CUDART_INF_F ? 0 : n;
        atomicMax(&m->longest, n);
    }
    __syncthreads();
}

/* x: list. y: row. z: parts that share the list. */
template <enum kind KIND, int FLIGHT>
static __global__ void __launch_bounds__(THREADS, FLIGHT > 8 ? 5 : 6) reduce_stats_kernel(struct reduce r)
{
    __shared__ struct mass m;
    __shared__ int room[WARP];
    wait_for_inputs();
    let_next_begin();
    const struct reduce_stats_args &a = r.a;
    int row = blockIdx.y, list = blockIdx.x, at = row * a.out.n_rows + list, seq = a.rows.seq[row];
    if (seq < 0)
        return;
    size_t head0 = (size_t)row * a.n_q + (size_t)list * r.heads;
    if (list == 0 && blockIdx.z == 0)
        book_statistics(a.kv, seq, a.layer, a.n_q);
    find_heads(r, &m, seq, list, head0);
    int span = max(a.block_pages, 1) * KV_PAGE_TOKENS, n_tokens = m.longest;
    int blocks = (n_tokens + span - 1) / span, candidates = 0;
    int parts = min((int)gridDim.z, max(1, (blocks + PAGES - 1) / PAGES));
    if ((int)blockIdx.z >= parts)
        return;
    const float *logits = a.in.logits + head0 * (size_t)a.in.stride;
    float *out = a.out.v + (size_t)at * a.out.stride;
    for (int first = blockIdx.z * PAGES; first < blocks; first += parts * PAGES) {
        int block = first + threadIdx.x / LANES;
        if (a.block_pages) {
            float x = over_block<KIND, FLIGHT>(r, m, logits, block);
            if (block < blocks && threadIdx.x % LANES == 0) {
                out[block] = x;
                candidates += x > -CUDART_INF_F;
            }
        } else {
            float x[TOKENS];
            int slot = block * KV_PAGE_TOKENS + threadIdx.x % LANES * TOKENS;
            over_heads<KIND, FLIGHT>(r, m, logits, slot, x);
            candidates += write_tokens(out, slot, n_tokens, x);
        }
    }
    candidates = block_sum(candidates, room);
    if (threadIdx.x == 0)
        report_candidates(a.out, r.counters, at, a.block_pages ? blocks : n_tokens, candidates, parts);
}

template <int FLIGHT> static int launch(struct device *d, const struct reduce &r, dim3 grid)
{
    auto kernel = r.a.mode == REDUCE_MAX ? reduce_stats_kernel<LARGEST, FLIGHT>
                  : r.a.bf16             ? reduce_stats_kernel<BF16_MASS, FLIGHT>
                                         : reduce_stats_kernel<LOG_SUM, FLIGHT>;
    return cuda_launch_early(d, OP_reduce_stats, kernel, grid, THREADS, 0, 1, r);
}

int cuda_op_reduce_stats(struct device *d, const struct reduce_stats_args *a)
{
    if (a->in.by_page)
        return reduce_pages(d, a);
    int lists = a->rows.cap * a->out.n_rows, per = PAGES * max(a->block_pages, 1) * KV_PAGE_TOKENS;
    /* As many parts as the longest list has work for, but a few times what the GPU holds at most. */
    int parts = max(1, min((a->in.stride + per - 1) / per, (d->n_sm * 32 + lists - 1) / lists));
    if (lists > CUDA_COUNTERS / 2)
        parts = 1;
    struct reduce r = {*a, a->n_q / a->out.n_rows, a->n_q / a->kv.n_kv, (unsigned long long *)d->counters};
    dim3 grid(a->out.n_rows, a->rows.cap, parts);
    if (r.heads <= 4)
        return launch<4>(d, r, grid);
    /* All heads of a list at once where that is few more than eight: one wait for memory instead of two. */
    return r.heads % 8 && r.heads <= MOST_FLIGHT ? launch<MOST_FLIGHT>(d, r, grid) : launch<8>(d, r, grid);
}
