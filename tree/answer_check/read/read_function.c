/* Functions with a known meaning: \sin, \log_2, max, gcd, and their arguments. Without parentheses the
 * argument is a product up to the next sign, function or parenthesis: \sin 2x \cos y. */
#include "answer_check/read/reader.h"

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

/* Does the function have several arguments? */
static int has_many_arguments(int f)
{
    return f == MATH_GCD || f == MATH_LCM || f == MATH_MIN || f == MATH_MAX || f == MATH_LOG ||
           f == MATH_BINOMIAL || f == MATH_MOD;
}

/* Is it pi, or a product with pi as a factor? */
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

/* The argument of a function without parentheses: factors up to the next function or parenthesis. */
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

/* Reads the arguments (a, b, ...) or \{a, b, ...\}, or one without brackets. Returns 0, or -1. */
static int read_arguments(struct math_reader *r, int f, struct read_items *args)
{
    const struct token *t = reader_token(r);
    int list =
        t->kind == T_OPEN && (t->value == '(' || t->value == 'S' || t->value == '[' || t->value == '{');
    if (!list)
        return reader_add(r, args, read_bare_argument(r, f), T_COMMA, 0);
    int close = t->match, outside = r->in_bracket;
    reader_next(r);
    r->in_bracket = has_many_arguments(f) || outside;
    if (read_items(r, args) || r->pos != close)
        return -1;
    r->in_bracket = outside;
    reader_next(r);
    return args->n == 1 || has_many_arguments(f) ? 0 : -1;
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

/* What stands below and above a function's name: \log_2, \sin^2. Returns 0, or -1. */
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

/* Makes cos x + i sin x, which cis x stands for. */
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
    } else if ((f == MATH_MIN || f == MATH_MAX) &&
               args.n == 1) { /* the minimum or maximum of a set that has a name */
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

/* ---- derivatives, integrals and limits ---- */

/* ---- derivatives ---- */

/* Is it the d of a differential, perhaps with its variable, or \partial? */
static int is_d(const struct token *t)
{
    return (t->kind == T_WORD && t->n <= 2 && *t->s == 'd') ||
           (t->kind == T_NAME && !strcmp(t->s, "partial"));
}

/* Is the group at t what stands below a derivative: dx, d\theta, dx^2, \partial x? */
static int is_differential(const struct math_reader *r, const struct token *t)
{
    if (t->kind != T_OPEN || t->value != '{' || !is_d(t + 1))
        return 0;
    const struct token *x = t + 1, *end = &r->t[t->match];
    if (x->kind == T_NAME || x->n == 1)
        x++;
    if (x == end || (x->kind != T_WORD && x->kind != T_NAME) || (x->kind == T_WORD && x->n > 2))
        return 0;
    x++;
    return x == end || x->kind == T_CARET || is_d(x);
}

int read_is_derivative(const struct math_reader *r)
{
    const struct token *t = reader_token(r);
    return !r->skip && t->kind == T_OPEN && t->value == '{' && is_d(t + 1) &&
           is_differential(r, &r->t[t->match + 1]);
}

/* The derivative as one name, "derivative dy/dx"; \frac{d}{dx} stands before what it is applied to. */
const struct math_node *read_derivative(struct math_reader *r, int from)
{
    const struct token *above = reader_token(r), *below = &r->t[above->match + 1];
    const char *numerator = reader_flat(r, r->pos, above->match), *denominator;
    int only_d = above[2].kind == T_CLOSE && (above[1].kind == T_NAME || above[1].n == 1);
    denominator = reader_flat(r, above->match + 1, below->match);
    r->pos = below->match + 1;
    const struct math_node *body = only_d && read_starts_factor(r) ? read_signed_product(r) : NULL;
    struct math_node *m = math_node_new(r->w, MATH_OPAQUE, reader_source(r, from), body ? 1 : 0, &body);
    if (m)
        m->name = arena_printf(r->w->arena, "derivative %s/%s", numerator, denominator);
    return only_d && !body ? NULL : m;
}

/* ---- integrals ---- */

int read_differential_follows(const struct math_reader *r)
{
    const struct token *t = reader_token(r);
    if (!r->in_integral || r->skip || t->kind != T_WORD || *t->s != 'd' || t->n > 2)
        return 0;
    return t->n == 2 || t[1].kind == T_WORD || t[1].kind == T_NAME;
}

static int is_symbol(const struct math_node *m, const char *name)
{
    return m->kind == MATH_SYMBOL && (!name || !strcmp(m->name, name));
}

struct integrand {
    const struct math_node *body, *variable;
    const struct math_node *rest; /* the factors behind the differential, or NULL */
    const struct math_node
        *sum; /* the sum whose terms from `after` on stand behind the differential, or NULL */
    int after;
};

/* The product of the factors from..to-1 of m; 1 when there are none. */
static const struct math_node *product_of(struct math_reader *r, const struct math_node *m, int from, int to)
{
    if (to - from == 1)
        return m->child[from];
    return to == from ? reader_integer(r, "1", 1)
                      : math_node_new(r->w, MATH_MULTIPLY, m->source, to - from, m->child + from);
}

/* Splits f(x) dx, dx/x and f(x) + g(x) dx at the first differential. Returns 0, or -1 where there is no
 * differential. */
static int split_integrand(struct math_reader *r, struct integrand *out, const struct math_node *m)
{
    struct integrand in;
    if (m->kind == MATH_MULTIPLY) {
        for (int i = 0; i + 1 < m->n; i++)
            if (is_symbol(m->child[i], "d") && is_symbol(m->child[i + 1], NULL)) {
                *out = (struct integrand){product_of(r, m, 0, i), m->child[i + 1], NULL, NULL, 0};
                if (i + 2 < m->n)
                    out->rest = product_of(r, m, i + 2, m->n);
                return out->body ? 0 : -1;
            }
        return -1;
    }
    if (m->kind == MATH_NEGATE && !split_integrand(r, &in, m->child[0])) {
        *out = (struct integrand){math_node_1(r->w, MATH_NEGATE, m->source, in.body), in.variable, in.rest,
                                  NULL, 0};
        return out->body ? 0 : -1;
    }
    if (m->kind == MATH_DIVIDE && !split_integrand(r, &in, m->child[0]) && !in.rest) {
        *out = (struct integrand){math_node_2(r->w, MATH_DIVIDE, m->source, in.body, m->child[1]),
                                  in.variable, NULL, NULL, 0};
        return out->body ? 0 : -1;
    }
    for (int i = 0; m->kind == MATH_ADD && i < m->n; i++) {
        if (split_integrand(r, &in, m->child[i]))
            continue;
        const struct math_node **term = arena_alloc(r->w->arena, (size_t)m->n * sizeof *term);
        memcpy(term, m->child, (size_t)i * sizeof *term);
        term[i] = in.body;
        const struct math_node *body = i ? math_node_new(r->w, MATH_ADD, m->source, i + 1, term) : in.body;
        *out = (struct integrand){body, in.variable, in.rest, i + 1 < m->n ? m : NULL, i + 1};
        return out->body ? 0 : -1;
    }
    return -1;
}

/* With both bounds a MATH_SUM, whose variable is bound; without bounds opaque, of the variable and the
 * body. */
static const struct math_node *make_integral(struct math_reader *r, int from, const struct math_node *low,
                                             const struct math_node *high, const struct integrand *in)
{
    const struct math_node *definite[] = {in->body, in->variable, low, high},
                           *indefinite[] = {in->variable, in->body};
    struct math_node *m = low && high
                              ? math_node_new(r->w, MATH_SUM, reader_source(r, from), 4, definite)
                              : math_node_new(r->w, MATH_OPAQUE, reader_source(r, from), 2, indefinite);
    if (!m)
        return NULL;
    if (m->kind == MATH_SUM)
        m->which = MATH_INTEGRAL;
    else
        m->name = "integral";
    const struct math_node *all = m;
    if (in->rest &&
        in->rest->kind == MATH_MULTIPLY) { /* the differentials of outer integrals stay in reach */
        struct read_items factors = {0};
        for (int i = -1; i < in->rest->n; i++)
            if (reader_add(r, &factors, i < 0 ? m : in->rest->child[i], T_TIMES, 0))
                return NULL;
        all = reader_list(r, MATH_MULTIPLY, from, &factors);
    } else if (in->rest) {
        all = reader_two(r, MATH_MULTIPLY, from, m, in->rest);
    }
    if (!in->sum)
        return all;
    struct read_items terms = {0};
    if (reader_add(r, &terms, all, T_PLUS, 0))
        return NULL;
    for (int i = in->after; i < in->sum->n; i++)
        if (reader_add(r, &terms, in->sum->child[i], T_PLUS, 0))
            return NULL;
    return reader_list(r, MATH_ADD, from, &terms);
}

/* Reads an integral up to the end of the sum (\int_a^b f(x) dx), or a limit up to the end of the product
 * (\lim_{x \to 0} f(x)). */
const struct math_node *read_opaque(struct math_reader *r, const char *name, int from)
{
    const struct math_node *child[3];
    int n = 0, limit = name[0] == 'l';
    struct read_bounds b = {0};
    struct integrand in;
    if (read_bounds(r, &b) || b.variable)
        return NULL;
    r->in_integral += !limit;
    const struct math_node *body = limit ? read_signed_product(r) : read_sum(r);
    r->in_integral -= !limit;
    if (!body)
        return NULL;
    if (!limit && !b.condition == !b.to && !split_integrand(r, &in, body))
        return make_integral(r, from, b.condition, b.to, &in);
    if (b.condition)
        child[n++] = b.condition;
    if (b.to)
        child[n++] = b.to;
    child[n++] = body;
    struct math_node *m = math_node_new(r->w, MATH_OPAQUE, reader_source(r, from), n, child);
    if (m)
        m->name = name;
    return m;
}
