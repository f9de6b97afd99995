#ifndef ANSWER_CHECK_CALCULUS_CALCULUS_H
#define ANSWER_CHECK_CALCULUS_CALCULUS_H

#include "answer_check/scalar/scalar.h"

/* Definite integrals, infinite series and limits as numbers, for equal. Only what schoolbook rules give is
 * evaluated, and only where the rule's conditions are proved; everything else stays as it is. */

/* A tree without the integrals, series and limits that could be evaluated; m itself where there is none.
 * Never NULL unless m is NULL or steps ran out. */
const struct math_node *calculus_evaluate(struct math_work *w, const struct math_node *m);

/* A function whose derivative by x is m, the constant left out; NULL where none is known. It may have poles
 * that m has, and is real: ln |x| for 1/x. */
const struct math_node *calculus_antiderivative(struct math_work *w, const struct math_node *m,
                                                const char *x);
int calculus_is_infinite(const struct math_node *m); /* -1, 0 or 1 */

/* ---- for the files of this room ---- */

/* The derivative by a symbol (calculus_derivative.c); NULL for what has no rule. */
const struct math_node *calculus_derivative(struct math_work *w, const struct math_node *m, const char *x);

/* The integral of m over x between two bounds (calculus_integral.c); NULL where no antiderivative is known,
 * or where it is not proved to be smooth between the bounds. */
const struct math_node *calculus_integral(struct math_work *w, const struct math_node *m, const char *x,
                                          const struct math_node *low, const struct math_node *high);

/* m as one quotient (calculus_quotient.c). What is no sum, product or quotient is a numerator. Returns 0, or
 * -1 when no steps are left. */
struct calculus_quotient {
    const struct math_node *above, *below;
};
int calculus_as_quotient(struct math_work *w, const struct math_node *m, const char *x,
                         struct calculus_quotient *out);

/* The limit of m for x to a number or to infinity (calculus_limit.c); NULL where the rules do not give it. */
const struct math_node *calculus_limit(struct math_work *w, const struct math_node *m, const char *x,
                                       const struct math_node *to);

/* At infinity, or with sign < 0 at minus infinity (calculus_infinity.c); NULL. */
const struct math_node *calculus_limit_at_infinity(struct math_work *w, const struct math_node *m,
                                                   const char *x, int sign);

/* The sum of m over x from a number to infinity (calculus_series.c); NULL. */
const struct math_node *calculus_series(struct math_work *w, const struct math_node *m, const char *x,
                                        const struct math_node *from);

/* The same for the series of calculus_series_known.c. */
const struct math_node *calculus_known_series(struct math_work *w, const struct math_node *m, const char *x,
                                              int64_t first);
const struct math_node *calculus_power(struct math_work *w, const struct math_node *a,
                                       const struct math_node *b);

#endif
