#ifndef ANSWER_CHECK_COMPAT_COMPAT_EQUAL_H
#define ANSWER_CHECK_COMPAT_COMPAT_EQUAL_H

#include "answer_check/compat/compat_read.h"

/* The original's comparison. All functions return 1 for equal and 0 for anything else: like the original,
 * they take what cannot be decided for different. */
struct compat_comparison {
    struct math_work *w;
    int rounding;  /* how many decimals count when a side is a decimal number */
    int relaxed;   /* not strict: symbols are matched by their order, not by their names */
    int both_ways; /* a relation and a set may be equal whichever of them is the reference */
    int depth;
};

int compat_equal(struct compat_comparison *c, const struct math_node *gold, const struct math_node *pred);

/* Parts of the comparison. */
/* What SymPy makes of integrals, limits, derivatives and the like (compat_simplify.c); NULL: out of steps. */
const struct math_node *compat_simplify(struct math_work *w, const struct math_node *m);
int compat_values(struct compat_comparison *c, const struct math_node *gold, const struct math_node *pred);
int compat_relations(struct compat_comparison *c, const struct math_node *gold, const struct math_node *pred);
/* Are both written in the same way? Node by node, sets in any order. */
int compat_same_writing(struct math_work *w, const struct math_node *a, const struct math_node *b);
/* Are both the same set of real numbers? Intervals, unions, relations in one symbol. */
int compat_same_region(struct math_work *w, const struct math_node *a, const struct math_node *b);
int compat_is_set(const struct math_node *m); /* not a tuple */

#endif
