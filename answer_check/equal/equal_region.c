/* Subsets of the real line as unions of pieces: intersection, complement, comparison. Ends may hold symbols
 * as long as no order between them is asked for. */
#include "answer_check/equal/equal_region.h"

#include <string.h>

/* ---- ends and their order ---- */

/* -1, 0 or 1: how infinite the end is. */
static int infinity_sign(const struct math_node *m)
{
    if (m->kind == MATH_NEGATE)
        return -infinity_sign(m->child[0]);
    if (m->kind == MATH_PLUS_MINUS)
        return 0;
    return m->kind == MATH_CONSTANT && m->which == MATH_INFINITY;
}

int region_add(struct region *r, const struct math_node *low, const struct math_node *high, int open_low,
               int open_high)
{
    if (r->n == PIECES_MAX || (low && infinity_sign(low) > 0) || (high && infinity_sign(high) < 0))
        return -1;
    struct piece *p = &r->piece[r->n++];
    *p = (struct piece){low, high, open_low, open_high};
    if (low && infinity_sign(low)) {
        p->low = NULL;
        p->open_low = 1;
    }
    if (high && infinity_sign(high)) {
        p->high = NULL;
        p->open_high = 1;
    }
    return 0;
}

/* The greater of two low ends (or the smaller of two high ones): 0, or -1 when their order is not known. */
static int inner_end(struct comparison *e, struct piece *out, const struct piece *a, const struct piece *b,
                     int high)
{
    const struct math_node *x = high ? a->high : a->low, *y = high ? b->high : b->low;
    int open_x = high ? a->open_high : a->open_low, open_y = high ? b->open_high : b->open_low, take_y;
    if (!x || !y) {
        take_y = !x;
    } else if (math_scalar_equal(e->w, x, y) == MATH_TRUE) {
        take_y = 0;
        open_x |= open_y;
    } else {
        enum math_truth less = math_scalar_less(e->w, x, y);
        if (less == MATH_UNKNOWN)
            return -1;
        take_y = (less == MATH_TRUE) != high;
    }
    if (high) {
        out->high = take_y ? y : x;
        out->open_high = take_y ? open_y : open_x;
    } else {
        out->low = take_y ? y : x;
        out->open_low = take_y ? open_y : open_x;
    }
    return 0;
}

/* 1: the piece has no point, 0: it has one, -1: not known. */
static int is_empty(struct comparison *e, const struct piece *p)
{
    if (!p->low || !p->high)
        return 0;
    if (math_scalar_equal(e->w, p->low, p->high) == MATH_TRUE)
        return p->open_low || p->open_high;
    enum math_truth less = math_scalar_less(e->w, p->high, p->low);
    return less == MATH_UNKNOWN ? -1 : less == MATH_TRUE;
}

int region_intersect(struct comparison *e, struct region *out, const struct region *a, const struct region *b)
{
    struct region r = {.variable = a->variable ? a->variable : b->variable};
    for (int i = 0; i < a->n; i++)
        for (int j = 0; j < b->n; j++) {
            struct piece p;
            int empty;
            if (inner_end(e, &p, &a->piece[i], &b->piece[j], 0) ||
                inner_end(e, &p, &a->piece[i], &b->piece[j], 1))
                return -1;
            empty = is_empty(e, &p);
            if (empty < 0 || (!empty && region_add(&r, p.low, p.high, p.open_low, p.open_high)))
                return -1;
        }
    *out = r;
    return 0;
}

int region_unite(struct region *out, const struct region *b)
{
    for (int i = 0; i < b->n; i++)
        if (region_add(out, b->piece[i].low, b->piece[i].high, b->piece[i].open_low, b->piece[i].open_high))
            return -1;
    out->variable = out->variable ? out->variable : b->variable;
    return 0;
}

/* Everything outside: the intersection of what lies outside each piece. */
int region_complement(struct comparison *e, struct region *out, const struct region *a)
{
    struct region rest = {.variable = a->variable};
    if (region_add(&rest, NULL, NULL, 1, 1))
        return -1;
    for (int i = 0; i < a->n; i++) {
        struct region outside = {0};
        const struct piece *p = &a->piece[i];
        if (p->low)
            region_add(&outside, NULL, p->low, 1, !p->open_low);
        if (p->high)
            region_add(&outside, p->high, NULL, !p->open_high, 1);
        if (region_intersect(e, &rest, &rest, &outside))
            return -1;
    }
    *out = rest;
    return 0;
}

/* ---- comparison ---- */

/* Do two pieces share a point or touch, so that their union is one piece? b starts at or after a. */
static int pieces_join(struct comparison *e, const struct piece *a, const struct piece *b)
{
    if (!a->high || !b->low)
        return 1;
    if (math_scalar_equal(e->w, a->high, b->low) == MATH_TRUE)
        return !a->open_high || !b->open_low;
    return math_scalar_less(e->w, b->low, a->high) == MATH_TRUE;
}

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
        if (is_empty(e, p) == 1)
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

/* ---- sets of numbers ---- */

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

/* \mathbb{R}, or the letter in a font that says less. */
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
