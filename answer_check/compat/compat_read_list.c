/* Relations and lists in the original's grammar. */
#include "answer_check/compat/compat_reader.h"

#include <string.h>

typedef const struct math_node *node;

/* ---- relations */

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

static int relation_op(enum compat_token t)
{
    switch (t) {
    case CT_EQUALS:
    case CT_EQUIV:
        return MATH_EQUAL;
    case CT_LESS:
        return MATH_LESS;
    case CT_LESS_EQUAL:
        return MATH_LESS_EQUAL;
    case CT_GREATER:
        return MATH_GREATER;
    case CT_GREATER_EQUAL:
        return MATH_GREATER_EQUAL;
    case CT_UNEQUAL:
        return MATH_NOT_EQUAL;
    default:
        return -1;
    }
}

/* Adds one more side to `left`, which is a side or a chain. */
node compat_extend_chain(struct compat_reader *r, node left, int op, node right)
{
    int n = left->kind == MATH_RELATION ? left->n : 1;
    node *side = arena_alloc(r->w->arena, (size_t)(n + 1) * sizeof *side);
    unsigned char *ops = arena_alloc(r->w->arena, (size_t)n);
    if (math_step(r->w, n))
        return NULL;
    memcpy(side, left->kind == MATH_RELATION ? left->child : &left, (size_t)n * sizeof *side);
    if (n > 1)
        memcpy(ops, left->ops, (size_t)(n - 1));
    side[n] = right;
    ops[n - 1] = (unsigned char)op;
    struct math_node *m = math_node_new(r->w, MATH_RELATION, r->at->text, n + 1, side);
    if (m)
        m->ops = ops;
    return m;
}

/* Sides with relation signs between them. An approximation is dropped, unless only symbols stand to its
 * left: then it is the value. */
static node read_relation(struct compat_reader *r)
{
    node m = compat_expr(r);
    while (m) {
        enum compat_token t = r->at->kind;
        int op = relation_op(t);
        if (op < 0 && t != CT_APPROX)
            break;
        r->at++;
        node right = compat_expr(r);
        if (!right)
            return NULL;
        if (t != CT_APPROX)
            m = compat_extend_chain(r, m, op, right);
        else if (compat_only_symbols(m))
            m = right;
    }
    return m;
}

/* ---- elements */

static int add_element(struct compat_elements *e, node m)
{
    if (!m || e->n == COMPAT_ELEMENTS)
        return -1;
    e->at[e->n++] = m;
    e->size[e->groups - 1]++;
    return 0;
}

/* Does a complete element end here? */
static int ends_element(const struct compat_reader *r)
{
    switch (r->at->kind) {
    case CT_END:
    case CT_COMMA:
    case CT_SEMICOLON:
    case CT_R_PAREN:
    case CT_R_BRACKET:
    case CT_R_BRACE:
    case CT_R_SET:
    case CT_R_VISUAL:
        return 1;
    default:
        return 0;
    }
}

/* "\pm a" and "a \pm b" are two elements. */
static int plus_minus(struct compat_reader *r, struct compat_elements *e)
{
    node left = NULL, right;
    if (r->at->kind != CT_PLUS_MINUS && !(left = compat_expr(r)))
        return -1;
    if (!compat_accept(r, CT_PLUS_MINUS) || !(right = compat_expr(r)) || !ends_element(r))
        return -1;
    node minus = compat_negated(r->w, right);
    if (!left)
        return add_element(e, minus) || add_element(e, right) ? -1 : 0;
    return add_element(e, math_node_2(r->w, MATH_ADD, left->source, left, right)) ||
                   add_element(e, math_node_2(r->w, MATH_ADD, left->source, left, minus))
               ? -1
               : 0;
}

static int read_element(struct compat_reader *r, struct compat_elements *e, int with_relation)
{
    const struct compat_lexed *from = r->at;
    int depth = r->depth, n = e->n;
    if (!plus_minus(r, e))
        return 0;
    r->at = from;
    r->depth = depth;
    if (e->n != n)
        return -1;
    node m = compat_set_atom(r);
    if (!m || !ends_element(r)) {
        r->at = from;
        r->depth = depth;
        m = with_relation ? read_relation(r) : compat_expr(r);
    }
    return add_element(e, m);
}

/* Reads elements separated by commas, in groups separated by semicolons. */
struct compat_elements *compat_elements(struct compat_reader *r, int with_relation)
{
    struct compat_elements *e = arena_alloc(r->w->arena, sizeof *e);
    if (math_step(r->w, COMPAT_ELEMENTS))
        return NULL;
    do {
        if (e->groups == COMPAT_ELEMENTS)
            return NULL;
        e->groups++;
        do {
            if (read_element(r, e, with_relation))
                return NULL;
        } while (compat_accept(r, CT_COMMA));
    } while (compat_accept(r, CT_SEMICOLON));
    return e;
}

/* A list without brackets: one element stands for itself, several are a set, several groups are a set of
 * tuples. */
node compat_as_list(struct compat_reader *r, const struct compat_elements *e)
{
    if (!e)
        return NULL;
    if (e->n == 1)
        return e->at[0];
    if (e->groups == 1 || e->groups == e->n)
        return compat_node(r, MATH_SET, 0, e->n, e->at);
    node tuple[COMPAT_ELEMENTS];
    for (int g = 0, i = 0; g < e->groups; i += e->size[g++])
        tuple[g] = compat_node(r, MATH_TUPLE, 0, e->size[g], e->at + i);
    return compat_node(r, MATH_SET, 0, e->groups, tuple);
}
