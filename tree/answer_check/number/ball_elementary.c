/* Roots, powers, exponential, logarithm, sine and cosine of complex intervals (contract: ball.h). */
#include "answer_check/number/ball.h"

enum { ARGUMENT_BITS = 4096, ROOT_MAX = 16 };

int ball_abs(struct number_context *c, struct ball *out, const struct ball *a)
{
    if (a->real) {
        mpfi_abs(out->re, a->re);
        out->real = 1;
        return NUMBER_OK;
    }
    int rc = ball_elementary_cost(c);
    if (rc)
        return rc;
    struct ball *t = ball_new(c);
    mpfi_sqr(t->re, a->re);
    mpfi_sqr(t->im, a->im);
    mpfi_add(t->re, t->re, t->im);
    mpfi_sqrt(out->re, t->re);
    out->real = 1;
    ball_free(c, t);
    return ball_check_range(c, out);
}

/* The angle is pi on the negative real axis, and unknown for an interval across it. */
int ball_argument(struct number_context *c, struct ball *out, const struct ball *a)
{
    int rc = ball_elementary_cost(c);
    if (rc)
        return rc;
    if (ball_is_zero(a))
        return NUMBER_UNDEFINED;
    if (a->real) {
        int sign = ball_sign(a);
        if (!sign)
            return NUMBER_UNKNOWN;
        if (sign > 0)
            ball_set_int(out, 0);
        else
            mpfi_const_pi(out->re);
        out->real = 1;
        return NUMBER_OK;
    }
    struct ball *t = ball_new(c);
    int upper = mpfi_is_strictly_pos(a->im), lower = mpfi_is_strictly_neg(a->im);
    if (mpfi_is_strictly_pos(a->re)) {
        mpfi_div(t->re, a->im, a->re);
        mpfi_atan(out->re, t->re);
    } else if (upper || lower) { /* +-pi/2 - atan(re/im) */
        mpfi_div(t->re, a->re, a->im);
        mpfi_atan(t->re, t->re);
        mpfi_const_pi(t->im);
        mpfi_div_2ui(t->im, t->im, 1);
        if (lower)
            mpfi_neg(t->im, t->im);
        mpfi_sub(out->re, t->im, t->re);
    } else {
        rc = NUMBER_UNKNOWN;
    }
    out->real = 1;
    ball_free(c, t);
    return rc ? rc : ball_check_range(c, out);
}

/* A complex square root away from the branch cut. It is computed from |a| + |re a|, where no digits cancel.
 */
static int sqrt_complex(struct number_context *c, struct ball *out, const struct ball *a)
{
    int right = mpfi_is_strictly_pos(a->re), upper = mpfi_is_strictly_pos(a->im);
    if (!right && !upper && !mpfi_is_strictly_neg(a->im))
        return NUMBER_UNKNOWN;
    int left = mpfi_is_strictly_neg(a->re);
    struct ball *size = ball_new(c), *t = ball_new(c);
    int rc = ball_abs(c, size, a);
    mpfi_abs(t->re, a->re);
    if (!right && !left) { /* around the imaginary axis: both parts from |a| +- re */
        mpfi_add(t->re, size->re, a->re);
        mpfi_sub(t->im, size->re, a->re);
        mpfi_div_2ui(t->re, t->re, 1);
        mpfi_div_2ui(t->im, t->im, 1);
        if (!rc && (!mpfi_is_nonneg(t->re) || !mpfi_is_nonneg(t->im)))
            rc = NUMBER_UNKNOWN;
        mpfi_sqrt(out->re, t->re);
        mpfi_sqrt(t->im, t->im);
        if (upper)
            mpfi_set(out->im, t->im);
        else
            mpfi_neg(out->im, t->im);
    } else {
        mpfi_add(t->re, size->re, t->re);
        mpfi_div_2ui(t->re, t->re, 1);
        mpfi_sqrt(t->re, t->re); /* the larger part */
        mpfi_div(t->im, a->im, t->re);
        mpfi_div_2ui(t->im, t->im, 1);
        if (right) {
            mpfi_set(out->re, t->re);
            mpfi_set(out->im, t->im);
        } else {
            mpfi_abs(out->re, t->im);
            if (upper)
                mpfi_set(out->im, t->re);
            else
                mpfi_neg(out->im, t->re);
        }
    }
    out->real = 0;
    ball_free(c, size);
    ball_free(c, t);
    return rc ? rc : ball_check_range(c, out);
}

int ball_sqrt(struct number_context *c, struct ball *out, const struct ball *a)
{
    int rc = ball_elementary_cost(c);
    if (rc)
        return rc;
    if (!a->real)
        return sqrt_complex(c, out, a);
    if (mpfi_is_nonneg(a->re)) {
        mpfi_sqrt(out->re, a->re);
        out->real = 1;
        return ball_check_range(c, out);
    }
    if (mpfi_is_strictly_neg(a->re)) {
        if (c->real_only)
            return NUMBER_UNDEFINED;
        mpfi_neg(out->im, a->re);
        mpfi_sqrt(out->im, out->im);
        mpfi_set_si(out->re, 0);
        out->real = 0;
        return ball_check_range(c, out);
    }
    /* Around 0, as in sqrt(sqrt 2 sqrt 3 - sqrt 6): [0, sqrt(right)] + [0, sqrt(-left)] i holds the root. */
    struct ball *t = ball_new(c);
    mpfr_neg(&t->im->right, &a->re->left, MPFR_RNDU);
    mpfr_sqrt(&t->im->right, &t->im->right, MPFR_RNDU);
    mpfr_sqrt(&t->re->right, &a->re->right, MPFR_RNDU);
    mpfr_set_zero(&t->im->left, 1);
    mpfr_set_zero(&t->re->left, 1);
    t->real = 0;
    ball_set(out, t);
    ball_free(c, t);
    return ball_check_range(c, out);
}

/* May sine and cosine be computed? Not of huge or wide arguments: the result would mean nothing, and MPFR
 * would need pi to as many bits. */
static int periodic_ready(struct number_context *c, mpfi_srcptr x)
{
    int rc = ball_elementary_cost(c);
    if (rc)
        return rc;
    struct ball t = {.real = 1};
    t.re[0] = x[0];
    if (!ball_below(&t, ARGUMENT_BITS) || !mpfi_bounded_p(x))
        return NUMBER_UNKNOWN;
    struct ball *width = ball_new(c);
    mpfi_diam_abs(&width->re->left, x);
    int narrow = mpfr_cmp_ui(&width->re->left, 1) < 0;
    ball_free(c, width);
    return narrow ? NUMBER_OK : NUMBER_UNKNOWN;
}

/* centre +- error */
static void set_around(mpfi_ptr out, mpfr_srcptr centre, mpfr_srcptr error)
{
    mpfr_sub(&out->left, centre, error, MPFR_RNDD);
    mpfr_add(&out->right, centre, error, MPFR_RNDU);
}

/* Sine and cosine of a real interval from their values at its left end: their slope is at most 1. */
static void sin_cos_real(struct number_context *c, mpfi_ptr sine, mpfi_ptr cosine, mpfi_srcptr x)
{
    struct ball *t = ball_new(c), *u = ball_new(c);
    mpfr_ptr s = &t->re->left, k = &t->im->left, error = &u->re->left, ulp = &u->re->right;
    mpfr_sub(error, &x->right, &x->left, MPFR_RNDU);
    if (mpfr_sin_cos(s, k, &x->left, MPFR_RNDN)) { /* not both exact: half a last bit of at most 1 */
        mpfr_set_ui_2exp(ulp, 1, -c->precision, MPFR_RNDU);
        mpfr_add(error, error, ulp, MPFR_RNDU);
    }
    set_around(sine, s, error);
    set_around(cosine, k, error);
    ball_free(c, t);
    ball_free(c, u);
}

int ball_exp(struct number_context *c, struct ball *out, const struct ball *a)
{
    int rc = ball_elementary_cost(c);
    if (rc)
        return rc;
    if (a->real) {
        mpfi_exp(out->re, a->re);
        out->real = 1;
        return ball_check_range(c, out);
    }
    if ((rc = periodic_ready(c, a->im)))
        return rc;
    struct ball *t = ball_new(c), *size = ball_new(c);
    sin_cos_real(c, t->im, t->re, a->im);
    mpfi_exp(size->re, a->re);
    mpfi_mul(out->re, size->re, t->re);
    mpfi_mul(out->im, size->re, t->im);
    out->real = 0;
    ball_free(c, t);
    ball_free(c, size);
    return ball_check_range(c, out);
}

int ball_log(struct number_context *c, struct ball *out, const struct ball *a)
{
    int rc = ball_elementary_cost(c);
    if (rc)
        return rc;
    if (ball_is_zero(a))
        return NUMBER_UNDEFINED;
    if (ball_has_zero(a))
        return NUMBER_UNKNOWN;
    if (a->real && mpfi_is_strictly_pos(a->re)) {
        mpfi_log(out->re, a->re);
        out->real = 1;
        return ball_check_range(c, out);
    }
    if (a->real && c->real_only)
        return NUMBER_UNDEFINED;
    struct ball *angle = ball_new(c), *size = ball_new(c);
    rc = ball_argument(c, angle, a);
    rc = rc ? rc : ball_abs(c, size, a);
    if (!rc && mpfi_has_zero(size->re))
        rc = NUMBER_UNKNOWN;
    if (!rc) {
        mpfi_log(out->re, size->re);
        mpfi_set(out->im, angle->re);
        out->real = 0;
        rc = ball_check_range(c, out);
    }
    ball_free(c, angle);
    ball_free(c, size);
    return rc;
}

int ball_sin_cos(struct number_context *c, struct ball *sine, struct ball *cosine, const struct ball *a)
{
    int rc = periodic_ready(c, a->re);
    if (rc)
        return rc;
    struct ball *s = ball_new(c), *t = ball_new(c), *h = ball_new(c);
    sin_cos_real(c, s->re, t->re, a->re);
    if (!a->real) { /* sin(x + iy) = sin x cosh y + i cos x sinh y, cos = cos x cosh y - i sin x sinh y */
        mpfi_cosh(h->re, a->im);
        mpfi_sinh(h->im, a->im);
        mpfi_mul(s->im, t->re, h->im);
        mpfi_mul(t->im, s->re, h->im);
        mpfi_neg(t->im, t->im);
        mpfi_mul(s->re, s->re, h->re);
        mpfi_mul(t->re, t->re, h->re);
    }
    s->real = t->real = a->real;
    ball_set(sine, s);
    ball_set(cosine, t);
    ball_free(c, s);
    ball_free(c, t);
    ball_free(c, h);
    rc = ball_check_range(c, sine);
    return rc ? rc : ball_check_range(c, cosine);
}

/* x^n of a real interval. NUMBER_UNKNOWN if it holds 0 and n <= 0. */
static int power_real(struct number_context *c, struct ball *out, const struct ball *a, int64_t n)
{
    if (ball_is_zero(a) && n <= 0)
        return NUMBER_UNDEFINED;
    if (mpfi_has_zero(a->re) && n <= 0)
        return NUMBER_UNKNOWN;
    struct ball *size = ball_new(c), *t = ball_new(c);
    int negative = mpfr_sgn(&a->re->left) < 0, both = negative && mpfr_sgn(&a->re->right) > 0;
    mpfi_abs(size->re, a->re);
    mpfr_srcptr low = n < 0 ? &size->re->right : &size->re->left;
    mpfr_srcptr high = n < 0 ? &size->re->left : &size->re->right;
    mpfr_pow_si(&t->re->left, low, n, MPFR_RNDD);
    mpfr_pow_si(&t->re->right, high, n, MPFR_RNDU);
    if (n % 2 && both) { /* odd and around 0: each end by itself */
        mpfr_pow_si(&t->re->left, &a->re->left, n, MPFR_RNDD);
        mpfr_pow_si(&t->re->right, &a->re->right, n, MPFR_RNDU);
    } else if (n % 2 && negative) {
        mpfi_neg(t->re, t->re);
    }
    ball_set(out, t);
    ball_free(c, size);
    ball_free(c, t);
    return ball_check_range(c, out);
}

/* a^n for an integer n. */
static int power_int(struct number_context *c, struct ball *out, const struct ball *a, int64_t n)
{
    int rc = ball_elementary_cost(c);
    if (rc)
        return rc;
    if (a->real)
        return power_real(c, out, a, n);
    uint64_t e = n < 0 ? -(uint64_t)n : (uint64_t)n;
    struct ball *r = ball_new(c), *b = ball_new(c);
    ball_set_int(r, 1);
    ball_set(b, a);
    for (; e && !rc; e >>= 1) {
        if (e & 1)
            rc = ball_mul(c, r, r, b);
        if (e > 1 && !rc)
            rc = ball_mul(c, b, b, b);
    }
    ball_set_int(b, 1);
    if (!rc && n < 0)
        rc = ball_div(c, r, b, r);
    if (!rc)
        ball_set(out, r);
    ball_free(c, r);
    ball_free(c, b);
    return rc;
}

/* The real q-th root of a nonnegative interval, or of any interval for odd q. The root rises, so each end is
 * rounded by itself. */
static int root_real(struct number_context *c, struct ball *out, const struct ball *a, int64_t q)
{
    struct ball *t = ball_new(c);
    mpfr_rootn_ui(&t->re->left, &a->re->left, (unsigned long)q, MPFR_RNDD);
    mpfr_rootn_ui(&t->re->right, &a->re->right, (unsigned long)q, MPFR_RNDU);
    ball_set(out, t);
    ball_free(c, t);
    return ball_check_range(c, out);
}

int ball_power_ball(struct number_context *c, struct ball *out, const struct ball *base, const struct ball *e)
{
    struct ball *t = ball_new(c);
    int rc = ball_log(c, t, base);
    rc = rc ? rc : ball_mul(c, t, t, e);
    rc = rc ? rc : ball_exp(c, out, t);
    ball_free(c, t);
    return rc;
}

/* base^e for any fraction e, by the logarithm; the real root where ball_power() promises it. */
static int power_by_log(struct number_context *c, struct ball *out, const struct ball *base,
                        struct fraction e)
{
    struct ball *t = ball_new(c), *size = ball_new(c);
    int rc = ball_set_gauss(c, t, gauss_of(e));
    int64_t d = e.big ? (mpz_odd_p(mpq_denref(fraction_mpq(c, e)))) : e.d;
    if (!rc && d % 2 && !c->w->principal_values && ball_sign(base) < 0) { /* real root of odd order */
        ball_neg(size, base);
        rc = ball_power_ball(c, out, size, t);
        int64_t odd = e.big ? mpz_odd_p(mpq_numref(fraction_mpq(c, e))) : e.n;
        if (!rc && odd % 2)
            ball_neg(out, out);
    } else if (!rc) {
        rc = ball_power_ball(c, out, base, t);
    }
    ball_free(c, t);
    ball_free(c, size);
    return rc;
}

int ball_power(struct number_context *c, struct ball *out, const struct ball *base, struct fraction e)
{
    if (ball_is_zero(base)) {
        if (fraction_sign(e) <= 0)
            return NUMBER_UNDEFINED;
        ball_set_int(out, 0);
        return NUMBER_OK;
    }
    if (e.big || e.d > ROOT_MAX)
        return power_by_log(c, out, base, e);
    if (e.d == 1)
        return power_int(c, out, base, e.n);
    if (e.d == 2) {
        int rc = ball_sqrt(c, out, base);
        return rc || e.n == 1 ? rc : power_int(c, out, out, e.n);
    }
    if (base->real && (mpfi_is_nonneg(base->re) || (e.d % 2 && !c->w->principal_values))) {
        int rc = ball_elementary_cost(c);
        rc = rc ? rc : root_real(c, out, base, e.d);
        return rc || e.n == 1 ? rc : power_int(c, out, out, e.n);
    }
    return power_by_log(c, out, base, e);
}
