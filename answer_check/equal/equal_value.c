/* Scalars with what may stand around them: percent, degrees, units, currency; and decimals, which state a
 * value only to their last digit. */
#include "answer_check/equal/equal_parts.h"
#include "answer_check/text/value_words.h"

#include <string.h>

#include "answer_check/scalar/calculus.h"

struct marked {
    const struct math_node *value;
    const char *unit, *money; /* NULL: none */
    int percent, degrees, currency;
};

/* m times `by`, or divided by it. */
static const struct math_node *ratio_of(struct comparison *e, const struct math_node *m, int64_t by,
                                        int divide)
{
    return math_node_2(e->w, divide ? MATH_DIVIDE : MATH_MULTIPLY, m->source, m,
                       math_node_integer(e->w, m->source, by));
}

/* Degrees, minutes and seconds as degrees. */
static const struct math_node *in_degrees(struct comparison *e, const struct math_node *m)
{
    const struct math_node *part[3] = {m->child[0]};
    if (m->n == 1)
        return m->child[0];
    for (int i = 1; i < m->n && i < 3; i++)
        part[i] = ratio_of(e, m->child[i], i == 1 ? 60 : 3600, 1);
    return math_node_new(e->w, MATH_ADD, m->source, m->n < 3 ? m->n : 3, part);
}

/* The value inside the marks, and which marks there are. */
static struct marked strip_marks(struct comparison *e, const struct math_node *m)
{
    struct marked out = {m, NULL, NULL, 0, 0, 0};
    int negative = 0;
    for (;;) {
        if (m->kind == MATH_NEGATE && equal_is_mark(m->child[0])) {
            negative = !negative;
            m = m->child[0];
            continue;
        }
        if (!equal_is_mark(m))
            break;
        out.percent |= m->kind == MATH_PERCENT;
        out.currency |= m->kind == MATH_CURRENCY;
        out.money = m->kind == MATH_CURRENCY ? m->name : out.money;
        if (m->kind == MATH_UNIT && !out.unit)
            out.unit = m->name;
        out.degrees |= m->kind == MATH_DEGREES;
        if (m->kind == MATH_DEGREES && m->n > 1) {
            m = in_degrees(e, m);
            break;
        }
        m = m->child[0];
    }
    out.value = m && negative ? math_node_1(e->w, MATH_NEGATE, m->source, m) : m;
    return out;
}

/* ---- decimals ---- */

/* The literal of "3.14" and "-3.14", or NULL. */
static const struct math_literal *decimal_of(const struct math_node *m)
{
    if (m->kind == MATH_NEGATE)
        m = m->child[0];
    return m->kind == MATH_NUMBER && m->literal.point && m->literal.decimals && !m->literal.period
               ? &m->literal
               : NULL;
}

/* A decimal that may be rounded is somewhere in m; one with a period is exact. */
int equal_has_decimal(const struct math_node *m)
{
    if (m->kind == MATH_NUMBER)
        return m->literal.point && m->literal.decimals && !m->literal.period;
    for (int i = 0; i < m->n; i++)
        if (equal_has_decimal(m->child[i]))
            return 1;
    return 0;
}

/* A decimal reference stands for every value that rounds to its digits (600/7 and 85.71), but one of one or
 * two digits is taken to be exact: too many fractions round to 0.5. Another decimal must be the finer one. */
static enum math_truth rounds_to_gold(struct comparison *e, const struct math_node *gold,
                                      const struct math_node *pred)
{
    enum { DIGITS = 3 };
    const struct math_literal *g = decimal_of(gold);
    if (!g || g->n < DIGITS || !equal_is_number(e, pred))
        return MATH_FALSE;
    if (equal_has_decimal(pred)) {
        const struct math_literal *p = decimal_of(pred);
        if (!p || p->decimals - p->exponent <= g->decimals - g->exponent)
            return MATH_FALSE;
    }
    return math_rounds_to(e->w, pred, gold, g->decimals - g->exponent);
}

/* A decimal prediction meets an exact reference when it is rounded correctly and long enough to show that the
 * value was known: four digits. */
static enum math_truth gold_rounds_to(struct comparison *e, const struct math_node *gold,
                                      const struct math_node *pred)
{
    enum { DIGITS = 4 };
    const struct math_literal *p = decimal_of(pred);
    /* of a period, a decimal must show at least two */
    if (p && gold->kind == MATH_NUMBER && gold->literal.period &&
        p->decimals < gold->literal.decimals + gold->literal.period)
        return MATH_FALSE;
    if (!p || p->n < DIGITS || equal_has_decimal(gold) || !equal_is_number(e, gold))
        return MATH_FALSE;
    return math_rounds_to(e->w, gold, pred, p->decimals - p->exponent);
}

/* Scalars by value, or as a decimal that is rounded as the rules allow. */
static enum math_truth compare_scalars(struct comparison *e, const struct math_node *gold,
                                       const struct math_node *pred)
{
    gold = calculus_evaluate(e->w, gold);
    pred = calculus_evaluate(e->w, pred);
    enum math_truth r = gold && pred ? math_scalar_equal(e->w, gold, pred) : MATH_UNKNOWN;
    if (r == MATH_TRUE || !gold || !pred || e->rules->decimals == DECIMALS_EXACT)
        return r;
    if (rounds_to_gold(e, gold, pred) == MATH_TRUE) {
        equal_set_how(e, "rounded to the reference's digits");
        return MATH_TRUE;
    }
    if (gold_rounds_to(e, gold, pred) == MATH_TRUE) {
        equal_set_how(e, "as a correctly rounded decimal");
        return MATH_TRUE;
    }
    return r;
}

/* ---- marks on one side or both ---- */

/* Compares values of which one or both are percentages: 25\% is 1/4. The reference's digits decide in its
 * own writing: 6.67\% is met by 1/15. */
static enum math_truth compare_percents(struct comparison *e, const struct marked *g, const struct marked *p)
{
    const struct math_node *a = g->percent ? g->value : ratio_of(e, g->value, 100, 0);
    const struct math_node *b = p->percent ? p->value : ratio_of(e, p->value, 100, 0);
    enum math_truth r = compare_scalars(e, a, b);
    if (r != MATH_TRUE && g->percent != p->percent && e->rules->percent == PERCENT_NUMBER)
        r = equal_better(r, compare_scalars(e, g->value, p->value));
    return r;
}

/* A degree sign on one side only is dropped, or the other side is in radians: 30^\circ and \pi/6. */
static enum math_truth compare_degrees(struct comparison *e, const struct marked *g, const struct marked *p)
{
    int one_side = g->degrees != p->degrees, keep = e->rules->degrees == MARK_KEEP;
    enum math_truth r = one_side && keep ? MATH_FALSE : compare_scalars(e, g->value, p->value);
    if (r == MATH_TRUE || !one_side)
        return r;
    const struct math_node *pi = math_node_constant(e->w, g->value->source, MATH_PI);
    if (!pi)
        return MATH_UNKNOWN;
    const struct math_node *a = g->value, *b = p->value, **sign = g->degrees ? &a : &b;
    *sign = ratio_of(e, *sign, 180, 1);
    *sign = *sign ? math_node_2(e->w, MATH_MULTIPLY, a->source, *sign, pi) : NULL;
    r = equal_better(r, compare_scalars(e, a, b));
    if (r == MATH_TRUE)
        equal_set_how(e, "with degrees in radians");
    return r;
}

/* The base that is written somewhere in a value, or NULL. */
static const struct math_node *base_of(const struct math_node *m)
{
    const struct math_node *found = m->kind == MATH_BASE ? m->child[1] : NULL;
    for (int i = 0; i < m->n && !found; i++)
        found = base_of(m->child[i]);
    return found;
}

/* Numerals of two bases are compared by value, 1010_2 and 12_8; but a letter alone, as in A_{11} and A_{21},
 * may be meant as the digit, and then the bases must be the same. */
static int other_base(struct comparison *e, const struct math_node *gold, const struct math_node *pred)
{
    const struct math_node *g = base_of(gold), *p = base_of(pred);
    if (!g || !p ||
        (gold->kind == MATH_BASE && pred->kind == MATH_BASE && gold->child[0]->kind == MATH_NUMBER &&
         pred->child[0]->kind == MATH_NUMBER))
        return 0;
    return math_scalar_equal(e->w, g, p) != MATH_TRUE;
}

/* Are the digits the same, 1101_2 and 1101? Where the prediction leaves out the reference's base, the
 * digits are the answer. A base that only the prediction has counts: 42_5 is not 42. */
static int same_digits(const struct math_node *gold, const struct math_node *pred)
{
    const struct math_node *digits = gold->kind == MATH_BASE ? gold->child[0] : NULL;
    return digits && digits->kind == MATH_NUMBER && pred->kind == MATH_NUMBER && !pred->literal.point &&
           !pred->literal.exponent && !digits->literal.point && digits->literal.n == pred->literal.n &&
           !memcmp(digits->literal.digits, pred->literal.digits, (size_t)pred->literal.n);
}

/* The unit or currency. Pounds are money beside the sign of sterling, and beside pence. */
static const char *unit_of(const struct marked *m, const struct marked *other)
{
    const char *unit = m->unit ? m->unit : m->money, *beside = other->unit ? other->unit : other->money;
    int is_pound = unit && (!strcmp(unit, "pounds") || !strcmp(unit, "pound"));
    return is_pound && beside && (!strcmp(beside, "GBP") || !strcmp(beside, "pence")) ? "GBP" : unit;
}

/* Brings the prediction into the reference's unit, where both have one: 100 cm into 1 m, 36 cents into $0.36.
 * 0, or -1 where the units measure different things. */
static int in_units_of(struct comparison *e, const struct marked *g, struct marked *p)
{
    int64_t num, den;
    if (g->money && p->money && strcmp(g->money, p->money) != 0)
        return -1;
    if (g->money && p->money && !g->unit != !p->unit) /* $5 and $5 per hour */
        return 0;
    const char *a = unit_of(g, p), *b = unit_of(p, g);
    if (!a || !b || equal_units(a, b))
        return 0;
    if (!equal_unit_ratio(b, a, &num, &den))
        return -1;
    p->value = ratio_of(e, p->value, num, 0);
    p->value = p->value ? ratio_of(e, p->value, den, 1) : NULL;
    return 0;
}

/* Does what stands behind the number change its value, so that it is no unit: "dozen", "squared", "per
 * mille"? */
static int changes_value(const char *unit)
{
    size_t n = strcspn(unit, " -^/*.");
    int letter = n == 1 && (*unit == 'k' || *unit == 'M'); /* thousand, million; not K and m */
    return letter || value_word_bounds((struct span){unit, strlen(unit)}) ||
           value_word_behind((struct span){unit, n}) || strstr(unit, " root") != NULL ||
           strstr(unit, " mille") != NULL || strstr(unit, "base ") || strstr(unit, "more than") ||
           strstr(unit, "less than") || strstr(unit, "fewer than") || strstr(unit, "times as") ||
           strstr(unit, "times the") || strstr(unit, "times larger") || strstr(unit, "times more") ||
           strstr(unit, "times bigger") || strstr(unit, "times greater") || strstr(unit, "times smaller");
}

enum math_truth equal_values(struct comparison *e, const struct math_node *gold, const struct math_node *pred)
{
    struct marked g = strip_marks(e, gold), p = strip_marks(e, pred);
    if (!g.value || !p.value)
        return MATH_UNKNOWN;
    int other_mark = (g.degrees && (p.unit || p.money)) || (p.degrees && (g.unit || g.money));
    if (other_mark || other_base(e, g.value, p.value) || in_units_of(e, &g, &p))
        return MATH_FALSE;
    if (!p.value)
        return MATH_UNKNOWN;
    if (e->rules->units == MARK_KEEP && (!g.unit != !p.unit || g.currency != p.currency))
        return MATH_FALSE;
    if (!g.unit != !p.unit && changes_value(g.unit ? g.unit : p.unit))
        return MATH_FALSE;
    if (same_digits(g.value, p.value) && !g.percent == !p.percent && !g.degrees == !p.degrees)
        return MATH_TRUE;
    if (g.percent || p.percent)
        return compare_percents(e, &g, &p);
    if (g.degrees || p.degrees)
        return compare_degrees(e, &g, &p);
    return compare_scalars(e, g.value, p.value);
}

const struct math_node *equal_in_one_unit(struct comparison *e, const struct math_node *m)
{
    enum { QUANTITIES = 4 };
    const struct math_node *term[QUANTITIES];
    int64_t num, den;
    if (m->kind != MATH_ADD || m->n > QUANTITIES || m->child[0]->kind != MATH_UNIT)
        return NULL;
    const char *unit = m->child[0]->name;
    for (int i = 0; i < m->n; i++) {
        const struct math_node *c = m->child[i];
        if (c->kind != MATH_UNIT || !equal_unit_ratio(c->name, unit, &num, &den))
            return NULL;
        term[i] = ratio_of(e, c->child[0], num, 0);
        term[i] = term[i] ? ratio_of(e, term[i], den, 1) : NULL;
        if (!term[i])
            return NULL;
    }
    struct math_node *sum =
        math_node_1(e->w, MATH_UNIT, m->source, math_node_new(e->w, MATH_ADD, m->source, m->n, term));
    if (sum)
        sum->name = unit;
    return sum;
}

int equal_is_duration(const struct math_node *m)
{
    int has_zero = 0;
    if (m->kind != MATH_RATIO || m->n != 3 || m->child[0]->kind != MATH_NUMBER)
        return 0;
    for (int i = 1; i < 3; i++) {
        const struct math_node *c = m->child[i];
        if (c->kind != MATH_NUMBER || c->source.n != 2 || !ascii_is_digit(c->source.s[0]) ||
            !ascii_is_digit(c->source.s[1]) || c->source.s[0] > '5')
            return 0;
        has_zero |= c->source.s[0] == '0'; /* 1:20:30 is a ratio as well */
    }
    return has_zero;
}

const struct math_node *equal_seconds(struct comparison *e, const struct math_node *m,
                                      const struct math_node *other)
{
    int is_quantity =
        other->kind == MATH_UNIT || (other->kind == MATH_ADD && other->child[0]->kind == MATH_UNIT);
    if (!is_quantity || !equal_is_duration(m))
        return NULL;
    const struct math_node *part[] = {ratio_of(e, m->child[0], 3600, 0), ratio_of(e, m->child[1], 60, 0),
                                      m->child[2]};
    struct math_node *sum =
        math_node_1(e->w, MATH_UNIT, m->source, math_node_new(e->w, MATH_ADD, m->source, 3, part));
    if (sum)
        sum->name = "s";
    return sum;
}
