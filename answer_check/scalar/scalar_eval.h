#ifndef ANSWER_CHECK_SCALAR_SCALAR_EVAL_H
#define ANSWER_CHECK_SCALAR_SCALAR_EVAL_H

#include "answer_check/scalar/scalar_ball.h"

/* The value of a tree: exact as long as it can be, an interval after that (or SCALAR_INEXACT where the
 * context has precision 0). Symbols have the values of c->bound; a symbol without one is SCALAR_UNKNOWN. */
struct value {
    int exact;
    struct gauss g; /* exact */
    struct ball *b; /* otherwise */
};

int scalar_eval(struct scalar_context *c, const struct math_node *m, struct value *out);

/* Makes an interval of an exact value. SCALAR_INEXACT where the context has precision 0. */
int value_to_ball(struct scalar_context *c, struct value *v);
void value_release(struct scalar_context *c, struct value *v); /* gives the ball back */
void value_set(struct value *out, struct gauss g);
int value_fraction(const struct value *v, struct fraction *out); /* 1 when exact and real */
int value_integer(const struct value *v, int64_t *out);          /* 1 when an exact integer that fits */

/* scalar_value.c. A result may be one of the operands. The operations take over the operands' balls, so an
 * operand must not be used again. */
int value_neg(struct scalar_context *c, struct value *v); /* in place */
int value_add(struct scalar_context *c, struct value *out, struct value *a, struct value *b);
int value_mul(struct scalar_context *c, struct value *out, struct value *a, struct value *b);
int value_div(struct scalar_context *c, struct value *out, struct value *a, struct value *b);
int value_power(struct scalar_context *c, struct value *out, struct value *base, struct value *e);

/* The exact value of a tree, whatever the context's precision: 1 and *out, or 0 when it has none. */
int scalar_exact(struct scalar_context *c, const struct math_node *m, struct gauss *out);

/* scalar_special.c: MATH_FUNCTION and MATH_FACTORIAL nodes. */
int eval_function(struct scalar_context *c, const struct math_node *m, struct value *out);
int eval_factorial(struct scalar_context *c, const struct math_node *m, struct value *out);
/* scalar_trig.c: sin to csc, e to an exponent. */
int eval_trigonometric(struct scalar_context *c, const struct math_node *m, struct value *out);
int eval_exponential(struct scalar_context *c, const struct math_node *exponent, struct value *out);
/* An angle in degrees, minutes and seconds, as its number of degrees. */
int eval_degrees(struct scalar_context *c, const struct math_node *m, struct value *out);

#endif
