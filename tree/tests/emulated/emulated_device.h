#ifndef TESTS_EMULATED_EMULATED_DEVICE_H
#define TESTS_EMULATED_EMULATED_DEVICE_H

/* CUDA's device language in C++, so that the kernels run on a CPU, for tests: every thread of a block is a
 * fiber (threads.cc) that runs until it must wait for others, and what runs next is drawn at random
 * (grid.cc). Included before everything else in the .cu files, which translate.sed has made C++ of. */
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <functional>

#undef __host__
#undef __device__
#undef __global__
#undef __launch_bounds__
#undef __grid_constant__
#undef __align__
#define __host__
#define __device__
#define __global__
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) alignas(n)

enum { EMULATED_LANES = 32, SLOT_WORDS = 8 };

/* Ends the test with a sentence about the running thread. */
void emulated_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* 90, or what the fault card:N (kernels/fault.h) says. */
int emulated_capability(void);

/* The position of the running thread. */
extern dim3 threadIdx, blockIdx, blockDim, gridDim;

/* ---- launching: as with a real stream, a launch happens later. */

struct launch {
    dim3 grid, block;
    size_t bytes; /* dynamic shared memory */
    int cluster;
    bool pdl; /* may begin when the previous kernel allows it */
    const char *name;
    const void *kernel;
    std::function<void()> body; /* of a thread */
};

void emulated_enqueue(cudaStream_t stream, const struct launch &l);
/* The stream does this itself when everything before it has ended. */
void emulated_act(cudaStream_t stream, const std::function<void()> &act);

template <typename... P> struct launcher {
    void (*kernel)(P...);
    struct launch l;
    cudaStream_t stream;
    void operator()(P... args)
    {
        void (*f)(P...) = kernel;
        l.kernel = (const void *)f;
        l.body = [=] { f(args...); };
        emulated_enqueue(stream, l);
    }
};

/* name<<<grid, block, bytes, stream>>>, after translate.sed. */
template <typename... P>
struct launcher<P...> emulated_launch(const char *name, void (*kernel)(P...), dim3 grid, dim3 block,
                                      size_t bytes, cudaStream_t stream) {
    return {kernel, {grid, block, bytes, 1, false, name, nullptr, nullptr}, stream};
}

/* cudaLaunchKernelEx, after translate.sed. */
template <typename... P, typename... A>
cudaError_t emulated_launch_with(const char *name, const cudaLaunchConfig_t *c, void (*kernel)(P...),
                                 A &&...args)
{
    struct launcher<P...> to = {
        kernel, {c->gridDim, c->blockDim, c->dynamicSmemBytes, 1, false, name, nullptr, nullptr}, c->stream
    };
    for (unsigned i = 0; i < c->numAttrs; i++) {
        if (c->attrs[i].id == cudaLaunchAttributeClusterDimension)
            to.l.cluster = (int)c->attrs[i].val.clusterDim.x;
        if (c->attrs[i].id == cudaLaunchAttributeProgrammaticStreamSerialization)
            to.l.pdl = c->attrs[i].val.programmaticStreamSerializationAllowed;
    }
    if (emulated_capability() < 90 && (to.l.cluster > 1 || to.l.pdl))
        emulated_fail("%s is launched in clusters or early, which this GPU cannot", name);
    to(args...);
    return cudaSuccess;
}

template <typename... P>
cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), cudaFuncAttribute attribute, int value)
{
    return cudaFuncSetAttribute((const void *)kernel, attribute, value);
}

/* ---- shared memory: an address, in the form that ptx.cuh uses, is a place in the block's own arena. */

/* The block's copy of a __shared__ variable, at a multiple of 16; `key`: which. It begins as noise. */
void *emulated_static(const void *key, size_t bytes);
/* Dynamic shared memory, at an odd multiple of `align`. */
void *emulated_dynamic(uint32_t align);
uint32_t emulated_address(const void *p);
/* The memory at an address, for this many bytes. The test fails if they are outside the arena. */
void *emulated_at(uint32_t address, size_t bytes);

/* ---- threads that wait for each other */

/* Gives up to SLOT_WORDS words and gets those of all lanes of the warp, when all in `mask` are there; they
 * stay until the lane's next call. All must come with the same `what`. */
typedef uint32_t slot[SLOT_WORDS];
const slot *emulated_exchange(const char *what, unsigned mask, const void *words, size_t bytes);
/* Waits for all threads of the block; true if p was true for each of them. */
bool emulated_syncthreads(bool p);
/* A point at which another thread may run. */
void emulated_pause(void);
void emulated_atomic(const void *p, size_t bytes); /* before one */
void emulated_trap(void);

static inline void __syncthreads(void)
{
    emulated_syncthreads(true);
}

static inline int __syncthreads_and(int p)
{
    return emulated_syncthreads(p != 0);
}

static inline void __syncwarp(unsigned mask = ~0u)
{
    emulated_exchange("__syncwarp", mask, NULL, 0);
}

template <typename T> static inline T shuffle(const char *what, unsigned mask, T x, int from)
{
    T out;
    static_assert(sizeof x <= sizeof(slot), "a lane's words");
    const slot *all = emulated_exchange(what, mask, &x, sizeof x);
    memcpy(&out, all[from], sizeof out);
    return out;
}

static inline int own_lane(void)
{
    return (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % EMULATED_LANES;
}

template <typename T> static inline T __shfl_sync(unsigned mask, T x, int from)
{
    return shuffle("__shfl_sync", mask, x, from & (EMULATED_LANES - 1));
}

template <typename T> static inline T __shfl_xor_sync(unsigned mask, T x, int with)
{
    return shuffle("__shfl_xor_sync", mask, x, (own_lane() ^ with) & (EMULATED_LANES - 1));
}

template <typename T> static inline T __shfl_up_sync(unsigned mask, T x, unsigned by)
{
    int lane = own_lane();
    return shuffle("__shfl_up_sync", mask, x, lane >= (int)by ? lane - (int)by : lane);
}

template <typename T> static inline T __shfl_down_sync(unsigned mask, T x, unsigned by)
{
    int lane = own_lane();
    return shuffle("__shfl_down_sync", mask, x, lane + (int)by < EMULATED_LANES ? lane + (int)by : lane);
}

static inline unsigned __ballot_sync(unsigned mask, int p)
{
    unsigned votes = 0, mine = p != 0;
    const slot *all = emulated_exchange("__ballot_sync", mask, &mine, sizeof mine);
    for (int i = 0; i < EMULATED_LANES; i++)
        votes |= mask >> i & 1 && all[i][0] ? 1u << i : 0;
    return votes;
}

static inline int __any_sync(unsigned mask, int p)
{
    return __ballot_sync(mask, p) != 0;
}

static inline int __all_sync(unsigned mask, int p)
{
    return __ballot_sync(mask, !p) == 0;
}

static inline unsigned __reduce_add_sync(unsigned mask, unsigned x)
{
    unsigned sum = 0;
    const slot *all = emulated_exchange("__reduce_add_sync", mask, &x, sizeof x);
    for (int i = 0; i < EMULATED_LANES; i++)
        sum += mask >> i & 1 ? all[i][0] : 0;
    return sum;
}

static inline unsigned __reduce_or_sync(unsigned mask, unsigned x)
{
    unsigned any = 0;
    const slot *all = emulated_exchange("__reduce_or_sync", mask, &x, sizeof x);
    for (int i = 0; i < EMULATED_LANES; i++)
        any |= mask >> i & 1 ? (unsigned)all[i][0] : 0;
    return any;
}

/* ---- memory. Atomics are indivisible even where threads change at accesses to memory (accesses.cc). */
#define WHOLE __attribute__((no_sanitize_thread))

template <typename T, typename U> WHOLE static inline T atomicAdd(T *p, U x)
{
    emulated_atomic(p, sizeof *p);
    T before = *p;
    *p = (T)(before + (T)x);
    return before;
}

template <typename T> WHOLE static inline T atomicOr(T *p, T x)
{
    emulated_atomic(p, sizeof *p);
    T before = *p;
    *p = before | x;
    return before;
}

template <typename T> WHOLE static inline T atomicMax(T *p, T x)
{
    emulated_atomic(p, sizeof *p);
    T before = *p;
    *p = before > x ? before : x;
    return before;
}

template <typename T> WHOLE static inline T atomicExch(T *p, T x)
{
    emulated_atomic(p, sizeof *p);
    T before = *p;
    *p = x;
    return before;
}

template <typename T> WHOLE static inline T atomicCAS(T *p, T expected, T x)
{
    emulated_atomic(p, sizeof *p);
    T before = *p;
    if (before == expected)
        *p = x;
    return before;
}

template <typename T> static inline T __ldg(const T *p)
{
    return *p;
}
template <typename T> static inline T __ldcg(const T *p)
{
    return *p;
}
template <typename T> static inline T __ldcs(const T *p)
{
    return *p;
}
template <typename T> static inline void __stcs(T *p, T x)
{
    *p = x;
}

/* ---- arithmetic */

static inline float __uint_as_float(uint32_t x)
{
    float f;
    memcpy(&f, &x, sizeof f);
    return f;
}

static inline uint32_t __float_as_uint(float f)
{
    uint32_t x;
    memcpy(&x, &f, sizeof x);
    return x;
}

static inline float __int_as_float(int x)
{
    return __uint_as_float((uint32_t)x);
}
static inline int __float_as_int(float x)
{
    return (int)__float_as_uint(x);
}
static inline int __popc(unsigned x)
{
    return __builtin_popcount(x);
}
static inline int __ffs(int x)
{
    return __builtin_ffs(x);
}
static inline int __clz(int x)
{
    return x ? __builtin_clz((unsigned)x) : 32;
}
static inline uint64_t __umul64hi(uint64_t a, uint64_t b)
{
    return (uint64_t)((unsigned __int128)a * b >> 64);
}
static inline float __fmaf_rn(float a, float b, float c)
{
    return fmaf(a, b, c);
}
static inline unsigned long long __float2ull_rn(float x)
{
    return (unsigned long long)llrintf(x);
}
/* The compiler must not fuse products and sums (-ffp-contract=off), so that these functions round as their
 * names say. */
static inline float __fmul_rn(float a, float b)
{
    return a * b;
}
static inline float __fadd_rn(float a, float b)
{
    return a + b;
}
static inline float __fsub_rn(float a, float b)
{
    return a - b;
}

template <typename A, typename B> static inline auto min(A a, B b)
{
    return a < b ? +a : +b;
}
template <typename A, typename B> static inline auto max(A a, B b)
{
    return a > b ? +a : +b;
}

#endif
