/* Integrals by substitution: k u' g(u) dx is k G(u), for g an exponential, a sine, a cosine or a power. */
#include "answer_check/calculus/calculus_search.h"

typedef const struct math_node *node;

enum { FACTORS = 8 };

/* A factor g(u): u^n, or a function of u. */
struct factor {
    node whole, u, n; /* n: NULL for a function */
};

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

/* The factors of m, of its numerator and of its denominator; -1 for too many. */
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

/* k, if rest is k u'. */
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

/* The integral of u^n by u. A power that is not defined at 0 needs a polynomial u, or one that only rises. */
static node integrate_outer_power(struct search *s, node u, node n)
{
    struct math_work *w = s->w;
    node next = tree_add(w, n, tree_integer(w, 1)), minus = tree_integer(w, -1);
    int64_t exponent;
    if (!math_scalar_integer(w, n, &exponent) || exponent < 0) {
        int rises = is_function(u, MATH_LN) || is_function(u, MATH_EXP);
        if (search_note_pole(s, u, math_scalar_less(w, tree_integer(w, 0), n) == MATH_TRUE, !rises))
            return NULL;
    }
    if (math_scalar_equal(w, n, minus) == MATH_TRUE)
        return tree_function(w, MATH_LN, tree_function(w, MATH_ABS, u));
    return tree_div(w, calculus_power(w, u, next), next);
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

const struct math_node *search_substitution(struct search *s, const struct math_node *m)
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
