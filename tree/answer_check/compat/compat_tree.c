/* Numbers as the reader makes them, and questions about such trees (contract: compat_read.h). */
#include "answer_check/compat/compat_read.h"

#include <stdlib.h>
#include <string.h>

typedef const struct math_node *node;

node compat_number_node(struct math_work *w, struct span text, int percent)
{
    struct math_node *m = math_node_new(w, MATH_NUMBER, text, 0, NULL);
    if (!m)
        return NULL;
    char *digits = arena_alloc(w->arena, text.n + 2);
    int n = 0, decimals = 0, point = 0, exponent = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (text.s[i] == 'E') {
            exponent = (int)strtol(arena_strndup(w->arena, text.s + i + 1, text.n - i - 1), NULL, 10);
            point = 1;
            break;
        }
        point |= text.s[i] == '.';
        if (!ascii_is_digit(text.s[i]))
            continue;
        decimals += point;
        if (n || text.s[i] != '0')
            digits[n++] = text.s[i];
    }
    if (!n)
        digits[n++] = '0';
    m->literal = (struct math_literal){
        .digits = digits, .n = n, .decimals = decimals, .exponent = exponent, .point = point};
    return percent ? compat_percentage(w, m) : m;
}

node compat_percentage(struct math_work *w, node m)
{
    struct math_node *hundredth = math_node_2(w, MATH_DIVIDE, m->source, math_node_integer(w, m->source, 1),
                                              math_node_integer(w, m->source, 100));
    if (hundredth)
        hundredth->which = COMPAT_FRACTION;
    struct math_node *out = math_node_2(w, MATH_MULTIPLY, m->source, m, hundredth);
    if (out)
        out->which = COMPAT_PERCENT;
    return out;
}

int compat_is_integer(node m)
{
    if (m->kind == MATH_NEGATE)
        m = m->child[0];
    return (m->kind == MATH_NUMBER && !m->literal.point) || (m->kind == MATH_ADD && m->which == COMPAT_WHOLE);
}

int compat_is_rational(node m)
{
    if (compat_is_integer(m))
        return 1;
    if (m->kind == MATH_NEGATE)
        m = m->child[0];
    return (m->kind == MATH_DIVIDE || m->kind == MATH_ADD) && m->which == COMPAT_FRACTION;
}

int compat_is_positive(node m)
{
    if (m->kind == MATH_ADD)
        return 1;
    if (m->kind == MATH_DIVIDE)
        return compat_is_positive(m->child[0]) && compat_is_positive(m->child[1]);
    return m->kind == MATH_NUMBER && m->literal.digits[0] != '0';
}

int compat_is_number(node m)
{
    return compat_is_rational(m) || m->kind == MATH_NUMBER ||
           (m->kind == MATH_NEGATE && m->child[0]->kind == MATH_NUMBER);
}

node compat_negated(struct math_work *w, node m)
{
    if (m && m->kind == MATH_NEGATE && compat_is_number(m))
        return m->child[0];
    return m ? math_node_1(w, MATH_NEGATE, m->source, m) : NULL;
}

int compat_only_symbols(node m)
{
    switch (m->kind) {
    case MATH_SYMBOL:
        return 1;
    case MATH_NEGATE: /* the factor -1 is a number */
    case MATH_NUMBER:
    case MATH_CONSTANT:
    case MATH_INTERVAL:
    case MATH_MATRIX:
    case MATH_SUM:
    case MATH_OPAQUE:
    case MATH_NUMBER_SET:
        return 0;
    case MATH_FUNCTION:
        if (m->which == MATH_LOG || m->which == MATH_LN || m->which == MATH_SQRT)
            return 0;
        break;
    case MATH_DIVIDE: /* a plain number as the denominator is allowed: x/2 */
        if (m->which == COMPAT_FRACTION || !compat_only_symbols(m->child[0]))
            return 0;
        return m->child[1]->kind == MATH_NUMBER || compat_only_symbols(m->child[1]);
    default:
        break;
    }
    for (int i = 0; i < m->n; i++)
        if (!compat_only_symbols(m->child[i]))
            return 0;
    return m->n > 0;
}
