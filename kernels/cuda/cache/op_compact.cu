/* Forgetting all tokens but some. At the end of a sparse prefill (DMS), tokens that the last query no longer
 * sees are dropped, the others move down to the first slots, and the rings of the last `reach` tokens are
 * filled; `keep` keeps those of a list. A block does one KV head of one layer. Tokens move in tiles of a
 * warp's width, which are held in registers until the whole block has read its tile. Tokens only move to
 * lower slots and keep their order, so a tile overwrites only itself and tokens that have been read before.
 */
#include "kernels/cuda/device/cuda.cuh"
#include "kernels/cuda/device/kv.cuh"
#include "kernels/cuda/device/math.cuh"
#include "kernels/cuda/device/ptx.cuh"

enum {
    THREADS = 512,
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

/* Slot t0 + i of each bit i of `seen` moves down to slot `to` and up. */
static __device__ void move_tile(const struct kv_view &kv, const struct place &at, int t0, unsigned seen,
                                 int to)
{
    uint4 held[HOLD];
#pragma unroll
    for (int j = 0; j < HOLD; j++) {
        int c = threadIdx.x + j * THREADS, i = c / (2 * at.chunks);
        if (i < WARP && seen >> i & 1)
            held[j] = *chunk_at(kv, at, t0 + i, c % (2 * at.chunks));
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < HOLD; j++) {
        int c = threadIdx.x + j * THREADS, i = c / (2 * at.chunks);
        if (i < WARP && seen >> i & 1)
            *chunk_at(kv, at, to + __popc(seen & ((1u << i) - 1)), c % (2 * at.chunks)) = held[j];
    }
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
    int h = blockIdx.x, layer = blockIdx.y, lane = threadIdx.x % WARP, to = 0;
    size_t head = kv_head(kv, a.seq, layer, h), list = (size_t)layer * kv.n_kv + h;
    const int32_t *until = a.until + list * (size_t)a.until_stride;
    int32_t *ring_slot = a.ring_slot + list * (size_t)a.reach,
            *ring_flag = a.ring_flag + list * (size_t)a.reach;
    struct place at = {kv.unit + head * (size_t)kv.max_pages, kv.live + head * (size_t)kv.max_pages,
                       (int)(kv.head_dim * kv_elem(kv.dtype) / CHUNK)};
    for (int t0 = 0; t0 < a.n; t0 += WARP) { /* every warp finds the same */
        int t = t0 + lane, last = t < a.n ? until[t] : -1;
        bool sees = t < a.n && last >= a.n - 1 && at.live[t / KV_PAGE_TOKENS] >> t % KV_PAGE_TOKENS & 1;
        unsigned seen = __ballot_sync(~0u, sees);
        if (threadIdx.x < WARP && t < a.n && t >= a.n - a.reach) {
            ring_slot[t % a.reach] = sees ? to + __popc(seen & ((1u << lane) - 1)) : -1;
            ring_flag[t % a.reach] = last != INT32_MAX;
        }
        if (to != t0 || (seen & (seen + 1))) /* else all of them stay where they are */
            move_tile(kv, at, t0, seen, to);
        to += __popc(seen);
    }
    first_slots(kv, at, head, to);
}

int cuda_op_compact(struct device *d, const struct compact_args *a)
{
    compact_kernel<<<dim3(a->kv.n_kv, a->kv.n_layers), THREADS, 0, d->stream>>>(*a);
    return cuda_launched(d, OP_compact);
}

/* ---- keep */

/* A row's KV head: its place, the slots to keep as bits, 32 a word, and their number of words. */
struct keeping {
    struct place at;
    const unsigned *bits;
    int words;
    size_t head;
};

/* Clears the bits of all slots that are not kept. */
static __device__ void clear_others(const struct kv_view &kv, const struct keeping &k)
{
    __shared__ int room[WARP];
    int n = 0;
    for (int p = threadIdx.x; p < pages_of(kv.n_slots[k.head]); p += THREADS) {
        unsigned kept = k.at.live[p] & (k.bits[p / 2] >> p % 2 * KV_PAGE_TOKENS);
        k.at.live[p] = (uint16_t)kept;
        n += __popc(kept & 0xffff);
    }
    n = block_sum(n, room);
    if (threadIdx.x == 0)
        kv.n_live[k.head] = n;
}

/* The kept slots of 32 move down to slot `to` and up in the tables of the state; by one warp. */
static __device__ void carry_tile(const struct keep_args &a, int seq, int h, int t0, unsigned seen, int to)
{
    const struct kv_view &kv = a.kv;
    size_t slots = (size_t)kv.max_pages * KV_PAGE_TOKENS, heads = (size_t)kv.n_layers * kv.n_kv;
    int32_t *table =
        (int32_t *)(a.state + (size_t)seq * a.state_bytes) + ((size_t)a.layer * kv.n_kv + h) * slots;
    int lane = threadIdx.x;
    bool moves = seen >> lane & 1;
    for (int c = 0; c < a.carry; c++, table += heads * slots) {
        int32_t x = moves ? table[t0 + lane] : 0;
        __syncwarp();
        if (moves)
            table[to + __popc(seen & ((1u << lane) - 1))] = x;
        __syncwarp();
    }
}

static __device__ void squeeze(const struct keep_args &a, const struct keeping &k, int seq, int h)
{
    const struct kv_view &kv = a.kv;
    int to = 0;
    for (int w = 0; w < k.words; w++) { /* every warp finds the same */
        int t0 = w * WARP, page = w * 2;
        unsigned live = k.at.live[page];
        if (page + 1 < kv.max_pages)
            live |= (unsigned)k.at.live[page + 1] << KV_PAGE_TOKENS;
        unsigned seen = k.bits[w] & live;
        if (to != t0 || (seen & (seen + 1))) { /* else all of them stay where they are */
            move_tile(kv, k.at, t0, seen, to);
            if (threadIdx.x < WARP)
                carry_tile(a, seq, h, t0, seen, to);
        }
        to += __popc(seen);
    }
    first_slots(kv, k.at, k.head, to);
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
    extern __shared__ unsigned keep_bits[];
    const struct kv_view &kv = a.kv;
    int r = blockIdx.x, h = blockIdx.y, words = (kv.max_pages + 1) / 2;
    size_t list = (size_t)r * a.n_rows + (a.n_rows == 1 ? 0 : h);
    for (int i = threadIdx.x; i < words; i += THREADS)
        keep_bits[i] = 0;
    wait_for_inputs();
    let_next_begin();
    int seq = a.rows.seq[r], len = a.len[list];
    __syncthreads(); /* also so that both are asked for at once: see topk_kernel */
    if (seq < 0 || len < 0)
        return;
    size_t head = kv_head(kv, seq, a.layer, h);
    int slots = kv.n_slots[head];
    mark(keep_bits, words, a.idx + list * (size_t)a.cap, len);
    __syncthreads();
    struct keeping k = {{kv.unit + head * (size_t)kv.max_pages, kv.live + head * (size_t)kv.max_pages,
                         (int)(kv.head_dim * kv_elem(kv.dtype) / CHUNK)},
                        keep_bits,
                        (pages_of(slots) + 1) / 2,
                        head};
    if (a.squeeze)
        squeeze(a, k, seq, h);
    else
        clear_others(kv, k);
}

int cuda_op_keep(struct device *d, const struct keep_args *a)
{
    int bytes = (a->kv.max_pages + 1) / 2 * (int)sizeof(unsigned);
    if (a->rows.cap < 1)
        return 0;
    if (bytes > 32768) {
        cudaError_t e = cudaFuncSetAttribute(keep_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
        if (e != cudaSuccess)
            return cuda_check(d, e, "keep");
    }
    return cuda_launch_early(d, OP_keep, keep_kernel, dim3(a->rows.cap, a->kv.n_kv), THREADS, (size_t)bytes,
                             1, *a);
}
