/* Scalars and matrices as the original compares them: when either side is a decimal number both are
 * compared up to an absolute number of decimals; a plain number must be equal exactly; anything else is
 * compared to 15 digits. */
#include "answer_check/compat/compat_equal.h"
#include "answer_check/tree/math_matrix.h"

#include <string.h>

typedef const struct math_node *node;

/* The literal of a decimal number such as "12.5", "-12.5", "12.5%"; NULL if m is none. */
static node decimal_literal(node m, int *negative, int *percent)
{
    *negative = m->kind == MATH_NEGATE;
    if (*negative)
        m = m->child[0];
    *percent = m->kind == MATH_MULTIPLY && m->which == COMPAT_PERCENT;
    if (*percent)
        m = m->child[0];
    if (!*negative && m->kind == MATH_NEGATE) {
        *negative = 1;
        m = m->child[0];
    }
    return m->kind == MATH_NUMBER && m->literal.point ? m : NULL;
}

/* A number or a percentage. */
static int is_number(node m)
{
    if (m->kind == MATH_NEGATE)
        m = m->child[0];
    return compat_is_number(m) || (m->kind == MATH_MULTIPLY && m->which == COMPAT_PERCENT);
}

/* The literal, rounded half to even to the given number of decimals. If all its digits are rounded away it is
 * 0. */
static node round_literal(struct compat_comparison *c, node literal, int negative, int percent)
{
    struct math_literal l = literal->literal;
    struct math_node *m = math_node_new(c->w, MATH_NUMBER, literal->source, 0, NULL);
    int64_t decimals = (int64_t)l.decimals - l.exponent + (percent ? 2 : 0), drop = decimals - c->rounding;
    if (!m)
        return NULL;
    l.exponent -= percent ? 2 : 0;
    if (drop > 0) {
        int keep = drop >= l.n + 1 ? 0 : l.n - (int)drop, up = 0;
        char *digits = arena_alloc(c->w->arena, (size_t)l.n + 2);
        if (drop <= l.n) {
            const char *tail = l.digits + keep;
            int rest = 0;
            for (int i = 1; i < l.n - keep; i++)
                rest |= tail[i] != '0';
            int odd = keep && (l.digits[keep - 1] - '0') % 2;
            up = tail[0] > '5' || (tail[0] == '5' && (rest || odd));
        }
        digits[0] = '0';
        memcpy(digits + 1, l.digits, (size_t)keep);
        for (int i = keep; up; i--) {
            up = digits[i] == '9';
            digits[i] = up ? '0' : (char)(digits[i] + 1);
        }
        int zeros = 0;
        while (zeros < keep && digits[zeros] == '0')
            zeros++;
        l = (struct math_literal){
            .digits = digits + zeros, .n = keep + 1 - zeros, .decimals = c->rounding, .point = 1};
    }
    m->literal = l;
    return negative ? math_node_1(c->w, MATH_NEGATE, m->source, m) : m;
}

static int is_constant(struct compat_comparison *c, node m)
{
    const char *name[1];
    return math_is_scalar(m) && math_symbols(c->w, m, name, 1) == 0;
}

/* Do both sides, of which at least one is a decimal number, round to the same decimals? In the original an
 * integer stays an integer when it is rounded and is no decimal number, so it must be equal exactly. */
static int round_alike(struct compat_comparison *c, node a, node b)
{
    int a_negative, a_percent, b_negative, b_percent;
    node x = decimal_literal(a, &a_negative, &a_percent), y = decimal_literal(b, &b_negative, &b_percent);
    if (x)
        a = round_literal(c, x, a_negative, a_percent);
    if (y)
        b = round_literal(c, y, b_negative, b_percent);
    if (!a || !b)
        return 0;
    if (x && y)
        return math_scalar_equal(c->w, a, b) == MATH_TRUE;
    int64_t integer;
    if (math_scalar_integer(c->w, x ? b : a, &integer))
        return 0;
    return math_rounds_to(c->w, x ? b : a, x ? a : b, c->rounding) == MATH_TRUE;
}

/* 2^-bits as a tree. */
static node power_of_half(struct compat_comparison *c, int bits, node at)
{
    node two = math_node_integer(c->w, at->source, 2),
         power = math_node_2(c->w, MATH_POWER, at->source, two, math_node_integer(c->w, at->source, bits));
    return math_node_2(c->w, MATH_DIVIDE, at->source, math_node_integer(c->w, at->source, 1), power);
}

/* Is it proved that |m| < 2^-bits? */
static int is_smaller(struct compat_comparison *c, node m, int bits)
{
    struct math_node *size = m ? math_node_1(c->w, MATH_FUNCTION, m->source, m) : NULL;
    if (!size) /* no steps are left */
        return 0;
    size->which = MATH_ABS;
    return math_scalar_less(c->w, size, power_of_half(c, bits, m)) == MATH_TRUE;
}

/* The constant as the original evaluates it: a factor below 2^-64 counts as 0, however large the others
 * are. */
static node drop_tiny_factors(struct compat_comparison *c, node m, int depth)
{
    node zero = math_node_integer(c->w, m->source, 0), part[2];
    if (depth > MATH_TREE_DEPTH || !zero)
        return m;
    if (m->kind == MATH_DIVIDE && m->which != COMPAT_FRACTION) {
        node inverse =
            math_node_2(c->w, MATH_DIVIDE, m->source, math_node_integer(c->w, m->source, 1), m->child[1]);
        if (inverse && is_smaller(c, inverse, 64))
            return zero;
        part[0] = drop_tiny_factors(c, m->child[0], depth + 1);
        part[1] = m->child[1];
        return math_node_new(c->w, MATH_DIVIDE, m->source, 2, part);
    }
    if (m->kind != MATH_ADD && m->kind != MATH_MULTIPLY && m->kind != MATH_NEGATE)
        return is_smaller(c, m, 64) ? zero : m;
    node *child = arena_alloc(c->w->arena, (size_t)m->n * sizeof *child);
    for (int i = 0; i < m->n; i++)
        child[i] = drop_tiny_factors(c, m->child[i], depth + 1);
    return math_node_new(c->w, m->kind, m->source, m->n, child);
}

/* The original evaluates the difference to 15 digits and takes anything below 2^-54 for 0. */
static int alike_to_15_digits(struct compat_comparison *c, node a, node b)
{
    a = drop_tiny_factors(c, a, 0);
    b = drop_tiny_factors(c, b, 0);
    return a && b && is_smaller(c, math_node_2(c->w, MATH_ADD, a->source, a, compat_negated(c->w, b)), 54);
}

/* Is it a number to a power with a letter in it? */
static int is_geometric(struct compat_comparison *c, node m)
{
    const char *letter[1];
    return m->kind == MATH_POWER && math_symbols(c->w, m->child[1], letter, 1) != 0;
}

/* Does the summand hold what the original has no closed form for: a binomial coefficient, a factorial, a
 * denominator or a power with a letter in it? A positive number to a power of letters it can sum, by itself.
 */
static int has_no_closed_form(struct compat_comparison *c, node m)
{
    const char *letter[1];
    int n_geometric = 0, n_other = 0;
    for (int i = 0; i < m->n && m->kind == MATH_MULTIPLY; i++) {
        n_geometric += is_geometric(c, m->child[i]) && m->child[i]->child[1]->kind == MATH_SYMBOL;
        n_other += !is_geometric(c, m->child[i]) && math_symbols(c->w, m->child[i], letter, 1) != 0;
    }
    if ((n_geometric && n_other) || (is_geometric(c, m) && m->child[0]->kind == MATH_NEGATE))
        return 1;
    if (m->kind == MATH_FACTORIAL || (m->kind == MATH_FUNCTION && m->which == MATH_BINOMIAL) ||
        (m->kind == MATH_DIVIDE && math_symbols(c->w, m->child[1], letter, 1) != 0) ||
        (m->kind == MATH_POWER && math_symbols(c->w, m->child[0], letter, 1) != 0 &&
         math_symbols(c->w, m->child[1], letter, 1) != 0) ||
        (m->kind == MATH_POWER && m->child[1]->kind == MATH_NEGATE &&
         math_symbols(c->w, m->child[1], letter, 1) != 0))
        return 1;
    for (int i = 0; i < m->n; i++)
        if (has_no_closed_form(c, m->child[i]))
            return 1;
    return 0;
}

/* Does it hold a sum or a product to a letter, as \sum_{k=0}^n\binom nk, that the original leaves as it is?
 */
static int holds_open_sum(struct compat_comparison *c, node m)
{
    const char *letter[1];
    if (m->kind == MATH_SUM && m->which != MATH_INTEGRAL && m->n == 4 &&
        math_symbols(c->w, m->child[3], letter, 1) != 0 &&
        (m->which == MATH_PRODUCT ? math_symbols(c->w, m->child[0], letter, 1) != 0
                                  : has_no_closed_form(c, m->child[0])))
        return 1;
    for (int i = 0; i < m->n; i++)
        if (holds_open_sum(c, m->child[i]))
            return 1;
    return 0;
}

/* The letter that a sum runs over and that is the index of a name in it, a_k, or NULL: to the original such
 * sums are different ones where the letters are. */
static const char *running_index(node m, const char *bound)
{
    if (m->kind == MATH_SUM && m->n == 4 && m->child[1]->kind == MATH_SYMBOL)
        bound = m->child[1]->name;
    const char *index = bound && m->kind == MATH_SYMBOL ? strchr(m->name, '_') : NULL;
    if (index && !strcmp(index + 1, bound))
        return bound;
    for (int i = 0; i < m->n; i++)
        if ((index = running_index(m->child[i], bound)))
            return index;
    return NULL;
}

static int run_alike(node a, node b)
{
    const char *x = running_index(a, NULL), *y = running_index(b, NULL);
    return !x || !y || !strcmp(x, y);
}

/* Compares two scalars. */
static int equal_scalars(struct compat_comparison *c, node a, node b)
{
    int negative, percent;
    if (!math_is_scalar(a) || !math_is_scalar(b) || holds_open_sum(c, a) != holds_open_sum(c, b) ||
        !run_alike(a, b))
        return 0;
    if (math_scalar_equal(c->w, a, b) == MATH_TRUE)
        return 1;
    if (!is_constant(c, a) || !is_constant(c, b))
        return 0;
    if (decimal_literal(a, &negative, &percent) || decimal_literal(b, &negative, &percent))
        return round_alike(c, a, b);
    return !is_number(a) && !is_number(b) && alike_to_15_digits(c, a, b);
}

/* ---- matrices */

/* a + b or a times b for matrices that fit, a matrix and a number, or two numbers; else NULL. */
static node combine_values(struct compat_comparison *c, node a, node b, enum math_kind kind)
{
    int x = a->kind == MATH_MATRIX, y = b->kind == MATH_MATRIX;
    if (!x && !y)
        return math_node_2(c->w, kind, a->source, a, b);
    if (kind == MATH_ADD)
        return x && y ? math_matrix_sum(c->w, a, b) : NULL;
    if (x && y)
        return math_matrix_product(c->w, a, b);
    return math_matrix_scaled(c->w, x ? a : b, x ? b : a, kind);
}

/* Computes the sums, products and multiples in an expression that holds matrices. NULL if that is not
 * possible. */
static node matrix_value(struct compat_comparison *c, node m, int depth)
{
    if (m->kind == MATH_MATRIX || math_is_scalar(m) || depth > MATH_TREE_DEPTH)
        return m->kind == MATH_MATRIX || math_is_scalar(m) ? m : NULL;
    if (m->kind != MATH_ADD && m->kind != MATH_MULTIPLY && m->kind != MATH_NEGATE && m->kind != MATH_DIVIDE)
        return NULL;
    node out = matrix_value(c, m->child[0], depth + 1);
    if (out && m->kind == MATH_NEGATE)
        return out->kind == MATH_MATRIX ? math_matrix_negated(c->w, out) : compat_negated(c->w, out);
    for (int i = 1; i < m->n && out; i++) {
        node next = matrix_value(c, m->child[i], depth + 1);
        if (m->kind == MATH_DIVIDE && next)
            next = math_node_2(c->w, MATH_DIVIDE, m->source, math_node_integer(c->w, m->source, 1), next);
        out = next ? combine_values(c, out, next, m->kind == MATH_ADD ? MATH_ADD : MATH_MULTIPLY) : NULL;
    }
    return out;
}

int compat_values(struct compat_comparison *c, node gold, node pred)
{
    if (math_is_scalar(gold) && math_is_scalar(pred))
        return equal_scalars(c, gold, pred);
    node a = matrix_value(c, gold, 0), b = matrix_value(c, pred, 0);
    if (!a || !b || a->kind != MATH_MATRIX || b->kind != MATH_MATRIX || a->rows != b->rows ||
        a->columns != b->columns)
        return 0;
    for (int i = 0; i < a->n; i++)
        if (!equal_scalars(c, a->child[i], b->child[i]))
            return 0;
    return 1;
}
