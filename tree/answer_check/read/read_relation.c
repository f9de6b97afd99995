/* Relations and chains of relations, and what binds tighter than they do: unions of sets, ratios and
 * times. */
#include "answer_check/read/reader.h"

#include <string.h>

enum { SIDES = 64, PARTS = 8 };

/* In a union, or behind \in, (a, b) is an interval. */
static const struct math_node *read_as_interval(struct math_reader *r, const struct math_node *m)
{
    if (!m || m->kind != MATH_TUPLE || m->n != 2 || !read_can_be_end(m->child[0]) ||
        !read_can_be_end(m->child[1]))
        return m;
    struct math_node *i = math_node_new(r->w, MATH_INTERVAL, m->source, 2, m->child);
    if (i)
        i->which = MATH_OPEN_LEFT | MATH_OPEN_RIGHT;
    return i;
}

/* Is it a whole number from 0 to `max`, written with that number of digits (0: one or two)? */
static int time_part(const struct math_node *m, int digits, int max)
{
    int v = 0;
    if (!m || m->kind != MATH_NUMBER || m->literal.point || m->literal.decimals || m->source.n > 2 ||
        (digits && (int)m->source.n != digits))
        return 0;
    for (int i = 0; i < m->literal.n; i++)
        v = 10 * v + m->literal.digits[i] - '0';
    return v <= max;
}

static const struct math_node *read_time(struct math_reader *r, int from, int n,
                                         const struct math_node *const *part, const char *half)
{
    struct math_node *m = math_node_new(r->w, MATH_TIME, reader_source(r, from), n, part);
    if (m)
        m->name = half;
    return m;
}

/* Reads a ratio a : b : c, a time 12:30 p.m., or anything that binds tighter. */
static const struct math_node *read_ratio(struct math_reader *r)
{
    const struct math_node *part[PARTS];
    int from = r->pos, n = 0;
    const char *half = "";
    part[n++] = read_sum(r);
    while (part[n - 1] && !r->skip && (reader_is(r, T_COLON) || read_ratio_word(r)) && n < PARTS) {
        reader_next(r);
        part[n++] = read_sum(r);
    }
    if (!part[n - 1])
        return NULL;
    int timely = n <= 3 && time_part(part[0], 0, 24) && (n < 2 || time_part(part[1], 2, 59)) &&
                 (n < 3 || time_part(part[2], 2, 59));
    int used = timely ? read_half_of_day(reader_token(r), &half) : 0;
    if (used) {
        const struct math_node *zero = n == 1 ? reader_integer(r, "0", 1) : NULL;
        if (zero)
            part[n++] = zero;
        r->pos += used;
        return read_time(r, from, n, part, half);
    }
    if (n == 1)
        return part[0];
    if (timely && n > 1 && reader_option(r, READ_TIME))
        return read_time(r, from, n, part, "");
    return math_node_new(r->w, MATH_RATIO, reader_source(r, from), n, part);
}

/* Is m certainly a number, so no set? */
static int is_number(const struct math_node *m)
{
    return m->kind == MATH_NUMBER || m->kind == MATH_CONSTANT ||
           (m->kind >= MATH_ADD && m->kind <= MATH_FUNCTION);
}

static enum math_kind set_kind(enum token_kind op)
{
    return op == T_CUP ? MATH_UNION : op == T_CAP ? MATH_INTERSECTION : MATH_DIFFERENCE;
}

/* A union, intersection or difference of sets, or anything that binds tighter. */
static const struct math_node *read_set(struct math_reader *r)
{
    const struct math_node *part[SIDES];
    int from = r->pos, n = 1;
    enum token_kind op = T_END;
    part[0] = read_ratio(r);
    while (part[n - 1] && !r->skip) {
        const struct token *t = reader_token(r);
        int letter = t->kind == T_WORD && t->n == 1 && *t->s == 'U' && t[1].kind == T_OPEN && r->pos &&
                     t[-1].kind == T_CLOSE;
        enum token_kind kind = letter ? T_CUP : t->kind;
        if ((kind != T_CUP && kind != T_CAP && kind != T_SETMINUS) || is_number(part[n - 1]))
            break;
        if (n >= SIDES)
            return NULL;
        if (n > 1 && (kind != op || op == T_SETMINUS)) { /* left to right */
            part[0] = math_node_new(r->w, set_kind(op), reader_source(r, from), n, part);
            n = 1;
        }
        if (!part[0])
            return NULL;
        op = kind;
        part[0] = n == 1 ? read_as_interval(r, part[0]) : part[0];
        reader_next(r);
        part[n] = read_as_interval(r, read_ratio(r));
        n++;
    }
    if (!part[n - 1] || n == 1)
        return part[n - 1];
    return math_node_new(r->w, set_kind(op), reader_source(r, from), n, part);
}

/* Reads \pmod{n}, (\bmod n) or (mod n); *found says whether one of them stands here. */
static const struct math_node *read_modulus(struct math_reader *r, int *found)
{
    const struct token *t = reader_token(r);
    const struct math_node *m;
    *found = 1;
    if (t->kind == T_PMOD) {
        reader_next(r);
        return read_argument(r);
    }
    if (t->kind == T_OPEN && t[1].kind == T_MODULO) {
        r->pos += 2;
        m = read_sum(r);
        if (!m || r->pos != t->match)
            return NULL;
        reader_next(r);
        return m;
    }
    *found = 0;
    return NULL;
}

/* Makes a relation of n sides and the signs between them, and reads a modulus behind it. */
static const struct math_node *finish_relation(struct math_reader *r, int from, int n,
                                               const struct math_node **side, unsigned char *ops,
                                               const char *name)
{
    int found;
    const struct math_node *modulus = read_modulus(r, &found);
    if (found && !modulus)
        return NULL;
    if (found && n == 1)
        return reader_function(r, MATH_MOD, from, side[0], modulus);
    if (n == 1)
        return side[0];
    if (n == 2 && ops[0] == MATH_OTHER_RELATION && !strcmp(name, "superset")) { /* B contains A */
        const struct math_node *swap = side[0];
        side[0] = side[1];
        side[1] = swap;
        ops[0] = MATH_SUBSET;
        name = "";
    }
    int negated = found && ops[n - 2] == MATH_OTHER_RELATION && !strcmp(name, "not congruent");
    if (found && !negated && ops[n - 2] != MATH_EQUAL && ops[n - 2] != MATH_CONGRUENT)
        return NULL;
    if (negated)
        name = "";
    if (found) { /* a = b (mod n) is a congruence, too */
        ops[n - 2] = MATH_CONGRUENT;
        ops[n - 1] = MATH_CONGRUENT;
        side[n++] = modulus;
    }
    struct math_node *m = math_node_new(r->w, MATH_RELATION, reader_source(r, from), n, side);
    if (!m)
        return NULL;
    m->ops = reader_bytes(r, ops, n - 1);
    m->name = name;
    return negated ? reader_one(r, MATH_NOT, from, m) : m;
}

const struct math_node *read_relation(struct math_reader *r)
{
    const struct math_node *side[SIDES + 1];
    unsigned char ops[SIDES];
    const char *name = "";
    int from = r->pos, n = 0;
    if (reader_enter(r))
        return NULL;
    if (reader_is(r, T_RELATION) &&
        (reader_token(r)->value == MATH_EQUAL || reader_token(r)->value == MATH_APPROXIMATELY))
        reader_next(r); /* "= 5" is 5 */
    side[n++] = read_set(r);
    while (side[n - 1] && !r->skip && (reader_is(r, T_RELATION) || (reader_is(r, T_MID) && !r->no_mid))) {
        const struct token *t = reader_token(r);
        int op = t->kind == T_MID ? MATH_DIVIDES : t->value;
        if (n >= SIDES)
            return NULL;
        if (op == MATH_OTHER_RELATION)
            name = t->s;
        reader_next(r);
        ops[n - 1] = (unsigned char)op;
        side[n] = read_set(r);
        if (op == MATH_IN || op == MATH_NOT_IN || op == MATH_SUBSET)
            side[n] = read_as_interval(r, side[n]);
        n++;
    }
    r->depth--;
    return side[n - 1] ? finish_relation(r, from, n, side, ops, name) : NULL;
}
