/* Matrices that are written as something else: 1/3 times a matrix, sums and products, transposed rows, nested
 * lists of rows; and vectors as 3i - j + 2k. */
#include "answer_check/equal/equal.h"

#include <string.h>

enum { ENTRIES = 64, SIDE = 8 };

static const struct math_node *build(struct comparison *e, const struct math_node *m, int rows, int columns,
                                     const struct math_node *const *entry)
{
    struct math_node *out = math_node_new(e->w, MATH_MATRIX, m->source, rows * columns, entry);
    if (out) {
        out->rows = rows;
        out->columns = columns;
    }
    return out;
}

/* Every entry times the factor, on one side or the other. */
static const struct math_node *scaled(struct comparison *e, const struct math_node *m,
                                      const struct math_node *factor, enum math_kind kind)
{
    const struct math_node *entry[ENTRIES];
    for (int i = 0; i < m->n; i++)
        entry[i] = kind == MATH_NEGATE ? math_node_1(e->w, MATH_NEGATE, m->source, m->child[i])
                                       : math_node_2(e->w, kind, m->source, m->child[i], factor);
    return build(e, m, m->rows, m->columns, entry);
}

static const struct math_node *transposed(struct comparison *e, const struct math_node *m)
{
    const struct math_node *entry[ENTRIES];
    for (int i = 0; i < m->n; i++)
        entry[i % m->columns * m->rows + i / m->columns] = m->child[i];
    return build(e, m, m->columns, m->rows, entry);
}

static const struct math_node *sum(struct comparison *e, const struct math_node *a, const struct math_node *b)
{
    const struct math_node *entry[ENTRIES];
    if (a->rows != b->rows || a->columns != b->columns)
        return NULL;
    for (int i = 0; i < a->n; i++)
        entry[i] = math_node_2(e->w, MATH_ADD, a->source, a->child[i], b->child[i]);
    return build(e, a, a->rows, a->columns, entry);
}

static const struct math_node *product(struct comparison *e, const struct math_node *a,
                                       const struct math_node *b)
{
    const struct math_node *entry[ENTRIES], *term[SIDE];
    enum { TERM_STEPS = 1000 }; /* entries of entries grow with every factor */
    if (a->columns != b->rows || a->rows > SIDE || a->columns > SIDE || b->columns > SIDE ||
        math_step(e->w, (int64_t)TERM_STEPS * a->rows * a->columns * b->columns))
        return NULL;
    for (int i = 0; i < a->rows; i++)
        for (int j = 0; j < b->columns; j++) {
            for (int k = 0; k < a->columns; k++)
                term[k] = math_node_2(e->w, MATH_MULTIPLY, a->source, a->child[i * a->columns + k],
                                      b->child[k * b->columns + j]);
            entry[i * b->columns + j] =
                a->columns == 1 ? term[0] : math_node_new(e->w, MATH_ADD, a->source, a->columns, term);
        }
    return build(e, a, a->rows, b->columns, entry);
}

/* The square matrix without row 0 and column c. */
static const struct math_node *minor_of(struct comparison *e, const struct math_node *m, int c)
{
    const struct math_node *entry[ENTRIES];
    int n = 0;
    for (int i = m->columns; i < m->n; i++)
        if (i % m->columns != c)
            entry[n++] = m->child[i];
    return build(e, m, m->rows - 1, m->columns - 1, entry);
}

/* By the first row. */
static const struct math_node *determinant(struct comparison *e, const struct math_node *m)
{
    enum { ORDER_MAX = 5 };
    const struct math_node *term[ORDER_MAX];
    if (!m || m->rows != m->columns || m->rows > ORDER_MAX || math_step(e->w, 100))
        return NULL;
    if (m->rows == 1)
        return m->child[0];
    for (int c = 0; c < m->columns; c++) {
        term[c] = math_node_2(e->w, MATH_MULTIPLY, m->source, m->child[c], determinant(e, minor_of(e, m, c)));
        if (term[c] && c % 2)
            term[c] = math_node_1(e->w, MATH_NEGATE, m->source, term[c]);
    }
    return math_node_new(e->w, MATH_ADD, m->source, m->columns, term);
}

const struct math_node *equal_determinant(struct comparison *e, const struct math_node *m)
{
    if (m->kind == MATH_MATRIX && m->which)
        return determinant(e, m);
    int is_det =
        m->kind == MATH_APPLY && m->n == 1 && !strcmp(m->name, "det") && m->child[0]->kind == MATH_MATRIX;
    return is_det ? determinant(e, m->child[0]) : NULL;
}

/* M^T, M^3, and M^{-1} of two rows. */
static const struct math_node *raised(struct comparison *e, const struct math_node *m,
                                      const struct math_node *exponent)
{
    enum { EXPONENT_MAX = 8 };
    int64_t n;
    if (exponent->kind == MATH_SYMBOL && !strcmp(exponent->name, "T"))
        return transposed(e, m);
    if (m->rows != m->columns || !math_scalar_integer(e->w, exponent, &n) || n > EXPONENT_MAX)
        return NULL;
    if (n == -1 && m->rows == 2) {
        const struct math_node *entry[] = {
            m->child[3], math_node_1(e->w, MATH_NEGATE, m->source, m->child[1]),
            math_node_1(e->w, MATH_NEGATE, m->source, m->child[2]), m->child[0]};
        const struct math_node *adjugate = build(e, m, 2, 2, entry), *below = determinant(e, m);
        return adjugate && below ? scaled(e, adjugate, below, MATH_DIVIDE) : NULL;
    }
    const struct math_node *all = n > 0 ? m : NULL;
    for (int64_t i = 1; i < n && all; i++)
        all = product(e, all, m);
    return all;
}

static const struct math_node *value_of(struct comparison *e, const struct math_node *m, int depth);

static const struct math_node *folded(struct comparison *e, const struct math_node *m, int depth)
{
    const struct math_node *all = NULL, *factor[ENTRIES];
    int factors = 0;
    for (int i = 0; i < m->n; i++) {
        const struct math_node *c = m->child[i], *value;
        if (m->kind == MATH_MULTIPLY && math_is_scalar(c) && factors < ENTRIES) {
            factor[factors++] = c;
            continue;
        }
        value = value_of(e, c, depth + 1);
        all = !value                ? NULL
              : !all                ? value
              : m->kind == MATH_ADD ? sum(e, all, value)
                                    : product(e, all, value);
        if (!all)
            return NULL;
    }
    for (int i = 0; all && i < factors; i++)
        all = scaled(e, all, factor[i], MATH_MULTIPLY);
    return all;
}

static const struct math_node *value_of(struct comparison *e, const struct math_node *m, int depth)
{
    const struct math_node *inner;
    if (depth > 6 || m->n > ENTRIES || math_step(e->w, 10 + m->n))
        return NULL;
    switch (m->kind) {
    case MATH_MATRIX:
        return m->which ? NULL : m;
    case MATH_NEGATE:
        inner = value_of(e, m->child[0], depth + 1);
        return inner ? scaled(e, inner, NULL, MATH_NEGATE) : NULL;
    case MATH_DIVIDE:
        inner = math_is_scalar(m->child[1]) ? value_of(e, m->child[0], depth + 1) : NULL;
        return inner ? scaled(e, inner, m->child[1], MATH_DIVIDE) : NULL;
    case MATH_POWER:
        inner = value_of(e, m->child[0], depth + 1);
        return inner ? raised(e, inner, m->child[1]) : NULL;
    case MATH_MULTIPLY:
    case MATH_ADD:
        return folded(e, m, depth);
    default:
        return NULL;
    }
}

const struct math_node *equal_matrix(struct comparison *e, const struct math_node *m)
{
    const struct math_node *entry[ENTRIES];
    if (m->kind != MATH_TUPLE)
        return m->kind == MATH_MATRIX ? NULL : value_of(e, m, 0);
    int columns = m->n ? m->child[0]->n : 0; /* [[1, 2], [3, 4]] */
    for (int i = 0; i < m->n; i++) {
        const struct math_node *row = m->child[i];
        int closed = row->kind == MATH_INTERVAL && !row->which;
        if ((row->kind != MATH_TUPLE && !closed) || row->n != columns || !columns || m->n * columns > ENTRIES)
            return NULL;
        memcpy(entry + i * columns, row->child, (size_t)columns * sizeof *entry);
    }
    return m->n ? build(e, m, m->n, columns, entry) : NULL;
}

/* ---- 3i - j + 2k ---- */

/* 0, 1, 2 for i, j, k, in whatever accent; -1 for other names. */
static int axis_of(const char *name)
{
    name += strncmp(name, "hat_", 4) ? 0 : 4;
    return *name >= 'i' && *name <= 'k' && !name[1] ? *name - 'i' : -1;
}

static const struct math_node *digit(struct comparison *e, struct span source, int one)
{
    struct math_node *m = math_node_new(e->w, MATH_NUMBER, source, 0, NULL);
    if (m)
        m->literal = (struct math_literal){.digits = one ? "1" : "0", .n = 1};
    return m;
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
            coordinate[k] =
                math_substitute(e->w, coordinate[k], name[i], digit(e, m->source, axis_of(name[i]) == k));
        if (!coordinate[k])
            return NULL;
        term[k] = coordinate[k];
        for (int i = 0; i < symbols; i++)
            if (axis_of(name[i]) == k) {
                struct math_node *s = math_node_new(e->w, MATH_SYMBOL, m->source, 0, NULL);
                if (s)
                    s->name = name[i];
                term[k] = math_node_2(e->w, MATH_MULTIPLY, m->source, coordinate[k], s);
            }
    }
    const struct math_node *linear = plain ? math_node_new(e->w, MATH_ADD, m->source, n, term) : NULL;
    if (!linear || math_scalar_equal(e->w, m, linear) != MATH_TRUE)
        return NULL;
    return math_node_new(e->w, MATH_TUPLE, m->source, n, coordinate);
}
