/* The values of trees (contract: scalar_eval.h): literals, constants, sums over integers and the rest by kind
 * of node. */
#include "answer_check/scalar/scalar_eval.h"

#include <string.h>

enum { SUM_TERMS = 100000 };
static const int64_t SUM_BOUND = (int64_t)1 << 61;

/* Multiplies *v by 10^e. */
static int power_of_ten(struct number_context *c, struct value *v, int64_t e)
{
    struct value ten, exponent;
    value_set(&ten, gauss_of(fraction_of(10)));
    value_set(&exponent, gauss_of(fraction_of(e)));
    int rc = value_power(c, &ten, &ten, &exponent);
    return rc ? rc : value_mul(c, v, v, &ten);
}

/* The value of a literal of any length. */
static int literal_value(struct number_context *c, const struct math_literal *l, struct value *out)
{
    int64_t limit = c->bits, needed = 8 * ((int64_t)l->n + l->decimals) + 64;
    if (c->bits < needed) /* a literal is as long as its text: always exact */
        c->bits = needed;
    struct fraction digits, head, nines;
    int rc = fraction_digits(c, &digits, l->digits, l->n, 10);
    if (!rc && l->period) { /* 0.1(6): (16 - 1) / (10 * 9) */
        rc = l->n > l->period ? fraction_digits(c, &head, l->digits, l->n - l->period, 10) : NUMBER_OK;
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
    return l->exponent && fraction_sign(digits) ? power_of_ten(c, out, l->exponent) : NUMBER_OK;
}

static int eval_constant(struct number_context *c, int which, struct value *out)
{
    if (which == MATH_I) {
        value_set(out, (struct gauss){fraction_of(0), fraction_of(1)});
        return NUMBER_OK;
    }
    if (which != MATH_PI && which != MATH_E)
        return NUMBER_UNKNOWN;
    if (!c->precision)
        return NUMBER_INEXACT;
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
    return NUMBER_OK;
}

static int eval_power(struct number_context *c, const struct math_node *m, struct value *out)
{
    struct value base, e;
    if (m->child[0]->kind == MATH_CONSTANT && m->child[0]->which == MATH_E)
        return eval_exponential(c, m->child[1], out);
    int rc = scalar_eval(c, m->child[1], &e);
    rc = rc ? rc : scalar_eval(c, m->child[0], &base);
    return rc ? rc : value_power(c, out, &base, &e);
}

/* Sum or product over an integer variable: every term, so bounds must be near each other. */
static int eval_sum(struct number_context *c, const struct math_node *m, struct value *out)
{
    struct value v;
    int64_t from, to;
    if (m->n != 4 || m->child[1]->kind != MATH_SYMBOL || m->which == MATH_INTEGRAL)
        return NUMBER_UNKNOWN;
    int rc = scalar_eval(c, m->child[2], &v);
    if (rc || !value_integer(&v, &from))
        return rc ? rc : NUMBER_UNKNOWN;
    rc = scalar_eval(c, m->child[3], &v);
    if (rc || !value_integer(&v, &to))
        return rc ? rc : NUMBER_UNKNOWN;
    if (from < -SUM_BOUND || from > SUM_BOUND || to < -SUM_BOUND || to > SUM_BOUND || to - from > SUM_TERMS)
        return NUMBER_UNKNOWN;
    struct binding b = {m->child[1]->name, gauss_of(fraction_of(0)), c->bound};
    struct value total;
    value_set(&total, gauss_of(fraction_of(m->which == MATH_PRODUCT)));
    for (int64_t k = from; k <= to && !rc; k++) {
        b.value = gauss_of(fraction_of(k));
        c->bound = &b;
        rc = scalar_eval(c, m->child[0], &v);
        c->bound = b.outer;
        if (!rc)
            rc = m->which == MATH_PRODUCT ? value_mul(c, &total, &total, &v)
                                          : value_add(c, &total, &total, &v);
    }
    *out = total;
    return rc;
}

/* The value of a digit in any base up to 36; 99 for other characters. */
static int digit_value(char ch)
{
    if (ch >= '0' && ch <= '9')
        return ch - '0';
    if (ch >= 'a' && ch <= 'z')
        return ch - 'a' + 10;
    return ch >= 'A' && ch <= 'Z' ? ch - 'A' + 10 : 99;
}

/* 1101_2, 2F_{16}, 0.11_2: the digits in that base; a digit that the base lacks makes it undefined. */
static int eval_base(struct number_context *c, const struct math_node *m, struct value *out)
{
    struct value v;
    int64_t base;
    if (m->n != 2)
        return NUMBER_UNKNOWN;
    int rc = scalar_eval(c, m->child[1], &v);
    if (rc || !value_integer(&v, &base) || base < 2 || base > 36)
        return rc ? rc : NUMBER_UNKNOWN;
    const struct math_node *d = m->child[0];
    int is_number = d->kind == MATH_NUMBER;
    if ((!is_number && d->kind != MATH_SYMBOL) || (is_number && (d->literal.period || d->literal.exponent)))
        return NUMBER_UNKNOWN;
    const char *digits = is_number ? d->literal.digits : d->name;
    int n = is_number ? d->literal.n : (int)strlen(d->name);
    for (int i = 0; i < n; i++)
        if (digit_value(digits[i]) >= base)
            return NUMBER_UNDEFINED;
    int64_t limit = c->bits;
    if (c->bits < 16 * (int64_t)n)
        c->bits = 16 * (int64_t)n;
    struct fraction value, scale;
    rc = n ? fraction_digits(c, &value, digits, n, (int)base) : NUMBER_UNKNOWN;
    if (!rc && is_number && d->literal.decimals) {
        rc = fraction_pow(c, &scale, fraction_of(base), -d->literal.decimals);
        rc = rc ? rc : fraction_mul(c, &value, value, scale);
    }
    c->bits = limit;
    if (!rc)
        value_set(out, gauss_of(value));
    return rc;
}

/* A sum or product. */
static int eval_fold(struct number_context *c, const struct math_node *m, struct value *out)
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

/* A percentage, or an angle in degrees as a number of radians. */
static int eval_scaled(struct number_context *c, const struct math_node *m, struct value *out)
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

static int eval_kind(struct number_context *c, const struct math_node *m, struct value *out)
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
                return NUMBER_OK;
            }
        return NUMBER_UNKNOWN;
    case MATH_ADD:
    case MATH_MULTIPLY:
        return m->n ? eval_fold(c, m, out) : NUMBER_UNKNOWN;
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
        return NUMBER_UNKNOWN;
    }
}

enum { EVAL_STEPS = 8 }; /* one operation on two numbers takes about as long as reading eight tokens */

int scalar_eval(struct number_context *c, const struct math_node *m, struct value *out)
{
    if (!m || math_step(c->w, EVAL_STEPS) || c->depth >= SCALAR_DEPTH)
        return NUMBER_UNKNOWN;
    c->depth++;
    int rc = eval_kind(c, m, out);
    c->depth--;
    return rc;
}

int scalar_exact(struct number_context *c, const struct math_node *m, struct gauss *out)
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
