/* Values of trees (contract: scalar_eval.h): literals, the four operations, powers, sums over integers. */
#include "answer_check/scalar/scalar_eval.h"

#include <string.h>

enum { SUM_TERMS = 100000 };
static const int64_t SUM_BOUND = (int64_t)1 << 61;

void value_set(struct value *out, struct gauss g)
{
    *out = (struct value){1, g, NULL};
}

void value_drop(struct scalar_context *c, struct value *v)
{
    if (!v->exact)
        ball_free(c, v->b);
    v->b = NULL;
}

int value_to_ball(struct scalar_context *c, struct value *v)
{
    if (!v->exact)
        return SCALAR_OK;
    if (!c->precision)
        return SCALAR_INEXACT;
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

typedef int gauss_operation(struct scalar_context *, struct gauss *, struct gauss, struct gauss);
typedef int ball_operation(struct scalar_context *, struct ball *, const struct ball *, const struct ball *);

static int operate(struct scalar_context *c, struct value *out, struct value *a, struct value *b,
                   gauss_operation *exactly, ball_operation *enclosed)
{
    if (a->exact && b->exact) {
        struct gauss g;
        int rc = exactly(c, &g, a->g, b->g);
        if (rc != SCALAR_INEXACT) {
            value_set(out, g);
            return rc;
        }
    }
    int rc = value_to_ball(c, a);
    rc = rc ? rc : value_to_ball(c, b);
    rc = rc ? rc : enclosed(c, a->b, a->b, b->b);
    if (rc)
        return rc;
    value_drop(c, b);
    *out = (struct value){0, a->g, a->b};
    return SCALAR_OK;
}

int value_add(struct scalar_context *c, struct value *out, struct value *a, struct value *b)
{
    return operate(c, out, a, b, gauss_add, ball_add);
}

int value_mul(struct scalar_context *c, struct value *out, struct value *a, struct value *b)
{
    struct value *zero = a->exact && gauss_is_zero(a->g) ? a : b->exact && gauss_is_zero(b->g) ? b : NULL;
    if (zero) { /* exactly nothing, whatever the other one is */
        value_drop(c, a);
        value_drop(c, b);
        value_set(out, gauss_of(fraction_of(0)));
        return SCALAR_OK;
    }
    return operate(c, out, a, b, gauss_mul, ball_mul);
}

int value_div(struct scalar_context *c, struct value *out, struct value *a, struct value *b)
{
    return operate(c, out, a, b, gauss_div, ball_div);
}

static int value_neg(struct scalar_context *c, struct value *v)
{
    if (v->exact)
        return gauss_neg(c, &v->g, v->g);
    ball_neg(v->b, v->b);
    return SCALAR_OK;
}

static int power_of_ten(struct scalar_context *c, struct value *v, int64_t e)
{
    struct value ten, exponent;
    value_set(&ten, gauss_of(fraction_of(10)));
    value_set(&exponent, gauss_of(fraction_of(e)));
    int rc = value_power(c, &ten, &ten, &exponent);
    return rc ? rc : value_mul(c, v, v, &ten);
}

/* The value of a literal of any length. */
static int literal_value(struct scalar_context *c, const struct math_literal *l, struct value *out)
{
    int64_t limit = c->bits, needed = 8 * ((int64_t)l->n + l->decimals) + 64;
    if (c->bits < needed) /* a literal is as long as its text: always exact */
        c->bits = needed;
    struct fraction digits, head, nines;
    int rc = fraction_digits(c, &digits, l->digits, l->n, 10);
    if (!rc && l->period) { /* 0.1(6): (16 - 1) / (10 * 9) */
        rc = l->n > l->period ? fraction_digits(c, &head, l->digits, l->n - l->period, 10) : SCALAR_OK;
        if (l->n <= l->period)
            head = fraction_of(0);
        rc = rc ? rc : fraction_sub(c, &digits, digits, head);
        rc = rc ? rc : fraction_pow(c, &nines, fraction_of(10), l->period);
        rc = rc ? rc : fraction_sub(c, &nines, nines, fraction_of(1));
        rc = rc ? rc : fraction_div(c, &digits, digits, nines);
    }
    int64_t places = (int64_t)l->decimals - l->period;
    if (!rc && places) {
        struct fraction scale;
        rc = fraction_pow(c, &scale, fraction_of(10), -places);
        rc = rc ? rc : fraction_mul(c, &digits, digits, scale);
    }
    c->bits = limit;
    if (rc)
        return rc;
    value_set(out, gauss_of(digits));
    return l->exponent && fraction_sign(digits) ? power_of_ten(c, out, l->exponent) : SCALAR_OK;
}

/* A real base to an exact fraction, exactly; INEXACT when it is not a fraction. */
static int fraction_to_fraction(struct scalar_context *c, struct gauss *out, struct fraction base,
                                struct fraction e)
{
    int64_t integer;
    if (!fraction_sign(base)) {
        *out = gauss_of(fraction_of(0));
        return fraction_sign(e) > 0 ? SCALAR_OK : SCALAR_UNDEFINED;
    }
    out->im = fraction_of(0);
    if (e.big) { /* only 1 and -1 to such a power are not huge */
        if (!fraction_is_integer(e) || fraction_int64(base, &integer) == 0 || (integer != 1 && integer != -1))
            return SCALAR_INEXACT;
        out->re = integer < 0 && mpz_odd_p(mpq_numref(fraction_mpq(c, e))) ? base : fraction_of(1);
        return SCALAR_OK;
    }
    if (e.d == 1)
        return fraction_pow(c, &out->re, base, e.n);
    if (fraction_sign(base) > 0 || e.d % 2) {
        int rc = fraction_root(c, &out->re, base, e.d);
        return rc ? rc : fraction_pow(c, &out->re, out->re, e.n);
    }
    if (c->real_only)
        return SCALAR_UNDEFINED;
    if (e.d != 2)
        return SCALAR_INEXACT;
    int rc = fraction_neg(c, &base, base); /* sqrt(-a) = i sqrt(a) */
    rc = rc ? rc : fraction_root(c, &out->im, base, 2);
    out->re = fraction_of(0);
    return rc ? rc : gauss_pow(c, out, *out, e.n);
}

int value_power(struct scalar_context *c, struct value *out, struct value *base, struct value *e)
{
    struct fraction exponent;
    int has_fraction = value_fraction(e, &exponent), rc;
    if (has_fraction && base->exact) {
        struct gauss g = {0};
        int64_t n;
        if (gauss_is_real(base->g))
            rc = fraction_to_fraction(c, &g, base->g.re, exponent);
        else
            rc = fraction_int64(exponent, &n) ? gauss_pow(c, &g, base->g, n) : SCALAR_INEXACT;
        if (rc != SCALAR_INEXACT) {
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
            rc = ball_sign(e->b) > 0 ? SCALAR_OK : SCALAR_UNKNOWN;
        else
            rc = rc ? rc : ball_power_ball(c, base->b, base->b, e->b);
        value_drop(c, e);
    }
    *out = (struct value){0, base->g, base->b};
    return rc;
}

static int eval_constant(struct scalar_context *c, int which, struct value *out)
{
    if (which == MATH_I) {
        value_set(out, (struct gauss){fraction_of(0), fraction_of(1)});
        return SCALAR_OK;
    }
    if (which != MATH_PI && which != MATH_E)
        return SCALAR_UNKNOWN;
    if (!c->precision)
        return SCALAR_INEXACT;
    int rc = ball_elementary_cost(c);
    if (rc)
        return rc;
    *out = (struct value){0, {{0}, {0}}, ball_new(c)};
    if (which == MATH_PI) {
        mpfi_const_pi(out->b->re);
    } else {
        mpfi_set_si(out->b->re, 1);
        mpfi_exp(out->b->re, out->b->re);
    }
    return SCALAR_OK;
}

static int eval_power(struct scalar_context *c, const struct math_node *m, struct value *out)
{
    struct value base, e;
    if (m->child[0]->kind == MATH_CONSTANT && m->child[0]->which == MATH_E)
        return eval_exponential(c, m->child[1], out);
    int rc = scalar_eval(c, m->child[1], &e);
    rc = rc ? rc : scalar_eval(c, m->child[0], &base);
    return rc ? rc : value_power(c, out, &base, &e);
}

/* Sum or product over an integer variable: every term, so bounds must be near each other. */
static int eval_sum(struct scalar_context *c, const struct math_node *m, struct value *out)
{
    struct value v;
    int64_t from, to;
    if (m->n != 4 || m->child[1]->kind != MATH_SYMBOL)
        return SCALAR_UNKNOWN;
    int rc = scalar_eval(c, m->child[2], &v);
    if (rc || !value_integer(&v, &from))
        return rc ? rc : SCALAR_UNKNOWN;
    rc = scalar_eval(c, m->child[3], &v);
    if (rc || !value_integer(&v, &to))
        return rc ? rc : SCALAR_UNKNOWN;
    if (from < -SUM_BOUND || from > SUM_BOUND || to < -SUM_BOUND || to > SUM_BOUND || to - from > SUM_TERMS)
        return SCALAR_UNKNOWN;
    struct binding b = {m->child[1]->name, gauss_of(fraction_of(0)), c->bound};
    struct value total;
    value_set(&total, gauss_of(fraction_of(m->which == 1)));
    for (int64_t k = from; k <= to && !rc; k++) {
        b.value = gauss_of(fraction_of(k));
        c->bound = &b;
        rc = scalar_eval(c, m->child[0], &v);
        c->bound = b.outer;
        if (!rc)
            rc = m->which == 1 ? value_mul(c, &total, &total, &v) : value_add(c, &total, &total, &v);
    }
    *out = total;
    return rc;
}

static int digit_value(char ch)
{
    if (ch >= '0' && ch <= '9')
        return ch - '0';
    if (ch >= 'a' && ch <= 'z')
        return ch - 'a' + 10;
    return ch >= 'A' && ch <= 'Z' ? ch - 'A' + 10 : 99;
}

/* 1101_2, 2F_{16}, 0.11_2: the digits in that base; a digit that the base lacks makes it undefined. */
static int eval_base(struct scalar_context *c, const struct math_node *m, struct value *out)
{
    struct value v;
    int64_t base;
    if (m->n != 2)
        return SCALAR_UNKNOWN;
    int rc = scalar_eval(c, m->child[1], &v);
    if (rc || !value_integer(&v, &base) || base < 2 || base > 36)
        return rc ? rc : SCALAR_UNKNOWN;
    const struct math_node *d = m->child[0];
    int is_number = d->kind == MATH_NUMBER;
    if ((!is_number && d->kind != MATH_SYMBOL) || (is_number && (d->literal.period || d->literal.exponent)))
        return SCALAR_UNKNOWN;
    const char *digits = is_number ? d->literal.digits : d->name;
    int n = is_number ? d->literal.n : (int)strlen(d->name);
    for (int i = 0; i < n; i++)
        if (digit_value(digits[i]) >= base)
            return SCALAR_UNDEFINED;
    int64_t limit = c->bits;
    if (c->bits < 16 * (int64_t)n)
        c->bits = 16 * (int64_t)n;
    struct fraction value, scale;
    rc = n ? fraction_digits(c, &value, digits, n, (int)base) : SCALAR_UNKNOWN;
    if (!rc && is_number && d->literal.decimals) {
        rc = fraction_pow(c, &scale, fraction_of(base), -d->literal.decimals);
        rc = rc ? rc : fraction_mul(c, &value, value, scale);
    }
    c->bits = limit;
    if (!rc)
        value_set(out, gauss_of(value));
    return rc;
}

static int eval_fold(struct scalar_context *c, const struct math_node *m, struct value *out)
{
    struct value v;
    int rc = scalar_eval(c, m->child[0], out);
    for (int i = 1; i < m->n && !rc; i++) {
        rc = scalar_eval(c, m->child[i], &v);
        if (!rc)
            rc = m->kind == MATH_ADD ? value_add(c, out, out, &v) : value_mul(c, out, out, &v);
    }
    return rc;
}

static int eval_scaled(struct scalar_context *c, const struct math_node *m, struct value *out)
{
    struct value factor;
    int rc;
    if (m->kind == MATH_PERCENT) {
        rc = scalar_eval(c, m->child[0], out);
        value_set(&factor, gauss_of((struct fraction){1, 100, NULL}));
        return rc ? rc : value_mul(c, out, out, &factor);
    }
    rc = eval_degrees(c, m, out);
    rc = rc ? rc : eval_constant(c, MATH_PI, &factor);
    rc = rc ? rc : value_mul(c, out, out, &factor);
    value_set(&factor, gauss_of((struct fraction){1, 180, NULL}));
    return rc ? rc : value_mul(c, out, out, &factor);
}

static int eval_kind(struct scalar_context *c, const struct math_node *m, struct value *out)
{
    struct value b;
    int rc;
    switch (m->kind) {
    case MATH_NUMBER:
        return literal_value(c, &m->literal, out);
    case MATH_CONSTANT:
        return eval_constant(c, m->which, out);
    case MATH_SYMBOL:
        for (const struct binding *s = c->bound; s; s = s->outer)
            if (!strcmp(s->name, m->name)) {
                value_set(out, s->value);
                return SCALAR_OK;
            }
        return SCALAR_UNKNOWN;
    case MATH_ADD:
    case MATH_MULTIPLY:
        return m->n ? eval_fold(c, m, out) : SCALAR_UNKNOWN;
    case MATH_DIVIDE:
        rc = scalar_eval(c, m->child[0], out);
        rc = rc ? rc : scalar_eval(c, m->child[1], &b);
        return rc ? rc : value_div(c, out, out, &b);
    case MATH_POWER:
        return eval_power(c, m, out);
    case MATH_NEGATE:
        rc = scalar_eval(c, m->child[0], out);
        return rc ? rc : value_neg(c, out);
    case MATH_FACTORIAL:
        return eval_factorial(c, m, out);
    case MATH_FUNCTION:
        return eval_function(c, m, out);
    case MATH_SUM:
        return eval_sum(c, m, out);
    case MATH_BASE:
        return eval_base(c, m, out);
    case MATH_PERCENT:
    case MATH_DEGREES:
        return eval_scaled(c, m, out);
    default:
        return SCALAR_UNKNOWN;
    }
}

enum { EVAL_STEPS = 8 }; /* one operation on two numbers takes about as long as reading eight tokens */

int scalar_eval(struct scalar_context *c, const struct math_node *m, struct value *out)
{
    if (!m || math_step(c->w, EVAL_STEPS) || c->depth >= SCALAR_DEPTH)
        return SCALAR_UNKNOWN;
    c->depth++;
    int rc = eval_kind(c, m, out);
    c->depth--;
    return rc;
}

int scalar_exact(struct scalar_context *c, const struct math_node *m, struct gauss *out)
{
    struct value v;
    long precision = c->precision;
    c->precision = 0;
    int rc = scalar_eval(c, m, &v);
    c->precision = precision;
    if (rc)
        return 0;
    *out = v.g;
    return 1;
}
