/* The part of the lexer that reads commands, operators of one or two characters, and the few HTML marks
 * that occur in answers. */
#include <string.h>

#include "answer_check/read/lex_state.h"
#include "evalcore/base/arena.h"

/* ---- what the lexer is made of ---- */

struct token *lex_emit(struct lexer *l, enum token_kind kind, int value, const char *s, size_t n)
{
    if (l->n >= l->cap) {
        l->failed = 1;
        return &l->spare;
    }
    struct token *t = &l->t[l->n++];
    *t = (struct token){.kind = kind, .value = (short)value, .space = (unsigned char)l->space};
    t->flags = (unsigned char)(l->in_text ? TOKEN_TEXT : 0);
    t->match = -1;
    t->at = (int)l->start;
    t->end = (int)l->at;
    t->s = s;
    t->n = (int)n;
    l->space = SPACE_NONE;
    l->boundary = 0;
    if (l->box && kind == T_OPEN)
        t->flags |= TOKEN_BOX;
    if (l->vector)
        t->flags |= TOKEN_VECTOR;
    l->box = l->vector = 0;
    return t;
}

void lex_space(struct lexer *l, enum token_space space)
{
    if (l->boundary && space == SPACE_BLANK)
        space = SPACE_WIDE;
    if (space == SPACE_NEGATIVE && l->space == SPACE_BLANK) /* ",\! 000" and ", \!000": TeX ignores blanks */
        l->space = space;
    else if ((int)space > l->space && !(space == SPACE_BLANK && l->space == SPACE_NEGATIVE))
        l->space = space;
}

void lex_math_mode(struct lexer *l)
{
    int wide = l->space >= SPACE_BLANK && l->n;
    l->boundary = 1;
    if (l->space < (wide ? SPACE_WIDE : SPACE_BLANK))
        l->space = wide ? SPACE_WIDE : SPACE_BLANK;
}

char lex_peek(const struct lexer *l, size_t ahead)
{
    return l->at + ahead < l->text.n ? l->text.s[l->at + ahead] : 0;
}

void lex_skip_blanks(struct lexer *l)
{
    while (ascii_is_space(lex_peek(l, 0)))
        l->at++;
}

int lex_open_group(struct lexer *l, enum lex_group kind)
{
    if (l->depth >= LEX_DEPTH)
        return -1;
    l->group[l->depth].kind = (unsigned char)kind;
    l->group[l->depth++].in_text = (unsigned char)l->in_text;
    return 0;
}

int lex_text_group(struct lexer *l)
{
    lex_skip_blanks(l);
    if (lex_peek(l, 0) != '{')
        return 0; /* \text without braces changes nothing that one can see */
    l->at++;
    if (lex_open_group(l, GROUP_TEXT))
        return -1;
    l->in_text = 1;
    return 0;
}

/* ---- commands ---- */

/* Reads the balanced {...} that follows and stores its inner part. Returns 1, or 0 when no group follows. */
static int read_braced(struct lexer *l, struct span *out)
{
    size_t depth = 0, i = l->at;
    while (i < l->text.n && ascii_is_space(l->text.s[i]))
        i++;
    size_t first = i;
    if (i >= l->text.n || l->text.s[i] != '{')
        return 0;
    for (; i < l->text.n; i++) {
        char c = l->text.s[i];
        depth += c == '{' && !(i && l->text.s[i - 1] == '\\');
        depth -= c == '}' && !(i && l->text.s[i - 1] == '\\');
        if (!depth)
            break;
    }
    if (math_step(l->work, (int64_t)(i - first)) || i >= l->text.n)
        return 0;
    *out = (struct span){l->text.s + first + 1, i - first - 1};
    l->at = i + 1;
    return 1;
}

static const char *const layout_environments[] = {
    "align", "align*",   "aligned",   "alignat",  "alignat*", "gather",      "gather*", "gathered",
    "split", "equation", "equation*", "eqnarray", "multline", "displaymath", "math"};

/* Reads \begin{..} with its optional position and columns. doubled: it was written \\begin. Returns 0, or
 * -1. */
static int environment_begin(struct lexer *l, int doubled)
{
    struct span name, ignored;
    if (!read_braced(l, &name) || l->n_environments >= LEX_ENVIRONMENTS || !name.n)
        return -1;
    int aligned = 0;
    for (size_t i = 0; i < sizeof layout_environments / sizeof *layout_environments; i++)
        aligned |= span_is(name, layout_environments[i]);
    int k = l->n_environments++;
    l->environment[k].name = name;
    l->environment[k].doubled = doubled;
    l->environment[k].aligned = aligned;
    lex_emit(l, T_BEGIN, aligned, name.s, name.n);
    if (lex_peek(l, 0) == '[') /* vertical position */
        while (l->at < l->text.n && l->text.s[l->at++] != ']')
            ;
    if (span_is(name, "array") || span_is(name, "tabular"))
        read_braced(l, &ignored); /* columns */
    return 0;
}

/* Reads \end{..}, which must name the environment that is open. Returns 0, or -1. */
static int environment_end(struct lexer *l)
{
    struct span name;
    if (!read_braced(l, &name) || !l->n_environments)
        return -1;
    struct span open = l->environment[--l->n_environments].name;
    if (open.n != name.n || memcmp(open.s, name.s, name.n))
        return -1;
    lex_emit(l, T_FINISH, 0, name.s, name.n);
    return 0;
}

/* Reads the letter behind \mathbb: N, Z, Q, R and C are sets of numbers, other letters and digits are
 * themselves. */
static int lex_blackboard(struct lexer *l)
{
    int brace = 0;
    lex_skip_blanks(l);
    if (lex_peek(l, 0) == '{') {
        brace = 1;
        l->at++;
        lex_skip_blanks(l);
    }
    const char *s = l->text.s + l->at;
    char c = lex_peek(l, 0);
    if (!ascii_is_letter(c) && !ascii_is_digit(c))
        return -1;
    l->at++;
    if (brace) {
        lex_skip_blanks(l);
        if (lex_peek(l, 0) != '}')
            return -1;
        l->at++;
    }
    if (strchr("NZQRC", c))
        lex_emit(l, T_NUMBER_SET, c, s, 1);
    else
        lex_emit(l, ascii_is_digit(c) ? T_DIGITS : T_WORD, 0, s, 1);
    return 0;
}

/* Reads the delimiter behind \left or \right, which opens or closes whatever it looks like. Returns 0, or
 * -1. */
static int sized_delimiter(struct lexer *l, int closes)
{
    struct token *t;
    lex_skip_blanks(l);
    char c = lex_peek(l, 0);
    enum token_kind kind = closes ? T_CLOSE : T_OPEN;
    int value = c == '(' || c == ')' ? '(' : c == '|' ? '|' : c == '.' ? '.' : c == '<' || c == '>' ? '<' : 0;
    if (c == '[' || c == ']')
        value = (c == '[') == !closes ? '[' : ']';
    if (value) {
        l->at++;
        t = lex_emit(l, kind, value, l->text.s + l->at - 1, 1);
        t->flags |= TOKEN_FIXED;
        return (c == ')' && !closes) || (c == '(' && closes) ? -1 : 0;
    }
    if (c != '\\')
        return -1;
    int before = l->n;
    l->at++;
    if (lex_backslash(l) || l->n != before + 1)
        return -1;
    t = &l->t[l->n - 1];
    if (t->kind == T_BAR)
        t->value = '|';
    else if (t->kind != T_OPEN && t->kind != T_CLOSE)
        return -1;
    t->kind = kind;
    t->flags |= TOKEN_FIXED;
    return 0;
}

/* Emits a relation, or its negation behind \not. */
static int lex_relation(struct lexer *l, const struct token_meaning *m)
{
    static const char *const negated[] = {
        "!=",          "=",          ">=", ">", "<=", "<", "!~", "notin", "in", "not subset", "not congruent",
        "not divides", "not related"};
    static const unsigned char op[] = {
        MATH_NOT_EQUAL,      MATH_EQUAL,          MATH_GREATER_EQUAL, MATH_GREATER, MATH_LESS_EQUAL,
        MATH_LESS,           MATH_OTHER_RELATION, MATH_NOT_IN,        MATH_IN,      MATH_OTHER_RELATION,
        MATH_OTHER_RELATION, MATH_OTHER_RELATION, MATH_OTHER_RELATION};
    const char *s = l->negated ? negated[m->value] : m->s;
    if (l->negated && m->value == MATH_OTHER_RELATION)
        s = arena_printf(l->work->arena, "not %s", m->s);
    lex_emit(l, T_RELATION, l->negated ? op[m->value] : m->value, s, strlen(s));
    l->negated = 0;
    return 0;
}

/* \vec{PQ} and \overrightarrow{PQ} are the name of an arrow; the order of its letters counts. What stands
 * below a shorter arrow, or in a bold font, is marked as a vector. */
static void lex_vector(struct lexer *l, int is_font)
{
    size_t i = l->at, letters = 0;
    while (i < l->text.n && ascii_is_space(l->text.s[i]))
        i++;
    if (!is_font && i < l->text.n && l->text.s[i++] == '{')
        while (i + letters < l->text.n && l->text.s[i + letters] >= 'A' && l->text.s[i + letters] <= 'Z')
            letters++;
    if (letters > 1 && i + letters < l->text.n && l->text.s[i + letters] == '}')
        lex_emit(l, T_SHAPE, 0, "vector", 6);
    else
        l->vector = 1;
}

int lex_meaning(struct lexer *l, const struct token_meaning *m)
{
    struct span ignored;
    const char *s = m->s ? m->s : m->name;
    if (l->negated && m->kind == T_MID) {
        lex_emit(l, T_RELATION, MATH_OTHER_RELATION, "not divides", strlen("not divides"));
        l->negated = 0;
        return 0;
    }
    if (l->negated && m->kind != T_RELATION && m->kind != T_SPACE)
        return -1;
    switch (m->kind) {
    case T_DROPPED:
        if (strchr("()[]", m->name[0]))
            lex_math_mode(l);
        return 0;
    case T_DROPPED_1:
        if (!read_braced(l, &ignored) && strstr(m->name, "kern"))
            return -1;
        return 0;
    case T_SPACE:
        lex_space(l, (enum token_space)m->value);
        return 0;
    case T_TEXT_FONT:
        return lex_text_group(l);
    case T_OLD_FONT:
        l->in_text = 1;
        return 0;
    case T_BLACKBOARD:
        return lex_blackboard(l);
    case T_BOX:
        l->box = 1;
        return 0;
    case T_LEFT:
        return sized_delimiter(l, 0);
    case T_RIGHT:
        return sized_delimiter(l, 1);
    case T_NEGATED:
        l->negated = 1;
        return 0;
    case T_VECTOR:
        lex_vector(l, m->value);
        return 0;
    case T_BEGIN:
        return environment_begin(l, 0);
    case T_FINISH:
        return environment_end(l);
    case T_RELATION:
        return lex_relation(l, m);
    default:
        lex_emit(l, m->kind, m->value, s, strlen(s));
        return 0;
    }
}

/* Reads \\, which ends a row, also outside of environments. Before a command (\\frac) it is a doubled
 * escape, except inside environments. */
static int double_backslash(struct lexer *l)
{
    struct span name = {l->text.s + l->at + 1, 0};
    while (ascii_is_letter(lex_peek(l, 1 + name.n)))
        name.n++;
    int doubled = !l->n_environments || l->environment[l->n_environments - 1].doubled;
    const struct token_meaning *m = name.n > 1 && doubled ? math_command(name) : NULL;
    if (m) {
        l->at += 1 + name.n;
        return m->kind == T_BEGIN ? environment_begin(l, 1) : lex_meaning(l, m);
    }
    l->at++;
    if (l->n_environments && lex_peek(l, 0) == '[') { /* \\[4pt] */
        size_t i = 1;
        while (ascii_is_digit(lex_peek(l, i)) || lex_peek(l, i) == '.' || lex_peek(l, i) == '-')
            i++;
        size_t digits = i;
        while (ascii_is_letter(lex_peek(l, i)))
            i++;
        if (digits > 1 && i > digits && lex_peek(l, i) == ']')
            l->at += i + 1;
    }
    lex_emit(l, T_ROW, 0, "\\", 1);
    return 0;
}

int lex_backslash(struct lexer *l)
{
    char c = lex_peek(l, 0);
    if (c == '\\')
        return double_backslash(l);
    struct span name = {l->text.s + l->at, 0};
    while (ascii_is_letter(lex_peek(l, name.n)))
        name.n++;
    if (!name.n && l->at < l->text.n)
        name.n = 1;
    if (ascii_is_space(c))
        name = (struct span){" ", 1};
    if (name.n > 1 && lex_peek(l, name.n) == '*' && math_command((struct span){name.s, name.n + 1}))
        name.n++;
    const struct token_meaning *m = math_command(name);
    /* A command with no space before what follows it, such as \cdotx: take the longest known beginning of
     * at least three letters. */
    for (size_t n = name.n > 12 ? 12 : name.n; !m && n > 3; n--)
        m = math_command((struct span){name.s, name.n = n - 1});
    if (!m) /* a backslash at the very end of a text that has tokens means nothing */
        return l->at >= l->text.n && l->n ? 0 : -1;
    l->at += name.n;
    return lex_meaning(l, m);
}

/* Reads <sup>..</sup>, <sub>..</sub> or <br>; 1 when it was one of them. */
static int lex_html(struct lexer *l)
{
    static const struct {
        const char *tag;
        enum token_kind kind;
    } tags[] = {{"sup>", T_CARET},  {"sub>", T_UNDERSCORE}, {"/sup>", T_CLOSE},
                {"/sub>", T_CLOSE}, {"br>", T_ROW},         {"br/>", T_ROW}};
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        size_t n = strlen(tags[i].tag);
        if (l->text.n - l->at < n || memcmp(l->text.s + l->at, tags[i].tag, n))
            continue;
        l->at += n;
        if (tags[i].kind == T_ROW)
            lex_emit(l, T_ROW, 0, "\\", 1);
        else if (tags[i].kind == T_CLOSE)
            lex_emit(l, T_CLOSE, '{', "}", 1);
        else {
            lex_emit(l, tags[i].kind, 0, tags[i].kind == T_CARET ? "^" : "_", 1);
            lex_emit(l, T_OPEN, '{', "{", 1);
        }
        return 1;
    }
    return 0;
}

/* An ampersand: between the cells of a table, as the word "and", or the beginning of &lt; */
static int lex_ampersand(struct lexer *l)
{
    struct span name = {l->text.s + l->at, 0};
    while (ascii_is_letter(lex_peek(l, name.n)))
        name.n++;
    const struct token_meaning *m =
        name.n && name.n < 8 && lex_peek(l, name.n) == ';' ? math_command(name) : NULL;
    if (m && m->kind == T_RELATION) {
        l->at += name.n + 1;
        return lex_meaning(l, m);
    }
    if (!l->n_environments)
        lex_emit(l, T_AND, 0, "and", 3);
    else if (!l->environment[l->n_environments - 1].aligned)
        lex_emit(l, T_CELL, 0, "&", 1);
    return 0;
}

struct operator_sign {
    const char *s;
    enum token_kind kind;
    short value;
};

/* Operators of several characters; longer ones stand before their beginnings. */
static const struct operator_sign long_operators[] = {
    {"...", T_DOTS, 0},
    {"+/-", T_PLUS_MINUS, 0},
    {"<=>", T_RELATION, MATH_OTHER_RELATION},
    {"**", T_CARET, 0},
    {"<=", T_RELATION, MATH_LESS_EQUAL},
    {"=<", T_RELATION, MATH_LESS_EQUAL},
    {">=", T_RELATION, MATH_GREATER_EQUAL},
    {"==", T_RELATION, MATH_EQUAL},
    {":=", T_RELATION, MATH_EQUAL},
    {"<>", T_RELATION, MATH_NOT_EQUAL},
    {"=>", T_RELATION, MATH_OTHER_RELATION},
    {"->", T_RELATION, MATH_OTHER_RELATION},
    {"~=", T_RELATION, MATH_APPROXIMATELY},
};

static const struct operator_sign operators[128] = {
    ['+'] = {"+", T_PLUS, 0},
    ['-'] = {"-", T_MINUS, 0},
    ['*'] = {"*", T_TIMES, 0},
    ['/'] = {"/", T_SLASH, 0},
    ['^'] = {"^", T_CARET, 0},
    ['_'] = {"_", T_UNDERSCORE, 0},
    ['!'] = {"!", T_BANG, 0},
    ['\''] = {"'", T_PRIME, 0},
    ['"'] = {"\"", T_PRIME, 2},
    ['%'] = {"%", T_PERCENT, 0},
    ['$'] = {"$", T_CURRENCY, 0},
    ['('] = {"(", T_OPEN, '('},
    [')'] = {")", T_CLOSE, '('},
    ['['] = {"[", T_OPEN, '['},
    [']'] = {"]", T_CLOSE, '['},
    ['|'] = {"|", T_BAR, 0},
    [','] = {",", T_COMMA, 0},
    [';'] = {";", T_SEMICOLON, 0},
    [':'] = {":", T_COLON, 0},
    ['.'] = {".", T_DOT, 0},
    ['<'] = {"<", T_RELATION, MATH_LESS},
    ['>'] = {">", T_RELATION, MATH_GREATER},
    ['='] = {"=", T_RELATION, MATH_EQUAL},
};

/* The operator that begins with c, which is consumed already; NULL where there is none. */
static const struct operator_sign *operator_at(const struct lexer *l, char c)
{
    struct span rest = {l->text.s + l->at, l->text.n - l->at};
    int may_be_long = rest.n && strchr("./>*<=", rest.s[0]);
    for (size_t i = 0; may_be_long && i < sizeof long_operators / sizeof *long_operators; i++) {
        const struct operator_sign *o = &long_operators[i];
        if (o->s[0] == c && span_at(rest, 0, o->s + 1))
            return o;
    }
    const struct operator_sign *o = c & 0x80 ? NULL : &operators[(unsigned char)c];
    return o && o->s ? o : NULL;
}

int lex_ascii_operator(struct lexer *l, char c)
{
    if (c == '&')
        return lex_ampersand(l);
    if (c == '<' && lex_html(l))
        return 0;
    const struct token *before = l->n ? &l->t[l->n - 1] : NULL;
    /* x != 5 is a relation, but 5!=120 is a factorial. */
    if (c == '!' && lex_peek(l, 0) == '=' &&
        (l->space || !before || (before->kind != T_DIGITS && before->kind != T_CLOSE))) {
        l->at++;
        lex_emit(l, T_RELATION, MATH_NOT_EQUAL, "!=", 2);
        return 0;
    }
    if (c == '|' && lex_peek(l, 0) == '|' && l->space && lex_peek(l, 1) == ' ') { /* AB || CD */
        l->at++;
        lex_emit(l, T_RELATION, MATH_OTHER_RELATION, "parallel", 8);
        return 0;
    }
    const struct operator_sign *o = operator_at(l, c);
    if (!o)
        return c == '`' ? 0 : -1;
    size_t n = strlen(o->s);
    l->at += n - 1;
    if (l->negated && o->kind == T_RELATION) {
        struct token_meaning m = {o->s, T_RELATION, o->value, o->s};
        return lex_relation(l, &m);
    }
    lex_emit(l, o->kind, o->value, o->s, n);
    return l->negated ? -1 : 0;
}
