/* Limits: by substitution where the function is continuous, by L'Hopital's rule for 0/0, and by leading terms
 * for quotients of polynomials at infinity. Exponentials fall at infinity faster than polynomials rise. */
#include "answer_check/calculus/calculus.h"

#include "answer_check/scalar/scalar_build.h"

enum { DERIVATIVES = 4, DEGREE_MAX = 12 };

int calculus_is_infinite(const struct math_node *m)
{
    if (m->kind == MATH_NEGATE)
        return -calculus_is_infinite(m->child[0]);
    return m->kind == MATH_CONSTANT && m->which == MATH_INFINITY;
}

static int is_zero(struct math_work *w, const struct math_node *m)
{
    return m && math_scalar_equal(w, m, tree_integer(w, 0)) == MATH_TRUE;
}

static int is_not_zero(struct math_work *w, const struct math_node *m)
{
    return m && math_scalar_equal(w, m, tree_integer(w, 0)) == MATH_FALSE;
}

/* Is m built of functions that are continuous wherever they are defined? Roots and logarithms must be defined
 * around the point, so only those of positive numbers count. */
static int is_continuous(struct math_work *w, const struct math_node *m, const char *x,
                         const struct math_node *at)
{
    if (!math_has_symbol(m, x))
        return 1;
    const struct math_node *inside = NULL;
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

static const struct math_node *at_number(struct math_work *w, const struct math_node *m, const char *x,
                                         const struct math_node *to)
{
    if (is_continuous(w, m, x, to))
        return math_substitute(w, m, x, to);
    if (m->kind != MATH_DIVIDE)
        return NULL;
    const struct math_node *a = m->child[0], *b = m->child[1];
    for (int i = 0; i < DERIVATIVES; i++) {
        if (!a || !b || !is_continuous(w, a, x, to) || !is_continuous(w, b, x, to) ||
            !is_zero(w, math_substitute(w, a, x, to)) || !is_zero(w, math_substitute(w, b, x, to)))
            return NULL;
        a = calculus_derivative(w, a, x);
        b = calculus_derivative(w, b, x);
        if (a && b && is_continuous(w, a, x, to) && is_continuous(w, b, x, to)) {
            const struct math_node *below = math_substitute(w, b, x, to);
            if (is_not_zero(w, below))
                return tree_div(w, math_substitute(w, a, x, to), below);
        }
    }
    return NULL;
}

/* The leading coefficient of a polynomial, and its degree; NULL where m is none. By derivatives: the last one
 * that is not 0, over the factorial. */
static const struct math_node *leading(struct math_work *w, const struct math_node *m, const char *x,
                                       int *degree)
{
    const struct math_node *factorial = tree_integer(w, 1);
    for (*degree = 0; *degree <= DEGREE_MAX; ++*degree) {
        const struct math_node *d = calculus_derivative(w, m, x);
        if (!d)
            return NULL;
        if (is_zero(w, d)) {
            m = math_substitute(w, m, x, tree_integer(w, 1));
            return is_not_zero(w, m) ? tree_div(w, m, factorial) : NULL;
        }
        m = d;
        factorial = tree_mul(w, factorial, tree_integer(w, *degree + 1));
    }
    return NULL;
}

/* Does m fall to 0 as an exponential of a negative multiple of x does, whatever polynomials it is multiplied
 * with? */
static int falls(struct math_work *w, const struct math_node *m, const char *x, int sign)
{
    int degree, found = 0;
    const struct math_node *exponent = NULL, *a, *zero = tree_integer(w, 0);
    if (m->kind == MATH_NEGATE)
        return falls(w, m->child[0], x, sign);
    if (m->kind == MATH_DIVIDE)
        return !math_has_symbol(m->child[1], x) && falls(w, m->child[0], x, sign);
    if (m->kind == MATH_MULTIPLY) {
        for (int i = 0; i < m->n; i++) {
            int falling = falls(w, m->child[i], x, sign);
            if (!falling && math_has_symbol(m->child[i], x) && !leading(w, m->child[i], x, &degree))
                return 0;
            found |= falling;
        }
        return found;
    }
    if (m->kind == MATH_FUNCTION && m->which == MATH_EXP)
        exponent = m->child[0];
    else if (m->kind == MATH_POWER && m->child[0]->kind == MATH_CONSTANT && m->child[0]->which == MATH_E)
        exponent = m->child[1];
    a = exponent && math_has_symbol(exponent, x) ? leading(w, exponent, x, &degree) : NULL;
    if (!a || degree != 1)
        return 0;
    return (sign > 0 ? math_scalar_less(w, a, zero) : math_scalar_less(w, zero, a)) == MATH_TRUE;
}

static const struct math_node *at_infinity(struct math_work *w, const struct math_node *m, const char *x,
                                           int sign)
{
    const struct math_node *all, *a, *b;
    int above, below;
    if (!math_has_symbol(m, x))
        return m;
    if (m->kind == MATH_ADD) {
        all = tree_integer(w, 0);
        for (int i = 0; i < m->n && all; i++)
            all = tree_add(w, all, at_infinity(w, m->child[i], x, sign));
        if (all)
            return all;
    }
    if (m->kind == MATH_NEGATE)
        return tree_neg(w, at_infinity(w, m->child[0], x, sign));
    if (falls(w, m, x, sign))
        return tree_integer(w, 0);
    if (m->kind == MATH_DIVIDE && !math_has_symbol(m->child[1], x))
        return tree_div(w, at_infinity(w, m->child[0], x, sign), m->child[1]);
    if (m->kind == MATH_FUNCTION && m->which == MATH_ARCTAN && (a = leading(w, m->child[0], x, &above)) &&
        above == 1) {
        int up = (math_scalar_less(w, tree_integer(w, 0), a) == MATH_TRUE) == (sign > 0);
        const struct math_node *quarter = tree_function(w, MATH_ARCTAN, tree_integer(w, up ? 1 : -1));
        return tree_mul(w, tree_integer(w, 2), quarter);
    }
    if (m->kind == MATH_POWER && !math_has_symbol(m->child[1], x) &&
        math_scalar_less(w, m->child[1], tree_integer(w, 0)) == MATH_TRUE &&
        leading(w, m->child[0], x, &above) && above > 0)
        return tree_integer(w, 0);
    if (m->kind != MATH_DIVIDE || !(a = leading(w, m->child[0], x, &above)) ||
        !(b = leading(w, m->child[1], x, &below)) || above > below)
        return NULL;
    return above < below ? tree_integer(w, 0) : tree_div(w, a, b);
}

const struct math_node *calculus_limit(struct math_work *w, const struct math_node *m, const char *x,
                                       const struct math_node *to)
{
    if (math_step(w, 50) || math_has_symbol(to, x))
        return NULL;
    int sign = calculus_is_infinite(to);
    return sign ? at_infinity(w, m, x, sign) : at_number(w, m, x, to);
}
