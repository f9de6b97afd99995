/* Order, distance, rounding and integer values of real constants (contract: scalar.h). */
#include "answer_check/scalar/scalar.h"

#include "answer_check/scalar/scalar_build.h"
#include "answer_check/scalar/scalar_compare.h"

static int infinity_sign(const struct math_node *m)
{
    if (m->kind == MATH_NEGATE)
        return -infinity_sign(m->child[0]);
    return m->kind == MATH_CONSTANT && m->which == MATH_INFINITY;
}

static int is_real_constant(struct number_context *c, const struct math_node *m)
{
    int order;
    const struct math_node *zero = tree_integer(c->w, 0);
    return zero && (scalar_order(c, m, zero, &order) || c->huge);
}

/* Certified order: 1 and *order, else 0. Equal is *order 0. */
static int order_of(struct math_work *w, const struct math_node *a, const struct math_node *b, int *order)
{
    struct number_context c;
    int i = infinity_sign(a), j = infinity_sign(b), found;
    number_open(&c, w);
    if (i || j) {
        *order = (i > j) - (i < j);
        found = (i && j) || is_real_constant(&c, i ? b : a);
    } else {
        found = scalar_order(&c, a, b, order);
        if (!found && c.w->steps > 0)
            found = scalar_huge_order(&c, a, b, order);
    }
    number_close(&c);
    return found;
}

enum math_truth math_scalar_less(struct math_work *w, const struct math_node *a, const struct math_node *b)
{
    int order;
    if (!a || !b || !order_of(w, a, b, &order))
        return MATH_UNKNOWN;
    return order < 0 ? MATH_TRUE : MATH_FALSE;
}

/* 10^places */
static int ten_to(struct number_context *c, struct fraction *out, int places)
{
    return fraction_pow(c, out, fraction_of(10), places);
}

/* x against the constant m: <0, 0, >0 for |m| - x, by exact values or intervals. 1 and *order, or 0. */
static int compare_size(struct number_context *c, const struct math_node *m, struct fraction x, int *order)
{
    return scalar_order(c, tree_function(c->w, MATH_ABS, m), tree_fraction(c, x), order);
}

/* A tie rounds to the neighbour away from 0 (half up) or to the even one. */
static enum math_truth round_tie(struct number_context *c, struct fraction value, struct fraction scaled)
{
    struct fraction half;
    int64_t n;
    if (fraction_mul(c, &half, scaled, (struct fraction){1, 2, NULL}))
        return MATH_UNKNOWN;
    int even = fraction_is_integer(half);
    int away = fraction_sign(value) < 0 ? fraction_compare(c, scaled, value) < 0
                                        : fraction_compare(c, scaled, value) > 0;
    n = even || away;
    return n ? MATH_TRUE : MATH_FALSE;
}

enum math_truth math_rounds_to(struct math_work *w, const struct math_node *exact,
                               const struct math_node *decimal, int decimals)
{
    struct number_context c;
    struct gauss d, e;
    struct fraction scale, scaled, distance;
    int order;
    enum math_truth truth = MATH_UNKNOWN;
    if (!exact || !decimal)
        return MATH_UNKNOWN;
    number_open(&c, w);
    if (!scalar_exact(&c, decimal, &d) || !gauss_is_real(d) || ten_to(&c, &scale, decimals) ||
        fraction_mul(&c, &scaled, d.re, scale)) {
        truth = MATH_UNKNOWN;
    } else if (!fraction_is_integer(scaled)) { /* more digits than were rounded to */
        truth = MATH_FALSE;
    } else if (scalar_exact(&c, exact, &e)) {
        struct fraction value, half = {1, 2, NULL};
        if (gauss_is_real(e) && !fraction_mul(&c, &value, e.re, scale) &&
            !fraction_sub(&c, &distance, value, scaled) &&
            (fraction_sign(distance) >= 0 || !fraction_neg(&c, &distance, distance))) {
            order = fraction_compare(&c, distance, half);
            truth = order < 0 ? MATH_TRUE : order > 0 ? MATH_FALSE : round_tie(&c, value, scaled);
        }
    } else if (is_real_constant(&c, exact) &&
               !fraction_div(&c, &distance, (struct fraction){1, 2, NULL}, scale) &&
               compare_size(&c, tree_sub(w, exact, tree_fraction(&c, d.re)), distance, &order) && order) {
        truth = order < 0 ? MATH_TRUE : MATH_FALSE;
    }
    number_close(&c);
    return truth;
}

/* The integer next to a constant that is no exact number, by 128 bits: 1 and *out. */
static int nearest_integer(struct number_context *c, const struct math_node *m, int64_t *out)
{
    struct value v;
    c->precision = plan_constant.precision[0];
    int rc = scalar_eval(c, m, &v);
    c->precision = 0;
    if (!rc && v.exact) /* a floor or ceiling of an interval */
        return value_integer(&v, out);
    if (rc || !ball_below(v.b, 62))
        return 0;
    *out = mpfr_get_si(&v.b->re->left, MPFR_RNDN);
    return 1;
}

int math_scalar_integer(struct math_work *w, const struct math_node *m, int64_t *out)
{
    struct number_context c;
    struct gauss g;
    int found = 0, guessed = 0;
    int64_t n = 0;
    if (!m)
        return 0;
    number_open(&c, w);
    if (scalar_exact(&c, m, &g))
        found = gauss_is_real(g) && fraction_int64(g.re, &n);
    else
        guessed = nearest_integer(&c, m, &n);
    number_close(&c);
    if (guessed)
        found = math_scalar_equal(w, m, tree_integer(w, n)) == MATH_TRUE;
    if (found)
        *out = n;
    return found;
}
