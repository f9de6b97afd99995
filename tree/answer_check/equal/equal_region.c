/* Subsets of the real line as unions of pieces, which are read from writing: (1, 2] \cup \{3\}, 1 < x \le 2
 * or x = 3, \{x \mid ..\}, x^2 < 4. Ends may hold symbols as long as no order between them is asked for
 * (contract: equal_region.h). */
#include "answer_check/equal/equal_region.h"

#include <string.h>

/* ---- ends and their order ---- */

/* Which infinity the end is: -1 or 1, or 0 when it is finite. */
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

/* Has the piece no point? 1, 0, or -1: not known. */
int region_is_empty(struct comparison *e, const struct piece *p)
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
            empty = region_is_empty(e, &p);
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

/* ---- from writing to regions: 0, or -1 when it is none ---- */

/* Adds the region of one link with the variable alone on one side: x < c, c < x. */
static int link_of(struct region *out, const struct math_node *c, int op, int variable_left)
{
    int less = op == MATH_LESS || op == MATH_LESS_EQUAL, open = op == MATH_LESS || op == MATH_GREATER;
    if (op == MATH_EQUAL)
        return region_add(out, c, c, 0, 0);
    if (op == MATH_NOT_EQUAL)
        return region_add(out, NULL, c, 1, 1) || region_add(out, c, NULL, 1, 1) ? -1 : 0;
    return less == variable_left ? region_add(out, NULL, c, 1, open) : region_add(out, c, NULL, open, 1);
}

/* The middle of two ends or, with offset, a point 1 outside the only end. */
static const struct math_node *point_between(struct comparison *e, const struct math_node *a,
                                             const struct math_node *b, int offset)
{
    const struct math_node *k = math_node_integer(e->w, (a ? a : b)->source, offset ? 1 : 2);
    if (!k)
        return NULL;
    if (!offset) {
        const struct math_node *sum = math_node_2(e->w, MATH_ADD, a->source, a, b);
        return sum ? math_node_2(e->w, MATH_DIVIDE, a->source, sum, k) : NULL;
    }
    return math_node_2(e->w, MATH_ADD, k->source, a ? a : b,
                       a ? k : math_node_1(e->w, MATH_NEGATE, k->source, k));
}

/* Does left op right hold at the point? */
static enum math_truth link_holds(struct comparison *e, const struct math_node *left,
                                  const struct math_node *right, int op, const char *v,
                                  const struct math_node *point)
{
    const struct math_node *a = point ? math_substitute(e->w, left, v, point) : NULL,
                           *b = a ? math_substitute(e->w, right, v, point) : NULL;
    if (!b)
        return MATH_UNKNOWN;
    return op == MATH_LESS || op == MATH_LESS_EQUAL ? math_scalar_less(e->w, a, b)
                                                    : math_scalar_less(e->w, b, a);
}

/* Solves 2x + 1 > 3 or x^2 \le 4 by the sign of the difference between its real roots. */
static int solve_link(struct comparison *e, struct region *out, const struct math_node *left,
                      const struct math_node *right, int op)
{
    enum { ROOTS = 8 };
    const struct math_node *root[ROOTS], *f;
    const char *v[2];
    const struct math_node *minus = math_node_1(e->w, MATH_NEGATE, right->source, right);
    f = minus ? math_node_2(e->w, MATH_ADD, left->source, left, minus) : NULL;
    if (!f || !math_is_scalar(f) || math_symbols(e->w, f, v, 2) != 1)
        return -1;
    int n = math_real_roots(e->w, f, v[0], root, ROOTS),
        closed = op == MATH_LESS_EQUAL || op == MATH_GREATER_EQUAL;
    if (n < 1)
        return -1;
    out->variable = v[0];
    for (int i = 0; i <= n; i++) {
        const struct math_node *low = i ? root[i - 1] : NULL, *high = i < n ? root[i] : NULL;
        enum math_truth inside = MATH_FALSE;
        if (op == MATH_NOT_EQUAL)
            inside = MATH_TRUE;
        else if (op != MATH_EQUAL)
            inside = link_holds(e, left, right, op, v[0], point_between(e, low, high, !low || !high));
        if (inside == MATH_UNKNOWN ||
            (inside == MATH_TRUE && region_add(out, low, high, !closed || !low, !closed || !high)))
            return -1;
        if ((op == MATH_EQUAL || closed) && high && region_add(out, high, high, 0, 0))
            return -1;
    }
    return 0;
}

static const struct math_node *square_of(struct comparison *e, const struct math_node *m)
{
    return math_node_2(e->w, MATH_POWER, m->source, m, math_node_integer(e->w, m->source, 2));
}

static int is_absolute(const struct math_node *m)
{
    return m->kind == MATH_FUNCTION && m->which == MATH_ABS;
}

/* Turns |f| < c into f^2 < c^2, where c is a number that is not negative. Returns 0, also where the sides
 * have another form, or -1 where the relation cannot be solved like that. */
static int square_absolute(struct comparison *e, const struct math_node **f, const struct math_node **c)
{
    const struct math_node *zero = math_node_integer(e->w, (*c)->source, 0);
    if (!zero || !is_absolute(*f) || !equal_is_number(e, *c))
        return 0;
    if (math_scalar_less(e->w, *c, zero) != MATH_FALSE && math_scalar_equal(e->w, *c, zero) != MATH_TRUE)
        return -1;
    *f = square_of(e, (*f)->child[0]);
    *c = square_of(e, *c);
    return *f && *c ? 0 : -1;
}

/* The region in which left op right holds. Returns 0, or -1 where it is not known. */
static int read_link(struct comparison *e, struct region *out, const struct math_node *left,
                     const struct math_node *right, int op)
{
    if (!equal_is_order(op) && op != MATH_EQUAL)
        return -1;
    if (!math_is_scalar(left) || !math_is_scalar(right))
        return -1;
    if (square_absolute(e, &left, &right) || square_absolute(e, &right, &left))
        return -1;
    if (left->kind == MATH_SYMBOL && !math_has_symbol(right, left->name)) {
        out->variable = left->name;
        return link_of(out, right, op, 1);
    }
    if (right->kind == MATH_SYMBOL && !math_has_symbol(left, right->name)) {
        out->variable = right->name;
        return link_of(out, left, op, 0);
    }
    return solve_link(e, out, left, right, op);
}

/* The name of a symbol, or f(1) with its arguments. */
static const char *name_of(struct comparison *e, const struct math_node *m)
{
    struct str s = {0};
    if (m->kind == MATH_SYMBOL)
        return m->name;
    math_print(&s, m);
    const char *name = arena_strndup(e->w->arena, str_text(&s), s.len);
    str_release(&s);
    return name;
}

static int read_relation(struct comparison *e, struct region *out, const struct math_node *m)
{
    if (m->n == 2 && m->ops[0] == MATH_IN && equal_is_name(m->child[0])) {
        if (region_read(e, out, m->child[1]))
            return -1;
        out->variable = m->child[0]->kind == MATH_SYMBOL ? m->child[0]->name : NULL;
        return 0;
    }
    const struct math_node *middle = m->n == 3 ? equal_first_reading(m->child[1]) : NULL;
    if (middle &&
        (middle->kind == MATH_SYMBOL || middle->kind == MATH_APPLY)) { /* a < x < b, whatever a and b are */
        int up = m->ops[0] == MATH_LESS || m->ops[0] == MATH_LESS_EQUAL;
        int up_too = m->ops[1] == MATH_LESS || m->ops[1] == MATH_LESS_EQUAL;
        if (!equal_is_order(m->ops[0]) || !equal_is_order(m->ops[1]) || up != up_too ||
            m->ops[0] == MATH_NOT_EQUAL || m->ops[1] == MATH_NOT_EQUAL)
            return -1;
        int first = m->ops[0] == MATH_LESS || m->ops[0] == MATH_GREATER,
            second = m->ops[1] == MATH_LESS || m->ops[1] == MATH_GREATER;
        out->variable = name_of(e, middle);
        return up ? region_add(out, m->child[0], m->child[2], first, second)
                  : region_add(out, m->child[2], m->child[0], second, first);
    }
    struct region all = {0};
    if (region_add(&all, NULL, NULL, 1, 1))
        return -1;
    for (int i = 0; i + 1 < m->n; i++) {
        struct region one = {0};
        if (read_link(e, &one, m->child[i], m->child[i + 1], m->ops[i]))
            return -1;
        if (all.variable && one.variable && strcmp(all.variable, one.variable) != 0)
            return -1;
        if (m->n == 2) {
            *out = one;
            return 0;
        }
        if (region_intersect(e, &all, &all, &one))
            return -1;
    }
    *out = all;
    return 0;
}

static int read_number_set(struct comparison *e, struct region *out, const struct math_node *m)
{
    const struct math_node *zero = math_node_integer(e->w, m->source, 0);
    if (m->which == '0')
        return 0;
    if (m->which != 'R' || !zero)
        return -1;
    if (!*m->name)
        return region_add(out, NULL, NULL, 1, 1);
    if (!strcmp(m->name, "+") || !strcmp(m->name, ">=0"))
        return region_add(out, zero, NULL, *m->name == '+', 1);
    if (!strcmp(m->name, "-") || !strcmp(m->name, "<=0"))
        return region_add(out, NULL, zero, 1, *m->name == '-');
    if (!strcmp(m->name, "*"))
        return region_add(out, NULL, zero, 1, 1) || region_add(out, zero, NULL, 1, 1) ? -1 : 0;
    return -1;
}

/* The union of the children's regions, or with `all` their intersection. */
static int read_parts(struct comparison *e, struct region *out, const struct math_node *m, int all)
{
    for (int i = 0; i < m->n; i++) {
        struct region one = {0};
        if (region_read(e, &one, m->child[i]))
            return -1;
        if (out->variable && one.variable && strcmp(out->variable, one.variable) != 0)
            return -1;
        if (i && all ? region_intersect(e, out, out, &one) : region_unite(out, &one))
            return -1;
    }
    return 0;
}

/* Reads statements that hold together. In "x < 1, x > 2", with a comma, both cannot hold at once, so
 * either is meant. */
static int read_statements(struct comparison *e, struct region *out, const struct math_node *m)
{
    if (read_parts(e, out, m, 1))
        return -1;
    if (out->n || !m->which)
        return 0;
    *out = (struct region){0};
    return read_parts(e, out, m, 0);
}

static int read_difference(struct comparison *e, struct region *out, const struct math_node *m)
{
    struct region a = {0}, b = {0}, outside;
    return region_read(e, &a, m->child[0]) || region_read(e, &b, m->child[1]) ||
                   region_complement(e, &outside, &b)
               ? -1
               : region_intersect(e, out, &a, &outside);
}

/* Reads \{x : ..\} and \{x \in S : ..\}; not \{x^2 : ..\}, nor a set with an S that is no region. */
static int read_builder(struct comparison *e, struct region *out, const struct math_node *m)
{
    const struct math_node *element = equal_first_reading(m->child[0]);
    struct region of = {0}, where = {0};
    if (element->kind == MATH_SYMBOL) {
        if (region_read(e, out, m->child[1]) || (out->variable && strcmp(out->variable, element->name) != 0))
            return -1;
    } else if (element->kind != MATH_RELATION || element->n != 2 || element->ops[0] != MATH_IN ||
               region_read(e, &of, element) || region_read(e, &where, m->child[1]) ||
               region_intersect(e, out, &of, &where)) {
        return -1;
    }
    out->variable = NULL; /* its name says nothing outside */
    return 0;
}

/* Are the parts of a list of one sort: values only, or statements and intervals only? The 1 in "x > 0, 1" is
 * no point beside the region. The elements of a set are never regions themselves. */
static int is_one_sort(const struct math_node *m)
{
    int values = 0;
    for (int i = 0; i < m->n; i++)
        values += math_is_scalar(equal_first_reading(m->child[i]));
    if (m->kind == MATH_SET)
        return values == m->n || (m->n == 1 && m->child[0]->kind == MATH_RELATION);
    return values == 0 || values == m->n;
}

/* Have no two pieces a point in common? (-9, 1), (-5, 0) is a list of points rather than one of intervals. */
static int is_apart(struct comparison *e, const struct region *r)
{
    for (int i = 0; i < r->n; i++)
        for (int k = 0; k < i; k++) {
            struct region a = {0}, b = {0}, both;
            const struct piece *p = &r->piece[i], *q = &r->piece[k];
            if (!p->low || !p->high || !q->low || !q->high || equal_is_number(e, p->low) == 0 ||
                equal_is_number(e, q->low) == 0)
                continue;
            if (!region_add(&a, p->low, p->high, p->open_low, p->open_high) &&
                !region_add(&b, q->low, q->high, q->open_low, q->open_high) &&
                !region_intersect(e, &both, &a, &b) && both.n &&
                math_scalar_equal(e->w, p->low, p->high) != MATH_TRUE)
                return 0;
        }
    return 1;
}

int region_read(struct comparison *e, struct region *out, const struct math_node *m)
{
    if (math_step(e->w, 10))
        return -1;
    switch (m->kind) {
    case MATH_INTERVAL: /* (4, 1) and (1, 1) are points of the plane */
        if (math_scalar_less(e->w, m->child[1], m->child[0]) == MATH_TRUE ||
            (m->which && math_scalar_equal(e->w, m->child[0], m->child[1]) == MATH_TRUE))
            return -1;
        return region_add(out, m->child[0], m->child[1], (m->which & MATH_OPEN_LEFT) != 0,
                          (m->which & MATH_OPEN_RIGHT) != 0);
    case MATH_LIST:
    case MATH_SET:
        return is_one_sort(m) && !read_parts(e, out, m, 0) && is_apart(e, out) ? 0 : -1;
    case MATH_UNION:
    case MATH_OR:
        return read_parts(e, out, m, 0);
    case MATH_INTERSECTION:
        return read_parts(e, out, m, 1);
    case MATH_AND:
        return read_statements(e, out, m);
    case MATH_DIFFERENCE:
        return read_difference(e, out, m);
    case MATH_SET_BUILDER:
        return read_builder(e, out, m);
    case MATH_NUMBER_SET:
        return read_number_set(e, out, m);
    case MATH_RELATION:
        return read_relation(e, out, m);
    case MATH_EITHER:
        for (int i = 0; i < m->n; i++)
            if (equal_is_region(m->child[i]))
                return region_read(e, out, m->child[i]);
        return region_read(e, out, m->child[0]);
    default:
        return math_is_scalar(m) ? region_add(out, m, m, 0, 0) : -1;
    }
}
