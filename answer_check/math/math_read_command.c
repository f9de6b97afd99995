/* Commands with arguments: fractions, roots, binomials, accents, sums and products with bounds, integrals. */
#include "answer_check/math/math_reader.h"

#include <string.h>

#include "evalcore/base/arena.h"

/* An argument as TeX takes it: a group, or one digit, letter or command. */
const struct math_node *read_argument(struct math_reader *r)
{
    const struct token *t = reader_token(r);
    int from = r->pos;
    if (t->kind == T_OPEN && !r->skip)
        return t->value == '{' ? read_group(r) : read_bracket(r);
    if (t->kind == T_DIGITS) {
        const struct math_node *m = reader_integer(r, t->s + r->skip, 1);
        if (++r->skip == t->n)
            reader_next(r);
        return m;
    }
    if (t->kind == T_WORD && !(t->s[0] & 0x80)) {
        char name[2] = {t->s[r->skip], 0};
        int constant = *name == 'e' || *name == 'i';
        if (++r->skip == t->n)
            reader_next(r);
        if (constant && !(*name == 'e' ? r->bound_e : r->bound_i) &&
            !reader_option(r, *name == 'e' ? READ_E_SYMBOL : READ_I_SYMBOL))
            return math_node_constant(r->w, reader_source(r, from), *name == 'e' ? MATH_E : MATH_I);
        return reader_named(r, MATH_SYMBOL, from, arena_strndup(r->w->arena, name, 1));
    }
    if (t->kind == T_NAME) {
        reader_next(r);
        return reader_named(r, MATH_SYMBOL, from, reader_flat(r, from, from + 1));
    }
    return read_primary(r);
}

static const struct math_node *read_fraction(struct math_reader *r, int from)
{
    if (read_is_derivative(r))
        return read_derivative(r, from);
    const struct math_node *a = read_argument(r), *b = a ? read_argument(r) : NULL;
    return reader_two(r, MATH_DIVIDE, from, a, b);
}

static const struct math_node *read_binomial(struct math_reader *r, int from)
{
    const struct math_node *n = read_argument(r), *k = n ? read_argument(r) : NULL;
    return k ? reader_function(r, MATH_BINOMIAL, from, n, k) : NULL;
}

/* \sqrt2, \sqrt[3]{x}, √12, sqrt(3). `value` is the token's: not 0 for signs such as √, which take all digits
 * of a number. */
static const struct math_node *read_root(struct math_reader *r, int from, int value)
{
    const struct math_node *which = NULL, *x;
    const struct token *t = reader_token(r);
    if (t->kind == T_OPEN && t->value == '[' && !value) {
        int close = t->match;
        reader_next(r);
        which = read_sum(r);
        if (!which || r->pos != close)
            return NULL;
        reader_next(r);
        t = reader_token(r);
    } else if (value > 1) {
        which = reader_integer(r, value == 3 ? "3" : "4", 1);
    }
    int digits = t->kind == T_DIGITS && !r->skip && t->n > 1;
    if (value && (t->kind == T_DIGITS || t->kind == T_DOT))
        x = read_number(r);
    else if (digits && reader_option(r, READ_TEX_DIGITS))
        x = read_number(r);
    else
        x = read_argument(r);
    return x ? reader_function(r, MATH_SQRT, from, x, which) : NULL;
}

/* Counts x, y and capitals; *complex is set where i, z or w occurs. */
static int count_letters(const struct math_node *m, int *complex)
{
    int n = 0;
    if (m->kind == MATH_SYMBOL) {
        *complex |= *m->name == 'z' || *m->name == 'w';
        n = *m->name == 'x' || *m->name == 'y' || (*m->name >= 'A' && *m->name <= 'Z');
    }
    *complex |= m->kind == MATH_CONSTANT && m->which == MATH_I;
    for (int i = 0; i < m->n; i++)
        n += count_letters(m->child[i], complex);
    return n;
}

/* Is a line over it a mean or a complement rather than a conjugate? */
static int is_mean(const struct math_node *m)
{
    int complex = 0;
    return count_letters(m, &complex) > 0 && !complex && m->n > 0 && m->kind != MATH_APPLY;
}

/* \overline{CD} is a segment's name, \bar z a conjugate; any other accent becomes part of the symbol's
 * name. */
static const struct math_node *read_accent(struct math_reader *r, const struct token *t, int from)
{
    const struct token *a = reader_token(r);
    int line = !strcmp(t->s, "overline") || !strcmp(t->s, "bar");
    int braced = a->kind == T_OPEN && a->value == '{', end = braced ? a->match + 1 : r->pos + 1;
    const struct token *word = a + braced;
    int letters = word->kind == T_WORD && (braced ? end == r->pos + 3 : 1);
    int segment = letters && braced && word->n > 1 && *word->s >= 'A' && *word->s <= 'Z';
    if (line && !segment) {
        const struct math_node *x = read_argument(r);
        if (x && is_mean(x)) {
            struct math_node *m = math_node_1(r->w, MATH_APPLY, reader_source(r, from), x);
            if (m)
                m->name = "overline";
            return m;
        }
        return x ? reader_function(r, MATH_CONJUGATE, from, x, NULL) : NULL;
    }
    if (!braced && (a->kind != T_WORD || a->n > 1) && a->kind != T_NAME)
        return NULL;
    const char *name = reader_flat(r, r->pos, end);
    r->pos = end;
    return read_name(r, line ? name : arena_printf(r->w->arena, "%s_%s", t->s, name), from, 0);
}

/* The letters of a figure: an angle is the same from both ends, a triangle from every corner. */
static const char *figure_corners(struct math_reader *r, const char *shape, int from, int to)
{
    const char *flat = reader_flat(r, from, to);
    int triangle = !strcmp(shape, "triangle");
    char *s = arena_strndup(r->w->arena, flat, strlen(flat));
    if (strlen(s) != 3 || strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 3 ||
        (!triangle && strcmp(shape, "angle") != 0))
        return flat;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++) {
            int a = triangle ? k : 0, b = triangle ? k + 1 : 2;
            char c = s[a];
            if (s[b] < c) {
                s[a] = s[b];
                s[b] = c;
            }
        }
    return s;
}

/* \angle ABC, \triangle{ABC} */
static const struct math_node *read_shape(struct math_reader *r, const struct token *t, int from)
{
    const struct token *a = reader_token(r);
    int is_named = a->kind != T_END && a->n == 3; /* \angle TAN is no tangent */
    for (int i = 0; i < a->n && is_named; i++)
        is_named = a->s[i] >= 'A' && a->s[i] <= 'Z';
    int end = a->kind == T_OPEN && a->value == '{'                   ? a->match + 1
              : is_named || a->kind == T_WORD || a->kind == T_DIGITS ? r->pos + 1
                                                                     : r->pos;
    const char *name =
        end > r->pos ? arena_printf(r->w->arena, "%s %s", t->s, figure_corners(r, t->s, r->pos, end)) : t->s;
    r->pos = end;
    return read_name(r, name, from, 0);
}

static int read_lower_bound(struct math_reader *r, struct read_bounds *b)
{
    const struct token *t = reader_token(r);
    int braced = t->kind == T_OPEN && t->value == '{';
    const struct token *name = t + braced;
    int letter = (name->kind == T_WORD && name->n == 1) || name->kind == T_NAME;
    if (!braced || !letter || name[1].kind != T_RELATION || name[1].value != MATH_EQUAL) {
        b->condition = read_argument(r);
        return b->condition ? 0 : -1;
    }
    int close = t->match;
    r->pos += 1;
    b->name = reader_flat(r, r->pos, r->pos + 1);
    reader_next(r);
    b->variable = reader_named(r, MATH_SYMBOL, r->pos - 1, b->name);
    reader_next(r);
    b->from = read_sum(r);
    if (!b->from || r->pos != close)
        return -1;
    reader_next(r);
    return 0;
}

int read_bounds(struct math_reader *r, struct read_bounds *b)
{
    for (int i = 0; i < 2; i++) {
        if (reader_is(r, T_UNDERSCORE) && !b->from && !b->condition) {
            reader_next(r);
            if (read_lower_bound(r, b))
                return -1;
        } else if (reader_is(r, T_CARET) && !b->to) {
            reader_next(r);
            if (!(b->to = read_script(r)))
                return -1;
        }
    }
    return 0;
}

const struct math_node *read_signed_product(struct math_reader *r)
{
    int from = r->pos, negative = reader_is(r, T_MINUS);
    if (negative)
        reader_next(r);
    const struct math_node *m = read_product(r);
    return negative ? reader_one(r, MATH_NEGATE, from, m) : m;
}

static const struct math_node *read_big_sum(struct math_reader *r, int product, int from)
{
    struct read_bounds b = {0};
    if (read_bounds(r, &b))
        return NULL;
    int i = b.name && !strcmp(b.name, "i"), e = b.name && !strcmp(b.name, "e");
    r->bound_i += i;
    r->bound_e += e;
    const struct math_node *body = read_signed_product(r);
    r->bound_i -= i;
    r->bound_e -= e;
    if (b.variable && b.to) {
        const struct math_node *child[] = {body, b.variable, b.from, b.to};
        struct math_node *m = math_node_new(r->w, MATH_SUM, reader_source(r, from), 4, child);
        if (m)
            m->which = product;
        return m;
    }
    const struct math_node *child[] = {b.condition ? b.condition : b.variable, body};
    struct math_node *m =
        math_node_new(r->w, MATH_OPAQUE, reader_source(r, from), b.to || b.from ? 0 : 2, child);
    if (m)
        m->name = product ? "product" : "sum";
    return b.to || b.from || !child[0] ? NULL : m;
}

const struct math_node *read_command(struct math_reader *r)
{
    const struct token *t = reader_token(r);
    const struct math_node *m;
    int from = r->pos;
    if (reader_enter(r))
        return NULL;
    reader_next(r);
    switch (t->kind) {
    case T_FRACTION:
        m = read_fraction(r, from);
        break;
    case T_ROOT:
        m = read_root(r, from, t->value);
        break;
    case T_BINOMIAL:
        m = read_binomial(r, from);
        break;
    case T_ACCENT:
        m = read_accent(r, t, from);
        break;
    case T_SHAPE:
        m = read_shape(r, t, from);
        break;
    case T_BIG_SUM:
        m = read_big_sum(r, t->value, from);
        break;
    case T_OPAQUE:
        m = read_opaque(r, t->s, from);
        break;
    default:
        m = NULL;
    }
    r->depth--;
    return m;
}
