/* Derivatives, integrals and limits. They are kept apart from products of the letter d: dy/dx is not y/x, and
 * the integral of x over y not that of y over x. */
#include "answer_check/math/math_reader.h"

#include <string.h>

#include "evalcore/base/arena.h"

/* ---- derivatives ---- */

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

static const struct math_node *product_of(struct math_reader *r, const struct math_node *m, int from, int to)
{
    if (to - from == 1)
        return m->child[from];
    return to == from ? reader_integer(r, "1", 1)
                      : math_node_new(r->w, MATH_MULTIPLY, m->source, to - from, m->child + from);
}

/* Splits f(x) dx, dx/x and f(x) + g(x) dx at the first differential: 0, or -1 where there is none. */
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

/* With both bounds a MATH_SUM, whose variable is bound; without bounds opaque, of the variable and the body.
 */
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

/* \int_a^b f(x) dx reads up to the end of the sum, \lim_{x \to 0} f(x) to the end of the product. */
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
