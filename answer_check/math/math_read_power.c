/* What stands behind a primary: exponents, factorials, degrees. */
#include "answer_check/math/math_reader.h"

#include <string.h>

enum { POSTFIXES = 50 };

static int is_prime(const struct token *t, int value)
{
    return t->kind == T_PRIME && t->value == value;
}

/* A prime, plain or raised as in ^\prime and ^{\prime\prime}: how many tokens it takes, and in *strokes
 * how many strokes it has. */
static int prime_length(const struct token *t, int *strokes)
{
    int raised = t->kind == T_CARET, i = raised;
    int braced = raised && t[1].kind == T_OPEN && t[1].value == '{';
    *strokes = 0;
    for (i += braced; t[i].kind == T_PRIME; i++)
        *strokes += is_prime(&t[i], 2) ? 2 : 1;
    if (!*strokes || (braced && t[i].kind != T_CLOSE))
        return 0;
    return i + braced;
}

/* Minutes and seconds behind degrees: 30^\circ 15' 20''. */
static const struct math_node *read_minutes(struct math_reader *r, const struct math_node *value, int from)
{
    const struct math_node *child[3] = {value};
    int n = 1, strokes;
    while (n < 3 && reader_is(r, T_DIGITS) && !r->skip) {
        const struct token *t = reader_token(r);
        int used = prime_length(t + 1, &strokes);
        if (!used || strokes != n)
            break;
        child[n++] = reader_integer(r, t->s, t->n);
        r->pos += 1 + used;
    }
    return math_node_new(r->w, MATH_DEGREES, reader_source(r, from), n, child);
}

static const struct math_node *read_degrees(struct math_reader *r, const struct math_node *value, int from)
{
    const struct token *t = reader_token(r);
    if (t->kind == T_WORD && t->n == 1 && (*t->s == 'C' || *t->s == 'F')) { /* a temperature */
        const char *name = *t->s == 'C' ? "degrees celsius" : "degrees fahrenheit";
        reader_next(r);
        return read_named_mark(r, MATH_UNIT, from, name, value);
    }
    return read_minutes(r, value, from);
}

/* What stands behind ^ without braces: one letter, as in TeX, but all digits of a number, as people write. */
static const struct math_node *read_script_atom(struct math_reader *r)
{
    const struct token *t = reader_token(r);
    if (t->kind == T_OPEN)
        return t->value == '{' ? read_group(r) : read_bracket(r);
    if (t->kind == T_DIGITS && !r->skip && t[1].kind == T_DOT && !t[1].space && t[2].kind == T_DIGITS &&
        !t[2].space)
        return read_number(r);
    if (t->kind == T_DIGITS && !r->skip && (t->n == 1 || !reader_option(r, READ_TEX_DIGITS))) {
        const struct math_node *m = reader_integer(r, t->s, t->n);
        reader_next(r);
        return m;
    }
    return read_argument(r);
}

const struct math_node *read_script(struct math_reader *r)
{
    int from = r->pos, negative = 0;
    if (reader_enter(r))
        return NULL;
    while (reader_is(r, T_MINUS) || reader_is(r, T_PLUS)) {
        negative ^= reader_is(r, T_MINUS);
        reader_next(r);
    }
    const struct math_node *m = read_script_atom(r);
    if (m && !r->skip && reader_is(r, T_CARET)) { /* 2^3^2 */
        reader_next(r);
        m = reader_two(r, MATH_POWER, from, m, read_script(r));
    }
    r->depth--;
    return negative ? reader_one(r, MATH_NEGATE, from, m) : m;
}

/* ^\circ and ^{\circ}: how many tokens they take, without what else may stand in the braces. */
static int is_letter_o(const struct token *t)
{
    return t->kind == T_WORD && t->n == 1 && *t->s == 'o';
}

static int circ_behind_caret(const struct token *t)
{
    if (t[1].kind == T_CIRC || (t[-1].kind == T_DIGITS && is_letter_o(&t[1])))
        return 2;
    if (t[-1].kind == T_DIGITS && t[1].kind == T_OPEN && is_letter_o(&t[2]) && t[3].kind == T_CLOSE)
        return 4;
    return t[1].kind == T_OPEN && t[1].value == '{' && t[2].kind == T_CIRC && t[3].kind == T_CLOSE ? 4 : 0;
}

/* C_9^2 as 9 choose 2, where the subscript is a number or one letter. NULL when it does not have that
 * form. */
static const struct math_node *make_binomial(struct math_reader *r, const struct math_node *base,
                                             const struct math_node *k, int from)
{
    const char *below = base->kind == MATH_SYMBOL && !strncmp(base->name, "C_", 2) ? base->name + 2 : "";
    size_t digits = strspn(below, "0123456789");
    const struct math_node *n = NULL;
    if (!*below || (below[digits] && (digits || below[1])))
        return NULL;
    if (!reader_option(r, READ_CHOOSE))
        return NULL;
    n = digits ? reader_integer(r, below, (int)digits) : reader_named(r, MATH_SYMBOL, from, below);
    return n ? reader_function(r, MATH_BINOMIAL, from, n, k) : NULL;
}

static const struct math_node *read_caret(struct math_reader *r, const struct math_node *base, int from)
{
    const struct token *t = reader_token(r);
    int used = circ_behind_caret(t);
    if (used) {
        r->pos += used;
        return read_degrees(r, base, from);
    }
    if (t[1].kind == T_OPEN && t[1].value == '{' && t[2].kind == T_CIRC && t[3].kind == T_WORD &&
        t[3].n == 1 && t[4].kind == T_CLOSE && strchr("CF", *t[3].s)) { /* ^{\circ C} */
        r->pos += 5;
        return read_named_mark(r, MATH_UNIT, from, *t[3].s == 'C' ? "degrees celsius" : "degrees fahrenheit",
                               base);
    }
    reader_next(r);
    const struct math_node *exponent = read_script(r);
    if (!exponent)
        return NULL;
    if (base->kind == MATH_SYMBOL && reader_is(r, T_UNDERSCORE) && !r->skip) { /* x^2_1 */
        int at = r->pos;
        if (read_subscript(r))
            return NULL;
        base =
            reader_named(r, MATH_SYMBOL, from, reader_join_names(r, base->name, reader_flat(r, at, r->pos)));
    }
    const struct math_node *binomial = make_binomial(r, base, exponent, from);
    return binomial ? binomial : reader_two(r, MATH_POWER, from, base, exponent);
}

const struct math_node *read_postfix(struct math_reader *r, const struct math_node *m, int from)
{
    for (int i = 0; m && i < POSTFIXES && !r->skip; i++) {
        const struct token *t = reader_token(r);
        if (t->kind == T_CARET && read_ordinal_length(t))
            return m;
        if (t->kind == T_CARET) {
            m = read_caret(r, m, from);
        } else if (t->kind == T_CIRC) {
            reader_next(r);
            m = read_degrees(r, m, from);
        } else if (t->kind == T_BANG) {
            int twice = t[1].kind == T_BANG && !t[1].space;
            reader_next(r);
            if (twice)
                reader_next(r);
            struct math_node *f = math_node_1(r->w, MATH_FACTORIAL, reader_source(r, from), m);
            if (f)
                f->which = twice ? 2 : 0;
            m = f;
        } else {
            return m;
        }
    }
    return r->skip ? m : NULL;
}

const struct math_node *read_power(struct math_reader *r)
{
    int from = r->pos;
    if (reader_enter(r))
        return NULL;
    const struct math_node *m = read_primary(r);
    m = r->skip ? m : read_postfix(r, m, from);
    r->depth--;
    return m;
}
