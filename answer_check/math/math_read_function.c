/* Functions with a known meaning: \sin, \log_2, max, gcd, and their arguments. Without parentheses the
 * argument is a product up to the next sign, function or parenthesis: \sin 2x \cos y. */
#include "answer_check/math/math_reader.h"

#include <string.h>

static int is_trigonometric(int f)
{
    return f >= MATH_SIN && f <= MATH_ARTANH;
}

/* The inverse function that ^{-1} stands for, or -1. */
static int inverse_function(int f)
{
    if (f >= MATH_SIN && f <= MATH_CSC)
        return f - MATH_SIN + MATH_ARCSIN;
    if (f >= MATH_SINH && f <= MATH_TANH)
        return f - MATH_SINH + MATH_ARSINH;
    return f == MATH_COT ? MATH_ARCCOT : -1;
}

static int takes_many(int f)
{
    return f == MATH_GCD || f == MATH_LCM || f == MATH_MIN || f == MATH_MAX || f == MATH_LOG ||
           f == MATH_BINOMIAL || f == MATH_MOD;
}

static int holds_pi(const struct math_node *m)
{
    int found = m->kind == MATH_CONSTANT && m->which == MATH_PI;
    for (int i = 0; !found && m->kind == MATH_MULTIPLY && i < m->n; i++)
        found = m->child[i]->kind == MATH_CONSTANT && m->child[i]->which == MATH_PI;
    return found;
}

/* Does an argument without parentheses continue here? Not with a function, and with a parenthesis only
 * behind numbers: \sin 2(x+1). */
static int argument_goes_on(struct math_reader *r, const struct read_items *f, int from)
{
    const struct token *t = reader_token(r);
    const struct math_node *last = f->node[f->n - 1];
    if (r->skip)
        return 1;
    if (read_differential_follows(r))
        return 0;
    if (t->space == SPACE_WIDE || !read_starts_factor(r) || t->kind == T_FUNCTION || t->kind == T_OPERATOR ||
        t->kind == T_BIG_SUM || t->kind == T_OPAQUE || t->kind == T_BEGIN)
        return 0;
    if (t->kind == T_OPEN && (t->value != '(' || f->n > 1 || last->kind != MATH_NUMBER))
        return 0;
    if (t->kind == T_DIGITS && t[-1].kind == T_DIGITS)
        return 0;
    return !read_unit_follows(r, last, from) && !read_phrase_length(r);
}

static const struct math_node *read_bare_argument(struct math_reader *r, int f)
{
    struct read_items factors = {0};
    int from = r->pos, negative = reader_is(r, T_MINUS);
    if (negative)
        reader_next(r);
    do {
        int at = r->pos, joined = 0;
        const struct math_node *last = factors.n ? factors.node[factors.n - 1] : NULL, *m;
        if (last && last->kind == MATH_NUMBER && !r->skip && reader_is(r, T_FRACTION)) {
            m = read_mixed(r, last, from, &joined);
            if (joined)
                factors.node[factors.n - 1] = m;
            else
                m = read_postfix(r, m, at);
        } else {
            m = read_power(r);
        }
        if (!m || (!joined && reader_add(r, &factors, m, T_TIMES, 0)))
            return NULL;
    } while (argument_goes_on(r, &factors, from));
    const struct math_node *m =
        factors.n == 1 ? factors.node[0] : reader_list(r, MATH_MULTIPLY, from, &factors);
    const struct token *t = reader_token(r);
    if (m && t->kind == T_SLASH && !r->skip && t[1].kind == T_DIGITS &&
        t[2].kind != T_WORD) { /* \sin \pi/6 */
        int wide = is_trigonometric(f) && holds_pi(m);
        if (wide != reader_option(r, READ_FUNCTION_SLASH)) {
            const struct math_node *d = reader_integer(r, t[1].s, t[1].n);
            r->pos += 2;
            m = reader_two(r, MATH_DIVIDE, from, m, d);
        }
    }
    return negative ? reader_one(r, MATH_NEGATE, from, m) : m;
}

/* (a, b, ...) or \{a, b, ...\} */
static int read_arguments(struct math_reader *r, int f, struct read_items *args)
{
    const struct token *t = reader_token(r);
    int list =
        t->kind == T_OPEN && (t->value == '(' || t->value == 'S' || t->value == '[' || t->value == '{');
    if (!list)
        return reader_add(r, args, read_bare_argument(r, f), T_COMMA, 0);
    int close = t->match, outside = r->in_bracket;
    reader_next(r);
    r->in_bracket = takes_many(f) || outside;
    if (read_items(r, args) || r->pos != close)
        return -1;
    r->in_bracket = outside;
    reader_next(r);
    return args->n == 1 || takes_many(f) ? 0 : -1;
}

static const struct math_node *make_function(struct math_reader *r, int f, int from,
                                             const struct read_items *args)
{
    struct math_node *m = math_node_new(r->w, MATH_FUNCTION, reader_source(r, from), args->n, args->node);
    if (m)
        m->which = f;
    return m;
}

/* A logarithm. Its base is written as a subscript, as the second argument, in the name (lg), or not at
 * all. */
static const struct math_node *make_logarithm(struct math_reader *r, int from, const struct math_node *base,
                                              const struct read_items *args, int ten)
{
    const struct math_node *x = args->node[0];
    if (args->n > 2 || (args->n == 2 && base))
        return NULL;
    if (!base && args->n == 2)
        base = args->node[1];
    if (!base && !ten && reader_option(r, READ_NATURAL_LOG))
        return reader_function(r, MATH_LN, from, x, NULL);
    return reader_function(r, MATH_LOG, from, x, base ? base : reader_integer(r, "10", 2));
}

struct scripts {
    const struct math_node *base, *power;
};

static int read_scripts(struct math_reader *r, const struct token *function, struct scripts *s)
{
    const struct token *t = reader_token(r);
    if (function->kind == T_FUNCTION && function->value == MATH_LOG && t->kind == T_DIGITS && !t->space &&
        t[1].kind == T_OPEN && t[1].value == '(' && function->flags & TOKEN_PLAIN) { /* log2(8) */
        s->base = reader_integer(r, t->s, t->n);
        reader_next(r);
        return s->base ? 0 : -1;
    }
    for (int i = 0; i < 2; i++) {
        int under = reader_is(r, T_UNDERSCORE);
        const struct math_node **to = under ? &s->base : &s->power;
        if ((!under && !reader_is(r, T_CARET)) || *to)
            return 0;
        reader_next(r);
        const struct token *k = reader_token(r);
        if (under && k->kind == T_DIGITS && k->n > 1 && function->value == MATH_LOG &&
            !reader_option(r, READ_TEX_DIGITS)) { /* \log_10 x */
            *to = reader_integer(r, k->s, k->n);
            reader_next(r);
        } else {
            *to = under ? read_argument(r) : read_script(r);
        }
        if (!*to)
            return -1;
    }
    return 0;
}

static int is_minus_one(const struct math_node *m)
{
    return m && m->kind == MATH_NEGATE && m->child[0]->kind == MATH_NUMBER && m->child[0]->literal.n == 1 &&
           *m->child[0]->literal.digits == '1' && !m->child[0]->literal.decimals;
}

/* cis x = cos x + i sin x */
static const struct math_node *make_cis(struct math_reader *r, int from, const struct math_node *x)
{
    const struct math_node *i = math_node_constant(r->w, reader_source(r, from), MATH_I);
    if (!i)
        return NULL;
    const struct math_node *sine =
        reader_two(r, MATH_MULTIPLY, from, i, reader_function(r, MATH_SIN, from, x, NULL));
    return reader_two(r, MATH_ADD, from, reader_function(r, MATH_COS, from, x, NULL), sine);
}

/* A function without an argument, as in "max = 3". */
static const struct math_node *name_only(struct math_reader *r, const struct token *t, int from)
{
    return read_name(r, reader_flat(r, from, (int)(t - r->t) + 1), from, 0);
}

const struct math_node *read_function(struct math_reader *r)
{
    const struct token *t = reader_token(r);
    struct read_items args = {0};
    struct scripts s = {0};
    int from = r->pos, f = t->value;
    if (reader_enter(r))
        return NULL;
    reader_next(r);
    if (read_scripts(r, t, &s))
        return NULL;
    if (!r->skip && (!read_starts_factor(r) && !reader_is(r, T_MINUS))) {
        r->depth--;
        enum token_kind next = reader_token(r)->kind;
        int alone = next == T_RELATION || next == T_END || next == T_CLOSE;
        return s.base || s.power || !alone ? NULL : name_only(r, t, from);
    }
    if (t->kind == T_FUNCTION && s.base && f != MATH_LOG) { /* \max_{x \in S} f(x) */
        const struct math_node *two[] = {s.base, read_product(r)};
        struct math_node *m = math_node_new(r->w, MATH_OPAQUE, reader_source(r, from), 2, two);
        r->depth--;
        if (m)
            m->name = math_function_name((enum math_function)f);
        return s.power ? NULL : m;
    }
    if (read_arguments(r, t->kind == T_FUNCTION ? f : -1, &args))
        return NULL;
    r->depth--;
    const struct math_node *m;
    if (t->kind == T_OPERATOR && t->n == 3 && !memcmp(t->s, "cis", 3) && args.n == 1 && !s.base) {
        m = make_cis(r, from, args.node[0]);
    } else if (t->kind == T_OPERATOR) {
        struct math_node *a = math_node_new(r->w, MATH_APPLY, reader_source(r, from), args.n, args.node);
        if (a)
            a->name = s.base ? reader_join_names(r, t->s, "_") : reader_flat(r, from, from + 1);
        m = a;
    } else if ((f == MATH_MIN || f == MATH_MAX) && args.n == 1) { /* of a set that has a name */
        struct math_node *a = math_node_new(r->w, MATH_APPLY, reader_source(r, from), 1, args.node);
        if (a)
            a->name = math_function_name((enum math_function)f);
        m = a;
    } else if (f == MATH_LOG) {
        m = make_logarithm(r, from, s.base, &args, t->n == 2);
    } else if (is_minus_one(s.power) && inverse_function(f) >= 0) {
        return make_function(r, inverse_function(f), from, &args);
    } else {
        m = make_function(r, f, from, &args);
    }
    return s.power ? reader_two(r, MATH_POWER, from, m, s.power) : m;
}
