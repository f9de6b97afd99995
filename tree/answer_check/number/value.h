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
/* Replaces an exact value by an interval and leaves an interval as it is. Returns NUMBER_OK, NUMBER_INEXACT
 * if the context has precision 0, or NUMBER_UNKNOWN if no steps are left. */
int value_to_ball(struct number_context *c, struct value *v);
void value_release(struct number_context *c,
                   struct value *v); /* gives the value's ball back, if it has one */
int value_fraction(const struct value *v,
                   struct fraction *out);               /* 1 and *out if v is exact and real, else 0 */
int value_integer(const struct value *v, int64_t *out); /* the same for an exact integer that fits */

/* -v, a + b, a b, a/b and base^e. They return a number_status (number.h), with a result only under NUMBER_OK:
 * exact where both operands and the result are, else an interval, and NUMBER_INEXACT where that is needed and
 * the context has precision 0. Exactly 0 times anything is 0; Exactly 0 to an exact power that is not above 0
 * is NUMBER_UNDEFINED. The result may be one of the operands. They take over the balls of their operands, so
 * an operand must not be used afterwards, also after a failure. value_neg() works in place. */
int value_neg(struct number_context *c, struct value *v);
int value_add(struct number_context *c, struct value *out, struct value *a, struct value *b);
int value_mul(struct number_context *c, struct value *out, struct value *a, struct value *b);
int value_div(struct number_context *c, struct value *out, struct value *a, struct value *b);
int value_power(struct number_context *c, struct value *out, struct value *base, struct value *e);

#endif
