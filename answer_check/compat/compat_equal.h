#ifndef ANSWER_CHECK_COMPAT_COMPAT_EQUAL_H
#define ANSWER_CHECK_COMPAT_COMPAT_EQUAL_H

#include "answer_check/compat/compat_read.h"

/* The original's comparison. All functions return 1 for equal, 0 for everything else: what cannot be decided
 * is different, as there. */
struct compat_comparison {
    struct math_work *w;
    int rounding;  /* decimals that count where a side is a decimal number */
    int relaxed;   /* not strict: symbols count by their place */
    int both_ways; /* a relation may equal a set on either side, not only in the reference */
    int depth;
};

int compat_equal(struct compat_comparison *c, const struct math_node *gold, const struct math_node *pred);

/* The parts. */
int compat_values(struct compat_comparison *c, const struct math_node *gold, const struct math_node *pred);
int compat_symbols(const struct math_node *gold, const struct math_node *pred);
int compat_sets(struct compat_comparison *c, const struct math_node *gold, const struct math_node *pred);
int compat_relations(struct compat_comparison *c, const struct math_node *gold, const struct math_node *pred);
/* Same writing: node by node, sets in any order. */
int compat_same(struct math_work *w, const struct math_node *a, const struct math_node *b);
/* As sets of real numbers: intervals, unions, relations in one symbol. */
int compat_same_region(struct math_work *w, const struct math_node *a, const struct math_node *b);
int compat_is_set(const struct math_node *m); /* not a tuple */

#endif
