/* Atoms: one operand of a sum or product. What kind of thing stands here? Fractions, roots, binomials,
 * accents, sums and products with bounds are read here; numbers, names, functions and brackets in files of
 * their own. */
#include "answer_check/read/reader.h"

#include <string.h>

#include "evalcore/base/arena.h"

/* ---- combinations and arrangements: {}_nC_k, ^nC_k, _5C_2, {}_nP_k ---- */

struct chosen {
    int first; /* tokens before the first number */
    int glued; /* that number is a letter in one word with the C */
    char letter;
};

/* A number or letter behind ^ or _, with or without braces: the number of its tokens, or 0. */
static int script_length(const struct token *t)
{
    if (t->kind == T_OPEN && t->value == '{')
        return t[1].kind != T_OPEN && t[1].kind != T_CLOSE && t[2].kind == T_CLOSE ? 3 : 0;
    return t->kind == T_DIGITS || t->kind == T_WORD ? 1 : 0;
}

/* Do combinations or arrangements stand at t? Fills c. */
static int find_chosen(const struct token *t, struct chosen *c)
{
    int empty = t->kind == T_OPEN && t->value == '{' && t[1].kind == T_CLOSE;
    c->first = 1 + 2 * empty;
    t += c->first;
    if (t[-1].kind != T_UNDERSCORE && t[-1].kind != T_CARET)
        return 0;
    c->glued = t->kind == T_WORD && t->n == 2;
    int used = c->glued ? 0 : script_length(t);
    const struct token *letter = t + used;
    if ((!used && !c->glued) || letter->kind != T_WORD || letter->n != 1 + c->glued)
        return 0;
    c->letter = letter->s[c->glued];
    return (c->letter == 'C' || c->letter == 'P') && letter[1].kind == T_UNDERSCORE &&
           script_length(letter + 2);
}

/* Do combinations or arrangements stand at pos? */
static int read_is_chosen(const struct math_reader *r)
{
    struct chosen c;
    return !r->skip && find_chosen(reader_token(r), &c);
}

/* The number of arrangements of k among n things, n!/(n - k)! */
static const struct math_node *make_arrangements(struct math_reader *r, int from, const struct math_node *n,
                                                 const struct math_node *k)
{
    const struct math_node *term[] = {n, reader_one(r, MATH_NEGATE, from, k)};
    const struct math_node *rest = math_node_new(r->w, MATH_ADD, reader_source(r, from), 2, term);
    return reader_two(r, MATH_DIVIDE, from, reader_one(r, MATH_FACTORIAL, from, n),
                      reader_one(r, MATH_FACTORIAL, from, rest));
}

static const struct math_node *read_chosen(struct math_reader *r)
{
    struct chosen c;
    int from = r->pos;
    if (!find_chosen(reader_token(r), &c))
        return NULL;
    r->pos += c.first;
    const struct math_node *n =
        c.glued ? reader_named(r, MATH_SYMBOL, from, arena_strndup(r->w->arena, reader_token(r)->s, 1))
                : read_argument(r);
    r->skip = 0;
    reader_next(r); /* the letter, or the word that holds both */
    reader_next(r); /* _ */
    const struct math_node *k = n ? read_argument(r) : NULL;
    if (!k)
        return NULL;
    return c.letter == 'C' ? reader_function(r, MATH_BINOMIAL, from, n, k) : make_arrangements(r, from, n, k);
}

/* ---- commands with arguments ---- */

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

/* Reads \frac{a}{b}, or a derivative written like that. */
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

/* Reads a root: \sqrt2, \sqrt[3]{x}, √12, sqrt(3). `value` is the token's, not 0 for signs such as √,
 * which take all digits of a number. */
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

/* Reads what an accent stands above: \overline{CD} is a segment's name, \bar z a conjugate; any other
 * accent becomes part of the symbol's name. */
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

/* Reads the name of a figure: \angle ABC, \triangle{ABC}. */
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

/* Reads "i=1", or any other condition, behind the underscore. Returns 0, or -1. */
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

/* A sum or product; without a variable and an upper bound it is opaque. */
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

static const struct math_node *read_command(struct math_reader *r)
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

/* ---- any atom ---- */

static const struct math_node *read_constant(struct math_reader *r)
{
    const struct token *t = reader_token(r);
    int from = r->pos;
    reader_next(r);
    if (t->value == MATH_PI && reader_is(r, T_UNDERSCORE))
        return read_name(r, "pi", from, 0);
    return math_node_constant(r->w, reader_source(r, from), (enum math_constant)t->value);
}

/* Reads a fraction that is one character: ½. */
static const struct math_node *read_vulgar(struct math_reader *r)
{
    const char *s = reader_token(r)->s;
    int from = r->pos;
    const struct math_node *a = reader_integer(r, s, 1), *b = reader_integer(r, s + 2, 1);
    reader_next(r);
    return reader_two(r, MATH_DIVIDE, from, a, b);
}

/* A name that was a command; \Delta T is one quantity, and not a product. */
static const struct math_node *read_named(struct math_reader *r)
{
    int from = r->pos - 1;
    const char *name = reader_flat(r, from, r->pos);
    const struct token *t = reader_token(r);
    int is_change = !strcmp(name, "Delta") && ((t->kind == T_WORD && t->n == 1) || t->kind == T_NAME);
    if (is_change) {
        name = arena_printf(r->w->arena, "Delta %s", reader_flat(r, r->pos, r->pos + 1));
        reader_next(r);
    }
    return read_name(r, name, from, 0);
}

/* What \neg stands before: \neg p \to q is (\neg p) \to q. */
static const struct math_node *make_negation(struct math_reader *r, int from, const struct math_node *m,
                                             int whole)
{
    int splits = m && !whole && m->n > 1 &&
                 ((m->kind == MATH_RELATION && *m->ops == MATH_OTHER_RELATION) ||
                  m->kind == MATH_INTERSECTION || m->kind == MATH_UNION);
    if (!splits)
        return reader_one(r, MATH_NOT, from, m);
    const struct math_node **child = arena_alloc(r->w->arena, (size_t)m->n * sizeof *child);
    memcpy(child, m->child, (size_t)m->n * sizeof *child);
    child[0] = reader_one(r, MATH_NOT, from, child[0]);
    return child[0] ? math_node_like(r->w, m, child) : NULL;
}

/* Reads a negation or a quantifier with the statement behind it: \neg p, \forall x > 0. */
static const struct math_node *read_prefix(struct math_reader *r)
{
    const struct token *t = reader_token(r);
    int from = r->pos;
    if (reader_enter(r))
        return NULL;
    reader_next(r);
    const struct token *open = reader_token(r);
    const struct math_node *m = read_relation(r);
    r->depth--;
    if (t->kind == T_NOT)
        return make_negation(r, from, m, open->kind == T_OPEN && r->pos == open->match + 1);
    struct math_node *q = math_node_1(r->w, MATH_OPAQUE, reader_source(r, from), m);
    if (q)
        q->name = t->s;
    return q;
}

/* Reads a set of numbers with its marks, \mathbb{R}, \mathbb{Z}^+, \mathbb{R}_{>0}, \mathbb{N}_0;
 * \mathbb{R}^2 is a power. */
static const struct math_node *read_number_set(struct math_reader *r)
{
    const struct token *t = reader_token(r), *k = t + 1;
    const char *mark = "";
    int from = r->pos;
    reader_next(r);
    while (k->kind == T_CARET || k->kind == T_UNDERSCORE) {
        int braced = k[1].kind == T_OPEN && k[1].value == '{';
        const struct token *s = k + 1 + braced;
        int raised = k->kind == T_CARET;
        if (raised && s->kind != T_PLUS && s->kind != T_MINUS && s->kind != T_TIMES)
            break;
        int at = r->pos + 1, end = braced ? k[1].match + 1 : at + 1;
        mark = reader_join_names(r, mark, reader_flat(r, at, end));
        r->pos = end;
        k = reader_token(r);
    }
    if (mark[0] == '>' && mark[1] == '0' && !mark[2])
        mark = "+";
    if (mark[0] == '<' && mark[1] == '0' && !mark[2])
        mark = "-";
    return math_node_number_set(r->w, reader_source(r, from), (char)t->value, mark);
}

static const struct math_node *read_dots(struct math_reader *r)
{
    int from = r->pos;
    reader_next(r);
    return reader_named(r, MATH_SYMBOL, from, "...");
}

const struct math_node *read_primary(struct math_reader *r)
{
    const struct token *t = reader_token(r);
    int words;
    if (math_step(r->w, 1))
        return NULL;
    if (read_is_chosen(r))
        return read_chosen(r);
    switch (t->kind) {
    case T_DIGITS:
        if (!r->skip && (words = read_base_length(r)))
            return read_based(r, words);
        return read_number(r);
    case T_DOT:
        return read_number(r);
    case T_WORD:
        if (!r->skip && (words = read_phrase_length(r)))
            return read_phrase(r, words);
        return read_letters(r);
    case T_NAME:
        reader_next(r);
        return read_named(r);
    case T_CONSTANT:
        return read_constant(r);
    case T_FUNCTION:
    case T_OPERATOR:
        if ((words = read_phrase_length(r)))
            return read_phrase(r, words);
        return read_function(r);
    case T_VULGAR:
        return read_vulgar(r);
    case T_NUMBER_SET:
        return read_number_set(r);
    case T_OPEN:
        if (t->value == '(' && t[1].kind == T_DIGITS && t[2].kind == T_CLOSE && t[3].kind == T_UNDERSCORE) {
            int from = r->pos; /* (243)_7 */
            r->pos += 3;
            return read_base(r, reader_integer(r, t[1].s, t[1].n), from);
        }
        if (read_is_composition(r))
            return read_composition(r);
        return t->value == '{' ? read_group(r) : read_bracket(r);
    case T_BEGIN:
        return read_environment(r);
    case T_DOTS:
        return read_dots(r);
    case T_NOT:
    case T_QUANTIFIER:
        return read_prefix(r);
    default:
        return read_command(r);
    }
}
