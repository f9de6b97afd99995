/* Lists, sets, tuples and matrices; and plus-minus, which is two values in one writing. */
#include "answer_check/equal/equal.h"

#include <string.h>

enum { ITEMS_MAX = 64, EXPANDED_MAX = 64 };

static enum math_truth compare_in_order(struct comparison *e, const struct math_node *gold,
                                        const struct math_node *pred)
{
    enum math_truth all = MATH_TRUE;
    if (gold->n != pred->n)
        return MATH_FALSE;
    for (int i = 0; i < gold->n && all != MATH_FALSE; i++)
        all = equal_worse(all, equal_trees(e, gold->child[i], pred->child[i]));
    return all;
}

struct matching {
    int n;
    unsigned char edge[ITEMS_MAX][ITEMS_MAX]; /* enum math_truth */
    int owner[ITEMS_MAX];                     /* of a predicted item: the reference's item, or -1 */
    unsigned char seen[ITEMS_MAX];
};

/* Finds item i of the reference a partner, moving others where needed (Kuhn's algorithm). */
static int augment_matching(struct matching *m, int i, int least)
{
    for (int j = 0; j < m->n; j++) {
        if (m->seen[j] || m->edge[i][j] < least)
            continue;
        m->seen[j] = 1;
        if (m->owner[j] < 0 || augment_matching(m, m->owner[j], least)) {
            m->owner[j] = i;
            return 1;
        }
    }
    return 0;
}

static int is_perfect(struct matching *m, int least)
{
    for (int j = 0; j < m->n; j++)
        m->owner[j] = -1;
    for (int i = 0; i < m->n; i++) {
        memset(m->seen, 0, sizeof m->seen);
        if (!augment_matching(m, i, least))
            return 0;
    }
    return 1;
}

/* Every item of the reference with its own item of the prediction: by matching, never by sorting, since
 * equality up to rounding has no order. */
static enum math_truth compare_matched(struct comparison *e, const struct math_node *gold,
                                       const struct math_node *pred)
{
    struct matching m = {.n = gold->n};
    static const unsigned char rank[] = {[MATH_FALSE] = 0, [MATH_UNKNOWN] = 1, [MATH_TRUE] = 2};
    if (gold->n != pred->n)
        return MATH_FALSE;
    if (gold->n > ITEMS_MAX)
        return compare_in_order(e, gold, pred) == MATH_TRUE ? MATH_TRUE : MATH_UNKNOWN;
    for (int i = 0; i < m.n; i++) {
        int possible = 0;
        for (int j = 0; j < m.n; j++) {
            m.edge[i][j] = rank[equal_trees(e, gold->child[i], pred->child[j])];
            possible |= m.edge[i][j];
        }
        if (!possible)
            return MATH_FALSE;
    }
    return is_perfect(&m, 2) ? MATH_TRUE : is_perfect(&m, 1) ? MATH_UNKNOWN : MATH_FALSE;
}

/* Without items that repeat an earlier one; NULL when too many are left. */
static const struct math_node *without_repeats(struct comparison *e, const struct math_node *m)
{
    const struct math_node *kept[ITEMS_MAX];
    int n = 0;
    for (int i = 0; i < m->n; i++) {
        int k = 0;
        while (k < n && equal_trees(e, kept[k], m->child[i]) != MATH_TRUE)
            k++;
        if (k == n && n == ITEMS_MAX)
            return NULL;
        if (k == n)
            kept[n++] = m->child[i];
    }
    return n == m->n ? m : math_node_new(e->w, m->kind, m->source, n, kept);
}

static enum math_truth compare_unordered(struct comparison *e, const struct math_node *gold,
                                         const struct math_node *pred)
{
    if (e->rules->duplicates == DUPLICATES_COLLAPSE) {
        gold = without_repeats(e, gold);
        pred = without_repeats(e, pred);
        if (!gold || !pred)
            return MATH_UNKNOWN;
    }
    return compare_matched(e, gold, pred);
}

enum math_truth equal_items(struct comparison *e, const struct math_node *gold, const struct math_node *pred,
                            int ordered)
{
    if (ordered)
        return compare_in_order(e, gold, pred);
    e->inside++;
    enum math_truth r = compare_unordered(e, gold, pred);
    e->inside--;
    return r;
}

enum math_truth equal_matrices(struct comparison *e, const struct math_node *gold,
                               const struct math_node *pred)
{
    if (gold->which != pred->which || gold->rows != pred->rows || gold->columns != pred->columns)
        return MATH_FALSE;
    return compare_in_order(e, gold, pred);
}

/* ---- plus-minus ---- */

static int has_sign(const struct math_node *m)
{
    if (m->kind == MATH_PLUS_MINUS)
        return 1;
    for (int i = 0; i < m->n; i++)
        if (has_sign(m->child[i]))
            return 1;
    return 0;
}

/* A copy in which every \pm has the upper sign, or the lower one; \mp (which = 1) the other. */
static const struct math_node *with_sign(struct comparison *e, const struct math_node *m, int lower)
{
    const struct math_node *child[ITEMS_MAX];
    if (!has_sign(m))
        return m;
    if (m->n > ITEMS_MAX || math_step(e->w, 10))
        return NULL;
    for (int i = 0; i < m->n; i++)
        child[i] = with_sign(e, m->child[i], lower);
    if (m->kind == MATH_PLUS_MINUS)
        return lower != (m->which == 1) ? math_node_1(e->w, MATH_NEGATE, m->source, child[0]) : child[0];
    return math_node_like(e->w, m, child);
}

/* The values of one item: itself, or both signs. */
static int signs_of(struct comparison *e, const struct math_node *m, const struct math_node *out[2])
{
    out[0] = m;
    if (!has_sign(m))
        return 1;
    out[0] = with_sign(e, m, 0);
    out[1] = with_sign(e, m, 1);
    return out[0] && out[1] ? 2 : 0;
}

static const struct math_node *expand_list(struct comparison *e, const struct math_node *m)
{
    const struct math_node *item[EXPANDED_MAX], *two[2];
    int n = 0;
    for (int i = 0; i < m->n; i++) {
        int k = signs_of(e, m->child[i], two);
        if (!k || n + k > EXPANDED_MAX)
            return NULL;
        memcpy(item + n, two, (size_t)k * sizeof *two);
        n += k;
    }
    return math_node_new(e->w, m->kind, m->source, n, item);
}

/* (\pm a, \pm b) is all four tuples: the coordinates' signs are independent. */
static const struct math_node *expand_tuple(struct comparison *e, const struct math_node *m)
{
    const struct math_node *item[EXPANDED_MAX], *two[2], *coordinate[ITEMS_MAX];
    int combinations = 1;
    if (m->n > ITEMS_MAX)
        return NULL;
    for (int i = 0; i < m->n; i++)
        combinations *= combinations <= EXPANDED_MAX && has_sign(m->child[i]) ? 2 : 1;
    if (combinations > EXPANDED_MAX)
        return NULL;
    for (int c = 0; c < combinations; c++) {
        for (int i = 0, bit = 0; i < m->n; i++) {
            int k = signs_of(e, m->child[i], two);
            if (!k)
                return NULL;
            coordinate[i] = two[k == 2 ? c >> bit++ & 1 : 0];
        }
        item[c] = math_node_new(e->w, MATH_TUPLE, m->source, m->n, coordinate);
        if (!item[c])
            return NULL;
    }
    return math_node_new(e->w, MATH_LIST, m->source, combinations, item);
}

const struct math_node *equal_expand(struct comparison *e, const struct math_node *m)
{
    const struct math_node *two[2];
    if (!has_sign(m) || m->kind == MATH_INTERVAL) /* both ends have both signs */
        return NULL;
    if (m->kind == MATH_LIST || m->kind == MATH_SET || m->kind == MATH_OR)
        return expand_list(e, m);
    if (m->kind == MATH_TUPLE)
        return expand_tuple(e, m);
    if (signs_of(e, m, two) != 2)
        return NULL;
    struct math_node *both =
        math_node_new(e->w, m->kind == MATH_RELATION ? MATH_OR : MATH_LIST, m->source, 2, two);
    if (both && both->kind == MATH_OR)
        both->which = 1; /* y = \pm x: two statements, whatever joins them on the other side */
    return both;
}
