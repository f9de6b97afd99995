/* What all comparisons use: three-valued logic, and what kind of thing a tree is. Nothing here compares trees
 * (contract: equal_parts.h). */
#include "answer_check/equal/equal_parts.h"

#include <string.h>

enum math_truth equal_better(enum math_truth a, enum math_truth b)
{
    if (a == MATH_TRUE || b == MATH_TRUE)
        return MATH_TRUE;
    return a == MATH_UNKNOWN || b == MATH_UNKNOWN ? MATH_UNKNOWN : MATH_FALSE;
}

enum math_truth equal_worse(enum math_truth a, enum math_truth b)
{
    if (a == MATH_FALSE || b == MATH_FALSE)
        return MATH_FALSE;
    return a == MATH_UNKNOWN || b == MATH_UNKNOWN ? MATH_UNKNOWN : MATH_TRUE;
}

void equal_set_how(struct comparison *e, const char *how)
{
    e->how = how;
}

int equal_is_number(struct comparison *e, const struct math_node *m)
{
    const char *name[1];
    return math_is_scalar(m) && math_symbols(e->w, m, name, 1) == 0;
}

int equal_is_collection(const struct math_node *m)
{
    return m->kind == MATH_LIST || m->kind == MATH_SET;
}

int equal_is_statements(const struct math_node *m)
{
    return m->kind == MATH_AND || m->kind == MATH_OR;
}

int equal_is_vector(const struct math_node *m)
{
    return m->kind == MATH_MATRIX && (m->rows == 1 || m->columns == 1);
}

static int is_segment(const struct math_node *m)
{
    m = m->kind == MATH_EITHER ? m->child[0] : m;
    return m->kind == MATH_SYMBOL && strlen(m->name) == 2 && m->name[0] >= 'A' && m->name[0] <= 'Z' &&
           m->name[1] >= 'A' && m->name[1] <= 'Z';
}

int equal_is_name(const struct math_node *m)
{
    switch (m->kind) {
    case MATH_OPAQUE: /* \frac{dy}{dx} */
        return !strncmp(m->name, "derivative", 10);
    case MATH_FUNCTION: /* \tan\alpha */
        return m->n == 1 && m->which >= MATH_SIN && m->which <= MATH_CSC && m->child[0]->kind == MATH_SYMBOL;
    case MATH_UNION:
    case MATH_INTERSECTION:
    case MATH_DIFFERENCE: /* A \cap B */
    case MATH_SYMBOL:
    case MATH_TEXT:
        return 1;
    case MATH_APPLY: /* f(x), T(10) */
        return 1;
    case MATH_EITHER:
        return equal_is_name(m->child[0]);
    case MATH_DIVIDE: /* AB/CD, of two segments */
        return is_segment(m->child[0]) && is_segment(m->child[1]);
    case MATH_TUPLE:
    case MATH_LIST:
    case MATH_RATIO: /* (x, y) = (1, 2), V_1 : V_2 = 11 : 21 */
        for (int i = 0; i < m->n; i++)
            if (!equal_is_name(m->child[i]))
                return 0;
        return m->n > 0;
    default:
        return 0;
    }
}

int equal_is_mark(const struct math_node *m)
{
    return m->kind == MATH_PERCENT || m->kind == MATH_DEGREES || m->kind == MATH_UNIT ||
           m->kind == MATH_CURRENCY;
}

/* The value inside all marks, with a sign in front of them: -(5\%). */
static const struct math_node *innermost_value(const struct math_node *m)
{
    while (equal_is_mark(m) || (m->kind == MATH_NEGATE && equal_is_mark(m->child[0])))
        m = m->child[0];
    return m;
}

int equal_is_value(const struct math_node *m)
{
    return math_is_scalar(innermost_value(m));
}

int equal_is_order(int op)
{
    return op == MATH_LESS || op == MATH_LESS_EQUAL || op == MATH_GREATER || op == MATH_GREATER_EQUAL ||
           op == MATH_NOT_EQUAL;
}

int equal_is_region(const struct math_node *m)
{
    switch (m->kind) {
    case MATH_INTERVAL:
    case MATH_UNION:
    case MATH_INTERSECTION:
    case MATH_DIFFERENCE:
    case MATH_SET_BUILDER:
    case MATH_NUMBER_SET:
        return 1;
    case MATH_RELATION:
        return equal_is_order(m->ops[0]) || (m->ops[0] == MATH_IN && equal_is_region(m->child[1]));
    case MATH_AND:
    case MATH_OR:
    case MATH_LIST:
    case MATH_EITHER:
        for (int i = 0; i < m->n; i++)
            if (equal_is_region(m->child[i]))
                return 1;
        return 0;
    default:
        return 0;
    }
}

const struct math_node *equal_first_reading(const struct math_node *m)
{
    return m->kind == MATH_EITHER ? m->child[0] : m;
}
