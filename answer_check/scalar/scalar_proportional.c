/* Two sides of equations up to a constant factor (contract: scalar.h). */
#include "answer_check/scalar/scalar_compare.h"
#include "answer_check/scalar/scalar_form.h"

/* p = c q for one c: p lc(q) = q lc(p), with the leading coefficients in the symbols. */
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
    if (!a || !b || scalar_abstract(w, &a, &b))
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
