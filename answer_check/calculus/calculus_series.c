/* Infinite series: geometric ones with a ratio below 1, also multiplied by the index. Others with a known sum
 * are in calculus_series_known.c. */
#include "answer_check/calculus/calculus.h"

#include "answer_check/scalar/scalar_build.h"

static int is_zero(struct math_work *w, const struct math_node *m)
{
    return m && math_scalar_equal(w, m, tree_integer(w, 0)) == MATH_TRUE;
}

/* The term at x = n, with n counted from the first one. */
static const struct math_node *term_at(struct math_work *w, const struct math_node *m, const char *x,
                                       const struct math_node *from, int n)
{
    return math_substitute(w, m, x, tree_add(w, from, tree_integer(w, n)));
}

/* The ratio m(x + 1)/m(x), if it is the same number everywhere and smaller than 1 in absolute value; NULL. */
static const struct math_node *ratio_of(struct math_work *w, const struct math_node *m, const char *x,
                                        const struct math_node *from)
{
    const struct math_node *one = tree_integer(w, 1), *first = term_at(w, m, x, from, 0),
                           *next = math_substitute(w, m, x, tree_add(w, tree_symbol(w, x), one));
    if (!first || is_zero(w, first))
        return NULL;
    const struct math_node *ratio = tree_div(w, term_at(w, m, x, from, 1), first);
    if (!ratio || math_scalar_equal(w, next, tree_mul(w, ratio, m)) != MATH_TRUE ||
        math_scalar_less(w, tree_function(w, MATH_ABS, ratio), one) != MATH_TRUE)
        return NULL;
    return ratio;
}

/* x m(x) with m geometric: the sum of n q^n from 0 is q/(1 - q)^2, so from the first index a it is
 * m(a) (a/(1 - q) + q/(1 - q)^2). */
static const struct math_node *sum_with_index(struct math_work *w, const struct math_node *m, const char *x,
                                              const struct math_node *from)
{
    const struct math_node *geometric = NULL, *q = NULL;
    if (m->kind == MATH_MULTIPLY && m->n == 2 && m->child[0]->kind == MATH_SYMBOL)
        geometric = m->child[1];
    else if (m->kind == MATH_DIVIDE && m->child[0]->kind == MATH_SYMBOL)
        geometric = tree_div(w, tree_integer(w, 1), m->child[1]);
    if (!geometric || !(q = ratio_of(w, geometric, x, from)))
        return NULL;
    const struct math_node *left = tree_sub(w, tree_integer(w, 1), q), *square = tree_mul(w, left, left);
    return tree_mul(w, term_at(w, geometric, x, from, 0),
                    tree_add(w, tree_div(w, from, left), tree_div(w, q, square)));
}

const struct math_node *calculus_series(struct math_work *w, const struct math_node *m, const char *x,
                                        const struct math_node *from)
{
    int64_t first;
    if (math_step(w, 50) || !math_scalar_integer(w, from, &first))
        return NULL;
    const struct math_node *q = ratio_of(w, m, x, from);
    if (q)
        return tree_div(w, term_at(w, m, x, from, 0), tree_sub(w, tree_integer(w, 1), q));
    const struct math_node *sum = sum_with_index(w, m, x, from);
    return sum ? sum : calculus_known_series(w, m, x, first);
}
