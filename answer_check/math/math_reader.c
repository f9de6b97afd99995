/* Tools of the reader: looking at tokens, choosing options, making nodes with their source, growing lists. */
#include "answer_check/math/math_reader.h"

#include <string.h>

#include "evalcore/base/arena.h"

const struct token *reader_token(const struct math_reader *r)
{
    return &r->t[r->pos];
}

int reader_is(const struct math_reader *r, enum token_kind kind)
{
    return r->t[r->pos].kind == kind;
}

int reader_option(struct math_reader *r, enum read_option o)
{
    r->seen |= (unsigned)o;
    return (r->options & (unsigned)o) != 0;
}

void reader_next(struct math_reader *r)
{
    r->skip = 0;
    if (r->t[r->pos].kind != T_END)
        r->pos++;
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
        int cap = list->cap ? 2 * list->cap : 8;
        const struct math_node **node = arena_alloc(r->w->arena, (size_t)cap * sizeof *node);
        enum token_kind *kind = arena_alloc(r->w->arena, (size_t)cap * sizeof *kind);
        unsigned char *commas = arena_alloc(r->w->arena, (size_t)cap);
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
