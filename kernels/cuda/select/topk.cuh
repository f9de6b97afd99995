#ifndef KERNELS_CUDA_SELECT_TOPK_CUH
#define KERNELS_CUDA_SELECT_TOPK_CUH

#include "kernels/cuda/device/cluster.cuh"
#include "kernels/cuda/device/cuda.cuh"
#include "kernels/cuda/device/math.cuh"
#include "kernels/cuda/device/ptx.cuh"
#include "kernels/topk_rule.h"

/* What op_topk.cu and topk_mass.cuh share: lists in parts, and their scores as keys. */
enum { DIGITS = 4, BINS = 256, OWN_BINS = BINS / WARP };

/* Where a list's keys are: in one block's shared memory, in that of a cluster, or in memory. */
enum place { BLOCK, OF_CLUSTER, MEMORY };

template <enum place PLACE, int N_THREADS> struct form {
    enum {
        CLUSTER = PLACE == OF_CLUSTER,
        IN_MEMORY = PLACE == MEMORY,
        THREADS = N_THREADS,
        WARPS = THREADS / WARP
    };
};

/* A block's part of a list: entries begin .. begin + n - 1. */
struct part {
    uint32_t *key;
    int begin, n;
};

/* Entries of each block's part of n. */
__host__ __device__ static inline int part_of(int n, int blocks)
{
    return (n + blocks * WARP - 1) / (blocks * WARP) * WARP;
}

/* e^x, x above -inf, as the CPU computes it, bit for bit: with a bias the order of scores hangs on it. */
__device__ static float mass(float x)
{
    const float magic = 12582912.0f; /* 1.5 * 2^23: adding it rounds to an integer */
    x = fminf(89.0f, fmaxf(-104.0f, x));
    float t = __fmaf_rn(x, 1.44269504f, magic), n = __fsub_rn(t, magic);
    float r = __fmaf_rn(n, 2.12194440e-4f, __fmaf_rn(n, -0.693359375f, x));
    float p = 1.0f / 5040;
    p = __fmaf_rn(p, r, 1.0f / 720);
    p = __fmaf_rn(p, r, 1.0f / 120);
    p = __fmaf_rn(p, r, 1.0f / 24);
    p = __fmaf_rn(p, r, 1.0f / 6);
    p = __fmaf_rn(p, r, 0.5f);
    p = __fmaf_rn(p, r, 1.0f);
    p = __fmaf_rn(p, r, 1.0f);
    int whole = __float_as_int(t) - 0x4b400000, half = whole >> 1, rest = whole - half;
    return __fmul_rn(__fmul_rn(p, __int_as_float((half + 127) << 23)), __int_as_float((rest + 127) << 23));
}

/* Floats as unsigned integers in the same order; 0 for -inf and not a number: no candidate. */
__device__ static uint32_t key_of(float x, int i, float bias)
{
    if (bias != 0 && x > -CUDART_INF_F)
        x = __fsub_rn(mass(x), __fmul_rn(bias, (float)i));
    if (!(x > -CUDART_INF_F))
        return 0;
    uint32_t u = __float_as_uint(__fadd_rn(x, 0.0f)); /* -0 and 0 are equal */
    return u & 0x80000000u ? ~u : u | 0x80000000u;
}

/* Scores that a thread asks for at once; and those at the start of a list of one block that it asks for
 * before it knows how long the list is, since each look at memory takes up to a microsecond. */
enum { FLIGHT = 8, AHEAD = 4 };

template <class F> __device__ static inline void ask_ahead(const float *v, int stride, float (&x)[AHEAD])
{
#pragma unroll
    for (int u = 0; u < AHEAD; u++) {
        int j = threadIdx.x + u * F::THREADS;
        x[u] = j < stride ? v[j] : 0.0f;
    }
}

template <class F>
__device__ static inline void make_keys_ahead(const struct part &p, const float (&x)[AHEAD], float bias)
{
#pragma unroll
    for (int u = 0; u < AHEAD; u++) {
        int j = threadIdx.x + u * F::THREADS;
        if (j < p.n)
            p.key[j] = key_of(x[u], p.begin + j, bias);
    }
}

/* Keys of v[j], j from `from` on; several loads in flight before the first is used. */
template <class F>
__device__ static void make_keys(const struct part &p, const float *v, int from, float bias)
{
    if (bias != 0) {
        for (int j = from + threadIdx.x; j < p.n; j += F::THREADS)
            p.key[j] = key_of(v[j], p.begin + j, bias);
        return;
    }
    for (int j = from + threadIdx.x; j < p.n; j += FLIGHT * F::THREADS) {
        float x[FLIGHT];
#pragma unroll
        for (int u = 0; u < FLIGHT; u++)
            x[u] = j + u * F::THREADS < p.n ? v[j + u * F::THREADS] : 0.0f;
#pragma unroll
        for (int u = 0; u < FLIGHT; u++)
            if (j + u * F::THREADS < p.n)
                p.key[j + u * F::THREADS] = key_of(x[u], 0, 0.0f);
    }
}

template <class F> __device__ static inline void barrier()
{
    if (F::CLUSTER)
        cluster_meet();
    else
        __syncthreads();
}

/* The same object of another block of the cluster. */
template <class F, typename T> __device__ static inline T *of_block(T *mine, int rank)
{
    return F::CLUSTER ? cluster_object(mine, rank) : mine;
}

/* A bin of keys, how many keys have a larger one, and how many this one. */
struct digit {
    int value, above, count;
};

/* Finds the bin that holds the k-th largest key, or bin 0 when there are fewer; by one warp. c: how many keys
 * the lane's bins have, OWN_BINS * lane and those after it. */
__device__ static inline void find_bin(const int (&c)[OWN_BINS], int k, struct digit *out)
{
    int lane = threadIdx.x % WARP, sum = 0;
#pragma unroll
    for (int i = 0; i < OWN_BINS; i++)
        sum += c[i];
    int upto = sum; /* of this lane's bins and all higher ones */
    for (int o = 1; o < WARP; o *= 2) {
        int higher = __shfl_down_sync(~0u, upto, o);
        upto += lane + o < WARP ? higher : 0;
    }
    struct digit d = {OWN_BINS - 1, upto - sum, c[OWN_BINS - 1]};
#pragma unroll
    for (int i = OWN_BINS - 1; i > 0; i--)
        if (d.value == i && d.above + d.count < k) {
            d.value = i - 1;
            d.above += d.count;
            d.count = c[i - 1];
        }
    unsigned here = __ballot_sync(~0u, upto - sum < k && upto >= k);
    if (lane == (here ? __ffs(here) - 1 : 0)) {
        d.value += OWN_BINS * lane;
        *out = d;
    }
}

#endif
