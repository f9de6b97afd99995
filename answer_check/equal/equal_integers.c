/* Finite sets of integers that are described rather than listed: \{x \in \mathbb{Z} : 1 \le x \le 3\}. */
#include "answer_check/equal/equal.h"

#include <string.h>

#include "answer_check/equal/equal_region.h"

enum { INTEGERS_MAX = 64 };

/* The smallest integer that x \in S allows, or a very small number where S is Z: 0, or -1 where S is neither
 * Z nor N. Whether 0 is in N is the writer's choice; here it is, and the caller compares with 1 as well. */
static int least_of(const struct math_node *membership, int64_t *least)
{
    const struct math_node *set = membership->child[1];
    if (membership->kind != MATH_RELATION || membership->n != 2 || *membership->ops != MATH_IN ||
        set->kind != MATH_NUMBER_SET || membership->child[0]->kind != MATH_SYMBOL)
        return -1;
    if (set->which == 'Z' && !*set->name)
        *least = INT64_MIN;
    else if ((set->which == 'Z' || set->which == 'N') && (!strcmp(set->name, "+") || !strcmp(set->name, "*")))
        *least = 1;
    else if (set->which == 'N' && !*set->name)
        *least = 0;
    else
        return -1;
    return 0;
}

/* The parts of a condition: 1 \le x \le 3, x \in \mathbb{Z}. */
static int parts_of(const struct math_node *m, const struct math_node *part[2])
{
    if (m->kind == MATH_SET_BUILDER && m->child[0]->kind == MATH_RELATION) {
        part[0] = m->child[0];
        part[1] = m->child[1];
        return 0;
    }
    if (m->kind == MATH_SET_BUILDER)
        m = m->child[1];
    if ((m->kind != MATH_AND && m->kind != MATH_LIST) || m->n != 2)
        return -1;
    part[0] = m->child[0];
    part[1] = m->child[1];
    return 0;
}

/* The integer at or inside an end: the ceiling of a low one, the floor of a high one. 0, or -1. */
static int end_integer(struct comparison *e, const struct math_node *end, int is_high, int open, int64_t *out)
{
    struct math_node *round = math_node_1(e->w, MATH_FUNCTION, end->source, end);
    if (!round)
        return -1;
    round->which = is_high ? MATH_FLOOR : MATH_CEILING;
    if (!math_scalar_integer(e->w, round, out) || *out > INT32_MAX || *out < INT32_MIN)
        return -1;
    enum math_truth at_end = math_scalar_equal(e->w, math_node_integer(e->w, end->source, *out), end);
    if (at_end == MATH_UNKNOWN)
        return -1;
    *out += at_end == MATH_TRUE && open ? (is_high ? -1 : 1) : 0;
    return 0;
}

const struct math_node *equal_whole_numbers(struct comparison *e, const struct math_node *m,
                                            const struct math_node *other)
{
    const struct math_node *part[2], *value[INTEGERS_MAX];
    struct region r = {0};
    int64_t least, low, high, taken[INTEGERS_MAX];
    int n = 0;
    if ((!equal_is_collection(other) && other->kind != MATH_SET_BUILDER) || parts_of(m, part))
        return NULL;
    if (part[0]->kind != MATH_RELATION || least_of(part[0], &least)) { /* the membership may come second */
        const struct math_node *swap = part[0];
        part[0] = part[1];
        part[1] = swap;
    }
    if (part[0]->kind != MATH_RELATION || least_of(part[0], &least) || region_read(e, &r, part[1]) ||
        !r.variable || strcmp(r.variable, part[0]->child[0]->name) != 0)
        return NULL;
    for (int i = 0; i < r.n; i++) {
        const struct piece *p = &r.piece[i];
        if (!p->high || (!p->low && least == INT64_MIN) ||
            (p->low && end_integer(e, p->low, 0, p->open_low, &low)) ||
            end_integer(e, p->high, 1, p->open_high, &high))
            return NULL;
        low = p->low && low > least ? low : least;
        for (int64_t k = low; k <= high; k++) {
            int known = 0;
            while (known < n && taken[known] != k) /* pieces may overlap */
                known++;
            if (known == INTEGERS_MAX)
                return NULL;
            taken[known] = k;
            value[known] = math_node_integer(e->w, m->source, k);
            n += known == n;
        }
    }
    return math_node_new(e->w, MATH_SET, m->source, n, value);
}
