/* Brackets: groups, pairs and tuples, intervals, sets, absolute values, floors. */
#include "answer_check/read/reader.h"

/* State of the reader that a bracket changes while its content is read. */
struct outside {
    int in_bracket, no_mid, in_rows;
};

/* Saves the reader's state and goes one level deeper: 0, or -1 when that is too deep. */
static int enter_bracket(struct math_reader *r, struct outside *o, int in_bracket)
{
    *o = (struct outside){r->in_bracket, r->no_mid, r->in_rows};
    r->in_bracket = in_bracket;
    r->no_mid = 0;
    r->in_rows = 0;
    return reader_enter(r);
}

/* Restores the state that enter_bracket() saved. */
static void leave_bracket(struct math_reader *r, const struct outside *o)
{
    r->in_bracket = o->in_bracket;
    r->no_mid = o->no_mid;
    r->in_rows = o->in_rows;
    r->depth--;
}

/* Is it infinity or minus infinity? */
static int is_infinite(const struct math_node *m)
{
    if (m->kind == MATH_NEGATE)
        m = m->child[0];
    return m->kind == MATH_CONSTANT && m->which == MATH_INFINITY;
}

static const struct math_node *make_interval(struct math_reader *r, int from, const struct read_items *list,
                                             int which)
{
    struct math_node *m = math_node_new(r->w, MATH_INTERVAL, reader_source(r, from), 2, list->node);
    if (m)
        m->which = which;
    return m;
}

/* Are pairs equated here, as in (x, y) = (1, 2)? Then they are pairs, whatever they could mean elsewhere. */
static int is_equated(const struct math_reader *r, int from)
{
    const struct token *before = &r->t[from], *behind = reader_token(r);
    int left = behind->kind == T_RELATION && behind->value == MATH_EQUAL && behind[1].kind == T_OPEN;
    return left || (from > 1 && before[-1].kind == T_RELATION && before[-1].value == MATH_EQUAL &&
                    before[-2].kind == T_CLOSE && before[-2].value == '(');
}

/* Makes a pair, interval or tuple of the elements between ( ) or [ ], which may also be mixed or turned
 * outwards. */
static const struct math_node *make_tuple(struct math_reader *r, int from, const struct read_items *list,
                                          int open, int close)
{
    int left = open == '[' ? 0 : MATH_OPEN_LEFT, right = close == '[' ? 0 : MATH_OPEN_RIGHT;
    int parens = open == '(' && close == '(', square = open == '[' && close == '[';
    for (int i = 1; i < list->n; i++)
        if (list->separator[i] != T_COMMA && list->separator[i] != T_SEMICOLON)
            return parens || square ? read_join(r, from, list) : NULL;
    if (list->n == 2 && read_can_be_end(list->node[0]) && read_can_be_end(list->node[1])) {
        if (!parens || is_infinite(list->node[0]) || is_infinite(list->node[1]))
            return make_interval(r, from, list, left | right);
        return !is_equated(r, from) && reader_option(r, READ_INTERVAL)
                   ? make_interval(r, from, list, left | right)
                   : reader_list(r, MATH_TUPLE, from, list);
    }
    return parens || square ? reader_list(r, MATH_TUPLE, from, list) : NULL;
}

/* The content of ( ) or [ ]: a tuple or an interval, or one value in parentheses. `end` closes it. */
static const struct math_node *read_tuple(struct math_reader *r, int open, int close, int end)
{
    struct read_items list = {0};
    int from = r->pos - 1;
    if (r->pos == end) {
        reader_next(r);
        return open == '(' && close == '(' ? reader_list(r, MATH_TUPLE, from, &list) : NULL;
    }
    if (read_items(r, &list) || r->pos != end)
        return NULL;
    int comma = r->t[r->pos - 1].kind == T_COMMA; /* (1,) is a tuple */
    reader_next(r);
    if (list.n > 1 || comma)
        return make_tuple(r, from, &list, open, close);
    const struct math_node *m = list.node[0];
    int part = open == '[' && close == '[' &&
               (m->kind == MATH_DIVIDE || m->kind == MATH_SYMBOL || m->kind == MATH_MULTIPLY ||
                (m->kind == MATH_FUNCTION && m->which == MATH_SQRT));
    if (part && reader_option(r, READ_FLOOR))
        return reader_function(r, MATH_FLOOR, from, m, NULL);
    return open == close || open == '.' || close == '.' ? m : NULL;
}

/* Reads the rest of \{ x : condition \}, whose element is already read. */
static const struct math_node *read_set_builder(struct math_reader *r, int from,
                                                const struct math_node *element, int end)
{
    reader_next(r);
    r->no_mid = 0;
    r->in_bracket = 0;
    const struct math_node *condition = read_statements(r);
    if (!condition || r->pos != end)
        return NULL;
    reader_next(r);
    return reader_two(r, MATH_SET_BUILDER, from, element, condition);
}

/* The content of \{ \}: a set, the empty set or a set builder. `end` closes it. */
static const struct math_node *read_braces(struct math_reader *r, int end)
{
    struct read_items list = {0};
    int from = r->pos - 1;
    if (r->pos == end) {
        reader_next(r);
        return math_node_number_set(r->w, reader_source(r, from), '0', "");
    }
    r->no_mid = 1;
    if (read_items(r, &list))
        return NULL;
    if (reader_is(r, T_MID)) /* {(x, y) | ..}, {x, y : ..} */
        return list.n == 1 ? read_set_builder(r, from, list.node[0], end)
                           : read_set_builder(r, from, reader_list(r, MATH_LIST, from, &list), end);
    int bar = r->pos; /* \left| condition \right. */
    if (reader_is(r, T_OPEN) && reader_token(r)->value == '|' && reader_token(r)->match == end - 1 &&
        list.n == 1) {
        const struct math_node *m = read_set_builder(r, from, list.node[0], r->t[bar].match);
        reader_next(r);
        return m;
    }
    if (r->pos != end)
        return NULL;
    reader_next(r);
    return reader_list(r, MATH_SET, from, &list);
}

/* Reads what a brace opens that nothing closes: \left\{ \begin{array} .. \end{array} \right. */
static const struct math_node *read_system(struct math_reader *r, int end)
{
    int from = r->pos - 1;
    r->in_rows = 0;
    if (!reader_is(r, T_BEGIN) || reader_token(r)->match + 1 != end) {
        const struct math_node *m = read_statements(r);
        if (!m || r->pos != end)
            return NULL;
        reader_next(r);
        return m;
    }
    const struct math_node *m = read_cases(r, from);
    if (r->pos != end)
        return NULL;
    reader_next(r);
    return m;
}

/* The content of bars, floors and ceilings, as that function; a matrix in bars is a determinant. */
static const struct math_node *read_bars(struct math_reader *r, enum math_function f, int end)
{
    int from = r->pos - 1;
    const struct math_node *m = read_sum(r);
    if (!m || r->pos != end)
        return NULL;
    reader_next(r);
    if (f == MATH_ABS && m->kind == MATH_MATRIX && m->which == 0) { /* a determinant */
        struct math_node *d = math_node_new(r->w, MATH_MATRIX, reader_source(r, from), m->n, m->child);
        if (d) {
            d->which = 1;
            d->rows = m->rows;
            d->columns = m->columns;
        }
        return d;
    }
    return reader_function(r, f, from, m, NULL);
}

const struct math_node *read_bracket(struct math_reader *r)
{
    const struct token *t = reader_token(r);
    const struct math_node *m;
    struct outside o;
    int end = t->match, close = r->t[end].value;
    if (enter_bracket(r, &o, 1))
        return NULL;
    reader_next(r);
    switch (t->value) {
    case 'S':
        m = close == '.' ? read_system(r, end) : read_braces(r, end);
        break;
    case 'F':
        m = read_bars(r, MATH_FLOOR, end);
        break;
    case 'C':
        m = read_bars(r, MATH_CEILING, end);
        break;
    case '|':
        m = read_bars(r, MATH_ABS, end);
        break;
    case '<': {
        struct read_items list = {0};
        m = NULL;
        if (!read_items(r, &list) && r->pos == end) {
            reader_next(r);
            m = reader_list(r, MATH_TUPLE, end, &list);
        }
        break;
    }
    default:
        m = read_tuple(r, t->value, close, end);
    }
    leave_bracket(r, &o);
    return m;
}

/* Reads {..}, which means its content; if that has commas it is a set written without backslashes, except
 * in \boxed. */
const struct math_node *read_group(struct math_reader *r)
{
    const struct token *t = reader_token(r);
    struct read_items list = {0};
    struct outside o;
    int from = r->pos, end = t->match;
    if (enter_bracket(r, &o, t->flags & TOKEN_BOX ? r->in_bracket : 1))
        return NULL;
    reader_next(r);
    r->no_mid = !(t->flags & TOKEN_BOX);
    if (r->pos == end || read_items(r, &list))
        return NULL;
    const struct math_node *m = list.node[0];
    if (list.n > 1) {
        int set = !(t->flags & TOKEN_BOX);
        for (int i = 1; i < list.n; i++)
            set &= list.separator[i] == T_COMMA || list.separator[i] == T_SEMICOLON;
        m = set ? reader_list(r, MATH_SET, from, &list) : read_join(r, from, &list);
    }
    if (reader_is(r, T_INFIX) && m) { /* {n \choose k}, {a \over b} */
        int value = reader_token(r)->value;
        reader_next(r);
        const struct math_node *b = read_sum(r);
        m = value == 'C' ? b ? reader_function(r, MATH_BINOMIAL, from, m, b) : NULL
                         : reader_two(r, MATH_DIVIDE, from, m, b);
    } else if (reader_is(r, T_MID) && m) {
        m = read_set_builder(r, from, m, end);
        leave_bracket(r, &o);
        return m;
    }
    if (!m || r->pos != end)
        return NULL;
    leave_bracket(r, &o);
    reader_next(r);
    return m;
}

/* ---- environments: matrices, cases, and layout whose rows are statements ---- */

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

/* Keeps a condition that is no formula as words: "n odd", "n \text{ is odd}". NULL when it has no words. */
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

/* One cell of a table; an empty text for an empty one. */
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

/* The rows of an environment up to token `end`. Returns 0, or -1 when they cannot be read. */
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

/* A matrix of a table without gaps, or its determinant. */
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

/* An environment from \begin to behind \end. Returns 0, or -1 when it cannot be read. */
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
