/* Relations as the original compares them, with each other and with sets of real numbers. */
#include "answer_check/compat/compat_equal.h"
#include "answer_check/equal/equal.h"

#include <string.h>

typedef const struct math_node *node;

/* ---- sets of real numbers */

/* The relation of two sides. */
static node link_of(struct math_work *w, node left, int op, node right)
{
    struct math_node *m = left && right ? math_node_2(w, MATH_RELATION, left->source, left, right) : NULL;
    unsigned char *ops = arena_alloc(w->arena, 1);
    ops[0] = (unsigned char)op;
    if (m)
        m->ops = ops;
    return m;
}

static int is_absolute(node m)
{
    return m->kind == MATH_FUNCTION && m->which == MATH_ABS;
}

/* The operator for swapped sides. */
static int reverse_op(int op)
{
    switch (op) {
    case MATH_LESS:
        return MATH_GREATER;
    case MATH_GREATER:
        return MATH_LESS;
    case MATH_LESS_EQUAL:
        return MATH_GREATER_EQUAL;
    case MATH_GREATER_EQUAL:
        return MATH_LESS_EQUAL;
    default:
        return op;
    }
}

/* |f| < c is -c < f and f < c; |f| > c is f < -c or f > c. */
static node without_absolute(struct math_work *w, node left, int op, node right)
{
    if (!is_absolute(left) && is_absolute(right)) {
        node t = left;
        left = right;
        right = t;
        op = reverse_op(op);
    }
    if (!is_absolute(left))
        return link_of(w, left, op, right);
    node minus = compat_negated(w, right),
         below = minus ? link_of(w, left->child[0], reverse_op(op), minus) : NULL;
    node above = link_of(w, left->child[0], op, right);
    int both = op == MATH_LESS || op == MATH_LESS_EQUAL || op == MATH_NOT_EQUAL;
    return below ? math_node_2(w, both ? MATH_AND : MATH_OR, left->source, below, above) : NULL;
}

/* Turns f(x) into a symbol of that name, because the question may ask for the value of an unknown
 * function. */
static node without_functions(struct math_work *w, node m, int depth)
{
    if (depth > MATH_TREE_DEPTH || math_step(w, 1 + m->n))
        return NULL;
    if (m->kind == MATH_APPLY) {
        const char *name = m->name;
        for (int i = 0; i < m->n; i++)
            name = arena_printf(w->arena, "%s_%.*s", name, (int)m->child[i]->source.n, m->child[i]->source.s);
        return math_node_named(w, MATH_SYMBOL, m->source, name);
    }
    if (!m->n)
        return m;
    node *child = arena_alloc(w->arena, (size_t)m->n * sizeof *child);
    for (int i = 0; i < m->n; i++)
        if (!(child[i] = without_functions(w, m->child[i], depth + 1)))
            return NULL;
    return math_node_like(w, m, child);
}

/* The original does not work out intersections, nor what one list of elements has beyond another. */
static int is_left_as_it_is(node m)
{
    for (int i = 0; i < m->n; i++)
        if (is_left_as_it_is(m->child[i]))
            return 1;
    return m->kind == MATH_INTERSECTION || (m->kind == MATH_DIFFERENCE && m->child[0]->kind == MATH_SET);
}

/* Rewrites a relation with absolute values as relations without them; other relations stay as they are. */
static node as_region(struct math_work *w, node m)
{
    if (m->kind != MATH_RELATION || !(m = without_functions(w, m, 0)))
        return m;
    int any = 0;
    for (int i = 0; i < m->n; i++)
        any |= is_absolute(m->child[i]);
    if (!any)
        return m;
    node out = without_absolute(w, m->child[0], m->ops[0], m->child[1]);
    for (int i = 1; i + 1 < m->n && out; i++)
        out = math_node_2(w, MATH_AND, m->source, out,
                          without_absolute(w, m->child[i], m->ops[i], m->child[i + 1]));
    return out;
}

int compat_same_region(struct math_work *w, node a, node b)
{
    static const struct grade_rules rules = {.decimals = DECIMALS_EXACT, .duplicates = DUPLICATES_COLLAPSE};
    struct comparison e = {.w = w, .rules = &rules, .how = ""};
    if (is_left_as_it_is(a) || is_left_as_it_is(b))
        return 0;
    a = as_region(w, a);
    b = as_region(w, b);
    return a && b && equal_regions(&e, a, b) == MATH_TRUE;
}

/* ---- relations */

/* Left minus right side, or with `reversed` right minus left; NULL if a side is no scalar. */
static node sides_difference(struct math_work *w, node m, int reversed)
{
    node a = m->child[reversed], b = m->child[!reversed];
    if (!math_is_scalar(a) || !math_is_scalar(b))
        return NULL;
    return math_node_2(w, MATH_ADD, m->source, a, compat_negated(w, b));
}

/* The product of the denominators in a sum of fractions; NULL when none of them has a symbol. */
static node multiply_denominators(struct math_work *w, node m, node product, int depth)
{
    const char *name[1];
    if (depth > MATH_TREE_DEPTH)
        return product;
    if (m->kind == MATH_DIVIDE && math_symbols(w, m->child[1], name, 1) != 0)
        product = product ? math_node_2(w, MATH_MULTIPLY, m->source, product, m->child[1]) : m->child[1];
    if (m->kind == MATH_ADD || m->kind == MATH_NEGATE || m->kind == MATH_MULTIPLY || m->kind == MATH_DIVIDE)
        for (int i = 0; i < m->n; i++)
            product = multiply_denominators(w, m->child[i], product, depth + 1);
    return product;
}

/* Do two equations have the same solutions? They do when they are equal up to a factor once the
 * denominators are cleared. */
static int same_solutions(struct math_work *w, node f, node g)
{
    const char *name[1];
    if (!math_symbols(w, f, name, 1) && !math_symbols(w, g, name, 1))
        return 1; /* nothing to solve for, so no solution differs */
    node x = multiply_denominators(w, f, NULL, 0), y = multiply_denominators(w, g, NULL, 0);
    if (x)
        f = math_node_2(w, MATH_MULTIPLY, f->source, f, x);
    if (y)
        g = math_node_2(w, MATH_MULTIPLY, g->source, g, y);
    return f && g && math_scalar_proportional(w, f, g) == MATH_TRUE;
}

/* Are two relations equal, also with swapped sides? */
static int relation_pair(struct compat_comparison *c, node gold, node pred)
{
    node f = sides_difference(c->w, gold, 0), g = sides_difference(c->w, pred, 0),
         back = sides_difference(c->w, pred, 1);
    if (!f || !g || !back)
        return 0;
    if (gold->ops[0] == pred->ops[0] && compat_equal(c, f, g))
        return 1;
    if (reverse_op(gold->ops[0]) == pred->ops[0] && gold->ops[0] != MATH_NOT_EQUAL &&
        compat_equal(c, f, back))
        return 1;
    return gold->ops[0] == MATH_EQUAL && pred->ops[0] == MATH_EQUAL && same_solutions(c->w, f, g);
}

int compat_relations(struct compat_comparison *c, node gold, node pred)
{
    if (gold->n != pred->n)
        return 0;
    for (int i = 0; i + 1 < gold->n; i++) {
        node a = link_of(c->w, gold->child[i], gold->ops[i], gold->child[i + 1]);
        node b = link_of(c->w, pred->child[i], pred->ops[i], pred->child[i + 1]);
        if (!a || !b || !(compat_same_writing(c->w, a, b) || relation_pair(c, a, b)))
            return 0;
    }
    return 1;
}
