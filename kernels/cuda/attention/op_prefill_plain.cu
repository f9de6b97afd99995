/* Prefill attention on CUDA cores, in fp32 throughout, for any type and head size. K and V of 32 keys are
 * widened into shared memory. A warp has 8 rows; a lane computes the logits of one key and every 32nd element
 * of the outputs. */
#include "kernels/cuda/attention/prefill.cuh"

enum { WARPS = 4, WARP_ROWS = 8, BLOCK_ROWS = WARPS * WARP_ROWS, KEYS = 32, PAD = 4 };

/* Shared memory, in floats. K's rows are padded: lanes read one each. With more than 128 dimensions p lies
 * where K lay: a block of compute capability 8.9 has 99 KiB. */
struct plain_smem {
    float *q; /* (BLOCK_ROWS, d), scaled */
    float *k; /* (KEYS, d + PAD) */
    float *v; /* (KEYS, d) */
    float *p; /* (BLOCK_ROWS, KEYS) */
};

enum { OVER_K = 128 }; /* the most dimensions with which p has a place of its own */

static size_t plain_bytes(int d)
{
    int own = d > OVER_K ? 0 : BLOCK_ROWS * KEYS;
    return (size_t)(BLOCK_ROWS * d + KEYS * (d + PAD) + KEYS * d + own) * sizeof(float);
}

/* Keys key0 .. key0+31; those before `first` and from `to` on become zeros. */
__device__ static void fill_tile(const struct kv_view &kv, const struct plain_smem &smem,
                                 const int32_t *block_table, int key0, int first, int to)
{
    int d = kv.head_dim, per = d / 4;
#pragma unroll 2
    for (int c = threadIdx.x; c < KEYS * per; c += blockDim.x) {
        int t = c / per, i = c % per * 4, key = key0 + t;
        float4 k = make_float4(0, 0, 0, 0), v = k;
        if (key >= first && key < to) {
            int u = block_table[key / KV_PAGE_TOKENS];
            k = kv_get4(kv, kv_block_k(kv, u), key % KV_PAGE_TOKENS, i);
            v = kv_get4(kv, kv_block_v(kv, u), key % KV_PAGE_TOKENS, i);
        }
        *(float4 *)(smem.k + t * (d + PAD) + i) = k;
        *(float4 *)(smem.v + t * d + i) = v;
    }
}

/* Logits of the warp's rows at the lane's key. */
__device__ static inline void dot_tile(const struct plain_smem &smem, int d, int row0, int key, float *s)
{
    const float *k = smem.k + key * (d + PAD), *q = smem.q + row0 * d;
    for (int r = 0; r < WARP_ROWS; r++)
        s[r] = 0;
#pragma unroll 2
    for (int i = 0; i < d; i += 4) {
        float4 y = *(const float4 *)(k + i);
        for (int r = 0; r < WARP_ROWS; r++) {
            float4 x = *(const float4 *)(q + r * d + i);
            s[r] = fmaf(x.w, y.w, fmaf(x.z, y.z, fmaf(x.y, y.y, fmaf(x.x, y.x, s[r]))));
        }
    }
}

/* Outputs of the warp's rows = themselves * keep + weights . V */
template <int PARTS>
__device__ static inline void add_values(const struct plain_smem &smem, int d, int row0, const float *keep,
                                         float (*o)[PARTS])
{
    int at[PARTS];
    for (int x = 0; x < PARTS; x++)
        at[x] = min((int)threadIdx.x % WARP + x * WARP, d - 1); /* some are surplus where d is no 32 n */
    for (int r = 0; r < WARP_ROWS; r++)
        for (int x = 0; x < PARTS; x++)
            o[r][x] *= keep[r];
#pragma unroll 1
    for (int key = 0; key < KEYS; key += 4) {
        float p[WARP_ROWS][4];
        for (int r = 0; r < WARP_ROWS; r++)
            *(float4 *)p[r] = *(const float4 *)(smem.p + (row0 + r) * KEYS + key);
        for (int j = 0; j < 4; j++)
            for (int x = 0; x < PARTS; x++) {
                float v = smem.v[(key + j) * d + at[x]];
                for (int r = 0; r < WARP_ROWS; r++)
                    o[r][x] = fmaf(p[r][j], v, o[r][x]);
            }
    }
}

/* Is the key that the lane holds visible from the row at pos? SPECIAL, here and below: there may be a window
 * or a softcap. */
template <bool SPECIAL>
__device__ static inline bool query_sees(const struct prefill_work &w, int head, int pos, int key, bool live,
                                         int until)
{
    return live && until >= pos && (!SPECIAL || key >= window_start(w.a.window, pos)) &&
           prefill_seen<false>(w, head, pos, key / 64 * 64) >> key % 64 & 1;
}

template <int PARTS>
__device__ static void write_rows(const struct prefill_work &w, int split, int head, int row,
                                  float running_max, float sum, const float *o)
{
    int d = w.a.kv.head_dim, lane = threadIdx.x % WARP;
    size_t part = prefill_part(w, split, head, row);
    bool whole = w.n_splits == 1;
    float scale = whole ? prefill_scale(w, head, row, running_max, sum) : 1.0f;
    size_t at = (whole ? prefill_out(w, head, row) : part * (size_t)d) + lane;
    for (int x = 0; x < PARTS; x++) {
        if (lane + x * WARP >= d)
            break;
        if (whole)
            put_as(w.a.out, w.a.type, at + x * WARP, o[x] * scale);
        else
            w.o[at + x * WARP] = o[x];
    }
    if (!whole && lane == 0)
        w.max_sum[part] = make_float2(running_max, sum);
}

template <int PARTS, bool SPECIAL>
static __global__ void __launch_bounds__(WARPS *WARP)
    plain_kernel(const __grid_constant__ struct prefill_work w)
{
    extern __shared__ float4 shared[];
    const struct kv_view &kv = w.a.kv;
    int d = kv.head_dim, lane = threadIdx.x % WARP, row0 = threadIdx.x / WARP * WARP_ROWS;
    int first = blockIdx.x * BLOCK_ROWS, head = blockIdx.y, split = w.n_splits - 1 - (int)blockIdx.z;
    int from = prefill_split_key(split), last = prefill_pos(w, min(first + BLOCK_ROWS, w.rows) - 1);
    int to = min(prefill_split_key(split + 1), last + 1);
    int first_key = SPECIAL ? window_start(w.a.window, prefill_pos(w, first)) : 0;
    if (SPECIAL && w.a.window > 0) {
        from = first_key / KEYS * KEYS;
        to = last + 1;
    }
    if (from >= to)
        return;
    struct plain_smem smem = {(float *)shared, (float *)shared + BLOCK_ROWS * d, NULL, NULL};
    smem.v = smem.k + KEYS * (d + PAD);
    smem.p = d > OVER_K ? smem.k : smem.v + KEYS * d;
#pragma unroll 1
    for (int i = threadIdx.x; i < BLOCK_ROWS * d; i += blockDim.x)
        smem.q[i] =
            prefill_q(w, head, min(first + i / d, w.rows - 1))[i % d] * (w.a.scale * (float)CUDART_L2E);
    size_t table = kv_head(kv, w.a.seq, w.a.layer, head) * (size_t)kv.max_pages;
    const int32_t *until = w.a.until ? w.a.until + (size_t)head * (size_t)w.a.until_stride : NULL;
    int pos[WARP_ROWS];
    float running_max[WARP_ROWS], sum[WARP_ROWS], s[WARP_ROWS], keep[WARP_ROWS], o[WARP_ROWS][PARTS] = {};
    for (int r = 0; r < WARP_ROWS; r++) {
        pos[r] = prefill_pos(w, min(first + row0 + r, w.rows - 1));
        running_max[r] = -CUDART_INF_F;
        sum[r] = 0;
    }
    for (int key0 = from; key0 < to; key0 += KEYS) {
        fill_tile(kv, smem, kv.block_table + table, key0, first_key, to);
        __syncthreads();
        int key = min(key0 + lane, to - 1);
        bool live = key0 + lane < to && kv.live[table + (size_t)(key / KV_PAGE_TOKENS)] >> key % 16 & 1;
        int seen_until = until ? until[key] : INT32_MAX;
        dot_tile(smem, d, row0, lane, s);
        if (d > OVER_K)
            __syncthreads();
        for (int r = 0; r < WARP_ROWS; r++) {
            float logit = SPECIAL ? softcap_of(s[r], w.a.softmax.softcap * (float)CUDART_L2E) : s[r];
            float x = query_sees<SPECIAL>(w, head, pos[r], key, live, seen_until) ? logit : -CUDART_INF_F;
            float new_max = fmaxf(running_max[r], warp_max(x)),
                  zero = new_max == -CUDART_INF_F ? 0.0f : new_max;
            float weight = softmax_exp2(x - zero);
            keep[r] = softmax_exp2(running_max[r] - zero);
            sum[r] = fmaf(sum[r], keep[r], weight); /* the lane's share */
            running_max[r] = new_max;
            smem.p[(row0 + r) * KEYS + lane] = weight;
        }
        __syncwarp();
        add_values<PARTS>(smem, d, row0, keep, o);
        __syncthreads();
    }
    for (int r = 0; r < WARP_ROWS; r++) {
        float all = warp_sum(sum[r]);
        if (first + row0 + r < w.rows)
            write_rows<PARTS>(w, split, head, first + row0 + r, running_max[r], all, o[r]);
    }
}

template <int PARTS, bool SPECIAL> static int launch_plain(struct device *d, const struct prefill_work *w)
{
    size_t bytes = plain_bytes(w->a.kv.head_dim);
    dim3 grid((w->rows + BLOCK_ROWS - 1) / BLOCK_ROWS, w->a.kv.n_kv, w->n_splits);
    int rc = cuda_check(d,
                        cudaFuncSetAttribute(plain_kernel<PARTS, SPECIAL>,
                                             cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes),
                        "prefill_attend");
    if (rc)
        return rc;
    plain_kernel<PARTS, SPECIAL><<<grid, WARPS * WARP, bytes, d->stream>>>(*w);
    return cuda_launched(d, OP_prefill_attend);
}

template <bool SPECIAL> static int launch_dim(struct device *d, const struct prefill_work *w)
{
    int dim = w->a.kv.head_dim;
    return dim <= 32    ? launch_plain<1, SPECIAL>(d, w)
           : dim <= 64  ? launch_plain<2, SPECIAL>(d, w)
           : dim <= 128 ? launch_plain<4, SPECIAL>(d, w)
                        : launch_plain<8, SPECIAL>(d, w);
}

int prefill_plain(struct device *d, const struct prefill_work *w)
{
    return w->a.softmax.softcap > 0 || w->a.window > 0 ? launch_dim<true>(d, w) : launch_dim<false>(d, w);
}
