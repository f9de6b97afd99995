#ifndef ANSWER_CHECK_CALCULUS_CALCULUS_H
#define ANSWER_CHECK_CALCULUS_CALCULUS_H

#include "answer_check/scalar/scalar.h"

/* Definite integrals, infinite series, limits and derivatives, for equal/ and compat/. Only what schoolbook
 * rules give is evaluated, and only where the rule's conditions are proved; everything else stays as it is.
 */

/* Replaces the integrals, series, limits and derivatives in m that can be evaluated, from the inside out.
 * Returns the new tree in w's arena, m itself if there is none, and NULL only if m is NULL or no steps are
 * left. */
const struct math_node *calculus_evaluate(struct math_work *w, const struct math_node *m);

/* Returns a function whose derivative by x is m, without a constant of integration; NULL if none is found, m
 * is NULL or no steps are left. It is real, ln |x| for 1/x, and may have the poles of m. */
const struct math_node *calculus_antiderivative(struct math_work *w, const struct math_node *m,
                                                const char *x);

#endif
