#ifndef ANSWER_CHECK_SCALAR_SCALAR_EVAL_H
#define ANSWER_CHECK_SCALAR_SCALAR_EVAL_H

#include "answer_check/number/value.h"

enum { SCALAR_DEPTH = 2 * MATH_TREE_DEPTH };

/* The value of a tree: exact as long as it can be, an interval after that (or NUMBER_INEXACT where the
 * context has precision 0). Symbols have the values of c->bound; a symbol without one is NUMBER_UNKNOWN. */
int scalar_eval(struct number_context *c, const struct math_node *m, struct value *out);

/* The exact value of a tree, whatever the context's precision: 1 and *out, or 0 when it has none. */
int scalar_exact(struct number_context *c, const struct math_node *m, struct gauss *out);

/* scalar_special.c: MATH_FUNCTION and MATH_FACTORIAL nodes. */
int eval_function(struct number_context *c, const struct math_node *m, struct value *out);
int eval_factorial(struct number_context *c, const struct math_node *m, struct value *out);
/* scalar_trig.c: sin to csc, e to an exponent. */
int eval_trigonometric(struct number_context *c, const struct math_node *m, struct value *out);
int eval_exponential(struct number_context *c, const struct math_node *exponent, struct value *out);
/* An angle in degrees, minutes and seconds, as its number of degrees. */
int eval_degrees(struct number_context *c, const struct math_node *m, struct value *out);

#endif
