/* Comparing sets of real numbers: regions of the line, sets such as \mathbb{N} by their names, and finite
 * sets of integers that are described rather than listed (contract: equal_parts.h). */
#include "answer_check/equal/equal_region.h"

#include <string.h>

/* ---- regions ---- */

/* Do two pieces share a point or touch, so that their union is one piece? b starts at or after a. */
static int pieces_join(struct comparison *e, const struct piece *a, const struct piece *b)
{
    if (!a->high || !b->low)
        return 1;
    if (math_scalar_equal(e->w, a->high, b->low) == MATH_TRUE)
        return !a->open_high || !b->open_low;
    return math_scalar_less(e->w, b->low, a->high) == MATH_TRUE;
}

/* Does piece a start before piece b? */
static int starts_before(struct comparison *e, const struct piece *a, const struct piece *b)
{
    if (!a->low || !b->low)
        return !a->low && b->low;
    if (math_scalar_equal(e->w, a->low, b->low) == MATH_TRUE)
        return !a->open_low && b->open_low;
    return math_scalar_less(e->w, a->low, b->low) == MATH_TRUE;
}

/* Sorted and merged where all ends are numbers; otherwise as it is. */
static void merge_pieces(struct comparison *e, struct region *r)
{
    for (int i = 0; i < r->n; i++)
        if ((r->piece[i].low && !equal_is_number(e, r->piece[i].low)) ||
            (r->piece[i].high && !equal_is_number(e, r->piece[i].high)))
            return;
    for (int i = 1; i < r->n; i++)
        for (int j = i; j > 0 && starts_before(e, &r->piece[j], &r->piece[j - 1]); j--) {
            struct piece t = r->piece[j];
            r->piece[j] = r->piece[j - 1];
            r->piece[j - 1] = t;
        }
    int n = 0;
    for (int i = 0; i < r->n; i++) {
        struct piece *last = n ? &r->piece[n - 1] : NULL, *p = &r->piece[i];
        if (region_is_empty(e, p) == 1)
            continue;
        if (!last || !pieces_join(e, last, p)) {
            r->piece[n++] = *p;
        } else if (last->high && p->high && math_scalar_equal(e->w, last->high, p->high) == MATH_TRUE) {
            last->open_high &= p->open_high;
        } else if (last->high && (!p->high || math_scalar_less(e->w, last->high, p->high) == MATH_TRUE)) {
            last->high = p->high;
            last->open_high = p->open_high;
        }
    }
    r->n = n;
}

static enum math_truth same_end(struct comparison *e, const struct math_node *a, const struct math_node *b)
{
    if (!a || !b)
        return !a && !b ? MATH_TRUE : MATH_FALSE;
    return equal_trees(e, a, b);
}

static enum math_truth same_piece(struct comparison *e, const struct piece *a, const struct piece *b)
{
    if (a->open_low != b->open_low || a->open_high != b->open_high)
        return MATH_FALSE;
    enum math_truth low = same_end(e, a->low, b->low);
    return low == MATH_FALSE ? low : equal_worse(low, same_end(e, a->high, b->high));
}

enum math_truth equal_regions(struct comparison *e, const struct math_node *gold,
                              const struct math_node *pred)
{
    struct region g = {0}, p = {0};
    unsigned char used[PIECES_MAX] = {0};
    enum math_truth all = MATH_TRUE;
    if (region_read(e, &g, gold) || region_read(e, &p, pred))
        return MATH_FALSE;
    if (g.variable && p.variable && strcmp(g.variable, p.variable) != 0)
        return MATH_FALSE;
    merge_pieces(e, &g);
    merge_pieces(e, &p);
    if (g.n != p.n)
        return MATH_FALSE;
    for (int i = 0; i < g.n && all != MATH_FALSE; i++) {
        enum math_truth found = MATH_FALSE;
        for (int j = 0; j < p.n && found != MATH_TRUE; j++) {
            enum math_truth r = used[j] ? MATH_FALSE : same_piece(e, &g.piece[i], &p.piece[j]);
            used[j] |= r == MATH_TRUE;
            found = equal_better(found, r);
        }
        all = equal_worse(all, found);
    }
    if (all == MATH_TRUE)
        equal_set_how(e, "as sets of real numbers");
    return all;
}

/* ---- sets of numbers by name ---- */

/* N and Z^+, N_0 and Z_{\ge 0}: whether N holds 0 is the writer's choice, so N alone is either. */
static const char *natural_name(const struct math_node *m, int *both)
{
    static const char *const names[][3] = {{"Z+", "N+", "N*"}, {"Z>=0", "N0", "N_0"}};
    *both = m->which == 'N' && !*m->name;
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < 3; k++)
            if (names[i][k][0] == m->which && !strcmp(names[i][k] + 1, m->name))
                return names[i][0];
    return NULL;
}

/* Is it \mathbb{R} or the like, or its letter in a plain font? */
static int is_number_set(const struct math_node *m)
{
    return m->kind == MATH_NUMBER_SET ||
           (m->kind == MATH_SYMBOL && *m->name && strchr("NZQRC", *m->name) && !m->name[1]);
}

enum math_truth equal_number_sets(const struct math_node *gold, const struct math_node *pred)
{
    int any_g, any_p;
    if (!is_number_set(gold) || !is_number_set(pred))
        return MATH_FALSE;
    if (gold->kind != pred->kind) {
        const struct math_node *set = gold->kind == MATH_SYMBOL ? pred : gold;
        const char *letter = (set == gold ? pred : gold)->name;
        return set->which == *letter && !*set->name ? MATH_TRUE : MATH_FALSE;
    }
    const char *g = natural_name(gold, &any_g), *p = natural_name(pred, &any_p);
    if ((g && (any_p || g == p)) || (p && any_g))
        return MATH_TRUE;
    return gold->which == pred->which && !strcmp(gold->name, pred->name) ? MATH_TRUE : MATH_FALSE;
}

/* ---- the integers between two bounds ---- */

enum { INTEGERS_MAX = 64 };

/* The smallest integer that x \in S allows, or a very small number where S is Z: 0, or -1 where S is neither
 * Z nor N. Whether 0 is in N is the writer's choice; here it is, and the caller compares with 1 as well. */
static int smallest_member(const struct math_node *membership, int64_t *smallest)
{
    const struct math_node *set = membership->child[1];
    if (membership->kind != MATH_RELATION || membership->n != 2 || *membership->ops != MATH_IN ||
        set->kind != MATH_NUMBER_SET || membership->child[0]->kind != MATH_SYMBOL)
        return -1;
    if (set->which == 'Z' && !*set->name)
        *smallest = INT64_MIN;
    else if ((set->which == 'Z' || set->which == 'N') && (!strcmp(set->name, "+") || !strcmp(set->name, "*")))
        *smallest = 1;
    else if (set->which == 'N' && !*set->name)
        *smallest = 0;
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

/* The set that \{2k : k = 1, 2, 3\} and \{2k : k \in \{1, 2, 3\}\} list, or NULL. */
static const struct math_node *listed(struct comparison *e, const struct math_node *m)
{
    const struct math_node *value[INTEGERS_MAX];
    if (m->kind != MATH_SET_BUILDER || m->n != 2)
        return NULL;
    const struct math_node *which = m->child[1];
    int is_in = which->kind == MATH_RELATION && which->n == 2 && which->ops[0] == MATH_IN &&
                which->child[1]->kind == MATH_SET && which->child[0]->kind == MATH_SYMBOL;
    const struct math_node *list = is_in ? which->child[1] : which;
    int is_list = which->kind == MATH_LIST && which->child[0]->kind == MATH_RELATION; /* k = 1, 2, 3 */
    if ((!is_in && !is_list && !equal_is_statements(which)) || list->n > INTEGERS_MAX || !list->n)
        return NULL;
    const char *name = is_in ? which->child[0]->name : NULL;
    for (int i = 0; i < list->n; i++) {
        const struct math_node *c = list->child[i];
        if (!is_in && !(is_list && i)) {
            if (c->kind != MATH_RELATION || c->n != 2 || c->ops[0] != MATH_EQUAL ||
                c->child[0]->kind != MATH_SYMBOL || (name && strcmp(name, c->child[0]->name) != 0))
                return NULL;
            name = c->child[0]->name;
            c = c->child[1];
        }
        value[i] = math_substitute(e->w, m->child[0], name, c);
        if (!value[i] || m->child[0]->kind == MATH_RELATION)
            return NULL;
    }
    return math_node_new(e->w, MATH_SET, m->source, list->n, value);
}

const struct math_node *equal_whole_numbers(struct comparison *e, const struct math_node *m,
                                            const struct math_node *other)
{
    const struct math_node *part[2], *value[INTEGERS_MAX];
    struct region r = {0};
    int64_t smallest, low, high, taken[INTEGERS_MAX];
    int n = 0;
    if (equal_is_collection(other) && listed(e, m))
        return listed(e, m);
    if ((!equal_is_collection(other) && other->kind != MATH_SET_BUILDER) || parts_of(m, part))
        return NULL;
    if (part[0]->kind != MATH_RELATION ||
        smallest_member(part[0], &smallest)) { /* the membership may come second */
        const struct math_node *swap = part[0];
        part[0] = part[1];
        part[1] = swap;
    }
    if (part[0]->kind != MATH_RELATION || smallest_member(part[0], &smallest) ||
        region_read(e, &r, part[1]) || !r.variable || strcmp(r.variable, part[0]->child[0]->name) != 0)
        return NULL;
    for (int i = 0; i < r.n; i++) {
        const struct piece *p = &r.piece[i];
        if (!p->high || (!p->low && smallest == INT64_MIN) ||
            (p->low && end_integer(e, p->low, 0, p->open_low, &low)) ||
            end_integer(e, p->high, 1, p->open_high, &high))
            return NULL;
        low = p->low && low > smallest ? low : smallest;
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
