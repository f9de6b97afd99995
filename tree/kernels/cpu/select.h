#ifndef KERNELS_CPU_SELECT_H
#define KERNELS_CPU_SELECT_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels/topk_params.h"

/* The k largest of n keys, exactly, equal keys by lower index. Keys are floats as unsigned integers in the
 * same order; 0 stands for -inf and for NaN, which are no candidates. */
/* Returns the key of a float. */
static inline uint32_t select_key(float x)
{
    uint32_t u;
    if (!(x > -INFINITY))
        return 0;
    x += 0.0f; /* -0 and 0 are equal */
    memcpy(&u, &x, 4);
    return u & 0x80000000u ? ~u : u | 0x80000000u;
}

/* select_small(), select_large() and select_threshold(), which takes the faster of the two, set *threshold to
 * the k-th largest key, and *equal to the number of keys equal to it that belong to the k largest. 1 <= k <=
 * number of keys above 0. */
static inline void select_small(const uint32_t *key, int n, int k, uint32_t *threshold, int *equal)
{
    uint32_t t = 0;
    int above = 0;
    for (int bit = 31; bit >= 0; bit--) {
        uint32_t trial = t | 1u << bit;
        int count = 0;
        for (int i = 0; i < n; i++)
            count += key[i] >= trial;
        if (count >= k)
            t = trial;
    }
    for (int i = 0; i < n; i++)
        above += key[i] > t;
    *threshold = t;
    *equal = k - above;
}

/* Radix selection from the high digit down: 11, 11 and 10 bits. */
static inline void select_large(const uint32_t *key, int n, int k, uint32_t *threshold, int *equal)
{
    static const int shift[3] = {21, 10, 0}, bits[3] = {11, 11, 10};
    uint32_t prefix = 0, mask = 0;
    for (int pass = 0; pass < 3; pass++) {
        int count[2048] = {0}, digit = (1 << bits[pass]) - 1;
        for (int i = 0; i < n; i++)
            if ((key[i] & mask) == prefix)
                count[key[i] >> shift[pass] & (unsigned)digit]++;
        for (; digit > 0 && count[digit] < k; digit--)
            k -= count[digit];
        prefix |= (uint32_t)digit << shift[pass];
        mask |= (uint32_t)((1 << bits[pass]) - 1) << shift[pass];
    }
    *threshold = prefix;
    *equal = k;
}

/* Returns how many of the largest keys, of equal ones those with the lower index, hold `need` of the masses;
 * 0 where need is 0. Keys of UINT32_MAX are left out. Equal keys have equal masses, and all of them together
 * hold at least `need`. */
static inline int select_by_mass(const uint32_t *key, const uint64_t *mass, int n, uint64_t need)
{
    static const int shift[3] = {21, 10, 0}, bits[3] = {11, 11, 10};
    uint32_t prefix = 0, mask = 0;
    uint64_t one = 0;
    int above = 0;
    for (int pass = 0; need && pass < 3; pass++) {
        uint64_t sum[2048] = {0};
        int count[2048] = {0}, digit = (1 << bits[pass]) - 1;
        for (int i = 0; i < n; i++)
            if ((key[i] & mask) == prefix && key[i] != UINT32_MAX) {
                uint32_t d = key[i] >> shift[pass] & (unsigned)digit;
                sum[d] += mass[i];
                count[d]++;
            }
        for (; digit > 0 && sum[digit] < need; digit--) {
            need -= sum[digit];
            above += count[digit];
        }
        prefix |= (uint32_t)digit << shift[pass];
        mask |= (uint32_t)((1 << bits[pass]) - 1) << shift[pass];
        one = count[digit] ? sum[digit] / (uint64_t)count[digit] : 0;
    }
    return above + (one ? topk_entries_for(need, one) : 0);
}

static inline void select_threshold(const uint32_t *key, int n, int k, uint32_t *threshold, int *equal)
{
    if (n <= 512)
        select_small(key, n, k, threshold, equal);
    else
        select_large(key, n, k, threshold, equal);
}

#endif
