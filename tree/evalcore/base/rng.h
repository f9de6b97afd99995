#ifndef EVALCORE_BASE_RNG_H
#define EVALCORE_BASE_RNG_H

#include <stdint.h>

/* Random numbers for every room but kernels. Philox4x32-10 (Salmon et al., SC'11) is a counter-based
 * generator: a draw is a function of (key, counter) alone and depends on no state, order or thread. */
void philox4x32(const uint32_t key[2], const uint32_t counter[4], uint32_t out[4]);

/* A stream for host code that wants "the next number": the numbers 4n to 4n+3 are the output for the counter
 * (n, stream) of two 64-bit words under a 64-bit key. */
struct rng {
    uint64_t key, stream, n;
    uint32_t out[4];
    int left;
};
void rng_init(struct rng *r, uint64_t key, uint64_t stream); /* at the stream's first number */
uint32_t rng_u32(struct rng *r);                             /* the next number, any of the 2^32 */
uint32_t rng_below(struct rng *r, uint32_t n);  /* uniform in 0..n-1, by rejection; 0 when n is 0 */
void rng_shuffle(struct rng *r, int *v, int n); /* puts n values into random order */
double rng_unit(struct rng *r);                 /* uniform in [0, 1), 53 bits, from two numbers */

#endif
