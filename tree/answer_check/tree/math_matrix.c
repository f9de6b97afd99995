/* Sums, products, multiples and determinants of matrices of trees (contract: math_matrix.h). */
#include "answer_check/tree/math_matrix.h"

#include "evalcore/base/arena.h"

typedef const struct math_node *node;

struct math_node *math_matrix(struct math_work *w, struct span source, int rows, int columns,
                              const node *entry)
{
    if (rows <= 0 || columns <= 0 || rows * columns > MATH_MATRIX_ENTRIES)
        return NULL;
    struct math_node *out = math_node_new(w, MATH_MATRIX, source, rows * columns, entry);
    if (out) {
        out->rows = rows;
        out->columns = columns;
    }
    return out;
}

/* Room for the entries of a matrix; NULL when no steps are left. */
static node *entries_of(struct math_work *w, int n)
{
    return math_step(w, n) ? NULL : arena_alloc(w->arena, (size_t)(n + 1) * sizeof(node));
}

node math_matrix_sum(struct math_work *w, node a, node b)
{
    node *entry = a->rows == b->rows && a->columns == b->columns ? entries_of(w, a->n) : NULL;
    for (int i = 0; entry && i < a->n; i++)
        entry[i] = math_node_2(w, MATH_ADD, a->source, a->child[i], b->child[i]);
    return entry ? math_matrix(w, a->source, a->rows, a->columns, entry) : NULL;
}

node math_matrix_scaled(struct math_work *w, node m, node factor, enum math_kind kind)
{
    node *entry = entries_of(w, m->n);
    for (int i = 0; entry && i < m->n; i++)
        entry[i] = math_node_2(w, kind, m->source, m->child[i], factor);
    return entry ? math_matrix(w, m->source, m->rows, m->columns, entry) : NULL;
}

node math_matrix_negated(struct math_work *w, node m)
{
    node *entry = entries_of(w, m->n);
    for (int i = 0; entry && i < m->n; i++)
        entry[i] = math_node_1(w, MATH_NEGATE, m->source, m->child[i]);
    return entry ? math_matrix(w, m->source, m->rows, m->columns, entry) : NULL;
}

node math_matrix_transposed(struct math_work *w, node m)
{
    node *entry = entries_of(w, m->n);
    for (int i = 0; entry && i < m->n; i++)
        entry[i % m->columns * m->rows + i / m->columns] = m->child[i];
    return entry ? math_matrix(w, m->source, m->columns, m->rows, entry) : NULL;
}

node math_matrix_product(struct math_work *w, node a, node b)
{
    enum { TERM_STEPS = 1000 }; /* entries of entries grow with every factor */
    node term[MATH_MATRIX_SIDE], *entry = NULL;
    int fits = a->columns == b->rows && a->columns <= MATH_MATRIX_SIDE;
    if (fits && !math_step(w, (int64_t)TERM_STEPS * a->rows * a->columns * b->columns))
        entry = entries_of(w, a->rows * b->columns);
    for (int i = 0; entry && i < a->rows * b->columns; i++) {
        int row = i / b->columns, column = i % b->columns;
        for (int k = 0; k < a->columns; k++)
            term[k] = math_node_2(w, MATH_MULTIPLY, a->source, a->child[row * a->columns + k],
                                  b->child[k * b->columns + column]);
        entry[i] = a->columns == 1 ? term[0] : math_node_new(w, MATH_ADD, a->source, a->columns, term);
    }
    return entry ? math_matrix(w, a->source, a->rows, b->columns, entry) : NULL;
}

/* ---- determinants */

enum { ORDER_MAX = 5 };

/* The square matrix without row 0 and column c. */
static node minor_of(struct math_work *w, node m, int c)
{
    node entry[(ORDER_MAX - 1) * (ORDER_MAX - 1)];
    int n = 0;
    for (int i = m->columns; i < m->n; i++)
        if (i % m->columns != c)
            entry[n++] = m->child[i];
    return math_matrix(w, m->source, m->rows - 1, m->columns - 1, entry);
}

/* Expands the determinant by its first row. */
node math_matrix_determinant(struct math_work *w, node m)
{
    node term[ORDER_MAX];
    if (!m || m->rows != m->columns || m->rows > ORDER_MAX || math_step(w, 100))
        return NULL;
    if (m->rows == 1)
        return m->child[0];
    for (int c = 0; c < m->columns; c++) {
        node minor = math_matrix_determinant(w, minor_of(w, m, c));
        term[c] = math_node_2(w, MATH_MULTIPLY, m->source, m->child[c], minor);
        if (term[c] && c % 2)
            term[c] = math_node_1(w, MATH_NEGATE, m->source, term[c]);
    }
    return math_node_new(w, MATH_ADD, m->source, m->columns, term);
}
