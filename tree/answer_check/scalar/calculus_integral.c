/* Antiderivatives and definite integrals. The rules are linearity, powers and elementary functions of linear
 * arguments, integration by parts of a polynomial times one of these, and substitution: the integral of k u'
 * g(u) is k G(u) for g an exponential, a sine, a cosine or a power. Every factor that could vanish between
 * the bounds, in a denominator or under a root or logarithm, is noted, and its sign at both ends is proved.
 */
#include "answer_check/scalar/calculus_parts.h"

#include "answer_check/scalar/scalar_build.h"

typedef const struct math_node *node;

enum { SEARCH_PARTS = 24, SEARCH_POLES = 8, SEARCH_POWER = 12 };

struct search {
    struct math_work *w;
    const char *x;
    int depth;
    int poles;
    const struct math_node *pole[SEARCH_POLES]; /* functions that must not be 0 between the bounds */
    int may_end[SEARCH_POLES];                  /* 1: it may be 0 at a bound, as x under a root */
    int turns[SEARCH_POLES];                    /* 1: a polynomial, which need not rise or fall throughout */
};

/* The antiderivative of m, or NULL. */
static const struct math_node *search_integral(struct search *s, const struct math_node *m);

/* Notes that m must not be 0 between the bounds. 0, or -1 when there are too many. */
static int note_pole(struct search *s, const struct math_node *m, int may_end, int turns)
{
    if (s->poles == SEARCH_POLES)
        return -1;
    s->may_end[s->poles] = may_end;
    s->turns[s->poles] = turns;
    s->pole[s->poles++] = m;
    return 0;
}

/* ---- substitution */

enum { FACTORS = 8 };

/* A factor g(u) of the integrand: u^n, or a function of u. */
struct factor {
    node whole, u, n; /* n: NULL for a function */
};

/* Adds m, or 1/m with `inverse`, as factor n. Returns the new number of factors, or -1. */
static int add_factor(struct search *s, struct factor *out, int n, node m, int inverse)
{
    struct math_work *w = s->w;
    node one = tree_integer(w, 1), exponent = inverse ? tree_neg(w, one) : one;
    if (n == FACTORS || !exponent)
        return -1;
    if (m->kind == MATH_POWER && !math_has_symbol(m->child[1], s->x))
        out[n] = (struct factor){m, m->child[0], inverse ? tree_neg(w, m->child[1]) : m->child[1]};
    else if (m->kind == MATH_FUNCTION && m->which == MATH_SQRT && m->n == 1)
        out[n] = (struct factor){m, m->child[0], tree_div(w, exponent, tree_integer(w, 2))};
    else
        out[n] = (struct factor){m, m, exponent};
    out[n].whole = inverse ? tree_div(w, one, m) : m;
    return out[n].whole && out[n].n ? n + 1 : -1;
}

/* Writes the factors of the numerator and of the denominator of m. Returns their number, or -1 for too many.
 */
static int factors_of(struct search *s, node m, struct factor *out)
{
    int n = 0;
    for (int below = 0; below <= (m->kind == MATH_DIVIDE); below++) {
        node side = m->kind == MATH_DIVIDE ? m->child[below] : m;
        int parts = side->kind == MATH_MULTIPLY ? side->n : 1;
        for (int i = 0; i < parts && n >= 0; i++)
            n = add_factor(s, out, n, parts > 1 ? side->child[i] : side, below);
    }
    return n;
}

/* The constant k if rest = k slope, else NULL. */
static node constant_ratio(struct search *s, node rest, node slope)
{
    struct math_work *w = s->w;
    for (int x = 1; x <= 2; x++) {
        node above = math_substitute(w, rest, s->x, tree_integer(w, x));
        node below = math_substitute(w, slope, s->x, tree_integer(w, x));
        if (!above || !below || math_scalar_equal(w, below, tree_integer(w, 0)) != MATH_FALSE)
            continue;
        node k = tree_div(w, above, below);
        return k && math_scalar_equal(w, rest, tree_mul(w, k, slope)) == MATH_TRUE ? k : NULL;
    }
    return NULL;
}

static int is_function(node m, enum math_function f)
{
    return m->kind == MATH_FUNCTION && m->n == 1 && (enum math_function)m->which == f;
}

/* The integral of u^n by u. If u^n is not defined at 0, u is noted as a pole. */
static node integrate_outer_power(struct search *s, node u, node n)
{
    struct math_work *w = s->w;
    node next = tree_add(w, n, tree_integer(w, 1)), minus = tree_integer(w, -1);
    int64_t exponent;
    if (!math_scalar_integer(w, n, &exponent) || exponent < 0) {
        int rises = is_function(u, MATH_LN) || is_function(u, MATH_EXP);
        if (note_pole(s, u, math_scalar_less(w, tree_integer(w, 0), n) == MATH_TRUE, !rises))
            return NULL;
    }
    if (math_scalar_equal(w, n, minus) == MATH_TRUE)
        return tree_function(w, MATH_LN, tree_function(w, MATH_ABS, u));
    return tree_div(w, tree_power(w, u, next), next);
}

/* The integral of a function g(u) by u. */
static node integrate_outer_function(struct search *s, node m)
{
    if (m->kind == MATH_POWER || is_function(m, MATH_EXP))
        return m;
    node u = m->child[0];
    if (is_function(m, MATH_SIN))
        return tree_neg(s->w, tree_function(s->w, MATH_COS, u));
    return is_function(m, MATH_COS) ? tree_function(s->w, MATH_SIN, u) : NULL;
}

/* The integral of the product of all factors if the others are k u' for factor i = g(u). */
static node integrate_with_factor(struct search *s, const struct factor *f, int n, int i)
{
    struct math_work *w = s->w;
    node rest = tree_integer(w, 1), slope, k;
    for (int j = 0; j < n; j++)
        if (j != i)
            rest = tree_mul(w, rest, f[j].whole);
    if (!math_has_symbol(f[i].whole, s->x) || !rest)
        return NULL;
    node whole = f[i].whole, inner = NULL;
    if (whole->kind == MATH_FUNCTION && whole->n == 1)
        inner = whole->child[0];
    else if (whole->kind == MATH_POWER && whole->child[0]->kind == MATH_CONSTANT &&
             whole->child[0]->which == MATH_E)
        inner = whole->child[1];
    if (inner && (slope = calculus_derivative(w, inner, s->x)) && (k = constant_ratio(s, rest, slope))) {
        node all = integrate_outer_function(s, whole);
        if (all)
            return tree_mul(w, k, all);
    }
    slope = calculus_derivative(w, f[i].u, s->x);
    k = slope ? constant_ratio(s, rest, slope) : NULL;
    return k ? tree_mul(w, k, integrate_outer_power(s, f[i].u, f[i].n)) : NULL;
}

/* The integral of m as k u' g(u), trying each of its factors as g(u). */
static const struct math_node *search_substitution(struct search *s, const struct math_node *m)
{
    struct factor f[FACTORS];
    int n = factors_of(s, m, f), poles = s->poles;
    for (int i = 0; i < n; i++) {
        node all = math_step(s->w, 100) ? NULL : integrate_with_factor(s, f, n, i);
        if (all)
            return all;
        s->poles = poles;
    }
    return NULL;
}

/* ---- rules */

static int has_x(const struct search *s, const struct math_node *m)
{
    return math_has_symbol(m, s->x);
}

/* The constant slope of a linear function, or NULL. */
static const struct math_node *linear_slope(struct search *s, const struct math_node *m)
{
    const struct math_node *d = calculus_derivative(s->w, m, s->x), *second;
    if (!d || !has_x(s, m))
        return NULL;
    second = calculus_derivative(s->w, d, s->x);
    if (!second || math_scalar_equal(s->w, second, tree_integer(s->w, 0)) != MATH_TRUE)
        return NULL;
    d = math_substitute(s->w, d, s->x, tree_integer(s->w, 1)); /* d may still hold x, as in 2 x / x */
    return d && math_scalar_equal(s->w, d, tree_integer(s->w, 0)) == MATH_FALSE ? d : NULL;
}

/* The integral of u^n with a linear u. */
static const struct math_node *integrate_linear_power(struct search *s, const struct math_node *u,
                                                      const struct math_node *n)
{
    struct math_work *w = s->w;
    const struct math_node *a = linear_slope(s, u), *next = tree_add(w, n, tree_integer(w, 1)),
                           *zero = tree_integer(w, 0);
    int64_t exponent;
    if (!a || !next)
        return NULL;
    int whole = math_scalar_integer(w, n, &exponent) && exponent >= 0;
    if (!whole && note_pole(s, u, math_scalar_less(w, zero, n) == MATH_TRUE, 0))
        return NULL;
    if (math_scalar_equal(w, next, zero) == MATH_TRUE)
        return tree_div(w, tree_function(w, MATH_LN, tree_function(w, MATH_ABS, u)), a);
    return math_scalar_equal(w, next, zero) == MATH_FALSE
               ? tree_div(w, tree_power(w, u, next), tree_mul(w, a, next))
               : NULL;
}

static int is_polynomial(const struct search *s, const struct math_node *m)
{
    switch (m->kind) {
    case MATH_ADD:
    case MATH_MULTIPLY:
    case MATH_NEGATE:
        for (int i = 0; i < m->n; i++)
            if (!is_polynomial(s, m->child[i]))
                return 0;
        return 1;
    case MATH_DIVIDE:
        return is_polynomial(s, m->child[0]) && !has_x(s, m->child[1]);
    case MATH_POWER: {
        int64_t n;
        return is_polynomial(s, m->child[0]) && math_scalar_integer(s->w, m->child[1], &n) && n >= 0 &&
               n <= SEARCH_POWER;
    }
    default:
        return m->kind == MATH_SYMBOL || !has_x(s, m);
    }
}

/* The integral of p q with a polynomial p, which is p Q minus the integral of p' Q. */
static const struct math_node *integrate_by_parts(struct search *s, const struct math_node *p,
                                                  const struct math_node *q)
{
    const struct math_node *inner = search_integral(s, q), *d = calculus_derivative(s->w, p, s->x);
    if (!inner || !d)
        return NULL;
    const struct math_node *first = tree_mul(s->w, p, inner);
    if (math_scalar_equal(s->w, d, tree_integer(s->w, 0)) == MATH_TRUE)
        return first;
    return tree_sub(s->w, first, search_integral(s, tree_mul(s->w, d, inner)));
}

/* The integral of a product: takes out its constants, then integrates a polynomial times the rest by parts.
 */
static const struct math_node *integrate_product(struct search *s, const struct math_node *m)
{
    struct math_work *w = s->w;
    const struct math_node *constant = NULL, *p = NULL, *q = NULL, **part;
    for (int i = 0; i < m->n; i++) {
        const struct math_node *c = m->child[i];
        part = !has_x(s, c) ? &constant : is_polynomial(s, c) && !(p && c->kind == MATH_POWER) ? &p : &q;
        *part = *part ? tree_mul(w, *part, c) : c;
        if (!*part)
            return NULL;
    }
    if (constant) {
        const struct math_node *rest = p && q ? tree_mul(w, p, q) : p ? p : q;
        return tree_mul(w, constant, rest ? search_integral(s, rest) : tree_symbol(w, s->x));
    }
    if (!q && p && p->kind == MATH_MULTIPLY)
        return integrate_by_parts(s, p->child[0], p->child[1]);
    if (!q && p)
        return search_integral(s, p);
    return p ? integrate_by_parts(s, p, q) : NULL;
}

/* The integral of 1/below, where below is x^2 + c with a positive number c. */
static const struct math_node *integrate_to_arctangent(struct search *s, const struct math_node *below)
{
    struct math_work *w = s->w;
    const struct math_node *x = tree_symbol(w, s->x), *c, *root;
    c = math_substitute(w, below, s->x, tree_integer(w, 0));
    const struct math_node *again = tree_add(w, tree_power(w, x, tree_integer(w, 2)), c);
    if (!c || !again || math_scalar_equal(w, below, again) != MATH_TRUE ||
        math_scalar_less(w, tree_integer(w, 0), c) != MATH_TRUE)
        return NULL;
    root = tree_function(w, MATH_SQRT, c);
    return tree_div(w, tree_function(w, MATH_ARCTAN, tree_div(w, x, root)), root);
}

/* The integral of a/b. */
static const struct math_node *integrate_quotient(struct search *s, const struct math_node *a,
                                                  const struct math_node *b)
{
    struct math_work *w = s->w;
    const struct math_node *all = NULL;
    if (!has_x(s, b))
        return tree_div(w, search_integral(s, a), b);
    if (a->kind == MATH_ADD) {
        for (int i = 0; i < a->n; i++) {
            const struct math_node *term = search_integral(s, tree_div(w, a->child[i], b));
            all = all ? tree_add(w, all, term) : term;
            if (!all)
                return NULL;
        }
        return all;
    }
    const struct math_node *below = NULL;
    if (b->kind == MATH_POWER && !has_x(s, b->child[1]) && linear_slope(s, b->child[0]))
        below = tree_power(w, b->child[0], tree_neg(w, b->child[1]));
    else if (b->kind == MATH_FUNCTION && b->which == MATH_SQRT && b->n == 1 && linear_slope(s, b->child[0]))
        below = tree_power(w, b->child[0], tree_div(w, tree_integer(w, -1), tree_integer(w, 2)));
    else if (linear_slope(s, b))
        below = tree_power(w, b, tree_integer(w, -1));
    if (below)
        return has_x(s, a) ? integrate_by_parts(s, a, below) : tree_mul(w, a, search_integral(s, below));
    return has_x(s, a) ? NULL : tree_mul(w, a, integrate_to_arctangent(s, b));
}

/* The integral of a power. */
static const struct math_node *integrate_power(struct search *s, const struct math_node *m)
{
    struct math_work *w = s->w;
    const struct math_node *base = m->child[0], *n = m->child[1], *a;
    int64_t whole;
    if (!has_x(s, n) && linear_slope(s, base))
        return integrate_linear_power(s, base, n);
    if (!has_x(s, base)) { /* b^u */
        a = linear_slope(s, n);
        return a ? tree_div(w, m, tree_mul(w, a, tree_function(w, MATH_LN, base))) : NULL;
    }
    if (!math_scalar_integer(w, n, &whole) || whole < 2 || whole > SEARCH_POWER)
        return NULL;
    if (is_polynomial(s, base))
        return integrate_by_parts(s, base, tree_power(w, base, tree_integer(w, whole - 1)));
    int sine = base->kind == MATH_FUNCTION && (base->which == MATH_SIN || base->which == MATH_COS);
    a = sine && whole == 2 ? linear_slope(s, base->child[0]) : NULL;
    if (!a)
        return NULL;
    const struct math_node *both = tree_mul(w, tree_function(w, MATH_SIN, base->child[0]),
                                            tree_function(w, MATH_COS, base->child[0])),
                           *half = tree_div(w, tree_div(w, both, a), tree_integer(w, 2)),
                           *line = tree_div(w, tree_symbol(w, s->x), tree_integer(w, 2));
    return base->which == MATH_SIN ? tree_sub(w, line, half) : tree_add(w, line, half);
}

/* The integral of a function of a linear argument. */
static const struct math_node *integrate_function(struct search *s, const struct math_node *m)
{
    struct math_work *w = s->w;
    const struct math_node *u = m->child[0], *a = m->n == 1 ? linear_slope(s, u) : NULL, *f = NULL;
    if (!a)
        return NULL;
    switch (m->which) {
    case MATH_SQRT:
        return integrate_linear_power(s, u, tree_div(w, tree_integer(w, 1), tree_integer(w, 2)));
    case MATH_EXP:
        f = m;
        break;
    case MATH_SIN:
        f = tree_neg(w, tree_function(w, MATH_COS, u));
        break;
    case MATH_COS:
        f = tree_function(w, MATH_SIN, u);
        break;
    case MATH_LN:
        f = note_pole(s, u, 0, 0) ? NULL : tree_sub(w, tree_mul(w, u, m), u);
        break;
    default:
        break;
    }
    return tree_div(w, f, a);
}

static const struct math_node *search_integral(struct search *s, const struct math_node *m)
{
    struct math_work *w = s->w;
    const struct math_node *all = NULL;
    if (!m || s->depth >= SEARCH_PARTS || math_step(w, 50))
        return NULL;
    if (!has_x(s, m))
        return tree_mul(w, m, tree_symbol(w, s->x));
    s->depth++;
    switch (m->kind) {
    case MATH_SYMBOL:
        all = tree_div(w, tree_power(w, m, tree_integer(w, 2)), tree_integer(w, 2));
        break;
    case MATH_NEGATE:
        all = tree_neg(w, search_integral(s, m->child[0]));
        break;
    case MATH_ADD:
        all = tree_integer(w, 0);
        for (int i = 0; i < m->n && all; i++)
            all = tree_add(w, all, search_integral(s, m->child[i]));
        break;
    case MATH_MULTIPLY:
        all = integrate_product(s, m);
        break;
    case MATH_DIVIDE:
        all = integrate_quotient(s, m->child[0], m->child[1]);
        break;
    case MATH_POWER:
        all = integrate_power(s, m);
        break;
    case MATH_FUNCTION:
        all = integrate_function(s, m);
        break;
    default:
        break;
    }
    if (!all)
        all = search_substitution(s, m);
    s->depth--;
    return all;
}

/* ---- bounds */

/* Is it proved that a < b, or with or_equal that a <= b? */
static int is_below(struct math_work *w, const struct math_node *a, const struct math_node *b, int or_equal)
{
    return math_scalar_less(w, a, b) == MATH_TRUE || (or_equal && math_scalar_equal(w, a, b) == MATH_TRUE);
}

/* Is it proved that the polynomial has no zero between the bounds, or with may_end none but at a bound? */
static int has_no_zero(struct search *s, const struct math_node *m, const struct math_node *low,
                       const struct math_node *high, int may_end)
{
    const struct math_node *root[SEARCH_POLES];
    int n = math_real_roots(s->w, m, s->x, root, SEARCH_POLES);
    for (int i = 0; i < n; i++)
        if (!is_below(s->w, root[i], low, may_end) && !is_below(s->w, high, root[i], may_end))
            return 0;
    return n >= 0;
}

/* Is every noted function positive at both bounds, or negative at both? If it rises or falls throughout, it
 * then has no zero between them; that is proved for the others. */
static int is_smooth(struct search *s, const struct math_node *low, const struct math_node *high)
{
    for (int i = 0; i < s->poles; i++) {
        const struct math_node *zero = tree_integer(s->w, 0),
                               *a = math_substitute(s->w, s->pole[i], s->x, low),
                               *b = math_substitute(s->w, s->pole[i], s->x, high);
        int may_end = s->may_end[i];
        if (s->turns[i] && !has_no_zero(s, s->pole[i], low, high, may_end))
            return 0;
        if (!a || !b ||
            !((is_below(s->w, zero, a, may_end) && is_below(s->w, zero, b, may_end)) ||
              (is_below(s->w, a, zero, 0) && is_below(s->w, b, zero, 0))))
            return 0;
    }
    return 1;
}

const struct math_node *calculus_integral(struct math_work *w, const struct math_node *m, const char *x,
                                          const struct math_node *low, const struct math_node *high)
{
    struct search s = {.w = w, .x = x};
    const struct math_node *f = search_integral(&s, m), *at[2];
    if (!f || math_has_symbol(low, x) || math_has_symbol(high, x) || !is_smooth(&s, low, high))
        return NULL;
    at[0] = math_infinity_sign(low) ? calculus_limit(w, f, x, low) : math_substitute(w, f, x, low);
    at[1] = math_infinity_sign(high) ? calculus_limit(w, f, x, high) : math_substitute(w, f, x, high);
    return tree_sub(w, at[1], at[0]);
}

const struct math_node *calculus_antiderivative(struct math_work *w, const struct math_node *m, const char *x)
{
    struct search s = {.w = w, .x = x};
    return search_integral(&s, m);
}
