#ifndef ANSWER_CHECK_NUMBER_VALUE_H
#define ANSWER_CHECK_NUMBER_VALUE_H

#include "answer_check/number/ball.h"

/* A number that is exact as long as it can be, and an interval after that. */
struct value {
    int exact;
    struct gauss g; /* exact */
    struct ball *b; /* otherwise */
};

/* Makes an interval of an exact value. NUMBER_INEXACT where the context has precision 0. */
int value_to_ball(struct number_context *c, struct value *v);
void value_release(struct number_context *c, struct value *v); /* gives the ball back */
void value_set(struct value *out, struct gauss g);
int value_fraction(const struct value *v, struct fraction *out); /* 1 when exact and real */
int value_integer(const struct value *v, int64_t *out);          /* 1 when an exact integer that fits */

/* A result may be one of the operands. The operations take over the operands' balls, so an
 * operand must not be used again. */
int value_neg(struct number_context *c, struct value *v); /* in place */
int value_add(struct number_context *c, struct value *out, struct value *a, struct value *b);
int value_mul(struct number_context *c, struct value *out, struct value *a, struct value *b);
int value_div(struct number_context *c, struct value *out, struct value *a, struct value *b);
int value_power(struct number_context *c, struct value *out, struct value *base, struct value *e);

#endif
