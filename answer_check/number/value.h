#ifndef ANSWER_CHECK_NUMBER_VALUE_H
#define ANSWER_CHECK_NUMBER_VALUE_H

#include "answer_check/number/ball.h"

/* A number that is exact as long as it can be, and an interval after that. */
struct value {
    int exact;
    struct gauss g; /* the value, if it is exact */
    struct ball *b; /* the interval otherwise */
};

void value_set(struct value *out, struct gauss g); /* makes *out exact, without freeing a ball */
/* Replaces an exact value by an interval. NUMBER_INEXACT if the context has precision 0. */
int value_to_ball(struct number_context *c, struct value *v);
void value_release(struct number_context *c, struct value *v); /* frees the value's ball, if it has one */
int value_fraction(const struct value *v,
                   struct fraction *out);               /* 1 and *out if v is exact and real, else 0 */
int value_integer(const struct value *v, int64_t *out); /* 1 and *out if v is an exact integer that fits */

/* Operations. The result may be one of the operands. They take over the balls of their operands, so an
 * operand must not be used afterwards. value_neg() works in place. */
int value_neg(struct number_context *c, struct value *v);
int value_add(struct number_context *c, struct value *out, struct value *a, struct value *b);
int value_mul(struct number_context *c, struct value *out, struct value *a, struct value *b);
int value_div(struct number_context *c, struct value *out, struct value *a, struct value *b);
int value_power(struct number_context *c, struct value *out, struct value *base, struct value *e);

#endif
