#ifndef ANSWER_CHECK_CALCULUS_CALCULUS_H
#define ANSWER_CHECK_CALCULUS_CALCULUS_H

#include "answer_check/scalar/scalar.h"

/* Definite integrals, infinite series and limits as numbers, for equal. Only what schoolbook rules give is
 * evaluated, and only where the rule's conditions are proved; everything else stays as it is. */

/* A tree without the integrals, series and limits that could be evaluated; m itself where there is none.
 * Never NULL unless m is NULL or steps ran out. */
const struct math_node *calculus_evaluate(struct math_work *w, const struct math_node *m);

/* ---- for the files of this room ---- */

/* The derivative by a symbol (calculus_derivative.c); NULL for what has no rule. */
const struct math_node *calculus_derivative(struct math_work *w, const struct math_node *m, const char *x);

/* The integral of m over x between two bounds (calculus_integral.c); NULL where no antiderivative is known,
 * or where it is not proved to be smooth between the bounds. */
const struct math_node *calculus_integral(struct math_work *w, const struct math_node *m, const char *x,
                                          const struct math_node *low, const struct math_node *high);

/* The limit of m for x to a number or to infinity (calculus_limit.c); NULL where the rules do not give it. */
const struct math_node *calculus_limit(struct math_work *w, const struct math_node *m, const char *x,
                                       const struct math_node *to);

/* The sum of m over x from a number to infinity (calculus_series.c); NULL. */
const struct math_node *calculus_series(struct math_work *w, const struct math_node *m, const char *x,
                                        const struct math_node *from);

int calculus_is_infinite(const struct math_node *m); /* -1, 0 or 1 */
const struct math_node *calculus_power(struct math_work *w, const struct math_node *a,
                                       const struct math_node *b);

#endif
