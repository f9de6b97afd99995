#ifndef KERNELS_CUDA_FORGET_SQUEEZE_CUH
#define KERNELS_CUDA_FORGET_SQUEEZE_CUH

/* Moving the tokens of a KV head that stay to its first slots, in their order.
 *
 * Blocks share a head by channels: each moves a slice of all tokens, 32 bytes of K or of V, which is what
 * memory hands out at once. Slices have no bytes in common, so blocks do not wait for each other. What all of
 * them read, the tables of the head, is changed by the block that is the last to have moved its slice. Within
 * a slice tokens only move to lower slots, and keep their order: they overwrite only themselves and tokens
 * that have been read before. */
#include "kernels/cuda/device/cuda.cuh"
#include "kernels/cuda/device/kv.cuh"
#include "kernels/cuda/device/math.cuh"
#include "kernels/cuda/device/share.cuh"

enum {
    THREADS = 512,
    WARPS = THREADS / WARP,
    CHUNK = sizeof(uint4),
    SLICE = 2,                /* chunks; a row of K or V has an even number */
    BESIDE = THREADS / SLICE, /* slots side by side: SLICE threads have one, a warp 16 of one page */
    HOLD = 8,                 /* slots that a thread has read before it writes */
    ROUND = HOLD * BESIDE,    /* those of the block */
    ROUND_WORDS = ROUND / WARP
};
static_assert(BESIDE % WARP == 0 && ROUND_WORDS % WARP == 0,
              "the slots of a warp have their bits in one word");

/* One head's place in the tables. */
struct place {
    uint4 *pool;
    const int32_t *block_table;
    uint16_t *live;
    int chunks, turn; /* of K, and of V, of a token; bits of the token by which chunks are turned (kv.cuh) */
};

/* Returns the place of a head. */
static __device__ struct place place_of(const struct kv_view &kv, size_t head)
{
    int chunks = (int)(kv.head_dim * kv_elem(kv.dtype) / CHUNK);
    return {(uint4 *)kv.pool, kv.block_table + head * (size_t)kv.max_pages,
            kv.live + head * (size_t)kv.max_pages, chunks, chunks % 8 ? 0 : 7};
}

/* Returns the number of slices of a head, those of K and of V. */
__host__ __device__ static inline int slices_of(const struct kv_view &kv)
{
    return (int)(2 * kv.head_dim * kv_elem(kv.dtype) / (SLICE * CHUNK));
}

/* Returns the address of chunk c of a slot in a KV block; chunks count through K, then through V. */
static __device__ uint4 *chunk_at(const struct place &at, int kv_block, int slot, int c)
{
    int t = slot % KV_PAGE_TOKENS, v = c >= at.chunks;
    size_t row = ((size_t)kv_block * 2 + v) * KV_PAGE_TOKENS + t;
    return at.pool + row * at.chunks + ((c - v * at.chunks) ^ (t & at.turn));
}

/* Returns the number of words of 32 slots' bits. */
__host__ __device__ static inline int words_of(int slots)
{
    return (slots + WARP - 1) / WARP;
}

/* Prefix counts of the tokens that stay, before each word of a round (two words a lane of every warp) and up
 * to its end. */
struct counts {
    int before[ROUND_WORDS / WARP], all;
};

/* Counts the round whose first word is `first`; `earlier` tokens of earlier rounds stay. */
static __device__ struct counts count_kept(const unsigned *bits, int words, int first, int earlier)
{
    struct counts c = {};
    c.all = earlier;
#pragma unroll
    for (int i = 0; i < ROUND_WORDS / WARP; i++) {
        int w = first + i * WARP + (int)threadIdx.x % WARP, own = w < words ? __popc(bits[w]) : 0;
        int upto = sum_before(own);
        c.before[i] = c.all + upto - own;
        c.all += __shfl_sync(~0u, upto, WARP - 1);
    }
    return c;
}

/* The slots of a round that a thread has, BESIDE apart, and where each goes: to itself where it stays in
 * place, and to -1 where it does not stay. */
struct moves {
    int first, to[HOLD];
};

/* Returns true if the thread's j-th slot moves to another one. */
static __device__ bool token_goes(const struct moves &m, int j)
{
    return m.to[j] >= 0 && m.to[j] != m.first + j * BESIDE;
}

/* Returns true for the first of the threads that share a slot: it does what the slot needs once. */
static __device__ bool does_once(void)
{
    return threadIdx.x % SLICE == 0;
}

/* Returns the moves of a thread in the round whose first word is first_word. */
static __device__ struct moves moves_of(const unsigned *bits, int words, int first_word,
                                        const struct counts &c)
{
    struct moves m;
    int i = (int)threadIdx.x / SLICE, bit = i % WARP;
    m.first = first_word * WARP + i;
#pragma unroll
    for (int j = 0; j < HOLD; j++) {
        int w = j * (BESIDE / WARP) + i / WARP;
        int before = __shfl_sync(~0u, c.before[w / WARP], w % WARP);
        unsigned own = first_word + w < words ? bits[first_word + w] : 0;
        m.to[j] = own >> bit & 1 ? before + __popc(own & ((1u << bit) - 1)) : -1;
    }
    return m;
}

/* Moves a slice of the slots whose bits are set in `words` words, and calls also(moves) before it moves those
 * of a round. By the whole block, which sees the bits. Returns how many tokens stay. */
template <class Also>
static __device__ int move_slice(const struct place &at, const unsigned *bits, int words, int slice,
                                 Also also)
{
    int stay = 0, c = slice * SLICE + (int)threadIdx.x % SLICE;
    for (int first = 0; first < words; first += ROUND_WORDS) {
        struct counts counts = count_kept(bits, words, first, stay);
        struct moves m = moves_of(bits, words, first, counts);
        int from[HOLD], to[HOLD]; /* KV blocks */
        uint4 held[HOLD];
        also(m);
#pragma unroll
        for (int j = 0; j < HOLD; j++) { /* all at once: one wait for memory */
            from[j] = token_goes(m, j) ? at.block_table[(m.first + j * BESIDE) / KV_PAGE_TOKENS] : 0;
            to[j] = token_goes(m, j) ? at.block_table[m.to[j] / KV_PAGE_TOKENS] : 0;
        }
#pragma unroll
        for (int j = 0; j < HOLD; j++)
            if (token_goes(m, j))
                held[j] = *chunk_at(at, from[j], m.first + j * BESIDE, c);
        __syncthreads();
#pragma unroll
        for (int j = 0; j < HOLD; j++)
            if (token_goes(m, j))
                *chunk_at(at, to[j], m.to[j], c) = held[j];
        stay = counts.all;
    }
    return stay;
}

/* Writes a slice's bounds of the pages of the first n slots, where it is one of K; the block has moved its
 * tokens. */
static __device__ void bound_slice(const struct kv_view &kv, const struct place &at, int slice, int n)
{
    int wide = SLICE * CHUNK / (int)kv_elem(kv.dtype), first = slice * wide;
    for (int x = threadIdx.x; first < kv.head_dim && x < pages_of(n) * wide; x += THREADS) {
        int p = x / wide, i = first + x % wide, kv_block = at.block_table[p];
        const char *keys = kv_block_k(kv, kv_block);
        float low = kv_get(kv, keys, 0, i), high = low;
        for (int t = 1; t < KV_PAGE_TOKENS && t < n - p * KV_PAGE_TOKENS; t++) {
            float k = kv_get(kv, keys, t, i);
            low = k < low ? k : low;
            high = k > high ? k : high;
        }
        put_as(kv.bounds, kv.dtype, bounds_place(kv, kv_block, i), low);
        put_as(kv.bounds, kv.dtype, bounds_place(kv, kv_block, kv.head_dim + i), high);
    }
}

/* Writes the tables of a head: the first n slots of its `words` words of slots are live, and no others. */
static __device__ void first_slots(const struct kv_view &kv, const struct place &at, size_t head, int words,
                                   int n)
{
    int pages = min(words * (WARP / KV_PAGE_TOKENS), kv.max_pages);
    for (int p = threadIdx.x; p < pages; p += THREADS) {
        int left = n - p * KV_PAGE_TOKENS;
        at.live[p] = left >= KV_PAGE_TOKENS ? 0xffff : left > 0 ? (uint16_t)((1u << left) - 1) : 0;
    }
    if (threadIdx.x == 0) {
        kv.n_slots[head] = kv.n_live[head] = n;
        kv.tail[head] = n - 1;
    }
}

/* Slices part, part + parts and so on of a head are moved, and by the last of the `parts` blocks to come to
 * the end its tables are made. arrived, by head: see last_to_come. also: as move_slice has it, called for one
 * slice of the head. */
template <class Also>
static __device__ void squeeze_part(const struct kv_view &kv, size_t head, const unsigned *bits, int words,
                                    int part, int parts, int *arrived, size_t which, Also also)
{
    struct place at = place_of(kv, head);
    int n = 0;
    for (int slice = part; slice < slices_of(kv); slice += parts) {
        n = move_slice(at, bits, words, slice, [&](const struct moves &m) {
            if (slice == 0)
                also(m);
        });
        __syncthreads();
        if (kv.bounds)
            bound_slice(kv, at, slice, n);
    }
    if (last_to_come(arrived, which, parts))
        first_slots(kv, at, head, words, n);
}

/* Returns the number of thread blocks that share a head, when a launch has `heads` heads: one where there are
 * more heads than counters. */
static inline int parts_of_head(const struct kv_view *kv, int heads)
{
    return heads > CUDA_COUNTERS ? 1 : slices_of(*kv);
}

#endif
