#ifndef ANSWER_CHECK_TREE_MATH_PRINT_LATEX_H
#define ANSWER_CHECK_TREE_MATH_PRINT_LATEX_H

#include "answer_check/tree/math_tree.h"

/* Of this room only: the leaves of math_print_latex(). A name is that of a symbol, a function or a relation.
 */
void math_latex_leaf(struct str *out, const struct math_node *m);
void math_latex_name(struct str *out, const char *name);
void math_latex_relation(struct str *out, const char *name);

#endif
