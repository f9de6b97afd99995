/* Limits: by substitution where the function is continuous, and by L'Hopital's rule for 0/0. Those at
 * infinity are found in calculus_infinity.c. */
#include "answer_check/calculus/calculus.h"

#include "answer_check/scalar/scalar_build.h"

typedef const struct math_node *node;

enum { DERIVATIVES = 4 };

int calculus_is_infinite(node m)
{
    if (m->kind == MATH_NEGATE)
        return -calculus_is_infinite(m->child[0]);
    return m->kind == MATH_CONSTANT && m->which == MATH_INFINITY;
}

static int is_zero(struct math_work *w, node m)
{
    return m && math_scalar_equal(w, m, tree_integer(w, 0)) == MATH_TRUE;
}

static int is_not_zero(struct math_work *w, node m)
{
    return m && math_scalar_equal(w, m, tree_integer(w, 0)) == MATH_FALSE;
}

/* Is m built of functions that are continuous wherever they are defined? Roots and logarithms must be defined
 * around the point, so only those of positive numbers count. */
static int is_continuous(struct math_work *w, node m, const char *x, node at)
{
    if (!math_has_symbol(m, x))
        return 1;
    node inside = NULL;
    switch (m->kind) {
    case MATH_SYMBOL:
        return 1;
    case MATH_ADD:
    case MATH_MULTIPLY:
    case MATH_NEGATE:
        break;
    case MATH_DIVIDE:
        if (!is_not_zero(w, math_substitute(w, m->child[1], x, at)))
            return 0;
        break;
    case MATH_POWER: {
        int64_t n;
        int whole = math_scalar_integer(w, m->child[1], &n) && n >= 0;
        inside = whole ? NULL : math_substitute(w, m->child[0], x, at);
        if (!whole && !inside)
            return 0;
        break;
    }
    case MATH_FUNCTION:
        if (m->n != 1)
            return 0;
        if (m->which == MATH_SQRT || m->which == MATH_LN)
            inside = math_substitute(w, m->child[0], x, at);
        else if (m->which != MATH_EXP && m->which != MATH_SIN && m->which != MATH_COS &&
                 m->which != MATH_ARCTAN && m->which != MATH_ABS)
            return 0;
        break;
    default:
        return 0;
    }
    if (inside && math_scalar_less(w, tree_integer(w, 0), inside) != MATH_TRUE)
        return 0;
    for (int i = 0; i < m->n; i++)
        if (!is_continuous(w, m->child[i], x, at))
            return 0;
    return 1;
}

static node limit_at_number(struct math_work *w, node m, const char *x, node to);

/* Of a quotient of two functions that go to 0. */
static node limit_by_derivatives(struct math_work *w, node a, node b, const char *x, node to)
{
    for (int i = 0; i < DERIVATIVES; i++) {
        if (!a || !b || !is_continuous(w, a, x, to) || !is_continuous(w, b, x, to) ||
            !is_zero(w, math_substitute(w, a, x, to)) || !is_zero(w, math_substitute(w, b, x, to)))
            return NULL;
        a = calculus_derivative(w, a, x);
        b = calculus_derivative(w, b, x);
        if (a && b && is_continuous(w, a, x, to) && is_continuous(w, b, x, to)) {
            node below = math_substitute(w, b, x, to);
            if (is_not_zero(w, below))
                return tree_div(w, math_substitute(w, a, x, to), below);
        }
    }
    return NULL;
}

/* f^g with f to 1 is e to the limit of g (f - 1). */
static node limit_of_power(struct math_work *w, node f, node g, const char *x, node to)
{
    node one = tree_integer(w, 1), base = limit_at_number(w, f, x, to);
    if (!base || math_scalar_equal(w, base, one) != MATH_TRUE)
        return NULL;
    node exponent = tree_mul(w, g, tree_sub(w, f, one));
    return tree_function(w, MATH_EXP, exponent ? limit_at_number(w, exponent, x, to) : NULL);
}

static node limit_at_number(struct math_work *w, node m, const char *x, node to)
{
    struct calculus_quotient q;
    if (math_step(w, 50))
        return NULL;
    if (is_continuous(w, m, x, to))
        return math_substitute(w, m, x, to);
    if (m->kind == MATH_POWER && math_has_symbol(m->child[1], x))
        return limit_of_power(w, m->child[0], m->child[1], x, to);
    return calculus_as_quotient(w, m, x, &q) ? NULL : limit_by_derivatives(w, q.above, q.below, x, to);
}

node calculus_limit(struct math_work *w, node m, const char *x, node to)
{
    if (math_step(w, 50) || math_has_symbol(to, x))
        return NULL;
    int sign = calculus_is_infinite(to);
    return sign ? calculus_limit_at_infinity(w, m, x, sign) : limit_at_number(w, m, x, to);
}
