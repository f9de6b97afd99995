/* What SymPy makes of integrals, limits, derivatives, rounded values and extrema before it compares. It knows
 * few identities of rounded values and extrema: it does not know that \lceil x\rceil is -\lfloor -x\rfloor.
 * So they become unknown functions here, and values at sample points show no more than SymPy would see. */
#include "answer_check/scalar/calculus.h"
#include "answer_check/compat/compat_equal.h"

#include <stdlib.h>
#include <string.h>

typedef const struct math_node *node;

static int is_function(node m, int f)
{
    return m->kind == MATH_FUNCTION && (int)m->which == f;
}

static int is_constant(struct math_work *w, node m)
{
    const char *name[1];
    return math_symbols(w, m, name, 1) == 0;
}

static node unknown_function(struct math_work *w, const char *name, node m, int n, const node *child)
{
    struct math_node *out = math_node_new(w, MATH_APPLY, m->source, n, child);
    if (out)
        out->name = name; /* has a blank, which no name in an answer has */
    return out;
}

/* ---- rounding: an integer summand is taken out, if it is the only number in the sum */

static node simplify_rounding(struct math_work *w, node m)
{
    const char *name = m->which == MATH_FLOOR ? "floor of" : "ceiling of";
    node x = m->child[0], integer = NULL;
    if (x->kind == MATH_APPLY && (!strcmp(x->name, "floor of") || !strcmp(x->name, "ceiling of")))
        return x;
    if (x->kind != MATH_ADD)
        return unknown_function(w, name, m, 1, &x);
    node *rest = arena_alloc(w->arena, (size_t)x->n * sizeof *rest);
    int n = 0, numbers = 0;
    for (int i = 0; i < x->n; i++)
        if (is_constant(w, x->child[i])) {
            numbers++;
            integer = x->child[i];
        } else {
            rest[n++] = x->child[i];
        }
    if (numbers != 1 || !compat_is_integer(integer))
        return unknown_function(w, name, m, 1, &x);
    x = n > 1 ? math_node_new(w, MATH_ADD, x->source, n, rest) : rest[0];
    return math_node_2(w, MATH_ADD, m->source, x ? unknown_function(w, name, m, 1, &x) : NULL, integer);
}

/* ---- extrema: in any order, each argument once, and of several numbers one */

struct printed {
    node m;
    const char *text;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct printed *)a)->text, ((const struct printed *)b)->text);
}

static node simplify_extremum(struct math_work *w, node m)
{
    enum { ARGUMENTS = 16 };
    struct printed part[ARGUMENTS];
    node best = NULL, argument[ARGUMENTS];
    int n = 0, kept = 0;
    if (m->n > ARGUMENTS)
        return m;
    for (int i = 0; i < m->n; i++) {
        node x = m->child[i];
        if (!compat_is_number(x))
            part[n++].m = x;
        else if (!best || math_scalar_less(w, m->which == MATH_MAX ? best : x,
                                           m->which == MATH_MAX ? x : best) == MATH_TRUE)
            best = x;
    }
    if (best)
        part[n++].m = best;
    for (int i = 0; i < n; i++) {
        struct str s = {0};
        math_print(&s, part[i].m);
        part[i].text = arena_strndup(w->arena, str_text(&s), s.len);
        str_release(&s);
    }
    qsort(part, (size_t)n, sizeof *part, by_text);
    for (int i = 0; i < n; i++)
        if (!i || strcmp(part[i].text, part[i - 1].text) != 0)
            argument[kept++] = part[i].m;
    if (kept == 1)
        return argument[0];
    return unknown_function(w, m->which == MATH_MAX ? "maximum of" : "minimum of", m, kept, argument);
}

/* ---- integrals without bounds: the antiderivative, with ln u where ours has ln |u| */

static node without_modulus(struct math_work *w, node m, int depth)
{
    if (depth > MATH_TREE_DEPTH || math_step(w, 1))
        return NULL;
    if (is_function(m, MATH_LN) && is_function(m->child[0], MATH_ABS))
        return math_node_like(w, m, m->child[0]->child);
    if (!m->n)
        return m;
    node *child = arena_alloc(w->arena, (size_t)m->n * sizeof *child);
    for (int i = 0; i < m->n; i++)
        child[i] = without_modulus(w, m->child[i], depth + 1);
    return math_node_like(w, m, child);
}

static node find_antiderivative(struct math_work *w, node m)
{
    node f =
        m->child[0]->kind == MATH_SYMBOL ? calculus_antiderivative(w, m->child[1], m->child[0]->name) : NULL;
    f = f ? without_modulus(w, f, 0) : NULL;
    return f ? f : m;
}

/* ---- the whole */

static int needs_simplifying(node m)
{
    if (m->kind == MATH_OPAQUE || (m->kind == MATH_SUM && (m->which == MATH_INTEGRAL ||
                                                           (m->n == 4 && math_infinity_sign(m->child[3])))))
        return 1;
    if (m->kind == MATH_FUNCTION &&
        (m->which == MATH_FLOOR || m->which == MATH_CEILING || m->which == MATH_MIN || m->which == MATH_MAX))
        return 1;
    for (int i = 0; i < m->n; i++)
        if (needs_simplifying(m->child[i]))
            return 1;
    return 0;
}

static node simplify_tree(struct math_work *w, node m)
{
    if (!m->n || !needs_simplifying(m))
        return m;
    if (math_step(w, 10))
        return NULL;
    node *child = arena_alloc(w->arena, (size_t)m->n * sizeof *child);
    for (int i = 0; i < m->n; i++)
        child[i] = simplify_tree(w, m->child[i]);
    m = math_node_like(w, m, child);
    if (!m)
        return NULL;
    if (m->kind == MATH_OPAQUE && !strcmp(m->name, "integral"))
        return find_antiderivative(w, m);
    if (m->kind != MATH_FUNCTION || is_constant(w, m))
        return m;
    if (m->which == MATH_FLOOR || m->which == MATH_CEILING)
        return simplify_rounding(w, m);
    return m->which == MATH_MIN || m->which == MATH_MAX ? simplify_extremum(w, m) : m;
}

/* Integrals that are left are equal only in the same letter: the original does not rename it. */
static node with_own_letters(struct math_work *w, node m)
{
    if (!m || !m->n || !needs_simplifying(m))
        return m;
    node *child = arena_alloc(w->arena, (size_t)m->n * sizeof *child);
    for (int i = 0; i < m->n; i++)
        child[i] = with_own_letters(w, m->child[i]);
    int is_integral = m->kind == MATH_SUM && m->which == MATH_INTEGRAL;
    return is_integral ? unknown_function(w, "integral of", m, m->n, child) : math_node_like(w, m, child);
}

node compat_simplify(struct math_work *w, node m)
{
    return needs_simplifying(m) ? with_own_letters(w, calculus_evaluate(w, simplify_tree(w, m))) : m;
}
