/* Evaluates what can be evaluated in a tree, from the inside out (contract: calculus.h). */
#include "answer_check/scalar/calculus_parts.h"

#include <string.h>

#include "evalcore/base/arena.h"

/* A definite integral or an infinite series. */
static const struct math_node *evaluate_sum(struct math_work *w, const struct math_node *m)
{
    const struct math_node *x = m->child[1], *low = m->child[2], *high = m->child[3];
    if (m->n != 4 || x->kind != MATH_SYMBOL)
        return NULL;
    if (m->which == MATH_INTEGRAL)
        return calculus_integral(w, m->child[0], x->name, low, high);
    return m->which == MATH_SIGMA && math_infinity_sign(high) > 0
               ? calculus_series(w, m->child[0], x->name, low)
               : NULL;
}

/* \frac{d}{dx} f(x): a MATH_OPAQUE named "derivative d/dx". */
static const struct math_node *evaluate_derivative(struct math_work *w, const struct math_node *m)
{
    static const char prefix[] = "derivative d/d";
    if (m->n != 1 || strncmp(m->name, prefix, sizeof prefix - 1) != 0)
        return NULL;
    return calculus_derivative(w, m->child[0], m->name + sizeof prefix - 1);
}

/* \lim_{x \to a} f(x): a MATH_OPAQUE of a relation "to" and the function. If the limit from both sides
 * exists, it is also the limit from one side. */
static const struct math_node *evaluate_limit(struct math_work *w, const struct math_node *m)
{
    const struct math_node *to = m->n == 2 ? m->child[0] : NULL;
    if (!to || to->kind != MATH_RELATION || to->n != 2 || to->child[0]->kind != MATH_SYMBOL)
        return NULL;
    return calculus_limit(w, m->child[1], to->child[0]->name, to->child[1]);
}

/* Is m an integral, an infinite series, a limit or a derivative? */
static int is_candidate(const struct math_node *m)
{
    return m->kind == MATH_OPAQUE ||
           (m->kind == MATH_SUM &&
            (m->which == MATH_INTEGRAL || (m->n == 4 && math_infinity_sign(m->child[3]))));
}

static int holds_candidate(const struct math_node *m)
{
    if (is_candidate(m))
        return 1;
    for (int i = 0; i < m->n; i++)
        if (holds_candidate(m->child[i]))
            return 1;
    return 0;
}

static const struct math_node *evaluate_tree(struct math_work *w, const struct math_node *m)
{
    if (!holds_candidate(m))
        return m;
    if (math_step(w, 20))
        return NULL;
    const struct math_node **child = arena_alloc(w->arena, (size_t)m->n * sizeof *child), *value = NULL;
    for (int i = 0; i < m->n; i++)
        if (!(child[i] = evaluate_tree(w, m->child[i])))
            return NULL;
    m = math_node_like(w, m, child);
    if (!m)
        return NULL;
    if (m->kind == MATH_SUM)
        value = evaluate_sum(w, m);
    else if (m->kind == MATH_OPAQUE && !strncmp(m->name, "limit", 5))
        value = evaluate_limit(w, m);
    else if (m->kind == MATH_OPAQUE)
        value = evaluate_derivative(w, m);
    return value ? value : m;
}

const struct math_node *calculus_evaluate(struct math_work *w, const struct math_node *m)
{
    return m ? evaluate_tree(w, m) : NULL;
}
