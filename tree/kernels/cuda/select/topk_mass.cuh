#ifndef KERNELS_CUDA_SELECT_TOPK_MASS_CUH
#define KERNELS_CUDA_SELECT_TOPK_MASS_CUH

/* TOPK_MASS: how many entries hold the mass that the parameters ask for, by radix selection as in op_topk.cu,
 * in which each bin has a sum of masses beside its count. */
#include "kernels/cuda/select/topk.cuh"

struct mass_shared {
    unsigned long long sum[DIGITS][BINS], smem[WARP], total, forced;
    int count[DIGITS][BINS];
    unsigned long long need, one_sum; /* what find_mass() leaves: still needed from digit `value`, its mass */
    int value, above, one_count;      /* keys with a larger digit, keys with this one */
};

/* Finds the bin in which the sum from the largest key down reaches `need` and leaves it in *s; by the first
 * warp. */
template <class F>
__device__ static void find_mass(struct mass_shared *s, int which, int blocks, unsigned long long need)
{
    int lane = threadIdx.x, n[OWN_BINS] = {0}, keys = 0;
    unsigned long long c[OWN_BINS] = {0}, sum = 0;
    for (int b = 0; b < blocks; b++) {
        const struct mass_shared *other = of_block<F>(s, b);
        for (int i = 0; i < OWN_BINS; i++) {
            c[i] += other->sum[which][OWN_BINS * lane + i];
            n[i] += other->count[which][OWN_BINS * lane + i];
        }
    }
    for (int i = 0; i < OWN_BINS; i++) {
        sum += c[i];
        keys += n[i];
    }
    unsigned long long upto = sum; /* of this lane's bins and all higher ones */
    int upto_keys = keys;
    for (int o = 1; o < WARP; o *= 2) {
        unsigned long long higher = __shfl_down_sync(~0u, upto, o);
        int higher_keys = __shfl_down_sync(~0u, upto_keys, o);
        upto += lane + o < WARP ? higher : 0;
        upto_keys += lane + o < WARP ? higher_keys : 0;
    }
    if (upto - sum >= need || upto < need)
        return;
    unsigned long long left = need - (upto - sum);
    int i = OWN_BINS - 1, above = upto_keys - keys;
    for (; i > 0 && c[i] < left; i--) {
        left -= c[i];
        above += n[i];
    }
    s->need = left;
    s->value = OWN_BINS * lane + i;
    s->above = above;
    s->one_sum = c[i];
    s->one_count = n[i];
}

/* Sets *total and *forced to the masses of all candidates and of the forced ones, over the blocks. */
template <class F>
__device__ static void total_mass(struct mass_shared *s, const struct part &p, const float *v, int from,
                                  int blocks, unsigned long long *total, unsigned long long *forced)
{
    unsigned long long all = 0, sure = 0;
    for (int j = threadIdx.x; j < p.n; j += F::THREADS) {
        unsigned long long one = p.key[j] ? topk_mass_of(mass_of_key(v[j])) : 0;
        all += one;
        sure += p.begin + j >= from ? one : 0;
    }
    all = block_sum(all, s->smem);
    sure = block_sum(sure, s->smem);
    if (threadIdx.x == 0) {
        s->total = all;
        s->forced = sure;
    }
    block_barrier<F>();
    *total = *forced = 0;
    for (int b = 0; b < blocks; b++) {
        *total += of_block<F>(s, b)->total;
        *forced += of_block<F>(s, b)->forced;
    }
}

/* Returns how many of the list's entries before `from` are taken besides the forced ones. v: the part's
 * scores. All threads of the list's blocks call it and get the result. */
template <class F>
__device__ static int count_by_mass(const struct topk_params &params, const struct part &p, const float *v,
                                    int from, int blocks)
{
    __shared__ struct mass_shared s;
    unsigned long long total, forced, need;
    uint32_t prefix = 0, mask = 0;
    int above = 0, n = min(p.n, from - p.begin);
    for (int i = threadIdx.x; i < DIGITS * BINS; i += F::THREADS) {
        ((unsigned long long *)s.sum)[i] = 0;
        ((int *)s.count)[i] = 0;
    }
    total_mass<F>(&s, p, v, from, blocks, &total, &forced);
    need = topk_mass_needed(&params, total);
    if (need <= forced)
        return 0;
    need -= forced;
    for (int which = 0, shift = 24; which < DIGITS; which++, shift -= 8) {
        for (int j = threadIdx.x; j < n; j += F::THREADS) {
            uint32_t key = p.key[j];
            if (key && (key & mask) == prefix) {
                atomicAdd(&s.sum[which][key >> shift & (BINS - 1)],
                          (unsigned long long)topk_mass_of(mass_of_key(v[j])));
                atomicAdd(&s.count[which][key >> shift & (BINS - 1)], 1);
            }
        }
        block_barrier<F>();
        if (threadIdx.x < WARP)
            find_mass<F>(&s, which, blocks, need);
        __syncthreads();
        prefix |= (uint32_t)s.value << shift;
        mask |= (uint32_t)(BINS - 1) << shift;
        need = s.need;
        above += s.above;
    }
    return above + topk_entries_for(need, s.one_sum / s.one_count);
}

#endif
