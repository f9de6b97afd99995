#ifndef ANSWER_CHECK_SCALAR_SCALAR_FORM_H
#define ANSWER_CHECK_SCALAR_SCALAR_FORM_H

#include "answer_check/scalar/scalar_sparse.h"

/* Trees as quotients of polynomials. The variables are the symbols, square roots of primes, pi, e, and atoms.
 * An atom is any other subtree; it is the same variable wherever it is written the same. Equal quotients
 * prove equality. Different ones prove inequality only if the variables are independent over the fractions,
 * as symbols, square roots of different primes, and one of pi and e are. A function that returns int and
 * takes a space returns a number_status (number.h): NUMBER_UNKNOWN also for NULL and for trees that are too
 * deep, NUMBER_INEXACT beyond the limits of sparse polynomials and for more than SPARSE_VARIABLES variables,
 * NUMBER_UNDEFINED for a division by 0. */
enum form_kind { FORM_SYMBOL, FORM_ROOT, FORM_PI, FORM_E, FORM_ATOM };

struct form_variable {
    enum form_kind kind;
    const struct math_node *tree; /* what the variable stands for */
};

struct form_space {
    struct sparse_ring ring;
    int n;
    struct form_variable variable[SPARSE_VARIABLES];
    int dependent; /* set when variables may be related */
    int atoms;     /* set when a variable is an atom, which may be undefined */
};

struct form {
    struct sparse num, den; /* den is not zero */
};

/* Starts a space without variables; c is borrowed, and there is nothing to close. */
void form_open(struct form_space *s, struct number_context *c);
/* The quotient of a tree. Variables that are new are added to the space. */
int form_of(struct form_space *s, const struct math_node *m, struct form *out);
/* The numerator of a - b: the difference, multiplied by both denominators. */
int form_difference(struct form_space *s, struct sparse *out, const struct form *a, const struct form *b);

/* The largest monomial of p in the symbols alone, and the coefficient of such a monomial, a polynomial in
 * roots, constants and atoms. */
monomial form_leading(const struct form_space *s, const struct sparse *p);
int form_coefficient(struct form_space *s, const struct sparse *p, monomial at, struct sparse *out);

/* Are the trees written the same, up to the order of summands and factors? 1 or 0; 0 also when no steps are
 * left. */
int scalar_same_tree(struct math_work *w, const struct math_node *a, const struct math_node *b);

#endif
