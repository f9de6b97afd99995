#ifndef TESTS_EMULATED_EMULATED_PTX_H
#define TESTS_EMULATED_EMULATED_PTX_H

/* What kernels/cuda/device/ptx.cuh and wgmma.cuh have, for the emulation: the same names and meanings,
 * explained there. What changes the state of a block is in ptx.cc. */
#include "tests/emulated/emulated_device.h"

/* Emulated kernels are compiled once, for all cards: what older ones lack is found when it is run. */
#define BELOW_90 0
void needs_hopper(void);

static inline uint32_t shared_address(const void *p)
{
    return emulated_address(p);
}

static inline float bf16_float(uint32_t low_half)
{
    return __uint_as_float(low_half << 16);
}

static inline void load_matrices(uint32_t (&r)[4], uint32_t row)
{
    if (row % 16)
        emulated_fail("ldmatrix of a row at %#x: no multiple of 16", row);
    const slot *all = emulated_exchange("ldmatrix", ~0u, &row, sizeof row);
    int lane = own_lane();
    for (int i = 0; i < 4; i++)
        memcpy(&r[i], (char *)emulated_at(all[8 * i + lane / 4][0], 16) + lane % 4 * 4, 4);
}

static inline void load_transposed(uint32_t (&r)[4], uint32_t row)
{
    if (row % 16)
        emulated_fail("ldmatrix of a row at %#x: no multiple of 16", row);
    const slot *all = emulated_exchange("ldmatrix.trans", ~0u, &row, sizeof row);
    int lane = own_lane();
    for (int i = 0; i < 4; i++) {
        uint16_t pair[2];
        for (int e = 0; e < 2; e++)
            memcpy(&pair[e], (char *)emulated_at(all[8 * i + lane % 4 * 2 + e][0], 16) + lane / 4 * 2, 2);
        r[i] = pair[0] | (uint32_t)pair[1] << 16;
    }
}

static inline void mma(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    uint32_t own[6] = {a[0], a[1], a[2], a[3], b0, b1};
    const slot *all = emulated_exchange("mma", ~0u, own, sizeof own);
    int g = own_lane() / 4, t = own_lane() % 4;
    for (int i = 0; i < 4; i++) {
        int half = i / 2, column = 2 * t + i % 2;
        for (int k = 0; k < 16; k++) {
            uint32_t x = all[g * 4 + k % 8 / 2][k / 8 * 2 + half], y = all[column * 4 + k % 8 / 2][4 + k / 8];
            c[i] += bf16_float((x >> k % 2 * 16) & 0xffff) * bf16_float((y >> k % 2 * 16) & 0xffff);
        }
    }
}

static inline uint32_t transpose_matrix(uint32_t x)
{
    const slot *all = emulated_exchange("movmatrix", ~0u, &x, sizeof x);
    int column = own_lane() / 4, row = own_lane() % 4 * 2;
    uint32_t first = all[row * 4 + column / 2][0], second = all[(row + 1) * 4 + column / 2][0];
    return (first >> column % 2 * 16 & 0xffff) | (second >> column % 2 * 16 & 0xffff) << 16;
}

static inline uint32_t round_pair(float &x, float &y)
{
    __nv_bfloat162 pair = __floats2bfloat162_rn(x, y);
    uint32_t bits;
    memcpy(&bits, &pair, sizeof bits);
    x -= __uint_as_float(bits << 16);
    y -= __uint_as_float(bits & 0xffff0000u);
    return bits;
}

static inline float power_of_2(float x)
{
    return x < -126 ? 0.0f : exp2f(x);
}

static inline void keep_address(const char *&)
{
}

static inline float log_2_of(float x)
{
    return log2f(x);
}

static inline float inverse_of(float x)
{
    return 1.0f / x;
}

void pdl_wait(void);
void pdl_trigger(void);
void may_be_old_begin(void);
void may_be_old_end(void);
int count_in_order(int *counter);

void cluster_arrive(void);
void cluster_begin(void);
void cluster_wait(void);
uint32_t address_in(uint32_t address, int block);
void store_far(uint32_t to, float x, float y);

void barrier_init(uint32_t barrier, int arrivals);
void barrier_arrive(uint32_t barrier);
void barrier_expect(uint32_t barrier, int bytes);
void barrier_wait(uint32_t barrier, int parity);

static inline void barrier_init_done(void)
{
}

static inline void written_for_products(void)
{
}

void async_copy_16(uint32_t to, const void *from);
void arrive_after_copies(uint32_t barrier);
void tma_tensor_copy(uint32_t to, const void *map, int x, int y, uint32_t barrier);
void tma_bulk_copy(uint32_t to, const void *from, int bytes, uint32_t barrier);

static inline void prefetch_tensor_map(const void *)
{
}

static inline void tma_bulk_copy_once(uint32_t to, const void *from, int bytes, uint32_t barrier)
{
    tma_bulk_copy(to, from, bytes, barrier);
}

static inline void store_to_stay(float *to, float4 v)
{
    *(float4 *)to = v;
}

/* ---- wgmma.cuh */

static inline uint64_t tile_at(uint32_t address, uint32_t further = 0)
{
    return (uint64_t)((address >> 4 & 0x3fff) + further / 16) | (uint64_t)(1024 >> 4) << 32 | 1ull << 62;
}

static inline uint64_t turned_tile_at(uint32_t address, uint32_t apart)
{
    return tile_at(address) | (uint64_t)(apart >> 4 & 0x3fff) << 16;
}

/* The product is computed at some time between this call and wgmma_wait. */
void wgmma_tiles(float *c, int n, uint64_t w, uint64_t x, int add);
void wgmma_registers(float *c, int n, const uint32_t (&w)[4], uint64_t x, int add);

template <int N> static inline void wgmma(float (&c)[N], uint64_t w, uint64_t x, int add)
{
    wgmma_tiles(c, N, w, x, add);
}

template <int N> static inline void wgmma_values(float (&c)[N], const uint32_t (&w)[4], uint64_t x, int add)
{
    wgmma_registers(c, N, w, x, add);
}

template <int N> static inline void take_registers(void)
{
}

template <int N> static inline void give_registers(void)
{
}

void wgmma_commit(void);
void wgmma_wait(void);
void wgmma_wait_but_one(void);

static inline void wgmma_begin(void)
{
}

template <int N> static inline void hold_registers(float (&)[N])
{
}

#endif
