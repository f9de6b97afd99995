#ifndef ANSWER_CHECK_SCALAR_SCALAR_H
#define ANSWER_CHECK_SCALAR_SCALAR_H

#include "answer_check/tree/math_tree.h"

/* The door of the comparison of scalars, for calculus/, equal/ and compat/: which scalars are equal, which is
 * smaller, which decimal is a rounding of which number. Nothing here guesses: TRUE and FALSE are proved (for
 * expressions with symbols, by their values at fixed sample points), and everything else is UNKNOWN. All
 * functions that have a w take steps from it and answer UNKNOWN, 0, -1 or NULL when none are left; a tree
 * that is NULL gives the same answer, unless noted. Trees returned are new or parts of those given, in the
 * arena of w.
 *
 * MPFR keeps pi and similar constants for each thread, to the digits needed so far: a few kilobytes, which
 * threads that live as long as the program (OpenMP's do) need not free. Everything else lives in the arena or
 * is freed by the call that made it. */

enum math_truth { MATH_UNKNOWN, MATH_FALSE, MATH_TRUE }; /* UNKNOWN: beyond steps, limits or precision */

/* Is m a scalar: made of the scalar kinds (and MATH_BASE) only, without MATH_PLUS_MINUS? 1 or 0; 0 for NULL.
 * What a MATH_OPAQUE holds is not looked at. */
int math_is_scalar(const struct math_node *m);

/* The sign of a written infinity, 1 or -1; 0 for any other tree. m is not NULL. */
int math_infinity_sign(const struct math_node *m);

/* Are two scalars the same number, or the same function of their symbols wherever both are defined? The
 * methods are, in this order: exact rationals and polynomials; certified intervals of rising precision for
 * constants, or sample points for symbols; logarithms or exact structure for huge powers and factorials. A
 * decimal counts as exactly the value that is written; math_rounds_to() is for rounded ones. */
enum math_truth math_scalar_equal(struct math_work *w, const struct math_node *a, const struct math_node *b);

/* Is a < b, for real constants? FALSE if a > b or both are exact and equal; UNKNOWN if they cannot be told
 * apart at the highest precision, or a side is no real constant. */
enum math_truth math_scalar_less(struct math_work *w, const struct math_node *a, const struct math_node *b);

/* Does the real constant `exact`, rounded half up or half to even to `decimals` places, give the value of the
 * decimal literal? FALSE also if the literal has more decimals than that. decimals is negative for numbers
 * such as 1.2e5. */
enum math_truth math_rounds_to(struct math_work *w, const struct math_node *exact,
                               const struct math_node *decimal, int decimals);

/* Finds the value of an integer constant, however it is written. Returns 1 and sets *out, or returns 0 and
 * leaves it if m is not proved to be an integer or does not fit. */
int math_scalar_integer(struct math_work *w, const struct math_node *m, int64_t *out);

/* Does the symbol occur free in m? 1 or 0; 0 for NULL. The bound variable of a sum does not count within the
 * sum. */
int math_has_symbol(const struct math_node *m, const char *name);

/* Writes the names of all free symbols of m, sorted, each once. Returns their number, or -1 if there are more
 * than `capacity`. The names are borrowed from the tree; NULL has none. */
int math_symbols(struct math_work *w, const struct math_node *m, const char **out, int capacity);

/* A copy of m with every free occurrence of a symbol replaced by a value. NULL if a bound variable would
 * catch a symbol of the value; m itself if the symbol does not occur. */
const struct math_node *math_substitute(struct math_work *w, const struct math_node *m, const char *name,
                                        const struct math_node *value);

/* Are a and b equal up to a constant factor other than 0? Then the equations a = 0 and b = 0 are the same. */
enum math_truth math_scalar_proportional(struct math_work *w, const struct math_node *a,
                                         const struct math_node *b);

/* Writes the real roots of a polynomial in `name` without other symbols, exactly, as trees, ascending, each
 * once. They are found as rational roots, by quadratics, and in p(x^k) from the roots of p. Returns their
 * number, which is 0 for a constant other than 0, or -1 if m is no such polynomial or is 0, if these methods
 * do not give all of them or there are more than `capacity`. */
int math_real_roots(struct math_work *w, const struct math_node *m, const char *name,
                    const struct math_node **out, int capacity);

#endif
