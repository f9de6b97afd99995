#ifndef ANSWER_CHECK_CALCULUS_CALCULUS_PARTS_H
#define ANSWER_CHECK_CALCULUS_CALCULUS_PARTS_H

#include "answer_check/scalar/calculus.h"

/* What the files of this folder do for each other. Every function that returns a tree returns a new one in
 * w's arena, or NULL where its rules give no result and when no steps are left. */

/* The derivative of m by the symbol x (calculus_derivative.c). */
const struct math_node *calculus_derivative(struct math_work *w, const struct math_node *m, const char *x);

/* The integral of m over x between two bounds (calculus_integral.c), if an antiderivative is known and proved
 * to be smooth between the bounds. */
const struct math_node *calculus_integral(struct math_work *w, const struct math_node *m, const char *x,
                                          const struct math_node *low, const struct math_node *high);

/* Writes m as one quotient (calculus_derivative.c). What is no sum, product or quotient, or does not hold
 * x, becomes a numerator over 1. Returns 0 and sets *out, or -1 when no steps are left. */
struct calculus_quotient {
    const struct math_node *above, *below;
};
int calculus_as_quotient(struct math_work *w, const struct math_node *m, const char *x,
                         struct calculus_quotient *out);

/* The limit of m as x goes to a number or to infinity (calculus_limit.c); NULL also where `to` holds x. */
const struct math_node *calculus_limit(struct math_work *w, const struct math_node *m, const char *x,
                                       const struct math_node *to);

/* The sum of m over the integers x from an integer to infinity (calculus_series.c). */
const struct math_node *calculus_series(struct math_work *w, const struct math_node *m, const char *x,
                                        const struct math_node *from);

#endif
