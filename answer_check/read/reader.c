/* Tools of the reader: looking at tokens, choosing options, making nodes with their source, growing lists,
 * looking ahead (contract: reader.h). */
#include "answer_check/read/reader.h"

#include <string.h>

#include "evalcore/base/arena.h"

int reader_option(struct math_reader *r, enum read_option o)
{
    r->seen |= (unsigned)o;
    return (r->options & (unsigned)o) != 0;
}

int reader_enter(struct math_reader *r)
{
    if (r->depth >= MATH_TREE_DEPTH || math_step(r->w, 1))
        return -1;
    r->depth++;
    return 0;
}

struct span reader_source(const struct math_reader *r, int from)
{
    int to = r->skip ? r->pos : r->pos - 1;
    to = to < from ? from : to;
    int begin = r->t[from].at, end = r->skip ? r->t[to].at + r->skip : r->t[to].end;
    return (struct span){r->text.s + begin, end > begin ? (size_t)(end - begin) : 0};
}

const struct math_node *reader_named(struct math_reader *r, enum math_kind kind, int from, const char *name)
{
    return math_node_named(r->w, kind, reader_source(r, from), name);
}

const struct math_node *reader_one(struct math_reader *r, enum math_kind kind, int from,
                                   const struct math_node *a)
{
    return math_node_1(r->w, kind, reader_source(r, from), a);
}

const struct math_node *reader_two(struct math_reader *r, enum math_kind kind, int from,
                                   const struct math_node *a, const struct math_node *b)
{
    return math_node_2(r->w, kind, reader_source(r, from), a, b);
}

const struct math_node *reader_function(struct math_reader *r, enum math_function f, int from,
                                        const struct math_node *a, const struct math_node *b)
{
    const struct math_node *child[] = {a, b};
    struct math_node *m = math_node_new(r->w, MATH_FUNCTION, reader_source(r, from), b ? 2 : 1, child);
    if (m)
        m->which = (int)f;
    return m;
}

const struct math_node *reader_integer(struct math_reader *r, const char *digits, int n)
{
    while (n > 1 && *digits == '0') {
        digits++;
        n--;
    }
    return math_node_digits(r->w, reader_source(r, r->pos), digits, n);
}

const char *reader_flat(struct math_reader *r, int from, int to)
{
    size_t n = 0;
    for (int i = from; i < to; i++)
        n += (size_t)r->t[i].n;
    if (math_step(r->w, (int64_t)n + 1))
        return "";
    char *out = arena_alloc(r->w->arena, n + 1), *p = out;
    for (int i = from; i < to; i++) {
        const struct token *t = &r->t[i];
        if ((t->kind == T_OPEN || t->kind == T_CLOSE) && t->value == '{')
            continue;
        memcpy(p, t->s, (size_t)t->n);
        p += t->n;
    }
    return out;
}

const unsigned char *reader_bytes(struct math_reader *r, const unsigned char *bytes, int n)
{
    unsigned char *out = arena_alloc(r->w->arena, (size_t)n + 1);
    memcpy(out, bytes, (size_t)n);
    return out;
}

const char *reader_join_names(struct math_reader *r, const char *a, const char *b)
{
    return arena_printf(r->w->arena, "%s%s", a, b);
}

int reader_add(struct math_reader *r, struct read_items *list, const struct math_node *m,
               enum token_kind separator, int comma)
{
    if (!m || list->n >= READ_ITEMS)
        return -1;
    if (list->n == list->cap) {
        int cap = list->cap ? 2 * list->cap : 4;
        const struct math_node **node = arena_room(
            r->w->arena, (size_t)cap * (sizeof *node + sizeof(enum token_kind) + sizeof(unsigned char)));
        enum token_kind *kind = (enum token_kind *)(node + cap);
        unsigned char *commas = (unsigned char *)(kind + cap);
        if (list->n) {
            memcpy(node, list->node, (size_t)list->n * sizeof *node);
            memcpy(kind, list->separator, (size_t)list->n * sizeof *kind);
            memcpy(commas, list->comma, (size_t)list->n);
        }
        list->node = node;
        list->separator = kind;
        list->comma = commas;
        list->cap = cap;
    }
    list->node[list->n] = m;
    list->separator[list->n] = separator;
    list->comma[list->n++] = (unsigned char)comma;
    return 0;
}

const struct math_node *reader_list(struct math_reader *r, enum math_kind kind, int from,
                                    const struct read_items *list)
{
    return math_node_new(r->w, kind, reader_source(r, from), list->n, list->node);
}

/* ---- looking ahead, without reading ---- */

int read_opens_condition(const struct math_reader *r)
{
    const struct token *t = reader_token(r);
    if (t->kind != T_OPEN || t->value != '(' || !r->pos)
        return 0;
    for (int i = r->pos + 1; i < t->match; i++) {
        if (r->t[i].kind == T_RELATION)
            return 1;
        if (r->t[i].kind == T_OPEN)
            i = r->t[i].match;
    }
    return 0;
}

int read_remark(const struct math_reader *r)
{
    static const char *const words[] = {"about",   "approx",  "approximately", "decimal",   "exact",
                                        "exactly", "roughly", "rounded",       "simplified"};
    const struct token *t = reader_token(r), *first = t + 1;
    if (t->kind != T_OPEN || t->value != '(' || !r->pos || t->match < r->pos + 2)
        return 0;
    if (first->kind == T_RELATION && first->value == MATH_APPROXIMATELY)
        return t->match;
    for (size_t i = 0; first->kind == T_WORD && i < sizeof words / sizeof *words; i++)
        if (span_starts(token_text(first), words[i]) && strlen(words[i]) == (size_t)first->n)
            return t->match;
    for (int i = r->pos + 1; i < t->match; i++) { /* (square units) */
        struct span word = token_text(&r->t[i]);
        int is_word = word.n > 2 || (word.n > 1 && r->t[i].flags & TOKEN_TEXT);
        if (r->t[i].kind != T_WORD || !is_word || !math_word_is_unit(word))
            return 0;
    }
    return t->match;
}

int read_can_be_end(const struct math_node *m)
{
    switch (m->kind) {
    case MATH_LIST:
    case MATH_TUPLE:
    case MATH_SET:
    case MATH_INTERVAL:
    case MATH_UNION:
    case MATH_INTERSECTION:
    case MATH_DIFFERENCE:
    case MATH_SET_BUILDER:
    case MATH_NUMBER_SET:
    case MATH_MATRIX:
    case MATH_RELATION:
    case MATH_AND:
    case MATH_OR:
    case MATH_TEXT:
        return 0;
    default:
        return 1;
    }
}

/* am, pm, a.m., P.M.: how many tokens, and in *name which of the two. */
int read_half_of_day(const struct token *t, const char **name)
{
    if (t->kind != T_WORD || (!t->space && !(t->flags & TOKEN_TEXT) && t->n == 2) ||
        (ascii_lower(*t->s) != 'a' && ascii_lower(*t->s) != 'p'))
        return 0;
    *name = ascii_lower(*t->s) == 'a' ? "am" : "pm";
    if (t->n == 2)
        return ascii_lower(t->s[1]) == 'm';
    if (t->n != 1 || t[1].kind != T_DOT || t[2].kind != T_WORD || t[2].n != 1 || ascii_lower(*t[2].s) != 'm')
        return 0;
    return t[3].kind == T_DOT ? 4 : 3;
}

int read_ratio_word(const struct math_reader *r)
{
    const struct token *t = reader_token(r);
    return t->kind == T_WORD && t->n == 2 && t->space && span_starts((struct span){t->s, 2}, "to") &&
           r->pos && t[-1].kind == T_DIGITS && t[1].kind == T_DIGITS && t[1].space;
}

int read_base_words(const struct token *t)
{
    int paren = t->kind == T_OPEN && t->value == '(';
    const struct token *word = t + paren;
    if (word->kind != T_WORD || word->n != 4 || !span_starts((struct span){word->s, 4}, "base") ||
        word[1].kind != T_DIGITS || (paren && word[2].kind != T_CLOSE))
        return 0;
    return 2 + 2 * paren;
}

enum { BASE_TOKENS = 40 };

/* Digits of a base above ten: A5_{16}. Returns the number of tokens before the underscore, or 0. */
int read_base_length(const struct math_reader *r)
{
    const struct token *t = reader_token(r);
    int i = 0, letters = 0, highest = 0, base = 0;
    for (; t[i].kind == T_DIGITS || t[i].kind == T_WORD; i++) {
        if ((i && t[i].space) || i > BASE_TOKENS)
            return 0;
        for (int k = 0; t[i].kind == T_WORD && k < t[i].n; k++) {
            char c = t[i].s[k];
            if (c < 'A' || c > 'Z')
                return 0;
            highest = c - 'A' + 10 > highest ? c - 'A' + 10 : highest;
            letters++;
        }
    }
    if (!letters || t[i].kind != T_UNDERSCORE || (i == 1 && letters == 1)) /* A_{20} is a name */
        return 0;
    const struct token *b = &t[i + 1 + (t[i + 1].kind == T_OPEN)];
    if (i == 1 && *t->s == 'C' && b[1 + (b[1].kind == T_CLOSE)].kind == T_CARET) /* C_{20}^{10} */
        return 0;
    for (int k = 0; b->kind == T_DIGITS && k < b->n && k < 3; k++)
        base = 10 * base + b->s[k] - '0';
    return base > highest && base <= 36 && (base > 10) ? i : 0;
}

/* Strokes behind a name: f', f^\prime, f^{\prime\prime}. Returns how many tokens they take, and in *n the
 * number of strokes. */
int read_strokes_length(const struct token *t, int *n)
{
    int raised = t->kind == T_CARET, i = raised, braced = raised && t[1].kind == T_OPEN && t[1].value == '{';
    *n = 0;
    for (i += braced; t[i].kind == T_PRIME; i++)
        *n += t[i].value == 2 ? 2 : 1;
    if (!*n || (braced && t[i].kind != T_CLOSE))
        return 0;
    return i + braced;
}

int read_has_vowel(struct span word)
{
    for (size_t i = 0; i < word.n; i++)
        if (strchr("aeiouy", ascii_lower(word.s[i])) || word.s[i] & 0x80)
            return 1;
    return 0;
}
