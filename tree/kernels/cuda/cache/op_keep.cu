/* Forgetting all tokens but those of a list (policies that forget by scores). */
#include "kernels/cuda/cache/squeeze.cuh"

/* KV heads of a row: of one layer, or of as many as there are lists for. They follow each other in the
 * tables, and layers too. */
__host__ __device__ static inline int heads_of(const struct keep_args &a)
{
    return a.n_rows == 1 ? a.kv.n_kv : a.n_rows;
}

/* A list and the head that it is for. */
struct kept {
    const int32_t *idx;
    int len, seq;
    size_t head, of_seq; /* among all, and among those of a sequence */
};

static __device__ size_t list_of(const struct keep_args &a, int head)
{
    return a.n_rows == 1 ? head / a.kv.n_kv : head;
}

static __device__ bool list_acts(const struct keep_args &a, int head)
{
    int seq = a.rows.seq[head / heads_of(a)];
    return a.len[list_of(a, head)] >= 0 && seq >= 0;
}

static __device__ struct kept kept_of(const struct keep_args &a, int head)
{
    int h = head % heads_of(a), seq = a.rows.seq[head / heads_of(a)];
    size_t list = list_of(a, head);
    return {a.idx + list * (size_t)a.cap, a.len[list], seq, kv_head(a.kv, seq, a.layer, h),
            kv_head(a.kv, 0, a.layer, h)};
}

/* Sets the bits of ascending slots, INT32_MAX for none; by a whole warp. Lanes that share the first's word or
 * the last's, in a dense list all of them, set their bits together. */
static __device__ void set_bits(unsigned *bits, int words, int slot)
{
    int word = slot / WARP, lane = threadIdx.x % WARP;
    int low = __shfl_sync(~0u, word, 0), high = __shfl_sync(~0u, word, WARP - 1);
    unsigned own = word < words ? 1u << slot % WARP : 0;
    unsigned of_low = __reduce_or_sync(~0u, word == low ? own : 0),
             of_high = __reduce_or_sync(~0u, word == high ? own : 0);
    unsigned set = lane == 0 ? of_low : lane == WARP - 1 ? of_high : word != low && word != high ? own : 0;
    if (set)
        atomicOr(bits + word, set);
}

/* The bits of the list's slots, of `words` words, by the whole block. A list for all heads may reach beyond
 * the slots of this one. */
static __device__ void mark_kept(unsigned *bits, int words, const struct kept &k)
{
    enum { AT_ONCE = 4 };
    for (int i = threadIdx.x; i < words; i += THREADS)
        bits[i] = 0;
    for (int first = 0; first < k.len; first += AT_ONCE * THREADS) {
        int slot[AT_ONCE];
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++) { /* all at once: one wait for memory */
            int i = first + j * THREADS + (int)threadIdx.x;
            slot[j] = i < k.len ? k.idx[i] : INT32_MAX;
        }
        if (first == 0)
            __syncthreads();
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++)
            set_bits(bits, words, slot[j]);
    }
    __syncthreads();
}

/* ---- tokens stay where they are */

/* A block a head. */
static __global__ void __launch_bounds__(THREADS) clear_kernel(struct keep_args a)
{
    extern __shared__ unsigned clear_bits[];
    __shared__ int smem[WARP];
    const struct kv_view &kv = a.kv;
    int head = blockIdx.x, n = 0;
    pdl_wait();
    pdl_trigger();
    if (!list_acts(a, head))
        return;
    struct kept k = kept_of(a, head);
    uint16_t *live = kv.live + k.head * (size_t)kv.max_pages;
    int slots = kv.n_slots[k.head];
    mark_kept(clear_bits, words_of(slots), k);
    for (int p = threadIdx.x; p < pages_of(slots); p += THREADS) {
        unsigned left = live[p] & (clear_bits[p / 2] >> p % 2 * KV_PAGE_TOKENS);
        live[p] = (uint16_t)left;
        n += __popc(left & 0xffff);
    }
    n = block_sum(n, smem);
    if (threadIdx.x == 0)
        kv.n_live[k.head] = n;
}

/* ---- tokens move down */

/* The values of a round's slots in the tables of the state move down; by the whole block. */
static __device__ void carry_round(const struct keep_args &a, const struct kept &k, const struct moves &m)
{
    const struct kv_view &kv = a.kv;
    size_t slots = (size_t)kv.max_pages * KV_PAGE_TOKENS, heads = (size_t)kv.n_layers * kv.n_kv;
    int32_t *table = (int32_t *)(a.state + (size_t)k.seq * a.state_bytes) + k.of_seq * slots;
    for (int c = 0; c < a.carry; c++, table += heads * slots) {
        int x[HOLD];
#pragma unroll
        for (int j = 0; j < HOLD; j++)
            x[j] = does_once() && token_goes(m, j) ? table[m.first + j * BESIDE] : 0;
        __syncthreads();
#pragma unroll
        for (int j = 0; j < HOLD; j++)
            if (does_once() && token_goes(m, j))
                table[m.to[j]] = x[j];
    }
}

static __device__ unsigned live_bits(const struct kv_view &kv, size_t head, int word)
{
    const uint16_t *live = kv.live + head * (size_t)kv.max_pages;
    unsigned bits = live[2 * word];
    return 2 * word + 1 < kv.max_pages ? bits | (unsigned)live[2 * word + 1] << KV_PAGE_TOKENS : bits;
}

static __device__ void squeeze_head(const struct keep_args &a, int head, unsigned *bits, int part, int parts,
                                    int *arrived)
{
    const struct kv_view &kv = a.kv;
    struct kept k = kept_of(a, head);
    int words = words_of(kv.n_slots[k.head]), own = threadIdx.x;
    unsigned live = own < words ? live_bits(kv, k.head, own) : 0; /* while the list is on its way */
    mark_kept(bits, words, k);
    if (own < words)
        bits[own] &= live;
    for (int w = own + THREADS; w < words; w += THREADS)
        bits[w] &= live_bits(kv, k.head, w);
    __syncthreads();
    squeeze_part(kv, k.head, bits, words, part, parts, arrived, head,
                 [&](const struct moves &m) { carry_round(a, k, m); });
}

static __global__ void __launch_bounds__(THREADS) squeeze_kernel(struct keep_args a, int parts, int *arrived)
{
    extern __shared__ unsigned squeeze_bits[];
    pdl_wait();
    pdl_trigger();
    share_items<THREADS>(
        a.rows.cap * heads_of(a), [&](int head) { return list_acts(a, head) ? 1 : 0; }, [](int, int) {},
        [&](int n) { return n * parts; },
        [&](int head, int, int part) { squeeze_head(a, head, squeeze_bits, part, parts, arrived); });
}

int cuda_op_keep(struct device *d, const struct keep_args *a)
{
    const struct kv_view *kv = &a->kv;
    int heads = a->rows.cap * heads_of(*a), parts = parts_of_head(kv, heads);
    size_t bytes = words_of(kv->max_pages * KV_PAGE_TOKENS) * sizeof(unsigned);
    if (heads < 1)
        return 0;
    if (!a->squeeze)
        return cuda_launch_pdl(d, OP_keep, clear_kernel, heads, THREADS, bytes, 1, *a);
    return cuda_launch_pdl(d, OP_keep, squeeze_kernel, dim3(min(heads * parts, d->n_sm)), THREADS, bytes, 1,
                           *a, parts, d->counters);
}
