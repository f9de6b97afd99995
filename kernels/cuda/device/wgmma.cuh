#ifndef KERNELS_CUDA_DEVICE_WGMMA_CUH
#define KERNELS_CUDA_DEVICE_WGMMA_CUH

#include <stdint.h>

/* Hopper's matrix products of four warps, with the second factor in shared memory. They run asynchronously:
 * the warps start some, commit them, and later wait for them. */

/* Returns wgmma's descriptor of where a tile's rows lie: so many bytes beyond an address, 1024 bytes from one
 * group of 8 rows to the next, 128-byte swizzle. The sum fits its 14 bits, and needs no carry. */
__device__ static inline uint64_t tile_at(uint32_t address, uint32_t further = 0)
{
    return (uint64_t)((address >> 4 & 0x3fff) + further / 16) | (uint64_t)(1024 >> 4) << 32 | 1ull << 62;
}

/* Sums as operands of an instruction, and operands by their numbers. */
#define SUMS_4(i)     "+f"(c[i]), "+f"(c[i + 1]), "+f"(c[i + 2]), "+f"(c[i + 3])
#define SUMS_16(i)    SUMS_4(i), SUMS_4(i + 4), SUMS_4(i + 8), SUMS_4(i + 12)
#define SUMS_32(i)    SUMS_16(i), SUMS_16(i + 16)
#define OPERANDS_0_3  "%0,%1,%2,%3"
#define OPERANDS_0_15 OPERANDS_0_3 ",%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15"
#define OPERANDS_0_31 OPERANDS_0_15 ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define OPERANDS_0_63                                                                                        \
    OPERANDS_0_31 ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"                        \
                  "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define OPERANDS_0_71 OPERANDS_0_63 ",%64,%65,%66,%67,%68,%69,%70,%71"
#define OPERANDS_0_95                                                                                        \
    OPERANDS_0_71 ",%72,%73,%74,%75,%76,%77,%78,%79,"                                                        \
                  "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95"
#define OPERANDS_0_111                                                                                       \
    OPERANDS_0_95 ",%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111"
#define OPERANDS_0_127                                                                                       \
    OPERANDS_0_111 ",%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"

/* c (64 x columns) = or += w (64 x 16) x' (16 x columns), for columns of SHAPE. The three operands after the
 * sums have the numbers W, X and ADD. A lane of warp i has rows 16i + lane / 4 (+ 8: the odd pairs) and of
 * each eight columns 2 (lane % 4) and the next. An element's sum over the 16 has the same bits in every
 * shape. */
#define WGMMA(SHAPE, N_SUMS, OPERANDS, W, X, ADD, ...)                                                       \
    __device__ static inline void wgmma(float(&c)[N_SUMS], uint64_t w, uint64_t x, int add)                  \
    {                                                                                                        \
        asm volatile("{\n"                                                                                   \
                     ".reg .pred p;\n"                                                                       \
                     "setp.ne.b32 p, " ADD ", 0;\n"                                                          \
                     "wgmma.mma_async.sync.aligned." SHAPE ".f32.bf16.bf16 {" OPERANDS "}, " W ", " X        \
                     ", p, 1, 1, 0, 0;\n"                                                                    \
                     "}"                                                                                     \
                     : __VA_ARGS__                                                                           \
                     : "l"(w), "l"(x), "r"(add));                                                            \
    }
#define NO_WGMMA(N_SUMS)                                                                                     \
    __device__ static inline void wgmma(float(&)[N_SUMS], uint64_t, uint64_t, int)                           \
    {                                                                                                        \
    }
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define SUMS_64(i) SUMS_32(i), SUMS_32(i + 32)
WGMMA("m64n8k16", 4, OPERANDS_0_3, "%4", "%5", "%6", SUMS_4(0))
WGMMA("m64n32k16", 16, OPERANDS_0_15, "%16", "%17", "%18", SUMS_16(0))
WGMMA("m64n64k16", 32, OPERANDS_0_31, "%32", "%33", "%34", SUMS_32(0))
WGMMA("m64n128k16", 64, OPERANDS_0_63, "%64", "%65", "%66", SUMS_64(0))
WGMMA("m64n144k16", 72, OPERANDS_0_71, "%72", "%73", "%74", SUMS_64(0), SUMS_4(64), SUMS_4(68))
WGMMA("m64n192k16", 96, OPERANDS_0_95, "%96", "%97", "%98", SUMS_64(0), SUMS_32(64))
WGMMA("m64n224k16", 112, OPERANDS_0_111, "%112", "%113", "%114", SUMS_64(0), SUMS_32(64), SUMS_16(96))
WGMMA("m64n256k16", 128, OPERANDS_0_127, "%128", "%129", "%130", SUMS_64(0), SUMS_64(64))
#else
NO_WGMMA(4)
NO_WGMMA(16)
NO_WGMMA(32)
NO_WGMMA(64)
NO_WGMMA(72)
NO_WGMMA(96)
NO_WGMMA(112)
NO_WGMMA(128)
#endif

/* Returns the descriptor of a tile of 64 columns a row as the second factor the other way round, rows along
 * k: columns beyond 64 lie `apart` bytes further, as a tile of their own. */
__device__ static inline uint64_t turned_tile_at(uint32_t address, uint32_t apart)
{
    return tile_at(address) | (uint64_t)(apart >> 4 & 0x3fff) << 16;
}

/* c (64 x 128 or 64 x 64) = or += w (64 x 16) x (16 x columns): w in registers, as mma()'s first factor of
 * each warp's 16 rows, x a turned tile. */
__device__ static inline void wgmma_values(float (&c)[64], const uint32_t (&w)[4], uint64_t x, int add)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "setp.ne.b32 p, %69, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" OPERANDS_0_63
                 "}, {%64,%65,%66,%67}, %68, p, 1, 1, 1;\n"
                 "}"
                 : SUMS_32(0), SUMS_32(32)
                 : "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]), "l"(x), "r"(add));
#endif
}

__device__ static inline void wgmma_values(float (&c)[32], const uint32_t (&w)[4], uint64_t x, int add)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "setp.ne.b32 p, %37, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" OPERANDS_0_31
                 "}, {%32,%33,%34,%35}, %36, p, 1, 1, 1;\n"
                 "}"
                 : SUMS_32(0)
                 : "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]), "l"(x), "r"(add));
#endif
}

#undef SUMS_4
#undef SUMS_16
#undef SUMS_32
#undef SUMS_64
#undef OPERANDS_0_3
#undef OPERANDS_0_15
#undef OPERANDS_0_31
#undef OPERANDS_0_63
#undef OPERANDS_0_71
#undef OPERANDS_0_95
#undef OPERANDS_0_111
#undef OPERANDS_0_127
#undef WGMMA
#undef NO_WGMMA

/* Raise and lower the registers of every thread of the four warps to N, a multiple of 8. take_registers()
 * waits until others of the block have given back as many as it needs. */
template <int N> __device__ static inline void take_registers(void)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
#endif
}

template <int N> __device__ static inline void give_registers(void)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
#endif
}

/* Call it after writing sums otherwise and before the next product. */
__device__ static inline void wgmma_begin(void)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}

/* Ends a group of products, which wgmma_wait() and wgmma_wait_but_one() count. */
__device__ static inline void wgmma_commit(void)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}

/* Waits until all committed products are done. */
__device__ static inline void wgmma_wait(void)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#endif
}

/* Waits until at most the group committed last is still on its way. */
__device__ static inline void wgmma_wait_but_one(void)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
#endif
}

/* The compiler, which does not know that products are still on their way, keeps what it does with the sums on
 * its side of this line. */
template <int N> __device__ static inline void hold_registers(float (&c)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++)
        asm volatile("" : "+f"(c[i])::"memory");
}

#endif
