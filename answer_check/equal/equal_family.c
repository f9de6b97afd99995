/* Families of answers: "x = \pi/4 + k\pi, k \in \mathbb{Z}". The name of a parameter that an answer declares
 * is the writer's choice, and an integer one may count from anywhere and backwards. Free symbols that nobody
 * declares keep their names, but for the integer of angles (k\pi, 2n\pi). */
#include "answer_check/equal/equal_parts.h"

#include <string.h>
#include <strings.h>

#include "evalcore/base/arena.h"

enum { SYMBOLS = 12 };

struct family {
    const struct math_node *body;
    char name[8];   /* the parameter's; "": none is declared */
    char domain[8]; /* "Z", "Z+", "R"; "c": a constant; "": not said */
};

/* ---- declarations ---- */

/* Notes the parameter and its domain, if both are short enough. */
static void set_parameter(struct family *f, const char *name, char which, const char *mark)
{
    size_t n = strlen(name), k = strlen(mark);
    if (n >= sizeof f->name || k + 1 >= sizeof f->domain)
        return;
    memcpy(f->name, name, n + 1);
    f->domain[0] = which;
    memcpy(f->domain + 1, mark, k + 1);
}

/* The domain that a word of a condition names, 0 for other words of such conditions, -1 for anything else. */
static int domain_of(struct span word)
{
    static const struct {
        const char *word;
        signed char domain;
    } table[] = {
        {"integer", 'Z'}, {"integers", 'Z'}, {"constant", 'c'}, {"constants", 'c'}, {"real", 'R'},
        {"reals", 'R'},   {"for", 0},        {"where", 0},      {"with", 0},        {"any", 0},
        {"all", 0},       {"some", 0},       {"every", 0},      {"each", 0},        {"arbitrary", 0},
        {"an", 0},        {"is", 0},         {"be", 0},         {"the", 0},         {"can", 0},
        {"number", 0},    {"numbers", 0},    {"of", 0},         {"in", 0},          {"a", 0},
        {"value", 0},     {"values", 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (span_is(word, table[i].word))
            return table[i].domain;
    return -1;
}

/* Is the text nothing but words that declare a parameter: "where k is any integer", "for some constant c",
 * "for all x"? Fills f. */
static int words_declare(struct family *f, const char *text)
{
    const char *comma = strrchr(text, ',');
    char letter = 0, which = 0, sure = 0;
    int is_some = 0, is_known = 0; /* "for some n" without a domain is no parameter */
    for (const char *s = comma ? comma + 1 : text; *s;) {
        struct span word = {s, strcspn(s, " ")};
        s += word.n + (s[word.n] != 0);
        if (!word.n)
            continue;
        int verb = !strncmp(s, "is ", 3) || !*s; /* "a is a constant" is about a */
        int domain = word.n == 1 && (*word.s != 'a' || verb) ? -1 : domain_of(word);
        is_some |= span_is(word, "some");
        is_known |= domain > 0;
        if (domain < 0 && word.n == 1 && ascii_is_letter(*word.s)) {
            if (letter && *word.s != letter && !(sure && strchr("rzc", *word.s)))
                return 0;
            if (sure && *word.s != letter) /* c in r */
                which = (char)(*word.s - 'a' + 'A');
            else
                letter = *word.s;
        } else if (domain < 0) {
            return 0;
        }
        sure = span_is(word, "in") ? 1 : sure;
        which = domain > 0 && which != 'c' ? (char)domain : which;
    }
    if (!letter || (is_some && !is_known))
        return 0;
    char name[2] = {letter, 0};
    set_parameter(f, name, which, "");
    return 1;
}

/* Does m declare a parameter, k \in \mathbb{Z} or \forall x \in \mathbb{R}? Fills f. */
static int declares_parameter(struct family *f, const struct math_node *m)
{
    *f->name = *f->domain = 0;
    if (m->kind == MATH_TEXT)
        return words_declare(f, m->name);
    if (m->kind == MATH_OPAQUE && m->n == 1 && !strcmp(m->name, "forall"))
        m = m->child[0];
    if (m->kind != MATH_RELATION || m->n != 2 || m->ops[0] != MATH_IN)
        return 0;
    const struct math_node *name = equal_first_reading(m->child[0]), *domain = m->child[1];
    if (name->kind != MATH_SYMBOL)
        return 0;
    if (domain->kind == MATH_SYMBOL && (!strcmp(domain->name, "Z") || !strcmp(domain->name, "R"))) {
        set_parameter(f, name->name, *domain->name, "");
        return *f->name != 0;
    }
    if (domain->kind != MATH_NUMBER_SET || domain->which == '0')
        return 0;
    set_parameter(f, name->name, (char)domain->which, domain->name);
    return *f->name != 0;
}

/* Does m say where the formula of a sequence begins, n \ge 1? Fills f. */
static int starts_sequence(struct family *f, const struct math_node *body, const struct math_node *m)
{
    int64_t from;
    const struct math_node *left = body->kind == MATH_RELATION ? equal_first_reading(body->child[0]) : NULL;
    if (!left || !(left->kind == MATH_APPLY || (left->kind == MATH_SYMBOL && strchr(left->name, '_'))) ||
        m->kind != MATH_RELATION || m->n != 2 || m->ops[0] != MATH_GREATER_EQUAL ||
        m->child[0]->kind != MATH_SYMBOL || m->child[1]->kind != MATH_NUMBER || m->child[1]->literal.n > 1)
        return 0;
    from = m->child[1]->literal.digits[0] - '0';
    set_parameter(f, m->child[0]->name, 'N', from == 0 ? "0" : "+");
    return from < 2;
}

static const struct math_node *equation_of(struct comparison *e, const struct math_node *left,
                                           const struct math_node *right)
{
    static const unsigned char equal[] = {MATH_EQUAL};
    struct math_node *out = math_node_2(e->w, MATH_RELATION, left->source, left, right);
    if (out)
        out->ops = equal;
    return out;
}

/* Splits m into f->body and the declaration behind it. Returns 1, or 0 when m declares nothing. */
static int split_declaration(struct comparison *e, struct family *f, const struct math_node *m)
{
    const struct math_node *last = m->n > 1 ? m->child[m->n - 1] : NULL, *part[SYMBOLS];
    f->body = m;
    *f->name = *f->domain = 0;
    if (!last || m->n > SYMBOLS)
        return 0;
    switch (m->kind) {
    case MATH_RELATION: /* x \in \{k\pi : k \in \mathbb{Z}\} */
        if (m->n != 2 || m->ops[0] != MATH_IN || last->kind != MATH_SET_BUILDER ||
            !split_declaration(e, f, last) || f->body->kind == MATH_RELATION)
            return 0;
        f->body = equation_of(e, m->child[0], f->body);
        return f->body != NULL;
    case MATH_CASES:
        f->body = m->child[0];
        return m->n == 2 && (declares_parameter(f, last) || starts_sequence(f, f->body, last));
    case MATH_SET_BUILDER:
        f->body = m->child[0];
        if (f->body->kind == MATH_SYMBOL && last->kind == MATH_AND && split_declaration(e, f, last) &&
            f->body->kind == MATH_RELATION && math_node_same(f->body->child[0], m->child[0]))
            return 1; /* \{x \mid x = k\pi, k \in \mathbb{Z}\} */
        f->body = m->child[0];
        *f->name = *f->domain = 0;
        return equal_first_reading(f->body)->kind != MATH_SYMBOL && f->body->kind != MATH_RELATION &&
               declares_parameter(f, last);
    case MATH_AND:
    case MATH_OR:
    case MATH_LIST:
        break;
    default:
        return 0;
    }
    memcpy(part, m->child, (size_t)m->n * sizeof *part);
    if (declares_parameter(f, last) || starts_sequence(f, m->child[0], last)) {
        f->body = m->n == 2 ? part[0] : math_node_new(e->w, m->kind, m->source, m->n - 1, part);
        return f->body != NULL;
    }
    struct family inner; /* x = a, or x = b where k \in \mathbb{Z} */
    if (!split_declaration(e, &inner, last) || !*inner.name)
        return 0;
    *f = inner;
    part[m->n - 1] = inner.body;
    f->body = math_node_new(e->w, m->kind, m->source, m->n, part);
    return f->body != NULL;
}

/* ---- comparison ---- */

/* Do both parameters run over the same numbers? A domain that is not stated is any. */
static int same_domain(const struct family *a, const struct family *b)
{
    if (!*a->domain || !*b->domain || !strcmp(a->domain, b->domain))
        return 1;
    return (*a->domain == 'c' && !strcmp(b->domain, "R")) || (*b->domain == 'c' && !strcmp(a->domain, "R"));
}

/* The only symbol of a that b does not have: 1 and its name; 0: none; -1: several. */
static int find_only_in(struct comparison *e, const struct math_node *a, const struct math_node *b,
                        const char **name)
{
    const char *symbol[SYMBOLS];
    int n = math_symbols(e->w, a, symbol, SYMBOLS), found = 0;
    if (n < 0)
        return -1;
    for (int i = 0; i < n; i++)
        if (!math_has_symbol(b, symbol[i])) {
            *name = symbol[i];
            found++;
        }
    return found > 1 ? -1 : found;
}

static const struct math_node *symbol_of(struct comparison *e, struct span source, const char *name)
{
    return math_node_named(e->w, MATH_SYMBOL, source, arena_strndup(e->w->arena, name, strlen(name)));
}

/* The parameter counted from elsewhere: k + shift, or with `back` shift - k. */
static const struct math_node *counted_from(struct comparison *e, const struct math_node *k, int back,
                                            int64_t shift)
{
    return k ? math_node_2(e->w, MATH_ADD, k->source, back ? math_node_1(e->w, MATH_NEGATE, k->source, k) : k,
                           math_node_integer(e->w, k->source, shift))
             : NULL;
}

/* Is a the same as b with its parameter counted from elsewhere? */
static enum math_truth counted_otherwise(struct comparison *e, const struct math_node *a,
                                         const struct math_node *b, const char *name, int back, int64_t shift)
{
    const struct math_node *other = counted_from(e, symbol_of(e, b->source, name), back, shift);
    return other ? equal_trees(e, a, math_substitute(e->w, b, name, other)) : MATH_UNKNOWN;
}

/* m with an integer in place of the symbol. */
static const struct math_node *at_integer(struct comparison *e, const struct math_node *m, const char *name,
                                          int value)
{
    const struct math_node *k = math_node_integer(e->w, m->source, value);
    return k ? math_substitute(e->w, m, name, k) : NULL;
}

static const struct math_node *difference_of(struct comparison *e, const struct math_node *a,
                                             const struct math_node *b)
{
    const struct math_node *negative = b ? math_node_1(e->w, MATH_NEGATE, b->source, b) : NULL;
    return a && negative ? math_node_2(e->w, MATH_ADD, a->source, a, negative) : NULL;
}

/* By how many steps of b does a begin elsewhere: (a(0) - b(0))/(b(1) - b(0)), for scalars. */
static int has_shift(struct comparison *e, const struct math_node *a, const struct math_node *b,
                     const char *name, int64_t *shift)
{
    if (!math_is_scalar(a) || !math_is_scalar(b))
        return 0;
    const struct math_node *start = at_integer(e, b, name, 0), *next = at_integer(e, b, name, 1),
                           *apart = difference_of(e, at_integer(e, a, name, 0), start),
                           *step = difference_of(e, next, start);
    const struct math_node *steps =
        apart && step ? math_node_2(e->w, MATH_DIVIDE, a->source, apart, step) : NULL;
    return steps && math_scalar_integer(e->w, steps, shift) && *shift<INT32_MAX && * shift> INT32_MIN;
}

/* The value that "x = .." states, where the other side is no statement. */
static const struct math_node *stated_value(struct comparison *e, const struct math_node *m,
                                            const struct math_node *other)
{
    const struct math_node *value =
        m->kind == MATH_RELATION && other->kind != MATH_RELATION ? equal_assigned(e, m, 0) : NULL;
    return value ? value : m;
}

/* Does the symbol stand before pi as a factor, as in k\pi and k\pi/2? */
static int is_angle_integer(const struct math_node *m, const char *name)
{
    if (m->kind == MATH_EITHER || m->kind == MATH_ADD || m->kind == MATH_DIVIDE || m->kind == MATH_NEGATE ||
        m->kind == MATH_RELATION) {
        for (int i = 0; i < m->n; i++)
            if (is_angle_integer(m->child[i], name))
                return 1;
        return 0;
    }
    int pi = 0, letter = 0;
    for (int i = 0; m->kind == MATH_MULTIPLY && i < m->n; i++) {
        const struct math_node *c = m->child[i];
        pi |= (c->kind == MATH_CONSTANT && c->which == MATH_PI) ||
              (c->kind == MATH_DIVIDE && c->child[0]->kind == MATH_CONSTANT && c->child[0]->which == MATH_PI);
        letter |= c->kind == MATH_SYMBOL && !strcmp(c->name, name);
    }
    return pi && letter;
}

/* Without any declaration: k, m and n in front of pi. */
static int by_convention(struct family *g, struct family *p, const char *only_g, const char *only_p)
{
    static const char letters[] = "kmnlj";
    if (!only_g || !only_p || only_g[1] || only_p[1] || !strchr(letters, *only_g) ||
        !strchr(letters, *only_p))
        return 0;
    return is_angle_integer(g->body, only_g) && is_angle_integer(p->body, only_p);
}

/* m with c_1 for C_1 and so on, the constants of a general solution, where the other side has the small
 * ones only. */
static const struct math_node *small_constants(struct comparison *e, const struct math_node *m,
                                               const struct math_node *other)
{
    static const char *const names[][2] = {{"C_1", "c_1"}, {"C_2", "c_2"}, {"C_3", "c_3"}};
    for (int i = 0; i < 3 && m; i++)
        if (math_has_symbol(m, names[i][0]) && !math_has_symbol(m, names[i][1]) &&
            math_has_symbol(other, names[i][1]) && !math_has_symbol(other, names[i][0]))
            m = math_substitute(e->w, m, names[i][0], symbol_of(e, m->source, names[i][1]));
    return m;
}

int equal_declares(struct comparison *e, const struct math_node *m)
{
    struct family f;
    return split_declaration(e, &f, m);
}

enum math_truth equal_families(struct comparison *e, const struct math_node *gold,
                               const struct math_node *pred)
{
    struct family g, p;
    const char *from = NULL, *to = NULL;
    const struct math_node *g_small = small_constants(e, gold, pred),
                           *p_small = small_constants(e, pred, gold);
    if (g_small != gold || p_small != pred)
        return g_small && p_small ? equal_trees(e, g_small, p_small) : MATH_UNKNOWN;
    int declared_g = split_declaration(e, &g, gold), declared_p = split_declaration(e, &p, pred);
    if (!g.body || !p.body)
        return MATH_UNKNOWN;
    if (!same_domain(&g, &p))
        return MATH_FALSE;
    const struct math_node *a = stated_value(e, g.body, p.body), *b = stated_value(e, p.body, g.body);
    int in_g = find_only_in(e, a, b, &to), in_p = find_only_in(e, b, a, &from);
    if (in_g != in_p || in_g < 0)
        return MATH_FALSE;
    if (in_g) { /* declared where declared at all: in the name's case, or folded with its words */
        int known =
            (!declared_g || !strncasecmp(g.name, to, 8)) && (!declared_p || !strncasecmp(p.name, from, 8));
        if (!known || !(declared_g || declared_p || by_convention(&g, &p, to, from)))
            return MATH_FALSE;
        b = math_substitute(e->w, b, from, symbol_of(e, b->source, to));
    } else if (!declared_g && !declared_p) {
        return MATH_FALSE;
    }
    enum math_truth r = b ? equal_trees(e, a, b) : MATH_UNKNOWN;
    const char *domain = *g.domain ? g.domain : p.domain;
    const char *name = to ? to : *g.name ? g.name : p.name;
    if (strcmp(domain, "Z") != 0 || !*name || !b || equal_declares(e, b)) /* one parameter, not several */
        return r;
    int64_t shift;
    for (int back = 0; back < 2 && r != MATH_TRUE && has_shift(e, a, b, name, &shift); back++)
        r = equal_better(r, counted_otherwise(e, a, b, name, back, shift));
    for (int k = 0; k < 10 && r != MATH_TRUE; k++) /* k + 1, -k, .. run through the same integers */
        r = equal_better(r, counted_otherwise(e, a, b, name, k >= 5, k % 5 - 2));
    return r;
}

/* ---- antiderivatives: F(x) + C and G(x) + c, which may differ by a constant ---- */

/* Index of the summand that is the constant, or -1: a letter that occurs nowhere else. */
static int find_constant(const struct math_node *m)
{
    static const char *const names[] = {"C", "C_1", "c", "c_1", "K", "k"};
    for (int i = 0; m->kind == MATH_ADD && i < m->n; i++) {
        const struct math_node *c = equal_first_reading(m->child[i]);
        for (size_t k = 0; c->kind == MATH_SYMBOL && k < sizeof names / sizeof *names; k++)
            if (!strcmp(c->name, names[k])) {
                for (int j = 0; j < m->n; j++)
                    if (j != i && math_has_symbol(m->child[j], c->name))
                        return -1;
                return i;
            }
    }
    return -1;
}

/* The sum without the summand numbered `at`. */
static const struct math_node *without_term(struct comparison *e, const struct math_node *m, int at)
{
    const struct math_node *rest[64];
    int n = 0;
    if (m->n > 64)
        return NULL;
    for (int i = 0; i < m->n; i++)
        if (i != at)
            rest[n++] = m->child[i];
    return n == 1 ? rest[0] : math_node_new(e->w, MATH_ADD, m->source, n, rest);
}

enum math_truth equal_antiderivatives(struct comparison *e, const struct math_node *gold,
                                      const struct math_node *pred)
{
    static const char *const variables[] = {"x", "t", "u", "y", "z", "theta", "s", "r"};
    const char *symbol[2];
    int at = find_constant(gold), in_pred = find_constant(pred), known = 0;
    if (at < 0 || in_pred < 0 ||
        (*equal_first_reading(gold->child[at])->name != 'C' &&
         *equal_first_reading(pred->child[in_pred])->name != 'C'))
        return MATH_FALSE; /* x^2 + k is a polynomial with a parameter */
    const struct math_node *a = without_term(e, gold, at), *b = a ? without_term(e, pred, in_pred) : NULL;
    if (!b || math_symbols(e->w, a, symbol, 2) != 1)
        return MATH_FALSE;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        known |= !strcmp(symbol[0], variables[i]);
    if (!known)
        return MATH_FALSE;
    enum math_truth r = equal_trees(e, a, b);
    const struct math_node *minus = math_node_1(e->w, MATH_NEGATE, b->source, b),
                           *d = math_node_2(e->w, MATH_ADD, a->source, a, minus);
    struct math_node *point = math_node_new(e->w, MATH_NUMBER, a->source, 0, NULL);
    if (r == MATH_TRUE || !d || !point)
        return r;
    point->literal = (struct math_literal){.digits = "7", .n = 1, .decimals = 1, .point = 1};
    const struct math_node *there = math_substitute(e->w, d, symbol[0], point);
    return there ? equal_better(r, math_scalar_equal(e->w, d, there)) : r; /* they differ by a constant */
}
