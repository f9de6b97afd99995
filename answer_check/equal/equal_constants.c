/* The arbitrary constants of a general solution, whose names and order are the writer's choice: y = C_1 e^x +
 * C_2 e^{-x} and y(x) = A e^x + B e^{-x} (contract: equal_parts.h). */
#include "answer_check/equal/equal_parts.h"

#include <string.h>

enum { CONSTANTS = 3, SYMBOLS = 12 };

struct constants {
    const char *name[CONSTANTS];
    int n;
};

/* Is it C_1, c_2 or K_1? */
static int is_indexed(const char *name)
{
    return strchr("CcK", name[0]) && name[1] == '_' && ascii_is_digit(name[2]) && !name[3];
}

/* May a constant be called so: A, B, C, K, c, k, with an index or without? */
static int may_be_constant(const char *name)
{
    return (strchr("ABCDKck", name[0]) && !name[1]) ||
           (strchr("ABCDKcka", name[0]) && name[1] == '_' && ascii_is_digit(name[2]) && !name[3]);
}

/* The symbols of m that may be constants. Returns how many others there are, or -1 where there are too many.
 */
static int collect(struct comparison *e, struct constants *out, const struct math_node *m)
{
    const char *symbol[SYMBOLS];
    int n = math_symbols(e->w, m, symbol, SYMBOLS);
    out->n = 0;
    for (int i = 0; i < n; i++) {
        if (!may_be_constant(symbol[i]))
            continue;
        if (out->n == CONSTANTS)
            return -1;
        out->name[out->n++] = symbol[i];
    }
    return n < 0 ? -1 : n - out->n;
}

/* The right side of "y = .." and "y(x) = ..", or NULL. */
static const struct math_node *solution_of(const struct math_node *m)
{
    if (m->kind != MATH_RELATION || m->n != 2 || m->ops[0] != MATH_EQUAL)
        return NULL;
    const struct math_node *left = equal_first_reading(m->child[0]);
    int is_name = left->kind == MATH_SYMBOL || (left->kind == MATH_APPLY && left->n == 1);
    return is_name ? m->child[1] : NULL;
}

/* Are the reference's letters plainly arbitrary: C_1 and C_2 in a formula of one variable, C in y = C e^x, or
 * A and B in y = A e^x + B e^{-x} where the prediction has C_1 and C_2? */
static int are_arbitrary(const struct constants *g, const struct constants *p, int is_solution)
{
    int indexed_g = 1, indexed_p = 1;
    for (int i = 0; i < g->n; i++) {
        indexed_g &= is_indexed(g->name[i]);
        indexed_p &= is_indexed(p->name[i]);
    }
    if (g->n == 1)
        return is_solution && (indexed_g || !strcmp(g->name[0], "C"));
    return indexed_g || (is_solution && indexed_p);
}

/* The prediction with its constants called as the reference's ones, in the order of one permutation. */
static const struct math_node *renamed(struct comparison *e, const struct math_node *m,
                                       const struct constants *from, const struct constants *to,
                                       const int order[CONSTANTS])
{
    static const char *const held[] = {"held_0", "held_1", "held_2"};
    for (int i = 0; i < from->n && m; i++)
        m = math_substitute(e->w, m, from->name[i], math_node_named(e->w, MATH_SYMBOL, m->source, held[i]));
    for (int i = 0; i < from->n && m; i++)
        m = math_substitute(e->w, m, held[i],
                            math_node_named(e->w, MATH_SYMBOL, m->source, to->name[order[i]]));
    return m;
}

enum math_truth equal_constants(struct comparison *e, const struct math_node *gold,
                                const struct math_node *pred)
{
    static const int orders[][CONSTANTS] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {2, 1, 0}, {1, 2, 0}, {2, 0, 1}};
    static const int count[] = {0, 1, 2, 6};
    const struct math_node *a = solution_of(gold), *b = solution_of(pred);
    struct constants g, p;
    if (!a != !b || (!a && (!math_is_scalar(gold) || !math_is_scalar(pred))))
        return MATH_FALSE;
    int is_solution = a != NULL;
    if (is_solution) {
        const struct math_node *x = equal_first_reading(gold->child[0]),
                               *y = equal_first_reading(pred->child[0]);
        if (strcmp(x->name, y->name) != 0)
            return MATH_FALSE;
    }
    a = a ? a : gold;
    b = b ? b : pred;
    int variables = collect(e, &g, a);
    if (variables < 0 || !g.n || (!is_solution && variables != 1) || collect(e, &p, b) < 0 || g.n != p.n ||
        !are_arbitrary(&g, &p, is_solution))
        return MATH_FALSE;
    enum math_truth best = MATH_FALSE;
    for (int k = 0; k < count[g.n] && best != MATH_TRUE; k++) {
        const struct math_node *other = renamed(e, b, &p, &g, orders[k]);
        if (other)
            best = equal_better(best, math_scalar_equal(e->w, a, other));
    }
    return best;
}
