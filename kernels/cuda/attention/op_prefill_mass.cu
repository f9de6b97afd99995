/* The attention mass of tiles of prompt queries. Hopper's tensor cores have a kernel of their own for bf16
 * (op_prefill_mass_wgmma.cu); here is the one on CUDA cores, in fp32 throughout. First each row's
 * log-sum-exp, then, with a lane for each key, the sum over the tile's rows in order, then what the lists
 * need to be known of them. A lane computes the logits of one key for 8 rows at once. */
#include "kernels/cuda/attention/prefill_mass.cuh"
#include "kernels/cuda/device/kv.cuh"
#include "kernels/cuda/device/math.cuh"

enum { WARPS = 4, STEP = 8, LSE_ROWS = WARPS * STEP, LSE_KEYS = 32, MASS_KEYS = 64, MASS_ROWS = 32, PAD = 4 };

/* Rows are (query, head of the group), of the queries from `first` of the call to `last` - 1. */
struct mass_rows {
    const struct prefill_mass_args &a;
    int head, group, first, n;
};

__device__ static inline struct mass_rows rows_of(const struct prefill_mass_args &a, int head, int first,
                                                  int last)
{
    int group = a.n_q / a.kv.n_kv;
    return {a, head, group, first, max(last - first, 0) * group};
}

__device__ static inline int pos_of(const struct mass_rows &m, int row)
{
    return m.a.pos0 + m.first + row / m.group;
}

/* Rows row0 .. row0+n-1 as floats, scaled; those past the last repeat it. */
__device__ static void fill_queries(const struct mass_rows &m, float *smem, int row0, int n)
{
    int d = m.a.kv.head_dim;
#pragma unroll 1
    for (int i = threadIdx.x; i < n * d; i += blockDim.x) {
        int row = min(row0 + i / d, m.n - 1), head = m.head * m.group + row % m.group;
        smem[i] = m.a.q[(size_t)(m.first + row / m.group) * (size_t)m.a.q_stride + (size_t)head * d + i % d] *
                  m.a.scale;
    }
}

/* Keys key0 .. key0+n-1 at row stride d + PAD; those from `to` on become zeros. */
__device__ static void fill_keys(const struct mass_rows &m, float *smem, int key0, int n, int to)
{
    const struct kv_view &kv = m.a.kv;
    const int32_t *block_table =
        kv.block_table + kv_head(kv, m.a.seq, m.a.layer, m.head) * (size_t)kv.max_pages;
    int d = kv.head_dim, per = d / 4;
#pragma unroll 2
    for (int c = threadIdx.x; c < n * per; c += blockDim.x) {
        int t = c / per, i = c % per * 4, key = key0 + t;
        float4 k = make_float4(0, 0, 0, 0);
        if (key < to)
            k = kv_get4(kv, kv_block_k(kv, block_table[key / KV_PAGE_TOKENS]), key % KV_PAGE_TOKENS, i);
        *(float4 *)(smem + t * (d + PAD) + i) = k;
    }
}

/* Logits of STEP rows at one key. */
__device__ static inline void dot_keys(const float *q, const float *k, int d, float (&s)[STEP])
{
    for (int r = 0; r < STEP; r++)
        s[r] = 0;
#pragma unroll 2
    for (int i = 0; i < d; i += 4) {
        float4 y = *(const float4 *)(k + i);
        for (int r = 0; r < STEP; r++) {
            float4 x = *(const float4 *)(q + r * d + i);
            s[r] = fmaf(x.w, y.w, fmaf(x.z, y.z, fmaf(x.y, y.y, fmaf(x.x, y.x, s[r]))));
        }
    }
}

/* CAP, here and below: there is a softcap. */
template <bool CAP> __device__ static inline void cap_logits(const struct mass_rows &m, float (&s)[STEP])
{
    for (int r = 0; CAP && r < STEP; r++)
        s[r] = softcap_of(s[r], m.a.softmax.softcap);
}

/* Is the key below `to` and alive? */
__device__ static inline bool is_alive(const struct mass_rows &m, int key, int to)
{
    const struct kv_view &kv = m.a.kv;
    size_t table = kv_head(kv, m.a.seq, m.a.layer, m.head) * (size_t)kv.max_pages;
    return key < to && kv.live[table + key / KV_PAGE_TOKENS] >> key % KV_PAGE_TOKENS & 1;
}

/* x: rows. y: head. lse: (n_kv, nq * group), by row of the whole call. */
template <bool CAP>
static __global__ void __launch_bounds__(WARPS *WARP)
    row_lse_kernel(const __grid_constant__ struct prefill_mass_args a, float *lse)
{
    extern __shared__ float4 shared[];
    int d = a.kv.head_dim, lane = threadIdx.x % WARP, own = threadIdx.x / WARP * STEP;
    struct mass_rows m = rows_of(a, blockIdx.y, max(a.from - a.pos0, 0), a.nq);
    int row0 = blockIdx.x * LSE_ROWS;
    if (row0 >= m.n)
        return;
    float *q = (float *)shared, *k = q + LSE_ROWS * d, running_max[STEP], sum[STEP], s[STEP];
    int to = pos_of(m, min(row0 + LSE_ROWS, m.n) - 1) + 1;
    fill_queries(m, q, row0, LSE_ROWS);
    for (int r = 0; r < STEP; r++) {
        running_max[r] = -CUDART_INF_F;
        sum[r] = 0;
    }
    for (int key0 = 0; key0 < to; key0 += LSE_KEYS) {
        int key = key0 + lane;
        fill_keys(m, k, key0, LSE_KEYS, to);
        __syncthreads();
        dot_keys(q + own * d, k + lane * (d + PAD), d, s);
        cap_logits<CAP>(m, s);
        bool live = is_alive(m, key, to);
        for (int r = 0; r < STEP; r++) {
            float x = live && key <= pos_of(m, min(row0 + own + r, m.n - 1)) ? s[r] : -CUDART_INF_F;
            float new_max = fmaxf(running_max[r], warp_max(x)),
                  zero = new_max == -CUDART_INF_F ? 0.0f : new_max;
            sum[r] = fmaf(sum[r], softmax_exp(running_max[r] - zero),
                          softmax_exp(x - zero)); /* the lane's share */
            running_max[r] = new_max;
        }
        __syncthreads();
    }
    for (int r = 0; r < STEP; r++) {
        float all = warp_sum(sum[r]);
        int row = row0 + own + r;
        if (lane == 0 && row < m.n) {
            float largest = running_max[r];
            if (a.softmax.sink) {
                float sink = a.softmax.sink[m.head * m.group + row % m.group];
                largest = fmaxf(largest, sink);
                float zero = largest == -CUDART_INF_F ? 0.0f : largest;
                all = fmaf(all, softmax_exp(running_max[r] - zero), softmax_exp(sink - zero));
            }
            lse[((size_t)m.head * a.nq + m.first) * m.group + row] =
                largest == -CUDART_INF_F ? largest : largest + logf(all);
        }
    }
}

/* A tile's queries that count, within the call, and the end of its keys. */
__device__ static inline struct mass_rows tile_rows(const struct prefill_mass_args &a, int head, int tile,
                                                    int *end)
{
    int first = tile * a.tile, last = min(first + a.tile, a.nq);
    *end = a.pos0 + last;
    return rows_of(a, head, max(first, a.from - a.pos0), last);
}

/* Adds the rows of one KV head to e^running max * sum of the thread's key. */
template <bool CAP>
__device__ static void add_head(const struct mass_rows &m, const float *lse, int key, int end, const float *k,
                                float *q, float *running_max, float *sum)
{
    int d = m.a.kv.head_dim;
    bool live = is_alive(m, key, end);
    lse += ((size_t)m.head * m.a.nq + m.first) * m.group;
    for (int row0 = 0; row0 < m.n; row0 += MASS_ROWS) {
        __syncthreads();
        fill_queries(m, q, row0, MASS_ROWS);
        __syncthreads();
        for (int r0 = 0; r0 < MASS_ROWS && row0 + r0 < m.n; r0 += STEP) {
            float new_max = *running_max, s[STEP];
            dot_keys(q + r0 * d, k, d, s);
            cap_logits<CAP>(m, s);
            for (int r = 0; r < STEP; r++) {
                int row = row0 + r0 + r;
                float l = row < m.n ? lse[row] : -CUDART_INF_F;
                s[r] = live && l > -CUDART_INF_F && key <= pos_of(m, row) ? s[r] - l : -CUDART_INF_F;
                new_max = fmaxf(new_max, s[r]);
            }
            float zero = new_max == -CUDART_INF_F ? 0.0f : new_max;
            *sum *= softmax_exp(*running_max - zero);
            for (int r = 0; r < STEP; r++)
                *sum += softmax_exp(s[r] - zero);
            *running_max = new_max;
        }
    }
}

/* x: keys. y: list. z: tile. */
template <bool CAP>
static __global__ void __launch_bounds__(MASS_KEYS)
    tile_mass_kernel(const __grid_constant__ struct prefill_mass_args a, const float *lse)
{
    extern __shared__ float4 shared[];
    int d = a.kv.head_dim, heads = a.kv.n_kv / a.out.n_rows, head0 = blockIdx.y * heads, end;
    int key0 = blockIdx.x * MASS_KEYS, key = key0 + threadIdx.x;
    float *k = (float *)shared, *q = k + MASS_KEYS * (d + PAD), running_max = -CUDART_INF_F, sum = 0;
    tile_rows(a, head0, blockIdx.z, &end);
    if (key0 >= end)
        return;
    for (int h = head0; h < head0 + heads; h++) {
        struct mass_rows m = tile_rows(a, h, blockIdx.z, &end);
        __syncthreads();
        fill_keys(m, k, key0, MASS_KEYS, end);
        add_head<CAP>(m, lse, key, end, k + threadIdx.x * (d + PAD), q, &running_max, &sum);
    }
    float *out = a.out.v + ((size_t)blockIdx.z * a.out.n_rows + blockIdx.y) * (size_t)a.out.stride;
    if (key < end)
        out[key] = running_max == -CUDART_INF_F ? running_max : running_max + logf(sum);
}

/* Length, candidates and the mass inside the tile. x: list. y: tile. */
static __global__ void mass_totals_kernel(const __grid_constant__ struct prefill_mass_args a)
{
    __shared__ float smem[WARP];
    __shared__ int counts[WARP];
    int end, list = blockIdx.y * a.out.n_rows + blockIdx.x, start = a.pos0 + (int)blockIdx.y * a.tile, m = 0;
    tile_rows(a, 0, blockIdx.y, &end);
    const float *v = a.out.v + (size_t)list * (size_t)a.out.stride;
    int n = a.before ? start : end;
    float running_max = -CUDART_INF_F, sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        m += v[i] > -CUDART_INF_F;
    m = block_sum(m, counts);
    for (int i = start + threadIdx.x; i < end; i += blockDim.x)
        running_max = fmaxf(running_max, v[i]);
    running_max = block_max(running_max, smem);
    for (int i = start + threadIdx.x; i < end && running_max > -CUDART_INF_F; i += blockDim.x)
        sum += softmax_exp(v[i] - running_max);
    sum = block_sum(sum, smem);
    if (threadIdx.x)
        return;
    a.out.n[list] = n;
    a.out.m[list] = m;
    if (a.own)
        a.own[list] = running_max == -CUDART_INF_F ? running_max : running_max + logf(sum);
}

static int shared_room(struct device *d, const void *kernel, size_t bytes)
{
    return cuda_check(d,
                      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes),
                      "prefill_mass");
}

template <bool CAP> static int mass_plain(struct device *d, const struct prefill_mass_args *a)
{
    int n_kv = a->kv.n_kv, rows = a->nq * (a->n_q / n_kv), tiles = (a->nq + a->tile - 1) / a->tile;
    int dim = a->kv.head_dim, keys = a->pos0 + a->nq;
    size_t lse_bytes = (size_t)(LSE_ROWS * dim + LSE_KEYS * (dim + PAD)) * sizeof(float);
    size_t mass_bytes = (size_t)(MASS_KEYS * (dim + PAD) + MASS_ROWS * dim) * sizeof(float);
    float *lse = (float *)cuda_workspace(d, (size_t)a->nq * (size_t)a->n_q * sizeof(float));
    if (!lse)
        return BACKEND_ERR_MEMORY;
    int rc = shared_room(d, (const void *)row_lse_kernel<CAP>, lse_bytes);
    if (!rc)
        rc = shared_room(d, (const void *)tile_mass_kernel<CAP>, mass_bytes);
    if (rc)
        return rc;
    dim3 by_rows((rows + LSE_ROWS - 1) / LSE_ROWS, n_kv);
    dim3 by_keys((keys + MASS_KEYS - 1) / MASS_KEYS, a->out.n_rows, tiles);
    row_lse_kernel<CAP><<<by_rows, WARPS * WARP, lse_bytes, d->stream>>>(*a, lse);
    if ((rc = cuda_launched(d, OP_prefill_mass)))
        return rc;
    tile_mass_kernel<CAP><<<by_keys, MASS_KEYS, mass_bytes, d->stream>>>(*a, lse);
    return cuda_launched(d, OP_prefill_mass);
}

int cuda_op_prefill_mass(struct device *d, const struct prefill_mass_args *a)
{
    int dim = a->kv.head_dim, tiles = (a->nq + a->tile - 1) / a->tile;
    bool tensor_cores =
        d->wgmma && a->kv.dtype == DTYPE_BF16 && (dim == 64 || dim == 128) && a->softmax.softcap <= 0;
    int rc = tensor_cores             ? prefill_mass_wgmma(d, a)
             : a->softmax.softcap > 0 ? mass_plain<true>(d, a)
                                      : mass_plain<false>(d, a);
    if (rc)
        return rc;
    mass_totals_kernel<<<dim3(a->out.n_rows, tiles), 128, 0, d->stream>>>(*a);
    return cuda_launched(d, OP_prefill_mass);
}
