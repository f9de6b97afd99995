/* The end of a sparse prefill (DMS): tokens that the last query no longer sees are dropped, the others move
 * down to the first slots, and the rings of the last `reach` tokens are filled. A block does one KV head of
 * one layer. Tokens move in tiles of a warp's width, which are held in registers until the whole block has
 * read its tile. Tokens only move to lower slots and keep their order, so a tile overwrites only itself and
 * tokens that have been read before. */
#include "kernels/cuda/device/cuda.cuh"
#include "kernels/cuda/device/kv.cuh"
#include "kernels/cuda/device/math.cuh"

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
    int pages = pages_of(kv.n_slots[head]);
    __syncthreads();
    rebuild_pages(kv, at, pages, to);
    if (threadIdx.x == 0) {
        kv.n_slots[head] = kv.n_live[head] = to;
        kv.tail[head] = to - 1;
    }
}

int cuda_op_compact(struct device *d, const struct compact_args *a)
{
    compact_kernel<<<dim3(a->kv.n_kv, a->kv.n_layers), THREADS, 0, d->stream>>>(*a);
    return cuda_launched(d, OP_compact);
}
