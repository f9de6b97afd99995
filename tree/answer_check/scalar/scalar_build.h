#ifndef ANSWER_CHECK_SCALAR_SCALAR_BUILD_H
#define ANSWER_CHECK_SCALAR_SCALAR_BUILD_H

#include "answer_check/number/number.h"

/* Builds trees of computed values, without source: integers become literals, fractions quotients, and
 * negative numbers the child of a MATH_NEGATE. Every function returns a new node, and NULL if a child is NULL
 * or no steps are left. Names are borrowed. Nothing is simplified. */
const struct math_node *tree_integer(struct math_work *w, int64_t n);
const struct math_node *tree_fraction(struct number_context *c, struct fraction f);
const struct math_node *tree_gauss(struct number_context *c, struct gauss g);
const struct math_node *tree_symbol(struct math_work *w, const char *name);
const struct math_node *tree_function(struct math_work *w, enum math_function f, const struct math_node *a);
const struct math_node *tree_add(struct math_work *w, const struct math_node *a, const struct math_node *b);
const struct math_node *tree_sub(struct math_work *w, const struct math_node *a, const struct math_node *b);
const struct math_node *tree_mul(struct math_work *w, const struct math_node *a, const struct math_node *b);
const struct math_node *tree_div(struct math_work *w, const struct math_node *a, const struct math_node *b);
const struct math_node *tree_power(struct math_work *w, const struct math_node *a, const struct math_node *b);
const struct math_node *tree_neg(struct math_work *w, const struct math_node *a);

#endif
