#ifndef TASKS_PYTHON_RANDOM_H
#define TASKS_PYTHON_RANDOM_H

#include <stdint.h>

/* The draws of Python's `random.Random(seed)`, for orders that other harnesses make with it: MT19937 seeded
 * by init_by_array (Matsumoto and Nishimura, 1998), numbers below n by rejection on as many top bits as n
 * has. CPython's documentation promises the same draws for a seed in random(); these follow the method of 3.2
 * on. */
struct python_random {
    uint32_t state[624];
    int next;
};
void python_random_seed(struct python_random *r, uint32_t seed);
uint32_t python_random_bits32(struct python_random *r);
int python_random_below(struct python_random *r, int n);            /* 0..n-1; n at least 1 */
void python_random_shuffle(struct python_random *r, int *v, int n); /* random.shuffle */
void python_random_sample(struct python_random *r, int *out,
                          int n); /* random.sample(range(n), n), n up to 21 */

#endif
