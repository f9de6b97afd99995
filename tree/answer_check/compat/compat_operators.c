/* Completes writings as the original does before it reads: \frac12, \frac{a}2, \sqrt3, \log_23, ^(..),
 * sqrt(..), a/b. The steps run over the whole text one after the other, as in the original, so what one of
 * them spoils (\sqrt(2) gets a second backslash) stays spoilt. */
#include "answer_check/compat/compat.h"
#include "evalcore/base/str.h"

#include <string.h>

/* Moves i behind one blank, if there is one. */
static size_t one_space(struct span t, size_t i)
{
    return i + compat_space(t, i);
}

static int digit_at(struct span t, size_t i)
{
    return i < t.n && ascii_is_digit(t.s[i]);
}

/* First `c` at or behind i on the same line, or t.n. */
static size_t find_on_line(struct span t, size_t i, char c)
{
    while (i < t.n && t.s[i] != c && t.s[i] != '\n')
        i++;
    return i < t.n && t.s[i] == c ? i : t.n;
}

static void add_range(struct str *out, struct span t, size_t from, size_t end)
{
    str_add(out, t.s + from, end - from);
}

/* Puts what stands in "^(..)" or "sqrt(..)", up to the next ")", into braces. */
static struct span brace_parentheses(struct span t, const char *name, const char *better, struct arena *a)
{
    struct str out = {0};
    size_t i = 0;
    int may_close = 1;
    while (i < t.n) {
        size_t open = span_at(t, i, name) ? one_space(t, i + strlen(name)) : t.n;
        size_t close = may_close && span_at(t, open, "(") ? find_on_line(t, open + 1, ')') : t.n;
        if (span_at(t, open, "("))
            may_close = close < t.n; /* no ")" follows, here or later */
        if (close < t.n) {
            str_puts(&out, better);
            add_range(&out, t, open + 1, close);
            str_putc(&out, '}');
            i = close + 1;
        } else {
            str_putc(&out, t.s[i++]);
        }
    }
    return compat_move_str(&out, a);
}

/* Puts the first digit of "\frac12" or "\log_23" into braces, and the other digits too. */
static struct span brace_digit_pair(struct span t, const char *name, struct arena *a)
{
    struct str out = {0};
    size_t i = 0;
    while (i < t.n) {
        size_t first = span_at(t, i, name) ? one_space(t, i + strlen(name)) : t.n;
        size_t second = digit_at(t, first) ? one_space(t, first + 1) : t.n;
        if (digit_at(t, second)) {
            str_printf(&out, "%s{%c}{", name, t.s[first]);
            add_range(&out, t, second, compat_digits(t, second));
            str_putc(&out, '}');
            i = compat_digits(t, second);
        } else {
            str_putc(&out, t.s[i++]);
        }
    }
    return compat_move_str(&out, a);
}

/* Puts the digit of "\frac{a}2" into braces. The first "}" with a digit behind it ends the numerator,
 * wherever that is. */
static struct span brace_frac_digit(struct span t, struct arena *a)
{
    struct str out = {0};
    size_t i = 0;
    int searching = 1; /* after a search without a result a later start finds nothing either */
    while (i < t.n) {
        size_t open = searching && span_at(t, i, "\\frac") ? one_space(t, i + 5) : t.n, close = t.n;
        if (span_at(t, open, "{")) {
            close = find_on_line(t, open + 1, '}');
            while (close < t.n && !digit_at(t, one_space(t, close + 1)))
                close = find_on_line(t, close + 1, '}');
            searching = close < t.n;
        }
        if (close < t.n) {
            size_t digit = one_space(t, close + 1);
            str_puts(&out, "\\frac{");
            add_range(&out, t, open + 1, close);
            str_printf(&out, "}{%c}", t.s[digit]);
            i = digit + 1;
        } else {
            str_putc(&out, t.s[i++]);
        }
    }
    return compat_move_str(&out, a);
}

/* Puts the digit of "\frac1{a}" into braces. */
static struct span brace_frac_first(struct span t, struct arena *a)
{
    struct str out = {0};
    size_t i = 0;
    while (i < t.n) {
        size_t digit = span_at(t, i, "\\frac") ? one_space(t, i + 5) : t.n;
        size_t open = digit_at(t, digit) ? one_space(t, digit + 1) : t.n;
        size_t close = span_at(t, open, "{") ? find_on_line(t, open + 1, '}') : t.n;
        if (close < t.n) {
            str_printf(&out, "\\frac{%c}{", t.s[digit]);
            add_range(&out, t, open + 1, close + 1);
            i = close + 1;
        } else {
            str_putc(&out, t.s[i++]);
        }
    }
    return compat_move_str(&out, a);
}

/* Puts the one character behind "\sqrt" or " sqrt" into braces, as in "\sqrt3". */
static struct span brace_roots(struct span t, struct arena *a)
{
    struct str out = {0};
    for (size_t i = 0; i < t.n;) {
        int bare = span_at(t, i, " sqrt");
        if (!bare && !span_at(t, i, "\\sqrt")) {
            str_putc(&out, t.s[i++]);
            continue;
        }
        str_puts(&out, "\\sqrt");
        i = compat_skip_space(t, i + 5);
        if (i < t.n && t.s[i] != '{' && t.s[i] != '[' && !span_at(t, i, "\\sqrt")) {
            size_t end = compat_next(t, i);
            str_putc(&out, '{');
            add_range(&out, t, i, end);
            str_putc(&out, '}');
            i = end;
        }
    }
    return compat_move_str(&out, a);
}

/* Makes "\frac ab" "\frac{a}{b}", with one character each. If fewer than two characters follow a \frac the
 * whole text stays as it is. */
static struct span brace_frac_parts(struct span t, struct arena *a)
{
    struct str out = {0};
    size_t i = 0;
    int sound = 1;
    while (i < t.n && sound) {
        if (!span_at(t, i, "\\frac")) {
            str_putc(&out, t.s[i++]);
            continue;
        }
        str_puts(&out, "\\frac");
        i = compat_skip_space(t, i + 5);
        if (span_at(t, i, "{"))
            continue;
        size_t second = i < t.n ? compat_next(t, i) : t.n, end = second < t.n ? compat_next(t, second) : t.n;
        sound = second < t.n && !span_at(t, i, "\\frac") && !span_at(t, second, "\\frac");
        if (!sound)
            break;
        str_putc(&out, '{');
        add_range(&out, t, i, second);
        str_putc(&out, '}');
        if (t.s[second] == '{') {
            i = second;
            continue;
        }
        str_putc(&out, '{');
        add_range(&out, t, second, end);
        str_putc(&out, '}');
        i = end;
    }
    if (sound)
        return compat_move_str(&out, a);
    str_release(&out);
    return t;
}

/* The end of an integer at i that is written as it would be printed, without plus and leading zeros; 0
 * when there is none. */
static size_t plain_integer(struct span t, size_t i)
{
    size_t first = i + (size_t)span_at(t, i, "-"), end = compat_digits(t, first);
    int zero = end > first && t.s[first] == '0';
    return end == first || (zero && (end > first + 1 || first > i)) ? 0 : end;
}

/* Makes a text "a/b" of two integers "\frac{a}{b}". */
static struct span slash_to_frac(struct span t, struct arena *a)
{
    size_t middle = plain_integer(t, 0), end = middle && span_at(t, middle, "/") ? middle + 1 : 0;
    if (!end || plain_integer(t, end) != t.n)
        return t;
    const char *out = arena_printf(a, "\\frac{%.*s}{%.*s}", (int)middle, t.s, (int)(t.n - end), t.s + end);
    return (struct span){out, strlen(out)};
}

struct span compat_complete_operators(struct span t, struct arena *a)
{
    t = brace_parentheses(t, "^", "^{", a);
    t = brace_parentheses(t, "sqrt", "\\sqrt{", a);
    t = brace_digit_pair(t, "\\frac", a);
    t = brace_digit_pair(t, "\\log_", a);
    t = brace_frac_digit(t, a);
    t = brace_frac_first(t, a);
    t = brace_roots(t, a);
    t = brace_frac_parts(t, a);
    return slash_to_frac(t, a);
}
