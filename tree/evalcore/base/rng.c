/* Philox4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11, section
 * 3.3. Ten rounds of two 32x32 -> 64 multiplications; between rounds the Weyl constants are added to the
 * key. */
#include "evalcore/base/rng.h"

void philox4x32(const uint32_t key[2], const uint32_t counter[4], uint32_t out[4])
{
    uint32_t k0 = key[0], k1 = key[1];
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    for (int i = 0; i < 10; i++) {
        uint64_t p0 = (uint64_t)0xD2511F53 * c0, p1 = (uint64_t)0xCD9E8D57 * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

void rng_init(struct rng *r, uint64_t key, uint64_t stream)
{
    *r = (struct rng){.key = key, .stream = stream};
}

uint32_t rng_u32(struct rng *r)
{
    if (!r->left) {
        uint32_t key[2] = {(uint32_t)r->key, (uint32_t)(r->key >> 32)};
        uint32_t counter[4] = {(uint32_t)r->n, (uint32_t)(r->n >> 32), (uint32_t)r->stream,
                               (uint32_t)(r->stream >> 32)};
        philox4x32(key, counter, r->out);
        r->n++;
        r->left = 4;
    }
    return r->out[4 - r->left--];
}

uint32_t rng_below(struct rng *r, uint32_t n)
{
    uint32_t skip = n ? (0u - n) % n : 0; /* 2^32 mod n values would come up once too often */
    uint32_t x = rng_u32(r);
    while (x < skip)
        x = rng_u32(r);
    return n ? x % n : 0;
}

double rng_unit(struct rng *r)
{
    uint64_t high = rng_u32(r) >> 5, low = rng_u32(r) >> 6;
    return (double)(high << 26 | low) * 0x1p-53;
}

void rng_shuffle(struct rng *r, int *v, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int j = (int)rng_below(r, (uint32_t)i + 1), t = v[i];
        v[i] = v[j];
        v[j] = t;
    }
}
