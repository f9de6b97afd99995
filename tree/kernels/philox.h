#ifndef KERNELS_PHILOX_H
#define KERNELS_PHILOX_H

/* Philox4x32-10 (Salmon et al., SC 2011), for all backends: a counter becomes four random words. */
#include <stdint.h>

#ifdef __CUDACC__
#define PHILOX_FUNCTION __host__ __device__ static inline
#else
#define PHILOX_FUNCTION static inline
#endif

/* Replaces the counter in x by its four random words under this key. */
PHILOX_FUNCTION void philox4x32_10(uint64_t key, uint32_t x[4])
{
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++, k0 += 0x9e3779b9u, k1 += 0xbb67ae85u) {
        uint64_t a = (uint64_t)0xd2511f53u * x[0], b = (uint64_t)0xcd9e8d57u * x[2];
        x[0] = (uint32_t)(b >> 32) ^ x[1] ^ k0;
        x[1] = (uint32_t)b;
        x[2] = (uint32_t)(a >> 32) ^ x[3] ^ k1;
        x[3] = (uint32_t)a;
    }
}

#endif
