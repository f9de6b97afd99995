/* Derivatives of trees by the usual rules, and functions as one quotient. */
#include "answer_check/scalar/calculus_parts.h"

#include "answer_check/scalar/scalar_build.h"

typedef const struct math_node *node;

static const struct math_node *derive_quotient(struct math_work *w, const struct math_node *a,
                                               const struct math_node *b, const char *x)
{
    const struct math_node *da = calculus_derivative(w, a, x), *db = calculus_derivative(w, b, x);
    return tree_div(w, tree_sub(w, tree_mul(w, da, b), tree_mul(w, a, db)), tree_mul(w, b, b));
}

/* The derivative of f^g, where f or g is constant. */
static const struct math_node *derive_power(struct math_work *w, const struct math_node *m, const char *x)
{
    const struct math_node *f = m->child[0], *g = m->child[1];
    int64_t n;
    if (math_scalar_integer(w, g, &n) && n > 0) { /* not x^0, which has no value at 0 */
        const struct math_node *rest = n == 1 ? tree_integer(w, 1) : n == 2 ? f : NULL;
        rest = rest ? rest : tree_power(w, f, tree_integer(w, n - 1));
        return tree_mul(w, tree_mul(w, g, rest), calculus_derivative(w, f, x));
    }
    if (!math_has_symbol(g, x))
        return tree_mul(w, tree_mul(w, g, tree_power(w, f, tree_sub(w, g, tree_integer(w, 1)))),
                        calculus_derivative(w, f, x));
    if (math_has_symbol(f, x))
        return NULL;
    return tree_mul(w, tree_mul(w, m, tree_function(w, MATH_LN, f)), calculus_derivative(w, g, x));
}

/* f'(u) for a function f(u), without the derivative of u. */
static const struct math_node *outer_derivative(struct math_work *w, enum math_function f,
                                                const struct math_node *u)
{
    const struct math_node *one = tree_integer(w, 1), *two = tree_integer(w, 2), *square;
    switch (f) {
    case MATH_SQRT:
        return tree_div(w, one, tree_mul(w, two, tree_function(w, MATH_SQRT, u)));
    case MATH_EXP:
        return tree_function(w, MATH_EXP, u);
    case MATH_LN:
        return tree_div(w, one, u);
    case MATH_SIN:
        return tree_function(w, MATH_COS, u);
    case MATH_COS:
        return tree_neg(w, tree_function(w, MATH_SIN, u));
    case MATH_TAN:
        return tree_div(w, one, tree_power(w, tree_function(w, MATH_COS, u), two));
    case MATH_ARCTAN:
        return tree_div(w, one, tree_add(w, one, tree_power(w, u, two)));
    case MATH_ARCSIN:
        square = tree_sub(w, one, tree_power(w, u, two));
        return tree_div(w, one, tree_function(w, MATH_SQRT, square));
    default:
        return NULL;
    }
}

static const struct math_node *derive_sum(struct math_work *w, const struct math_node *m, const char *x)
{
    const struct math_node *all = tree_integer(w, 0);
    for (int i = 0; i < m->n && all; i++)
        all = tree_add(w, all, calculus_derivative(w, m->child[i], x));
    return all;
}

static const struct math_node *derive_product(struct math_work *w, const struct math_node *m, const char *x)
{
    const struct math_node *all = tree_integer(w, 0);
    for (int i = 0; i < m->n && all; i++) {
        if (!math_has_symbol(m->child[i], x))
            continue;
        const struct math_node *term = calculus_derivative(w, m->child[i], x);
        for (int k = 0; k < m->n && term; k++)
            term = k == i ? term : tree_mul(w, term, m->child[k]);
        all = tree_add(w, all, term);
    }
    return all;
}

const struct math_node *calculus_derivative(struct math_work *w, const struct math_node *m, const char *x)
{
    if (!m || math_step(w, 10))
        return NULL;
    if (!math_has_symbol(m, x))
        return tree_integer(w, 0);
    switch (m->kind) {
    case MATH_SYMBOL:
        return tree_integer(w, 1);
    case MATH_NEGATE:
        return tree_neg(w, calculus_derivative(w, m->child[0], x));
    case MATH_ADD:
        return derive_sum(w, m, x);
    case MATH_MULTIPLY:
        return derive_product(w, m, x);
    case MATH_DIVIDE:
        return derive_quotient(w, m->child[0], m->child[1], x);
    case MATH_POWER:
        return derive_power(w, m, x);
    case MATH_FUNCTION:
        return m->n == 1 ? tree_mul(w, outer_derivative(w, (enum math_function)m->which, m->child[0]),
                                    calculus_derivative(w, m->child[0], x))
                         : NULL;
    default:
        return NULL;
    }
}

/* ---- one quotient */

static int is_one(node m)
{
    return m && m->kind == MATH_NUMBER && m->literal.n == 1 && *m->literal.digits == '1' && !m->literal.point;
}

/* a b, without factors that are 1. */
static node multiply_trees(struct math_work *w, node a, node b)
{
    return is_one(a) ? b : is_one(b) ? a : tree_mul(w, a, b);
}

/* One quotient for a sum, product or quotient. */
static int fold_quotients(struct math_work *w, node m, const char *x, struct calculus_quotient *out)
{
    struct calculus_quotient q;
    if (calculus_as_quotient(w, m->child[0], x, out))
        return -1;
    for (int i = 1; i < m->n; i++) {
        if (calculus_as_quotient(w, m->child[i], x, &q))
            return -1;
        if (m->kind == MATH_MULTIPLY) {
            out->above = multiply_trees(w, out->above, q.above);
            out->below = multiply_trees(w, out->below, q.below);
        } else if (m->kind == MATH_DIVIDE) {
            out->above = multiply_trees(w, out->above, q.below);
            out->below = multiply_trees(w, out->below, q.above);
        } else {
            out->above =
                tree_add(w, multiply_trees(w, out->above, q.below), multiply_trees(w, q.above, out->below));
            out->below = multiply_trees(w, out->below, q.below);
        }
    }
    return out->above && out->below ? 0 : -1;
}

/* Writes tan, cot, sec and csc as quotients of sin and cos. */
static int trigonometric_quotient(struct math_work *w, node m, struct calculus_quotient *out)
{
    node sine = tree_function(w, MATH_SIN, m->child[0]), cosine = tree_function(w, MATH_COS, m->child[0]);
    node one = tree_integer(w, 1);
    *out = m->which == MATH_TAN   ? (struct calculus_quotient){sine, cosine}
           : m->which == MATH_COT ? (struct calculus_quotient){cosine, sine}
           : m->which == MATH_SEC ? (struct calculus_quotient){one, cosine}
                                  : (struct calculus_quotient){one, sine};
    return out->above && out->below ? 0 : -1;
}

int calculus_as_quotient(struct math_work *w, node m, const char *x, struct calculus_quotient *out)
{
    *out = (struct calculus_quotient){m, tree_integer(w, 1)};
    if (math_step(w, 1) || !out->below)
        return -1;
    if (!math_has_symbol(m, x))
        return 0;
    if (m->kind == MATH_NEGATE) {
        if (calculus_as_quotient(w, m->child[0], x, out))
            return -1;
        out->above = tree_neg(w, out->above);
        return out->above ? 0 : -1;
    }
    if (m->kind == MATH_FUNCTION && m->n == 1 && m->which >= MATH_TAN && m->which <= MATH_CSC)
        return trigonometric_quotient(w, m, out);
    return m->kind == MATH_ADD || m->kind == MATH_MULTIPLY || m->kind == MATH_DIVIDE
               ? fold_quotients(w, m, x, out)
               : 0;
}
