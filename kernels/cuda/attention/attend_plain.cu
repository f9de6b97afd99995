/* Decode attention in fp32 for any type of cache, head size and group. For the logits a thread takes a token;
 * for the sum over V it takes a dimension, and where dimensions are few every n-th token of it. G: the group,
 * rounded up. */
#include "kernels/cuda/attention/attend.cuh"
#include "kernels/cuda/device/ptx.cuh"

enum {
    BLOCKS = 6,
    SPAN = 8,
    SPAN_TOKENS = SPAN * KV_PAGE_TOKENS,
    DIMS = BACKEND_MAX_HEAD_DIM / ATTEND_THREADS
};

struct span {
    float q[BACKEND_MAX_GROUP][BACKEND_MAX_HEAD_DIM];
    float s[BACKEND_MAX_GROUP][SPAN_TOKENS]; /* logits, then weights */
    float running_max[BACKEND_MAX_GROUP], sum[BACKEND_MAX_GROUP], keep[BACKEND_MAX_GROUP];
    int kv_block[SPAN_TOKENS], slot[SPAN_TOKENS]; /* slot -1: no such token */
    uint32_t heads[SPAN_TOKENS];                  /* that read it */
};

/* Token t of the span that starts at entry e. */
static __device__ void locate_token(const struct attend_work &w, const struct list &l, int i, int e, int t,
                                    struct span *s)
{
    int at = e + t / KV_PAGE_TOKENS, lane = t % KV_PAGE_TOKENS, pages = pages_of(w.kv.n_slots[l.head]);
    struct entry x = {0, pages, 0, 0xffff};
    s->slot[t] = -1;
    s->heads[t] = 0;
    if (at < l.n && w.kind == LIST_TOKENS && l.idx) {
        int slot = at * KV_PAGE_TOKENS + lane < l.len ? l.idx[at * KV_PAGE_TOKENS + lane] : -1;
        if (slot < 0 || slot / KV_PAGE_TOKENS >= pages)
            return;
        size_t table = l.head * (size_t)w.kv.max_pages + slot / KV_PAGE_TOKENS;
        lane = slot % KV_PAGE_TOKENS;
        x.page = slot / KV_PAGE_TOKENS;
        x.kv_block = w.kv.block_table[table];
        x.tokens = w.kv.live[table];
    } else if (at < l.n) {
        x = list_entry(w, l, i, at);
    }
    if (x.page >= pages)
        return;
    s->kv_block[t] = x.kv_block;
    s->slot[t] = x.page * KV_PAGE_TOKENS + lane;
    s->heads[t] = x.tokens >> lane & 1 ? x.heads : 0;
}

template <int G>
static __device__ void score_span(const struct attend_work &w, const struct list &l, int t, struct span *s)
{
    float acc[G];
    const char *k = kv_block_k(w.kv, s->kv_block[t]);
    int lane = s->slot[t] % KV_PAGE_TOKENS;
#pragma unroll
    for (int g = 0; g < G; g++)
        acc[g] = 0;
#pragma unroll 8
    for (int x = 0; x < (s->heads[t] ? w.kv.head_dim : 0); x += 4) {
        float4 key = kv_get4(w.kv, k, lane, x);
#pragma unroll
        for (int g = 0; g < G; g++) {
            float4 q = *(const float4 *)&s->q[g][x];
            acc[g] = fmaf(q.w, key.w, fmaf(q.z, key.z, fmaf(q.y, key.y, fmaf(q.x, key.x, acc[g]))));
        }
    }
    size_t row = (size_t)l.row * w.n_q + l.h * w.group;
#pragma unroll
    for (int g = 0; g < G; g++) {
        if (g >= w.group)
            continue;
        float x = s->heads[t] >> g & 1 ? softcap_of(acc[g] * w.scale, w.softcap) : -CUDART_INF_F;
        s->s[g][t] = x;
        if (w.dumps_logits() && s->slot[t] >= 0 && (w.kind == LIST_LIVE || !l.idx || s->heads[t] >> g & 1))
            w.stats.logits[(row + g) * (size_t)w.stats.stride + s->slot[t]] = x;
    }
}

/* Log-sum-exps of the span's pages under head g, by one warp: 16 lanes a page. */
static __device__ void dump_pages(const struct attend_work &w, const struct list &l, const struct span *s,
                                  int g)
{
    size_t list = ((size_t)l.row * w.kv.n_kv + l.h) * (size_t)w.stats.stride;
    for (int t = threadIdx.x % WARP; t < SPAN_TOKENS; t += WARP) {
        float x = s->s[g][t], new_max = x;
        for (int lane = KV_PAGE_TOKENS / 2; lane; lane /= 2)
            new_max = fmaxf(new_max, __shfl_xor_sync(~0u, new_max, lane));
        float sum = new_max == -CUDART_INF_F ? 0.0f : softmax_exp(x - new_max);
        for (int lane = KV_PAGE_TOKENS / 2; lane; lane /= 2)
            sum += __shfl_xor_sync(~0u, sum, lane);
        if (t % KV_PAGE_TOKENS == 0 && s->slot[t] >= 0)
            w.stats.logits[(list + s->slot[t] / KV_PAGE_TOKENS) * w.group + g] = new_max + logf(sum);
    }
}

/* Head g, by one warp: logits become weights relative to the largest so far. */
static __device__ void softmax_span(struct span *s, int g)
{
    int lane = threadIdx.x % WARP;
    float new_max = s->running_max[g], sum = 0;
    for (int t = lane; t < SPAN_TOKENS; t += WARP)
        new_max = fmaxf(new_max, s->s[g][t]);
    new_max = warp_max(new_max);
    for (int t = lane; t < SPAN_TOKENS; t += WARP) {
        float x = new_max == -CUDART_INF_F ? 0.0f : softmax_exp(s->s[g][t] - new_max);
        s->s[g][t] = x;
        sum += x;
    }
    sum = warp_sum(sum);
    if (lane == 0) {
        float keep = s->running_max[g] == -CUDART_INF_F ? 0.0f : softmax_exp(s->running_max[g] - new_max);
        s->keep[g] = keep;
        s->sum[g] = fmaf(s->sum[g], keep, sum);
        s->running_max[g] = new_max;
    }
}

/* Threads that share a dimension. */
static __device__ inline int parts_of(int head_dim)
{
    return head_dim < ATTEND_THREADS ? ATTEND_THREADS / head_dim : 1;
}

template <int G>
static __device__ void add_values(const struct attend_work &w, const struct span *s, float o[][G])
{
    int d = w.kv.head_dim, parts = parts_of(d), part = parts > 1 ? threadIdx.x / d : 0;
#pragma unroll
    for (int x = 0; x < DIMS; x++) {
        int dim = (int)threadIdx.x - part * d + x * ATTEND_THREADS;
#pragma unroll
        for (int g = 0; g < G; g++)
            o[x][g] *= s->keep[g];
#pragma unroll 8
        for (int t = part < parts && dim < d ? part : SPAN_TOKENS; t < SPAN_TOKENS; t += parts) {
            float value = 0; /* a KV block that is not this list's may hold anything */
            if (s->heads[t])
                value = kv_get(w.kv, kv_block_v(w.kv, s->kv_block[t]), s->slot[t] % KV_PAGE_TOKENS, dim);
#pragma unroll
            for (int g = 0; g < G; g++)
                o[x][g] = fmaf(s->s[g][t], value, o[x][g]);
        }
    }
}

static __device__ void book_reads(const struct attend_work &w, const struct list &l, int n)
{
    __shared__ int smem[WARP];
    n = block_sum(n, smem);
    if (w.out && threadIdx.x == 0 && n)
        atomicAdd((unsigned long long *)&w.kv.reads[l.head], (unsigned long long)n);
}

template <int G>
static __device__ void run_item(const struct attend_work &w, const struct lists &all, int i, int split,
                                struct span *s)
{
    struct list l = list_at(w, all, i);
    if (l.n < 0)
        return;
    int per = split_entries(w, l.n), from = split * per, to = from + per < l.n ? from + per : l.n,
        t = threadIdx.x;
    int d = w.kv.head_dim, parts = parts_of(d), reads = 0;
    float o[DIMS][G];
#pragma unroll
    for (int g = 0; g < G; g++)
        for (int x = 0; x < DIMS; x++)
            o[x][g] = 0;
    for (int x = t; x < G * d; x += ATTEND_THREADS)
        s->q[x / d][x % d] =
            x / d < w.group ? w.q[(size_t)l.row * w.q_stride + (size_t)l.h * w.group * d + x] : 0.0f;
    for (int x = t; x < G * SPAN_TOKENS; x += ATTEND_THREADS)
        s->s[x / SPAN_TOKENS][x % SPAN_TOKENS] = 0;
    if (t < G) {
        s->running_max[t] = -CUDART_INF_F;
        s->sum[t] = s->keep[t] = 0;
    }
    __syncthreads();
    for (int e = from; e < to; e += SPAN) {
        locate_token(w, l, i, e, t, s);
        if (e + t / KV_PAGE_TOKENS >= to) {
            s->slot[t] = -1;
            s->heads[t] = 0;
        }
        reads += s->heads[t] != 0;
        score_span<G>(w, l, t, s);
        __syncthreads();
        for (int g = t / WARP; g < w.group; g += ATTEND_WARPS) {
            if (w.stats.by_page)
                dump_pages(w, l, s, g);
            softmax_span(s, g);
        }
        __syncthreads();
        if (w.out)
            add_values<G>(w, s, o);
        __syncthreads();
    }
    book_reads(w, l, reads);
    if (!w.out && split == 0 && t == 0)
        w.kv.aux_half[l.head] += w.kv.n_live[l.head];
#pragma unroll
    for (int x = 0; x < DIMS; x++)
#pragma unroll
        for (int g = 0; g < G; g++)
            if (t + x * ATTEND_THREADS < (parts > 1 ? parts * d : d))
                s->q[g][t + x * ATTEND_THREADS] = o[x][g]; /* q is done with */
    __syncthreads();
    finish_item(w, l, i, split, splits_of(w, l.n), d, s->running_max, s->sum, [&](int h, int x) {
        float4 sum = *(const float4 *)&s->q[h][x];
        for (int part = 1; part < parts; part++)
            sum = add_four(sum, *(const float4 *)&s->q[h][part * d + x]);
        return sum;
    });
    __syncthreads();
}

template <int G>
static __global__ void __launch_bounds__(ATTEND_THREADS, BLOCKS)
    plain_kernel(const __grid_constant__ struct attend_work w)
{
    extern __shared__ int smem[];
    __shared__ __align__(16) struct span s;
    struct lists all;
    pdl_wait();
    pdl_trigger();
    find_lists(w, smem, &all);
    for (int item = blockIdx.x, split; item < all.items; item += gridDim.x) {
        int i = list_of(w, all, item, &split);
        run_item<G>(w, all, i, split, &s);
    }
}

/* Do the lists fit beside the span and the few words more that a block has? */
static int lists_fit(const struct device *d, const struct attend_work *w)
{
    return sizeof(struct span) + 1024 + lists_bytes(*w) <= d->max_smem;
}

int attend_plain(struct device *d, const struct attend_work *w)
{
    auto kernel = w->group <= 2   ? plain_kernel<2>
                  : w->group <= 4 ? plain_kernel<4>
                  : w->group <= 8 ? plain_kernel<8>
                                  : plain_kernel<BACKEND_MAX_GROUP>;
    size_t bytes = lists_bytes(*w);
    if (!lists_fit(d, w)) {
        struct attend_work fits = *w;
        while (!lists_fit(d, &fits))
            fits.rows.cap--;
        return cuda_error(
            d, BACKEND_ERR_UNSUPPORTED,
            "attend: %d sequences at once are too many for this GPU; give a --max-batch (bench and "
            "doctor: --batch) of at most %d",
            w->rows.cap, fits.rows.cap);
    }
    cudaError_t e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (e != cudaSuccess)
        return cuda_check(d, e, "attend");
    return cuda_launch_pdl(d, w->out ? OP_attend : OP_qk_stats, kernel, dim3(BLOCKS * d->n_sm),
                           ATTEND_THREADS, bytes, 1, *w);
}
