/* Values of functions (contract: scalar_eval.h): roots, logarithms, rounding and number theory exactly where
 * that is possible, everything else by intervals. */
#include "answer_check/scalar/scalar_eval.h"

#include <math.h>

enum { LOG_DENOMINATORS = 6, GAMMA_MAX = 1 << 30 };

/* The floor of a value, or with `up` its ceiling. An interval must lie between two integers. */
static int eval_round(struct number_context *c, struct value *v, int up)
{
    struct fraction f;
    int rc;
    if (value_fraction(v, &f)) {
        rc = up ? fraction_neg(c, &f, f) : NUMBER_OK;
        rc = rc ? rc : fraction_floor(c, &f, f);
        rc = rc || !up ? rc : fraction_neg(c, &f, f);
        value_set(v, gauss_of(f));
        return rc;
    }
    if (v->exact || !v->b->real || !ball_below(v->b, NUMBER_BITS))
        return NUMBER_UNKNOWN;
    struct ball *t = ball_new(c);
    mpfr_rint(&t->re->left, &v->b->re->left, up ? MPFR_RNDU : MPFR_RNDD);
    mpfr_rint(&t->re->right, &v->b->re->right, up ? MPFR_RNDU : MPFR_RNDD);
    int known = mpfr_equal_p(&t->re->left, &t->re->right) && mpfr_integer_p(&t->re->left);
    if (known) {
        struct fraction r = {0};
        mpq_ptr q = fraction_scratch(c, &r);
        mpfr_get_z(mpq_numref(q), &t->re->left, MPFR_RNDN);
        mpz_set_ui(mpq_denref(q), 1);
        known = !fraction_normalise(c, &r);
        value_release(c, v);
        value_set(v, gauss_of(r));
    }
    ball_free(c, t);
    return known ? NUMBER_OK : NUMBER_UNKNOWN;
}

static int eval_sign(struct number_context *c, struct value *v)
{
    struct fraction f;
    int sign = 0;
    if (value_fraction(v, &f))
        sign = fraction_sign(f);
    else if (v->exact || !(sign = ball_sign(v->b)))
        return NUMBER_UNKNOWN;
    value_release(c, v);
    value_set(v, gauss_of(fraction_of(sign)));
    return NUMBER_OK;
}

/* |z|, Re, Im, conjugate or angle of an exact number. NUMBER_INEXACT if the result can only be an interval.
 */
static int exact_complex(struct number_context *c, enum math_function f, struct gauss *g)
{
    struct fraction t;
    int rc = NUMBER_OK;
    switch (f) {
    case MATH_ABS:
        if (gauss_is_real(*g))
            return fraction_sign(g->re) < 0 ? fraction_neg(c, &g->re, g->re) : NUMBER_OK;
        rc = fraction_mul(c, &g->re, g->re, g->re);
        rc = rc ? rc : fraction_mul(c, &t, g->im, g->im);
        rc = rc ? rc : fraction_add(c, &g->re, g->re, t);
        g->im = fraction_of(0);
        return rc ? rc : fraction_root(c, &g->re, g->re, 2);
    case MATH_REAL:
    case MATH_IMAGINARY:
        *g = gauss_of(f == MATH_REAL ? g->re : g->im);
        return NUMBER_OK;
    case MATH_CONJUGATE:
        return fraction_neg(c, &g->im, g->im);
    default: /* the angle */
        if (gauss_is_zero(*g))
            return NUMBER_UNDEFINED;
        if (!gauss_is_real(*g) || fraction_sign(g->re) < 0)
            return NUMBER_INEXACT;
        *g = gauss_of(fraction_of(0));
        return NUMBER_OK;
    }
}

/* Functions of one argument whose value is exact for some exact arguments. */
static int eval_unary(struct number_context *c, const struct math_node *m, struct value *out)
{
    enum math_function f = m->which;
    int rc = scalar_eval(c, m->child[0], out);
    if (rc)
        return rc;
    if (f == MATH_FLOOR || f == MATH_CEILING)
        return eval_round(c, out, f == MATH_CEILING);
    if (f == MATH_SIGN)
        return eval_sign(c, out);
    if (out->exact && (f == MATH_ABS || f >= MATH_REAL)) {
        struct gauss g = out->g;
        rc = exact_complex(c, f, &g);
        if (rc != NUMBER_INEXACT) {
            value_set(out, g);
            return rc;
        }
    }
    if (out->exact && f == MATH_LN && gauss_equal(c, out->g, gauss_of(fraction_of(1)))) {
        value_set(out, gauss_of(fraction_of(0)));
        return NUMBER_OK;
    }
    rc = value_to_ball(c, out);
    return rc ? rc : ball_function(c, out->b, f, out->b);
}

/* The logarithm of a positive fraction as a floating-point number. */
static double rough_log(struct number_context *c, struct fraction f)
{
    if (!f.big)
        return log((double)f.n) - log((double)f.d);
    long n, d;
    mpq_srcptr q = fraction_mpq(c, f);
    double x = mpz_get_d_2exp(&n, mpq_numref(q)), y = mpz_get_d_2exp(&d, mpq_denref(q));
    return log(x) - log(y) + (double)(n - d) * 0.6931471805599453;
}

/* The logarithm of x to a base if it is a fraction p/q, where base^p = x^q. Tried for q up to 6. */
static int exact_log(struct number_context *c, struct fraction x, struct fraction base, struct fraction *out)
{
    if (fraction_sign(x) <= 0 || fraction_sign(base) <= 0)
        return 0;
    double ratio = rough_log(c, x) / rough_log(c, base);
    if (!(fabs(ratio) < NUMBER_BITS))
        return 0;
    for (int64_t q = 1; q <= LOG_DENOMINATORS; q++) {
        struct fraction left, right;
        double p = nearbyint(ratio * (double)q);
        if (fabs(ratio * (double)q - p) > 1e-6)
            continue;
        if (!fraction_pow(c, &left, base, (int64_t)p) && !fraction_pow(c, &right, x, q) &&
            !fraction_compare(c, left, right))
            return !fraction_ratio(c, out, (int64_t)p, q);
    }
    return 0;
}

static int eval_log(struct number_context *c, const struct math_node *m, struct value *out)
{
    struct value x, base;
    struct fraction a, b, r;
    int rc = scalar_eval(c, m->child[0], &x);
    rc = rc ? rc : scalar_eval(c, m->child[1], &base);
    if (rc)
        return rc;
    if (value_fraction(&x, &a) && value_fraction(&base, &b)) {
        if (fraction_sign(b) <= 0 || !fraction_compare(c, b, fraction_of(1)))
            return NUMBER_UNDEFINED; /* such a base has no logarithms */
        if (exact_log(c, a, b, &r)) {
            value_set(out, gauss_of(r));
            return NUMBER_OK;
        }
    }
    rc = value_to_ball(c, &x);
    rc = rc ? rc : value_to_ball(c, &base);
    rc = rc ? rc : ball_log(c, x.b, x.b);
    rc = rc ? rc : ball_log(c, base.b, base.b);
    *out = x;
    return rc ? rc : value_div(c, out, &x, &base);
}

/* sqrt, and roots of any exact order */
static int eval_root(struct number_context *c, const struct math_node *m, struct value *out)
{
    struct value base, e;
    value_set(&e, gauss_of((struct fraction){1, 2, NULL}));
    int rc = scalar_eval(c, m->child[0], &base);
    if (!rc && m->n > 1) {
        struct value order;
        value_set(&e, gauss_of(fraction_of(1)));
        rc = scalar_eval(c, m->child[1], &order);
        rc = rc ? rc : value_div(c, &e, &e, &order);
    }
    return rc ? rc : value_power(c, out, &base, &e);
}

/* ln n! for an n whose factorial is too large to be written out. */
static int log_factorial(struct number_context *c, struct value *v, int64_t n)
{
    if (!c->precision || n > GAMMA_MAX)
        return c->precision ? NUMBER_UNKNOWN : NUMBER_INEXACT;
    int rc = ball_elementary_cost(c);
    rc = rc ? rc : ball_elementary_cost(c);
    if (rc)
        return rc;
    struct ball *b = ball_new(c), *arg = ball_new(c);
    mpfi_set_si(arg->re, n + 1);
    mpfr_lngamma(&b->re->left, &arg->re->left, MPFR_RNDD);
    mpfr_lngamma(&b->re->right, &arg->re->right, MPFR_RNDU);
    ball_free(c, arg);
    *v = (struct value){0, v->g, b};
    return ball_check_range(c, b);
}

/* n! as an interval. */
static int factorial_ball(struct number_context *c, struct value *v, int64_t n)
{
    int rc = log_factorial(c, v, n);
    return rc ? rc : ball_exp(c, v->b, v->b);
}

/* ln of a factorial that may be beyond every range. */
static int eval_log_factorial(struct number_context *c, const struct math_node *m, struct value *out)
{
    int64_t n;
    int rc = scalar_eval(c, m->child[0], out);
    if (rc)
        return rc;
    return value_integer(out, &n) && n > 1 ? log_factorial(c, out, n) : NUMBER_UNKNOWN;
}

int eval_factorial(struct number_context *c, const struct math_node *m, struct value *out)
{
    struct fraction f;
    int64_t n;
    int rc = scalar_eval(c, m->child[0], out);
    if (rc)
        return rc;
    if (!value_fraction(out, &f) || !fraction_int64(f, &n))
        return NUMBER_UNKNOWN;
    int step = m->which == 2 ? 2 : 1;
    rc = fraction_factorial(c, &f, n, step);
    if (rc == NUMBER_INEXACT)
        return step == 1 ? factorial_ball(c, out, n) : c->precision ? NUMBER_UNKNOWN : rc;
    value_set(out, gauss_of(f));
    return rc;
}

static int eval_binomial(struct number_context *c, const struct math_node *m, struct value *out)
{
    struct value v;
    struct fraction n, r;
    int64_t k;
    int rc = scalar_eval(c, m->child[0], out);
    rc = rc ? rc : scalar_eval(c, m->child[1], &v);
    if (rc || !value_fraction(out, &n) || !value_integer(&v, &k))
        return rc ? rc : NUMBER_UNKNOWN;
    rc = fraction_binomial(c, &r, n, k);
    value_set(out, gauss_of(r));
    return rc;
}

/* gcd and lcm of integers, a mod n of fractions */
static int eval_integers(struct number_context *c, const struct math_node *m, struct value *out)
{
    struct value v;
    struct fraction r = {0}, f, g;
    for (int i = 0; i < m->n; i++) {
        int rc = scalar_eval(c, m->child[i], &v);
        if (rc || !value_fraction(&v, &f) || (m->which != MATH_MOD && !fraction_is_integer(f)))
            return rc ? rc : NUMBER_UNKNOWN;
        if (!i) {
            r = f;
            continue;
        }
        if (m->which == MATH_MOD) { /* r - f floor(r/f) */
            rc = fraction_div(c, &g, r, f);
            rc = rc ? rc : fraction_floor(c, &g, g);
            rc = rc ? rc : fraction_mul(c, &g, g, f);
            rc = rc ? rc : fraction_sub(c, &r, r, g);
        } else {
            rc = fraction_gcd(c, &g, r, f);
            if (!rc && m->which == MATH_LCM && fraction_sign(g)) {
                rc = fraction_div(c, &r, r, g);
                rc = rc ? rc : fraction_mul(c, &r, r, f);
            } else {
                r = g;
            }
        }
        if (rc)
            return rc;
    }
    if (m->which != MATH_MOD && fraction_sign(r) < 0 && fraction_neg(c, &r, r))
        return NUMBER_UNKNOWN;
    value_set(out, gauss_of(r));
    return NUMBER_OK;
}

/* The smaller or larger of two real values; for intervals, of each end. */
static int pick_extremum(struct number_context *c, enum math_function f, struct value *a, struct value *b)
{
    struct fraction x, y;
    if (value_fraction(a, &x) && value_fraction(b, &y)) {
        int order = fraction_compare(c, x, y);
        if (f == MATH_MIN ? order > 0 : order < 0)
            *a = *b;
        return NUMBER_OK;
    }
    int rc = value_to_ball(c, a);
    rc = rc ? rc : value_to_ball(c, b);
    if (rc || !a->b->real || !b->b->real)
        return rc ? rc : NUMBER_UNKNOWN;
    if (f == MATH_MIN) {
        mpfr_min(&a->b->re->left, &a->b->re->left, &b->b->re->left, MPFR_RNDD);
        mpfr_min(&a->b->re->right, &a->b->re->right, &b->b->re->right, MPFR_RNDU);
    } else {
        mpfr_max(&a->b->re->left, &a->b->re->left, &b->b->re->left, MPFR_RNDD);
        mpfr_max(&a->b->re->right, &a->b->re->right, &b->b->re->right, MPFR_RNDU);
    }
    value_release(c, b);
    return NUMBER_OK;
}

/* The smallest or largest of the arguments. */
static int eval_choice(struct number_context *c, const struct math_node *m, struct value *out)
{
    struct value v;
    int rc = scalar_eval(c, m->child[0], out);
    for (int i = 1; i < m->n && !rc; i++) {
        rc = scalar_eval(c, m->child[i], &v);
        rc = rc ? rc : pick_extremum(c, m->which, out, &v);
    }
    return rc;
}

int eval_function(struct number_context *c, const struct math_node *m, struct value *out)
{
    if (!m->n)
        return NUMBER_UNKNOWN;
    switch (m->which) {
    case MATH_SQRT:
        return eval_root(c, m, out);
    case MATH_LOG:
        return m->n == 2 ? eval_log(c, m, out) : NUMBER_UNKNOWN;
    case MATH_SIN:
    case MATH_COS:
    case MATH_TAN:
    case MATH_COT:
    case MATH_SEC:
    case MATH_CSC:
        return m->n == 1 ? eval_trigonometric(c, m, out) : NUMBER_UNKNOWN;
    case MATH_EXP:
        return eval_exponential(c, m->child[0], out);
    case MATH_LN:
        if (m->child[0]->kind == MATH_FACTORIAL && m->child[0]->which != 2)
            return eval_log_factorial(c, m->child[0], out);
        return eval_unary(c, m, out);
    case MATH_BINOMIAL:
        return m->n == 2 ? eval_binomial(c, m, out) : NUMBER_UNKNOWN;
    case MATH_GCD:
    case MATH_LCM:
        return eval_integers(c, m, out);
    case MATH_MOD:
        return m->n == 2 ? eval_integers(c, m, out) : NUMBER_UNKNOWN;
    case MATH_MIN:
    case MATH_MAX:
        return eval_choice(c, m, out);
    default:
        return m->n == 1 ? eval_unary(c, m, out) : NUMBER_UNKNOWN;
    }
}
