/* Causal attention of prompt chunks: cuts a call into slices of queries, gives each to a kernel (tensor cores
 * for bf16, CUDA cores for the rest), and adds up the splits of the keys in order. */
#include "kernels/cuda/attention/prefill.cuh"

/* Queries of a launch are a multiple of it. */
enum { MIN_QUERIES = 128 };

static __global__ void combine_kernel(struct prefill_work w)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y, head = blockIdx.y, d = w.a.kv.head_dim;
    if (row >= w.rows)
        return;
    int n = prefill_split_of(prefill_pos(w, row)) + 1;
    float running_max = -CUDART_INF_F, sum = 0;
    for (int s = 0; s < n; s++)
        running_max = fmaxf(running_max, w.max_sum[prefill_part(w, s, head, row)].x);
    float zero = running_max == -CUDART_INF_F ? 0.0f : running_max;
    for (int s = 0; s < n; s++) {
        float2 part = w.max_sum[prefill_part(w, s, head, row)];
        sum = fmaf(part.y, softmax_exp2(part.x - zero), sum);
    }
    float inverse = prefill_scale(w, head, row, running_max, sum);
    for (int i = 4 * threadIdx.x; i < d; i += 4 * WARP) {
        float4 o = make_float4(0, 0, 0, 0);
#pragma unroll 4
        for (int s = 0; s < n; s++) {
            size_t at = prefill_part(w, s, head, row);
            float weight = softmax_exp2(w.max_sum[at].x - zero);
            float4 part = *(const float4 *)(w.o + at * (size_t)d + i);
            o.x = fmaf(part.x, weight, o.x);
            o.y = fmaf(part.y, weight, o.y);
            o.z = fmaf(part.z, weight, o.z);
            o.w = fmaf(part.w, weight, o.w);
        }
        put4_as(w.a.out, w.a.type, prefill_out(w, head, row) + i,
                make_float4(o.x * inverse, o.y * inverse, o.z * inverse, o.w * inverse));
    }
}

/* Lists as bits, 64 keys a thread. Keys of the tile itself and later are let through: position decides. */
static __global__ void listed_kernel(struct prefill_work w)
{
    size_t list = (size_t)blockIdx.x * (size_t)w.a.n_rows + blockIdx.y;
    const int32_t *idx = w.a.idx + list * (size_t)w.a.cap;
    int n = w.a.len[list], own = (w.a.pos0 / w.a.tile + (int)blockIdx.x) * w.a.tile;
    for (int word = blockIdx.z * blockDim.x + threadIdx.x; word < w.words; word += gridDim.z * blockDim.x) {
        int key0 = word * 64, low = 0;
        uint64_t bits = n < 0 || own <= key0 ? ~0ull : own < key0 + 64 ? ~0ull << (own - key0) : 0;
        for (int high = n; low < high;) {
            int middle = (low + high) / 2;
            if (idx[middle] < key0)
                low = middle + 1;
            else
                high = middle;
        }
        for (; low < n && idx[low] < key0 + 64; low++)
            bits |= 1ull << (idx[low] - key0);
        w.listed[list * (size_t)w.words + (size_t)word] = bits;
    }
}

/* Scratch: o, then max_sum, then listed. */
static int take_workspace(struct device *d, struct prefill_work *w, int tiles)
{
    size_t n_kv = (size_t)w->a.kv.n_kv;
    size_t parts = w->n_splits > 1 ? (size_t)w->n_splits * n_kv * (size_t)w->rows : 0;
    size_t o = parts * (size_t)w->a.kv.head_dim * sizeof *w->o, sums = parts * sizeof *w->max_sum;
    size_t lists = (size_t)tiles * (size_t)w->a.n_rows * (size_t)w->words * sizeof *w->listed;
    if (o + sums + lists == 0)
        return 0;
    char *workspace = (char *)cuda_workspace(d, o + sums + lists);
    if (!workspace)
        return BACKEND_ERR_MEMORY;
    w->o = (float *)workspace;
    w->max_sum = (float2 *)(workspace + o);
    w->listed = tiles ? (uint64_t *)(workspace + o + sums) : NULL;
    return 0;
}

static bool takes_tensor_cores(const struct device *d, const struct prefill_attend_args *a)
{
    return d->hopper && a->kv.dtype == DTYPE_BF16 && (a->kv.head_dim == 64 || a->kv.head_dim == 128) &&
           a->softmax.softcap <= 0;
}

static struct prefill_work work_of(const struct prefill_attend_args *a)
{
    struct prefill_work w = {};
    w.a = *a;
    w.group = a->n_q / a->kv.n_kv;
    w.rows = a->nq * w.group;
    return w;
}

/* Does each tile of queries have a list of keys, given or made of what has not expired (prefill_lists)? */
static bool takes_lists(const struct device *d, const struct prefill_attend_args *a)
{
    return d->wgmma && takes_tensor_cores(d, a) && !a->tile != !a->until;
}

static int run_slice(struct device *d, const struct prefill_attend_args *a)
{
    struct prefill_work w = work_of(a);
    if (takes_lists(d, a)) {
        w.n_splits = 1;
        return a->tile ? prefill_lists(d, &w) : prefill_expiring(d, &w);
    }
    int last = a->pos0 + a->nq - 1, tiles = a->tile ? last / a->tile - a->pos0 / a->tile + 1 : 0;
    w.n_splits = a->window > 0 ? 1 : prefill_split_of(last) + 1;
    w.words = last / 64 + 1;
    int rc = take_workspace(d, &w, tiles);
    if (!rc && tiles) {
        listed_kernel<<<dim3(tiles, a->n_rows, (w.words + 127) / 128), 128, 0, d->stream>>>(w);
        rc = cuda_launched(d, OP_prefill_attend);
    }
    if (!rc)
        rc = !takes_tensor_cores(d, a) ? prefill_plain(d, &w)
             : d->wgmma                ? prefill_wgmma(d, &w)
                                       : prefill_mma(d, &w);
    if (!rc && w.n_splits > 1) {
        combine_kernel<<<dim3((w.rows + 7) / 8, a->kv.n_kv), dim3(WARP, 8), 0, d->stream>>>(w);
        rc = cuda_launched(d, OP_prefill_attend);
    }
    return rc;
}

/* Bytes of scratch for a query, at least 1: its partial sums, or its share of a list of all keys. */
static size_t query_bytes(const struct device *d, const struct prefill_attend_args *a)
{
    int splits = prefill_split_of(a->pos0 + a->nq - 1) + 1;
    if (a->window > 0)
        return 1;
    if (takes_lists(d, a))
        return a->tile ? 1
                       : 1 + (size_t)(a->pos0 + a->nq) * (size_t)a->n_q * sizeof(int32_t) / PREFILL_LIST_ROWS;
    return (size_t)splits * (size_t)a->n_q * (size_t)(a->kv.head_dim + 2) * sizeof(float);
}

/* Queries of a launch: as many as a MiB for each SM holds scratch for, all launches alike. */
static int slice_of(const struct device *d, const struct prefill_attend_args *a)
{
    size_t query = query_bytes(d, a);
    int max_queries = max(MIN_QUERIES, (int)(((size_t)d->n_sm << 20) / query) / MIN_QUERIES * MIN_QUERIES);
    int launches = (a->nq + max_queries - 1) / max_queries, each = (a->nq + launches - 1) / launches;
    return (each + MIN_QUERIES - 1) / MIN_QUERIES * MIN_QUERIES;
}

int cuda_op_prefill_attend(struct device *d, const struct prefill_attend_args *a)
{
    int rc = 0, slice = slice_of(d, a);
    for (int from = 0; from < a->nq && !rc; from += slice) {
        struct prefill_attend_args s = *a;
        s.pos0 += from;
        s.nq = a->nq - from < slice ? a->nq - from : slice;
        s.q += (size_t)from * (size_t)a->q_stride;
        s.out =
            (char *)a->out + (size_t)from * (size_t)a->n_q * (size_t)a->kv.head_dim * dtype_bytes(a->type);
        if (a->tile) {
            size_t lists = (size_t)(s.pos0 / a->tile - a->pos0 / a->tile) * (size_t)a->n_rows;
            s.idx += lists * (size_t)a->cap;
            s.len += lists;
        }
        rc = run_slice(d, &s);
    }
    return rc;
}
