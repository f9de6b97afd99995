#ifndef ANSWER_CHECK_SCALAR_SCALAR_SPARSE_H
#define ANSWER_CHECK_SCALAR_SCALAR_SPARSE_H

#include "answer_check/number/number.h"

/* Sparse polynomials in up to ten variables over the Gaussian fractions, in normal form: terms in descending
 * order of their monomials, without zero coefficients. A monomial is a row of 12-bit exponents in one
 * integer, so the product of two monomials is a sum of integers. A variable may stand for a square root: its
 * exponent is then 0 or 1, and its square is replaced by a number. */
enum {
    SPARSE_VARIABLES = 10,
    SPARSE_EXPONENT_BITS = 12,
    SPARSE_DEGREE = 1000,
    SPARSE_PRODUCTS = 6000,
    SPARSE_POWER_TERMS = 300
};

typedef unsigned __int128 monomial;

struct sparse_term {
    monomial m;
    struct gauss c;
};

struct sparse {
    int n;
    struct sparse_term *terms;
};

/* square[i] is not 0 where variable i is the square root of that integer. */
struct sparse_ring {
    struct number_context *c;
    int64_t square[SPARSE_VARIABLES];
};

/* Operations, which are a constant, variable^exponent, a + b, a - b, a b and a^e. They return a number_status
 * (number.h), with a result only under NUMBER_OK: NUMBER_INEXACT if it is beyond the limits above or an
 * exponent is negative, NUMBER_UNKNOWN when no steps are left. The result may be one of the operands; terms
 * live in the arena. */
int sparse_constant(struct sparse_ring *r, struct sparse *out, struct gauss g);
int sparse_variable(struct sparse_ring *r, struct sparse *out, int variable, int exponent);
int sparse_add(struct sparse_ring *r, struct sparse *out, const struct sparse *a, const struct sparse *b);
int sparse_sub(struct sparse_ring *r, struct sparse *out, const struct sparse *a, const struct sparse *b);
int sparse_mul(struct sparse_ring *r, struct sparse *out, const struct sparse *a, const struct sparse *b);
int sparse_pow(struct sparse_ring *r, struct sparse *out, const struct sparse *a, int64_t e);
/* Are a and b the same polynomial? 1 or 0; no number_status. */
int sparse_equal(struct sparse_ring *r, const struct sparse *a, const struct sparse *b);
int sparse_is_constant(const struct sparse *a, struct gauss *value); /* 1 and *value, or 0 */

int monomial_exponent(monomial m, int variable);     /* the exponent of one variable */
monomial monomial_power(int variable, int exponent); /* variable^exponent */

#endif
