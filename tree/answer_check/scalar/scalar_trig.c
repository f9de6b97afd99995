/* Trigonometric functions and the exponential (contract: scalar_eval.h). For rational multiples of pi, or of
 * i pi, a rational value is exact; everything else is computed by intervals. */
#include "answer_check/scalar/scalar_eval.h"

int eval_degrees(struct number_context *c, const struct math_node *m, struct value *out)
{
    int rc = m->n ? scalar_eval(c, m->child[0], out) : NUMBER_UNKNOWN;
    int64_t part = 60;
    for (int i = 1; i < m->n && !rc; i++, part *= 60) {
        struct value v, scale;
        rc = scalar_eval(c, m->child[i], &v);
        value_set(&scale, gauss_of((struct fraction){1, part, NULL}));
        rc = rc ? rc : value_mul(c, &v, &v, &scale);
        rc = rc ? rc : value_add(c, out, out, &v);
    }
    return rc;
}

/* Does m hold pi or degrees, so that it may be a multiple of pi? */
static int holds_pi(const struct math_node *m, int depth)
{
    if (m->kind == MATH_DEGREES || (m->kind == MATH_CONSTANT && m->which == MATH_PI))
        return 1;
    if (depth >= 8 || m->kind == MATH_FUNCTION || m->kind == MATH_POWER)
        return 0;
    for (int i = 0; i < m->n && i < 16; i++)
        if (holds_pi(m->child[i], depth + 1))
            return 1;
    return 0;
}

static int pi_multiple(struct number_context *c, const struct math_node *m, struct gauss *r);

/* Is m a sum of multiples of pi, or a product with exactly one of them? */
static int multiple_of_parts(struct number_context *c, const struct math_node *m, struct gauss *r)
{
    struct gauss part;
    int found = 0;
    *r = gauss_of(fraction_of(m->kind == MATH_ADD ? 0 : 1));
    for (int i = 0; i < m->n; i++) {
        int is_multiple = holds_pi(m->child[i], 0) && pi_multiple(c, m->child[i], &part);
        if (!is_multiple && (m->kind == MATH_ADD || !scalar_exact(c, m->child[i], &part)))
            return 0;
        found += is_multiple;
        if (m->kind == MATH_ADD ? gauss_add(c, r, *r, part) : gauss_mul(c, r, *r, part))
            return 0;
    }
    return m->kind == MATH_ADD || found == 1;
}

/* An angle in degrees as a multiple r of pi. */
static int multiple_of_degrees(struct number_context *c, const struct math_node *m, struct gauss *r)
{
    struct value v;
    long precision = c->precision;
    c->precision = 0;
    int found = !eval_degrees(c, m, &v) && v.exact && !gauss_div(c, r, v.g, gauss_of(fraction_of(180)));
    c->precision = precision;
    return found;
}

/* Is m = r pi with a Gaussian fraction r? Returns 1 and sets *r, or returns 0. 45 degrees are pi/4. */
static int pi_multiple(struct number_context *c, const struct math_node *m, struct gauss *r)
{
    struct gauss d;
    if (math_step(c->w, 1) || c->depth >= SCALAR_DEPTH)
        return 0;
    c->depth++;
    int found = 0;
    switch (m->kind) {
    case MATH_CONSTANT:
        *r = gauss_of(fraction_of(1));
        found = m->which == MATH_PI;
        break;
    case MATH_NEGATE:
        found = pi_multiple(c, m->child[0], r) && !gauss_neg(c, r, *r);
        break;
    case MATH_DIVIDE:
        found = pi_multiple(c, m->child[0], r) && scalar_exact(c, m->child[1], &d) && !gauss_div(c, r, *r, d);
        break;
    case MATH_ADD:
    case MATH_MULTIPLY:
        found = multiple_of_parts(c, m, r);
        break;
    case MATH_DEGREES:
        found = multiple_of_degrees(c, m, r);
        break;
    default:
        break;
    }
    c->depth--;
    return found;
}

/* r mod period, in [0, period) */
static int reduce_modulo(struct number_context *c, struct fraction *r, int64_t period)
{
    struct fraction q;
    int rc = fraction_div(c, &q, *r, fraction_of(period));
    rc = rc ? rc : fraction_floor(c, &q, q);
    rc = rc ? rc : fraction_mul(c, &q, q, fraction_of(period));
    return rc ? rc : fraction_sub(c, r, *r, q);
}

/* sin(r pi) if it is rational (Niven's theorem). Returns 1 and sets *out, or returns 0. */
static int exact_sine(struct number_context *c, struct fraction r, struct fraction *out)
{
    static const signed char twice[12] = {0, 1, 9, 2, 9, 1, 0, -1, 9, -2, 9, -1}; /* at k pi/6 */
    int64_t k;
    if (reduce_modulo(c, &r, 2) || fraction_mul(c, &r, r, fraction_of(6)) || !fraction_int64(r, &k) ||
        twice[k] == 9)
        return 0;
    return !fraction_ratio(c, out, twice[k], 2);
}

/* A trigonometric function of r pi. NUMBER_INEXACT if the value is not known to be rational. */
static int exact_trigonometric(struct number_context *c, enum math_function f, struct fraction r,
                               struct fraction *out)
{
    struct fraction quarter, sine, shifted;
    int64_t k;
    if (fraction_add(c, &shifted, r, (struct fraction){1, 2, NULL}))
        return NUMBER_INEXACT;
    if (f == MATH_TAN || f == MATH_COT) {
        if (reduce_modulo(c, &r, 1) || fraction_mul(c, &quarter, r, fraction_of(4)) ||
            !fraction_int64(quarter, &k))
            return NUMBER_INEXACT;
        if (k == (f == MATH_TAN ? 2 : 0))
            return NUMBER_UNDEFINED;
        *out = fraction_of(k == 1 ? 1 : k == 3 ? -1 : 0);
        return NUMBER_OK;
    }
    if (!exact_sine(c, f == MATH_SIN || f == MATH_CSC ? r : shifted, &sine))
        return NUMBER_INEXACT;
    *out = sine;
    return f == MATH_SIN || f == MATH_COS ? NUMBER_OK : fraction_div(c, out, fraction_of(1), sine);
}

/* The angle r pi as an interval, r between 0 and 2. */
static int angle_ball(struct number_context *c, struct fraction r, struct value *out)
{
    if (!c->precision)
        return NUMBER_INEXACT;
    int rc = reduce_modulo(c, &r, 2);
    value_set(out, gauss_of(r));
    rc = rc ? rc : value_to_ball(c, out);
    if (rc)
        return rc;
    struct ball *pi = ball_new(c);
    mpfi_const_pi(pi->re);
    rc = ball_mul(c, out->b, out->b, pi);
    ball_free(c, pi);
    return rc;
}

int eval_trigonometric(struct number_context *c, const struct math_node *m, struct value *out)
{
    struct gauss r;
    struct fraction exact;
    struct value v;
    int rc;
    if (holds_pi(m->child[0], 0) && pi_multiple(c, m->child[0], &r) && gauss_is_real(r)) {
        rc = exact_trigonometric(c, m->which, r.re, &exact);
        if (rc != NUMBER_INEXACT) {
            value_set(out, gauss_of(exact));
            return rc;
        }
        rc = angle_ball(c, r.re, &v);
    } else {
        rc = scalar_eval(c, m->child[0], &v);
        rc = rc ? rc : value_to_ball(c, &v);
    }
    *out = v;
    return rc ? rc : ball_function(c, v.b, m->which, v.b);
}

int eval_exponential(struct number_context *c, const struct math_node *exponent, struct value *out)
{
    struct gauss r;
    struct gauss exact;
    int rc;
    if (holds_pi(exponent, 0) && pi_multiple(c, exponent, &r) && !fraction_sign(r.re)) {
        if (!exact_trigonometric(c, MATH_COS, r.im, &exact.re) &&
            !exact_trigonometric(c, MATH_SIN, r.im, &exact.im)) {
            value_set(out, exact);
            return NUMBER_OK;
        }
        rc = angle_ball(c, r.im, out);
        if (!rc)
            ball_times_i(out->b, out->b);
        return rc ? rc : ball_exp(c, out->b, out->b);
    }
    rc = scalar_eval(c, exponent, out);
    if (!rc && out->exact && gauss_is_zero(out->g)) {
        value_set(out, gauss_of(fraction_of(1)));
        return NUMBER_OK;
    }
    rc = rc ? rc : value_to_ball(c, out);
    return rc ? rc : ball_exp(c, out->b, out->b);
}
