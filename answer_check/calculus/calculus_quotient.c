/* Sums, products and quotients of functions over one denominator. */
#include "answer_check/calculus/calculus.h"

#include "answer_check/scalar/scalar_build.h"

typedef const struct math_node *node;

static int is_one(node m)
{
    return m && m->kind == MATH_NUMBER && m->literal.n == 1 && *m->literal.digits == '1' && !m->literal.point;
}

static node multiply_trees(struct math_work *w, node a, node b)
{
    return is_one(a) ? b : is_one(b) ? a : tree_mul(w, a, b);
}

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

/* tan, cot, sec and csc by sin and cos. */
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
