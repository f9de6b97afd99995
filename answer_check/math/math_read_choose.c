/* {}_nC_k, ^nC_k, _5C_2, {}_nP_k: the number of combinations, or of arrangements, with its first number
 * before the letter. */
#include "answer_check/math/math_reader.h"
#include "evalcore/base/arena.h"

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

int read_is_chosen(const struct math_reader *r)
{
    struct chosen c;
    return !r->skip && find_chosen(reader_token(r), &c);
}

/* n!/(n - k)! */
static const struct math_node *make_arrangements(struct math_reader *r, int from, const struct math_node *n,
                                                 const struct math_node *k)
{
    const struct math_node *term[] = {n, reader_one(r, MATH_NEGATE, from, k)};
    const struct math_node *rest = math_node_new(r->w, MATH_ADD, reader_source(r, from), 2, term);
    return reader_two(r, MATH_DIVIDE, from, reader_one(r, MATH_FACTORIAL, from, n),
                      reader_one(r, MATH_FACTORIAL, from, rest));
}

const struct math_node *read_chosen(struct math_reader *r)
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
