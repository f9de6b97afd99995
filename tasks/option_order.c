/* Orders of options (contract: option_order.h). The rules of the other harnesses were read in their sources
 * and compared with 198 orders of each made by Python. */
#include "tasks/option_order.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/hash.h"

/* ---- Python's generator */

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
    assert(n <= 21); /* beyond, python_random_pick() would need more memory */
    python_random_pick(r, out, n, n);
}

/* Python moves the last entry of a pool where the drawn one was, or, where k of n would make that pool larger
 * than a set of k, draws again what was drawn before. */
void python_random_pick(struct python_random *r, int *out, int n, int k)
{
    int set_size = 21, power = 1;
    while (k > 5 && power < 3 * k)
        power *= 4;
    set_size += k > 5 ? power : 0;
    int *pool = n <= set_size ? xmalloc((size_t)(n + 1) * sizeof *pool) : NULL;
    for (int i = 0; pool && i < n; i++)
        pool[i] = i;
    for (int i = 0; i < k; i++) {
        int at = python_random_below(r, pool ? n - i : n), is_new = 0;
        while (!pool && !is_new) {
            is_new = 1;
            for (int m = 0; m < i; m++)
                is_new &= out[m] != at;
            if (!is_new)
                at = python_random_below(r, n);
        }
        out[i] = pool ? pool[at] : at;
        if (pool)
            pool[at] = pool[n - 1 - i];
    }
    free(pool);
}

/* ---- orders */

const char *const option_rule_names[] = {"record",  "simple-evals", "lighteval",
                                         "lm-eval", "nemo-skills",  NULL};

void option_order_init(struct option_order *o, enum option_rule rule)
{
    static const uint32_t seeds[] = {0, 0, 1234, 0, 42};
    o->rule = rule;
    python_random_seed(&o->random, seeds[rule]);
}

/* The h-th of the 24 permutations, by choosing in turn from what is left. */
static void by_record(int order[4], const char *id, size_t n_id)
{
    uint64_t h = hash_bytes64(id, n_id) % 24;
    int left[4] = {0, 1, 2, 3};
    for (int n = 4; n > 0; n--) {
        int k = (int)(h % (uint64_t)n);
        h /= (uint64_t)n;
        order[4 - n] = left[k];
        memmove(left + k, left + k + 1, (size_t)(n - 1 - k) * sizeof *left);
    }
}

void option_order_next(struct option_order *o, int order[4], const char *id, size_t n)
{
    static const int correct_last[4] = {1, 2, 3, 0};
    int at;
    switch (o->rule) {
    case OPTIONS_BY_RECORD:
        by_record(order, id, n);
        break;
    case OPTIONS_SIMPLE_EVALS:
        python_random_sample(&o->random, order, 4);
        break;
    case OPTIONS_LIGHTEVAL:
        at = python_random_below(&o->random, 4);
        for (int i = 0, wrong = 1; i < 4; i++)
            order[i] = i == at ? 0 : wrong++;
        break;
    case OPTIONS_LM_EVAL:
    case OPTIONS_NEMO_SKILLS:
        memcpy(order, correct_last, sizeof correct_last);
        python_random_shuffle(&o->random, order, 4);
        break;
    }
}
