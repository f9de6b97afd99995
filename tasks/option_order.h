#ifndef TASKS_OPTION_ORDER_H
#define TASKS_OPTION_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* Python's `random.Random(seed)`, for orders that other harnesses draw with it: MT19937 seeded by
 * init_by_array (Matsumoto and Nishimura, 1998); numbers below n by rejection on as many top bits as n has.
 * The draws are those of CPython since 3.2. */
struct python_random {
    uint32_t state[624];
    int next;
};
/* Starts the generator as random.Random(seed) does. */
void python_random_seed(struct python_random *r, uint32_t seed);
/* Returns the next 32 random bits, as getrandbits(32). */
uint32_t python_random_bits32(struct python_random *r);
/* Returns a number from 0 to n-1, as randrange(n); n at least 1. */
int python_random_below(struct python_random *r, int n);
/* Shuffles the n numbers in v, as random.shuffle. */
void python_random_shuffle(struct python_random *r, int *v, int n);
/* Writes random.sample(range(n), n) to out; n at most 21. */
void python_random_sample(struct python_random *r, int *out, int n);
/* Writes random.sample(range(n), k) to out; k at most n. */
void python_random_pick(struct python_random *r, int *out, int n, int k);

/* The order in which a multiple-choice record's four options stand at A to D: our own, or that of another
 * harness, bit for bit, so that its prompts can be repeated. Options are numbered 0 (correct), 1, 2, 3
 * (incorrect, as the file has them). */
enum option_rule {
    OPTIONS_BY_RECORD,    /* by the hash of the record's id: independent of a seed and of the other rows */
    OPTIONS_SIMPLE_EVALS, /* simple-evals and gpt-oss: Random(0), sample(range(4), 4) of [0, 1, 2, 3] a row */
    OPTIONS_LIGHTEVAL,    /* Random(1234), 0 inserted into [1, 2, 3] at randint(0, 3) */
    OPTIONS_LM_EVAL,      /* lm-evaluation-harness: Random(0), shuffle of [1, 2, 3, 0] */
    OPTIONS_NEMO_SKILLS   /* Random(42), the same */
};
extern const char *const option_rule_names[]; /* ends with NULL */

struct option_order {
    enum option_rule rule;
    struct python_random random;
};
/* option_order_init() seeds the generator of the rule. option_order_next() sets order[i] to the number of the
 * option that stands at letter i of the next row; id (n bytes) is that of the record, which only
 * OPTIONS_BY_RECORD uses. The draws go row by row: call it for each row of the file, in its order. */
void option_order_init(struct option_order *o, enum option_rule rule);
void option_order_next(struct option_order *o, int order[4], const char *id, size_t n);

#endif
