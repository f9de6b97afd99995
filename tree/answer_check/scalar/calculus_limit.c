/* Limits. At a number: by substitution where the function is continuous, and by L'Hopital's rule for 0/0. At
 * infinity: by the leading terms of quotients of polynomials; exponentials fall faster than polynomials rise,
 * and logarithms rise slower; roots have linear asymptotes; and f^g is found by its logarithm. */
#include "answer_check/scalar/calculus_parts.h"

#include "answer_check/scalar/scalar_build.h"

typedef const struct math_node *node;

enum { DERIVATIVES = 4, DEGREE_MAX = 12, DEPTH_MAX = 8 };

static int is_zero(struct math_work *w, node m)
{
    return m && math_scalar_equal(w, m, tree_integer(w, 0)) == MATH_TRUE;
}

static int is_positive(struct math_work *w, node m)
{
    return m && math_scalar_less(w, tree_integer(w, 0), m) == MATH_TRUE;
}

static int is_polynomial(struct math_work *w, node m, const char *x)
{
    int64_t n;
    if (m->kind == MATH_SYMBOL || !math_has_symbol(m, x))
        return 1;
    if (m->kind == MATH_POWER)
        return math_scalar_integer(w, m->child[1], &n) && n >= 0 && n <= DEGREE_MAX &&
               is_polynomial(w, m->child[0], x);
    if (m->kind == MATH_DIVIDE)
        return !math_has_symbol(m->child[1], x) && is_polynomial(w, m->child[0], x);
    if (m->kind != MATH_ADD && m->kind != MATH_MULTIPLY && m->kind != MATH_NEGATE)
        return 0;
    for (int i = 0; i < m->n; i++)
        if (!is_polynomial(w, m->child[i], x))
            return 0;
    return 1;
}

/* The leading coefficient of a polynomial, and its degree; NULL if m is no polynomial. It is the last
 * derivative that is not 0, divided by the factorial of the degree. */
static node leading_coefficient(struct math_work *w, node m, const char *x, int *degree)
{
    node factorial = tree_integer(w, 1);
    if (!is_polynomial(w, m, x))
        return NULL;
    for (*degree = 0; *degree <= DEGREE_MAX; ++*degree) {
        node d = calculus_derivative(w, m, x);
        if (!d)
            return NULL;
        if (is_zero(w, d)) {
            m = math_substitute(w, m, x, tree_integer(w, 1));
            return m && math_scalar_equal(w, m, tree_integer(w, 0)) == MATH_FALSE ? tree_div(w, m, factorial)
                                                                                  : NULL;
        }
        m = d;
        factorial = tree_mul(w, factorial, tree_integer(w, *degree + 1));
    }
    return NULL;
}

/* ---- how fast a factor rises or falls */

/* The exponent of e^u, or NULL. */
static node exponent_of(node m)
{
    if (m->kind == MATH_FUNCTION && m->which == MATH_EXP)
        return m->child[0];
    int is_e = m->kind == MATH_POWER && m->child[0]->kind == MATH_CONSTANT && m->child[0]->which == MATH_E;
    return is_e ? m->child[1] : NULL;
}

/* Does m fall to 0 as an exponential function does, that is, even multiplied by any polynomial? With `rises`:
 * does it rise to infinity in this way? */
static int is_exponential(struct math_work *w, node m, const char *x, int sign, int rises)
{
    int degree, found = 0;
    if (m->kind == MATH_NEGATE)
        return is_exponential(w, m->child[0], x, sign, rises);
    if (m->kind == MATH_DIVIDE) {
        if (!math_has_symbol(m->child[1], x))
            return is_exponential(w, m->child[0], x, sign, rises);
        return leading_coefficient(w, m->child[0], x, &degree) &&
               is_exponential(w, m->child[1], x, sign, !rises);
    }
    if (m->kind == MATH_MULTIPLY) {
        for (int i = 0; i < m->n; i++) {
            int falling = is_exponential(w, m->child[i], x, sign, rises);
            if (!falling && math_has_symbol(m->child[i], x) &&
                !leading_coefficient(w, m->child[i], x, &degree))
                return 0;
            found |= falling;
        }
        return found;
    }
    node exponent = exponent_of(m);
    if (!exponent && m->kind == MATH_POWER && !math_has_symbol(m->child[0], x)) { /* q^x is e^(x ln q) */
        node base = m->child[0], one = tree_integer(w, 1);
        exponent = !is_positive(w, base)                    ? NULL
                   : is_positive(w, tree_sub(w, base, one)) ? m->child[1]
                   : is_positive(w, tree_sub(w, one, base)) ? tree_neg(w, m->child[1])
                                                            : NULL;
    }
    node a = exponent && math_has_symbol(exponent, x) ? leading_coefficient(w, exponent, x, &degree) : NULL;
    if (!a || degree != 1)
        return 0;
    return is_positive(w, (sign > 0) == rises ? a : tree_neg(w, a));
}

/* Is m built of logarithms of polynomials, sines and numbers, so that any polynomial outgrows it? */
static int is_slow(struct math_work *w, node m, const char *x, int sign)
{
    int degree;
    if (!math_has_symbol(m, x))
        return 1;
    if (m->kind == MATH_FUNCTION && (m->which == MATH_SIN || m->which == MATH_COS || m->which == MATH_ARCTAN))
        return 1;
    if (m->kind == MATH_FUNCTION && m->which == MATH_LN) {
        node a = leading_coefficient(w, m->child[0], x, &degree);
        return a && degree > 0 && is_positive(w, sign < 0 && degree % 2 ? tree_neg(w, a) : a);
    }
    int64_t n;
    if (m->kind == MATH_POWER)
        return math_scalar_integer(w, m->child[1], &n) && n > 0 && is_slow(w, m->child[0], x, sign);
    if (m->kind != MATH_ADD && m->kind != MATH_MULTIPLY && m->kind != MATH_NEGATE)
        return 0;
    for (int i = 0; i < m->n; i++)
        if (!is_slow(w, m->child[i], x, sign))
            return 0;
    return 1;
}

/* ---- a sum of lines and square roots of parabolas: each is s x + c up to what vanishes */

struct line {
    node slope, offset;
};

/* Sets *out to the linear asymptote of m. Returns 0, or -1 if none is known. */
static int find_asymptote(struct math_work *w, node m, const char *x, int sign, struct line *out)
{
    node zero = tree_integer(w, 0);
    int degree, is_root = m->kind == MATH_FUNCTION && m->which == MATH_SQRT && m->n == 1;
    if (m->kind == MATH_NEGATE) {
        if (find_asymptote(w, m->child[0], x, sign, out))
            return -1;
        *out = (struct line){tree_neg(w, out->slope), tree_neg(w, out->offset)};
        return out->slope && out->offset ? 0 : -1;
    }
    if (!math_has_symbol(m, x)) {
        *out = (struct line){zero, m};
        return zero ? 0 : -1;
    }
    node a = leading_coefficient(w, is_root ? m->child[0] : m, x, &degree);
    if (!a || degree != (is_root ? 2 : 1) || (is_root && !is_positive(w, a)))
        return -1;
    if (!is_root) {
        *out = (struct line){a, math_substitute(w, m, x, zero)};
        return out->offset ? 0 : -1;
    }
    node slope = calculus_derivative(w, m->child[0], x), root = tree_function(w, MATH_SQRT, a);
    slope = slope ? math_substitute(w, slope, x, zero) : NULL; /* the coefficient b of a x^2 + b x + c */
    root = sign < 0 ? tree_neg(w, root) : root;
    *out = (struct line){root, tree_div(w, slope, tree_mul(w, tree_integer(w, 2), root))};
    return out->slope && out->offset ? 0 : -1;
}

/* The limit of a sum of functions with linear asymptotes, if their slopes cancel. */
static node sum_of_lines(struct math_work *w, node m, const char *x, int sign)
{
    struct line all = {tree_integer(w, 0), tree_integer(w, 0)}, one;
    for (int i = 0; i < m->n; i++) {
        if (find_asymptote(w, m->child[i], x, sign, &one))
            return NULL;
        all = (struct line){tree_add(w, all.slope, one.slope), tree_add(w, all.offset, one.offset)};
    }
    return is_zero(w, all.slope) ? all.offset : NULL;
}

/* ---- limits at infinity */

static node limit_at_infinity(struct math_work *w, node m, const char *x, int sign, int depth);

/* The limit of f^g is e to the limit of g ln f. If f goes to 1, this is also the limit of g (f - 1). */
static node limit_of_power(struct math_work *w, node f, node g, const char *x, int sign, int depth)
{
    node one = tree_integer(w, 1);
    if (!g)
        return NULL;
    if (!math_has_symbol(g, x)) {
        int degree;
        node base = is_positive(w, g) ? limit_at_infinity(w, f, x, sign, depth + 1) : NULL;
        if (base && is_positive(w, base))
            return math_node_2(w, MATH_POWER, f->source, base, g);
        int falls =
            math_scalar_less(w, g, tree_integer(w, 0)) == MATH_TRUE && leading_coefficient(w, f, x, &degree);
        return falls && degree > 0 ? tree_integer(w, 0) : NULL;
    }
    node to = math_has_symbol(f, x) ? limit_at_infinity(w, f, x, sign, depth + 1) : NULL;
    node exponent = to && math_scalar_equal(w, to, one) == MATH_TRUE
                        ? tree_mul(w, g, tree_sub(w, f, one))
                        : tree_mul(w, g, tree_function(w, MATH_LN, f));
    exponent = exponent ? limit_at_infinity(w, exponent, x, sign, depth + 1) : NULL;
    return tree_function(w, MATH_EXP, exponent);
}

/* A sum without its slow terms; the sum itself if it has no others. */
static node without_slow(struct math_work *w, node m, const char *x, int sign)
{
    node all = NULL;
    if (m->kind != MATH_ADD)
        return m;
    for (int i = 0; i < m->n; i++)
        if (!is_slow(w, m->child[i], x, sign))
            all = all ? tree_add(w, all, m->child[i]) : m->child[i];
    return all ? all : m;
}

/* The limit of a quotient of two functions with linear asymptotes: the quotient of their slopes. */
static node quotient_of_lines(struct math_work *w, node a, node b, const char *x, int sign)
{
    struct line above, below;
    if (find_asymptote(w, a, x, sign, &above) || find_asymptote(w, b, x, sign, &below) ||
        is_zero(w, below.slope))
        return NULL;
    return tree_div(w, above.slope, below.slope);
}

/* The limit of a quotient, by the leading terms of both sides. */
static node limit_of_quotient(struct math_work *w, node m, const char *x, int sign)
{
    struct calculus_quotient q;
    int above, below;
    if (calculus_as_quotient(w, m, x, &q))
        return NULL;
    node b = leading_coefficient(w, q.below, x, &below),
         a = b ? leading_coefficient(w, without_slow(w, q.above, x, sign), x, &above) : NULL;
    if (b && below > 0 && is_slow(w, q.above, x, sign))
        return tree_integer(w, 0);
    if (!a || !b)
        return quotient_of_lines(w, q.above, q.below, x, sign);
    if (above > below)
        return NULL;
    return above < below ? tree_integer(w, 0) : tree_div(w, a, b);
}

static node limit_at_infinity(struct math_work *w, node m, const char *x, int sign, int depth)
{
    int degree;
    node a, all = tree_integer(w, 0);
    if (!math_has_symbol(m, x))
        return m;
    if (depth > DEPTH_MAX || math_step(w, 50))
        return NULL;
    if (m->kind == MATH_ADD) {
        for (int i = 0; i < m->n && all; i++)
            all = tree_add(w, all, limit_at_infinity(w, m->child[i], x, sign, depth + 1));
        if (all || (all = sum_of_lines(w, m, x, sign)))
            return all;
    }
    if (m->kind == MATH_NEGATE)
        return tree_neg(w, limit_at_infinity(w, m->child[0], x, sign, depth + 1));
    if (is_exponential(w, m, x, sign, 0))
        return tree_integer(w, 0);
    if (m->kind == MATH_DIVIDE && !math_has_symbol(m->child[1], x))
        return tree_div(w, limit_at_infinity(w, m->child[0], x, sign, depth + 1), m->child[1]);
    if (m->kind == MATH_FUNCTION && m->which == MATH_ARCTAN &&
        (a = leading_coefficient(w, m->child[0], x, &degree)) && degree == 1) {
        int up = is_positive(w, a) == (sign > 0);
        return tree_mul(w, tree_integer(w, 2), tree_function(w, MATH_ARCTAN, tree_integer(w, up ? 1 : -1)));
    }
    if (m->kind == MATH_POWER && (a = limit_of_power(w, m->child[0], m->child[1], x, sign, depth)))
        return a;
    if (m->kind == MATH_FUNCTION && m->which == MATH_SQRT) {
        node two = tree_integer(w, 2), index = m->n == 2 ? m->child[1] : two;
        return limit_of_power(w, m->child[0], tree_div(w, tree_integer(w, 1), index), x, sign, depth);
    }
    return limit_of_quotient(w, m, x, sign);
}

/* ---- limits at a number */

static int is_not_zero(struct math_work *w, node m)
{
    return m && math_scalar_equal(w, m, tree_integer(w, 0)) == MATH_FALSE;
}

/* Is m continuous at a point, because it is built of functions that are continuous wherever they are defined?
 * Roots and logarithms must be defined around the point, so their arguments must be positive. */
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

/* The limit of a/b by L'Hopital's rule; NULL unless a and b go to 0. */
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

/* The limit of f^g, where f goes to 1, is e to the limit of g (f - 1). */
static node limit_of_power_at_number(struct math_work *w, node f, node g, const char *x, node to)
{
    node one = tree_integer(w, 1), base = limit_at_number(w, f, x, to);
    if (!base || math_scalar_equal(w, base, one) != MATH_TRUE)
        return NULL;
    node exponent = tree_mul(w, g, tree_sub(w, f, one));
    return tree_function(w, MATH_EXP, exponent ? limit_at_number(w, exponent, x, to) : NULL);
}

/* The limit of m as x goes to a number. */
static node limit_at_number(struct math_work *w, node m, const char *x, node to)
{
    struct calculus_quotient q;
    if (math_step(w, 50))
        return NULL;
    if (is_continuous(w, m, x, to))
        return math_substitute(w, m, x, to);
    if (m->kind == MATH_POWER && math_has_symbol(m->child[1], x))
        return limit_of_power_at_number(w, m->child[0], m->child[1], x, to);
    return calculus_as_quotient(w, m, x, &q) ? NULL : limit_by_derivatives(w, q.above, q.below, x, to);
}

node calculus_limit(struct math_work *w, node m, const char *x, node to)
{
    if (math_step(w, 50) || math_has_symbol(to, x))
        return NULL;
    int sign = math_infinity_sign(to);
    return sign ? limit_at_infinity(w, m, x, sign, 0) : limit_at_number(w, m, x, to);
}
