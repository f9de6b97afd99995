/* Appending K and V to the cache, with the norms and the rotation that come before. While decoding, a block
 * does one token of one KV head and of its group of query heads. In prefill, it does the rows of one page of
 * one head, so that only one block writes a page's live bits and bounds. */
#include "kernels/cuda/device/cuda.cuh"
#include "kernels/cuda/device/ptx.cuh"
#include "kernels/cuda/device/slots.cuh"

enum { PAIRS = BACKEND_MAX_HEAD_DIM / 2 / WARP };

/* Bounds of a page in one dimension. none: before the first token of a fresh page. */
struct bounds {
    float low, high;
    bool none;
};

/* One bound, read past the L1 cache. */
static __device__ float bound_at(const struct kv_view &kv, size_t at)
{
    return kv.dtype == DTYPE_BF16
               ? __bfloat162float(__ushort_as_bfloat16(__ldcg((const unsigned short *)kv.bounds + at)))
               : __ldcg((const float *)kv.bounds + at);
}

static __device__ struct bounds bounds_of(const struct kv_view &kv, int kv_block, int i, bool fresh)
{
    struct bounds b = {0, 0, fresh};
    if (!fresh) {
        b.low = bound_at(kv, bounds_place(kv, kv_block, i));
        b.high = bound_at(kv, bounds_place(kv, kv_block, kv.head_dim + i));
    }
    return b;
}

static __device__ void bounds_put(const struct kv_view &kv, int kv_block, int i, struct bounds b)
{
    put_as(kv.bounds, kv.dtype, bounds_place(kv, kv_block, i), b.low);
    put_as(kv.bounds, kv.dtype, bounds_place(kv, kv_block, kv.head_dim + i), b.high);
}

/* Bounds are those of the keys as they are stored. */
static __device__ void bounds_add(const struct kv_view &kv, struct bounds *b, float k)
{
    if (kv.dtype == DTYPE_BF16)
        k = __bfloat162float(__float2bfloat16_rn(k));
    b->low = b->none || k < b->low ? k : b->low;
    b->high = b->none || k > b->high ? k : b->high;
    b->none = false;
}

/* RMSNorm of one head by a warp, each lane with its pairs u, v and their weights. */
static __device__ void norm_pairs(float *u, float *v, const float *wu, const float *wv, int d, float eps)
{
    float sum = 0;
#pragma unroll
    for (int i = 0; i < PAIRS; i++)
        sum = fmaf(u[i], u[i], sum);
#pragma unroll
    for (int i = 0; i < PAIRS; i++)
        sum = fmaf(v[i], v[i], sum);
    float root = sqrtf(warp_sum(sum) / (float)d + eps);
#pragma unroll
    for (int i = 0; i < PAIRS; i++) {
        u[i] = u[i] / root * wu[i];
        v[i] = v[i] / root * wv[i];
    }
}

/* What a lane's pairs are turned by, and then multiplied by. */
struct angles {
    float c[PAIRS], s[PAIRS], scale;
};

/* At position pos, from tables that no kernel writes. scale: by position, or NULL. */
static __device__ struct angles angles_at(const struct rope_append_args &a, int pos, const float *scale)
{
    int d = a.kv.head_dim, half = d / 2, lane = threadIdx.x % WARP;
    const float *cosine = a.cos_sin + (size_t)pos * d;
    struct angles t;
    t.scale = scale ? scale[pos] : 1.0f;
#pragma unroll
    for (int i = 0; i < PAIRS; i++) {
        int j = lane + i * WARP;
        t.c[i] = a.cos_sin && j < half ? cosine[j] : 1.0f;
        t.s[i] = a.cos_sin && j < half ? cosine[j + half] : 0.0f;
    }
    return t;
}

/* One head of q or k, by a warp: normed (weight not NULL), rotated and scaled in place, and copied to `copy`
 * (unless NULL). A lane has every 32nd pair. Every product is rounded: fused multiply-adds would treat the
 * two halves of a pair differently. */
static __device__ void turn_head(const struct rope_append_args &a, float *x, const float *weight,
                                 const struct angles &t, float *copy)
{
    int d = a.kv.head_dim, half = d / 2, lane = threadIdx.x % WARP;
    float u[PAIRS], v[PAIRS], wu[PAIRS], wv[PAIRS];
#pragma unroll
    for (int i = 0; i < PAIRS; i++) {
        int j = lane + i * WARP;
        u[i] = j < half ? x[j] : 0.0f;
        v[i] = j < half ? x[j + half] : 0.0f;
        wu[i] = weight && j < half ? weight[j] : 0.0f;
        wv[i] = weight && j < half ? weight[j + half] : 0.0f;
    }
    if (weight && !a.norm_after)
        norm_pairs(u, v, wu, wv, d, a.eps);
    if (a.cos_sin) {
#pragma unroll
        for (int i = 0; i < PAIRS; i++) {
            float low = __fsub_rn(__fmul_rn(u[i], t.c[i]), __fmul_rn(v[i], t.s[i]));
            v[i] = __fadd_rn(__fmul_rn(v[i], t.c[i]), __fmul_rn(u[i], t.s[i]));
            u[i] = low;
        }
    }
    if (weight && a.norm_after)
        norm_pairs(u, v, wu, wv, d, a.eps);
#pragma unroll
    for (int i = 0; i < PAIRS; i++) {
        int j = lane + i * WARP;
        if (j >= half)
            break;
        float low = u[i] * t.scale, high = v[i] * t.scale;
        if (a.cos_sin || weight || t.scale != 1) {
            x[j] = low;
            x[j + half] = high;
        }
        if (copy) {
            copy[j] = low;
            copy[j + half] = high;
        }
    }
}

/* Where a row's token goes. */
struct place {
    size_t head, page; /* indices of the tables */
    int slot, kv_block;
    unsigned live; /* of the page, before */
};

/* One warp finds it out, past the first-level cache. */
static __device__ struct place next_place(const struct kv_view &kv, size_t head)
{
    struct place p;
    p.head = head;
    p.slot = next_slot(kv, head);
    p.page = head * (size_t)kv.max_pages + (size_t)(p.slot / KV_PAGE_TOKENS);
    p.kv_block = __ldcg(&kv.block_table[p.page]);
    p.live = __ldcg(&kv.live[p.page]);
    return p;
}

/* Clears V of a page that starts anew, except for token t, which is written now: masked tokens take part in
 * sums with weight 0, and what an earlier owner left could be infinite. */
static __device__ void clear_v(const struct kv_view &kv, int kv_block, int t)
{
    int chunks = (int)(kv.head_dim * kv_elem(kv.dtype) / sizeof(uint4));
    uint4 *v = (uint4 *)kv_block_v(kv, kv_block);
    for (int c = threadIdx.x; c < KV_PAGE_TOKENS * chunks; c += blockDim.x)
        if (c / chunks != t)
            v[c] = make_uint4(0, 0, 0, 0);
}

/* Grid (rows, KV heads). Warp 0 looks for the slot, each of the others turns a head: k, then the group's
 * queries.
 *
 * first (lets_begin_first): the next kernel, attention, may begin while this one still waits, so that its
 * blocks are in place when q and k are (measured: 2 % of decoding under DELTA, up to 1 % under full
 * attention). The position, the slot, the page's bounds and the angles are looked up before the wait then,
 * since each look at memory takes up to a microsecond while weights stream in: a step of 64 sequences of
 * a 1.5B model takes 1 to 2 % less. What is written rests on what
 * was seen then, so nothing under way may write any of it. */
static __global__ void token_kernel(const __grid_constant__ struct rope_append_args a, bool first)
{
    __shared__ float key[BACKEND_MAX_HEAD_DIM];
    __shared__ struct place found;
    const struct kv_view &kv = a.kv;
    if (!first)
        pdl_wait();
    pdl_trigger();
    int r = blockIdx.x, h = blockIdx.y, i = threadIdx.x, d = kv.head_dim, seq = __ldcg(&a.rows.seq[r]);
    int group = a.n_q / kv.n_kv, warp = i / WARP - 1;
    size_t row = (size_t)r * a.stride;
    struct angles t = {};
    if (warp >= 0 && warp <= group && seq >= 0)
        t = angles_at(a, __ldcg(&a.rows.pos[r]), warp ? a.q_scale : NULL);
    if (warp < 0 && seq >= 0) {
        struct place p = next_place(kv, kv_head(kv, seq, a.layer, h));
        if (i == 0)
            found = p;
    }
    __syncthreads();
    struct place p = found;
    struct bounds b = {};
    if (kv.bounds && i < d && seq >= 0)
        b = bounds_of(kv, p.kv_block, i, p.live == 0);
    if (first)
        pdl_wait();
    if (seq < 0)
        return;
    float value = i < d ? a.v[row + (size_t)h * d + i] : 0.0f;
    if (warp == 0)
        turn_head(a, a.k + row + (size_t)h * d, a.wk, t, key);
    else if (warp > 0 && warp <= group)
        turn_head(a, a.q + row + (size_t)(h * group + warp - 1) * d, a.wq, t, NULL);
    __syncthreads();
    int token = p.slot % KV_PAGE_TOKENS;
    if (i < d) {
        kv_put(kv, kv_block_k(kv, p.kv_block), token, i, key[i]);
        kv_put(kv, kv_block_v(kv, p.kv_block), token, i, value);
        if (kv.bounds) {
            bounds_add(kv, &b, key[i]);
            bounds_put(kv, p.kv_block, i, b);
        }
    }
    if (p.live == 0)
        clear_v(kv, p.kv_block, token);
    if (i == 0) {
        kv.live[p.page] = (uint16_t)(p.live | 1u << token);
        kv.n_live[p.head] += !(p.live >> token & 1);
        if (kv.n_slots[p.head] <= p.slot)
            kv.n_slots[p.head] = p.slot + 1;
        kv.tail[p.head] = p.slot;
    }
}

/* Chunk c of token t's row in K or V of a KV block, from fp32 values (16, d) in shared memory. */
static __device__ void put_chunk(const struct kv_view &kv, char *to, const float *from, int t, int c)
{
    int per = kv.dtype == DTYPE_BF16 ? 8 : 4, at = kv_place(kv, t, c * per);
    const float4 *x = (const float4 *)(from + t * kv.head_dim + c * per);
    put4_as(to, kv.dtype, at, x[0]);
    if (per == 8)
        put4_as(to, kv.dtype, at + 4, x[1]);
}

/* The page's tokens that are in `tokens`: key and value hold them (16, d). */
static __device__ void put_page(const struct rope_append_args &a, int kv_block, unsigned live,
                                unsigned tokens, const float *key, const float *value)
{
    const struct kv_view &kv = a.kv;
    int d = kv.head_dim, chunks = (int)(d * kv_elem(kv.dtype) / sizeof(uint4));
    for (int i = threadIdx.x; i < KV_PAGE_TOKENS * chunks; i += blockDim.x) {
        int t = i / chunks, c = i % chunks;
        bool here = tokens >> t & 1;
        if (here)
            put_chunk(kv, kv_block_k(kv, kv_block), key, t, c);
        if (here || live == 0) /* values of tokens that are not here yet are zeros: see clear_v */
            put_chunk(kv, kv_block_v(kv, kv_block), value, t, c);
    }
    for (int i = threadIdx.x; kv.bounds && i < d; i += blockDim.x) {
        struct bounds b = bounds_of(kv, kv_block, i, live == 0);
        for (int t = 0; t < KV_PAGE_TOKENS; t++)
            if (tokens >> t & 1)
                bounds_add(kv, &b, key[t * d + i]);
        bounds_put(kv, kv_block, i, b);
    }
}

/* Grid (pages, KV heads, then query heads), a warp a token. Positions are consecutive. */
static __global__ void __launch_bounds__(KV_PAGE_TOKENS *WARP)
    page_kernel(const __grid_constant__ struct rope_append_args a)
{
    extern __shared__ __align__(16) float key[]; /* (16, d), then values (16, d) */
    const struct kv_view &kv = a.kv;
    int d = kv.head_dim, pos0 = a.rows.pos[0], page = pos0 / KV_PAGE_TOKENS + (int)blockIdx.x;
    int t = threadIdx.x / WARP, pos = page * KV_PAGE_TOKENS + t, r = pos - pos0, h = blockIdx.y;
    bool here = r >= 0 && r < a.rows.cap;
    size_t row = (size_t)r * a.stride;
    if (page * KV_PAGE_TOKENS - pos0 >= a.rows.cap)
        return;
    if (h >= kv.n_kv) {
        if (here)
            turn_head(a, a.q + row + (size_t)(h - kv.n_kv) * d, a.wq, angles_at(a, pos, a.q_scale), NULL);
        return;
    }
    size_t head = kv_head(kv, a.rows.seq[0], a.layer, h), entry = head * (size_t)kv.max_pages + (size_t)page;
    float *value = key + KV_PAGE_TOKENS * d;
    int kv_block = kv.block_table[entry];
    unsigned live = kv.live[entry];
    for (int i = threadIdx.x % WARP; i < d; i += WARP)
        value[t * d + i] = here ? a.v[row + (size_t)h * d + i] : 0.0f;
    if (here)
        turn_head(a, a.k + row + (size_t)h * d, a.wk, angles_at(a, pos, NULL), key + t * d);
    int from = max(pos0 - page * KV_PAGE_TOKENS, 0),
        to = min(pos0 + a.rows.cap - page * KV_PAGE_TOKENS, (int)KV_PAGE_TOKENS);
    unsigned tokens = (1u << to) - (1u << from);
    __syncthreads();
    put_page(a, kv_block, live, tokens, key, value);
    if (threadIdx.x == 0) { /* everyone has read live */
        kv.live[entry] = (uint16_t)(live | tokens);
        atomicAdd(&kv.n_live[head], __popc(tokens & ~live));
        atomicMax(&kv.n_slots[head], page * KV_PAGE_TOKENS + to);
        if (page == (pos0 + a.rows.cap - 1) / KV_PAGE_TOKENS)
            kv.tail[head] = pos0 + a.rows.cap - 1;
    }
}

/* Before they wait, attention looks at lists (keeps_lists in op_attend.cu) and token_kernel at its rows and
 * at what the cache's tables and bounds say of them, so that nothing that is still under way when they begin
 * may write these. A product does not, and begins while the kernel before it runs; a norm does not either,
 * and the one before q, k and v lets the product begin when all before itself is done. A kernel that is not
 * launched early (OP_COUNT) has ended, too, before the product begins. */
static bool lets_begin_first(const struct device *d)
{
    return d->pdl == OP_linear && (d->before == OP_COUNT || (d->before == OP_rmsnorm && d->norm_waits));
}

static int launch_append(struct device *d, const struct rope_append_args *a, enum op op)
{
    int dim = a->kv.head_dim, warps = 2 + a->n_q / a->kv.n_kv, wide = (dim + WARP - 1) / WARP;
    if (a->rows.cap < 1)
        return 0;
    if (a->prefill) {
        /* One page more than the rows fill: they may begin within one. */
        dim3 grid(pages_of(a->rows.cap) + 1, a->kv.n_kv + a->n_q);
        size_t bytes = 2 * KV_PAGE_TOKENS * (size_t)dim * sizeof(float);
        page_kernel<<<grid, KV_PAGE_TOKENS * WARP, bytes, d->stream>>>(*a);
    } else {
        return cuda_launch_pdl(d, op, token_kernel, dim3(a->rows.cap, a->kv.n_kv),
                               WARP * (warps > wide ? warps : wide), 0, 1, *a, lets_begin_first(d));
    }
    return cuda_launched(d, op);
}

int cuda_op_rope_append(struct device *d, const struct rope_append_args *a)
{
    return launch_append(d, a, OP_rope_append);
}

/* Without angles, weights and scales q and k are read only. */
int cuda_op_append(struct device *d, const struct append_args *a)
{
    struct rope_append_args p = {};
    p.rows = a->rows;
    p.kv = a->kv;
    p.layer = a->layer;
    p.prefill = a->prefill;
    p.k = (float *)a->k;
    p.v = a->v;
    p.stride = a->stride;
    return launch_append(d, &p, OP_append);
}

/* Grid (rows, query heads, then KV heads), a warp a head, with turn_head's pairs and sums. */
static __global__ void head_norm_kernel(struct head_norm_args a)
{
    pdl_wait();
    pdl_trigger();
    int r = blockIdx.x, h = blockIdx.y, d = a.head_dim, half = d / 2, lane = threadIdx.x;
    if (a.rows.seq[r] < 0)
        return;
    float *x = (h < a.n_q ? a.q + h * d : a.k + (h - a.n_q) * d) + (size_t)r * a.stride;
    const float *w = h < a.n_q ? a.wq : a.wk;
    float u[PAIRS], v[PAIRS], wu[PAIRS], wv[PAIRS];
#pragma unroll
    for (int i = 0; i < PAIRS; i++) {
        int j = lane + i * WARP;
        u[i] = j < half ? x[j] : 0.0f;
        v[i] = j < half ? x[j + half] : 0.0f;
        wu[i] = j < half ? w[j] : 0.0f;
        wv[i] = j < half ? w[j + half] : 0.0f;
    }
    norm_pairs(u, v, wu, wv, d, a.eps);
#pragma unroll
    for (int i = 0; i < PAIRS; i++) {
        int j = lane + i * WARP;
        if (j < half) {
            x[j] = u[i];
            x[j + half] = v[i];
        }
    }
}

int cuda_op_head_norm(struct device *d, const struct head_norm_args *a)
{
    if (a->rows.cap < 1)
        return 0;
    return cuda_launch_pdl(d, OP_head_norm, head_norm_kernel, dim3(a->rows.cap, a->n_q + a->n_kv), WARP, 0, 1,
                           *a);
}
