#ifndef KERNELS_CPU_SIMD_TILE_H
#define KERNELS_CPU_SIMD_TILE_H

#include "kernels/cpu/simd.h"

/* The inner loop that linear layers and attention share: R rows of x times P panels of 16 lanes, with the
 * sums in registers and k in sequence. R, P and bf16 are constants where this is inlined. The rows of a tile
 * are computed independently, so a row's bits do not depend on which rows share its tile. */
#if defined(__AVX512F__)
enum { TILE_ROWS = 12, TILE_PANELS = 8 };
#define TILE_PANELS_OF(rows) ((rows) == 1 ? 8 : (rows) <= 3 ? 4 : (rows) <= 6 ? 2 : 1)
#elif defined(__AVX2__)
enum { TILE_ROWS = 6, TILE_PANELS = 4 };
#define TILE_PANELS_OF(rows) ((rows) == 1 ? 4 : (rows) == 2 ? 2 : 1)
#else
enum { TILE_ROWS = 4, TILE_PANELS = 2 };
#define TILE_PANELS_OF(rows) ((rows) <= 2 ? 2 : 1)
#endif
/* TILE_PANELS_OF: panels to take with so many rows, a power of two: enough chains to hide the latency of
 * fused multiply-add, no more than registers hold. */

/* CASE(r) for every number of rows a tile may have. */
#if defined(__AVX512F__)
#define TILE_CASES(CASE)                                                                                     \
    CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8) CASE(9) CASE(10) CASE(11) CASE(12)
#elif defined(__AVX2__)
#define TILE_CASES(CASE) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6)
#else
#define TILE_CASES(CASE) CASE(1) CASE(2) CASE(3) CASE(4)
#endif

/* Returns the 16 lanes from element i on as fp32. */
INLINE struct v16 tile_load(const void *p, size_t i, const int bf16)
{
    return bf16 ? v_load_bf16((const uint16_t *)p + i) : v_load((const float *)p + i);
}

/* One step: acc[r][p] += x[r] * w[p]. Several panels: the x stay in registers and panels come one by one, so
 * that no accumulator is pushed out; one panel: the other way round. */
INLINE void tile_step(const int R, const int P, const int bf16, struct v16 a[TILE_ROWS][TILE_PANELS],
                      const float *x, size_t xr, const void *const *base, size_t at, size_t panel_step)
{
    struct v16 b[TILE_ROWS];
    if (P == 1) {
        struct v16 w = v_keep(tile_load(base[0], at, bf16));
        UNROLL
        for (int r = 0; r < R; r++)
            a[r][0] = v_fma(v_set(x[(size_t)r * xr]), w, a[r][0]);
        return;
    }
    UNROLL
    for (int r = 0; r < R; r++)
        b[r] = v_set(x[(size_t)r * xr]);
    UNROLL
    for (int p = 0; p < P; p++) {
        struct v16 w = tile_load(panel_step ? base[0] : base[p], at + (size_t)p * panel_step, bf16);
        if (R > 1)
            w = v_keep(w);
        UNROLL
        for (int r = 0; r < R; r++)
            a[r][p] = v_fma(b[r], w, a[r][p]);
    }
}

/* Copies the sums of a tile from acc to a, or with `out` from a to acc. */
INLINE void tile_copy(const int R, const int P, struct v16 a[TILE_ROWS][TILE_PANELS], struct v16 *acc,
                      const int out)
{
    UNROLL
    for (int r = 0; r < R; r++) {
        UNROLL
        for (int p = 0; p < P; p++) {
            if (out)
                acc[r * P + p] = a[r][p];
            else
                a[r][p] = acc[r * P + p];
        }
    }
}

/* acc[r * P + p] += sum over j of x[r * xr + j * xk] * panel[p][j * 16 ..], one fused multiply-add each. */
INLINE void tile_run(const int R, const int P, const int bf16, struct v16 *acc, const float *x, size_t xr,
                     size_t xk, int k, const void *const *panel)
{
    struct v16 a[TILE_ROWS][TILE_PANELS];
    const void *base[TILE_PANELS];
    UNROLL
    for (int p = 0; p < P; p++)
        base[p] = panel[p];
    tile_copy(R, P, a, acc, 0);
    for (size_t j = 0; j < (size_t)k; j++)
        tile_step(R, P, bf16, a, x + j * xk, xr, base, j * LANES, 0);
    tile_copy(R, P, a, acc, 1);
}

/* The same, fetching what comes next into the cache meanwhile: a line at ahead[p] for each line of panel[p].
 * Pages lie apart in memory, where the processor's own prefetching starts anew each time. */
INLINE void tile_run_ahead(const int R, const int P, const int bf16, struct v16 *acc, const float *x,
                           size_t xr, int k, const void *const *panel, const char *const *ahead)
{
    struct v16 a[TILE_ROWS][TILE_PANELS];
    tile_copy(R, P, a, acc, 0);
    for (size_t j = 0; j < (size_t)k; j++) {
        UNROLL
        for (int p = 0; p < P; p++)
            __builtin_prefetch(ahead[p] + j * LANES * (bf16 ? 2 : 4));
        tile_step(R, P, bf16, a, x + j, xr, panel, j * LANES, 0);
    }
    tile_copy(R, P, a, acc, 1);
}

/* Over n pages of V: acc[r * P + p] += x[r * xr + 16 b + t] * page[b][at / 16 + p][t], where a page is
 * [head_dim / 16][16 tokens][16 lanes] and `at` its first dimension; pages and tokens in sequence. With
 * `ahead` the same part of the page so many further on is fetched meanwhile, up to page[n + ahead - 1]. */
INLINE void tile_pages(const int R, const int P, const int bf16, const int ahead, struct v16 *acc,
                       const float *x, size_t xr, int n, const void *const *page, size_t at)
{
    struct v16 a[TILE_ROWS][TILE_PANELS];
    const size_t line = LANES * (bf16 ? 2 : 4);
    tile_copy(R, P, a, acc, 0);
    for (int b = 0; b < n; b++) {
        const void *base[1] = {page[b]};
        for (size_t t = 0; t < LANES; t++) {
            for (size_t p = 0; ahead && p < (size_t)P; p++)
                __builtin_prefetch((const char *)page[b + ahead] + (at + t + p * LANES) * line);
            tile_step(R, P, bf16, a, x + (size_t)b * LANES + t, xr, base, (at + t) * LANES, LANES * LANES);
        }
    }
    tile_copy(R, P, a, acc, 1);
}

/* Splits rows evenly into tiles: returns the size of the tile that starts at row r of n. */
INLINE int tile_split(int r, int n)
{
    int left = n - r, tiles = (left + TILE_ROWS - 1) / TILE_ROWS;
    return (left + tiles - 1) / tiles;
}

#endif
