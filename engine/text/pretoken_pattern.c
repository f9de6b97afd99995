/* Translates the split pattern of a tokenizer.json for PCRE2.
 *
 * The tokenizers library matches it with Oniguruma in Ruby syntax, and the file is untrusted. So everything
 * is refused that is not in this list: literals, classes without set operations, general categories, \s \d
 * and their negations, groups that only group or look around, and plain quantifiers. White space is written
 * out, because PCRE2's \s includes U+180E and Unicode's White_Space does not. */
#include "engine/text/pretoken.h"

#include <string.h>

enum { PATTERN_MAX = 4096 };

static const char SPACE[] =
    "\\t-\\r \\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}"
    "\\x{3000}";
static const char NOT_SPACE[] =
    "\\x{0}-\\x{8}\\x{e}-\\x{1f}!-\\x{84}\\x{86}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-"
    "\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-"
    "\\x{2fff}\\x{3001}-\\x{10ffff}";
static const char *const GROUP[] = {"(?:", "(?i:", "(?=", "(?!", "(?<=", "(?<!", "(?>"};

struct reader {
    const char *p;
    size_t n, at;
    struct str *out;
    const char *what;
    struct err *e;
};

static int refuse_pattern(struct reader *r, size_t from, const char *why)
{
    size_t n = r->at < r->n ? r->at + 1 - from : r->n - from;
    return err_set(r->e, ERR_UNSUPPORTED,
                   "%s: the pattern of pre_tokenizer's Split is not supported: %s at byte %zu (%.*s)",
                   r->what, why, from, (int)(n < 40 ? n : 40), r->p + from);
}

static int looking_at(const struct reader *r, const char *text)
{
    size_t n = strlen(text);
    return r->n - r->at >= n && !memcmp(r->p + r->at, text, n);
}

static void copy_bytes(struct reader *r, size_t n)
{
    str_add(r->out, r->p + r->at, n);
    r->at += n;
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static size_t hex_digits(const struct reader *r, size_t at, size_t max)
{
    size_t n = 0;
    while (n < max && at + n < r->n && is_hex(r->p[at + n]))
        n++;
    return n;
}

/* \p{L}, \P{Lu}, \p{^N}: only general categories, since scripts are different sets in the two libraries. */
static int read_category(struct reader *r)
{
    size_t from = r->at, at = from + 2;
    if (at >= r->n || r->p[at] != '{')
        return refuse_pattern(r, from, "a property without braces");
    at++;
    if (at < r->n && r->p[at] == '^')
        at++;
    size_t name = at;
    while (at < r->n && r->p[at] != '}' && at - name < 8)
        at++;
    int ok = at < r->n && r->p[at] == '}' && (at - name == 1 || at - name == 2) &&
             strchr("LMNPSZC", r->p[name]) &&
             (at - name == 1 || (r->p[name + 1] >= 'a' && r->p[name + 1] <= 'z'));
    if (!ok) {
        r->at = at;
        return refuse_pattern(r, from, "a property that is not a general category");
    }
    copy_bytes(r, at + 1 - from);
    return 0;
}

static int code_point(struct reader *r, size_t from)
{
    int braces = r->p[from + 1] == 'x' && from + 2 < r->n && r->p[from + 2] == '{';
    size_t first = from + 2 + (size_t)braces, max = braces ? 6 : r->p[from + 1] == 'x' ? 2 : 4;
    size_t n = hex_digits(r, first, max);
    if (!n || (!braces && n != max) || (braces && (first + n >= r->n || r->p[first + n] != '}')) ||
        (max == 2 && r->p[first] > '7'))
        return refuse_pattern(r, from, "a character code");
    str_puts(r->out, "\\x{");
    str_add(r->out, r->p + first, n);
    str_putc(r->out, '}');
    r->at = first + n + (size_t)braces;
    return 0;
}

static int read_escape(struct reader *r, int in_class)
{
    size_t from = r->at;
    if (from + 1 >= r->n)
        return refuse_pattern(r, from, "a backslash at the end");
    char c = r->p[from + 1];
    if (c == 'p' || c == 'P')
        return read_category(r);
    if (c == 'x' || c == 'u')
        return code_point(r, from);
    if (c == 's' || c == 'S') {
        if (!in_class)
            str_putc(r->out, '[');
        str_puts(r->out, c == 's' ? SPACE : NOT_SPACE);
        if (!in_class)
            str_putc(r->out, ']');
        r->at += 2;
        return 0;
    }
    if (c == 'd' || c == 'D') {
        str_puts(r->out, c == 'd' ? "\\p{Nd}" : "\\P{Nd}");
        r->at += 2;
        return 0;
    }
    int punctuation = c > 32 && c < 127 && !is_digit(c) && !((c | 32) >= 'a' && (c | 32) <= 'z');
    if (!punctuation && !strchr("rntf ", c)) {
        r->at++;
        return refuse_pattern(r, from,
                              "an escape whose meaning differs between regular expression libraries");
    }
    copy_bytes(r, 2);
    return 0;
}

static int read_class(struct reader *r)
{
    size_t from = r->at;
    copy_bytes(r, 1);
    if (r->at < r->n && r->p[r->at] == '^')
        copy_bytes(r, 1);
    if (r->at < r->n && r->p[r->at] == ']')
        return refuse_pattern(r, from, "an empty class");
    while (r->at < r->n && r->p[r->at] != ']') {
        if (r->p[r->at] == '[')
            return refuse_pattern(r, from, "a class inside a class");
        if (looking_at(r, "&&"))
            return refuse_pattern(r, from, "an intersection of classes");
        if (r->p[r->at] == '\\') {
            int rc = read_escape(r, 1);
            if (rc)
                return rc;
        } else {
            copy_bytes(r, 1);
        }
    }
    if (r->at == r->n)
        return refuse_pattern(r, from, "a class that is not closed");
    copy_bytes(r, 1);
    return 0;
}

/* {2} {2,} {2,5}; a further quantifier, which other dialects allow after them, is refused. */
static int read_count(struct reader *r)
{
    size_t from = r->at, at = from + 1;
    while (at < r->n && is_digit(r->p[at]))
        at++;
    int ok = at > from + 1;
    if (at < r->n && r->p[at] == ',')
        at++;
    while (at < r->n && is_digit(r->p[at]))
        at++;
    ok = ok && at < r->n && r->p[at] == '}' && (at + 1 == r->n || !strchr("+?*{", r->p[at + 1]));
    r->at = at < r->n ? at : r->n - 1;
    if (!ok)
        return refuse_pattern(r, from, "a repetition count");
    r->at = from;
    copy_bytes(r, at + 1 - from);
    return 0;
}

static int read_group(struct reader *r)
{
    if (r->at + 1 < r->n && r->p[r->at + 1] != '?' && r->p[r->at + 1] != '*') {
        copy_bytes(r, 1);
        return 0;
    }
    for (size_t i = 0; i < sizeof GROUP / sizeof *GROUP; i++)
        if (looking_at(r, GROUP[i])) {
            copy_bytes(r, strlen(GROUP[i]));
            return 0;
        }
    size_t from = r->at;
    r->at = r->n - r->at > 3 ? r->at + 3 : r->n;
    return refuse_pattern(r, from, "a special group");
}

int pretoken_pattern(struct str *out, const char *pattern, size_t n, const char *what, struct err *e)
{
    struct reader r = {.p = pattern, .n = n, .out = out, .what = what, .e = e};
    if (n == 0 || n > PATTERN_MAX)
        return err_set(e, ERR_UNSUPPORTED,
                       "%s: the pattern of pre_tokenizer's Split has %zu bytes; 1 to %d are supported", what,
                       n, PATTERN_MAX);
    if (memchr(pattern, 0, n))
        return err_set(e, ERR_FORMAT, "%s: the pattern of pre_tokenizer's Split holds a NUL byte", what);
    int rc = 0;
    while (!rc && r.at < n) {
        switch (pattern[r.at]) {
        case '\\':
            rc = read_escape(&r, 0);
            break;
        case '[':
            rc = read_class(&r);
            break;
        case '{':
            rc = read_count(&r);
            break;
        case '(':
            rc = read_group(&r);
            break;
        case '^':
        case '$':
            rc = refuse_pattern(&r, r.at, "an anchor");
            break;
        default:
            copy_bytes(&r, 1);
        }
    }
    return rc;
}
