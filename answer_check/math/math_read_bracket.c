/* Brackets: groups, pairs and tuples, intervals, sets, absolute values, floors. */
#include "answer_check/math/math_reader.h"

/* State of the reader that a bracket changes while its content is read. */
struct outside {
    int in_bracket, no_mid, in_rows;
};

static int enter_bracket(struct math_reader *r, struct outside *o, int in_bracket)
{
    *o = (struct outside){r->in_bracket, r->no_mid, r->in_rows};
    r->in_bracket = in_bracket;
    r->no_mid = 0;
    r->in_rows = 0;
    return reader_enter(r);
}

static void leave_bracket(struct math_reader *r, const struct outside *o)
{
    r->in_bracket = o->in_bracket;
    r->no_mid = o->no_mid;
    r->in_rows = o->in_rows;
    r->depth--;
}

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

/* (x, y) = (1, 2): these are pairs, whatever they could mean elsewhere. */
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

/* \left\{ \begin{array} .. \end{array} \right. */
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

/* {..} means its content; if that has commas it is a set written without backslashes, except in \boxed. */
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
