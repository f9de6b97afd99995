/* Statements and lists of statements: a, b and c; x = 1 or x = 2; f(x) = 1 for all x; Minimum: 1. */
#include "answer_check/read/reader.h"

#include <string.h>

/* ---- what announces a statement ---- */

/* Passes over the first word of "only x = 0" and "exactly 5", which changes nothing. */
static void read_adverb(struct math_reader *r)
{
    static const char *const table[] = {"only", "exactly", "approximately", "about", "roughly", "all", "any"};
    const struct token *t = reader_token(r);
    if (t->kind != T_WORD || (t[1].kind == T_WORD && t[1].n > 1) || t[1].kind == T_END)
        return;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (span_starts(token_text(t), table[i]) && strlen(table[i]) == (size_t)t->n)
            reader_next(r);
}

/* A label: words, perhaps with a number (Case 2), and a colon. Returns the number of tokens before the
 * colon; 0 when there is no label; -1 when the words only announce something (The answer is: 5), because
 * such a text is a response rather than an expression. */
static int read_label_length(struct math_reader *r)
{
    const struct token *t = reader_token(r);
    int n = read_phrase_length(r);
    if (!n && t->kind == T_WORD && t->n > 2 && t[1].kind == T_DIGITS && t[1].space)
        n = 1;
    n += n && t[n].kind == T_DIGITS;
    if (!n || t[n].kind != T_COLON)
        return 0;
    for (int i = 0; i < n; i++) {
        struct span word = token_text(&t[i]);
        if (math_word_announces(word) || (math_word_is_stop(word) && word.n > 1))
            return -1;
    }
    return n;
}

/* The letter of an option before its value, "(C) 12" and "(B)\ -7": three tokens, or 0. A sign behind it must
 * belong to the number, since (B) - 7 is a difference. */
static int read_choice_label(const struct math_reader *r)
{
    const struct token *t = reader_token(r), *next = t + 3;
    if (r->pos || t->kind != T_OPEN || t->value != '(' || t->match != 2 || t[1].kind != T_WORD ||
        t[1].n != 1 || *t[1].s < 'A' || *t[1].s > 'J' || (!next->space && !(t->flags & TOKEN_TEXT)))
        return 0;
    if (next->kind == T_MINUS)
        return (next[1].kind == T_DIGITS || next[1].kind == T_FRACTION || next[1].kind == T_ROOT) &&
                       !next[1].space
                   ? 3
                   : 0;
    return next->kind == T_DIGITS || next->kind == T_FRACTION || next->kind == T_ROOT ||
                   next->kind == T_CURRENCY
               ? 3
               : 0;
}

/* Passes over words that announce a value, up to their verb or sign: "\text{The smallest such } n \text{
 * is } 5", "\text{Area of } ABC = 5". Only at the beginning of a text, and only when the words are set as
 * text. */
static void read_announcement(struct math_reader *r)
{
    int verb = 0, words = 0;
    for (int i = 0; !r->pos && i < 24; i++) {
        const struct token *t = &r->t[i];
        struct span word = token_text(t);
        int text = t->flags & TOKEN_TEXT && (read_is_word(t) || t->kind == T_COLON);
        int name =
            t->kind == T_NAME || (t->kind == T_WORD && (t->n == 1 || (*t->s <= 'Z' && t->s[1] <= 'Z')));
        if (t->kind == T_RELATION && t->value == MATH_EQUAL && words > 1)
            verb = i;
        if (i && t->kind == T_UNDERSCORE) { /* \omega_{1} */
            i = t[1].kind == T_OPEN ? t[1].match : i + 1;
            continue;
        }
        if ((!text && !name) || (text && (span_starts(word, "not") || word.n == 0)))
            break;
        words += text;
        if (text && words > 1 && word.n < 4 && (span_starts(word, "is") || span_starts(word, "are")))
            verb = i;
    }
    const struct token *next = &r->t[verb + 1];
    if (verb && next->kind != T_END && !(next->kind == T_WORD && next->flags & TOKEN_TEXT))
        r->pos = verb + 1 + (next->kind == T_COLON);
}

/* ---- one left side for several values ---- */

enum { VALUES = 32 };

/* Is it a plain scalar? */
static int is_value(const struct math_node *m)
{
    return m->kind <= MATH_FUNCTION;
}

/* The relation that `first` states, with another value on its right side. */
static const struct math_node *make_relation(struct math_reader *r, int from, const struct math_node *first,
                                             const struct math_node *value, const struct math_node *modulus)
{
    static const unsigned char congruent[] = {MATH_CONGRUENT, MATH_CONGRUENT};
    const struct math_node *side[] = {first->child[0], value, modulus};
    struct math_node *m = math_node_new(r->w, MATH_RELATION, reader_source(r, from), modulus ? 3 : 2, side);
    if (m)
        m->ops = modulus ? congruent : first->ops;
    return m;
}

/* The statements of a list with one left side, or NULL when it is no such list. */
static const struct math_node *read_shared_left(struct math_reader *r, int from,
                                                const struct read_items *list)
{
    const struct math_node *first = list->node[0], *last = list->node[list->n - 1], *modulus = NULL;
    struct read_items all = {0};
    if (list->n < 2 || list->n > VALUES || first->kind != MATH_RELATION || first->n != 2 ||
        (*first->ops != MATH_NOT_EQUAL && *first->ops != MATH_CONGRUENT))
        return NULL;
    if (*first->ops == MATH_CONGRUENT) { /* the modulus stands behind the last value */
        if (last->kind != MATH_FUNCTION || last->which != MATH_MOD)
            return NULL;
        modulus = last->child[1];
        last = last->child[0];
    }
    for (int i = 0; i < list->n; i++) {
        const struct math_node *value = i == 0 ? first->child[1] : i == list->n - 1 ? last : list->node[i];
        if (!is_value(value) ||
            reader_add(r, &all, make_relation(r, from, first, value, modulus), T_COMMA, 0))
            return NULL;
    }
    return reader_list(r, modulus ? MATH_OR : MATH_AND, from, &all);
}

/* ---- statements ---- */

/* Does the group, the cell or the text end at pos? */
static int at_end(const struct math_reader *r)
{
    switch (reader_token(r)->kind) {
    case T_END:
    case T_CLOSE:
    case T_CELL:
    case T_FINISH:
    case T_MID:
    case T_INFIX:
        return 1;
    case T_OPEN: /* \left| in a set: such that */
        return r->no_mid && reader_token(r)->value == '|' && r->t[reader_token(r)->match].value == '.';
    case T_ROW:
        return r->in_rows > 0;
    default:
        return 0;
    }
}

/* Does a condition follow: "where", ", if"? */
static int is_condition(const struct math_reader *r)
{
    const struct token *t = reader_token(r);
    return t->kind == T_CONDITION || (t->kind == T_COMMA && t[1].kind == T_CONDITION);
}

/* Behind ", and": another statement, or more words? */
static int statement_follows(const struct math_reader *r, const struct token *t)
{
    for (; t->kind != T_END && t->kind != T_COMMA && t->kind != T_CLOSE; t++) {
        if (t->kind == T_OPEN)
            t = &r->t[t->match];
        if (t->kind == T_RELATION)
            return 1;
        if (t->kind == T_WORD && math_word_is_stop(token_text(t)) && t->n > 1)
            return 0;
    }
    return 0;
}

/* Where the words of a condition end: at the end of the group, or at ", and". */
static int condition_end(const struct math_reader *r)
{
    int i = r->pos;
    for (;; i++) {
        const struct token *t = &r->t[i];
        if (t->kind == T_OPEN || t->kind == T_BEGIN) {
            i = t->match;
            continue;
        }
        if (t->kind == T_END || t->kind == T_CLOSE || t->kind == T_CELL || t->kind == T_FINISH ||
            t->kind == T_MID)
            return i;
        if (t->kind == T_ROW || t->kind == T_SEMICOLON)
            return i;
        if (t->kind == T_COMMA && (t[1].kind == T_AND || t[1].kind == T_OR) && statement_follows(r, t + 2))
            return i;
        if (t->kind == T_OR && statement_follows(r, t + 1)) /* for all x or f(x) = 0 */
            return i;
    }
}

/* Reads the condition behind a statement: where, for, if. A condition that cannot be read is kept as
 * words. */
static const struct math_node *read_condition(struct math_reader *r)
{
    if (reader_is(r, T_COMMA))
        reader_next(r);
    int from = r->pos, depth = r->depth, end = condition_end(r);
    while (reader_is(r, T_CONDITION) || reader_is(r, T_COLON))
        reader_next(r);
    const struct math_node *m = reader_is(r, T_WORD) && read_phrase_length(r) ? NULL : read_relation(r);
    if (m && r->pos == end)
        return m;
    if (m && reader_is(r, T_COMMA)) { /* k in Z, n > 0 */
        struct read_items list = {0};
        r->depth = depth;
        if (!reader_add(r, &list, m, T_COMMA, 0)) {
            reader_next(r);
            if (!read_items(r, &list) && r->pos == end)
                return read_join(r, from, &list);
        }
    }
    r->depth = depth;
    r->skip = 0;
    r->pos = end;
    return reader_named(r, MATH_TEXT, from, read_folded(r, from, end));
}

/* The equation of two sides; a label is the left side of one. */
static const struct math_node *make_equation(struct math_reader *r, int from, const struct math_node *left,
                                             const struct math_node *right)
{
    static const unsigned char equal = MATH_EQUAL;
    struct math_node *m = math_node_2(r->w, MATH_RELATION, reader_source(r, from), left, right);
    if (m)
        m->ops = &equal;
    return m;
}

/* One statement or value, with its label before it and its condition behind it. */
static const struct math_node *read_item(struct math_reader *r)
{
    read_announcement(r);
    read_adverb(r);
    int from = r->pos, letter = read_choice_label(r), words = letter ? 0 : read_label_length(r);
    const struct math_node *label = NULL;
    if (letter) { /* (C) 12 */
        label = reader_named(r, MATH_TEXT, from, read_folded(r, from + 1, from + 2));
        r->pos += letter;
    }
    if (words < 0)
        return NULL;
    if (words) { /* Minimum: 1 */
        label = read_phrase(r, words);
        reader_next(r);
    }
    int start = r->pos;
    const struct math_node *m = read_relation(r);
    if (m && !r->skip && read_remark(r))
        r->pos = read_remark(r) + 1;
    if (m && !r->skip && read_opens_condition(r)) { /* (k \in \mathbb{Z}) behind it */
        int close = reader_token(r)->match;
        reader_next(r);
        while (reader_is(r, T_CONDITION)) /* (for x > 0) */
            reader_next(r);
        const struct math_node *pair[] = {m, read_statements(r)};
        if (!pair[1] || r->pos != close)
            return NULL;
        reader_next(r);
        m = math_node_new(r->w, MATH_CASES, reader_source(r, start), 2, pair);
    } else if (m && !r->skip && is_condition(r)) {
        const struct math_node *pair[] = {m, read_condition(r)};
        m = math_node_new(r->w, MATH_CASES, reader_source(r, start), 2, pair);
    }
    return label ? make_equation(r, from, label, m) : m;
}

/* Reads the signs between two elements; 0 when there are none. */
static int read_separator(struct math_reader *r, enum token_kind *kind, int *comma, int *logical)
{
    int found = 0;
    *comma = 0;
    *kind = T_COMMA;
    for (;; reader_next(r)) {
        enum token_kind k = reader_token(r)->kind;
        if (k == T_CUP || k == T_CAP) /* x < 1 \cup x > 2 */
            k = k == T_CUP ? T_OR : T_AND;
        if (k == T_COMMA)
            *comma = 1;
        else if (k == T_AND || k == T_OR || k == T_SEMICOLON) {
            *logical |= reader_token(r)->kind == k && k != T_SEMICOLON && reader_token(r)->value == 1;
            *kind = k;
        } else if (k == T_ROW && !r->in_rows)
            *kind = found ? *kind : T_ROW;
        else
            break;
        found = 1;
    }
    return found;
}

int read_items(struct math_reader *r, struct read_items *out)
{
    enum token_kind kind = T_COMMA;
    int comma = 0;
    for (;;) {
        const struct math_node *m = read_item(r);
        if (reader_add(r, out, m, kind, comma) || r->skip)
            return -1;
        if (at_end(r))
            return 0;
        if (!read_separator(r, &kind, &comma, &out->logical)) {
            const struct token *t = reader_token(r);
            int box = t->kind == T_OPEN && t->flags & TOKEN_BOX;
            if ((t->space != SPACE_WIDE && !box) || m->kind == MATH_TEXT || read_phrase_length(r))
                return -1;
            kind = T_COMMA; /* two formulas side by side */
        }
        if (at_end(r)) /* a comma at the end */
            return kind == T_AND || kind == T_OR ? -1 : 0;
    }
}

/* Is it a statement rather than a value, perhaps with a condition? */
static int is_statement(const struct math_node *m)
{
    if (m->kind == MATH_CASES && m->n == 2)
        m = m->child[0];
    return m->kind == MATH_RELATION || m->kind == MATH_AND || m->kind == MATH_OR || m->kind == MATH_NOT ||
           (m->kind == MATH_OPAQUE && m->n == 1);
}

static int all_statements(const struct read_items *list)
{
    for (int i = 0; i < list->n; i++)
        if (!is_statement(list->node[i]))
            return 0;
    return 1;
}

static int has_separator(const struct read_items *list, enum token_kind separator)
{
    for (int i = 1; i < list->n; i++)
        if (list->separator[i] == separator)
            return 1;
    return 0;
}

/* The symbol on the left side of a relation; "" when there is none. */
static const char *left_name(const struct math_node *m)
{
    if (m->kind == MATH_CASES)
        m = m->child[0];
    return m->kind == MATH_RELATION && m->child[0]->kind == MATH_SYMBOL ? m->child[0]->name : "";
}

/* Are these alternatives for one symbol: x = 1, x = 2 or x = 3? */
static int same_left(const struct read_items *list)
{
    const char *name = left_name(list->node[0]);
    for (int i = 1; *name && i < list->n; i++)
        if (strcmp(name, left_name(list->node[i])) != 0)
            return 0;
    return *name != 0;
}

/* A list of elements on one level, as a list of values or as joined statements. */
static const struct math_node *join_flat(struct math_reader *r, int from, const struct read_items *list)
{
    enum math_joint joint = has_separator(list, T_OR)    ? MATH_BY_OR
                            : has_separator(list, T_AND) ? MATH_BY_AND
                                                         : MATH_BY_COMMA;
    int statements = list->logical || all_statements(list);
    enum math_kind kind = !statements ? MATH_LIST : joint == MATH_BY_OR ? MATH_OR : MATH_AND;
    struct math_node *m = math_node_new(r->w, kind, reader_source(r, from), list->n, list->node);
    if (m)
        m->which = kind == MATH_LIST ? joint : kind == MATH_AND ? joint != MATH_BY_AND : 0;
    return m;
}

/* Cuts the list at one kind of separator; each piece becomes a node. */
static const struct math_node *cut_at(struct math_reader *r, int from, const struct read_items *list,
                                      enum token_kind separator)
{
    struct read_items groups = {0};
    for (int a = 0, b; a < list->n; a = b) {
        for (b = a + 1; b < list->n && list->separator[b] != separator; b++)
            ;
        struct read_items part = {list->node + a, list->separator + a, list->comma + a, b - a, 0,
                                  list->logical};
        const struct math_node *m = part.n == 1 ? part.node[0] : join_flat(r, from, &part);
        if (reader_add(r, &groups, m, separator, 0))
            return NULL;
    }
    int or = separator == T_OR && (list->logical || all_statements(&groups));
    return groups.n == 1 ? groups.node[0] : reader_list(r, or ? MATH_OR : MATH_LIST, from, &groups);
}

/* Does the list hold formulas as well as words? Then it is a sentence cut into pieces. */
static int is_mixed(const struct read_items *list)
{
    int words = 0, others = 0;
    for (int i = 0; i < list->n; i++) {
        words |= list->node[i]->kind == MATH_TEXT;
        others |= list->node[i]->kind != MATH_TEXT && list->node[i]->kind != MATH_SYMBOL;
    }
    return words && others;
}

const struct math_node *read_join(struct math_reader *r, int from, const struct read_items *list)
{
    if (list->n == 1)
        return list->node[0];
    if (is_mixed(list))
        return NULL;
    const struct math_node *shared = read_shared_left(r, from, list);
    if (shared)
        return shared;
    int semicolons = has_separator(list, T_SEMICOLON),
        commas = has_separator(list, T_COMMA) || has_separator(list, T_AND);
    if (semicolons && (commas || has_separator(list, T_OR)))
        return cut_at(r, from, list, T_SEMICOLON);
    if (commas && has_separator(list, T_OR) && (list->logical || (all_statements(list) && !same_left(list))))
        return cut_at(r, from, list, T_OR);
    return join_flat(r, from, list);
}

const struct math_node *read_statements(struct math_reader *r)
{
    struct read_items list = {0};
    int from = r->pos;
    return read_items(r, &list) ? NULL : read_join(r, from, &list);
}
