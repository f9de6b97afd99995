/* Matrices that are written as something else: 1/3 times a matrix, sums and products, transposed rows, nested
 * lists of rows; and vectors as 3i - j + 2k. */
#include "answer_check/equal/equal.h"
#include "answer_check/tree/math_matrix.h"

#include <string.h>

enum { ENTRIES = 64 };

const struct math_node *equal_determinant(struct comparison *e, const struct math_node *m)
{
    if (m->kind == MATH_MATRIX && m->which)
        return math_matrix_determinant(e->w, m);
    int is_det =
        m->kind == MATH_APPLY && m->n == 1 && !strcmp(m->name, "det") && m->child[0]->kind == MATH_MATRIX;
    return is_det ? math_matrix_determinant(e->w, m->child[0]) : NULL;
}

/* M^T, M^3, and M^{-1} of two rows. */
static const struct math_node *raise_matrix(struct comparison *e, const struct math_node *m,
                                            const struct math_node *exponent)
{
    enum { EXPONENT_MAX = 8 };
    int64_t n;
    if (exponent->kind == MATH_SYMBOL && !strcmp(exponent->name, "T"))
        return math_matrix_transposed(e->w, m);
    if (m->rows != m->columns || !math_scalar_integer(e->w, exponent, &n) || n > EXPONENT_MAX)
        return NULL;
    if (n == -1 && m->rows == 2) {
        const struct math_node *entry[] = {
            m->child[3], math_node_1(e->w, MATH_NEGATE, m->source, m->child[1]),
            math_node_1(e->w, MATH_NEGATE, m->source, m->child[2]), m->child[0]};
        const struct math_node *adjugate = math_matrix(e->w, m->source, 2, 2, entry),
                               *below = math_matrix_determinant(e->w, m);
        return adjugate && below ? math_matrix_scaled(e->w, adjugate, below, MATH_DIVIDE) : NULL;
    }
    const struct math_node *all = n > 0 ? m : NULL;
    for (int64_t i = 1; i < n && all; i++)
        all = math_matrix_product(e->w, all, m);
    return all;
}

static const struct math_node *matrix_value(struct comparison *e, const struct math_node *m, int depth);

static const struct math_node *fold_operands(struct comparison *e, const struct math_node *m, int depth)
{
    const struct math_node *all = NULL, *factor[ENTRIES];
    int factors = 0;
    for (int i = 0; i < m->n; i++) {
        const struct math_node *c = m->child[i], *value;
        if (m->kind == MATH_MULTIPLY && math_is_scalar(c) && factors < ENTRIES) {
            factor[factors++] = c;
            continue;
        }
        value = matrix_value(e, c, depth + 1);
        all = !value                ? NULL
              : !all                ? value
              : m->kind == MATH_ADD ? math_matrix_sum(e->w, all, value)
                                    : math_matrix_product(e->w, all, value);
        if (!all)
            return NULL;
    }
    for (int i = 0; all && i < factors; i++)
        all = math_matrix_scaled(e->w, all, factor[i], MATH_MULTIPLY);
    return all;
}

static const struct math_node *matrix_value(struct comparison *e, const struct math_node *m, int depth)
{
    const struct math_node *inner;
    if (depth > 6 || m->n > ENTRIES || math_step(e->w, 10 + m->n))
        return NULL;
    switch (m->kind) {
    case MATH_MATRIX:
        return m->which ? NULL : m;
    case MATH_NEGATE:
        inner = matrix_value(e, m->child[0], depth + 1);
        return inner ? math_matrix_negated(e->w, inner) : NULL;
    case MATH_DIVIDE:
        inner = math_is_scalar(m->child[1]) ? matrix_value(e, m->child[0], depth + 1) : NULL;
        return inner ? math_matrix_scaled(e->w, inner, m->child[1], MATH_DIVIDE) : NULL;
    case MATH_POWER:
        inner = matrix_value(e, m->child[0], depth + 1);
        return inner ? raise_matrix(e, inner, m->child[1]) : NULL;
    case MATH_MULTIPLY:
    case MATH_ADD:
        return fold_operands(e, m, depth);
    default:
        return NULL;
    }
}

const struct math_node *equal_matrix(struct comparison *e, const struct math_node *m)
{
    const struct math_node *entry[ENTRIES];
    if (m->kind != MATH_TUPLE)
        return m->kind == MATH_MATRIX ? NULL : matrix_value(e, m, 0);
    int columns = m->n ? m->child[0]->n : 0; /* [[1, 2], [3, 4]] */
    for (int i = 0; i < m->n; i++) {
        const struct math_node *row = m->child[i];
        int closed = row->kind == MATH_INTERVAL && !row->which;
        if ((row->kind != MATH_TUPLE && !closed) || row->n != columns || !columns || m->n * columns > ENTRIES)
            return NULL;
        memcpy(entry + i * columns, row->child, (size_t)columns * sizeof *entry);
    }
    return m->n ? math_matrix(e->w, m->source, m->n, columns, entry) : NULL;
}

/* ---- 3i - j + 2k ---- */

/* 0, 1, 2 for i, j, k, in whatever accent; -1 for other names. */
static int axis_of(const char *name)
{
    name += strncmp(name, "hat_", 4) ? 0 : 4;
    return *name >= 'i' && *name <= 'k' && !name[1] ? *name - 'i' : -1;
}

const struct math_node *equal_vector(struct comparison *e, const struct math_node *m, int n)
{
    const char *name[4];
    const struct math_node *coordinate[3], *term[3];
    int symbols = math_is_scalar(m) ? math_symbols(e->w, m, name, 4) : 0, plain = 0;
    if (symbols < 1 || symbols > n || n < 2 || n > 3)
        return NULL;
    for (int i = 0; i < symbols; i++) {
        if (axis_of(name[i]) < 0 || axis_of(name[i]) >= n)
            return NULL;
        plain |= axis_of(name[i]) > 0 || name[i][1]; /* i alone is the imaginary unit or an index */
    }
    for (int k = 0; k < n && plain; k++) {
        coordinate[k] = m;
        for (int i = 0; i < symbols && coordinate[k]; i++)
            coordinate[k] = math_substitute(e->w, coordinate[k], name[i],
                                            math_node_integer(e->w, m->source, axis_of(name[i]) == k));
        if (!coordinate[k])
            return NULL;
        term[k] = coordinate[k];
        for (int i = 0; i < symbols; i++)
            if (axis_of(name[i]) == k)
                term[k] = math_node_2(e->w, MATH_MULTIPLY, m->source, coordinate[k],
                                      math_node_named(e->w, MATH_SYMBOL, m->source, name[i]));
    }
    const struct math_node *linear = plain ? math_node_new(e->w, MATH_ADD, m->source, n, term) : NULL;
    if (!linear || math_scalar_equal(e->w, m, linear) != MATH_TRUE)
        return NULL;
    return math_node_new(e->w, MATH_TUPLE, m->source, n, coordinate);
}
