/* Sums, products and powers. Juxtaposition binds tighter than / and *: a/bc is a/(bc), as LaTeX papers
 * mean it. Only a fraction of two integers is read as a factor: the first reading of 1/2x is half of x. */
#include "answer_check/read/reader.h"

#include <string.h>

static int is_integer(const struct math_node *m)
{
    return m && m->kind == MATH_NUMBER && !m->literal.point && !m->literal.decimals && !m->literal.exponent;
}

/* The product of the factors; a single one is itself. */
static const struct math_node *join_factors(struct math_reader *r, int from, const struct read_items *f)
{
    return f->n == 1 ? f->node[0] : reader_list(r, MATH_MULTIPLY, from, f);
}

/* Is the letter x here a multiplication sign between numbers, as in 1.5 x 10^3 and 3 x 4? */
static int is_cross(const struct math_reader *r)
{
    const struct token *t = reader_token(r);
    return t->kind == T_WORD && t->n == 1 && (*t->s == 'x' || *t->s == 'X') && r->pos > 0 &&
           t[-1].kind == T_DIGITS && t[1].kind == T_DIGITS && t->space >= SPACE_THIN &&
           t[1].space >= SPACE_THIN;
}

/* Is this letter a union sign, as in (1,2) U (3,4)? */
static int is_letter_union(const struct math_reader *r)
{
    const struct token *t = reader_token(r);
    return t->kind == T_WORD && t->n == 1 && *t->s == 'U' && r->pos > 0 && t[-1].kind == T_CLOSE &&
           t[1].kind == T_OPEN;
}

/* Is the sign a cross product, as in \vec a \times \vec b? One side has the mark of a vector, and none is
 * a literal. */
static int is_vector_product(const struct math_reader *r)
{
    const struct token *t = reader_token(r);
    if (t->kind != T_TIMES || t->value != 1 || !r->pos || r->skip)
        return 0;
    const struct token *left = t[-1].kind == T_CLOSE && t[-1].match >= 0 ? &r->t[t[-1].match] : &t[-1];
    if (left->kind == T_NAME && !strcmp(left->s, "nabla"))
        return 1;
    return ((left->flags | t[1].flags) & TOKEN_VECTOR) && left->kind != T_DIGITS && t[1].kind != T_DIGITS;
}

/* The cross product of a and b; a number before a stays outside. */
static const struct math_node *read_vector_product(struct math_reader *r, int from, const struct math_node *a,
                                                   const struct math_node *b)
{
    int scaled = a && a->kind == MATH_MULTIPLY && a->n == 2 && a->child[0]->kind == MATH_NUMBER; /* 2 a x b */
    const struct math_node *side[] = {scaled ? a->child[1] : a, b};
    int is_turned = a && b && side[0]->kind == MATH_SYMBOL && b->kind == MATH_SYMBOL &&
                    strcmp(side[0]->name, "nabla") != 0 && strcmp(side[0]->name, b->name) > 0;
    if (is_turned) { /* v x u is -(u x v) */
        side[1] = side[0];
        side[0] = b;
    }
    struct math_node *m = math_node_new(r->w, MATH_OPAQUE, reader_source(r, from), 2, side);
    if (m)
        m->name = "cross";
    const struct math_node *product = m && is_turned ? reader_one(r, MATH_NEGATE, from, m) : m;
    return scaled ? reader_two(r, MATH_MULTIPLY, from, a->child[0], product) : product;
}

int read_starts_factor(const struct math_reader *r)
{
    const struct token *t = reader_token(r);
    switch (t->kind) {
    case T_DOT:
        return t[1].kind == T_DIGITS && !t[1].space;
    case T_OPEN:
        if (t->value == '|' && r->t[t->match].value == '.') /* \left| in a set: such that */
            return 0;
        return t[1].kind != T_MODULO && !read_opens_condition(r) && !read_remark(r) && !read_base_words(t) &&
               !(t->flags & TOKEN_BOX && r->pos && t[-1].kind == T_CLOSE);
        /* not a = b (mod n), not \boxed{1}\boxed{2} */
    case T_WORD:
        if (t->flags & TOKEN_TEXT && t->n > 1 && r->pos && (t->space || t[-1].kind == T_WORD))
            return 0; /* words behind a formula are no factor */
        return !is_cross(r) && !is_letter_union(r) && !read_ratio_word(r);
    case T_DIGITS:
    case T_NAME:
    case T_CONSTANT:
    case T_FUNCTION:
    case T_OPERATOR:
    case T_FRACTION:
    case T_ROOT:
    case T_BINOMIAL:
    case T_VULGAR:
    case T_ACCENT:
    case T_SHAPE:
    case T_BIG_SUM:
    case T_OPAQUE:
    case T_NUMBER_SET:
    case T_BEGIN:
    case T_DOTS:
        return 1;
    default:
        return 0;
    }
}

/* Does another factor stand here without a multiplication sign? */
static int factor_follows(struct math_reader *r, const struct math_node *last, int from)
{
    const struct token *t = reader_token(r);
    const char *half;
    if (!r->skip && (t->space == SPACE_WIDE || !read_starts_factor(r)))
        return 0;
    if (!r->skip && t[-1].kind == T_DIGITS &&
        (t->kind == T_DIGITS || t->kind == T_DOT || read_half_of_day(t, &half)))
        return 0; /* 2 3 is unreadable, 9 a.m. is a time */
    if (!r->skip && t->kind == T_DIGITS && t[-1].kind == T_WORD && t[-1].n > 1 && t->space)
        return 0; /* Answer 9 */
    return r->skip || (!read_unit_follows(r, last, from) && !read_phrase_length(r));
}

/* Appends factors that stand side by side, with `once` only one. Returns 0, or -1. */
static int read_chain(struct math_reader *r, struct read_items *f, int from, int once)
{
    int start = f->n;
    do {
        int at = r->pos, fresh = !r->skip;
        const struct math_node *last = f->n > start ? f->node[f->n - 1] : NULL, *m;
        if (is_integer(last) && fresh && (reader_is(r, T_FRACTION) || reader_is(r, T_VULGAR))) {
            int joined = 0;
            m = read_mixed(r, last, from, &joined);
            if (joined && m) {
                f->node[f->n - 1] = m;
                continue;
            }
            m = read_postfix(r, m, at);
        } else {
            m = read_power(r);
        }
        if (reader_add(r, f, m, T_TIMES, 0))
            return -1;
    } while (!once && factor_follows(r, f->node[f->n - 1], from));
    return 0;
}

/* Reads what stands behind a slash. */
static const struct math_node *read_denominator(struct math_reader *r, const struct math_node *numerator)
{
    struct read_items d = {0};
    int from = r->pos, negative = 0;
    while (reader_is(r, T_MINUS) || reader_is(r, T_PLUS)) {
        negative ^= reader_is(r, T_MINUS);
        reader_next(r);
    }
    if (read_chain(r, &d, r->pos, 1))
        return NULL;
    if (factor_follows(r, d.node[0], from) &&
        (!is_integer(numerator) || !is_integer(d.node[0]) || reader_option(r, READ_SLASH)) &&
        read_chain(r, &d, r->pos, 0))
        return NULL;
    const struct math_node *m = join_factors(r, from, &d);
    return negative ? reader_one(r, MATH_NEGATE, from, m) : m;
}

/* Appends the factors behind a multiplication sign, with the sign before the first. Returns 0, or -1. */
static int read_factor_with_sign(struct math_reader *r, struct read_items *f)
{
    int from = r->pos, sign = 0;
    while (reader_is(r, T_MINUS) || reader_is(r, T_PLUS)) {
        sign ^= reader_is(r, T_MINUS);
        reader_next(r);
    }
    int first = f->n;
    if (read_chain(r, f, from, 0))
        return -1;
    if (sign)
        f->node[first] = reader_one(r, MATH_NEGATE, from, f->node[first]);
    return f->node[first] ? 0 : -1;
}

const struct math_node *read_product(struct math_reader *r)
{
    struct read_items f = {0};
    int from = r->pos, links = 0;
    if (reader_is(r, T_CURRENCY)) { /* $4.50 */
        const char *name = reader_token(r)->s;
        reader_next(r);
        int negative = reader_is(r, T_MINUS);
        if (negative)
            reader_next(r);
        const struct math_node *value = reader_is(r, T_CURRENCY) ? NULL : read_product(r);
        value = negative ? reader_one(r, MATH_NEGATE, from, value) : value;
        return read_named_mark(r, MATH_CURRENCY, from, name, value);
    }
    if (read_chain(r, &f, from, 0))
        return NULL;
    for (;;) {
        const struct math_node *m = join_factors(r, from, &f), *marked = read_marks(r, m, from);
        enum token_kind kind = reader_token(r)->kind;
        if (!marked)
            return NULL;
        if (marked != m)
            f = (struct read_items){0};
        if (marked != m && reader_add(r, &f, marked, T_TIMES, 0))
            return NULL;
        if (is_vector_product(r)) {
            struct read_items right = {0};
            reader_next(r);
            if (read_factor_with_sign(r, &right))
                return NULL;
            const struct math_node *cross =
                read_vector_product(r, from, marked, join_factors(r, from, &right));
            f = (struct read_items){0};
            if (reader_add(r, &f, cross, T_TIMES, 0))
                return NULL;
        } else if (kind == T_TIMES || is_cross(r)) {
            reader_next(r);
            if (read_factor_with_sign(r, &f))
                return NULL;
        } else if (kind == T_SLASH || kind == T_MODULO) {
            reader_next(r);
            if (++links > MATH_TREE_DEPTH)
                return NULL;
            const struct math_node *d = read_denominator(r, marked);
            m = kind == T_SLASH ? reader_two(r, MATH_DIVIDE, from, marked, d)
                                : reader_function(r, MATH_MOD, from, marked, d);
            f = (struct read_items){0};
            if (!d || reader_add(r, &f, m, T_TIMES, 0))
                return NULL;
        } else if (marked == m && factor_follows(r, f.node[f.n - 1], from)) {
            if (read_chain(r, &f, r->pos, 0))
                return NULL;
        } else {
            return marked;
        }
    }
}

static int is_set(const struct math_node *m)
{
    return m && (m->kind == MATH_NUMBER_SET || m->kind == MATH_SET || m->kind == MATH_INTERVAL ||
                 m->kind == MATH_SET_BUILDER || m->kind == MATH_DIFFERENCE);
}

/* When only the last term has a unit it belongs to the sum: 3 + 5 cm is (3 + 5) cm. */
static const struct math_node *join_terms(struct math_reader *r, int from, struct read_items *terms)
{
    const struct math_node *last = terms->node[terms->n - 1];
    const struct math_node *unit = last->kind == MATH_NEGATE ? last->child[0] : last;
    for (int i = 0; i + 1 < terms->n; i++) {
        const struct math_node *m = terms->node[i];
        if (m->kind == MATH_UNIT || (m->kind == MATH_NEGATE && m->child[0]->kind == MATH_UNIT))
            unit = NULL;
    }
    if (!unit || unit->kind != MATH_UNIT)
        return reader_list(r, MATH_ADD, from, terms);
    const struct math_node *bare = unit->child[0];
    terms->node[terms->n - 1] = last == unit ? bare : reader_one(r, MATH_NEGATE, from, bare);
    return read_named_mark(r, MATH_UNIT, from, unit->name, reader_list(r, MATH_ADD, from, terms));
}

/* Does another quantity stand beside the last, as in 3 hours 20 minutes? Two of them are a sum. */
static int unit_goes_on(const struct math_reader *r, const struct math_node *last)
{
    const struct token *t = reader_token(r);
    if (r->skip || last->kind != MATH_UNIT || t->kind != T_DIGITS || t->space == SPACE_WIDE)
        return 0;
    while (t->kind == T_DIGITS || t->kind == T_DOT)
        t++;
    return t->kind == T_WORD && (t->flags & TOKEN_TEXT || math_word_is_unit(token_text(t)));
}

const struct math_node *read_sum(struct math_reader *r)
{
    struct read_items terms = {0};
    int from = r->pos;
    if (reader_enter(r))
        return NULL;
    for (;;) {
        int negative = 0, both = 0, sign = 0, at = r->pos;
        while (reader_is(r, T_PLUS) || reader_is(r, T_MINUS) || (reader_is(r, T_PLUS_MINUS) && !both)) {
            negative ^= reader_is(r, T_MINUS);
            both = reader_is(r, T_PLUS_MINUS) ? 1 + reader_token(r)->value : both;
            sign = 1;
            reader_next(r);
        }
        if (terms.n && !sign && !unit_goes_on(r, terms.node[terms.n - 1]))
            break;
        const struct math_node *m = read_product(r);
        if (terms.n == 1 && negative && is_set(terms.node[0]) && is_set(m)) {
            terms.node[0] = reader_two(r, MATH_DIFFERENCE, from, terms.node[0], m);
            continue;
        }
        if (both) {
            struct math_node *pm = math_node_1(r->w, MATH_PLUS_MINUS, reader_source(r, at), m);
            if (pm)
                pm->which = both - 1;
            m = pm;
        }
        if (negative)
            m = reader_one(r, MATH_NEGATE, at, m);
        if (reader_add(r, &terms, m, T_PLUS, 0))
            return NULL;
    }
    r->depth--;
    return terms.n == 1 ? terms.node[0] : join_terms(r, from, &terms);
}

/* ---- powers: exponents, factorials and degrees behind an atom ---- */

enum { POSTFIXES = 50 };

/* Minutes and seconds behind degrees: 30^\circ 15' 20''. */
static const struct math_node *read_minutes(struct math_reader *r, const struct math_node *value, int from)
{
    const struct math_node *child[3] = {value};
    int n = 1, strokes;
    while (n < 3 && reader_is(r, T_DIGITS) && !r->skip) {
        const struct token *t = reader_token(r);
        int used = read_strokes_length(t + 1, &strokes);
        if (!used || strokes != n)
            break;
        child[n++] = reader_integer(r, t->s, t->n);
        r->pos += 1 + used;
    }
    return math_node_new(r->w, MATH_DEGREES, reader_source(r, from), n, child);
}

/* What a degree sign behind a value means: a temperature, or degrees with minutes and seconds. */
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

/* The letter o, which may be written for a degree sign. */
static int is_letter_o(const struct token *t)
{
    return t->kind == T_WORD && t->n == 1 && *t->s == 'o';
}

/* ^\circ and ^{\circ}, or a letter o behind a number: how many tokens they take. 0: none, or more stands in
 * the braces. */
static int circ_behind_caret(const struct token *t)
{
    if (t[1].kind == T_CIRC || (t[-1].kind == T_DIGITS && is_letter_o(&t[1])))
        return 2;
    if (t[-1].kind == T_DIGITS && t[1].kind == T_OPEN && is_letter_o(&t[2]) && t[3].kind == T_CLOSE)
        return 4;
    return t[1].kind == T_OPEN && t[1].value == '{' && t[2].kind == T_CIRC && t[3].kind == T_CLOSE ? 4 : 0;
}

/* Makes 9 choose 2 of C_9^2, where the subscript is a number or one letter. NULL when it does not have
 * that form. */
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

/* What ^ means behind `base`: a power, degrees, or a binomial coefficient C_9^2. */
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
