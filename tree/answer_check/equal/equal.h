#ifndef ANSWER_CHECK_EQUAL_EQUAL_H
#define ANSWER_CHECK_EQUAL_EQUAL_H

#include "answer_check/text/grade.h"
#include "answer_check/scalar/scalar.h"

/* Do two answers mean the same? Their trees are compared by kind. A door for compat/ (strict/ uses
 * equal_answer.h). The reference ("gold") comes first everywhere, and the order matters where
 * - a writing has several readings ("3 m"): the reference's decide;
 * - a side is a decimal: only a decimal reference is met by what rounds to it;
 * - the prediction is an equation: it may stand for the number on its right whatever is on its left
 *   ("m + n = 25" for 25);
 * - the reference lists values: it is met by them in any brackets and order, while the list of a prediction
 *   has to have the order of a tuple. */

struct comparison {
    struct math_work *w;
    const struct grade_rules *rules;
    /* What the comparison needed most, in words for the reason: "exactly", "rounded to the reference's
     * digits". */
    const char *how;
    int depth;
    const struct math_node
        *reading[2]; /* which readings of gold and pred are equal; NULL: there is one only */
    int inside;      /* how many lists and sets are around the trees: there {3} is no other writing of 3 */
};

/* Returns MATH_TRUE when both mean the same, MATH_FALSE when they do not, and MATH_UNKNOWN when a tree is
 * NULL or when steps, precision, depth or other limits ran out first. On MATH_TRUE e->how says how. */
enum math_truth equal_trees(struct comparison *e, const struct math_node *gold, const struct math_node *pred);

/* Compares subsets of the real line: intervals, unions, inequalities in one variable, set builders, points.
 * Returns MATH_TRUE or MATH_FALSE, MATH_FALSE also where a side is no such set, and MATH_UNKNOWN where ends
 * cannot be told apart. */
enum math_truth equal_regions(struct comparison *e, const struct math_node *gold,
                              const struct math_node *pred);

#endif
