/* attend and qk_stats. Lists that differ within a group are merged first; then one kernel goes through the
 * lists. */
#include <string.h>

#include "kernels/cuda/attention/attend.cuh"
#include "kernels/cuda/device/ptx.cuh"

/* Statistics of lists that do not name everything: what they leave out is -inf. */
static __global__ void clear_kernel(const __grid_constant__ struct attend_work w)
{
    pdl_wait();
    pdl_trigger();
    int row = blockIdx.x, q = blockIdx.y, seq = w.rows.seq[row];
    if (seq < 0)
        return;
    int n = pages_of(w.kv.n_slots[kv_head(w.kv, seq, w.layer, q / w.group)]) * KV_PAGE_TOKENS;
    float *to = w.stats.logits + ((size_t)row * w.n_q + q) * w.stats.stride;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        to[i] = -CUDART_INF_F;
}

static __device__ inline void add_scaled(float4 *to, float4 v, float by)
{
    *to = make_float4(fmaf(v.x, by, to->x), fmaf(v.y, by, to->y), fmaf(v.z, by, to->z), fmaf(v.w, by, to->w));
}

/* The splits of a list come together, a block a query head: weights of the splits first, a thread each, then
 * four dimensions a thread, of every n-th split, and these sums in order. */
static __global__ void __launch_bounds__(ATTEND_THREADS, 8)
    combine_kernel(const __grid_constant__ struct attend_work w)
{
    enum { AHEAD = 8 };
    __shared__ float keep[MAX_SPLITS];
    __shared__ float smem[WARP];
    __shared__ float4 sums[ATTEND_THREADS];
    int i = blockIdx.x, h = blockIdx.y, t = threadIdx.x, d = w.kv.head_dim, seq;
    int size = list_size(w, i, &seq); /* as the kernel before has seen it, too */
    int n = seq < 0 ? 0 : splits_of(w, list_entries(w, size));
    pdl_wait();
    pdl_trigger();
    if (n <= 1)
        return;
    size_t part = (size_t)i * w.max_splits * w.group + h;
    size_t out = (size_t)(i / w.kv.n_kv) * w.n_q + (size_t)(i % w.kv.n_kv) * w.group + h;
    int lanes = d / 4, apart = ATTEND_THREADS / lanes, first = t / lanes, four = t % lanes;
    float2 own = t < n ? w.part_max_sum[part + (size_t)t * w.group] : make_float2(-CUDART_INF_F, 0);
    const float4 zero = make_float4(0, 0, 0, 0);
    const float *from = w.part + (part + (size_t)first * w.group) * d + 4 * four;
    size_t step = (size_t)apart * w.group * d;
    float4 v[AHEAD];
#pragma unroll
    for (int a = 0; a < AHEAD; a++) /* asked for before the weights are known */
        v[a] = w.out && first + a * apart < n ? *(const float4 *)(from + a * step) : zero;
    float new_max = block_max(own.x, smem);
    float x = own.x == -CUDART_INF_F ? 0.0f : softmax_exp((own.x - new_max) * part_scale(w));
    keep[t] = x;
    int q = i % w.kv.n_kv * w.group + h;
    float sum = sum_with_sink(w, q, new_max, block_sum(own.y * x, smem));
    if (t == 0 && w.stats.logits)
        w.stats.lse[out] = log_of_sum(w, q, new_max, sum);
    if (!w.out)
        return;
    float4 o = zero;
#pragma unroll
    for (int a = 0; a < AHEAD; a++)
        if (first + a * apart < n)
            add_scaled(&o, v[a], keep[first + a * apart]);
#pragma unroll 1
    for (int c = first + AHEAD * apart; c < n; c += apart)
        add_scaled(&o, *(const float4 *)(from + (size_t)(c - first) * w.group * d), keep[c]);
    sums[t] = o;
    __syncthreads();
    if (t >= lanes)
        return;
    for (int other = 1; other < apart; other++)
        o = add_four(o, sums[other * lanes + t]);
    float f = sum > 0 ? 1.0f / sum : 0.0f;
    put4_as(w.out, w.type, out * d + 4 * t, make_float4(o.x * f, o.y * f, o.z * f, o.w * f));
}
static_assert((int)MAX_SPLITS == (int)ATTEND_THREADS && BACKEND_MAX_HEAD_DIM / 4 <= (int)ATTEND_THREADS,
              "a thread for each split, and one for four dimensions");

static int largest_split_count(const struct attend_work &w, int max_pages)
{
    int n_splits = 1;
    for (int n = 1; n <= max_pages; n++)
        n_splits = splits_of(w, n) > n_splits ? splits_of(w, n) : n_splits;
    return n_splits;
}

/* Whether there are at most as many splits as SMs. Then one block an SM with a deep pipeline is faster
 * (measured on an H100: full attention takes 11 to 15 % less with 1 to 4 sequences). With one to two splits
 * an SM it is up to 25 % slower, and with more it makes no difference. */
static int splits_fit(const struct device *d, const struct attend_work *w, size_t lists)
{
    return lists * (size_t)w->max_splits <= (size_t)d->n_sm;
}

/* entries_limit: entries that a list can have. */
static int run_kernels(struct device *d, struct attend_work *w, int entries_limit, enum op op)
{
    size_t lists = (size_t)w->rows.cap * (size_t)w->kv.n_kv;
    w->group = w->n_q / w->kv.n_kv;
    w->plain = !d->hopper || !attend_mma_fits(w);
    w->max_splits = largest_split_count(*w, entries_limit);
    if (w->max_splits > MAX_SPLITS)
        return cuda_error(d, BACKEND_ERR_UNSUPPORTED, "%s: contexts of %d tokens; on a GPU at most %d",
                          backend_op_name(op), w->kv.max_pages * KV_PAGE_TOKENS,
                          MAX_SPLIT_ENTRIES * MAX_SPLITS * KV_PAGE_TOKENS);
    if (!w->plain && w->kind == LIST_PAGES && !w->stats.logits && w->max_splits == 2 &&
        w->kv.n_kv <= FEW_HEADS_LIMIT) {
        w->shared = lists <= (size_t)d->n_sm ? PAIR : SOLO;
        w->max_splits = 1; /* nothing is left to add up */
    }
    /* Lists that are not in order are looked up twice, which for many takes longer than it saves (measured:
     * for 1,024 of them 2 to 4 % of decoding). */
    w->pdl = w->pdl && !w->plain && (w->in_order || lists <= 4 * ATTEND_THREADS);
    w->next = w->max_splits > 1 ? AFTER_READING : w->pdl && w->kind != LIST_LIVE ? AT_ONCE : AT_ENDS;
    w->deep = (w->kind == LIST_LIVE || w->kind == LIST_WINDOW) && w->out && !w->stats.logits &&
              splits_fit(d, w, lists);
    size_t heads = lists * (size_t)w->max_splits * (size_t)w->group;
    char *workspace =
        (char *)cuda_workspace(d, heads * (sizeof(float2) + (w->out ? w->kv.head_dim * sizeof(float) : 0)));
    if (!workspace)
        return BACKEND_ERR_MEMORY;
    w->part = (float *)workspace;
    w->part_max_sum = (float2 *)(workspace + (w->out ? heads * (size_t)w->kv.head_dim * sizeof(float) : 0));
    int rc = w->plain ? attend_plain(d, w) : attend_mma(d, w);
    if (rc || w->max_splits == 1)
        return rc;
    return cuda_launch_pdl(d, op, combine_kernel, dim3(lists, w->group), ATTEND_THREADS, 0, 1, *w);
}

/* Does the operation leave lists and KV blocks as they are, and write to one page of a sequence at most? */
static int keeps_lists(enum op op)
{
    return op == OP_append || op == OP_rope_append || op == OP_attend;
}

/* Do heads of one group read different lists? */
static int differs_within_group(const struct attend_args *a)
{
    int group = a->n_q / a->kv.n_kv;
    for (int q = 0; a->granularity != SEL_LIVE && q < a->n_q; q++)
        if (a->row_of_q[q] != a->row_of_q[q / group * group])
            return 1;
    return 0;
}

/* Entries that any list can have. The last block of a list of blocks may reach beyond the last page; a merged
 * list reads what any of the group's heads reads. */
static int max_entries_of(const struct attend_work *w, int promised)
{
    int per = w->kind == LIST_PAGES ? w->block_pages : 1, pages = (w->kv.max_pages + per - 1) / per * per;
    if (w->kind == LIST_WINDOW) /* of which the first page may have one token, and the last page one */
        promised = (w->window - 2) / KV_PAGE_TOKENS + 2;
    if (promised < 1 || promised > pages)
        return pages;
    promised *= w->kind == LIST_MERGED ? w->group : 1;
    return promised < pages ? promised : pages;
}

/* Without `out`, only the logits and their log-sum-exp are written. */
static int run_attend(struct device *d, const struct attend_args *a, enum op op)
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
    w.softcap = a->softmax.softcap;
    w.sink = a->softmax.sink;
    w.window = a->window;
    w.n_rows = a->n_rows;
    w.cap = a->cap;
    w.block_pages = a->block_pages;
    w.by_kv = reciprocal_of(a->kv.n_kv);
    w.by_block = reciprocal_of(a->block_pages > 0 ? a->block_pages : 1);
    w.idx = a->idx;
    w.len = a->len;
    w.plan = a->plan;
    w.stats = a->stats;
    w.kind = a->window > 0                 ? LIST_WINDOW
             : a->granularity == SEL_LIVE  ? LIST_LIVE
             : a->granularity == SEL_PAGES ? LIST_PAGES
                                           : LIST_TOKENS;
    w.group = a->n_q / a->kv.n_kv;
    for (int h = 0; h < a->kv.n_kv; h++)
        w.list_of[h] = a->row_of_q[h * w.group];
    int rc = 0;
    if (differs_within_group(a)) {
        w.kind = LIST_MERGED;
        rc = merge_lists(d, a, op);
    }
    if (!rc && a->stats.logits && w.kind != LIST_LIVE)
        rc = cuda_launch_pdl(d, op, clear_kernel, dim3(a->rows.cap, a->n_q), 256, 0, 1, w);
    w.in_order = a->in_order;
    /* What these two write is not looked at before the wait: merged lists are not early, nor are pages where
     * statistics are wanted. */
    w.pdl = keeps_lists(d->pdl) && (w.kind == LIST_PAGES  ? w.in_order && !a->stats.logits
                                    : w.kind == LIST_LIVE ? w.out != NULL
                                                          : w.kind == LIST_WINDOW);
    return rc ? rc : run_kernels(d, &w, max_entries_of(&w, a->max_pages_read), op);
}

int cuda_op_attend(struct device *d, const struct attend_args *a)
{
    return run_attend(d, a, OP_attend);
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
    a.granularity = SEL_LIVE;
    a.stats = q->out;
    a.softmax = q->softmax;
    return run_attend(d, &a, OP_qk_stats);
}
