/* Normal forms of expressions (contract: scalar_form.h). */
#include "answer_check/scalar/scalar_form.h"

#include <string.h>

#include "answer_check/scalar/scalar_build.h"
#include "answer_check/scalar/scalar_eval.h"

enum { POWER_MAX = 200, TRIAL_MAX = 2048, UNORDERED_MAX = 64, SUM_BOUND = 1 << 30 };

void form_open(struct form_space *s, struct number_context *c)
{
    memset(s, 0, sizeof *s);
    s->ring.c = c;
}

/* Are the children the same, in any order for sums and products? */
static int same_children(struct math_work *w, const struct math_node *a, const struct math_node *b)
{
    unsigned char taken[UNORDERED_MAX] = {0};
    int unordered = (a->kind == MATH_ADD || a->kind == MATH_MULTIPLY) && a->n <= UNORDERED_MAX;
    for (int i = 0; i < a->n; i++) {
        int found = 0;
        for (int j = unordered ? 0 : i; j < (unordered ? a->n : i + 1) && !found; j++)
            if (!(unordered && taken[j]) && scalar_same_tree(w, a->child[i], b->child[j])) {
                found = 1;
                if (unordered)
                    taken[j] = 1;
            }
        if (!found)
            return 0;
    }
    return 1;
}

int scalar_same_tree(struct math_work *w, const struct math_node *a, const struct math_node *b)
{
    if (math_step(w, 1) || a->kind != b->kind || a->which != b->which || a->n != b->n ||
        strcmp(a->name, b->name) != 0)
        return 0;
    if (a->kind == MATH_NUMBER) {
        const struct math_literal *x = &a->literal, *y = &b->literal;
        return x->n == y->n && x->decimals == y->decimals && x->period == y->period &&
               x->exponent == y->exponent && !memcmp(x->digits, y->digits, (size_t)x->n);
    }
    return same_children(w, a, b);
}

/* The variable that stands for a tree, which may be new. -1 if all variables are used. */
static int variable_for(struct form_space *s, enum form_kind kind, const struct math_node *tree)
{
    for (int i = 0; i < s->n; i++)
        if (s->variable[i].kind == kind && scalar_same_tree(s->ring.c->w, s->variable[i].tree, tree))
            return i;
    if (s->n == SPARSE_VARIABLES)
        return -1;
    for (int i = 0; i < s->n; i++)
        if ((kind == FORM_PI && s->variable[i].kind == FORM_E) ||
            (kind == FORM_E && s->variable[i].kind == FORM_PI))
            s->dependent = 1;
    if (kind == FORM_ATOM)
        s->dependent = s->atoms = 1;
    s->variable[s->n] = (struct form_variable){kind, tree};
    return s->n++;
}

static int form_constant(struct form_space *s, struct form *out, struct gauss g)
{
    int rc = sparse_constant(&s->ring, &out->num, g);
    return rc ? rc : sparse_constant(&s->ring, &out->den, gauss_of(fraction_of(1)));
}

/* The form of the variable that stands for a tree, to a power. */
static int form_variable(struct form_space *s, struct form *out, enum form_kind kind,
                         const struct math_node *tree, int exponent)
{
    int v = variable_for(s, kind, tree);
    int rc = form_constant(s, out, gauss_of(fraction_of(1)));
    return rc ? rc : v < 0 ? NUMBER_INEXACT : sparse_variable(&s->ring, &out->num, v, exponent);
}

/* Multiplies out by the square root of a prime, or of a number without small factors. */
static int multiply_root(struct form_space *s, struct form *out, int64_t p)
{
    struct sparse root;
    int v = variable_for(s, FORM_ROOT, tree_integer(s->ring.c->w, p));
    if (v < 0)
        return NUMBER_INEXACT;
    s->ring.square[v] = p;
    int rc = sparse_variable(&s->ring, &root, v, 1);
    return rc ? rc : sparse_mul(&s->ring, &out->num, &out->num, &root);
}

/* The square root of a fraction n/d = sqrt(n d)/d, as a product of square roots of primes. */
static int form_root(struct form_space *s, struct form *out, struct fraction f)
{
    int64_t m, outside = 1;
    if (f.big || __builtin_mul_overflow(f.n, f.d, &m) || m == INT64_MIN)
        return NUMBER_INEXACT;
    struct gauss scale = gauss_of(fraction_of(1));
    if (m < 0) {
        if (s->ring.c->real_only)
            return NUMBER_UNDEFINED;
        scale = (struct gauss){fraction_of(0), fraction_of(1)};
        m = -m;
    }
    int rc = form_constant(s, out, scale);
    for (int64_t p = 2; p <= TRIAL_MAX && p * p <= m && !rc; p += 1 + (p > 2)) {
        if (p % 64 == 1 && math_step(s->ring.c->w, 32))
            return NUMBER_UNKNOWN;
        for (; m % (p * p) == 0; m /= p * p)
            outside *= p;
        if (m % p == 0) {
            m /= p;
            rc = multiply_root(s, out, p);
        }
    }
    if (!rc && m > 1) {
        struct fraction root;
        if (!fraction_root(s->ring.c, &root, fraction_of(m), 2)) {
            outside *= root.n;
        } else {
            s->dependent |= m > (int64_t)TRIAL_MAX * TRIAL_MAX; /* perhaps not a prime */
            rc = multiply_root(s, out, m);
        }
    }
    struct sparse factor;
    struct fraction ratio;
    rc = rc ? rc : fraction_ratio(s->ring.c, &ratio, outside, f.d);
    rc = rc ? rc : sparse_constant(&s->ring, &factor, gauss_of(ratio));
    return rc ? rc : sparse_mul(&s->ring, &out->num, &out->num, &factor);
}

static int form_add(struct form_space *s, struct form *out, const struct form *a, const struct form *b)
{
    struct sparse x = a->num, y = b->num;
    struct sparse_ring *r = &s->ring;
    int rc = NUMBER_OK;
    if (sparse_equal(r, &a->den, &b->den)) {
        out->den = a->den;
    } else {
        rc = sparse_mul(r, &x, &x, &b->den);
        rc = rc ? rc : sparse_mul(r, &y, &y, &a->den);
        rc = rc ? rc : sparse_mul(r, &out->den, &a->den, &b->den);
    }
    return rc ? rc : sparse_add(r, &out->num, &x, &y);
}

static int form_mul(struct form_space *s, struct form *out, const struct form *a, const struct form *b)
{
    int rc = sparse_mul(&s->ring, &out->num, &a->num, &b->num);
    return rc ? rc : sparse_mul(&s->ring, &out->den, &a->den, &b->den);
}

/* Swaps numerator and denominator. */
static int form_invert(struct form *f)
{
    struct sparse t = f->num;
    f->num = f->den;
    f->den = t;
    return f->den.n ? NUMBER_OK : NUMBER_UNDEFINED;
}

/* The form of a sum, product or quotient. */
static int form_fold(struct form_space *s, const struct math_node *m, struct form *out)
{
    struct form f;
    int rc = form_of(s, m->child[0], out);
    for (int i = 1; i < m->n && !rc; i++) {
        rc = form_of(s, m->child[i], &f);
        if (!rc && m->kind == MATH_DIVIDE)
            rc = form_invert(&f);
        if (!rc)
            rc = m->kind == MATH_ADD ? form_add(s, out, out, &f) : form_mul(s, out, out, &f);
    }
    return rc;
}

/* The form of a tree that is no quotient of polynomials: an exact number, the square root of a fraction, pi,
 * e, or else an atom. */
static int form_other(struct form_space *s, const struct math_node *m, struct form *out)
{
    struct gauss g;
    struct number_context *c = s->ring.c;
    if (scalar_exact(c, m, &g))
        return form_constant(s, out, g);
    int is_root = m->kind == MATH_FUNCTION && m->which == MATH_SQRT && m->n == 1;
    if (is_root && scalar_exact(c, m->child[0], &g) && gauss_is_real(g)) {
        int rc = form_root(s, out, g.re);
        if (rc != NUMBER_INEXACT)
            return rc;
    }
    if (m->kind == MATH_CONSTANT && m->which == MATH_PI)
        return form_variable(s, out, FORM_PI, m, 1);
    if (m->kind == MATH_CONSTANT && m->which == MATH_E)
        return form_variable(s, out, FORM_E, m, 1);
    if (m->kind == MATH_CONSTANT)
        return NUMBER_UNKNOWN;
    return form_variable(s, out, FORM_ATOM, m, 1);
}

/* The form of a power with an integer exponent, or of a half-integer power of a fraction. */
static int form_power(struct form_space *s, const struct math_node *m, struct form *out)
{
    struct gauss g, base;
    int64_t e;
    struct number_context *c = s->ring.c;
    if (!scalar_exact(c, m->child[1], &g) || !gauss_is_real(g))
        return form_other(s, m, out);
    int half = !g.re.big && g.re.d == 2 && g.re.n > -POWER_MAX && g.re.n < POWER_MAX;
    if (half && scalar_exact(c, m->child[0], &base) && gauss_is_real(base)) { /* 8^{1/2}, 2^{-3/2} */
        int rc = form_root(s, out, base.re);
        e = g.re.n;
        if (rc == NUMBER_INEXACT)
            return form_other(s, m, out);
        if (rc)
            return rc;
    } else if (fraction_int64(g.re, &e) && e >= -POWER_MAX && e <= POWER_MAX) {
        int rc = form_of(s, m->child[0], out);
        if (rc)
            return rc;
        if (!e && !out->num.n)
            return NUMBER_UNDEFINED;
    } else {
        return form_other(s, m, out);
    }
    int rc = e < 0 ? form_invert(out) : NUMBER_OK;
    e = e < 0 ? -e : e;
    rc = rc ? rc : sparse_pow(&s->ring, &out->num, &out->num, e);
    return rc ? rc : sparse_pow(&s->ring, &out->den, &out->den, e);
}

/* A symbol with a value in c->bound is a constant, any other a variable. */
static int form_symbol(struct form_space *s, const struct math_node *m, struct form *out)
{
    for (const struct binding *b = s->ring.c->bound; b; b = b->outer)
        if (!strcmp(b->name, m->name))
            return form_constant(s, out, b->value);
    return form_variable(s, out, FORM_SYMBOL, m, 1);
}

/* A sum over integers whose terms hold symbols. */
static int form_sum(struct form_space *s, const struct math_node *m, struct form *out)
{
    struct number_context *c = s->ring.c;
    struct gauss g;
    int64_t from, to;
    if (scalar_exact(c, m, &g))
        return form_constant(s, out, g);
    if (m->n != 4 || m->which == MATH_INTEGRAL || !scalar_exact(c, m->child[2], &g) || !gauss_is_real(g) ||
        !fraction_int64(g.re, &from) || !scalar_exact(c, m->child[3], &g) || !gauss_is_real(g) ||
        !fraction_int64(g.re, &to) || from < -SUM_BOUND || from > SUM_BOUND || to < -SUM_BOUND ||
        to > SUM_BOUND || to - from > POWER_MAX)
        return form_other(s, m, out);
    struct binding b = {m->child[1]->name, gauss_of(fraction_of(0)), c->bound};
    int rc = form_constant(s, out, gauss_of(fraction_of(m->which == MATH_PRODUCT)));
    for (int64_t k = from; k <= to && !rc; k++) {
        struct form f;
        b.value = gauss_of(fraction_of(k));
        c->bound = &b;
        rc = form_of(s, m->child[0], &f);
        c->bound = b.outer;
        if (!rc && s->atoms) /* an atom would stand for different values of the bound variable */
            return NUMBER_INEXACT;
        if (!rc)
            rc = m->which == MATH_PRODUCT ? form_mul(s, out, out, &f) : form_add(s, out, out, &f);
    }
    return rc;
}

int form_of(struct form_space *s, const struct math_node *m, struct form *out)
{
    struct number_context *c = s->ring.c;
    struct sparse minus;
    int rc;
    if (!m || math_step(c->w, 4) || c->depth >= SCALAR_DEPTH)
        return NUMBER_UNKNOWN;
    c->depth++;
    switch (m->kind) {
    case MATH_SYMBOL:
        rc = form_symbol(s, m, out);
        break;
    case MATH_ADD:
    case MATH_MULTIPLY:
    case MATH_DIVIDE:
        rc = form_fold(s, m, out);
        break;
    case MATH_NEGATE:
        rc = form_of(s, m->child[0], out);
        rc = rc ? rc : sparse_constant(&s->ring, &minus, gauss_of(fraction_of(-1)));
        rc = rc ? rc : sparse_mul(&s->ring, &out->num, &out->num, &minus);
        break;
    case MATH_POWER:
        rc = form_power(s, m, out);
        break;
    case MATH_SUM:
        rc = form_sum(s, m, out);
        break;
    default:
        rc = form_other(s, m, out);
    }
    c->depth--;
    return rc;
}

int form_difference(struct form_space *s, struct sparse *out, const struct form *a, const struct form *b)
{
    struct sparse x, y;
    int rc = sparse_mul(&s->ring, &x, &a->num, &b->den);
    rc = rc ? rc : sparse_mul(&s->ring, &y, &b->num, &a->den);
    return rc ? rc : sparse_sub(&s->ring, out, &x, &y);
}

/* The part of a monomial that is made of symbols, without roots and constants. */
static monomial symbol_part(const struct form_space *s, monomial m)
{
    for (int v = 0; v < s->n; v++)
        if (s->variable[v].kind != FORM_SYMBOL)
            m -= monomial_power(v, monomial_exponent(m, v));
    return m;
}

int form_coefficient(struct form_space *s, const struct sparse *p, monomial at, struct sparse *out)
{
    out->terms = arena_alloc(s->ring.c->w->arena, (size_t)p->n * sizeof *out->terms);
    out->n = 0;
    if (math_step(s->ring.c->w, 8 + 8 * (int64_t)p->n))
        return NUMBER_UNKNOWN;
    for (int i = 0; i < p->n; i++)
        if (symbol_part(s, p->terms[i].m) == at) {
            out->terms[out->n] = p->terms[i];
            out->terms[out->n++].m -= at; /* all are reduced by the same amount, so the order stays */
        }
    return NUMBER_OK;
}

monomial form_leading(const struct form_space *s, const struct sparse *p)
{
    monomial best = 0;
    for (int i = 0; i < p->n; i++)
        if (symbol_part(s, p->terms[i].m) > best)
            best = symbol_part(s, p->terms[i].m);
    return best;
}
