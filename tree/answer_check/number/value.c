/* Values (contract: value.h): the four operations and powers, exact as long as they can be. */
#include "answer_check/number/value.h"

void value_set(struct value *out, struct gauss g)
{
    *out = (struct value){1, g, NULL};
}

void value_release(struct number_context *c, struct value *v)
{
    if (!v->exact)
        ball_free(c, v->b);
    v->b = NULL;
}

int value_to_ball(struct number_context *c, struct value *v)
{
    if (!v->exact)
        return NUMBER_OK;
    if (!c->precision)
        return NUMBER_INEXACT;
    struct ball *b = ball_new(c);
    int rc = ball_set_gauss(c, b, v->g);
    *v = (struct value){0, v->g, b};
    return rc;
}

int value_fraction(const struct value *v, struct fraction *out)
{
    if (!v->exact || !gauss_is_real(v->g))
        return 0;
    *out = v->g.re;
    return 1;
}

int value_integer(const struct value *v, int64_t *out)
{
    return v->exact && gauss_is_real(v->g) && fraction_int64(v->g.re, out);
}

typedef int gauss_operation(struct number_context *, struct gauss *, struct gauss, struct gauss);
typedef int ball_operation(struct number_context *, struct ball *, const struct ball *, const struct ball *);

/* Applies an operation exactly if both values and the result are exact, else to intervals. */
static int apply_operation(struct number_context *c, struct value *out, struct value *a, struct value *b,
                           gauss_operation *exactly, ball_operation *enclosed)
{
    if (a->exact && b->exact) {
        struct gauss g;
        int rc = exactly(c, &g, a->g, b->g);
        if (rc != NUMBER_INEXACT) {
            value_set(out, g);
            return rc;
        }
    }
    int rc = value_to_ball(c, a);
    rc = rc ? rc : value_to_ball(c, b);
    rc = rc ? rc : enclosed(c, a->b, a->b, b->b);
    if (rc)
        return rc;
    value_release(c, b);
    *out = (struct value){0, a->g, a->b};
    return NUMBER_OK;
}

int value_add(struct number_context *c, struct value *out, struct value *a, struct value *b)
{
    return apply_operation(c, out, a, b, gauss_add, ball_add);
}

int value_mul(struct number_context *c, struct value *out, struct value *a, struct value *b)
{
    struct value *zero = a->exact && gauss_is_zero(a->g) ? a : b->exact && gauss_is_zero(b->g) ? b : NULL;
    if (zero) { /* exactly 0, whatever the other factor is */
        value_release(c, a);
        value_release(c, b);
        value_set(out, gauss_of(fraction_of(0)));
        return NUMBER_OK;
    }
    return apply_operation(c, out, a, b, gauss_mul, ball_mul);
}

int value_div(struct number_context *c, struct value *out, struct value *a, struct value *b)
{
    return apply_operation(c, out, a, b, gauss_div, ball_div);
}

int value_neg(struct number_context *c, struct value *v)
{
    if (v->exact)
        return gauss_neg(c, &v->g, v->g);
    ball_neg(v->b, v->b);
    return NUMBER_OK;
}

/* A real base to the power of a fraction. NUMBER_INEXACT if the result is no Gaussian fraction. */
static int fraction_to_fraction(struct number_context *c, struct gauss *out, struct fraction base,
                                struct fraction e)
{
    int64_t integer;
    if (!fraction_sign(base)) {
        *out = gauss_of(fraction_of(0));
        return fraction_sign(e) > 0 ? NUMBER_OK : NUMBER_UNDEFINED;
    }
    out->im = fraction_of(0);
    if (e.big) { /* only 1 and -1 have a power of this size that is not huge */
        if (!fraction_is_integer(e) || fraction_int64(base, &integer) == 0 || (integer != 1 && integer != -1))
            return NUMBER_INEXACT;
        out->re = integer < 0 && mpz_odd_p(mpq_numref(fraction_mpq(c, e))) ? base : fraction_of(1);
        return NUMBER_OK;
    }
    if (e.d == 1)
        return fraction_pow(c, &out->re, base, e.n);
    if (fraction_sign(base) > 0 || (e.d % 2 && !c->w->principal_values)) {
        int rc = fraction_root(c, &out->re, base, e.d);
        return rc ? rc : fraction_pow(c, &out->re, out->re, e.n);
    }
    if (c->real_only)
        return NUMBER_UNDEFINED;
    if (e.d != 2)
        return NUMBER_INEXACT;
    int rc = fraction_neg(c, &base, base); /* sqrt(-a) = i sqrt(a) */
    rc = rc ? rc : fraction_root(c, &out->im, base, 2);
    out->re = fraction_of(0);
    return rc ? rc : gauss_pow(c, out, *out, e.n);
}

int value_power(struct number_context *c, struct value *out, struct value *base, struct value *e)
{
    struct fraction exponent;
    int has_fraction = value_fraction(e, &exponent), rc;
    if (has_fraction && base->exact) {
        struct gauss g = {0};
        int64_t n;
        if (gauss_is_real(base->g))
            rc = fraction_to_fraction(c, &g, base->g.re, exponent);
        else
            rc = fraction_int64(exponent, &n) ? gauss_pow(c, &g, base->g, n) : NUMBER_INEXACT;
        if (rc != NUMBER_INEXACT) {
            value_set(out, g);
            return rc;
        }
    }
    rc = value_to_ball(c, base);
    if (rc)
        return rc;
    if (has_fraction) {
        rc = ball_power(c, base->b, base->b, exponent);
    } else {
        rc = value_to_ball(c, e);
        if (!rc && ball_is_zero(base->b))
            rc = ball_sign(e->b) > 0 ? NUMBER_OK : NUMBER_UNKNOWN;
        else
            rc = rc ? rc : ball_power_ball(c, base->b, base->b, e->b);
        value_release(c, e);
    }
    *out = (struct value){0, base->g, base->b};
    return rc;
}
