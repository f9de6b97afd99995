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

/* The heads that make up one out list. */
struct mass {
    float lse[BACKEND_MAX_Q_HEADS + MOST_FLIGHT];
    int slots[BACKEND_MAX_Q_HEADS + MOST_FLIGHT]; /* 0 when nothing was read, and after the last */
    int longest;                                  /* of all heads */
};

__device__ static inline void add_value(struct log_sum *s, float largest, float sum)
{
    float d = largest - s->largest, e = softmax_exp(-fabsf(d));
    if (largest == -CUDART_INF_F)
        return;
    s->sum = d > 0 ? fmaf(s->sum, e, sum) : fmaf(sum, e, s->sum);
    s->largest = fmaxf(s->largest, largest);
}

__device__ static inline float rounded_exp(float x)
{
    return __bfloat162float(__float2bfloat16_rn(expf(x)));
}

/* A rounded mass of 0 keeps its token a candidate: below every logarithm of a float. */
template <enum kind KIND> __device__ static inline float over_heads(const struct reduce &r, struct log_sum s)
{
    const float bf16_floor = -104.0f;
    if (s.largest == -CUDART_INF_F || (KIND == LARGEST && !r.a.bf16))
        return s.largest;
    if (KIND == LARGEST)
        return fmaxf(logf(rounded_exp(s.largest)), bf16_floor);
    float mass = logf(r.a.mode == REDUCE_MEAN ? s.sum / (float)r.heads : s.sum);
    return KIND == BF16_MASS ? fmaxf(mass, bf16_floor) : s.largest + mass;
}

/* A lane's four tokens of FLIGHT heads. */
template <int FLIGHT> struct flight {
    float4 x[FLIGHT];
};

/* Of the heads from i on, asked for all at once, the tokens from `slot` on; beyond an end: anything, it is
 * not used. */
template <int FLIGHT>
__device__ static inline void load_logits(const struct reduce &r, const float *logits, int i, int slot,
                                          struct flight<FLIGHT> *f)
{
#pragma unroll
    for (int u = 0; u < FLIGHT; u++) {
        size_t at = i + u < r.heads && slot < r.a.in.stride ? (size_t)(i + u) * r.a.in.stride + slot : 0;
        f->x[u] = __ldcs((const float4 *)(logits + at));
    }
}

__device__ static inline float value_of(const float4 &x, int t)
{
    return t == 0 ? x.x : t == 1 ? x.y : t == 2 ? x.z : x.w;
}

/* Their log-probabilities are added; -inf where nothing was read. */
template <enum kind KIND, int FLIGHT>
__device__ static inline void add_flight(const struct mass &m, int i, int slot,
                                         const struct flight<FLIGHT> &f, struct log_sum (&s)[TOKENS])
{
#pragma unroll
    for (int t = 0; t < TOKENS; t++) {
        float lp[FLIGHT], largest = -CUDART_INF_F, sum = 0;
#pragma unroll
        for (int u = 0; u < FLIGHT; u++) {
            lp[u] = slot + t < m.slots[i + u] ? value_of(f.x[u], t) - m.lse[i + u] : -CUDART_INF_F;
            largest = fmaxf(largest, lp[u]);
        }
        float base = largest == -CUDART_INF_F ? 0.0f : largest;
#pragma unroll
        for (int u = 0; u < (KIND == LARGEST ? 0 : FLIGHT); u++)
            sum += KIND == BF16_MASS ? rounded_exp(lp[u]) : softmax_exp(lp[u] - base);
        if (KIND == LOG_SUM) {
            add_value(&s[t], largest, sum);
        } else {
            s[t].largest = fmaxf(s[t].largest, largest);
            s[t].sum += sum;
        }
    }
}

template <enum kind KIND>
__device__ static inline void over_all(const struct reduce &r, const struct log_sum (&s)[TOKENS],
                                       float (&out)[TOKENS])
{
#pragma unroll
    for (int t = 0; t < TOKENS; t++)
        out[t] = over_heads<KIND>(r, s[t]);
}

/* Log-probabilities of four tokens from `slot` on, over the heads. */
template <enum kind KIND, int FLIGHT>
__device__ static inline void over_heads(const struct reduce &r, const struct mass &m, const float *logits,
                                         int slot, float (&out)[TOKENS])
{
    const struct log_sum none = {-CUDART_INF_F, 0.0f};
    struct log_sum s[TOKENS] = {none, none, none, none};
    for (int i = 0; i < r.heads; i += FLIGHT) {
        struct flight<FLIGHT> f;
        load_logits(r, logits, i, slot, &f);
        add_flight<KIND>(m, i, slot, f, s);
    }
    over_all<KIND>(r, s, out);
}

/* The sum over a page, by its four lanes. */
__device__ static inline struct log_sum over_page(const float (&x)[TOKENS])
{
    float largest = fmaxf(fmaxf(x[0], x[1]), fmaxf(x[2], x[3])), sum = 0;
    for (int lane = 1; lane < LANES; lane *= 2)
        largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, lane));
#pragma unroll
    for (int t = 0; t < TOKENS; t++)
        sum += softmax_exp(x[t] - (largest == -CUDART_INF_F ? 0.0f : largest));
    for (int lane = 1; lane < LANES; lane *= 2)
        sum += __shfl_xor_sync(~0u, sum, lane);
    return {largest, sum};
}

__device__ static inline float log_of(const struct log_sum &s)
{
    return s.largest == -CUDART_INF_F ? s.largest : s.largest + logf(s.sum);
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
        struct log_sum s = over_page(x);
        add_value(&all, s.largest, s.sum);
    }
    return log_of(all);
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

/* What a block has of a list: pages or blocks of pages first + PAGES * step .., candidates among them. */
struct share {
    float *out;
    int first, step, blocks, n_tokens, candidates;
};

/* Of a block of pages, or, where there are none, of a page's tokens. */
__device__ static inline void put_block(const struct reduce &r, struct share *s, int block, float x)
{
    if (block < s->blocks && threadIdx.x % LANES == 0) {
        s->out[block] = x;
        s->candidates += x > -CUDART_INF_F;
    }
}

/* Lists whose heads are asked for at once, by page or by token: the next ones are under way while these are
 * reduced, and `f`, the first, while the list was looked up. */
template <enum kind KIND, int FLIGHT>
__device__ static inline void reduce_ahead(const struct reduce &r, const struct mass &m, const float *logits,
                                           struct flight<FLIGHT> f, struct share *s)
{
    const struct log_sum none = {-CUDART_INF_F, 0.0f};
#pragma unroll 1
    for (int first = s->first; first < s->blocks; first += s->step) {
        int block = first + threadIdx.x / LANES;
        int slot = block * KV_PAGE_TOKENS + threadIdx.x % LANES * TOKENS;
        struct flight<FLIGHT> next;
        bool more = first + s->step < s->blocks;
        load_logits(r, logits, 0, more ? slot + s->step * KV_PAGE_TOKENS : r.a.in.stride, &next);
        struct log_sum sums[TOKENS] = {none, none, none, none};
        float x[TOKENS];
        add_flight<KIND>(m, 0, slot, f, sums);
        over_all<KIND>(r, sums, x);
        if (r.a.block_pages)
            put_block(r, s, block, log_of(over_page(x)));
        else
            s->candidates += write_tokens(s->out, slot, s->n_tokens, x);
        f = next;
    }
}

template <enum kind KIND, int FLIGHT>
__device__ static inline void reduce_all(const struct reduce &r, const struct mass &m, const float *logits,
                                         struct share *s)
{
    for (int first = s->first; first < s->blocks; first += s->step) {
        int block = first + threadIdx.x / LANES;
        if (r.a.block_pages) {
            put_block(r, s, block, over_block<KIND, FLIGHT>(r, m, logits, block));
        } else {
            float x[TOKENS];
            int slot = block * KV_PAGE_TOKENS + threadIdx.x % LANES * TOKENS;
            over_heads<KIND, FLIGHT>(r, m, logits, slot, x);
            s->candidates += write_tokens(s->out, slot, s->n_tokens, x);
        }
    }
}

/* Blocks that an SM has registers for. */
__host__ __device__ static constexpr int resident_blocks(int flight)
{
    return flight > 8 ? 4 : flight > 4 ? 5 : 6;
}

/* x: list. y: row. z: parts that share the list. AHEAD: see reduce_ahead. */
template <enum kind KIND, int FLIGHT, bool AHEAD>
static __global__ void __launch_bounds__(THREADS, resident_blocks(FLIGHT))
    reduce_stats_kernel(struct reduce r)
{
    __shared__ struct mass m;
    __shared__ int smem[WARP];
    const struct reduce_stats_args &a = r.a;
    int row = blockIdx.y, list = blockIdx.x, at = row * a.out.n_rows + list;
    size_t head0 = (size_t)row * a.n_q + (size_t)list * r.heads;
    const float *logits = a.in.logits + head0 * (size_t)a.in.stride;
    struct flight<FLIGHT> f;
    pdl_wait();
    pdl_trigger();
    if (AHEAD)
        load_logits(r, logits, 0, ((int)blockIdx.z * PAGES * LANES + (int)threadIdx.x) * TOKENS, &f);
    int seq = a.rows.seq[row];
    __syncthreads(); /* so that logits are asked for before seq is there: see topk_kernel */
    if (seq < 0)
        return;
    find_heads(r, &m, seq, list, head0);
    int span = max(a.block_pages, 1) * KV_PAGE_TOKENS;
    struct share s = {a.out.v + (size_t)at * a.out.stride};
    s.n_tokens = m.longest;
    s.blocks = (m.longest + span - 1) / span;
    int parts = min((int)gridDim.z, max(1, (s.blocks + PAGES - 1) / PAGES));
    if ((int)blockIdx.z >= parts)
        return;
    s.first = blockIdx.z * PAGES;
    s.step = parts * PAGES;
    if (AHEAD)
        reduce_ahead<KIND, FLIGHT>(r, m, logits, f, &s);
    else
        reduce_all<KIND, FLIGHT>(r, m, logits, &s);
    int candidates = block_sum(s.candidates, smem);
    if (threadIdx.x == 0)
        report_candidates(a.out, r.counters, at, a.block_pages ? s.blocks : s.n_tokens, candidates, parts);
    if (list == 0 && blockIdx.z == 0)
        book_statistics(a.kv, seq, a.layer, a.n_q);
}

/* Parts of a list. ahead: all blocks run at once, as many of them as have equal work. */
static int parts_of(const struct device *d, const struct reduce_stats_args *a, int flight, bool ahead)
{
    int lists = a->rows.cap * a->out.n_rows, per = PAGES * max(a->block_pages, 1) * KV_PAGE_TOKENS;
    int work = (a->in.stride + per - 1) / per, max_blocks = max(1, d->n_sm * resident_blocks(flight) / lists);
    if (!ahead || lists > CUDA_COUNTERS / 2)
        return parts_of_list(d, lists, work);
    int rounds = max(1, (work + max_blocks - 1) / max_blocks);
    return max(1, (work + rounds - 1) / rounds);
}

template <int FLIGHT, bool AHEAD> static int launch_reduce(struct device *d, const struct reduce &r)
{
    auto kernel = r.a.mode == REDUCE_MAX ? reduce_stats_kernel<LARGEST, FLIGHT, AHEAD>
                  : r.a.bf16             ? reduce_stats_kernel<BF16_MASS, FLIGHT, AHEAD>
                                         : reduce_stats_kernel<LOG_SUM, FLIGHT, AHEAD>;
    dim3 grid(r.a.out.n_rows, r.a.rows.cap, parts_of(d, &r.a, FLIGHT, AHEAD));
    return cuda_launch_pdl(d, OP_reduce_stats, kernel, grid, THREADS, 0, 1, r);
}

int cuda_op_reduce_stats(struct device *d, const struct reduce_stats_args *a)
{
    if (a->in.by_page)
        return reduce_pages(d, a);
    struct reduce r = reduce_of(d, a);
    if (r.heads <= 4) /* enough blocks are in flight anyway */
        return launch_reduce<4, false>(d, r);
    if (a->block_pages > 1 || r.heads > MOST_FLIGHT)
        return launch_reduce<8, false>(d, r);
    return r.heads <= 8 ? launch_reduce<8, true>(d, r) : launch_reduce<MOST_FLIGHT, true>(d, r);
}

/* ---- first_lse */

enum { LSE_THREADS = 256 };

/* x: query heads, y: rows. */
static __global__ void __launch_bounds__(LSE_THREADS) first_lse_kernel(struct first_lse_args a)
{
    __shared__ float smem[WARP];
    pdl_wait();
    pdl_trigger();
    int seq = a.rows.seq[blockIdx.y];
    size_t at = (size_t)blockIdx.y * a.n_q + blockIdx.x;
    if (seq < 0)
        return;
    const float *v = a.io.logits + at * (size_t)a.io.stride;
    int n = a.len_of_seq ? a.len_of_seq[seq] : 0;
    float sink = a.sink ? a.sink[blockIdx.x] : -CUDART_INF_F, largest = sink, sum = 0;
    for (int t = threadIdx.x; t < n; t += LSE_THREADS)
        largest = fmaxf(largest, v[t]);
    largest = block_max(largest, smem);
    for (int t = threadIdx.x; t < n && largest > -CUDART_INF_F; t += LSE_THREADS)
        sum += softmax_exp(v[t] - largest);
    sum = block_sum(sum, smem);
    if (a.sink)
        sum += softmax_exp(sink - largest);
    if (threadIdx.x == 0)
        a.io.lse[at] = !a.len_of_seq ? 0 : sum > 0 ? largest + logf(sum) : -CUDART_INF_F;
}

int cuda_op_first_lse(struct device *d, const struct first_lse_args *a)
{
    if (a->rows.cap < 1)
        return 0;
    return cuda_launch_pdl(d, OP_first_lse, first_lse_kernel, dim3(a->n_q, a->rows.cap), LSE_THREADS, 0, 1,
                           *a);
}
