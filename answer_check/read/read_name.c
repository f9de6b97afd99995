/* Letters and names: symbols with subscripts and strokes, functions applied to something, words that stand
 * for one quantity, and the digits of bases above ten. */
#include "answer_check/read/reader.h"

#include <string.h>

#include "evalcore/base/arena.h"

/* Letters that usually name functions: the first reading of f(x) is an application. */
static int names_function(const char *name)
{
    static const char *const table[] = {"f",     "g",   "h",   "F",     "G",      "H",     "P",
                                        "Q",     "E",   "phi", "psi",   "tau",    "zeta",  "Gamma",
                                        "sigma", "Phi", "Psi", "delta", "Lambda", "varphi"};
    char stem[8] = {0};
    for (size_t i = 0; i + 1 < sizeof stem && name[i] && !strchr("_'^", name[i]); i++)
        stem[i] = name[i];
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(stem, table[i]))
            return 1;
    return 0;
}

int read_subscript(struct math_reader *r)
{
    if (!reader_is(r, T_UNDERSCORE))
        return -1;
    reader_next(r);
    const struct token *t = reader_token(r);
    if (t->kind == T_OPEN && t->value == '{') {
        r->pos = t->match + 1;
        return 0;
    }
    if (t->kind != T_DIGITS && t->kind != T_WORD && t->kind != T_NAME && t->kind != T_CONSTANT &&
        t->kind != T_NUMBER_SET && t->kind != T_FUNCTION)
        return -1;
    reader_next(r);
    return 0;
}

/* Does the order of a derivative stand in parentheses behind a letter, y^{(4)}, f^{(n)}? Returns how many
 * tokens it takes, and in *n the number of strokes that it stands for, or 0. */
static int derivative_order(const char *name, const struct token *t, int *n)
{
    const struct token *inside = &t[3];
    *n = 0;
    if (t->kind != T_CARET || t[1].kind != T_OPEN || t[1].value != '{' || t[2].kind != T_OPEN ||
        t[2].value != '(' || t[4].kind != T_CLOSE || t[5].kind != T_CLOSE || !strcmp(name, "e") ||
        (inside->kind != T_DIGITS && inside->kind != T_WORD) || inside->n != 1)
        return 0;
    *n = inside->kind == T_DIGITS ? *inside->s - '0' : 0;
    return 6;
}

/* Is a sign set high as a mark rather than a power, x^*, x^{*}, x^+? Returns how many tokens it takes. */
static int star_length(const struct token *t)
{
    if (t->kind != T_CARET)
        return 0;
    int braced = t[1].kind == T_OPEN && t[1].value == '{';
    const struct token *s = &t[1 + braced], *after = s + 1;
    if (s->kind != T_TIMES && s->kind != T_PLUS && s->kind != T_MINUS)
        return 0;
    if (braced)
        return after->kind == T_CLOSE ? 4 : 0;
    return after->kind == T_END || after->kind == T_CLOSE || after->kind == T_COMMA ||
                   after->kind == T_RELATION || after->kind == T_PLUS || after->kind == T_MINUS
               ? 2
               : 0;
}

/* The exponent in f^{-1}(x) and f^2(x): how many tokens it takes, or 0 when no parenthesis follows. */
static int function_power_length(const struct math_reader *r, const struct token *t)
{
    if (t->kind != T_CARET)
        return 0;
    const struct token *end = t[1].kind == T_OPEN && t[1].value == '{' ? &r->t[t[1].match] : &t[1];
    if (end == &t[1] && t[1].kind != T_DIGITS)
        return 0;
    if (end[1].kind != T_OPEN || end[1].value != '(')
        return 0;
    return (int)(end - t) + 1;
}

struct call {
    int commas, single;
};

/* Looks into the parentheses at pos: do they hold several arguments, or a single letter or number? */
static struct call look_inside(const struct math_reader *r)
{
    const struct token *t = reader_token(r);
    struct call c = {0, t->match == r->pos + 2};
    for (int i = r->pos + 1; i < t->match && i < r->pos + 400; i++) {
        const struct token *k = &r->t[i];
        if (k->kind == T_OPEN && k->match > i)
            i = k->match;
        else
            c.commas |= k->kind == T_COMMA;
    }
    enum token_kind inner = r->t[r->pos + 1].kind;
    c.single = c.single && (inner == T_DIGITS || inner == T_WORD || inner == T_NAME);
    return c;
}

/* A word in upright letters, not all capitals, names a function: \operatorname{erf}(x + y),
 * \mathrm{Var}(X). */
static int is_upright_word(const struct math_reader *r, const char *name, int from)
{
    const struct token *t = &r->t[from];
    size_t n = strcspn(name, "_'^");
    int small = 0;
    for (size_t i = 0; i < n; i++)
        small |= name[i] >= 'a' && name[i] <= 'z';
    return t->kind == T_WORD && t->flags & TOKEN_TEXT && n > 1 && (size_t)t->n == n && small;
}

/* Is the name a function of what stands in the parentheses at pos? Notes where both are possible. */
static int is_applied(struct math_reader *r, const char *name, int from)
{
    const struct token *t = reader_token(r);
    if (r->skip || t->kind != T_OPEN || t->space == SPACE_WIDE)
        return 0;
    if (t->value == '[' && !strcmp(name, "E")) /* the expected value */
        return 1;
    if (t->value != '(')
        return 0;
    if (is_upright_word(r, name, from))
        return 1;
    struct call c = look_inside(r);
    const struct token *behind = &r->t[t->match + 1];
    int marked = strpbrk(name, "'^") != NULL,
        equation = behind->kind == T_RELATION && behind->value == MATH_EQUAL;
    int capital = *name >= 'A' && *name <= 'Z';
    if (equation && c.single) /* f(x) = ... */
        return 1;
    if (c.commas || (names_function(name) && marked))
        return names_function(name) || !reader_option(r, READ_PRODUCT);
    if (names_function(name))
        return !reader_option(r, READ_PRODUCT);
    if (!c.single || t->space)
        return 0;
    if (capital)
        return !reader_option(r, READ_PRODUCT);
    return reader_option(r, READ_APPLICATION);
}

/* Reads the arguments of the function `name` in the parentheses at pos. */
static const struct math_node *read_application(struct math_reader *r, const char *name, int from)
{
    struct read_items args = {0};
    int close = reader_token(r)->match, outside = r->in_bracket;
    reader_next(r);
    r->in_bracket = 1;
    if (reader_enter(r) || read_items(r, &args) || r->pos != close)
        return NULL;
    r->depth--;
    r->in_bracket = outside;
    reader_next(r);
    if (args.n == 2 && !strcmp(name, "C") && reader_option(r, READ_CHOOSE))
        return reader_function(r, MATH_BINOMIAL, from, args.node[0], args.node[1]);
    const struct math_node *first = args.node[0];
    if (args.n == 1 && first->kind == MATH_RELATION && first->n == 2 &&
        *first->ops == MATH_DIVIDES) { /* P(A|B) */
        args = (struct read_items){.node = first->child, .n = 2};
        name = reader_join_names(r, name, "|");
    }
    struct math_node *m = math_node_new(r->w, MATH_APPLY, reader_source(r, from), args.n, args.node);
    if (m)
        m->name = name;
    return m;
}

/* In the first reading e and i are constants, unless a sum runs over them. */
static const struct math_node *letter_constant(struct math_reader *r, const char *name, int from)
{
    int e = !strcmp(name, "e"), i = !strcmp(name, "i");
    if ((!e && !i) || (e && r->bound_e) || (i && r->bound_i) ||
        reader_option(r, e ? READ_E_SYMBOL : READ_I_SYMBOL))
        return NULL;
    return math_node_constant(r->w, reader_source(r, from), e ? MATH_E : MATH_I);
}

/* Does an exponent with a letter in it follow? n2^{n-1} is n times a power of 2, while x1^2 is x_1
 * squared. */
static int raised_by_letter(const struct token *t)
{
    if (t->kind != T_CARET)
        return 0;
    int depth = 0;
    do {
        t++;
        depth += (t->kind == T_OPEN) - (t->kind == T_CLOSE);
        if (t->kind == T_WORD || t->kind == T_NAME)
            return 1;
    } while (depth > 0 && t->kind != T_END);
    return 0;
}

/* The subscript 1+n as n+1. */
static const char *sort_subscript(struct math_reader *r, const char *subscript)
{
    size_t digits = *subscript ? strspn(subscript + 1, "0123456789") : 0;
    const char *rest = subscript + 1 + digits;
    if (!digits || rest[0] != '+' || !ascii_is_letter(rest[1]) || rest[2])
        return subscript;
    return arena_printf(r->w->arena, "_%c+%.*s", rest[1], (int)digits, subscript + 1);
}

const struct math_node *read_name(struct math_reader *r, const char *name, int from, int plain_letter)
{
    const char *first = name;
    int n, used, at = r->pos;
    if (!r->skip) {
        const struct token *t = reader_token(r);
        if (plain_letter && t->kind == T_DIGITS && !t->space && !raised_by_letter(t + 1)) { /* x1 */
            name = arena_printf(r->w->arena, "%s_%.*s", name, t->n, t->s);
            reader_next(r);
        } else if (t->kind == T_UNDERSCORE) {
            if (read_subscript(r))
                return NULL;
            name = reader_join_names(r, name, sort_subscript(r, reader_flat(r, at, r->pos)));
        }
        if ((used = read_strokes_length(reader_token(r), &n))) {
            r->pos += used;
            for (; n > 0 && n < 9; n--)
                name = reader_join_names(r, name, "'");
        }
        if (reader_is(r, T_UNDERSCORE) && name == first)
            return NULL;
        if ((used = derivative_order(name, reader_token(r), &n))) {
            const char *raised = reader_flat(r, r->pos, r->pos + used);
            r->pos += used;
            if (!n)
                name = reader_join_names(r, name, raised);
            for (; n > 0; n--)
                name = reader_join_names(r, name, "'");
        }
        at = r->pos;
        if ((used = star_length(reader_token(r)))) {
            r->pos += used;
            name = reader_join_names(r, name, reader_flat(r, at + 1, r->pos));
        } else if (names_function(name) && (used = function_power_length(r, reader_token(r)))) {
            const char *power = reader_flat(r, at, at + used);
            int sure = !strcmp(power, "^-1") || *name == 'f' || *name == 'g';
            if (sure && !reader_option(r, READ_PRODUCT)) { /* P^2(1-P) is a product */
                r->pos += used;
                name = reader_join_names(r, name, power);
            }
        }
    }
    if (is_applied(r, name, from))
        return read_application(r, name, from);
    const struct math_node *m = name == first ? letter_constant(r, name, from) : NULL;
    return m ? m : reader_named(r, MATH_SYMBOL, from, name);
}

const struct math_node *read_based(struct math_reader *r, int tokens)
{
    int from = r->pos;
    const char *name = reader_flat(r, from, from + tokens);
    r->pos += tokens;
    return read_base(r, reader_named(r, MATH_SYMBOL, from, name), from);
}

/* Is the word at pos one name (AB, Area, \text{total}) or a product of letters (xy)? */
static int is_one_name(struct math_reader *r)
{
    const struct token *t = reader_token(r);
    struct span word = token_text(t);
    int capitals = 0;
    for (int i = 0; i < t->n; i++) {
        capitals += t->s[i] >= 'A' && t->s[i] <= 'Z';
        if (t->s[i] & 0x80)
            return 1;
    }
    if (t->flags & TOKEN_TEXT)
        return 1;
    int name = capitals == t->n || (t->n >= 4 && read_has_vowel(word));
    int is_title = capitals == 1 && *t->s >= 'A' && *t->s <= 'Z';
    if (t->n > 5 || (t->n > 3 && capitals && capitals < t->n && (is_title || read_has_vowel(word))))
        return 1; /* Area, and no nRTV */
    return name || t->n == 3 ? name != reader_option(r, READ_NAMES) : 0;
}

/* Is d a letter like others here, in powers such as d^4 and dx^4? */
static int is_letter_d(const struct math_reader *r, const struct token *t)
{
    if (t[1].kind == T_CARET && !(t[2].kind == T_DIGITS && t[2].n == 1 && *t[2].s == '2') &&
        !(t[2].kind == T_OPEN && t[3].kind == T_DIGITS && t[3].n == 1 && *t[3].s == '2'))
        return 1;
    for (const struct token *k = r->t; k->kind != T_END; k++)
        if (k->kind == T_WORD && k->n < 3 && k->s[k->n - 1] == 'd' && k[1].kind == T_CARET &&
            (k[2].kind == T_DIGITS || k[2].kind == T_OPEN) && *k[2 + (k[2].kind == T_OPEN)].s != '2')
            return 1;
    return 0;
}

/* Is it dx outside an integral? That is one quantity, so that x dy - y dx is not 0. The only one may also be
 * a product. */
static int is_lone_differential(struct math_reader *r, const struct token *t)
{
    int others = 0;
    if (r->in_integral || t->n != 2 || t->s[0] != 'd' || !t->s[1] || !strchr("xyzuvSTUVPQWGH", t->s[1]) ||
        is_letter_d(r, t))
        return 0;
    for (const struct token *k = r->t; k->kind != T_END; k++)
        others += k != t && k->kind == T_WORD && k->n == 2 && k->s[0] == 'd';
    return others || !reader_option(r, READ_NAMES);
}

const struct math_node *read_letters(struct math_reader *r)
{
    const struct token *t = reader_token(r);
    int from = r->pos, base = r->skip ? 0 : read_base_length(r);
    if (base)
        return read_based(r, base);
    struct span word = token_text(t);
    /* In a language without blanks a word is a name only as the side of a relation. */
    int beyond_ascii = t->s[0] & 0x80 && t->n > 4;
    if (!r->skip && (math_word_is_prose(word) || (beyond_ascii && t[1].kind != T_RELATION)))
        return NULL;
    if (!r->skip && (t->n == 1 || t->s[0] & 0x80 || is_lone_differential(r, t) || is_one_name(r))) {
        char *name = arena_strndup(r->w->arena, t->s, (size_t)t->n);
        int is_segment = t->n == 2 && !(t->flags & TOKEN_TEXT) && name[1] >= 'A' && name[0] <= 'Z';
        if (is_segment && name[1] < name[0]) { /* BA is AB */
            name[0] = t->s[1];
            name[1] = t->s[0];
        }
        reader_next(r);
        return read_name(r, name, from, t->n == 1);
    }
    const char *name = arena_strndup(r->w->arena, t->s + r->skip, 1);
    if (++r->skip == t->n)
        reader_next(r);
    return read_name(r, name, from, 1);
}

/* Does ( f \circ g ) stand here, with arguments behind it? */
int read_is_composition(const struct math_reader *r)
{
    const struct token *t = reader_token(r);
    return !r->skip && t->value == '(' && t->match == r->pos + 4 && t[1].kind == T_WORD && t[1].n == 1 &&
           t[2].kind == T_CIRC && t[3].kind == T_WORD && t[3].n == 1 && t[5].kind == T_OPEN &&
           t[5].value == '(';
}

/* Reads (f \circ g)(x) as f(g(x)). */
const struct math_node *read_composition(struct math_reader *r)
{
    int from = r->pos;
    const char *outer = arena_strndup(r->w->arena, r->t[from + 1].s, 1),
               *inner = arena_strndup(r->w->arena, r->t[from + 3].s, 1);
    r->pos += 5;
    const struct math_node *x = read_application(r, inner, from);
    struct math_node *m = x ? math_node_1(r->w, MATH_APPLY, reader_source(r, from), x) : NULL;
    if (m)
        m->name = outer;
    return m;
}
