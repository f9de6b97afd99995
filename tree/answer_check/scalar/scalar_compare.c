/* Comparison of numbers by exact values and by intervals of rising precision (contract: scalar_compare.h). */
#include "answer_check/scalar/scalar_compare.h"

#include <limits.h>

const struct scalar_plan plan_constant = {{128, 512, 2048, 0}, 1000, 2};
const struct scalar_plan plan_point = {{192, 512, 0, 0}, 150, 0};

/* Values of both sides; exact ones stay exact. After an error neither may be used, or given back. */
static int eval_both(struct number_context *c, const struct math_node *a, const struct math_node *b,
                     struct value *x, struct value *y)
{
    *x = *y = (struct value){.exact = 1};
    int rc = scalar_eval(c, a, x);
    return rc ? rc : scalar_eval(c, b, y);
}

/* Is the interval of the difference, which holds 0, narrow against the numbers themselves? */
static int is_narrow(const struct ball *difference, const struct ball *x, const struct ball *y, long accept)
{
    long size = LONG_MIN, e;
    if (!ball_has_zero(x) && (e = ball_exponent(x)) > size)
        size = e;
    if (!ball_has_zero(y) && (e = ball_exponent(y)) > size)
        size = e;
    if (size == LONG_MIN) /* both hold 0: against 1 */
        size = 0;
    return ball_below(difference, size - accept);
}

enum math_truth scalar_compare(struct number_context *c, const struct math_node *a, const struct math_node *b,
                               const struct scalar_plan *plan)
{
    enum math_truth truth = MATH_UNKNOWN;
    for (int i = 0; i < 4 && plan->precision[i] && truth == MATH_UNKNOWN; i++) {
        struct value x, y;
        c->precision = plan->precision[i];
        c->wide = c->huge = 0;
        int rc = eval_both(c, a, b, &x, &y);
        if (!rc && x.exact && y.exact)
            truth = gauss_equal(c, x.g, y.g) ? MATH_TRUE : MATH_FALSE;
        if (rc == NUMBER_UNDEFINED || c->huge || c->w->steps <= 0)
            break;
        if (!rc && truth == MATH_UNKNOWN) {
            rc = value_to_ball(c, &x);
            rc = rc ? rc : value_to_ball(c, &y);
            struct ball *d = ball_new(c);
            rc = rc ? rc : ball_sub(c, d, x.b, y.b);
            if (!rc && !ball_has_zero(d))
                truth = MATH_FALSE;
            else if (!rc && i >= plan->accept_from && !c->wide && is_narrow(d, x.b, y.b, plan->accept))
                truth = MATH_TRUE;
            ball_free(c, d);
            value_release(c, &x);
            value_release(c, &y);
        }
    }
    c->precision = 0;
    return truth;
}

int scalar_order(struct number_context *c, const struct math_node *a, const struct math_node *b, int *order)
{
    int found = 0;
    for (int i = 0; plan_constant.precision[i] && !found; i++) {
        struct value x, y;
        c->precision = plan_constant.precision[i];
        c->wide = c->huge = 0;
        int rc = eval_both(c, a, b, &x, &y);
        if (!rc && x.exact && y.exact) {
            if (gauss_is_real(x.g) && gauss_is_real(y.g)) {
                *order = fraction_compare(c, x.g.re, y.g.re);
                *order = (*order > 0) - (*order < 0);
                found = 1;
            }
            break;
        }
        if (rc == NUMBER_UNDEFINED || c->huge || c->w->steps <= 0)
            break;
        if (!rc) {
            rc = value_to_ball(c, &x);
            rc = rc ? rc : value_to_ball(c, &y);
            struct ball *d = ball_new(c);
            rc = rc ? rc : ball_sub(c, d, x.b, y.b);
            *order = rc ? 0 : ball_sign(d);
            found = *order != 0;
            ball_free(c, d);
            value_release(c, &x);
            value_release(c, &y);
        }
    }
    c->precision = 0;
    return found;
}
