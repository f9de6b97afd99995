/* Equations, inequalities and other relations as statements; and the value that an equation states. */
#include "answer_check/equal/equal_parts.h"

#include <string.h>

/* The left side minus the right one. */
static const struct math_node *sides_difference(struct comparison *e, const struct math_node *m)
{
    const struct math_node *right = math_node_1(e->w, MATH_NEGATE, m->source, m->child[m->n - 1]);
    return right ? math_node_2(e->w, MATH_ADD, m->source, m->child[0], right) : NULL;
}

static const struct math_node *add_integer(struct comparison *e, const struct math_node *m, int value)
{
    return math_node_2(e->w, MATH_ADD, m->source, m, math_node_integer(e->w, m->source, value));
}

static enum math_truth negate_truth(enum math_truth t)
{
    return t == MATH_UNKNOWN ? t : t == MATH_TRUE ? MATH_FALSE : MATH_TRUE;
}

/* Does f = left - right vanish at v = value, and is it linear in v there: f(value + 2) = 2 f(value + 1),
 * not 0? */
static enum math_truth is_linear_root(struct comparison *e, const struct math_node *f, const char *v,
                                      const struct math_node *value)
{
    const struct math_node *at[3] = {value, add_integer(e, value, 1), add_integer(e, value, 2)};
    for (int i = 0; i < 3; i++)
        if (!at[i] || !(at[i] = math_substitute(e->w, f, v, at[i])))
            return MATH_UNKNOWN;
    const struct math_node *zero = math_node_integer(e->w, f->source, 0);
    const struct math_node *twice = math_node_2(e->w, MATH_ADD, f->source, at[1], at[1]);
    if (!zero || !twice)
        return MATH_UNKNOWN;
    enum math_truth r = math_scalar_equal(e->w, at[0], zero);
    if (r == MATH_TRUE)
        r = equal_worse(negate_truth(math_scalar_equal(e->w, at[1], zero)),
                        math_scalar_equal(e->w, at[2], twice));
    return r;
}

enum math_truth equal_solved(struct comparison *e, const struct math_node *equation,
                             const struct math_node *value)
{
    enum { SYMBOLS = 8 };
    const char *name[SYMBOLS];
    enum math_truth best = MATH_FALSE;
    if (equation->n != 2 || equation->ops[0] != MATH_EQUAL || !math_is_scalar(equation->child[0]) ||
        !math_is_scalar(equation->child[1]))
        return MATH_FALSE;
    const struct math_node *f = sides_difference(e, equation);
    int n = f ? math_symbols(e->w, f, name, SYMBOLS) : 0;
    for (int i = 0; i < n && i < SYMBOLS && best != MATH_TRUE; i++)
        if (!math_has_symbol(value, name[i]))
            best = equal_better(best, is_linear_root(e, f, name[i], value));
    if (best == MATH_TRUE)
        equal_set_how(e, "as an equation solved for one symbol");
    return best;
}

static int is_plain_name(const struct math_node *m, const char *name)
{
    return m->kind == MATH_SYMBOL && !strcmp(m->name, name);
}

/* Is f the function f(x), and y the plain name that may stand for it? */
static int names_function_of(const struct math_node *f, const struct math_node *y)
{
    return f->kind == MATH_APPLY && f->n == 1 && !strcmp(f->name, "f") && is_plain_name(f->child[0], "x") &&
           is_plain_name(y, "y");
}

/* The prediction's right side with its arguments renamed to the reference's, for f(x) = .. and f(t) = ..;
 * NULL: not of that form. */
static const struct math_node *rename_arguments(struct comparison *e, const struct math_node *gold,
                                                const struct math_node *pred)
{
    const struct math_node *g = gold->child[0], *p = pred->child[0], *body = pred->child[1];
    if (g->kind == MATH_EITHER)
        g = g->child[0];
    if (p->kind == MATH_EITHER)
        p = p->child[0];
    if (names_function_of(g, p) || names_function_of(p, g))
        return body;
    if (g->kind != MATH_APPLY || p->kind != MATH_APPLY || g->n != p->n || strcmp(g->name, p->name) != 0)
        return NULL;
    for (int i = 0; i < g->n && body; i++) {
        if (g->child[i]->kind != MATH_SYMBOL || p->child[i]->kind != MATH_SYMBOL)
            return NULL;
        if (strcmp(g->child[i]->name, p->child[i]->name) != 0)
            body = math_has_symbol(body, g->child[i]->name)
                       ? NULL
                       : math_substitute(e->w, body, p->child[i]->name, g->child[i]);
    }
    return body;
}

/* The left side minus the right one, times the denominator of the right side where letters stand in it: y
 * = 11/x as xy - 11. */
static const struct math_node *clear_denominator(struct comparison *e, const struct math_node *m)
{
    const struct math_node *right = m->child[1];
    const char *name[1];
    if (right->kind != MATH_DIVIDE || math_symbols(e->w, right->child[1], name, 1) == 0)
        return sides_difference(e, m);
    const struct math_node *minus = math_node_1(e->w, MATH_NEGATE, m->source, right->child[0]),
                           *left = math_node_2(e->w, MATH_MULTIPLY, m->source, m->child[0], right->child[1]);
    return minus && left ? math_node_2(e->w, MATH_ADD, m->source, left, minus) : NULL;
}

/* Equations with the same solutions: equal functions, or differences of sides that are proportional. */
static enum math_truth compare_equations(struct comparison *e, const struct math_node *gold,
                                         const struct math_node *pred)
{
    const struct math_node *body = rename_arguments(e, gold, pred), *a, *b;
    if (body)
        return equal_trees(e, gold->child[1], body);
    if (!math_is_scalar(gold->child[0]) || !math_is_scalar(gold->child[1]) ||
        !math_is_scalar(pred->child[0]) || !math_is_scalar(pred->child[1]))
        return MATH_FALSE;
    a = clear_denominator(e, gold);
    b = clear_denominator(e, pred);
    enum math_truth r = a && b ? math_scalar_proportional(e->w, a, b) : MATH_UNKNOWN;
    if (r == MATH_TRUE)
        equal_set_how(e, "as equations up to a factor");
    return r;
}

/* The relation read from right to left. */
static enum math_op flip_relation(enum math_op op)
{
    switch (op) {
    case MATH_LESS:
        return MATH_GREATER;
    case MATH_LESS_EQUAL:
        return MATH_GREATER_EQUAL;
    case MATH_GREATER:
        return MATH_LESS;
    case MATH_GREATER_EQUAL:
        return MATH_LESS_EQUAL;
    default:
        return op;
    }
}

/* May the relation be read from right to left? name: which other relation it is. */
static int is_symmetric(enum math_op op, const char *name)
{
    static const char *const other[] = {"parallel",  "perpendicular", "similar",
                                        "congruent", "iff",           "not parallel"};
    for (size_t i = 0; op == MATH_OTHER_RELATION && i < sizeof other / sizeof *other; i++)
        if (!strcmp(name, other[i]))
            return 1;
    return op == MATH_EQUAL || op == MATH_NOT_EQUAL || op == MATH_APPROXIMATELY || flip_relation(op) != op;
}

/* The same sides in the same order, or all of it read from right to left. */
static enum math_truth compare_sides(struct comparison *e, const struct math_node *gold,
                                     const struct math_node *pred, int back)
{
    enum math_truth all = MATH_TRUE;
    for (int i = 0; i + 1 < gold->n; i++) {
        enum math_op op = (enum math_op)pred->ops[back ? gold->n - 2 - i : i];
        if (back && !is_symmetric(op, pred->name))
            return MATH_FALSE;
        if (gold->ops[i] != (unsigned char)(back ? flip_relation(op) : op))
            return MATH_FALSE;
    }
    for (int i = 0; i < gold->n && all != MATH_FALSE; i++)
        all = equal_worse(all, equal_trees(e, gold->child[i], pred->child[back ? gold->n - 1 - i : i]));
    return all;
}

static int all_equal_signs(const struct math_node *m, int n)
{
    for (int i = 0; i + 1 < n; i++)
        if (m->ops[i] != MATH_EQUAL)
            return 0;
    return 1;
}

/* Makes a = c of a = b = c: what stands between is a derivation, unless it is another unknown (x = y = 1),
 * and what only approximates at the end is dropped. */
static const struct math_node *ends_only(struct comparison *e, const struct math_node *m)
{
    int n = m->n;
    while (n > 2 && m->ops[n - 2] == MATH_APPROXIMATELY)
        n--;
    const struct math_node *end[2] = {m->child[0], m->child[n - 1]};
    if (m->n == 2 || !all_equal_signs(m, n))
        return m;
    for (int i = 1; i + 1 < n; i++)
        if (m->child[i]->kind == MATH_SYMBOL)
            return m;
    struct math_node *out = math_node_new(e->w, MATH_RELATION, m->source, 2, end);
    if (out)
        out->ops = m->ops;
    return out;
}

/* Splits n \equiv 3 \pmod 5 into its three parts, also where it is written n \equiv 3 \bmod 5. Returns 1,
 * or 0 when m is no congruence. */
static int read_congruence(struct comparison *e, const struct math_node *m, const struct math_node *part[3])
{
    const struct math_node *right = m->n > 1 ? m->child[1] : NULL;
    if (!right || m->ops[0] != MATH_CONGRUENT)
        return 0;
    int negative = m->n == 2 && right->kind == MATH_NEGATE;
    right = negative ? right->child[0] : right;
    int mod = m->n == 2 && right->kind == MATH_FUNCTION && right->which == MATH_MOD && right->n == 2;
    if (m->n != 3 && !mod)
        return 0;
    part[0] = m->child[0];
    part[1] = mod ? right->child[0] : right;
    part[2] = mod ? right->child[1] : m->child[2];
    if (negative)
        part[1] = math_node_1(e->w, MATH_NEGATE, m->source, part[1]);
    return part[1] != NULL;
}

/* Residues differ by a multiple of the modulus: 3 and 8 modulo 5. */
static enum math_truth compare_congruences(struct comparison *e, const struct math_node *const g[3],
                                           const struct math_node *const p[3])
{
    int64_t quotient;
    enum math_truth same = equal_worse(equal_trees(e, g[0], p[0]), equal_trees(e, g[2], p[2]));
    if (same != MATH_TRUE || !math_is_scalar(g[1]) || !math_is_scalar(p[1]) || !math_is_scalar(g[2]))
        return MATH_FALSE;
    const struct math_node *minus = math_node_1(e->w, MATH_NEGATE, p[1]->source, p[1]),
                           *d = math_node_2(e->w, MATH_ADD, g[1]->source, g[1], minus),
                           *q = math_node_2(e->w, MATH_DIVIDE, g[1]->source, d, g[2]);
    return q && math_scalar_integer(e->w, q, &quotient) ? MATH_TRUE : MATH_FALSE;
}

/* Are a and b positive multiples of one another? The sign is that of their product at one point. */
static enum math_truth positive_multiple(struct comparison *e, const struct math_node *a,
                                         const struct math_node *b)
{
    enum { SYMBOLS = 8 };
    const char *name[SYMBOLS];
    enum math_truth r = math_scalar_proportional(e->w, a, b);
    const struct math_node *zero = math_node_integer(e->w, a->source, 0);
    const struct math_node *product = math_node_2(e->w, MATH_MULTIPLY, a->source, a, b);
    int n = product ? math_symbols(e->w, product, name, SYMBOLS) : -1;
    if (r != MATH_TRUE || n < 0 || !zero)
        return r == MATH_TRUE ? MATH_UNKNOWN : r;
    for (int i = 0; i < n && product; i++) {
        static const int values[SYMBOLS] = {3, 7, 2, 11, 5, 13, 17, 19};
        product = math_substitute(e->w, product, name[i], math_node_integer(e->w, a->source, values[i]));
    }
    return product ? math_scalar_less(e->w, zero, product) : MATH_UNKNOWN;
}

/* Compares inequalities such as 0 < 4 - x^2 and 2x^2 < 8: the differences of their sides, in one
 * direction, up to a positive factor. */
static enum math_truth compare_differences(struct comparison *e, const struct math_node *gold,
                                           const struct math_node *pred)
{
    enum math_op g = (enum math_op)gold->ops[0], p = (enum math_op)pred->ops[0];
    if (flip_relation(g) == g || (p != g && p != flip_relation(g)))
        return MATH_FALSE;
    for (int i = 0; i < 2; i++)
        if (!math_is_scalar(gold->child[i]) || !math_is_scalar(pred->child[i]))
            return MATH_FALSE;
    const struct math_node *a = sides_difference(e, gold), *b = sides_difference(e, pred);
    if (b && p != g)
        b = math_node_1(e->w, MATH_NEGATE, b->source, b);
    return a && b ? positive_multiple(e, a, b) : MATH_UNKNOWN;
}

/* Does f \equiv 0 state what f(x) = 0 does? UNKNOWN: they are not such statements. */
static enum math_truth compare_constant_functions(struct comparison *e, const struct math_node *a,
                                                  const struct math_node *b)
{
    const struct math_node *name = a->child[0], *of = b->child[0];
    name = name->kind == MATH_EITHER ? name->child[0] : name;
    of = of->kind == MATH_EITHER ? of->child[0] : of;
    if (a->n != 2 || b->n != 2 || a->ops[0] != MATH_CONGRUENT || b->ops[0] != MATH_EQUAL ||
        name->kind != MATH_SYMBOL || of->kind != MATH_APPLY || of->n != 1 ||
        strcmp(name->name, of->name) != 0 || !equal_is_number(e, a->child[1]))
        return MATH_UNKNOWN;
    return equal_trees(e, a->child[1], b->child[1]);
}

enum math_truth equal_relations(struct comparison *e, const struct math_node *gold,
                                const struct math_node *pred)
{
    enum math_truth r = MATH_FALSE;
    const struct math_node *g[3], *p[3];
    if (read_congruence(e, gold, g) && read_congruence(e, pred, p))
        return compare_congruences(e, g, p);
    if (gold->ops[0] != pred->ops[0] && (gold->ops[0] == MATH_CONGRUENT || pred->ops[0] == MATH_CONGRUENT)) {
        r = gold->ops[0] == MATH_CONGRUENT ? compare_constant_functions(e, gold, pred)
                                           : compare_constant_functions(e, pred, gold);
        if (r != MATH_UNKNOWN)
            return r;
        r = MATH_FALSE;
    }
    gold = ends_only(e, gold);
    pred = ends_only(e, pred);
    if (!gold || !pred)
        return MATH_UNKNOWN;
    if (strcmp(gold->name, pred->name) != 0)
        return MATH_FALSE;
    if (gold->n == pred->n) {
        r = compare_sides(e, gold, pred, 0);
        if (r != MATH_TRUE)
            r = equal_better(r, compare_sides(e, gold, pred, 1));
    }
    if (r != MATH_TRUE && gold->n == 2 && pred->n == 2 && gold->ops[0] == MATH_EQUAL &&
        pred->ops[0] == MATH_EQUAL)
        r = equal_better(r, compare_equations(e, gold, pred));
    if (r != MATH_TRUE && gold->n == 2 && pred->n == 2)
        r = equal_better(r, compare_differences(e, gold, pred));
    return r;
}
