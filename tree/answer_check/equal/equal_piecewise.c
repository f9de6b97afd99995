/* Functions defined by cases against other ones, and against a formula for all of them: |x| and x for x >=
 * 0, -x for x < 0. Both sides are compared at points of every piece on which a condition holds, at its
 * ends too. */
#include "answer_check/equal/equal_parts.h"

#include <string.h>

#include "answer_check/equal/equal_region.h"

enum { CASES_MAX = 8, POINTS_MAX = 5 };

struct piecewise {
    int n; /* 0: one formula, everywhere */
    const struct math_node *value[CASES_MAX];
    struct region where[CASES_MAX];
    const char *variable;
};

static int is_otherwise(const struct math_node *m)
{
    return m->kind == MATH_TEXT && (!*m->name || !strcmp(m->name, "otherwise") || !strcmp(m->name, "else"));
}

/* The union of all regions but the one numbered `but` (-1: of all). Returns 0, or -1 for too many pieces. */
static int unite_regions(struct region *out, const struct piecewise *p, int but)
{
    *out = (struct region){.variable = p->variable};
    for (int i = 0; i < p->n; i++)
        if (i != but && region_unite(out, &p->where[i]))
            return -1;
    return 0;
}

/* Reads values and conditions of one variable: 0, or -1. */
static int read_pieces(struct comparison *e, struct piecewise *out, const struct math_node *m)
{
    int rest = -1;
    *out = (struct piecewise){0};
    if (m->kind != MATH_CASES) {
        out->value[0] = m;
        return math_is_scalar(m) ? 0 : -1;
    }
    if (m->n / 2 > CASES_MAX)
        return -1;
    for (out->n = 0; out->n < m->n / 2; out->n++) {
        struct region *r = &out->where[out->n];
        const struct math_node *condition = m->child[2 * out->n + 1];
        out->value[out->n] = m->child[2 * out->n];
        *r = (struct region){0};
        if (is_otherwise(condition)) {
            if (rest >= 0)
                return -1;
            rest = out->n;
            continue;
        }
        if (region_read(e, r, condition) || !r->variable ||
            (out->variable && strcmp(out->variable, r->variable) != 0))
            return -1;
        out->variable = r->variable;
    }
    struct region others;
    if (rest >= 0 && (unite_regions(&others, out, rest) || region_complement(e, &out->where[rest], &others)))
        return -1;
    return out->variable ? 0 : -1;
}

/* A point beside the only end of a piece: end + by/part, or below it. */
static const struct math_node *point_beside(struct comparison *e, const struct math_node *end, int by,
                                            int part, int below)
{
    const struct math_node *step =
        math_node_2(e->w, MATH_DIVIDE, end->source, math_node_integer(e->w, end->source, by),
                    math_node_integer(e->w, end->source, part));
    step = step && below ? math_node_1(e->w, MATH_NEGATE, end->source, step) : step;
    return step ? math_node_2(e->w, MATH_ADD, end->source, end, step) : NULL;
}

/* A point between two ends: (k a + (4 - k) b)/4. */
static const struct math_node *point_between(struct comparison *e, const struct math_node *a,
                                             const struct math_node *b, int k)
{
    const struct math_node *x = math_node_2(e->w, MATH_MULTIPLY, a->source,
                                            math_node_integer(e->w, a->source, k), a),
                           *y = math_node_2(e->w, MATH_MULTIPLY, a->source,
                                            math_node_integer(e->w, a->source, 4 - k), b),
                           *sum = x && y ? math_node_2(e->w, MATH_ADD, a->source, x, y) : NULL;
    return sum ? math_node_2(e->w, MATH_DIVIDE, a->source, sum, math_node_integer(e->w, a->source, 4)) : NULL;
}

/* Points of a piece: three inside it and its closed ends. Returns their number; some may be NULL. */
static int points_of(struct comparison *e, const struct piece *p, const struct math_node *source,
                     const struct math_node *out[POINTS_MAX])
{
    int n = 0;
    if (p->low && p->high) {
        out[n++] = point_between(e, p->low, p->high, 1);
        out[n++] = point_between(e, p->low, p->high, 2);
        out[n++] = point_between(e, p->low, p->high, 3);
    } else {
        const struct math_node *end = p->low    ? p->low
                                      : p->high ? p->high
                                                : math_node_integer(e->w, source->source, 0);
        out[n++] = end ? point_beside(e, end, 1, 3, !p->low) : NULL;
        out[n++] = end ? point_beside(e, end, 7, 3, !p->low) : NULL;
        out[n++] = end ? point_beside(e, end, 9, 1, !p->low) : NULL;
    }
    if (p->low && !p->open_low)
        out[n++] = p->low;
    if (p->high && !p->open_high)
        out[n++] = p->high;
    return n;
}

/* Is the point in the piece? UNKNOWN where its order is not proved. */
static enum math_truth piece_holds(struct comparison *e, const struct piece *p, const struct math_node *point)
{
    enum math_truth above = MATH_TRUE, below = MATH_TRUE;
    if (p->low && math_scalar_equal(e->w, p->low, point) == MATH_TRUE)
        above = p->open_low ? MATH_FALSE : MATH_TRUE;
    else if (p->low)
        above = math_scalar_less(e->w, p->low, point);
    if (p->high && math_scalar_equal(e->w, p->high, point) == MATH_TRUE)
        below = p->open_high ? MATH_FALSE : MATH_TRUE;
    else if (p->high)
        below = math_scalar_less(e->w, point, p->high);
    return equal_worse(above, below);
}

/* The value at a point, NULL where no case holds or none is proved to hold. */
static const struct math_node *value_at(struct comparison *e, const struct piecewise *p, const char *variable,
                                        const struct math_node *point)
{
    if (!p->n)
        return math_substitute(e->w, p->value[0], variable, point);
    for (int i = 0; i < p->n; i++)
        for (int k = 0; k < p->where[i].n; k++)
            if (piece_holds(e, &p->where[i].piece[k], point) == MATH_TRUE)
                return math_substitute(e->w, p->value[i], variable, point);
    return NULL;
}

/* At the points of all pieces of one side. */
static enum math_truth agrees_at_points(struct comparison *e, const struct piecewise *a,
                                        const struct piecewise *b, const char *variable)
{
    for (int i = 0; i < a->n; i++)
        for (int k = 0; k < a->where[i].n; k++) {
            const struct math_node *point[POINTS_MAX];
            int n = points_of(e, &a->where[i].piece[k], a->value[i], point);
            for (int j = 0; j < n; j++) {
                const struct math_node *x = point[j] ? value_at(e, a, variable, point[j]) : NULL,
                                       *y = x ? value_at(e, b, variable, point[j]) : NULL;
                if (!y || math_scalar_equal(e->w, x, y) != MATH_TRUE)
                    return MATH_FALSE;
            }
        }
    return MATH_TRUE;
}

enum math_truth equal_piecewise(struct comparison *e, const struct math_node *gold,
                                const struct math_node *pred)
{
    struct piecewise g, p;
    struct region all, outside;
    if (read_pieces(e, &g, gold) || read_pieces(e, &p, pred) || (!g.n && !p.n))
        return MATH_FALSE;
    const char *variable = g.variable ? g.variable : p.variable;
    if (g.variable && p.variable && strcmp(g.variable, p.variable) != 0)
        return MATH_FALSE;
    /* A formula for all values needs cases for all values. */
    if ((!g.n || !p.n) &&
        (unite_regions(&all, g.n ? &g : &p, -1) || region_complement(e, &outside, &all) || outside.n))
        return MATH_FALSE;
    enum math_truth r =
        equal_worse(agrees_at_points(e, &g, &p, variable), agrees_at_points(e, &p, &g, variable));
    if (r == MATH_TRUE) {
        e->w->evidence = MATH_PROBED;
        equal_set_how(e, "at points of every case");
    }
    return r;
}
