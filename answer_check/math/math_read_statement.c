/* Statements and lists of statements: a, b and c; x = 1 or x = 2; f(x) = 1 for all x; Minimum: 1. */
#include <string.h>

#include "answer_check/math/math_reader.h"

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
        if (span_starts((struct span){first->s, (size_t)first->n}, words[i]) &&
            strlen(words[i]) == (size_t)first->n)
            return t->match;
    for (int i = r->pos + 1; i < t->match; i++) { /* (square units) */
        struct span word = {r->t[i].s, (size_t)r->t[i].n};
        int is_word = word.n > 2 || (word.n > 1 && r->t[i].flags & TOKEN_TEXT);
        if (r->t[i].kind != T_WORD || !is_word || !math_word_is_unit(word))
            return 0;
    }
    return t->match;
}

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
        if (t->kind == T_WORD && math_word_is_stop((struct span){t->s, (size_t)t->n}) && t->n > 1)
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

static const struct math_node *make_equation(struct math_reader *r, int from, const struct math_node *left,
                                             const struct math_node *right)
{
    static const unsigned char equal = MATH_EQUAL;
    struct math_node *m = math_node_2(r->w, MATH_RELATION, reader_source(r, from), left, right);
    if (m)
        m->ops = &equal;
    return m;
}

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
