/* Antiderivatives: F(x) + C and G(x) + c are equal if they differ by a constant. */
#include "answer_check/equal/equal.h"

#include <string.h>

static const struct math_node *first_reading(const struct math_node *m)
{
    return m->kind == MATH_EITHER ? m->child[0] : m;
}

/* Index of the summand that is the constant, or -1: a letter that occurs nowhere else. */
static int find_constant(const struct math_node *m)
{
    static const char *const names[] = {"C", "C_1", "c", "c_1", "K", "k"};
    for (int i = 0; m->kind == MATH_ADD && i < m->n; i++) {
        const struct math_node *c = first_reading(m->child[i]);
        for (size_t k = 0; c->kind == MATH_SYMBOL && k < sizeof names / sizeof *names; k++)
            if (!strcmp(c->name, names[k])) {
                for (int j = 0; j < m->n; j++)
                    if (j != i && math_has_symbol(m->child[j], c->name))
                        return -1;
                return i;
            }
    }
    return -1;
}

static const struct math_node *without_term(struct comparison *e, const struct math_node *m, int at)
{
    const struct math_node *rest[64];
    int n = 0;
    if (m->n > 64)
        return NULL;
    for (int i = 0; i < m->n; i++)
        if (i != at)
            rest[n++] = m->child[i];
    return n == 1 ? rest[0] : math_node_new(e->w, MATH_ADD, m->source, n, rest);
}

enum math_truth equal_antiderivatives(struct comparison *e, const struct math_node *gold,
                                      const struct math_node *pred)
{
    static const char *const variables[] = {"x", "t", "u", "y", "z", "theta", "s", "r"};
    const char *symbol[2];
    int at = find_constant(gold), in_pred = find_constant(pred), known = 0;
    if (at < 0 || in_pred < 0 ||
        (*first_reading(gold->child[at])->name != 'C' && *first_reading(pred->child[in_pred])->name != 'C'))
        return MATH_FALSE; /* x^2 + k is a polynomial with a parameter */
    const struct math_node *a = without_term(e, gold, at), *b = a ? without_term(e, pred, in_pred) : NULL;
    if (!b || math_symbols(e->w, a, symbol, 2) != 1)
        return MATH_FALSE;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        known |= !strcmp(symbol[0], variables[i]);
    if (!known)
        return MATH_FALSE;
    enum math_truth r = equal_trees(e, a, b);
    const struct math_node *minus = math_node_1(e->w, MATH_NEGATE, b->source, b),
                           *d = math_node_2(e->w, MATH_ADD, a->source, a, minus);
    struct math_node *point = math_node_new(e->w, MATH_NUMBER, a->source, 0, NULL);
    if (r == MATH_TRUE || !d || !point)
        return r;
    point->literal = (struct math_literal){.digits = "7", .n = 1, .decimals = 1, .point = 1};
    const struct math_node *there = math_substitute(e->w, d, symbol[0], point);
    return there ? equal_better(r, math_scalar_equal(e->w, d, there)) : r; /* they differ by a constant */
}
