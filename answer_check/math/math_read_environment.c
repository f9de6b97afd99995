/* \begin{..}: matrices, cases, and layout environments, whose rows are statements. */
#include "answer_check/math/math_reader.h"

#include <string.h>

static int ends_with(const struct token *t, const char *tail)
{
    size_t n = strlen(tail);
    return (size_t)t->n >= n && !memcmp(t->s + t->n - n, tail, n);
}

struct table {
    struct read_items cells;
    int rows, columns, full; /* full: all rows have as many cells as the first row */
};

static int ends_cell(const struct token *t)
{
    return t->kind == T_CELL || t->kind == T_ROW || t->kind == T_FINISH || t->kind == T_END;
}

/* "n odd", "n \text{ is odd}": a condition that is no formula is kept as words. NULL when it has no words. */
static const struct math_node *read_words(struct math_reader *r, int from)
{
    int end = from, words = 0;
    for (; !ends_cell(&r->t[end]); end++) {
        const struct token *t = &r->t[end];
        if (t->kind == T_BEGIN)
            return NULL;
        words += t->kind == T_WORD && t->n > 2;
    }
    if (!words || math_step(r->w, end - from))
        return NULL;
    r->pos = end;
    r->skip = 0;
    return reader_named(r, MATH_TEXT, from, read_folded(r, from, end));
}

static const struct math_node *read_cell(struct math_reader *r)
{
    int condition = r->pos && r->t[r->pos - 1].kind == T_CELL, depth = r->depth;
    while (reader_is(r, T_CONDITION)) /* & if x > 0 */
        reader_next(r);
    if (ends_cell(reader_token(r)))
        return reader_named(r, MATH_TEXT, r->pos, "");
    int from = r->pos, bracket = r->in_bracket, no_mid = r->no_mid, rows = r->in_rows;
    const struct math_node *m = read_statements(r);
    if (m && reader_is(r, T_DOT))
        reader_next(r);
    if (condition && (!m || r->skip || !ends_cell(reader_token(r)))) {
        r->depth = depth;
        r->in_bracket = bracket;
        r->no_mid = no_mid;
        r->in_rows = rows;
        m = read_words(r, from);
    }
    return m;
}

static int read_table(struct math_reader *r, struct table *out, int end)
{
    int column = 0;
    out->full = 1;
    while (r->pos < end) {
        if (reader_is(r, T_ROW) && !column) { /* an empty row */
            reader_next(r);
            continue;
        }
        if (reader_add(r, &out->cells, read_cell(r), T_COMMA, 0))
            return -1;
        column++;
        enum token_kind kind = reader_token(r)->kind;
        if (kind == T_CELL) {
            reader_next(r);
            if (r->pos < end)
                continue;
        }
        if (kind != T_ROW && r->pos != end)
            return -1;
        if (kind == T_ROW)
            reader_next(r);
        out->full &= !out->rows || column == out->columns;
        out->columns = out->rows ? out->columns : column;
        out->rows++;
        column = 0;
    }
    return out->rows ? 0 : -1;
}

static int is_blank(const struct math_node *m)
{
    return m->kind == MATH_TEXT && !*m->name;
}

static const struct math_node *make_matrix(struct math_reader *r, int from, const struct table *t,
                                           int determinant)
{
    if (!t->full)
        return NULL;
    for (int i = 0; i < t->cells.n; i++)
        if (is_blank(t->cells.node[i]))
            return NULL;
    struct math_node *m = math_node_new(r->w, MATH_MATRIX, reader_source(r, from), t->cells.n, t->cells.node);
    if (m) {
        m->rows = t->rows;
        m->columns = t->columns;
        m->which = determinant;
    }
    return m;
}

/* Cases. If all rows have one cell that is a statement they form a system, otherwise such rows are values
 * without conditions. "x, & x > 0" and "x, x > 0" both are a value and its condition. */
static const struct math_node *make_cases(struct math_reader *r, int from, const struct table *t)
{
    struct read_items pairs = {0};
    int statements = t->columns == 1;
    if (!t->full || t->columns > 2)
        return NULL;
    for (int i = 0; i < t->cells.n && statements; i++) {
        enum math_kind k = t->cells.node[i]->kind;
        statements = k == MATH_RELATION || k == MATH_AND || k == MATH_OR;
    }
    if (statements)
        return t->rows == 1 ? t->cells.node[0] : reader_list(r, MATH_AND, from, &t->cells);
    for (int i = 0; i < t->rows; i++) {
        const struct math_node *value = t->cells.node[i * t->columns], *condition;
        if (t->columns == 2) {
            condition = t->cells.node[2 * i + 1];
        } else if (value->kind == MATH_CASES || (value->kind == MATH_LIST && value->n == 2)) {
            condition = value->child[1];
            value = value->child[0];
        } else {
            condition = reader_named(r, MATH_TEXT, r->pos, "");
        }
        if (reader_add(r, &pairs, value, T_COMMA, 0) || reader_add(r, &pairs, condition, T_COMMA, 0))
            return NULL;
    }
    return reader_list(r, MATH_CASES, from, &pairs);
}

static int read_rows(struct math_reader *r, struct table *t)
{
    int end = reader_token(r)->match, outside = r->in_rows, bracket = r->in_bracket;
    if (reader_enter(r))
        return -1;
    r->in_rows = 1;
    r->in_bracket = 1;
    reader_next(r);
    if (read_table(r, t, end) || r->pos != end)
        return -1;
    reader_next(r);
    r->in_rows = outside;
    r->in_bracket = bracket;
    r->depth--;
    return 0;
}

const struct math_node *read_cases(struct math_reader *r, int from)
{
    struct table t = {0};
    return read_rows(r, &t) ? NULL : make_cases(r, from, &t);
}

/* Does the row begin with an equals sign, so that it continues the row above? */
static int continues_row(const struct math_reader *r, const struct math_node *m)
{
    const char *p = m->source.s;
    while (p && p > r->text.s && (ascii_is_space(p[-1]) || p[-1] == '&'))
        p--;
    return p && p > r->text.s && p[-1] == '=';
}

/* Joins a = b and the row "= c" below it to a = b = c. NULL when either is no chain of equations, or the
 * result is too long. */
static const struct math_node *make_chain(struct math_reader *r, int from, const struct math_node *a,
                                          const struct math_node *b)
{
    enum { CHAIN_MAX = 32 };
    const struct math_node *side[CHAIN_MAX];
    static const unsigned char ops[CHAIN_MAX] = {0}; /* MATH_EQUAL */
    const struct math_node *part[] = {a, b};
    int n = 0;
    for (int i = 0; i < 2; i++) {
        int relation = part[i]->kind == MATH_RELATION, sides = relation ? part[i]->n : 1;
        for (int k = 0; relation && k + 1 < sides; k++)
            if (part[i]->ops[k] != MATH_EQUAL)
                return NULL;
        if (n + sides > CHAIN_MAX)
            return NULL;
        for (int k = 0; k < sides; k++)
            side[n++] = relation ? part[i]->child[k] : part[i];
    }
    struct math_node *m = math_node_new(r->w, MATH_RELATION, reader_source(r, from), n, side);
    if (m)
        m->ops = ops;
    return m;
}

/* Rows of align and the like: statements one under the other. */
static const struct math_node *read_layout(struct math_reader *r, int from)
{
    struct table t = {0};
    if (read_rows(r, &t) || t.columns != 1)
        return NULL;
    struct read_items list = {0};
    for (int i = 0; i < t.cells.n; i++) {
        const struct math_node *last = list.n ? list.node[list.n - 1] : NULL,
                               *chain = last && continues_row(r, t.cells.node[i])
                                            ? make_chain(r, from, last, t.cells.node[i])
                                            : NULL;
        if (chain)
            list.node[list.n - 1] = chain;
        else if (reader_add(r, &list, t.cells.node[i], T_ROW, 0))
            return NULL;
    }
    return read_join(r, from, &list);
}

const struct math_node *read_environment(struct math_reader *r)
{
    const struct token *t = reader_token(r);
    int from = r->pos;
    struct table rows = {0};
    if (t->value) /* the lexer has marked it */
        return read_layout(r, from);
    if (ends_with(t, "cases") || ends_with(t, "dcases"))
        return read_cases(r, from);
    if (!ends_with(t, "matrix") && !ends_with(t, "matrix*") && !ends_with(t, "array") &&
        !ends_with(t, "tabular"))
        return NULL;
    int determinant = *t->s == 'v' || *t->s == 'V';
    return read_rows(r, &rows) ? NULL : make_matrix(r, from, &rows, determinant);
}
