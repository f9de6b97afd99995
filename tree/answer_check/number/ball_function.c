/* Functions of one argument on complex intervals (contract: ball.h). On real arguments inside their
 * domain the inverse functions are MPFI's; elsewhere they are their principal complex values, written with
 * the logarithm. arccot has the range (0, pi), as school books have it. */
#include "answer_check/number/ball.h"

/* out = 1/a */
static int one_over(struct number_context *c, struct ball *out, const struct ball *a)
{
    struct ball *one = ball_new(c);
    ball_set_int(one, 1);
    int rc = ball_div(c, out, one, a);
    ball_free(c, one);
    return rc;
}

/* out = -i a */
static void times_minus_i(struct ball *out, const struct ball *a)
{
    ball_times_i(out, a);
    ball_neg(out, out);
}

/* out = pi/2 - a */
static int half_pi_minus(struct number_context *c, struct ball *out, const struct ball *a)
{
    struct ball *half_pi = ball_new(c);
    mpfi_const_pi(half_pi->re);
    mpfi_div_2ui(half_pi->re, half_pi->re, 1);
    int rc = ball_sub(c, out, half_pi, a);
    ball_free(c, half_pi);
    return rc;
}

/* sin, cos, tan, cot, sec or csc. */
static int trigonometric_function(struct number_context *c, struct ball *out, enum math_function f,
                                  const struct ball *a)
{
    struct ball *s = ball_new(c), *t = ball_new(c);
    int rc = ball_sin_cos(c, s, t, a);
    if (!rc) {
        switch (f) {
        case MATH_SIN:
            ball_set(out, s);
            break;
        case MATH_COS:
            ball_set(out, t);
            break;
        case MATH_TAN:
            rc = ball_div(c, out, s, t);
            break;
        case MATH_COT:
            rc = ball_div(c, out, t, s);
            break;
        case MATH_SEC:
            rc = one_over(c, out, t);
            break;
        default:
            rc = one_over(c, out, s);
        }
    }
    ball_free(c, s);
    ball_free(c, t);
    return rc;
}

/* sinh, cosh, tanh or coth. */
static int hyperbolic_function(struct number_context *c, struct ball *out, enum math_function f,
                               const struct ball *a)
{
    int rc = ball_elementary_cost(c);
    if (rc)
        return rc;
    if (a->real) {
        if (f == MATH_COTH && ball_is_zero(a))
            return NUMBER_UNDEFINED;
        if (f == MATH_COTH && ball_has_zero(a))
            return NUMBER_UNKNOWN;
        if (f == MATH_SINH)
            mpfi_sinh(out->re, a->re);
        else if (f == MATH_COSH)
            mpfi_cosh(out->re, a->re);
        else if (f == MATH_TANH)
            mpfi_tanh(out->re, a->re);
        else
            mpfi_coth(out->re, a->re);
        out->real = 1;
        return ball_check_range(c, out);
    }
    /* sinh z = -i sin iz, cosh z = cos iz */
    struct ball *s = ball_new(c), *t = ball_new(c);
    ball_times_i(t, a);
    rc = ball_sin_cos(c, s, t, t);
    times_minus_i(s, s);
    if (!rc && f == MATH_SINH)
        ball_set(out, s);
    else if (!rc && f == MATH_COSH)
        ball_set(out, t);
    else if (!rc)
        rc = f == MATH_TANH ? ball_div(c, out, s, t) : ball_div(c, out, t, s);
    ball_free(c, s);
    ball_free(c, t);
    return rc;
}

/* arsinh a = log(a + sqrt(a^2 + 1)), arcosh a = log(a + sqrt(a - 1) sqrt(a + 1)). */
static int area_log(struct number_context *c, struct ball *out, const struct ball *a, int is_arcosh)
{
    struct ball *t = ball_new(c), *u = ball_new(c), *one = ball_new(c);
    ball_set_int(one, 1);
    int rc;
    if (is_arcosh) {
        rc = ball_sub(c, t, a, one);
        rc = rc ? rc : ball_sqrt(c, t, t);
        rc = rc ? rc : ball_add(c, u, a, one);
        rc = rc ? rc : ball_sqrt(c, u, u);
        rc = rc ? rc : ball_mul(c, t, t, u);
    } else {
        rc = ball_mul(c, t, a, a);
        rc = rc ? rc : ball_add(c, t, t, one);
        rc = rc ? rc : ball_sqrt(c, t, t);
    }
    rc = rc ? rc : ball_add(c, t, t, a);
    rc = rc ? rc : ball_log(c, out, t);
    ball_free(c, t);
    ball_free(c, u);
    ball_free(c, one);
    return rc;
}

/* artanh a = (log(1 + a) - log(1 - a)) / 2 */
static int artanh_log(struct number_context *c, struct ball *out, const struct ball *a)
{
    struct ball *t = ball_new(c), *u = ball_new(c), *one = ball_new(c);
    ball_set_int(one, 1);
    int rc = ball_add(c, t, one, a);
    rc = rc ? rc : ball_log(c, t, t);
    rc = rc ? rc : ball_sub(c, u, one, a);
    rc = rc ? rc : ball_log(c, u, u);
    rc = rc ? rc : ball_sub(c, t, t, u);
    ball_set_int(one, 2);
    rc = rc ? rc : ball_div(c, out, t, one);
    ball_free(c, t);
    ball_free(c, u);
    ball_free(c, one);
    return rc;
}

/* arsinh, arcosh or artanh. */
static int area_function(struct number_context *c, struct ball *out, enum math_function f,
                         const struct ball *a)
{
    int rc = ball_elementary_cost(c);
    if (rc)
        return rc;
    if (a->real) {
        int inside = f == MATH_ARSINH;
        if (f == MATH_ARCOSH)
            inside = mpfr_cmp_si(&a->re->left, 1) >= 0;
        if (f == MATH_ARTANH) {
            inside = mpfr_cmp_si(&a->re->left, -1) > 0 && mpfr_cmp_si(&a->re->right, 1) < 0;
            int pole = mpfi_is_inside_si(1, a->re) || mpfi_is_inside_si(-1, a->re);
            if (pole)
                return mpfr_equal_p(&a->re->left, &a->re->right) ? NUMBER_UNDEFINED : NUMBER_UNKNOWN;
        }
        if (inside) {
            if (f == MATH_ARSINH)
                mpfi_asinh(out->re, a->re);
            else if (f == MATH_ARCOSH)
                mpfi_acosh(out->re, a->re);
            else
                mpfi_atanh(out->re, a->re);
            out->real = 1;
            return ball_check_range(c, out);
        }
        if (c->real_only && f != MATH_ARSINH)
            return NUMBER_UNDEFINED;
    }
    if (f == MATH_ARTANH)
        return artanh_log(c, out, a);
    return area_log(c, out, a, f == MATH_ARCOSH);
}

/* arcsin or arccos of a real interval whose absolute value reaches past 1, as rounding may cause. The values
 * past 1 are at most arcosh(right end) away from the real axis. */
static int arc_at_one(struct number_context *c, struct ball *out, enum math_function f, const struct ball *a)
{
    struct ball *t = ball_new(c), *u = ball_new(c);
    int negative = mpfr_sgn(&a->re->left) < 0;
    ball_abs(c, u, a);
    mpfr_acosh(&t->im->right, &u->re->right, MPFR_RNDU);
    mpfr_neg(&t->im->left, &t->im->right, MPFR_RNDD);
    mpfr_set_ui(&u->re->right, 1, MPFR_RNDU);
    if (negative)
        mpfi_neg(u->re, u->re);
    if (f == MATH_ARCSIN)
        mpfi_asin(t->re, u->re);
    else
        mpfi_acos(t->re, u->re);
    t->real = 0;
    ball_set(out, t);
    ball_free(c, t);
    ball_free(c, u);
    return ball_check_range(c, out);
}

/* arcsin z = -i arsinh(iz), arccos z = pi/2 - arcsin z */
static int arc_sine(struct number_context *c, struct ball *out, enum math_function f, const struct ball *a)
{
    int rc = ball_elementary_cost(c);
    if (rc)
        return rc;
    if (a->real) {
        int left = mpfr_cmpabs_ui(&a->re->left, 1), right = mpfr_cmpabs_ui(&a->re->right, 1);
        if (left <= 0 && right <= 0) {
            if (f == MATH_ARCSIN)
                mpfi_asin(out->re, a->re);
            else
                mpfi_acos(out->re, a->re);
            out->real = 1;
            return ball_check_range(c, out);
        }
        if (!(left > 0 && right > 0))
            return mpfi_has_zero(a->re) ? NUMBER_UNKNOWN : arc_at_one(c, out, f, a);
        if (c->real_only)
            return NUMBER_UNDEFINED;
    }
    struct ball *t = ball_new(c);
    ball_times_i(t, a);
    rc = area_log(c, t, t, 0);
    times_minus_i(t, t);
    if (!rc && f == MATH_ARCCOS)
        rc = half_pi_minus(c, t, t);
    if (!rc)
        ball_set(out, t);
    ball_free(c, t);
    return rc;
}

/* arctan z = -i artanh(iz) */
static int arc_tangent(struct number_context *c, struct ball *out, enum math_function f, const struct ball *a)
{
    int rc = ball_elementary_cost(c);
    if (rc)
        return rc;
    struct ball *t = ball_new(c);
    if (a->real) {
        mpfi_atan(t->re, a->re);
    } else {
        ball_times_i(t, a);
        rc = artanh_log(c, t, t);
        times_minus_i(t, t);
    }
    if (!rc && f == MATH_ARCCOT)
        rc = half_pi_minus(c, t, t);
    if (!rc)
        ball_set(out, t);
    ball_free(c, t);
    return rc ? rc : ball_check_range(c, out);
}

/* An inverse trigonometric function. */
static int arc_function(struct number_context *c, struct ball *out, enum math_function f,
                        const struct ball *a)
{
    if (f == MATH_ARCTAN || f == MATH_ARCCOT)
        return arc_tangent(c, out, f, a);
    if (f == MATH_ARCSIN || f == MATH_ARCCOS)
        return arc_sine(c, out, f, a);
    struct ball *t = ball_new(c);
    int rc = one_over(c, t, a);
    rc = rc ? rc : arc_sine(c, out, f == MATH_ARCSEC ? MATH_ARCCOS : MATH_ARCSIN, t);
    ball_free(c, t);
    return rc;
}

int ball_function(struct number_context *c, struct ball *out, enum math_function f, const struct ball *a)
{
    switch (f) {
    case MATH_SQRT:
        return ball_sqrt(c, out, a);
    case MATH_EXP:
        return ball_exp(c, out, a);
    case MATH_LN:
        return ball_log(c, out, a);
    case MATH_ABS:
        return ball_abs(c, out, a);
    case MATH_ARGUMENT:
        return ball_argument(c, out, a);
    case MATH_SIN:
    case MATH_COS:
    case MATH_TAN:
    case MATH_COT:
    case MATH_SEC:
    case MATH_CSC:
        return trigonometric_function(c, out, f, a);
    case MATH_ARCSIN:
    case MATH_ARCCOS:
    case MATH_ARCTAN:
    case MATH_ARCCOT:
    case MATH_ARCSEC:
    case MATH_ARCCSC:
        return arc_function(c, out, f, a);
    case MATH_SINH:
    case MATH_COSH:
    case MATH_TANH:
    case MATH_COTH:
        return hyperbolic_function(c, out, f, a);
    case MATH_ARSINH:
    case MATH_ARCOSH:
    case MATH_ARTANH:
        return area_function(c, out, f, a);
    case MATH_REAL:
    case MATH_IMAGINARY:
    case MATH_CONJUGATE:
        break;
    default:
        return NUMBER_UNKNOWN;
    }
    struct ball *t = ball_new(c);
    ball_set(t, a);
    if (f == MATH_CONJUGATE) {
        if (!t->real)
            mpfi_neg(t->im, t->im);
    } else {
        if (f == MATH_IMAGINARY && t->real)
            mpfi_set_si(t->re, 0);
        else if (f == MATH_IMAGINARY)
            mpfi_set(t->re, t->im);
        t->real = 1;
    }
    ball_set(out, t);
    ball_free(c, t);
    return NUMBER_OK;
}
