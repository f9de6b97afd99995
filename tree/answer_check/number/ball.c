/* Complex interval arithmetic: storage, the four operations, signs and sizes (contract: ball.h). */
#include "answer_check/number/ball.h"

#include <limits.h>

enum {
    WIDE = 900,
    UNDERFLOW = -100000
}; /* bits of exponent beyond which equality is never concluded from small intervals */

struct ball *ball_new(struct number_context *c)
{
    struct ball *b = c->free_balls;
    if (b) {
        c->free_balls = b->next_free;
    } else {
        b = arena_alloc(c->w->arena, sizeof *b);
        mpfi_init2(b->re, c->precision);
        mpfi_init2(b->im, c->precision);
        b->next = c->balls;
        c->balls = b;
    }
    if ((long)mpfi_get_prec(b->re) != c->precision) {
        mpfi_set_prec(b->re, c->precision);
        mpfi_set_prec(b->im, c->precision);
    }
    b->real = 1;
    return b;
}

void ball_free(struct number_context *c, struct ball *b)
{
    if (!b)
        return;
    b->next_free = c->free_balls;
    c->free_balls = b;
}

void ball_close(struct number_context *c)
{
    for (struct ball *b = c->balls; b; b = b->next) {
        mpfi_clear(b->re);
        mpfi_clear(b->im);
    }
    c->balls = c->free_balls = NULL;
}

/* Takes the steps of one operation on intervals. */
static int operation_cost(struct number_context *c)
{
    return math_step(c->w, 6 + c->precision / 24) ? NUMBER_UNKNOWN : NUMBER_OK;
}

int ball_elementary_cost(struct number_context *c)
{
    return math_step(c->w, 100 + 5 * c->precision) ? NUMBER_UNKNOWN : NUMBER_OK;
}

static int endpoint_is_wide(mpfr_srcptr x)
{
    return mpfr_regular_p(x) && (mpfr_get_exp(x) > WIDE || mpfr_get_exp(x) < -WIDE);
}

/* Is the number itself wide? An interval around 0 may be narrow only because of the precision. */
static int part_is_wide(mpfi_srcptr x)
{
    if (mpfi_has_zero(x))
        return mpfr_regular_p(&x->right) && mpfr_get_exp(&x->right) > WIDE;
    return endpoint_is_wide(&x->left) || endpoint_is_wide(&x->right);
}

/* Has the number underflowed? e^(-10^20) is [0, smallest], below any end that rounding alone produces. */
static int part_underflowed(mpfi_srcptr x)
{
    return mpfi_has_zero(x) && ((mpfr_regular_p(&x->right) && mpfr_get_exp(&x->right) < UNDERFLOW) ||
                                (mpfr_regular_p(&x->left) && mpfr_get_exp(&x->left) < UNDERFLOW));
}

int ball_check_range(struct number_context *c, struct ball *b)
{
    if (!b->real && mpfr_zero_p(&b->im->left) && mpfr_zero_p(&b->im->right))
        b->real = 1;
    if (!mpfi_bounded_p(b->re) || (!b->real && !mpfi_bounded_p(b->im))) {
        c->huge = 1;
        return NUMBER_UNKNOWN;
    }
    if (part_is_wide(b->re) || (!b->real && part_is_wide(b->im)))
        c->wide = 1;
    if (part_underflowed(b->re) || (!b->real && part_underflowed(b->im)))
        c->wide = c->huge = 1;
    return NUMBER_OK;
}

void ball_set(struct ball *out, const struct ball *a)
{
    mpfi_set(out->re, a->re);
    if (!a->real)
        mpfi_set(out->im, a->im);
    out->real = a->real;
}

void ball_set_int(struct ball *out, long n)
{
    mpfi_set_si(out->re, n);
    out->real = 1;
}

static void set_fraction(struct number_context *c, mpfi_ptr out, struct fraction f)
{
    if (f.big) {
        mpfi_set_q(out, fraction_mpq(c, f));
        return;
    }
    mpfi_set_si(out, f.n);
    if (f.d != 1)
        mpfi_div_si(out, out, f.d);
}

int ball_set_gauss(struct number_context *c, struct ball *out, struct gauss g)
{
    int rc = operation_cost(c);
    if (rc)
        return rc;
    set_fraction(c, out->re, g.re);
    out->real = gauss_is_real(g);
    if (!out->real)
        set_fraction(c, out->im, g.im);
    return ball_check_range(c, out);
}

void ball_neg(struct ball *out, const struct ball *a)
{
    mpfi_neg(out->re, a->re);
    if (!a->real)
        mpfi_neg(out->im, a->im);
    out->real = a->real;
}

void ball_times_i(struct ball *out, const struct ball *a)
{
    if (out != a)
        ball_set(out, a);
    if (out->real)
        mpfi_set_si(out->im, 0);
    mpfi_swap(out->re, out->im);
    mpfi_neg(out->re, out->re);
    out->real = 0;
}

int ball_add(struct number_context *c, struct ball *out, const struct ball *a, const struct ball *b)
{
    int rc = operation_cost(c);
    if (rc)
        return rc;
    mpfi_add(out->re, a->re, b->re);
    if (!a->real && !b->real)
        mpfi_add(out->im, a->im, b->im);
    else if (!a->real || !b->real)
        mpfi_set(out->im, a->real ? b->im : a->im);
    out->real = a->real && b->real;
    return ball_check_range(c, out);
}

int ball_sub(struct number_context *c, struct ball *out, const struct ball *a, const struct ball *b)
{
    struct ball *t = ball_new(c);
    ball_neg(t, b);
    int rc = ball_add(c, out, a, t);
    ball_free(c, t);
    return rc;
}

/* out = a times a real factor. */
static void scale_ball(struct ball *out, const struct ball *a, mpfi_srcptr factor)
{
    struct ball copy;
    int aliased = factor == out->re;
    if (aliased) { /* out is the real factor itself */
        mpfi_init2(copy.re, mpfi_get_prec(factor));
        mpfi_set(copy.re, factor);
        factor = copy.re;
    }
    mpfi_mul(out->re, a->re, factor);
    if (!a->real)
        mpfi_mul(out->im, a->im, factor);
    out->real = a->real;
    if (aliased)
        mpfi_clear(copy.re);
}

int ball_mul(struct number_context *c, struct ball *out, const struct ball *a, const struct ball *b)
{
    int rc = operation_cost(c);
    if (rc)
        return rc;
    if (a->real && b->real) {
        mpfi_mul(out->re, a->re, b->re);
        out->real = 1;
        return ball_check_range(c, out);
    }
    if (a->real || b->real) {
        scale_ball(out, a->real ? b : a, a->real ? a->re : b->re);
        return ball_check_range(c, out);
    }
    struct ball *s = ball_new(c), *t = ball_new(c);
    mpfi_mul(s->re, a->re, b->re);
    mpfi_mul(s->im, a->im, b->im);
    mpfi_mul(t->re, a->re, b->im);
    mpfi_mul(t->im, a->im, b->re);
    mpfi_sub(out->re, s->re, s->im);
    mpfi_add(out->im, t->re, t->im);
    out->real = 0;
    ball_free(c, s);
    ball_free(c, t);
    return ball_check_range(c, out);
}

int ball_is_zero(const struct ball *a)
{
    return a->real && mpfr_zero_p(&a->re->left) && mpfr_zero_p(&a->re->right);
}

int ball_has_zero(const struct ball *a)
{
    return mpfi_has_zero(a->re) && (a->real || mpfi_has_zero(a->im));
}

int ball_div(struct number_context *c, struct ball *out, const struct ball *a, const struct ball *b)
{
    int rc = operation_cost(c);
    if (rc)
        return rc;
    if (ball_is_zero(b))
        return NUMBER_UNDEFINED;
    if (ball_has_zero(b))
        return NUMBER_UNKNOWN;
    if (a->real && b->real) {
        mpfi_div(out->re, a->re, b->re);
        out->real = 1;
        return ball_check_range(c, out);
    }
    /* a / b = a conj(b) / |b|^2 */
    struct ball *conjugate = ball_new(c), *norm = ball_new(c);
    ball_set(conjugate, b);
    mpfi_sqr(norm->re, b->re);
    if (!b->real) {
        mpfi_neg(conjugate->im, b->im);
        mpfi_sqr(norm->im, b->im);
        mpfi_add(norm->re, norm->re, norm->im);
    }
    rc = ball_mul(c, out, a, conjugate);
    if (!rc && mpfi_has_zero(norm->re))
        rc = NUMBER_UNKNOWN;
    if (!rc) {
        mpfi_div(out->re, out->re, norm->re);
        if (!out->real)
            mpfi_div(out->im, out->im, norm->re);
        rc = ball_check_range(c, out);
    }
    ball_free(c, conjugate);
    ball_free(c, norm);
    return rc;
}

int ball_sign(const struct ball *a)
{
    if (!a->real || mpfi_has_zero(a->re))
        return 0;
    return mpfr_sgn(&a->re->left) > 0 ? 1 : -1;
}

/* The least e with |x| < 2^e in the whole interval; LONG_MIN for 0. */
static long part_exponent(mpfi_srcptr x)
{
    long e = LONG_MIN;
    if (mpfr_regular_p(&x->left))
        e = mpfr_get_exp(&x->left);
    if (mpfr_regular_p(&x->right) && mpfr_get_exp(&x->right) > e)
        e = mpfr_get_exp(&x->right);
    return e;
}

long ball_exponent(const struct ball *a)
{
    long e = part_exponent(a->re), f = a->real ? LONG_MIN : part_exponent(a->im);
    return e > f ? e : f;
}

int ball_below(const struct ball *a, long exponent)
{
    return ball_exponent(a) <= exponent;
}
