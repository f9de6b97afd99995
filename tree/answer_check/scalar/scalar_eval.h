#ifndef ANSWER_CHECK_SCALAR_SCALAR_EVAL_H
#define ANSWER_CHECK_SCALAR_SCALAR_EVAL_H

#include "answer_check/number/value.h"

/* Values of trees. The functions that take a struct value return a number_status (number.h), with a value
 * only under NUMBER_OK, whose ball belongs to the context. Symbols have the values of c->bound. A symbol
 * without a value, NULL, a tree that is no scalar and a tree that is too deep give NUMBER_UNKNOWN. */

enum { SCALAR_DEPTH = 2 * MATH_TREE_DEPTH }; /* deeper trees have no value */

/* The value of a tree: exact as long as it can be, an interval after that, or NUMBER_INEXACT if the context
 * has precision 0. */
int scalar_eval(struct number_context *c, const struct math_node *m, struct value *out);

/* The exact value of a tree, whatever the context's precision. Returns 1 and sets *out, or returns 0 and
 * leaves it if there is none or no steps are left. */
int scalar_exact(struct number_context *c, const struct math_node *m, struct gauss *out);

/* The parts of scalar_eval(), for its files. Nodes of the kinds MATH_FUNCTION and MATH_FACTORIAL
 * (scalar_special.c). */
int eval_function(struct number_context *c, const struct math_node *m, struct value *out);
int eval_factorial(struct number_context *c, const struct math_node *m, struct value *out);
/* A MATH_FUNCTION of one argument from sin to csc, and e to an exponent (scalar_trig.c). */
int eval_trigonometric(struct number_context *c, const struct math_node *m, struct value *out);
int eval_exponential(struct number_context *c, const struct math_node *exponent, struct value *out);
/* The number of degrees of an angle in degrees, minutes and seconds. */
int eval_degrees(struct number_context *c, const struct math_node *m, struct value *out);

#endif
