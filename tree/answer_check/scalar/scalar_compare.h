#ifndef ANSWER_CHECK_SCALAR_SCALAR_COMPARE_H
#define ANSWER_CHECK_SCALAR_SCALAR_COMPARE_H

#include "answer_check/scalar/scalar.h"
#include "answer_check/scalar/scalar_eval.h"

/* Comparisons between trees whose symbols all have values in c->bound. A function that returns enum
 * math_truth answers MATH_UNKNOWN when no steps are left, one that returns 1 or 0 then returns 0. */

/* The precisions that are tried in turn, ended by 0. From the accept_from-th on, two numbers count as equal
 * when the interval of their difference holds 0 and is at most 2^-accept of their size. This is the one step
 * that is not a proof. It is not taken where a number beyond 2^900 or below 2^-900 took part, because the
 * difference of such numbers may be too small to be seen. */
struct scalar_plan {
    long precision[4];
    long accept;
    int accept_from;
};
extern const struct scalar_plan plan_constant; /* 128, 512, 2048 bits; 2^-1000 at 2048 */
extern const struct scalar_plan plan_point;    /* 192, 512 bits; 2^-150 */

/* Are two constants equal? UNKNOWN if a side is undefined or the precision does not suffice; c->huge and
 * c->wide then say which sizes of numbers took part. */
enum math_truth scalar_compare(struct number_context *c, const struct math_node *a, const struct math_node *b,
                               const struct scalar_plan *plan);
/* The proved order of two real constants. Returns 1 and sets *order to -1, 1, or 0 if both are exact and
 * equal; else returns 0. */
int scalar_order(struct number_context *c, const struct math_node *a, const struct math_node *b, int *order);

/* The same for products and towers of powers that are too large for exact numbers and intervals
 * (scalar_huge.c). */
/* Are two products of powers and factorials equal? Decided exactly; UNKNOWN for other trees and beyond its
 * limits. */
enum math_truth scalar_products_equal(struct number_context *c, const struct math_node *a,
                                      const struct math_node *b);
/* FALSE if scalar_huge_order() finds an order of a and b, else UNKNOWN; never TRUE. */
enum math_truth scalar_huge_equal(struct number_context *c, const struct math_node *a,
                                  const struct math_node *b);
/* The order of two constants by their logarithms. Returns 1 and sets *order to -1 or 1, or returns 0, also
 * for equal ones; *order then means nothing. */
int scalar_huge_order(struct number_context *c, const struct math_node *a, const struct math_node *b,
                      int *order);

/* Equality as functions of n given symbols, by their values at sample points (scalar_points.c): FALSE if the
 * values differ at a point, TRUE if they agree at enough of them, else UNKNOWN, as for more than
 * SAMPLE_SYMBOLS symbols. */
enum { SAMPLE_SYMBOLS = 24 };
enum math_truth scalar_equal_at_points(struct math_work *w, const struct math_node *a,
                                       const struct math_node *b, const char *const *names, int n);
/* Is the ratio a : b the same at all points, and not 0? */
enum math_truth scalar_proportional_at_points(struct math_work *w, const struct math_node *a,
                                              const struct math_node *b, const char *const *names, int n);

/* A comparison of two scalars: math_scalar_equal(). */
typedef enum math_truth scalar_equality(struct math_work *w, const struct math_node *a,
                                        const struct math_node *b);

/* Replaces unknown functions, integrals and other opaque subtrees of *a and *b by new symbols
 * (scalar_symbols.c). Subtrees whose parts are `equal` get the same symbol. Returns 0, also where there is
 * nothing to replace, or -1 if there are too many or no steps are left; *a and *b may then be NULL. */
int scalar_abstract(struct math_work *w, const struct math_node **a, const struct math_node **b,
                    scalar_equality *equal);

#endif
