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

#endif
