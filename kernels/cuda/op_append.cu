/* Appending K and V to the cache, and copying whole units. A thread per dimension writes a token's K and V
 * and keeps its dimension's page bounds. While decoding a block is one token of one KV head; in prefill it is
 * the rows of one page, so that a page's bits and bounds have one writer. */
#include "kernels/cuda/cuda.cuh"
#include "kernels/cuda/slots.cuh"

/* A page's bounds in one dimension; none before a fresh page's first token. */
struct bounds {
    float low, high;
    bool none;
};

static __device__ float *bounds_at(const struct kv_view &kv, int unit)
{
    return kv.bounds + (size_t)unit * 2 * (size_t)kv.head_dim;
}

static __device__ struct bounds bounds_of(const struct kv_view &kv, int unit, int i, bool fresh)
{
    struct bounds b = {0, 0, fresh};
    if (kv.bounds && !fresh) {
        b.low = bounds_at(kv, unit)[i];
        b.high = bounds_at(kv, unit)[kv.head_dim + i];
    }
    return b;
}

static __device__ void bounds_put(const struct kv_view &kv, int unit, int i, struct bounds b)
{
    if (kv.bounds) {
        bounds_at(kv, unit)[i] = b.low;
        bounds_at(kv, unit)[kv.head_dim + i] = b.high;
    }
}

/* Element i of token t. Bounds are those of the keys as they are stored. */
static __device__ void put(const struct kv_view &kv, int unit, int t, int i, float k, float v,
                           struct bounds *b)
{
    kv_put(kv, kv_unit_k(kv, unit), t, i, k);
    kv_put(kv, kv_unit_v(kv, unit), t, i, v);
    if (kv.dtype == DTYPE_BF16)
        k = __bfloat162float(__float2bfloat16_rn(k));
    b->low = b->none || k < b->low ? k : b->low;
    b->high = b->none || k > b->high ? k : b->high;
    b->none = false;
}

/* A page that starts anew: masked tokens take part in the sums with weight 0, so nothing of an earlier owner
 * is left in V but where the block has just written. */
static __device__ void clear_v(const struct kv_view &kv, int unit, unsigned written)
{
    int chunks = (int)(kv.head_dim * kv_elem(kv.dtype) / sizeof(uint4));
    uint4 *v = (uint4 *)kv_unit_v(kv, unit);
    for (int c = threadIdx.x; c < KV_PAGE_TOKENS * chunks; c += blockDim.x)
        if (!(written >> c / chunks & 1))
            v[c] = make_uint4(0, 0, 0, 0);
}

static __global__ void append_kernel(struct append_args a)
{
    __shared__ int next;
    const struct kv_view &kv = a.kv;
    int r = blockIdx.x, h = blockIdx.y, i = threadIdx.x, d = kv.head_dim, seq = a.rows.seq[r];
    if (seq < 0)
        return;
    size_t head = kv_head(kv, seq, a.layer, h), at = (size_t)r * a.stride + (size_t)h * d + i;
    float k = i < d ? a.k[at] : 0, v = i < d ? a.v[at] : 0;
    if (i < WARP) {
        int slot = next_slot(kv, head);
        if (i == 0)
            next = slot;
    }
    __syncthreads();
    int slot = next, t = slot % KV_PAGE_TOKENS;
    size_t page = head * (size_t)kv.max_pages + (size_t)(slot / KV_PAGE_TOKENS);
    int unit = kv.unit[page];
    unsigned live = kv.live[page];
    if (i < d) {
        struct bounds b = bounds_of(kv, unit, i, live == 0);
        put(kv, unit, t, i, k, v, &b);
        bounds_put(kv, unit, i, b);
    }
    if (live == 0)
        clear_v(kv, unit, 1u << t);
    __syncthreads(); /* everyone has read the tables */
    if (i == 0) {
        kv.live[page] = (uint16_t)(live | 1u << t);
        kv.n_live[head] += !(live >> t & 1);
        if (kv.n_slots[head] <= slot)
            kv.n_slots[head] = slot + 1;
        kv.tail[head] = slot;
    }
}

/* Is row r the first of its page? */
static __device__ bool opens_page(const struct rows &rows, int r)
{
    if (rows.seq[r] < 0)
        return false;
    for (int before = r - 1; before >= 0; before--)
        if (rows.seq[before] >= 0)
            return rows.pos[before] / KV_PAGE_TOKENS != rows.pos[r] / KV_PAGE_TOKENS;
    return true;
}

/* The rows of the page that row r opens. */
static __device__ void append_page(const struct append_args &a, int r, int h)
{
    const struct kv_view &kv = a.kv;
    int i = threadIdx.x, d = kv.head_dim, page = a.rows.pos[r] / KV_PAGE_TOKENS, slot = 0;
    size_t head = kv_head(kv, a.rows.seq[r], a.layer, h), entry = head * (size_t)kv.max_pages + (size_t)page;
    int unit = kv.unit[entry];
    unsigned live = kv.live[entry], tokens = 0;
    struct bounds b = {0, 0, true};
    if (i < d)
        b = bounds_of(kv, unit, i, live == 0);
    for (; r < a.rows.cap; r++) {
        if (a.rows.seq[r] < 0)
            continue;
        if (a.rows.pos[r] / KV_PAGE_TOKENS != page)
            break;
        slot = a.rows.pos[r];
        tokens |= 1u << slot % KV_PAGE_TOKENS;
        size_t at = (size_t)r * a.stride + (size_t)h * d + i;
        if (i < d)
            put(kv, unit, slot % KV_PAGE_TOKENS, i, a.k[at], a.v[at], &b);
    }
    if (i < d)
        bounds_put(kv, unit, i, b);
    if (live == 0)
        clear_v(kv, unit, tokens);
    __syncthreads(); /* everyone has read live */
    if (i == 0) {
        kv.live[entry] = (uint16_t)(live | tokens);
        atomicAdd(&kv.n_live[head], __popc(tokens & ~live));
        atomicMax(&kv.n_slots[head], slot + 1);
        if (r == a.rows.cap)
            kv.tail[head] = slot;
    }
}

static __global__ void append_prompt_kernel(struct append_args a)
{
    int from = blockIdx.x * KV_PAGE_TOKENS, to = min(from + KV_PAGE_TOKENS, a.rows.cap);
    for (int r = from; r < to; r++)
        if (opens_page(a.rows, r))
            append_page(a, r, blockIdx.y);
}

int cuda_op_append(struct device *d, const struct append_args *a)
{
    int threads = (a->kv.head_dim + WARP - 1) / WARP * WARP;
    if (a->rows.cap < 1)
        return 0;
    if (a->prefill)
        append_prompt_kernel<<<dim3(pages_of(a->rows.cap), a->kv.n_kv), threads, 0, d->stream>>>(*a);
    else
        append_kernel<<<dim3(a->rows.cap, a->kv.n_kv), threads, 0, d->stream>>>(*a);
    return cuda_launched(d, OP_append);
}

/* A block a unit. */
static __global__ void copy_units_kernel(struct copy_units_args a)
{
    const struct kv_view &kv = a.kv;
    int src = a.src[blockIdx.x], dst = a.dst[blockIdx.x];
    if (src == dst)
        return;
    const uint4 *from = (const uint4 *)kv_unit_k(kv, src);
    uint4 *to = (uint4 *)kv_unit_k(kv, dst);
    int chunks = (int)(kv_unit_bytes(kv.dtype, kv.head_dim) / sizeof(uint4));
    for (int c = threadIdx.x; c < chunks; c += blockDim.x)
        to[c] = from[c];
    for (int i = threadIdx.x; kv.bounds && i < 2 * kv.head_dim; i += blockDim.x)
        kv.bounds[(size_t)dst * 2 * (size_t)kv.head_dim + (size_t)i] =
            kv.bounds[(size_t)src * 2 * (size_t)kv.head_dim + (size_t)i];
}

int cuda_op_copy_units(struct device *d, const struct copy_units_args *a)
{
    if (a->n < 1)
        return 0;
    copy_units_kernel<<<a->n, 256, 0, d->stream>>>(*a);
    return cuda_launched(d, OP_copy_units);
}
