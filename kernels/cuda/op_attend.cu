/* attend and qk_stats: lists that differ within a group are merged, then one kernel walks them. */
#include <string.h>

#include "kernels/cuda/attend.cuh"

/* One block a (row, KV head): the pages that any head of the group reads, ascending. */
static __global__ void merge_kernel(const __grid_constant__ struct attend_args a)
{
    extern __shared__ uint32_t heads[]; /* two pages a word */
    __shared__ int sums[WARP], base;
    int row = blockIdx.x, h = blockIdx.y, seq = a.rows.seq[row], group = a.n_q / a.kv.n_kv, t = threadIdx.x;
    if (seq < 0)
        return;
    size_t head = kv_head(a.kv, seq, a.layer, h), list = (size_t)row * a.kv.n_kv + h;
    int pages = pages_of(a.kv.n_slots[head]);
    for (int i = t; i < (pages + 1) / 2; i += blockDim.x)
        heads[i] = 0;
    __syncthreads();
    for (int g = 0; g < group; g++) {
        size_t at = (size_t)row * a.n_rows + a.row_of_q[h * group + g];
        const int32_t *idx = a.idx + at * (size_t)a.cap;
        int len = a.len[at], n = len < 0 ? pages : len * a.block_pages;
        for (int i = t; i < n; i += blockDim.x) {
            int page = len < 0 ? i : idx[i / a.block_pages] * a.block_pages + i % a.block_pages;
            if (page < pages)
                atomicOr(&heads[page / 2], 1u << (page % 2 * 16 + g));
        }
    }
    if (t == 0)
        base = 0;
    __syncthreads();
    struct plan_entry *out = a.plan.entry + list * (size_t)a.kv.max_pages;
    for (int from = 0; from < pages; from += blockDim.x) {
        int page = from + t, here = 0, lane = t % WARP, warp = t / WARP;
        uint32_t want = page < pages ? heads[page / 2] >> page % 2 * 16 & 0xffff : 0;
        uint16_t live = want ? a.kv.live[head * (size_t)a.kv.max_pages + page] : 0;
        here = want && live;
        uint32_t ballot = __ballot_sync(~0u, here);
        if (lane == 0)
            sums[warp] = __popc(ballot);
        __syncthreads();
        int at = base + __popc(ballot & ((1u << lane) - 1)), all = 0;
        for (int i = 0; i < (int)blockDim.x / WARP; i++) {
            at += i < warp ? sums[i] : 0;
            all += sums[i];
        }
        if (here) {
            struct plan_entry e = {a.kv.unit[head * (size_t)a.kv.max_pages + page], page, live,
                                   (uint16_t)want};
            out[at] = e;
        }
        __syncthreads();
        if (t == 0)
            base += all;
        __syncthreads();
    }
    if (t == 0)
        a.plan.n[list] = base;
}

/* Statistics of lists that do not name everything: what they leave out is -inf. */
static __global__ void clear_kernel(const __grid_constant__ struct attend_work w)
{
    int row = blockIdx.x, q = blockIdx.y, seq = w.rows.seq[row];
    if (seq < 0)
        return;
    int n = pages_of(w.kv.n_slots[kv_head(w.kv, seq, w.layer, q / w.group)]) * KV_PAGE_TOKENS;
    float *to = w.stats.logits + ((size_t)row * w.n_q + q) * w.stats.stride;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        to[i] = -CUDART_INF_F;
}

/* All chunks of a list, from its first part on, into out (a query head): weights of the chunks first, a warp
 * a head, then every thread some dimensions. */
static __device__ void add_chunks(const struct attend_work &w, size_t part, size_t out, int n_chunks,
                                  float unit)
{
    __shared__ float total[BACKEND_MAX_GROUP], keep[MAX_CHUNKS * BACKEND_MAX_GROUP];
    int d = w.kv.head_dim, t = threadIdx.x, group = w.group, lane = t % WARP;
    for (int h = t / WARP; h < group; h += ATTEND_WARPS) {
        float2 tl[MAX_CHUNKS / WARP];
        float most = -CUDART_INF_F, sum = 0;
#pragma unroll
        for (int k = 0; k < MAX_CHUNKS / WARP; k++) {
            int c = k * WARP + lane;
            tl[k] = c < n_chunks ? __ldg(&w.part_tl[part + (size_t)c * group + h])
                                 : make_float2(-CUDART_INF_F, 0);
            most = fmaxf(most, tl[k].x);
        }
        most = warp_max(most);
#pragma unroll
        for (int k = 0; k < MAX_CHUNKS / WARP; k++) {
            int c = k * WARP + lane;
            float x = tl[k].x == -CUDART_INF_F ? 0.0f : term((tl[k].x - most) * unit);
            if (c < n_chunks)
                keep[c * group + h] = x;
            sum = fmaf(tl[k].y, x, sum);
        }
        sum = warp_sum(sum);
        if (lane == 0) {
            total[h] = sum;
            if (w.stats.logits)
                w.stats.lse[out + h] = sum > 0 ? most * unit + logf(sum) : -CUDART_INF_F;
        }
    }
    __syncthreads();
    for (int x = 4 * t; w.out && x < group * d; x += 4 * ATTEND_THREADS) {
        int h = x / d;
        float4 o = make_float4(0, 0, 0, 0);
#pragma unroll 8
        for (int c = 0; c < n_chunks; c++) {
            float4 v = __ldg((const float4 *)&w.part[(part + (size_t)c * group) * d + x]);
            float f = keep[c * group + h];
            o.x = fmaf(v.x, f, o.x);
            o.y = fmaf(v.y, f, o.y);
            o.z = fmaf(v.z, f, o.z);
            o.w = fmaf(v.w, f, o.w);
        }
        float f = total[h] > 0 ? 1.0f / total[h] : 0.0f;
        put4_as(w.out, w.type, out * d + x, make_float4(o.x * f, o.y * f, o.z * f, o.w * f));
    }
}

/* One block a list. */
static __global__ void combine_kernel(const __grid_constant__ struct attend_work w, float unit)
{
    int i = blockIdx.x, seq, size = list_size(w, i, &seq);
    if (size == INT32_MIN)
        return;
    int n_chunks = chunks_of(list_entries(w, size));
    if (n_chunks > 1)
        add_chunks(w, (size_t)i * w.max_chunks * w.group,
                   (size_t)(i / w.kv.n_kv) * w.n_q + (size_t)(i % w.kv.n_kv) * w.group, n_chunks, unit);
}

static int most_chunks(int max_pages)
{
    int most = 1;
    for (int n = 1; n <= max_pages; n++)
        most = chunks_of(n) > most ? chunks_of(n) : most;
    return most;
}

static int run(struct device *d, struct attend_work *w, enum op op)
{
    size_t lists = (size_t)w->rows.cap * (size_t)w->kv.n_kv;
    w->group = w->n_q / w->kv.n_kv;
    w->max_chunks = most_chunks(w->kv.max_pages);
    size_t heads = lists * (size_t)w->max_chunks * (size_t)w->group;
    char *room =
        (char *)cuda_scratch(d, heads * (sizeof(float2) + (w->out ? w->kv.head_dim * sizeof(float) : 0)));
    if (!room)
        return BACKEND_ERR_MEMORY;
    w->part = (float *)room;
    w->part_tl = (float2 *)(room + (w->out ? heads * (size_t)w->kv.head_dim * sizeof(float) : 0));
    int by_mma = attend_mma_fits(w), rc = by_mma ? attend_mma(d, w) : attend_plain(d, w);
    if (rc || w->max_chunks == 1)
        return rc;
    combine_kernel<<<lists, ATTEND_THREADS, 0, d->stream>>>(*w, part_unit(*w, by_mma));
    return cuda_launched(d, op);
}

/* Do heads of one group read different lists? */
static int differs_within_group(const struct attend_args *a)
{
    int group = a->n_q / a->kv.n_kv;
    for (int q = 0; a->unit != SEL_LIVE && q < a->n_q; q++)
        if (a->row_of_q[q] != a->row_of_q[q / group * group])
            return 1;
    return 0;
}

/* out NULL: logits and their log-sum-exp alone. */
static int attend(struct device *d, const struct attend_args *a, enum op op)
{
    struct attend_work w;
    memset(&w, 0, sizeof w);
    w.rows = a->rows;
    w.kv = a->kv;
    w.layer = a->layer;
    w.n_q = a->n_q;
    w.q = a->q;
    w.q_stride = a->q_stride;
    w.out = a->out;
    w.type = a->type;
    w.scale = a->scale;
    w.n_rows = a->n_rows;
    w.cap = a->cap;
    w.block_pages = a->block_pages;
    w.idx = a->idx;
    w.len = a->len;
    w.plan = a->plan;
    w.stats = a->stats;
    w.kind = a->unit == SEL_LIVE ? LIST_LIVE : a->unit == SEL_PAGES ? LIST_PAGES : LIST_TOKENS;
    w.group = a->n_q / a->kv.n_kv;
    for (int h = 0; h < a->kv.n_kv; h++)
        w.list_of[h] = a->row_of_q[h * w.group];
    int rc = 0;
    if (differs_within_group(a)) {
        w.kind = LIST_MERGED;
        size_t bytes = (size_t)(a->kv.max_pages + 1) / 2 * sizeof(uint32_t);
        rc = cuda_check(d,
                        cudaFuncSetAttribute((const void *)merge_kernel,
                                             cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes),
                        backend_op_name(op));
        if (!rc) {
            merge_kernel<<<dim3(a->rows.cap, a->kv.n_kv), 256, bytes, d->stream>>>(*a);
            rc = cuda_launched(d, op);
        }
    }
    if (!rc && a->stats.logits && w.kind != LIST_LIVE) {
        clear_kernel<<<dim3(a->rows.cap, a->n_q), 256, 0, d->stream>>>(w);
        rc = cuda_launched(d, op);
    }
    return rc ? rc : run(d, &w, op);
}

int cuda_op_attend(struct device *d, const struct attend_args *a)
{
    return attend(d, a, OP_attend);
}

int cuda_op_qk_stats(struct device *d, const struct qk_stats_args *q)
{
    struct attend_args a;
    memset(&a, 0, sizeof a);
    a.rows = q->rows;
    a.kv = q->kv;
    a.layer = q->layer;
    a.n_q = q->n_q;
    a.q = q->q;
    a.q_stride = q->q_stride;
    a.scale = q->scale;
    a.unit = SEL_LIVE;
    a.stats = q->out;
    return attend(d, &a, OP_qk_stats);
}
