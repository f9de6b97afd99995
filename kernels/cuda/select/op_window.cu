/* What a sequence's last queries attend to: the scores of SnapKV (arXiv 2404.14469) and, with op_alike.cu, of
 * R-KV (arXiv 2505.24133). They are wanted once in many steps, so a launch has few blocks, which look first
 * whether there is anything to do. */
#include "kernels/cuda/device/cuda.cuh"
#include "kernels/cuda/device/kv.cuh"
#include "kernels/cuda/device/math.cuh"
#include "kernels/cuda/device/ptx.cuh"
#include "kernels/keep_rule.h"

enum { THREADS = 256, WARPS = THREADS / WARP, TILE = WARP };

/* ---- put_queries */

static __global__ void __launch_bounds__(THREADS) put_queries_kernel(struct put_queries_args a)
{
    wait_for_inputs();
    let_next_begin();
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
    return cuda_launch_early(d, OP_put_queries, put_queries_kernel, a->rows.cap, THREADS, 0, 1, *a);
}

/* ---- window_mass
 *
 * First the log of the sum of exponentials of each query, then the masses: a block takes 32 slots at a time,
 * among them those that pooling needs at either end; a lane has a slot, a warp every eighth query. */

/* A head whose window is looked at; n_slots is 0 where the rule does not act. */
struct window {
    const float *ring; /* (n, n_q, d) */
    const int32_t *unit;
    size_t head;
    int pos, h, group, n_slots, before;
};

static __device__ struct window window_of(const struct window_mass_args &a, int row, int h)
{
    const struct kv_view &kv = a.kv;
    struct window w = {};
    int seq = a.rows.seq[row];
    if (seq < 0)
        return w;
    w.head = kv_head(kv, seq, a.layer, h);
    w.pos = a.rows.pos[row];
    w.h = h;
    w.group = a.n_q / kv.n_kv;
    w.unit = kv.unit + w.head * (size_t)kv.max_pages;
    w.ring =
        (const float *)(a.state + (size_t)seq * a.state_bytes) + (size_t)a.layer * a.n * a.n_q * kv.head_dim;
    w.n_slots = kv.n_slots[w.head];
    if (!keep_acts(&a.rule, keep_budget(&a.rule, a.len_of_seq, seq), w.n_slots, w.pos))
        w.n_slots = 0;
    w.before = w.n_slots - a.rule.recent;
    return w;
}

/* Query i of the window in head g of the group. */
static __device__ const float *query(const struct window_mass_args &a, const struct window &w, int i, int g)
{
    int entry = (w.pos - a.n + 1 + i) % a.n;
    return w.ring + (size_t)(entry * a.n_q + w.h * w.group + g) * a.kv.head_dim;
}

/* Slots that query i sees. */
static __device__ int sees(const struct window_mass_args &a, const struct window &w, int i)
{
    return a.causal ? w.n_slots - a.n + 1 + i : w.before;
}

static __device__ float dot_slot(const struct window_mass_args &a, const struct window &w, const float *q,
                                 int slot)
{
    const char *keys = kv_unit_k(a.kv, w.unit[slot / KV_PAGE_TOKENS]);
    float sum = 0;
    for (int x = 0; x < a.kv.head_dim; x += 4) {
        float4 k = kv_get4(a.kv, keys, slot % KV_PAGE_TOKENS, x);
        sum = fmaf(k.w, q[x + 3], fmaf(k.z, q[x + 2], fmaf(k.y, q[x + 1], fmaf(k.x, q[x], sum))));
    }
    return sum * a.scale;
}

/* Grid (parts of the window, KV heads, rows). lse: (rows, n_kv, passes, n). */
static __global__ void __launch_bounds__(THREADS) window_lse_kernel(struct window_mass_args a, float *lse)
{
    __shared__ float room[WARP];
    wait_for_inputs();
    let_next_begin();
    struct window w = window_of(a, blockIdx.z, blockIdx.y);
    int passes = a.largest_first ? 1 : w.group;
    if (w.n_slots == 0)
        return;
    for (int job = blockIdx.x; job < a.n * passes; job += gridDim.x) {
        int i = job % a.n, g = job / a.n, last = a.largest_first ? w.group : g + 1;
        float top = -CUDART_INF_F, sum = 0;
        for (int t = threadIdx.x; t < sees(a, w, i); t += THREADS) {
            float x = dot_slot(a, w, query(a, w, i, g), t);
            for (int k = g + 1; k < last; k++)
                x = fmaxf(x, dot_slot(a, w, query(a, w, i, k), t));
            float more = fmaxf(top, x);
            sum = sum * term(top - more) + term(x - more);
            top = more;
        }
        float most = block_max(top, room);
        sum = block_sum(top > -CUDART_INF_F ? sum * term(top - most) : 0.0f, room);
        if (threadIdx.x == 0)
            lse[(((size_t)blockIdx.z * a.kv.n_kv + blockIdx.y) * passes + g) * a.n + i] = most + logf(sum);
    }
}

/* The mass that slot `slot`, whose key is in `key`, has from this warp's queries in pass g. */
static __device__ float warp_mass(const struct window_mass_args &a, const struct window &w, const float *key,
                                  const float *lse, int g, int slot)
{
    int last = a.largest_first ? w.group : g + 1, d = a.kv.head_dim;
    float sum = 0;
    for (int i = threadIdx.x / WARP; i < a.n; i += WARPS) {
        float x = -CUDART_INF_F;
        for (int k = g; k < last; k++) {
            const float *q = query(a, w, i, k);
            float s = 0;
            for (int j = 0; j < d; j++)
                s = fmaf(key[j], q[j], s);
            x = fmaxf(x, s * a.scale);
        }
        if (slot >= 0 && slot < min(sees(a, w, i), w.before))
            sum += term(x - lse[i]);
    }
    return sum;
}

/* The masses of a tile, one a slot, pooled around the slot of this lane of the first warp. */
static __device__ float pooled(const struct window_mass_args &a, const float *mass)
{
    int half = a.kernel / 2;
    float x = 0;
    for (int u = (int)threadIdx.x - half; u <= (int)threadIdx.x + half; u++)
        x = a.pool == WINDOW_MEAN ? x + mass[u] : fmaxf(x, mass[u]); /* masses are not negative */
    return a.pool == WINDOW_MEAN ? x / (float)a.kernel : x;
}

/* Length and candidates of the list, zeros for the recent slots, and what it cost; by one block of the head.
 */
static __device__ void window_totals(const struct window_mass_args &a, const struct window &w, size_t list)
{
    for (int t = max(w.before, 0) + threadIdx.x; t < w.n_slots; t += THREADS)
        a.out.v[list * (size_t)a.out.stride + t] = 0;
    if (threadIdx.x == 0) {
        a.out.n[list] = a.out.m[list] = w.n_slots;
        if (w.n_slots)
            a.kv.aux_half[w.head] += a.causal ? w.n_slots : w.before;
    }
}

/* Grid (parts of the slots, KV heads, rows). */
static __global__ void __launch_bounds__(THREADS)
    window_mass_kernel(struct window_mass_args a, const float *lse)
{
    extern __shared__ float window_key[]; /* (TILE, d + 1) */
    __shared__ float part[WARPS][TILE];
    __shared__ float mass[TILE];
    wait_for_inputs();
    let_next_begin();
    struct window w = window_of(a, blockIdx.z, blockIdx.y);
    size_t list = (size_t)blockIdx.z * a.kv.n_kv + blockIdx.y;
    int passes = a.largest_first ? 1 : w.group, d = a.kv.head_dim, half = a.kernel / 2,
        step = TILE - 2 * half;
    int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (a.rows.seq[blockIdx.z] < 0)
        return;
    if (blockIdx.x == 0)
        window_totals(a, w, list);
    for (int t0 = (int)blockIdx.x * step; t0 < w.before; t0 += (int)gridDim.x * step) {
        int slot = t0 - half + lane;
        float out = 0;
        for (int e = threadIdx.x; e < TILE * d; e += THREADS) {
            int s = t0 - half + e / d;
            bool in = s >= 0 && s < w.before;
            const char *keys = in ? kv_unit_k(a.kv, w.unit[s / KV_PAGE_TOKENS]) : NULL;
            window_key[e / d * (d + 1) + e % d] = in ? kv_get(a.kv, keys, s % KV_PAGE_TOKENS, e % d) : 0.0f;
        }
        __syncthreads();
        for (int g = 0; g < passes; g++) {
            part[warp][lane] =
                warp_mass(a, w, window_key + lane * (d + 1), lse + (list * passes + g) * a.n, g, slot);
            __syncthreads();
            if (warp == 0) {
                float sum = part[0][lane];
                for (int i = 1; i < WARPS; i++)
                    sum += part[i][lane];
                mass[lane] = sum / ((float)a.n * (float)passes);
                __syncwarp();
                if (lane >= half && lane < TILE - half)
                    out += pooled(a, mass);
                __syncwarp();
            }
            __syncthreads();
        }
        if (warp == 0 && lane >= half && lane < TILE - half && slot < w.before)
            a.out.v[list * (size_t)a.out.stride + slot] = out;
    }
}

int cuda_op_window_mass(struct device *d, const struct window_mass_args *a)
{
    int lists = a->rows.cap * a->kv.n_kv, parts, jobs = a->n * (a->largest_first ? 1 : a->n_q / a->kv.n_kv);
    int bytes = TILE * (a->kv.head_dim + 1) * (int)sizeof(float);
    if (lists < 1)
        return 0;
    float *lse = (float *)cuda_scratch(d, (size_t)lists * jobs * sizeof(float));
    if (!lse)
        return BACKEND_ERR_MEMORY;
    parts = max(1, 4 * d->n_sm / lists);
    int rc = cuda_launch_early(d, OP_window_mass, window_lse_kernel,
                               dim3(min(parts, jobs), a->kv.n_kv, a->rows.cap), THREADS, 0, 1, *a, lse);
    return rc ? rc
              : cuda_launch_early(d, OP_window_mass, window_mass_kernel, dim3(parts, a->kv.n_kv, a->rows.cap),
                                  THREADS, bytes, 1, *a, lse);
}
