/* From a template's text to tokens. White space around tags follows Jinja2's lexer with trim_blocks (the line
 * break after a tag goes) and lstrip_blocks (blanks between a line's start and a tag go), as Transformers
 * sets them; a minus takes all white space on its side and a plus keeps it. */
#include <stdlib.h>
#include <string.h>

#include "engine/text/jinja/jinja_parts.h"
#include "evalcore/base/str.h"

struct lexer {
    struct jtokens *out;
    struct arena *a;
    const char *what;
    struct err *e;
    const char *p, *end, *counted;
    int line, starts_line;
};

size_t jinja_char(const char *p, size_t n)
{
    unsigned char c = (unsigned char)*p;
    size_t size = c < 0xC0 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    return size < n ? size : n;
}

static int at_line(struct lexer *x)
{
    for (; x->counted < x->p; x->counted++)
        x->line += *x->counted == '\n';
    return x->line;
}

static int fail_at(struct lexer *x, const char *problem)
{
    return err_set(x->e, ERR_FORMAT, "%s, line %d: %s", x->what, at_line(x), problem);
}

static struct jtoken *add_token(struct lexer *x, enum jtoken_kind kind, const char *text, size_t n)
{
    xgrow(&x->out->v, &x->out->cap, x->out->n + 1, sizeof *x->out->v);
    struct jtoken *t = &x->out->v[x->out->n++];
    *t = (struct jtoken){.kind = kind, .text = text, .n = n, .line = at_line(x)};
    return t;
}

static int starts_with(const struct lexer *x, const char *text)
{
    size_t n = strlen(text);
    return (size_t)(x->end - x->p) >= n && !memcmp(x->p, text, n);
}

static void skip_space(struct lexer *x)
{
    size_t n;
    while ((n = str_space_at(x->p, (size_t)(x->end - x->p))))
        x->p += n;
}

static void add_utf8(struct str *s, uint32_t c)
{
    if (c < 0x80) {
        str_putc(s, (char)c);
    } else if (c < 0x800) {
        str_putc(s, (char)(0xC0 | c >> 6));
        str_putc(s, (char)(0x80 | (c & 0x3F)));
    } else {
        str_putc(s, (char)(c < 0x10000 ? 0xE0 | c >> 12 : 0xF0 | c >> 18));
        if (c >= 0x10000)
            str_putc(s, (char)(0x80 | (c >> 12 & 0x3F)));
        str_putc(s, (char)(0x80 | (c >> 6 & 0x3F)));
        str_putc(s, (char)(0x80 | (c & 0x3F)));
    }
}

/* x->p stands behind a backslash. Python's escapes; one that it does not know stays as it stands. */
static int lex_escape(struct lexer *x, struct str *s)
{
    static const char from[] = "ntr\\'\"abfv", to[] = "\n\t\r\\'\"\a\b\f\v";
    char c = *x->p++;
    const char *known = c ? strchr(from, c) : NULL;
    int digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (known) {
        str_putc(s, to[known - from]);
        return 0;
    }
    if (c == '\n')
        return 0;
    if (c == 'N' || (c >= '0' && c <= '7') || (unsigned char)c >= 0x80)
        return fail_at(x, "this escape in a string is not supported");
    if (!digits) {
        str_putc(s, '\\');
        str_putc(s, c);
        return 0;
    }
    uint32_t value = 0;
    for (int i = 0; i < digits; i++, x->p++) {
        char hex[2] = {x->p < x->end ? *x->p : 0, 0};
        if (!hex[0] || !strchr("0123456789abcdefABCDEF", hex[0]))
            return fail_at(x, "an escape in a string lacks hexadecimal digits");
        value = value << 4 | (uint32_t)strtoul(hex, NULL, 16);
    }
    if (value > 0x10FFFF || (value >= 0xD800 && value < 0xE000))
        return fail_at(x, "an escape in a string is no character");
    add_utf8(s, value);
    return 0;
}

static int lex_string(struct lexer *x)
{
    struct str s = {0};
    char quote = *x->p++;
    int rc = 0;
    while (!rc && x->p < x->end && *x->p != quote) {
        if (*x->p != '\\') {
            str_putc(&s, *x->p++);
        } else if (++x->p < x->end) {
            rc = lex_escape(x, &s);
        }
    }
    if (!rc && x->p >= x->end)
        rc = fail_at(x, "a string does not end");
    if (!rc) {
        x->p++;
        add_token(x, T_STRING, arena_strndup(x->a, str_text(&s), s.len), s.len);
    }
    str_release(&s);
    return rc;
}

static int is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static int lex_number(struct lexer *x)
{
    int64_t v = 0;
    const char *from = x->p;
    for (; x->p < x->end && (is_word(*x->p)); x->p++) {
        if (*x->p < '0' || *x->p > '9' || v > INT64_MAX / 10 - 1)
            return fail_at(x, "numbers other than small decimal integers are not supported");
        v = v * 10 + (*x->p - '0');
    }
    if (x->end - x->p > 1 && *x->p == '.' && x->p[1] >= '0' && x->p[1] <= '9')
        return fail_at(x, "numbers with a fraction are not supported");
    add_token(x, T_INT, from, (size_t)(x->p - from))->number = v;
    return 0;
}

static int lex_operator(struct lexer *x, int *open)
{
    static const char *const two[] = {"==", "!=", ">=", "<=", "//", "**"};
    for (size_t i = 0; i < sizeof two / sizeof *two; i++)
        if (starts_with(x, two[i])) {
            add_token(x, T_OP, two[i], 2);
            x->p += 2;
            return 0;
        }
    if (!*x->p || !strchr("+-*/%~[](){}<>=.:|,", *x->p))
        return fail_at(x, "a character stands here that is part of no expression");
    if (strchr("[({", *x->p))
        ++*open;
    if (strchr("])}", *x->p) && --*open < 0)
        return fail_at(x, "a bracket closes that was not opened");
    add_token(x, T_OP, x->p, 1);
    x->p++;
    return 0;
}

/* The end of a tag: its bytes, 0 when there is none here. */
static size_t tag_end(const struct lexer *x, int is_block)
{
    const char *mark = is_block ? "%}" : "}}";
    size_t sign = x->p < x->end && (*x->p == '-' || (is_block && *x->p == '+'));
    struct lexer at = {.p = x->p + sign, .end = x->end};
    return starts_with(&at, mark) ? sign + 2 : 0;
}

/* After a tag: `sign` is the character before its end mark, `trims` whether a line break goes. */
static void after_tag(struct lexer *x, char sign, int trims)
{
    if (sign == '-')
        skip_space(x);
    else if (trims && sign != '+' && starts_with(x, "\n"))
        x->p++;
    x->starts_line = x->p[-1] == '\n';
}

static int lex_tag(struct lexer *x, int is_block)
{
    int open = 0, rc = 0;
    add_token(x, is_block ? T_BLOCK : T_VAR, NULL, 0);
    while (!rc) {
        skip_space(x);
        if (x->p >= x->end)
            return fail_at(x, "a tag does not end");
        size_t n = open ? 0 : tag_end(x, is_block);
        if (n) {
            add_token(x, is_block ? T_BLOCK_END : T_VAR_END, NULL, 0);
            char sign = n > 2 ? *x->p : 0;
            x->p += n;
            after_tag(x, sign, is_block);
            return 0;
        }
        if (*x->p == '\'' || *x->p == '"') {
            rc = lex_string(x);
        } else if (*x->p >= '0' && *x->p <= '9') {
            rc = lex_number(x);
        } else if (is_word(*x->p)) {
            const char *from = x->p;
            while (x->p < x->end && is_word(*x->p))
                x->p++;
            add_token(x, T_NAME, arena_strndup(x->a, from, (size_t)(x->p - from)), (size_t)(x->p - from));
        } else {
            rc = lex_operator(x, &open);
        }
    }
    return rc;
}

static int lex_comment(struct lexer *x)
{
    const char *from = x->p; /* a minus before it belongs to the beginning: {#-#} */
    while (x->p < x->end && !starts_with(x, "#}"))
        x->p++;
    if (x->p >= x->end)
        return fail_at(x, "a comment does not end");
    char sign = 0;
    if (x->p > from)
        sign = x->p[-1];
    x->p += 2;
    after_tag(x, sign, 1);
    return 0;
}

/* The text from `from` up to the tag at x->p, less what the tag takes away. */
static void add_data(struct lexer *x, const char *from)
{
    size_t n = (size_t)(x->p - from), space;
    char kind = x->end - x->p > 1 ? x->p[1] : 0, sign = x->end - x->p > 2 ? x->p[2] : 0;
    if (x->p < x->end && sign == '-') {
        while ((space = str_space_before(from, n)))
            n -= space;
    } else if (x->p < x->end && sign != '+' && kind != '{') {
        size_t k = n;
        while (k && from[k - 1] != '\n' && (space = str_space_before(from, k)))
            k -= space;
        if (k ? from[k - 1] == '\n' : x->starts_line)
            n = k;
    }
    if (n)
        add_token(x, T_DATA, from, n);
}

static int lex_template(struct lexer *x)
{
    int rc = 0;
    x->starts_line = 1;
    while (!rc && x->p < x->end) {
        const char *from = x->p;
        while (x->p < x->end && !starts_with(x, "{{") && !starts_with(x, "{%") && !starts_with(x, "{#"))
            x->p++;
        add_data(x, from);
        if (x->p >= x->end)
            break;
        char kind = x->p[1];
        x->p += 2;
        if (x->p < x->end && (*x->p == '-' || *x->p == '+'))
            x->p++;
        rc = kind == '#' ? lex_comment(x) : lex_tag(x, kind == '%');
    }
    if (!rc)
        add_token(x, T_END, NULL, 0);
    return rc;
}

int jinja_lex(struct jtokens *out, struct arena *a, const char *text, size_t n, const char *what,
              struct err *e)
{
    if (n > JINJA_TEXT_MAX)
        return err_set(e, ERR_FORMAT, "%s has %zu bytes; a chat template may have %d", what, n,
                       JINJA_TEXT_MAX);
    char *clean = arena_alloc(a, n + 1);
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (text[i] != '\r')
            clean[k++] = text[i];
        else if (i + 1 >= n || text[i + 1] != '\n')
            clean[k++] = '\n';
    if (k && clean[k - 1] == '\n')
        k--;
    struct lexer x = {
        .out = out, .a = a, .what = what, .e = e, .p = clean, .end = clean + k, .counted = clean, .line = 1};
    return lex_template(&x);
}
