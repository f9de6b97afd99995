/* The questions of scalar.h about constants and functions of symbols. Equality is decided by exact numbers
 * first, then by quotients of polynomials, then by intervals or sample points, then by what is known of
 * numbers too large for those. */
#include "answer_check/scalar/scalar.h"

#include <mpfr.h>

#include "answer_check/scalar/scalar_build.h"
#include "answer_check/scalar/scalar_compare.h"
#include "answer_check/scalar/scalar_form.h"

int math_infinity_sign(const struct math_node *m)
{
    if (m->kind == MATH_NEGATE)
        return -math_infinity_sign(m->child[0]);
    return m->kind == MATH_CONSTANT && m->which == MATH_INFINITY;
}

/* ---- equality */

/* Compares two trees as quotients of polynomials. TRUE is proved; FALSE is returned only if the variables are
 * independent. *has_atoms is set if a variable is an atom. */
static enum math_truth forms_equal(struct number_context *c, const struct math_node *a,
                                   const struct math_node *b, int *has_atoms)
{
    struct form_space s;
    struct form x, y;
    struct sparse difference;
    form_open(&s, c);
    if (form_of(&s, a, &x) || form_of(&s, b, &y) || form_difference(&s, &difference, &x, &y))
        return MATH_UNKNOWN;
    *has_atoms = s.atoms;
    if (!difference.n)
        return MATH_TRUE;
    return s.dependent ? MATH_UNKNOWN : MATH_FALSE;
}

/* Has m a value, as far as is known? Asked where atoms have cancelled, because they do so in 1/0 - 1/0 too.
 */
static int is_defined(struct number_context *c, const struct math_node *m)
{
    struct value v;
    c->precision = plan_constant.precision[0];
    c->huge = 0;
    int rc = scalar_eval(c, m, &v);
    c->precision = 0;
    return !rc || c->huge;
}

/* Records which evidence an equality rests on, and returns it. */
static enum math_truth found_by(struct math_work *w, enum math_truth truth, enum math_evidence evidence)
{
    if (truth == MATH_TRUE && w->evidence < evidence)
        w->evidence = evidence;
    return truth;
}

/* Equality of two constants, of which one is not exact. */
static enum math_truth constants_equal(struct number_context *c, const struct math_node *a,
                                       const struct math_node *b)
{
    int atoms = 0;
    enum math_truth truth = forms_equal(c, a, b, &atoms);
    if (truth == MATH_TRUE && atoms && (!is_defined(c, a) || !is_defined(c, b)))
        return MATH_UNKNOWN;
    if (truth != MATH_UNKNOWN)
        return truth;
    truth = scalar_products_equal(c, a, b);
    if (truth == MATH_UNKNOWN)
        truth = found_by(c->w, scalar_compare(c, a, b, &plan_constant), MATH_CERTIFIED);
    if (truth != MATH_UNKNOWN)
        return truth;
    truth = found_by(c->w, scalar_huge_equal(c, a, b), MATH_CERTIFIED);
    if (truth != MATH_UNKNOWN)
        return truth;
    struct gauss x, y; /* the last try: numbers are written out to many more bits */
    c->bits = NUMBER_BITS_LAST;
    if (scalar_exact(c, a, &x) && scalar_exact(c, b, &y))
        return gauss_equal(c, x, y) ? MATH_TRUE : MATH_FALSE;
    return MATH_UNKNOWN;
}

/* math_scalar_equal() for sides that are not infinite and have no opaque subtrees. */
static enum math_truth finite_equal(struct math_work *w, const struct math_node *a, const struct math_node *b)
{
    const char *names[SAMPLE_SYMBOLS];
    const struct math_node *pair[2] = {a, b};
    struct math_node both = {.kind = MATH_TUPLE, .n = 2, .child = pair, .name = ""};
    int n = math_symbols(w, &both, names, SAMPLE_SYMBOLS);
    struct number_context c;
    struct gauss x, y;
    enum math_truth truth = MATH_UNKNOWN;
    int atoms = 0;
    number_open(&c, w);
    if (n)
        truth = forms_equal(&c, a, b, &atoms);
    else if (scalar_exact(&c, a, &x) && scalar_exact(&c, b, &y))
        truth = gauss_equal(&c, x, y) ? MATH_TRUE : MATH_FALSE;
    else
        truth = constants_equal(&c, a, b);
    number_close(&c);
    if (truth != MATH_UNKNOWN || n <= 0)
        return truth;
    return found_by(w, scalar_equal_at_points(w, a, b, names, n), MATH_PROBED);
}

enum math_truth math_scalar_equal(struct math_work *w, const struct math_node *a, const struct math_node *b)
{
    if (!a || !b || math_step(w, 1))
        return MATH_UNKNOWN;
    int i = math_infinity_sign(a), j = math_infinity_sign(b);
    if (i && j)
        return i == j ? MATH_TRUE : MATH_FALSE;
    if (i || j) { /* the values of symbols are finite, so the other side is not infinite if it can be compared
                     with 0 */
        const struct math_node *other = i ? b : a, *zero = tree_integer(w, 0);
        return zero && (finite_equal(w, other, zero) != MATH_UNKNOWN) ? MATH_FALSE : MATH_UNKNOWN;
    }
    if (scalar_abstract(w, &a, &b, math_scalar_equal))
        return MATH_UNKNOWN;
    return finite_equal(w, a, b);
}

/* ---- equality up to a factor */

/* Is p = c q for one c? It is if p lc(q) = q lc(p), where lc is the leading coefficient in the symbols. */
static enum math_truth forms_proportional(struct form_space *s, const struct form *a, const struct form *b)
{
    struct sparse p, q, lp, lq, x, y;
    if (sparse_mul(&s->ring, &p, &a->num, &b->den) || sparse_mul(&s->ring, &q, &b->num, &a->den))
        return MATH_UNKNOWN;
    if (!p.n || !q.n)
        return s->atoms ? MATH_UNKNOWN : !p.n && !q.n ? MATH_TRUE : MATH_FALSE;
    monomial at = form_leading(s, &p);
    if (at != form_leading(s, &q))
        return s->dependent ? MATH_UNKNOWN : MATH_FALSE;
    if (form_coefficient(s, &p, at, &lp) || form_coefficient(s, &q, at, &lq) ||
        sparse_mul(&s->ring, &x, &p, &lq) || sparse_mul(&s->ring, &y, &q, &lp))
        return MATH_UNKNOWN;
    if (sparse_equal(&s->ring, &x, &y))
        return s->atoms ? MATH_UNKNOWN : MATH_TRUE; /* an atom in the factor may hold a symbol */
    return s->dependent ? MATH_UNKNOWN : MATH_FALSE;
}

enum math_truth math_scalar_proportional(struct math_work *w, const struct math_node *a,
                                         const struct math_node *b)
{
    if (!a || !b || scalar_abstract(w, &a, &b, math_scalar_equal))
        return MATH_UNKNOWN;
    const char *names[SAMPLE_SYMBOLS];
    const struct math_node *pair[2] = {a, b};
    struct math_node both = {.kind = MATH_TUPLE, .n = 2, .child = pair, .name = ""};
    int n = math_symbols(w, &both, names, SAMPLE_SYMBOLS);
    struct number_context c;
    struct form_space s;
    struct form x, y;
    enum math_truth truth = MATH_UNKNOWN;
    number_open(&c, w);
    form_open(&s, &c);
    if (!form_of(&s, a, &x) && !form_of(&s, b, &y))
        truth = forms_proportional(&s, &x, &y);
    number_close(&c);
    if (truth != MATH_UNKNOWN || n <= 0)
        return truth;
    truth = scalar_proportional_at_points(w, a, b, names, n);
    if (truth == MATH_TRUE)
        w->evidence = MATH_PROBED;
    return truth;
}

/* ---- order, rounding and integers */

/* Is it proved that m is a real constant? */
static int is_real_constant(struct number_context *c, const struct math_node *m)
{
    int order;
    const struct math_node *zero = tree_integer(c->w, 0);
    return zero && (scalar_order(c, m, zero, &order) || c->huge);
}

/* The proved order of two real constants or infinities. Returns 1 and sets *order (0: equal), or returns 0.
 */
static int order_of(struct math_work *w, const struct math_node *a, const struct math_node *b, int *order)
{
    struct number_context c;
    int i = math_infinity_sign(a), j = math_infinity_sign(b), found;
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

/* The sign of |m| - x for a constant m. Returns 1 and sets *order, or returns 0. */
static int compare_size(struct number_context *c, const struct math_node *m, struct fraction x, int *order)
{
    return scalar_order(c, tree_function(c->w, MATH_ABS, m), tree_fraction(c, x), order);
}

/* Is `scaled` what a value half way between two integers may be rounded to: the neighbour away from 0 (half
 * up), or the even one? */
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

/* The integer next to a constant that is no exact number, by intervals of 128 bits. Returns 1 and sets *out,
 * or returns 0. */
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
