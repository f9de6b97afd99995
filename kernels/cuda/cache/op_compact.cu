/* Forgetting all tokens but some. At the end of a sparse prefill (DMS), tokens that the last query no longer
 * sees are dropped, the others move down to the first slots, and the rings of the last `reach` tokens are
 * filled; `keep` keeps those of a list. A block does one KV head of one layer. It holds as many tokens as its
 * registers have room for, and all of it has read them before it writes. Tokens only move to lower slots and
 * keep their order, so they overwrite only themselves and tokens that have been read before. */
#include "kernels/cuda/device/cuda.cuh"
#include "kernels/cuda/device/kv.cuh"
#include "kernels/cuda/device/math.cuh"
#include "kernels/cuda/device/ptx.cuh"

enum {
    THREADS = 512,
    WARPS = THREADS / WARP,
    CHUNK = sizeof(uint4),
    HOLD = 2 * WARP * BACKEND_MAX_HEAD_DIM * 4 / CHUNK / THREADS /* chunks of K and V of 32 tokens a thread */
};

/* One head's place in the tables. */
struct place {
    const int32_t *unit;
    uint16_t *live;
    int chunks; /* of K, and of V, of a token */
};

/* Chunk c of a slot: of K, then of V. */
static __device__ uint4 *chunk_at(const struct kv_view &kv, const struct place &at, int slot, int c)
{
    int unit = at.unit[slot / KV_PAGE_TOKENS], size = (int)kv_elem(kv.dtype), half = c >= at.chunks;
    char *k_or_v = half ? kv_unit_v(kv, unit) : kv_unit_k(kv, unit);
    int i = kv_place(kv, slot % KV_PAGE_TOKENS, (c - half * at.chunks) * (CHUNK / size));
    return (uint4 *)(k_or_v + (size_t)i * size);
}

/* The tokens that stay, in shared memory: a bit for each slot, 32 a word, and how many stay before each word.
 */
struct staying {
    unsigned *bits;
    int *before, words;
};

__host__ __device__ static inline int words_of(int slots)
{
    return (slots + WARP - 1) / WARP;
}

static __device__ struct staying staying_in(unsigned *room, int words)
{
    struct staying s = {room, (int *)(room + words), words};
    return s;
}

static size_t staying_bytes(int words)
{
    return 2 * (size_t)words * sizeof(unsigned);
}

static __device__ int stays(const struct staying &s, int slot)
{
    return s.bits[slot / WARP] >> slot % WARP & 1;
}

/* Where a slot that stays goes. */
static __device__ int target(const struct staying &s, int slot)
{
    return s.before[slot / WARP] + __popc(s.bits[slot / WARP] & ((1u << slot % WARP) - 1));
}

static __device__ bool moves(const struct staying &s, int slot)
{
    return stays(s, slot) && target(s, slot) != slot;
}

/* Fills in `before` and returns how many stay; by the whole block, which has written the bits. */
static __device__ int count_before(const struct staying &s)
{
    __shared__ int room[WARPS];
    int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, all = 0;
    for (int first = 0; first < s.words; first += THREADS) {
        int w = first + (int)threadIdx.x;
        __syncthreads(); /* bits are there, and room is free */
        int own = w < s.words ? __popc(s.bits[w]) : 0, upto = sum_before(own);
        if (lane == WARP - 1)
            room[warp] = upto;
        __syncthreads();
        int lower = all + upto - own;
        for (int i = 0; i < WARPS; i++) {
            lower += i < warp ? room[i] : 0;
            all += room[i];
        }
        if (w < s.words)
            s.before[w] = lower;
    }
    __syncthreads();
    return all;
}

/* Of `n` slots from t0 on, those that stay move down. */
static __device__ void move_slots(const struct kv_view &kv, const struct place &at, const struct staying &s,
                                  int t0, int n)
{
    uint4 held[HOLD];
    int per = 2 * at.chunks;
#pragma unroll
    for (int j = 0; j < HOLD; j++) {
        int c = threadIdx.x + j * THREADS, i = c / per;
        if (i < n && moves(s, t0 + i))
            held[j] = *chunk_at(kv, at, t0 + i, c % per);
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < HOLD; j++) {
        int c = threadIdx.x + j * THREADS, i = c / per;
        if (i < n && moves(s, t0 + i))
            *chunk_at(kv, at, target(s, t0 + i), c % per) = held[j];
    }
}

/* Slots that a block moves at once. */
static __device__ int slots_at_once(const struct place &at)
{
    return min(HOLD * THREADS / (2 * at.chunks), THREADS) / WARP * WARP;
}

/* Bits and bounds of the head's pages, of which n slots are live now. */
static __device__ void rebuild_pages(const struct kv_view &kv, const struct place &at, int pages, int n)
{
    for (int p = threadIdx.x; p < pages; p += THREADS) {
        int left = n - p * KV_PAGE_TOKENS;
        at.live[p] = left >= KV_PAGE_TOKENS ? 0xffff : left > 0 ? (uint16_t)((1u << left) - 1) : 0;
    }
    for (int x = threadIdx.x; kv.bounds && x < pages_of(n) * kv.head_dim; x += THREADS) {
        int p = x / kv.head_dim, i = x % kv.head_dim, unit = at.unit[p];
        const char *keys = kv_unit_k(kv, unit);
        float low = kv_get(kv, keys, 0, i), high = low;
        for (int t = 1; t < KV_PAGE_TOKENS && t < n - p * KV_PAGE_TOKENS; t++) {
            float k = kv_get(kv, keys, t, i);
            low = k < low ? k : low;
            high = k > high ? k : high;
        }
        put_as(kv.bounds, kv.dtype, bounds_place(kv, unit, i), low);
        put_as(kv.bounds, kv.dtype, bounds_place(kv, unit, kv.head_dim + i), high);
    }
}

/* The head's first n slots are live now, and no others; all moves have been made by the whole block. */
static __device__ void first_slots(const struct kv_view &kv, const struct place &at, size_t head, int n)
{
    int pages = pages_of(kv.n_slots[head]);
    __syncthreads();
    rebuild_pages(kv, at, pages, n);
    if (threadIdx.x == 0) {
        kv.n_slots[head] = kv.n_live[head] = n;
        kv.tail[head] = n - 1;
    }
}

static __global__ void __launch_bounds__(THREADS) compact_kernel(struct compact_args a)
{
    const struct kv_view &kv = a.kv;
    extern __shared__ unsigned compact_room[];
    int h = blockIdx.x, layer = blockIdx.y, lane = threadIdx.x % WARP;
    size_t head = kv_head(kv, a.seq, layer, h), list = (size_t)layer * kv.n_kv + h;
    const int32_t *until = a.until + list * (size_t)a.until_stride;
    int32_t *ring_slot = a.ring_slot + list * (size_t)a.reach,
            *ring_flag = a.ring_flag + list * (size_t)a.reach;
    struct place at = {kv.unit + head * (size_t)kv.max_pages, kv.live + head * (size_t)kv.max_pages,
                       (int)(kv.head_dim * kv_elem(kv.dtype) / CHUNK)};
    struct staying s = staying_in(compact_room, words_of(a.n));
    for (int w = threadIdx.x / WARP; w < s.words; w += WARPS) {
        int t = w * WARP + lane;
        bool sees = t < a.n && until[t] >= a.n - 1 && at.live[t / KV_PAGE_TOKENS] >> t % KV_PAGE_TOKENS & 1;
        unsigned seen = __ballot_sync(~0u, sees);
        if (lane == 0)
            s.bits[w] = seen;
    }
    int n = count_before(s), step = slots_at_once(at);
    for (int t = max(a.n - a.reach, 0) + (int)threadIdx.x; t < a.n; t += THREADS) {
        ring_slot[t % a.reach] = stays(s, t) ? target(s, t) : -1;
        ring_flag[t % a.reach] = until[t] != INT32_MAX;
    }
    for (int t0 = 0; t0 < a.n; t0 += step)
        move_slots(kv, at, s, t0, min(step, a.n - t0));
    first_slots(kv, at, head, n);
}

int cuda_op_compact(struct device *d, const struct compact_args *a)
{
    return cuda_launch(d, OP_compact, compact_kernel, dim3(a->kv.n_kv, a->kv.n_layers), THREADS,
                       staying_bytes(words_of(a->n)), 1, 0, *a);
}

/* ---- keep */

/* Clears the bits of all slots that are not kept. */
static __device__ void clear_others(const struct kv_view &kv, const struct place &at, size_t head,
                                    const unsigned *bits)
{
    __shared__ int room[WARP];
    int n = 0;
    for (int p = threadIdx.x; p < pages_of(kv.n_slots[head]); p += THREADS) {
        unsigned kept = at.live[p] & (bits[p / 2] >> p % 2 * KV_PAGE_TOKENS);
        at.live[p] = (uint16_t)kept;
        n += __popc(kept & 0xffff);
    }
    n = block_sum(n, room);
    if (threadIdx.x == 0)
        kv.n_live[head] = n;
}

/* Of `n` slots from t0 on, at most a thread each, those that stay move down in the tables of the state. */
static __device__ void carry_slots(const struct keep_args &a, const struct staying &s, int seq, int h, int t0,
                                   int n)
{
    const struct kv_view &kv = a.kv;
    size_t slots = (size_t)kv.max_pages * KV_PAGE_TOKENS, heads = (size_t)kv.n_layers * kv.n_kv;
    int32_t *table =
        (int32_t *)(a.state + (size_t)seq * a.state_bytes) + ((size_t)a.layer * kv.n_kv + h) * slots;
    int t = t0 + (int)threadIdx.x;
    bool goes = (int)threadIdx.x < n && moves(s, t);
    for (int c = 0; c < a.carry; c++, table += heads * slots) {
        int32_t x = goes ? table[t] : 0;
        __syncthreads();
        if (goes)
            table[target(s, t)] = x;
    }
}

/* s: the slots to keep; of these the live ones stay. */
static __device__ void squeeze(const struct keep_args &a, const struct place &at, size_t head,
                               const struct staying &s, int seq, int h)
{
    const struct kv_view &kv = a.kv;
    int slots = s.words * WARP, step = slots_at_once(at);
    for (int w = threadIdx.x; w < s.words; w += THREADS) {
        unsigned live = at.live[2 * w];
        if (2 * w + 1 < kv.max_pages)
            live |= (unsigned)at.live[2 * w + 1] << KV_PAGE_TOKENS;
        s.bits[w] &= live;
    }
    int n = count_before(s);
    for (int t0 = 0; t0 < slots; t0 += step) {
        move_slots(kv, at, s, t0, min(step, slots - t0));
        carry_slots(a, s, seq, h, t0, min(step, slots - t0));
    }
    first_slots(kv, at, head, n);
}

/* The slots that a list names, as bits: of `words` words, which the tables reach. */
static __device__ void mark(unsigned *bits, int words, const int32_t *list, int len)
{
    for (int i = threadIdx.x; i < len; i += THREADS) {
        int slot = list[i];
        if (slot < words * WARP)
            atomicOr(bits + slot / WARP, 1u << slot % WARP);
    }
}

/* Grid (rows, KV heads). A list for all heads may reach beyond the slots of this one: bits of such slots are
 * not looked at. */
static __global__ void __launch_bounds__(THREADS) keep_kernel(struct keep_args a)
{
    extern __shared__ unsigned keep_room[];
    const struct kv_view &kv = a.kv;
    int r = blockIdx.x, h = blockIdx.y, words = words_of(kv.max_pages * KV_PAGE_TOKENS);
    size_t list = (size_t)r * a.n_rows + (a.n_rows == 1 ? 0 : h);
    struct staying s = staying_in(keep_room, words);
    for (int i = threadIdx.x; i < words; i += THREADS)
        s.bits[i] = 0;
    wait_for_inputs();
    let_next_begin();
    int seq = a.rows.seq[r], len = a.len[list];
    __syncthreads(); /* also so that both are asked for at once: see topk_kernel */
    if (seq < 0 || len < 0)
        return;
    size_t head = kv_head(kv, seq, a.layer, h);
    int slots = kv.n_slots[head];
    mark(s.bits, words, a.idx + list * (size_t)a.cap, len);
    __syncthreads();
    struct place at = {kv.unit + head * (size_t)kv.max_pages, kv.live + head * (size_t)kv.max_pages,
                       (int)(kv.head_dim * kv_elem(kv.dtype) / CHUNK)};
    s.words = words_of(slots);
    if (a.squeeze)
        squeeze(a, at, head, s, seq, h);
    else
        clear_others(kv, at, head, s.bits);
}

int cuda_op_keep(struct device *d, const struct keep_args *a)
{
    size_t bytes = staying_bytes(words_of(a->kv.max_pages * KV_PAGE_TOKENS));
    if (a->rows.cap < 1)
        return 0;
    return cuda_launch_early(d, OP_keep, keep_kernel, dim3(a->rows.cap, a->kv.n_kv), THREADS, bytes, 1, *a);
}
