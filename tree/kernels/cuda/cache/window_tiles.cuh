#ifndef KERNELS_CUDA_FORGET_WINDOW_TILES_CUH
#define KERNELS_CUDA_FORGET_WINDOW_TILES_CUH

/* Queries of a window as the first factor of products on tensor cores: tiles of 16 rows in shared memory,
 * each value split into three bf16, which makes products exact to about 2^-24. D: the head dimension, 64 or
 * 128. LARGEST: the group's largest logit counts (R-KV, arXiv 2505.24133), and a tile is one query of the
 * group's heads; else each query has its own softmax (SnapKV, arXiv 2404.14469), and a tile is 16 queries of
 * a head. */
#include "kernels/cuda/cache/key_pages.cuh"
#include "kernels/cuda/cache/window.cuh"

/* Tile shape: how the tiles of a block divide queries and heads. Two warps share a tile. */
enum { ROWS = 16, TILES = 8, SPLIT = 3 };
static_assert((int)BACKEND_MAX_GROUP <= ROWS, "a group has a tile");
template <bool LARGEST> struct tile_config {
    static const int HEADS = LARGEST ? 1 : 2;      /* of the group, at a time */
    static const int SETS = TILES / HEADS;         /* tiles of a head */
    static const int QUERIES = LARGEST ? 1 : ROWS; /* of a tile */
    static const int AT_A_TIME = SETS * QUERIES;   /* of a head */
};

/* In the order in which lanes need it: (D / 16, SPLIT, WARP) of 16 bytes. */
template <int D> struct query_tile {
    static const int STEP = SPLIT * WARP * 16, BYTES = D / 16 * STEP;
};

/* A tile's first query, and its head of the group. */
struct tile {
    int i0, g;
};

/* What a lane loads of a tile: rows lane / 4 and lane / 4 + 8, in half of the dimensions, 8 dimensions apart.
 */
template <int D> struct brought {
    float2 q[D / 32][4];
};

/* Returns what the lane loads of a tile; rows without a query are 0. */
template <int D, bool LARGEST>
static __device__ brought<D> bring_queries(const struct window_mass_args &a, const struct window &w,
                                           struct tile t, int half)
{
    int row = threadIdx.x % WARP / 4, at = half * (D / 2) + threadIdx.x % 4 * 2;
    struct brought<D> b;
#pragma unroll
    for (int x = 0; x < 4; x++) {
        int of = row + x % 2 * 8, i = LARGEST ? t.i0 : t.i0 + of, g = LARGEST ? of : t.g;
        bool there = i < a.n && g < w.group;
        const float *from = query_at(a, w, there ? i : 0, there ? g : 0) + at + x / 2 * 8;
#pragma unroll
        for (int k = 0; k < D / 32; k++)
            b.q[k][x] = there ? *(const float2 *)(from + k * 16) : make_float2(0, 0);
    }
    return b;
}

/* Writes half of a tile's dimensions to shared memory, split into bf16 parts as key_products() reads them. */
template <int D> static __device__ void put_half(struct brought<D> b, int half, char *tile)
{
    char *to = tile + half * (D / 32) * query_tile<D>::STEP + threadIdx.x % WARP * 16;
#pragma unroll
    for (int k = 0; k < D / 32; k++) {
#pragma unroll
        for (int part = 0; part < SPLIT; part++) {
            uint32_t r[4];
#pragma unroll
            for (int x = 0; x < 4; x++)
                r[x] = round_pair(b.q[k][x].x, b.q[k][x].y);
            *(uint4 *)(to + k * query_tile<D>::STEP + part * WARP * 16) = make_uint4(r[0], r[1], r[2], r[3]);
        }
    }
}

/* c[p]: products of a tile with the keys of N pages in shared memory. c[p][half]: rows lane / 4, + 8 (the
 * second pair) with keys 8 half + 2 (lane % 4), + 1. */
template <int D, int N>
static __device__ void key_products(const char *tile, uint32_t page, float (&c)[N][2][4])
{
    const char *from = tile + threadIdx.x % WARP * 16;
#pragma unroll
    for (int x = 0; x < N * 8; x++)
        c[x / 8][x / 4 % 2][x % 4] = 0;
#pragma unroll
    for (int k = 0; k < D / 16; k++) {
        uint32_t keys[N][4];
#pragma unroll
        for (int p = 0; p < N; p++)
            load_keys<D>(keys[p], page + p * key_page<D>::BYTES, k);
#pragma unroll
        for (int part = 0; part < SPLIT; part++) {
            uint4 r = *(const uint4 *)(from + k * query_tile<D>::STEP + part * WARP * 16);
            uint32_t own[4] = {r.x, r.y, r.z, r.w};
#pragma unroll
            for (int p = 0; p < N; p++) {
                mma(c[p][0], own, keys[p][0], keys[p][2]);
                mma(c[p][1], own, keys[p][1], keys[p][3]);
            }
        }
    }
}

/* Replaces the products by the largest of the group's heads. All lanes that share a key get them, in the
 * first pair. */
template <int N> static __device__ void largest_of_heads(const struct window &w, float (&c)[N][2][4])
{
    int row = threadIdx.x % WARP / 4;
#pragma unroll
    for (int x = 0; x < N * 4; x++) {
        float *one = &c[x / 4][x / 2 % 2][x % 2], new_max = row < w.group ? *one : -CUDART_INF_F;
        new_max = fmaxf(new_max, row + 8 < w.group ? one[2] : -CUDART_INF_F);
        for (int other = 4; other < WARP; other *= 2)
            new_max = fmaxf(new_max, __shfl_xor_sync(~0u, new_max, other));
        *one = new_max;
    }
}

#endif
