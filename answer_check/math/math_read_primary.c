/* One operand: what kind of thing stands here? */
#include "answer_check/math/math_reader.h"

static const struct math_node *read_constant(struct math_reader *r)
{
    const struct token *t = reader_token(r);
    int from = r->pos;
    reader_next(r);
    if (t->value == MATH_PI && reader_is(r, T_UNDERSCORE))
        return read_name(r, "pi", from, 0);
    return math_node_constant(r->w, reader_source(r, from), (enum math_constant)t->value);
}

/* ½ */
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

/* \neg p; \forall x > 0 */
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

/* \mathbb{R}, \mathbb{Z}^+, \mathbb{R}_{>0}, \mathbb{N}_0; \mathbb{R}^2 is a power. */
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
