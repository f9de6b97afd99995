/* Python's generator (contract: python_random.h). */
#include "tasks/python_random.h"

#include <assert.h>

enum { N = 624, M = 397 };

static void seed_by_number(struct python_random *r, uint32_t seed)
{
    r->state[0] = seed;
    for (uint32_t i = 1; i < N; i++)
        r->state[i] = 1812433253U * (r->state[i - 1] ^ r->state[i - 1] >> 30) + i;
}

/* init_by_array with a key of one word, which every seed below 2^32 is. */
void python_random_seed(struct python_random *r, uint32_t seed)
{
    uint32_t *s = r->state;
    int i = 1;
    seed_by_number(r, 19650218U);
    for (int k = 0; k < N; k++) {
        s[i] = (s[i] ^ (s[i - 1] ^ s[i - 1] >> 30) * 1664525U) + seed;
        if (++i == N) {
            s[0] = s[N - 1];
            i = 1;
        }
    }
    for (int k = 0; k < N - 1; k++) {
        s[i] = (s[i] ^ (s[i - 1] ^ s[i - 1] >> 30) * 1566083941U) - (uint32_t)i;
        if (++i == N) {
            s[0] = s[N - 1];
            i = 1;
        }
    }
    s[0] = 0x80000000U;
    r->next = N;
}

static void make_block(uint32_t *s)
{
    for (int i = 0; i < N; i++) {
        uint32_t y = (s[i] & 0x80000000U) | (s[(i + 1) % N] & 0x7fffffffU);
        s[i] = s[(i + M) % N] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfU : 0);
    }
}

uint32_t python_random_bits32(struct python_random *r)
{
    if (r->next == N) {
        make_block(r->state);
        r->next = 0;
    }
    uint32_t y = r->state[r->next++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680U;
    y ^= y << 15 & 0xefc60000U;
    return y ^ y >> 18;
}

int python_random_below(struct python_random *r, int n)
{
    int bits = 0;
    uint32_t drawn;
    while (n >> bits)
        bits++;
    do
        drawn = python_random_bits32(r) >> (32 - bits);
    while (drawn >= (uint32_t)n);
    return (int)drawn;
}

void python_random_shuffle(struct python_random *r, int *v, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int k = python_random_below(r, i + 1), kept = v[i];
        v[i] = v[k];
        v[k] = kept;
    }
}

void python_random_sample(struct python_random *r, int *out, int n)
{
    int pool[21];
    assert(n <= 21); /* beyond, Python samples by another method */
    for (int i = 0; i < n; i++)
        pool[i] = i;
    for (int i = 0; i < n; i++) {
        int k = python_random_below(r, n - i);
        out[i] = pool[k];
        pool[k] = pool[n - 1 - i];
    }
}
