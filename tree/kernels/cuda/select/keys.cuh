#ifndef KERNELS_CUDA_SELECT_KEYS_CUH
#define KERNELS_CUDA_SELECT_KEYS_CUH

#include "kernels/cuda/device/math.cuh"

/* Radix selection: scores as whole numbers in the same order, and the digit of the k-th largest of them. */
enum { DIGITS = 4, BINS = 256, OWN_BINS = BINS / WARP };

/* Returns e^x for x above -inf, with the same bits as on the CPU: with a bias the order of scores depends on
 * them. */
__device__ static float mass_of_key(float x)
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

/* Returns the key of score x of entry i: floats as unsigned integers in the same order; 0 for -inf and not a
 * number, which are no candidates. bias not 0: the key of e^x - bias * i (topk_params.tie_bias). */
__device__ static uint32_t key_of(float x, int i, float bias)
{
    if (bias != 0 && x > -CUDART_INF_F)
        x = __fsub_rn(mass_of_key(x), __fmul_rn(bias, (float)i));
    if (!(x > -CUDART_INF_F))
        return 0;
    uint32_t u = __float_as_uint(__fadd_rn(x, 0.0f)); /* -0 and 0 are equal */
    return u & 0x80000000u ? ~u : u | 0x80000000u;
}

/* A bin of keys, how many keys have a larger one, and how many this one. */
struct digit {
    int value, above, count;
};

/* Finds the bin that holds the k-th largest key, k from 1 on, or bin 0 when there are fewer; by one warp. c:
 * how many keys the lane's bins have, OWN_BINS * lane and those after it. */
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
