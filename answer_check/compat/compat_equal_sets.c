/* Sets and tuples as the original compares them. */
#include "answer_check/compat/compat_equal.h"

#include <string.h>

typedef const struct math_node *node;

/* Does m consist of intervals and numbers only? A list may hold relations; the original takes such a list
 * for no set of real numbers. */
static int is_real_set(node m, int depth)
{
    if (m->kind == MATH_INTERVAL || m->kind == MATH_NUMBER_SET || math_is_scalar(m))
        return 1;
    if (!compat_is_set(m) || depth > MATH_TREE_DEPTH)
        return 0;
    for (int i = 0; i < m->n; i++)
        if (!is_real_set(m->child[i], depth + 1))
            return 0;
    return 1;
}

/* ---- finite sets and tuples */

enum { ELEMENTS = 256 };

/* The elements: of a set each once, of a tuple all. */
static int distinct_elements(struct math_work *w, node m, node *out)
{
    int n = 0;
    for (int i = 0; i < m->n && n < ELEMENTS; i++) {
        int again = 0;
        for (int k = 0; m->kind == MATH_SET && k < n && !again; k++)
            again = compat_same_writing(w, out[k], m->child[i]);
        if (!again)
            out[n++] = m->child[i];
    }
    return n;
}

struct pairing {
    unsigned char equal[ELEMENTS][ELEMENTS];
    int partner[ELEMENTS]; /* for each element of pred its partner in gold, or -1 */
    unsigned char tried[ELEMENTS];
    int n;
};

/* Finds a partner for element i of gold, giving other elements new partners where that helps. */
static int find_partner(struct pairing *p, int i, int depth)
{
    for (int j = 0; j < p->n && depth < ELEMENTS; j++) {
        if (!p->equal[i][j] || p->tried[j])
            continue;
        p->tried[j] = 1;
        if (p->partner[j] < 0 || find_partner(p, p->partner[j], depth + 1)) {
            p->partner[j] = i;
            return 1;
        }
    }
    return 0;
}

static node first_of(node m)
{
    return m->kind == MATH_SET && m->n ? m->child[0] : m;
}

/* Where an element comes when the original sorts them: numbers by size, then sets by their first element. */
static int sort_rank(struct math_work *w, const node *all, int n, node m)
{
    int before = 0;
    for (int i = 0; i < n; i++) {
        int is_set = all[i]->kind == MATH_SET, other = (m->kind == MATH_SET) != is_set;
        before += other ? !is_set : compat_less(w, first_of(all[i]), first_of(m)) == MATH_TRUE;
    }
    return before;
}

/* Are the elements equal in any order? The original sorts both sides and compares them in that order,
 * which has the same result unless different ways of writing a value confuse the sorting, or unless a set
 * of one element stands among numbers: that equals its element only in the same place. */
static int any_order(struct compat_comparison *c, const node *gold, const node *pred, int n)
{
    if (math_step(c->w, (int64_t)ELEMENTS * n))
        return 0;
    struct pairing *p = arena_alloc(c->w->arena, sizeof *p);
    p->n = n;
    for (int i = 0; i < n; i++) {
        p->partner[i] = -1;
        for (int j = 0; j < n; j++)
            p->equal[i][j] =
                (unsigned char)(compat_equal(c, gold[i], pred[j]) &&
                                ((gold[i]->kind == MATH_SET) == (pred[j]->kind == MATH_SET) ||
                                 sort_rank(c->w, gold, n, gold[i]) == sort_rank(c->w, pred, n, pred[j])));
    }
    for (int i = 0; i < n; i++) {
        memset(p->tried, 0, sizeof p->tried);
        if (!find_partner(p, i, 0))
            return 0;
    }
    return 1;
}

static int equal_elements(struct compat_comparison *c, node gold, node pred)
{
    node g[ELEMENTS], p[ELEMENTS];
    int n = distinct_elements(c->w, gold, g);
    if (distinct_elements(c->w, pred, p) != n)
        return 0;
    if (gold->kind == MATH_SET)
        return any_order(c, g, p, n);
    if (pred->n != n) /* against a tuple the elements count as written, repeated ones too */
        return 0;
    for (int i = 0; i < n; i++)
        if (!compat_equal(c, gold->child[i], pred->child[i]))
            return 0;
    return 1;
}

static int is_infinite(node m)
{
    if (m->kind == MATH_NEGATE)
        m = m->child[0];
    return m->kind == MATH_CONSTANT && m->which == MATH_INFINITY;
}

/* Which ends are open. Infinite ends always are, however they are written. */
static int open_ends(node m)
{
    return m->which | (is_infinite(m->child[0]) ? MATH_OPEN_LEFT : 0) |
           (is_infinite(m->child[1]) ? MATH_OPEN_RIGHT : 0);
}

static int is_open(node m)
{
    return open_ends(m) == (MATH_OPEN_LEFT | MATH_OPEN_RIGHT);
}

static node as_set(struct math_work *w, node m)
{
    return compat_is_set(m) || m->kind == MATH_TUPLE ? m : math_node_1(w, MATH_SET, m->source, m);
}

static int is_listed(node m)
{
    return m->kind == MATH_SET || m->kind == MATH_TUPLE;
}

int compat_sets(struct compat_comparison *c, node gold, node pred)
{
    gold = as_set(c->w, gold);
    pred = as_set(c->w, pred);
    if (!gold || !pred)
        return 0;
    if (gold->kind == MATH_INTERVAL && pred->kind == MATH_INTERVAL)
        return open_ends(gold) == open_ends(pred) && compat_equal(c, gold->child[0], pred->child[0]) &&
               compat_equal(c, gold->child[1], pred->child[1]);
    if (compat_same_writing(c->w, gold, pred) ||
        ((gold->kind != MATH_SET || pred->kind != MATH_SET) && is_real_set(gold, 0) && is_real_set(pred, 0) &&
         compat_same_region(c->w, gold, pred)))
        return 1;
    if (is_listed(gold) && is_listed(pred))
        return equal_elements(c, gold, pred);
    /* "(1, 2)" was read as an open interval and "1, 2" as a set */
    node interval = gold->kind == MATH_INTERVAL ? gold : pred, list = interval == gold ? pred : gold;
    if (interval->kind != MATH_INTERVAL || !is_open(interval) || !is_listed(list))
        return 0;
    node pair = math_node_new(c->w, MATH_TUPLE, interval->source, 2, interval->child);
    if (!pair)
        return 0;
    return interval == gold ? equal_elements(c, pair, pred) : equal_elements(c, gold, pair);
}
