/* One left side for several values: x \ne 0, 1 and n \equiv 1, 5 \pmod 6. The list's first element is a
 * relation, the others are values; each of them is read as a relation of its own. */
#include "answer_check/math/math_reader.h"

enum { VALUES = 32 };

static int is_value(const struct math_node *m)
{
    return m->kind <= MATH_FUNCTION;
}

static const struct math_node *make_relation(struct math_reader *r, int from, const struct math_node *first,
                                             const struct math_node *value, const struct math_node *modulus)
{
    static const unsigned char congruent[] = {MATH_CONGRUENT, MATH_CONGRUENT};
    const struct math_node *side[] = {first->child[0], value, modulus};
    struct math_node *m = math_node_new(r->w, MATH_RELATION, reader_source(r, from), modulus ? 3 : 2, side);
    if (m)
        m->ops = modulus ? congruent : first->ops;
    return m;
}

const struct math_node *read_shared_left(struct math_reader *r, int from, const struct read_items *list)
{
    const struct math_node *first = list->node[0], *last = list->node[list->n - 1], *modulus = NULL;
    struct read_items all = {0};
    if (list->n < 2 || list->n > VALUES || first->kind != MATH_RELATION || first->n != 2 ||
        (*first->ops != MATH_NOT_EQUAL && *first->ops != MATH_CONGRUENT))
        return NULL;
    if (*first->ops == MATH_CONGRUENT) { /* the modulus stands behind the last value */
        if (last->kind != MATH_FUNCTION || last->which != MATH_MOD)
            return NULL;
        modulus = last->child[1];
        last = last->child[0];
    }
    for (int i = 0; i < list->n; i++) {
        const struct math_node *value = i == 0 ? first->child[1] : i == list->n - 1 ? last : list->node[i];
        if (!is_value(value) ||
            reader_add(r, &all, make_relation(r, from, first, value, modulus), T_COMMA, 0))
            return NULL;
    }
    return reader_list(r, modulus ? MATH_OR : MATH_AND, from, &all);
}
