#ifndef ANSWER_CHECK_COMPAT_COMPAT_EQUAL_H
#define ANSWER_CHECK_COMPAT_COMPAT_EQUAL_H

#include "answer_check/compat/compat_read.h"

/* The original's comparison. All functions but compat_simplify() return 1 for equal or yes, and 0 for
 * different and, like the original, for what cannot be decided or when no steps are left. No tree is NULL. */
struct compat_comparison {
    struct math_work *w;
    int rounding;  /* how many decimals count if a side is a decimal number */
    int relaxed;   /* not strict: symbols are matched by their order, not by their names */
    int both_ways; /* a relation and a set may be equal whichever of them is the reference */
    int depth;
};

/* Compares a response with the reference (gold), which decides what is unwrapped. Nested deeper than 20 they
 * count as different. */
int compat_equal(struct compat_comparison *c, const struct math_node *gold, const struct math_node *pred);

/* ---- parts of the comparison */

/* What SymPy makes of integrals, limits, derivatives, rounded values and extrema in m (compat_simplify.c).
 * Returns a new tree, m itself where it has none of these, and NULL if no steps are left. */
const struct math_node *compat_simplify(struct math_work *w, const struct math_node *m);
/* Are two scalars equal, or two matrices entry by entry (compat_equal_value.c)? 0 for other kinds. */
int compat_values(struct compat_comparison *c, const struct math_node *gold, const struct math_node *pred);
/* Are two relations equal, or two chains of as many links, link by link (compat_equal_relation.c)? Both are
 * MATH_RELATION. */
int compat_relations(struct compat_comparison *c, const struct math_node *gold, const struct math_node *pred);
/* Are both the same set of real numbers (compat_equal_relation.c)? For intervals, unions and relations in one
 * symbol. */
int compat_same_region(struct math_work *w, const struct math_node *a, const struct math_node *b);
/* Are both written in the same way, node by node, with the elements of sets in any order? */
int compat_same_writing(struct math_work *w, const struct math_node *a, const struct math_node *b);
int compat_is_set(const struct math_node *m); /* a set of any kind, but not a tuple */

#endif
