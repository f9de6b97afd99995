#ifndef ANSWER_CHECK_TREE_MATH_MATRIX_H
#define ANSWER_CHECK_TREE_MATH_MATRIX_H

#include "answer_check/tree/math_tree.h"

/* Matrices of trees (MATH_MATRIX), computed entry by entry and not simplified. Every function returns a
 * new node in the arena of w, and NULL where the shapes do not fit, for more than MATH_MATRIX_ENTRIES
 * entries, when an entry is NULL, and when no steps are left. The matrices given are MATH_MATRIX nodes, not
 * NULL. */
enum { MATH_MATRIX_ENTRIES = 400, MATH_MATRIX_SIDE = 20 };

/* A matrix of entries, given row by row; the array is copied. NULL also without rows or columns. */
struct math_node *math_matrix(struct math_work *w, struct span source, int rows, int columns,
                              const struct math_node *const *entry);
/* The sum of two matrices of the same shape, and the product of a and b, where a has as many columns as b has
 * rows, at most MATH_MATRIX_SIDE. */
const struct math_node *math_matrix_sum(struct math_work *w, const struct math_node *a,
                                        const struct math_node *b);
const struct math_node *math_matrix_product(struct math_work *w, const struct math_node *a,
                                            const struct math_node *b);
/* Every entry times the factor (MATH_MULTIPLY) or over it (MATH_DIVIDE). */
const struct math_node *math_matrix_scaled(struct math_work *w, const struct math_node *m,
                                           const struct math_node *factor, enum math_kind kind);
/* The matrix with every entry negated, and the matrix with rows and columns exchanged. */
const struct math_node *math_matrix_negated(struct math_work *w, const struct math_node *m);
const struct math_node *math_matrix_transposed(struct math_work *w, const struct math_node *m);
/* The determinant of a square matrix of at most five rows, as a sum of products; NULL for any other matrix
 * and for NULL. */
const struct math_node *math_matrix_determinant(struct math_work *w, const struct math_node *m);

#endif
