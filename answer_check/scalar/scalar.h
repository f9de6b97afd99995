#ifndef ANSWER_CHECK_SCALAR_SCALAR_H
#define ANSWER_CHECK_SCALAR_SCALAR_H

#include "answer_check/tree/math_tree.h"

/* The door of the arithmetic on trees, for equal/ and compat/: which scalars are equal, which is smaller,
 * which decimal is a rounding of which number. Nothing here guesses: TRUE and FALSE are proved (for
 * expressions with symbols, by their values at fixed sample points), and everything else is UNKNOWN.
 *
 * MPFR keeps pi and the like for each thread, to the digits seen so far: a few kilobytes, which threads that
 * live as long as the program (OpenMP's do) need not free. Everything else lives in the arena or is freed by
 * the call that made it. */

enum math_truth { MATH_UNKNOWN, MATH_FALSE, MATH_TRUE }; /* UNKNOWN: beyond steps, limits or precision */

/* Is it a scalar: built of the scalar kinds (and MATH_BASE) only, without MATH_PLUS_MINUS? */
int math_is_scalar(const struct math_node *m);

/* Is m a written infinity? Its sign: 1, -1, or 0 when it is none. */
int math_infinity_sign(const struct math_node *m);

/* Are two scalars the same number, or the same function of their symbols wherever both are defined? Exact
 * rationals and polynomials first, certified numerics with rising precision for constants, sample points for
 * symbols, logarithms or exact structure for huge powers and factorials. A decimal counts as exactly the
 * value that is written; math_rounds_to() is for rounded ones. */
enum math_truth math_scalar_equal(struct math_work *w, const struct math_node *a, const struct math_node *b);

/* Is a < b, for real constants? UNKNOWN when they cannot be told apart at the highest precision. */
enum math_truth math_scalar_less(struct math_work *w, const struct math_node *a, const struct math_node *b);

/* Does the real constant `exact`, rounded half up (or half even) to `decimals` places, give the decimal
 * literal's value? decimals may be negative for 1.2e5. */
enum math_truth math_rounds_to(struct math_work *w, const struct math_node *exact,
                               const struct math_node *decimal, int decimals);

/* The value of an integer constant: 1 and *out when it is one and fits, else 0. */
int math_scalar_integer(struct math_work *w, const struct math_node *m, int64_t *out);

/* Does the symbol occur free? And the names of all free symbols, sorted, each once: their number, or -1 when
 * there are more than `capacity`. Bound variables of sums do not count. */
int math_has_symbol(const struct math_node *m, const char *name);
int math_symbols(struct math_work *w, const struct math_node *m, const char **out, int capacity);

/* A copy with every occurrence of a free symbol replaced. */
const struct math_node *math_substitute(struct math_work *w, const struct math_node *m, const char *name,
                                        const struct math_node *value);

/* Are a and b equal up to a constant factor that is not 0 (for equations a = 0 and b = 0)? */
enum math_truth math_scalar_proportional(struct math_work *w, const struct math_node *a,
                                         const struct math_node *b);

/* The real roots of a polynomial in `name` without other symbols, exactly, as trees, ascending, each once.
 * They are found as rational roots, by quadratics, and in p(x^k) from the roots of p. Returns their number,
 * or -1 when that does not give all of them. */
int math_real_roots(struct math_work *w, const struct math_node *m, const char *name,
                    const struct math_node **out, int capacity);

#endif
