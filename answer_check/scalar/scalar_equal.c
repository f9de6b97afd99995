/* Equality of scalars (contract: scalar.h): exact numbers first, then quotients of polynomials, then
 * intervals or points, then what is too large for those. */
#include "answer_check/scalar/scalar.h"

#include <mpfr.h>

#include "answer_check/scalar/scalar_build.h"
#include "answer_check/scalar/scalar_compare.h"
#include "answer_check/scalar/scalar_form.h"

/* -1, 1 for a written infinity, with any positive constant factors left out of sight: 0 for all others. */
static int infinity_sign(const struct math_node *m)
{
    if (m->kind == MATH_NEGATE)
        return -infinity_sign(m->child[0]);
    return m->kind == MATH_CONSTANT && m->which == MATH_INFINITY;
}

/* By quotients of polynomials: TRUE is proved, FALSE only for independent variables. */
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

/* Atoms cancel in 1/0 - 1/0 too: is there a value, or at least none that is proved to be missing? */
static int is_defined(struct number_context *c, const struct math_node *m)
{
    struct value v;
    c->precision = plan_constant.precision[0];
    c->huge = 0;
    int rc = scalar_eval(c, m, &v);
    c->precision = 0;
    return !rc || c->huge;
}

/* Notes what an equality rests on. */
static enum math_truth found_by(struct math_work *w, enum math_truth truth, enum math_evidence evidence)
{
    if (truth == MATH_TRUE && w->evidence < evidence)
        w->evidence = evidence;
    return truth;
}

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
    struct gauss x, y; /* at last, everything written out that can be */
    c->bits = NUMBER_BITS_LAST;
    if (scalar_exact(c, a, &x) && scalar_exact(c, b, &y))
        return gauss_equal(c, x, y) ? MATH_TRUE : MATH_FALSE;
    return MATH_UNKNOWN;
}

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
    int i = infinity_sign(a), j = infinity_sign(b);
    if (i && j)
        return i == j ? MATH_TRUE : MATH_FALSE;
    if (i || j) { /* no value of a symbol is infinite either */
        const struct math_node *other = i ? b : a, *zero = tree_integer(w, 0);
        return zero && (finite_equal(w, other, zero) != MATH_UNKNOWN) ? MATH_FALSE : MATH_UNKNOWN;
    }
    if (scalar_abstract(w, &a, &b))
        return MATH_UNKNOWN;
    return finite_equal(w, a, b);
}
