/* What a sequence's last queries attend to: the scores of SnapKV (arXiv 2404.14469) and, with
 * op_redundancy.cu, of R-KV (arXiv 2505.24133); op_window_mma.cu has the common forms of bf16. A sequence
 * wants them once in many steps, so that few of a batch want them in one step, and often none: all blocks
 * look at all heads and share the work of those in which the rule acts. */
#include "kernels/cuda/cache/window.cuh"

enum { THREADS = 256, WARPS = THREADS / WARP, TILE = WARP };
enum { MIN_JOBS = 16 }; /* of a window, that MAX_PARTS of the slots are worth it */
enum { OWN = 8 };       /* queries that a thread meets a key with at once */
enum { STAGED = 128 };  /* dimensions of a warp's queries in shared memory, where keys lie beside them */

/* ---- put_queries */

static __global__ void __launch_bounds__(THREADS) put_queries_kernel(struct put_queries_args a)
{
    pdl_wait();
    pdl_trigger();
    int r = blockIdx.x, width = a.n_q * a.dim, seq = a.rows.seq[r];
    if (seq < 0 || (a.prefill && r + a.n < a.rows.cap))
        return;
    float *ring = (float *)(a.state + (size_t)seq * a.state_bytes) + (size_t)a.layer * a.n * width;
    for (int i = threadIdx.x; i < width; i += THREADS)
        ring[(size_t)(a.rows.pos[r] % a.n) * width + i] = a.q[(size_t)r * a.q_stride + i];
}

int cuda_op_put_queries(struct device *d, const struct put_queries_args *a)
{
    if (a->rows.cap < 1)
        return 0;
    return cuda_launch_pdl(d, OP_put_queries, put_queries_kernel, a->rows.cap, THREADS, 0, 1, *a);
}

/* ---- window_mass
 *
 * First the log of the sum of exponentials of each query, then the masses. A logit is a sum over dimensions
 * in their order, in both. */

/* The OWN queries that threads meet a key with. Those of one head of the group, `step` apart, or where the
 * group's largest logit counts, one query of OWN heads. */
struct asked {
    int i, step, g, heads; /* the first; heads: 0, or how many from g on */
};

/* Copies `n` dimensions of them, or what there is, to shared memory, (OWN, n), zeros past the last query; by
 * one warp. */
static __device__ void load_queries(const struct window_mass_args &a, const struct window &w,
                                    const struct asked &q, int from, int n, float *to)
{
    for (int x = 4 * (threadIdx.x % WARP); x < min(n, a.kv.head_dim - from); x += 4 * WARP) {
#pragma unroll
        for (int o = 0; o < OWN; o++) {
            int i = q.heads ? q.i : q.i + o * q.step, g = q.heads ? q.g + o : q.g;
            bool there = i < a.n && o < (q.heads ? q.heads : OWN);
            *(float4 *)(to + o * n + x) =
                there ? *(const float4 *)(query_at(a, w, i, g) + from + x) : make_float4(0, 0, 0, 0);
        }
    }
}

/* sum[s][o] += q_o . k_s over four dimensions; q_o is at q + o * row. */
template <int S>
static __device__ void add_four(const float4 (&k)[S], const float *q, int row, float (&sum)[S][OWN])
{
#pragma unroll
    for (int o = 0; o < OWN; o++) {
        float4 y = *(const float4 *)(q + o * row);
#pragma unroll
        for (int s = 0; s < S; s++)
            sum[s][o] = fmaf(k[s].w, y.w, fmaf(k[s].z, y.z, fmaf(k[s].y, y.y, fmaf(k[s].x, y.x, sum[s][o]))));
    }
}

/* ---- the log of a query's sum of exponentials. A job is OWN queries of a head, or one query of the group's
 * heads, whose largest logit counts; blocks share it by parts of the slots, of which a thread has every 256th
 */

/* Online softmax: the running max of each query's logits, and the sum of exponentials relative to it. */
struct running {
    float running_max[OWN], sum[OWN];
};

static __device__ void add_logit(struct running &r, int o, float x)
{
    float more = fmaxf(r.running_max[o], x);
    r.sum[o] = r.sum[o] * softmax_exp(r.running_max[o] - more) + softmax_exp(x - more);
    r.running_max[o] = more;
}

/* Four dimensions out of 16 bytes. */
template <bool BF16> static __device__ float4 four_of(uint4 x, int which)
{
    if (BF16)
        return four_bf16(which ? make_uint2(x.z, x.w) : make_uint2(x.x, x.y));
    return *(const float4 *)&x;
}

/* x[s][o] = q_o . key of slot t + s * THREADS, of which the last may be past the end. The next 32 bytes of
 * the keys are asked for while these are multiplied. */
template <bool BF16, int S>
static __device__ void dot_keys(const struct window_mass_args &a, const struct window &w, const float *q,
                                int t, float (&x)[S][OWN])
{
    const int PART = BF16 ? 8 : 4; /* dimensions in 16 bytes */
    const char *keys[S];
    int token[S], d = a.kv.head_dim;
    uint4 next[S][2], now[S][2];
#pragma unroll
    for (int s = 0; s < S; s++) {
        int slot = min(t + s * THREADS, w.n_slots - 1);
        keys[s] = kv_block_k(a.kv, w.block_table[slot / KV_PAGE_TOKENS]);
        token[s] = slot % KV_PAGE_TOKENS;
#pragma unroll
        for (int o = 0; o < OWN; o++)
            x[s][o] = 0;
    }
    for (int i = -2 * PART; i < d; i += 2 * PART) {
#pragma unroll
        for (int p = 0; p < 2 * S; p++) {
            int s = p / 2, at = kv_place(a.kv, token[s], i + 2 * PART + p % 2 * PART);
            now[s][p % 2] = next[s][p % 2];
            if (i + 2 * PART < d)
                next[s][p % 2] = *(const uint4 *)(keys[s] + at * (BF16 ? 2 : 4));
        }
        if (i < 0)
            continue;
#pragma unroll
        for (int y = 0; y < 2 * PART; y += 4) {
            float4 k[S];
#pragma unroll
            for (int s = 0; s < S; s++)
                k[s] = four_of<BF16>(now[s][y / PART], y % PART / 4);
            add_four<S>(k, q + i + y, d, x);
        }
    }
}

/* Returns the logit of a sum over dimensions. CHANGED: there are sinks or a softcap. */
template <bool CHANGED> static __device__ inline float logit_of(const struct window_mass_args &a, float x)
{
    return CHANGED ? softcap_of(x * a.scale, a.softmax.softcap) : x * a.scale;
}

/* Adds the logits of S slots from t on, THREADS apart. */
template <bool BF16, bool CHANGED, int S>
static __device__ void add_slots(const struct window_mass_args &a, const struct window &w, int i0,
                                 const float *q, int t, struct running &r)
{
    float x[S][OWN], new_max[S];
#pragma unroll
    for (int s = 0; s < S; s++)
        new_max[s] = -CUDART_INF_F;
    for (int g = 0; g < (a.largest_first ? w.group : 1); g += OWN) {
        dot_keys<BF16, S>(a, w, q + g * a.kv.head_dim, t, x);
#pragma unroll
        for (int y = 0; y < S * OWN; y++)
            if (a.largest_first && g + y % OWN < w.group)
                new_max[y / OWN] = fmaxf(new_max[y / OWN], logit_of<CHANGED>(a, x[y / OWN][y % OWN]));
    }
#pragma unroll
    for (int y = 0; y < S * OWN; y++) {
        int s = y / OWN, o = y % OWN, i = i0 + o, slot = t + s * THREADS;
        if (a.largest_first ? o == 0 && slot < query_sees(a, w, i0) : i < a.n && slot < query_sees(a, w, i))
            add_logit(r, o, a.largest_first ? new_max[s] : logit_of<CHANGED>(a, x[s][o]));
    }
}

/* to[o * parts]: what all threads have of n queries. running max, sum: smem. */
static __device__ void put_sums(const struct running &r, int n, float (&running_max)[OWN][WARPS],
                                float (&sum)[OWN][WARPS], float2 *to, int parts)
{
    int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    float new_max[OWN];
#pragma unroll
    for (int o = 0; o < OWN; o++) {
        float x = warp_max(r.running_max[o]);
        if (lane == 0)
            running_max[o][warp] = x;
    }
    __syncthreads();
#pragma unroll
    for (int o = 0; o < OWN; o++) {
        new_max[o] = running_max[o][0];
        for (int i = 1; i < WARPS; i++)
            new_max[o] = fmaxf(new_max[o], running_max[o][i]);
        float x = warp_sum(
            r.running_max[o] > -CUDART_INF_F ? r.sum[o] * softmax_exp(r.running_max[o] - new_max[o]) : 0.0f);
        if (lane == 0)
            sum[o][warp] = x;
    }
    __syncthreads();
#pragma unroll
    for (int o = 0; o < OWN; o++)
        if ((int)threadIdx.x == o && o < n) {
            float all = sum[o][0];
            for (int i = 1; i < WARPS; i++)
                all += sum[o][i];
            to[o * parts] = make_float2(new_max[o], all);
        }
}

struct lse_work {
    struct window_mass_args a;
    int jobs, passes; /* of a window; heads that have a softmax of their own */
    int max_parts;    /* of a list */
    float *lse;       /* (lists, passes, n) */
    float2 *sums;     /* (lists, passes, n, max_parts) */
    int *arrived;     /* (lists, jobs), or NULL where there are too many: one block does a job's parts */
};

/* Slots of a part of a list. Their number depends on the list's length and the observation window alone, not
 * on how many lists there are, because adding parts rounds otherwise than summing the whole. */
static __device__ int slots_of_part(const struct lse_work &x, int n_slots)
{
    int min_slots = 2 * THREADS, pieces = (n_slots + min_slots - 1) / min_slots;
    return min_slots * ((pieces + x.max_parts - 1) / x.max_parts);
}

static __device__ int parts_of(const struct lse_work &x, int n_slots)
{
    int each = slots_of_part(x, n_slots);
    return (n_slots + each - 1) / each;
}

/* Blocks that share a job. */
static __device__ int blocks_of(const struct lse_work &x, int n_slots)
{
    return x.arrived ? parts_of(x, n_slots) : 1;
}

/* Sums of a part of the slots for the block's queries, which are in shared memory. */
template <bool BF16, bool CHANGED>
static __device__ struct running sum_part(const struct lse_work &x, const struct window &w, int part, int i0,
                                          const float *queries)
{
    int each = slots_of_part(x, w.n_slots), end = min((part + 1) * each, w.n_slots);
    struct running r;
#pragma unroll
    for (int o = 0; o < OWN; o++) {
        r.running_max[o] = -CUDART_INF_F;
        r.sum[o] = 0;
    }
    for (int t = part * each + (int)threadIdx.x; t < end;) {
        /* A warp takes two slots a thread unless all second ones would be past the end. */
        bool two = t - (int)threadIdx.x % WARP + THREADS < end;
        if (two)
            add_slots<BF16, CHANGED, 2>(x.a, w, i0, queries, t, r);
        else
            add_slots<BF16, CHANGED, 1>(x.a, w, i0, queries, t, r);
        t += two ? 2 * THREADS : THREADS;
    }
    return r;
}

template <bool BF16, bool CHANGED>
static __global__ void __launch_bounds__(THREADS, 2)
    window_lse_kernel(const __grid_constant__ struct lse_work x)
{
    extern __shared__ __align__(16) float window_queries[]; /* (OWN, or the group rounded up to it, d) */
    /* Aligned, or else a vector of which only a part is needed reaches into the array before, which another
     * warp may already fill. */
    __shared__ __align__(16) float running_max[OWN][WARPS];
    __shared__ __align__(16) float sum[OWN][WARPS];
    pdl_wait();
    pdl_trigger();
    const struct window_mass_args &a = x.a;
    int group = a.n_q / a.kv.n_kv, of_head = (a.n + OWN - 1) / OWN;
    share_windows<THREADS>(
        a, false, [&](int n_slots) { return x.jobs * blocks_of(x, n_slots); },
        [&](const struct window &w, int item) {
            int parts = parts_of(x, w.n_slots), blocks = blocks_of(x, w.n_slots), job = item / blocks;
            int i0 = a.largest_first ? job : job % of_head * OWN, g = a.largest_first ? 0 : job / of_head;
            int n = a.largest_first ? 1 : min(OWN, a.n - i0);
            size_t at = (w.list * x.passes + g) * a.n + i0;
            for (int y = (int)threadIdx.x / WARP * OWN; y < (a.largest_first ? group : OWN); y += WARPS * OWN)
                load_queries(a, w, {i0, 1, g + y, a.largest_first ? min(OWN, group - y) : 0}, 0,
                             a.kv.head_dim, window_queries + y * a.kv.head_dim);
            __syncthreads();
            for (int part = item % blocks; part < parts; part += blocks) {
                struct running r = sum_part<BF16, CHANGED>(x, w, part, i0, window_queries);
                put_sums(r, n, running_max, sum, x.sums + at * x.max_parts + part, x.max_parts);
            }
            if (!last_to_come(x.arrived, w.list * x.jobs + job, blocks) || (int)threadIdx.x >= n)
                return;
            const float2 *sums = x.sums + (at + threadIdx.x) * x.max_parts;
            float2 all = sums[0];
            for (int p = 1; p < parts; p++)
                all = join_running(all, sums[p]);
            if (CHANGED && a.softmax.sink)
                all = join_running(all, make_float2(sink_of(a, w, g), 1));
            x.lse[at + threadIdx.x] = all.x + logf(all.y);
        });
}

/* ---- masses: by one block for 32 slots, among them those that pooling needs at either end; a lane has a
 * slot, a warp every eighth query */

/* The mass that the lane's slot, whose key is in `key`, has from this warp's queries in pass g. q: smem. */
template <bool CHANGED>
static __device__ float warp_mass(const struct window_mass_args &a, const struct window &w, const float *key,
                                  const float *lse, int g, int slot, float *q)
{
    int d = a.kv.head_dim, row = min(d, STAGED), each = a.largest_first ? 1 : OWN;
    float sum = 0;
    for (int i = threadIdx.x / WARP; i < a.n; i += each * WARPS) {
        float x[1][OWN], new_max = -CUDART_INF_F;
        for (int h = g; h < (a.largest_first ? w.group : g + 1); h += OWN) {
#pragma unroll
            for (int o = 0; o < OWN; o++)
                x[0][o] = 0;
            for (int from = 0; from < d; from += row) {
                __syncwarp();
                load_queries(a, w, {i, WARPS, h, a.largest_first ? min(OWN, w.group - h) : 0}, from, row, q);
                __syncwarp();
#pragma unroll 4
                for (int j = 0; j < min(row, d - from); j += 4)
                    add_four<1>({*(const float4 *)(key + from + j)}, q + j, row, x);
            }
#pragma unroll
            for (int o = 0; o < OWN; o++)
                if (h + o < w.group)
                    new_max = fmaxf(new_max, logit_of<CHANGED>(a, x[0][o]));
        }
#pragma unroll
        for (int o = 0; o < OWN; o++) {
            int of = i + o * WARPS;
            if (o < each && of < a.n && slot >= 0 && slot < w.before) /* all see those */
                sum += softmax_exp((a.largest_first ? new_max : logit_of<CHANGED>(a, x[0][o])) - lse[of]);
        }
    }
    return sum;
}

/* The masses of a tile, one a slot, pooled around the slot of this lane of the first warp. */
static __device__ float pooled_mass(const struct window_mass_args &a, const float *mass)
{
    int half = a.kernel / 2;
    float x = 0;
    for (int u = (int)threadIdx.x - half; u <= (int)threadIdx.x + half; u++)
        x = a.pool == WINDOW_MEAN ? x + mass[u] : fmaxf(x, mass[u]); /* masses are not negative */
    return a.pool == WINDOW_MEAN ? x / (float)a.kernel : x;
}

/* Slots t0 .. t0 + TILE - 2 half - 1 of a head. key: (TILE, d + 4); q: (WARPS, OWN, d or STAGED); lse: the
 * head's. */
template <bool CHANGED>
static __device__ void mass_tile(const struct window_mass_args &a, const struct window &w, int t0, float *key,
                                 float *q, float (&part)[2][WARPS][TILE], float (&mass)[TILE],
                                 const float *lse)
{
    int d = a.kv.head_dim, half = a.kernel / 2, passes = a.largest_first ? 1 : w.group;
    int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, slot = t0 - half + lane;
    float out = 0;
    for (int e = 4 * threadIdx.x; e < TILE * d; e += 4 * THREADS) {
        int s = t0 - half + e / d;
        bool in = s >= 0 && s < w.before;
        const char *keys = in ? kv_block_k(a.kv, w.block_table[s / KV_PAGE_TOKENS]) : NULL;
        *(float4 *)(key + e / d * (d + 4) + e % d) =
            in ? kv_get4(a.kv, keys, s % KV_PAGE_TOKENS, e % d) : make_float4(0, 0, 0, 0);
    }
    __syncthreads();
    for (int g = 0; g < passes; g++) {
        part[g % 2][warp][lane] = warp_mass<CHANGED>(a, w, key + lane * (d + 4), lse + g * a.n, g, slot,
                                                     q + warp * OWN * min(d, STAGED));
        __syncthreads();
        if (warp > 0)
            continue;
        float sum = part[g % 2][0][lane];
        for (int i = 1; i < WARPS; i++)
            sum += part[g % 2][i][lane];
        mass[lane] = sum / ((float)a.n * (float)passes);
        __syncwarp();
        if (lane >= half && lane < TILE - half)
            out += pooled_mass(a, mass);
        __syncwarp();
    }
    float *to = a.out.v + w.list * (size_t)a.out.stride;
    if (warp == 0 && lane >= half && lane < TILE - half && slot < w.before)
        to[slot] = out;
    for (int t = w.before + threadIdx.x; t0 == 0 && t < w.n_slots; t += THREADS)
        to[t] = 0;
    __syncthreads();
}

template <bool CHANGED>
static __global__ void __launch_bounds__(THREADS, 2)
    window_mass_kernel(struct window_mass_args a, const float *lse)
{
    extern __shared__ __align__(16) float window_room[]; /* keys and queries of mass_tile */
    __shared__ float part[2][WARPS][TILE];
    __shared__ float mass[TILE];
    pdl_wait();
    pdl_trigger();
    int d = a.kv.head_dim, step = TILE - a.kernel / 2 * 2;
    int queries = a.n * (a.largest_first ? 1 : a.n_q / a.kv.n_kv);
    share_windows<THREADS>(
        a, true, [&](int n) { return (n - a.params.recent + step - 1) / step; },
        [&](const struct window &w, int tile) {
            mass_tile<CHANGED>(a, w, tile * step, window_room, window_room + TILE * (d + 4), part, mass,
                               lse + w.list * queries);
        });
}

template <bool CHANGED>
static int run_window(struct device *d, const struct lse_work *x, int queries, int masses)
{
    auto sums =
        x->a.kv.dtype == DTYPE_BF16 ? window_lse_kernel<true, CHANGED> : window_lse_kernel<false, CHANGED>;
    int rc = cuda_launch_pdl(d, OP_window_mass, sums, 2 * d->n_sm, THREADS, queries, 1, *x);
    return rc ? rc
              : cuda_launch_pdl(d, OP_window_mass, window_mass_kernel<CHANGED>, 2 * d->n_sm, THREADS, masses,
                                1, x->a, (const float *)x->lse);
}

int cuda_op_window_mass(struct device *d, const struct window_mass_args *a)
{
    int lists = a->rows.cap * a->out.n_rows, group = a->n_q / a->kv.n_kv, dim = a->kv.head_dim;
    int queries = a->largest_first ? (group + OWN - 1) / OWN * OWN : OWN;
    int row = dim * (int)sizeof(float);
    int bytes = TILE * (row + 16) + WARPS * OWN * min(dim, STAGED) * (int)sizeof(float);
    struct lse_work x = {*a, a->largest_first ? a->n : group * ((a->n + OWN - 1) / OWN),
                         a->largest_first ? 1 : group};
    /* With more jobs, fewer parts fill the GPU; the sums of parts take memory. */
    x.max_parts = max(1, MAX_PARTS * MIN_JOBS / max(x.jobs, MIN_JOBS));
    if (lists < 1)
        return 0;
    if (d->hopper && window_mma_fits(a))
        return window_mma(d, a);
    size_t sums = (size_t)lists * x.passes * a->n;
    x.sums = (float2 *)cuda_workspace(d, sums * (x.max_parts * sizeof *x.sums + sizeof *x.lse));
    if (!x.sums)
        return BACKEND_ERR_MEMORY;
    x.lse = (float *)(x.sums + sums * x.max_parts);
    x.arrived = (size_t)lists * x.jobs > CUDA_COUNTERS ? NULL : d->counters;
    return a->softmax.sink || a->softmax.softcap > 0 ? run_window<true>(d, &x, queries * row, bytes)
                                                     : run_window<false>(d, &x, queries * row, bytes);
}
