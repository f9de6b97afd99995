/* Cuts mathematical writing into tokens. What carries no meaning is dropped here: fonts, sizes, spacing,
 * marks of math mode, boxes. The lexer never looks back more than one token nor ahead more than one
 * argument. */
#include "answer_check/read/lex.h"

#include <string.h>

#include "answer_check/read/lex_state.h"
#include "evalcore/base/arena.h"

/* Passes over white space and notes it; an empty line separates formulas. */
static void lex_blanks(struct lexer *l)
{
    int lines = 0;
    do
        lines += l->text.s[l->at++] == '\n';
    while (lex_peek(l, 0) == ' ' || (ascii_is_space(lex_peek(l, 0)) && !ascii_is_letter(lex_peek(l, 1))));
    lex_space(l, lines > 1 ? SPACE_WIDE : SPACE_BLANK);
}

/* Braces open and close groups. {,} and {:} are one sign; braces inside \text belong to fonts. */
static int lex_brace(struct lexer *l, char c)
{
    if (c == '{') {
        if (l->in_text) /* {..} inside \text belongs to a font */
            return lex_open_group(l, GROUP_TEXT);
        if (lex_peek(l, 0) == ',' && lex_peek(l, 1) == '}') { /* 10{,}000 */
            l->at += 2;
            lex_emit(l, T_COMMA, 1, ",", 1);
            return 0;
        }
        if (lex_peek(l, 0) == ':' && lex_peek(l, 1) == '}') { /* 1{:}2 */
            l->at += 2;
            lex_emit(l, T_COLON, 0, ":", 1);
            return 0;
        }
        lex_emit(l, T_OPEN, '{', "{", 1);
        return lex_open_group(l, GROUP_BRACES);
    }
    if (!l->depth)
        return -1;
    struct lex_level *g = &l->group[--l->depth];
    l->in_text = g->in_text;
    if (g->kind == GROUP_BRACES)
        lex_emit(l, T_CLOSE, '{', "}", 1);
    return 0;
}

/* Do the letters up to byte `end` mean a minus sign, as in "negative 3" and "\text{minus }3"? A digit must
 * follow. */
static int is_sign(const struct lexer *l, size_t end)
{
    struct span word = {l->text.s + l->at, end - l->at};
    size_t i = end;
    if (!span_starts(word, "negative") && !span_starts(word, "minus"))
        return 0;
    while (i < l->text.n && strchr(" }$", l->text.s[i]) && l->text.s[i])
        i++;
    return (word.n == 8 || word.n == 5) && i > end && i < l->text.n && ascii_is_digit(l->text.s[i]);
}

/* Letters: a word with a mathematical meaning, or one that the reader will read. sinx is read as sin x. */
static void lex_letters(struct lexer *l)
{
    const char *s = l->text.s + l->at;
    size_t n = 0, left = l->text.n - l->at;
    while (n < left) {
        if (ascii_is_letter(s[n])) {
            n++;
            continue;
        }
        if (!(s[n] & 0x80))
            break;
        int c, used = math_character(s + n, left - n, &c);
        int letter = c > 0 && !math_character_command(c) && !math_character_ascii(c) &&
                     !math_character_script(c, &(int){0}) && math_character_is_letter(c);
        if (!letter)
            break;
        n += (size_t)used;
    }
    if (is_sign(l, l->at + n)) {
        lex_emit(l, T_MINUS, 0, s, n);
        l->at += n;
        return;
    }
    const struct token_meaning *m = n > 1 ? math_plain_word((struct span){s, n}) : NULL;
    if (!m && n > 2 && !l->in_text && memchr("xyznab", s[n - 1], 6)) {
        m = math_plain_word((struct span){s, n - 1});
        m = m && m->kind == T_FUNCTION ? m : NULL;
        n -= m ? 1 : 0;
    }
    l->at += n;
    struct token *t = lex_emit(l, m ? m->kind : T_WORD, m ? m->value : 0, s, n);
    t->flags |= m ? TOKEN_PLAIN : 0;
}

static void lex_digits(struct lexer *l)
{
    size_t n = 0;
    while (ascii_is_digit(lex_peek(l, n)))
        n++;
    const char *s = l->text.s + l->at;
    l->at += n;
    lex_emit(l, T_DIGITS, 0, s, n);
}

/* The digit that a character outside ASCII at byte `at` stands for, or 0; *used is its length in bytes. */
static char styled_digit(const struct lexer *l, size_t at, size_t *used)
{
    int c;
    if (at >= l->text.n)
        return 0;
    *used = (size_t)math_character(l->text.s + at, l->text.n - at, &c);
    int ascii = math_character_ascii(c);
    return (char)(ascii_is_digit((char)ascii) ? ascii : 0);
}

/* Full-width or bold digits: a run of them is one number. */
static void lex_styled_digits(struct lexer *l)
{
    size_t n = 0, used = 0;
    for (size_t at = l->at; styled_digit(l, at, &used); at += used)
        n++;
    char *s = arena_alloc(l->work->arena, n);
    for (size_t i = 0; i < n; i++, l->at += used)
        s[i] = styled_digit(l, l->at, &used);
    lex_emit(l, T_DIGITS, 0, s, n);
}

/* A raised or lowered run of Unicode characters: x², a₁, 10⁻³. Written like x^{..}. */
static int lex_script(struct lexer *l)
{
    int up = 0, first_up = -1, c, n = 0;
    size_t end = l->at;
    char *out = NULL;
    for (int pass = 0; pass < 2; pass++) { /* the first pass counts them, the second writes them */
        n = 0;
        for (end = l->at; end < l->text.n;) {
            int used = math_character(l->text.s + end, l->text.n - end, &c);
            int of = math_character_script(c, &up);
            if (!of || (n && up != first_up))
                break;
            first_up = up;
            if (out)
                out[n] = (char)of;
            n++;
            end += (size_t)used;
        }
        out = out ? out : arena_alloc(l->work->arena, (size_t)n);
    }
    l->at = end;
    lex_emit(l, first_up ? T_CARET : T_UNDERSCORE, 0, first_up ? "^" : "_", 1);
    lex_emit(l, T_OPEN, '{', "{", 1);
    for (int i = 0; i < n;) {
        int k = i;
        while (k < n && ascii_is_digit(out[k]))
            k++;
        if (k > i) {
            lex_emit(l, T_DIGITS, 0, out + i, (size_t)(k - i));
            i = k;
            continue;
        }
        if (lex_ascii_operator(l, out[i]) < 0)
            lex_emit(l, T_WORD, 0, out + i, 1);
        i++;
    }
    lex_emit(l, T_CLOSE, '{', "}", 1);
    return 0;
}

/* ½ and the like: emits T_VULGAR and returns 1, or 0 when c is no such character. */
static int vulgar_fraction(struct lexer *l, int c)
{
    static const struct {
        int c;
        const char *s;
    } table[] = {{0xBC, "1/4"},   {0xBD, "1/2"},   {0xBE, "3/4"},   {0x2150, "1/7"}, {0x2151, "1/9"},
                 {0x2153, "1/3"}, {0x2154, "2/3"}, {0x2155, "1/5"}, {0x2156, "2/5"}, {0x2157, "3/5"},
                 {0x2158, "4/5"}, {0x2159, "1/6"}, {0x215A, "5/6"}, {0x215B, "1/8"}, {0x215C, "3/8"},
                 {0x215D, "5/8"}, {0x215E, "7/8"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].c == c) {
            lex_emit(l, T_VULGAR, 0, table[i].s, 3);
            return 1;
        }
    return 0;
}

/* A character beyond ASCII. */
static int beyond_ascii(struct lexer *l)
{
    int c, up, used = math_character(l->text.s + l->at, l->text.n - l->at, &c);
    if (c < 0)
        return -1;
    const char *command = math_character_command(c);
    int ascii = math_character_ascii(c);
    if (math_character_script(c, &up))
        return lex_script(l);
    if (c == 0x200B || c == 0xFEFF || c == 0x2061 || c == 0x2062) { /* invisible */
        l->at += (size_t)used;
        return 0;
    }
    if (!command && !ascii && math_character_is_letter(c) && !(c >= 0xBC && c <= 0xBE) &&
        !(c >= 0x2150 && c <= 0x215E)) {
        lex_letters(l);
        return 0;
    }
    if (ascii_is_digit((char)ascii)) {
        lex_styled_digits(l);
        return 0;
    }
    l->at += (size_t)used;
    if (command) {
        const struct token_meaning *m = math_command((struct span){command, strlen(command)});
        int before = l->n;
        if (!m || lex_meaning(l, m))
            return -1;
        if (m->kind == T_ROOT && l->n > before) /* √12 is the root of 12 */
            l->t[before].value = (short)(c == 0x221A ? 1 : c == 0x221B ? 3 : 4);
        return 0;
    }
    if (ascii == ' ') {
        lex_space(l, SPACE_BLANK);
        return 0;
    }
    if (ascii_is_letter((char)ascii)) {
        lex_emit(l, T_WORD, 0, arena_strndup(l->work->arena, &(char){(char)ascii}, 1), 1);
        return 0;
    }
    if (ascii == '{' || ascii == '}')
        return -1;
    return ascii ? lex_ascii_operator(l, (char)ascii) : vulgar_fraction(l, c) ? 0 : -1;
}

/* Undoes an escape that some program resolved: form feed and "rac" is \frac, tab and "ext" is \text.
 * Returns 1 when it was one. */
static int resolved_escape(struct lexer *l, char c)
{
    static const char from[] = "\a\b\t\v\f\r", to[] = "abtvfr";
    const char *p = c && c <= '\r' ? strchr(from, c) : NULL;
    char name[24];
    size_t n = 1;
    if (!p)
        return 0;
    name[0] = to[p - from];
    while (n < sizeof name && ascii_is_letter(lex_peek(l, n))) {
        name[n] = lex_peek(l, n);
        n++;
    }
    const struct token_meaning *m = n > 2 && n < sizeof name ? math_command((struct span){name, n}) : NULL;
    if (!m)
        return 0;
    l->at += n;
    if (lex_meaning(l, m))
        l->failed = 1;
    return 1;
}

/* Reads the next token or mark. Returns 0, or -1 where the text cannot be read. */
static int lex_next(struct lexer *l)
{
    char c = l->text.s[l->at];
    l->start = l->at;
    if (resolved_escape(l, c))
        return 0;
    if (ascii_is_space(c)) {
        lex_blanks(l);
        return 0;
    }
    if (c & 0x80)
        return beyond_ascii(l);
    if (ascii_is_letter(c)) {
        lex_letters(l);
        return 0;
    }
    if (ascii_is_digit(c)) {
        lex_digits(l);
        return 0;
    }
    l->at++;
    if (c == '\\')
        return lex_backslash(l);
    if (c == '{' || c == '}')
        return lex_brace(l, c);
    if (c == '$' && !l->currency) {
        if (l->depth && l->group[l->depth - 1].kind == GROUP_TEXT)
            l->in_text = !l->in_text;
        lex_math_mode(l);
        return 0;
    }
    if (c == '~' && lex_peek(l, 0) != '=') {
        lex_space(l, SPACE_BLANK);
        return 0;
    }
    return lex_ascii_operator(l, c);
}

/* Is $ a currency sign here? An even number of them, or a pair and a stray one, are marks of math mode; so
 * is a single one that has no number beside it. */
static int dollar_is_currency(struct span text)
{
    size_t n = 0, at = 0;
    for (size_t i = 0; i < text.n; i++)
        if (text.s[i] == '$' && !(i && text.s[i - 1] == '\\')) {
            n++;
            at = i;
        }
    if (n != 1)
        return 0;
    size_t next = at + 1, before = at;
    while (next < text.n && (ascii_is_space(text.s[next]) || text.s[next] == '-' || text.s[next] == '.'))
        next++;
    while (before && ascii_is_space(text.s[before - 1]))
        before--;
    return (next < text.n && ascii_is_digit(text.s[next])) || (before && ascii_is_digit(text.s[before - 1]));
}

int math_lex(struct math_work *w, struct span text, struct token **out)
{
    enum { LOOK_AHEAD = 16 }; /* zeroed tokens behind the last one, which the reader may look at */
    struct lexer l;
    memset(&l, 0, offsetof(struct lexer, group));
    l.work = w;
    l.text = text;
    if (text.n > MATH_TREE_BYTES || math_step(w, (int64_t)text.n))
        return -1;
    l.currency = dollar_is_currency(text);
    l.cap = 2 * (int)text.n + 8;
    l.t = arena_room(w->arena, ((size_t)l.cap + LOOK_AHEAD) * sizeof *l.t);
    while (l.at < text.n)
        if (lex_next(&l) || l.failed)
            return -1;
    if (l.depth || l.n_environments || l.failed)
        return -1;
    int n = l.n;
    l.start = l.at;
    lex_emit(&l, T_END, 0, "", 0);
    memset(l.t + l.n, 0, LOOK_AHEAD * sizeof *l.t);
    *out = l.t;
    return n;
}
