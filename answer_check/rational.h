#ifndef ANSWER_CHECK_RATIONAL_H
#define ANSWER_CHECK_RATIONAL_H

#include <stdint.h>

/* Exact fractions of 64-bit integers, reduced, den > 0. Every operation returns 0, or -1 when the result does
 * not fit (or divides by zero); *out is then untouched. */
struct rational {
    int64_t num, den;
};

int rational_set(struct rational *out, int64_t num, int64_t den);
int rational_add(struct rational *out, struct rational a, struct rational b);
int rational_mul(struct rational *out, struct rational a, struct rational b);
int rational_div(struct rational *out, struct rational a, struct rational b);
int rational_pow(struct rational *out, struct rational a, int e); /* e may be negative when a is not 0 */
int rational_sqrt(struct rational *out, struct rational a); /* -1 unless a is the square of a fraction */
int rational_equal(struct rational a, struct rational b);

#endif
