/* Writings that the grammar of formulas does not know, put into ones that it knows (contract: respell.h). */
#include "answer_check/text/respell.h"

#include <string.h>

static const struct {
    const char *from, *to;
} words[] = {
    {"\xc2\xa2", " cents"},                      /* the sign of cents */
    {"\xe6\x97\xa0\xe8\xa7\xa3", "no solution"}, /* Chinese */
    {"\xe7\x84\xa1\xe8\xa7\xa3", "no solution"}, /* Chinese and Japanese */
    {"\xe6\x97\xa0\xe5\xae\x9e\xe6\x95\xb0\xe8\xa7\xa3", "no real solution"},
    {"\xe6\xb2\xa1\xe6\x9c\x89\xe8\xa7\xa3", "no solution"},
    {"\xe8\xa7\xa3\xe3\x81\xaa\xe3\x81\x97", "no solution"},
    {"\xed\x95\xb4\xea\xb0\x80 \xec\x97\x86", "no solution"},
    {"\xe7\xa9\xba\xe9\x9b\x86", "empty set"},
    {"\\operatorname{Re}", "\\Re "},
    {"\\operatorname{Im}", "\\Im "},
    {"\\mathrm{Re}", "\\Re "},
    {"\\mathrm{Im}", "\\Im "},
};
enum { WORDS = sizeof words / sizeof *words };

/* Which writing stands at i, or WORDS. */
static int word_at(struct span s, size_t i)
{
    int k = 0;
    if (s.s[i] == '\\' && !(i + 1 < s.n && (s.s[i + 1] == 'o' || s.s[i + 1] == 'm')))
        return WORDS;
    while (k < WORDS && !span_at(s, i, words[k].from))
        k++;
    return k;
}

static struct span replace_words(struct arena *a, struct span s)
{
    size_t n = 0, longest = 16;
    char *out = arena_alloc(a, s.n * longest + 1);
    for (size_t i = 0; i < s.n;) {
        int k = (s.s[i] == '\\' || (unsigned char)s.s[i] >= 0xc2) ? word_at(s, i) : WORDS;
        if (k == WORDS) {
            out[n++] = s.s[i++];
            continue;
        }
        memcpy(out + n, words[k].to, strlen(words[k].to));
        n += strlen(words[k].to);
        i += strlen(words[k].from);
    }
    return (struct span){out, n};
}

/* ---- dates ---- */

/* The number of a month in full or by its first three letters, or 0. */
static int month_of(struct span w)
{
    static const char *const names[] = {"january",   "february", "march",    "april",
                                        "may",       "june",     "july",     "august",
                                        "september", "october",  "november", "december"};
    if (w.n && w.s[w.n - 1] == '.')
        w.n--;
    for (int k = 0; k < 12; k++)
        if (w.n >= 3 && w.n <= strlen(names[k]) && (w.n == 3 || w.n == strlen(names[k]))) {
            size_t i = 0;
            while (i < w.n && ascii_lower(w.s[i]) == names[k][i])
                i++;
            if (i == w.n)
                return k + 1;
        }
    return 0;
}

/* A day, "14" or "14th": its number, or 0. */
static int day_of(struct span w)
{
    int day = 0;
    size_t i = 0;
    for (; i < w.n && i < 2 && ascii_is_digit(w.s[i]); i++)
        day = 10 * day + w.s[i] - '0';
    struct span rest = {w.s + i, w.n - i};
    if (!i || (rest.n && !(rest.n == 2 && (span_starts(rest, "th") || span_starts(rest, "st") ||
                                           span_starts(rest, "nd") || span_starts(rest, "rd")))))
        return 0;
    return day <= 31 ? day : 0;
}

/* "March 14th", "14 March", "the 14th of March", with a year or without, as "March 14": 1, or 0. */
static int read_date(struct arena *a, struct span s, struct span *out)
{
    static const char *const full[] = {"January", "February", "March",     "April",   "May",      "June",
                                       "July",    "August",   "September", "October", "November", "December"};
    char flat[64];
    size_t n = 0;
    int month = 0, day = 0, year = 0;
    if (s.n > 60)
        return 0;
    for (size_t i = 0; i < s.n; i++) {
        if (span_at(s, i, "\\text{") || span_at(s, i, "\\textbf{") || span_at(s, i, "\\mathrm{")) {
            while (s.s[i] != '{')
                i++;
            continue;
        }
        if (s.s[i] == '^' || s.s[i] == '{' || s.s[i] == '}' || s.s[i] == '$')
            continue;
        if (!ascii_is_letter(s.s[i]) && !ascii_is_digit(s.s[i]) && !strchr(" ,.", s.s[i]))
            return 0;
        flat[n++] = s.s[i] == ',' ? ' ' : s.s[i];
    }
    for (size_t i = 0; i < n;) {
        while (i < n && flat[i] == ' ')
            i++;
        size_t from = i;
        while (i < n && flat[i] != ' ')
            i++;
        struct span w = {flat + from, i - from};
        if (!w.n)
            break;
        if (i == n && w.s[w.n - 1] == '.')
            w.n--;
        if (!month && month_of(w))
            month = month_of(w);
        else if (!day && day_of(w))
            day = day_of(w);
        else if (month && day && !year && w.n == 4 && ascii_is_digit(w.s[0]) && ascii_is_digit(w.s[1]) &&
                 ascii_is_digit(w.s[2]) && ascii_is_digit(w.s[3]))
            year = (w.s[0] - '0') * 1000 + (w.s[1] - '0') * 100 + (w.s[2] - '0') * 10 + w.s[3] - '0';
        else if (!span_is(w, "of") && !span_is(w, "the") && !span_is(w, "on"))
            return 0;
    }
    if (!month || !day)
        return 0;
    const char *date = year ? arena_printf(a, "%s %d, %d", full[month - 1], day, year)
                            : arena_printf(a, "%s %d", full[month - 1], day);
    *out = (struct span){date, strlen(date)};
    return 1;
}

/* ---- numbers ---- */

/* "10C3" as \binom{10}{3}, "1.6e-19 C" as 1.6\times10^{-19} C, "4+i4" as 4+4i: 1, or 0. */
static int read_numbers(struct arena *a, struct span s, struct span *out)
{
    size_t i = 0, digits;
    if (s.n > 60 || !s.n)
        return 0;
    if (s.s[0] == '-')
        i++;
    while (i < s.n && ascii_is_digit(s.s[i]))
        i++;
    digits = i;
    if (i && i + 1 < s.n && s.s[i] == 'C' && s.s[0] != '-') {
        while (++i < s.n && ascii_is_digit(s.s[i]))
            ;
        const char *binomial =
            arena_printf(a, "\\binom{%.*s}{%.*s}", (int)digits, s.s, (int)(i - digits - 1), s.s + digits + 1);
        *out = (struct span){binomial, strlen(binomial)};
        return i == s.n;
    }
    if (i + 1 < s.n && s.s[i] == '.' && ascii_is_digit(s.s[i + 1])) {
        while (++i < s.n && ascii_is_digit(s.s[i]))
            ;
        size_t e = i, sign = i + 1 < s.n && (s.s[i + 1] == '-' || s.s[i + 1] == '+');
        if (i < s.n && (s.s[i] == 'e' || s.s[i] == 'E') && i + 1 + sign < s.n &&
            ascii_is_digit(s.s[i + 1 + sign])) {
            size_t from = e + 1 + (sign && s.s[e + 1] == '+'), to = e + 1 + sign;
            while (to < s.n && ascii_is_digit(s.s[to]))
                to++;
            const char *rest = to < s.n && (ascii_is_space(s.s[to]) || s.s[to] == '\\') ? s.s + to : NULL;
            if (!rest)
                return 0; /* a number by itself is read as such */
            struct span unit = span_trim((struct span){s.s + to, s.n - to});
            int is_letter = unit.n == 1 && ascii_is_letter(unit.s[0]);
            const char *text =
                arena_printf(a, "%.*s\\times10^{%.*s}%s%.*s%s", (int)e, s.s, (int)(to - from), s.s + from,
                             is_letter ? "\\text{ " : " ", (int)unit.n, unit.s, is_letter ? "}" : "");
            *out = (struct span){text, strlen(text)};
            return 1;
        }
    }
    /* a + ib, where b is a number */
    size_t at = s.n;
    for (i = 0; i < s.n; i++) {
        if (s.s[i] == 'i' && at == s.n)
            at = i;
        else if (!ascii_is_digit(s.s[i]) && !strchr("+-. ", s.s[i]))
            return 0;
    }
    if (at + 1 >= s.n || !ascii_is_digit(s.s[at + 1]) ||
        (at && (ascii_is_digit(s.s[at - 1]) || s.s[at - 1] == '.')))
        return 0;
    for (i = at + 1; i < s.n && (ascii_is_digit(s.s[i]) || s.s[i] == '.');)
        i++;
    const char *text = arena_printf(a, "%.*s%.*si%.*s", (int)at, s.s, (int)(i - at - 1), s.s + at + 1,
                                    (int)(s.n - i), s.s + i);
    *out = (struct span){text, strlen(text)};
    return i == s.n;
}

/* "\frac{\partial}{\partial x} f" as "\frac{\partial f}{\partial x}", for one letter behind it. */
static int read_derivative(struct arena *a, struct span s, struct span *out)
{
    static const char above[] = "\\frac{\\partial}{";
    const char *found = s.n < 200 ? memmem(s.s, s.n, above, strlen(above)) : NULL;
    if (!found)
        return 0;
    size_t at = (size_t)(found - s.s), from = at + strlen(above), close = from;
    while (close < s.n && s.s[close] != '}' && s.s[close] != '{')
        close++;
    size_t letter = close + 1;
    while (letter < s.n && (s.s[letter] == ' ' || span_at(s, letter, "\\,")))
        letter += s.s[letter] == ' ' ? 1 : 2;
    if (letter >= s.n || s.s[close] != '}' || !ascii_is_letter(s.s[letter]) ||
        (letter + 1 < s.n && (ascii_is_letter(s.s[letter + 1]) || strchr("(^_", s.s[letter + 1]))))
        return 0;
    const char *text =
        arena_printf(a, "%.*s\\frac{\\partial %c}{%.*s}%.*s", (int)at, s.s, s.s[letter], (int)(close - from),
                     s.s + from, (int)(s.n - letter - 1), s.s + letter + 1);
    *out = (struct span){text, strlen(text)};
    return 1;
}

struct span respell(struct arena *a, struct span s)
{
    struct span out;
    int has_word = 0, is_plain = 1, has_digit = 0, has_capital = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (!s.s[i]) /* what follows a NUL would be lost in a copy */
            return span_trim(s);
        is_plain &= s.s[i] != '\\';
        has_digit |= ascii_is_digit(s.s[i]);
        has_capital |= s.s[i] >= 'A' && s.s[i] <= 'S';
        has_word |= (s.s[i] == '\\' || (unsigned char)s.s[i] >= 0xc2) && word_at(s, i) < WORDS;
    }
    if (has_word)
        s = replace_words(a, s);
    s = span_trim(s);
    if (read_numbers(a, s, &out) || (!is_plain && read_derivative(a, s, &out)))
        return out;
    return has_digit && has_capital && s.n <= 60 && read_date(a, s, &out) ? out : s;
}
