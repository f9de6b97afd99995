/* Writings that the grammar of formulas does not know, put into ones that it knows (contract: respell.h). */
#include "answer_check/text/respell.h"
#include "answer_check/text/respell_words.h"

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

/* The text without the marks of words set in it, and commas as blanks: its length, or 0 where it is long or
 * holds other signs. */
static size_t flatten(char flat[64], struct span s)
{
    size_t n = 0;
    if (s.n > 60)
        return 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.s[i] == '\\' &&
            (span_at(s, i, "\\text{") || span_at(s, i, "\\textbf{") || span_at(s, i, "\\mathrm{"))) {
            while (s.s[i] != '{')
                i++;
            continue;
        }
        if (s.s[i] == '^' || s.s[i] == '{' || s.s[i] == '}' || s.s[i] == '$')
            continue;
        char c = s.s[i];
        int is_blank =
            c == ',' || c == '(' || c == ')' || c == '~' || span_at(s, i, "\\ ") || span_at(s, i, "\\,");
        if (!is_blank && !ascii_is_letter(c) && !ascii_is_digit(c) && c != ' ' && c != '.' && c != ':' &&
            c != '\'')
            return 0;
        i += s.s[i] == '\\';
        flat[n++] = is_blank ? ' ' : s.s[i];
    }
    while (n && (flat[n - 1] == ' ' || flat[n - 1] == '.'))
        n--;
    return n;
}

/* The next word of a flat text from *i on; empty at its end. */
static struct span flat_word(struct span flat, size_t *i)
{
    while (*i < flat.n && flat.s[*i] == ' ')
        ++*i;
    size_t from = *i;
    while (*i < flat.n && flat.s[*i] != ' ')
        ++*i;
    return (struct span){flat.s + from, *i - from};
}

/* The day of the week, in full or by three letters and a capital: 1 to 7, or 0. */
static int weekday_of(struct span w)
{
    static const char *const names[] = {"monday", "tuesday",  "wednesday", "thursday",
                                        "friday", "saturday", "sunday"};
    for (int k = 0; k < 7; k++)
        if ((w.n == 3 || w.n == strlen(names[k])) && w.s[0] < 'a' && ascii_lower(w.s[0]) == names[k][0]) {
            size_t i = 1;
            while (i < w.n && ascii_lower(w.s[i]) == names[k][i])
                i++;
            if (i == w.n)
                return k + 1;
        }
    return 0;
}

static const char *const weekdays[] = {"",         "Monday", "Tuesday",  "Wednesday",
                                       "Thursday", "Friday", "Saturday", "Sunday"};

/* "March 14th", "14 March", "the 14th of March", with a year or a day of the week or without, as "March 14";
 * "Tue" as "Tuesday": 1, or 0. */
static int read_date(struct arena *a, struct span s, struct span *out)
{
    static const char *const full[] = {"January", "February", "March",     "April",   "May",      "June",
                                       "July",    "August",   "September", "October", "November", "December"};
    char flat[64];
    size_t n = flatten(flat, s);
    int month = 0, day = 0, year = 0, weekday = 0;
    for (size_t i = 0; i < n;) {
        while (i < n && flat[i] == ' ')
            i++;
        size_t from = i;
        while (i < n && flat[i] != ' ')
            i++;
        struct span w = {flat + from, i - from};
        if (!w.n)
            break;
        if (!weekday && weekday_of(w))
            weekday = weekday_of(w);
        else if (!month && month_of(w))
            month = month_of(w);
        else if (!day && day_of(w))
            day = day_of(w);
        else if (month && day && !year && w.n == 4 && ascii_is_digit(w.s[0]) && ascii_is_digit(w.s[1]) &&
                 ascii_is_digit(w.s[2]) && ascii_is_digit(w.s[3]))
            year = (w.s[0] - '0') * 1000 + (w.s[1] - '0') * 100 + (w.s[2] - '0') * 10 + w.s[3] - '0';
        else if (!span_is(w, "of") && !span_is(w, "the") && !span_is(w, "on"))
            return 0;
    }
    const char *date = weekdays[weekday], *blank = weekday ? " " : "";
    if (!month != !day || !(month || weekday))
        return 0;
    if (month)
        date = year ? arena_printf(a, "%s%s%s %d, %d", date, blank, full[month - 1], day, year)
                    : arena_printf(a, "%s%s%s %d", date, blank, full[month - 1], day);
    *out = (struct span){date, strlen(date)};
    return 1;
}

/* ---- times of the day and bases ---- */

/* The number that one or two digits at *i write, or -1. */
static int two_digits(struct span s, size_t *i)
{
    int n = -1;
    for (int k = 0; k < 2 && *i < s.n && ascii_is_digit(s.s[*i]); k++, ++*i)
        n = 10 * (n < 0 ? 0 : n) + s.s[*i] - '0';
    return n;
}

/* "12:00 noon" and "12 noon" as 12:00 PM, "midnight" as 12:00 AM, "15:00 h" as 15:00, "24:00" as 0:00, "3
 * o'clock" as 3:00: 1, or 0. */
static int read_clock(struct arena *a, struct span s, struct span *out)
{
    char flat[64];
    struct span f = {flat, flatten(flat, s)};
    size_t i = 0, after;
    int hour = two_digits(f, &i), minute = -1;
    if (hour < 0 || hour > 24)
        return 0;
    if (i < f.n && f.s[i] == ':') {
        i++;
        after = i;
        minute = two_digits(f, &i);
        if (i != after + 2 || minute > 59)
            return 0;
    }
    struct span w = flat_word(f, &i);
    int is_noon = span_is(w, "noon"), is_night = span_is(w, "midnight");
    int is_hour = (minute >= 0 && (span_is(w, "h") || span_is(w, "hours") || span_is(w, "hrs"))) ||
                  (hour <= 12 && span_is(w, "o'clock"));
    if (i < f.n || (w.n && !is_noon && !is_night && !is_hour) ||
        ((is_noon || is_night) && (hour != 12 || minute > 0)) || (!w.n && !(hour == 24 && minute == 0)))
        return 0;
    const char *text = is_noon || is_night ? (is_noon ? "12:00 PM" : "12:00 AM")
                                           : arena_printf(a, "%d:%02d", hour % 24, minute > 0 ? minute : 0);
    *out = (struct span){text, strlen(text)};
    return 1;
}

/* The base that a word or digits name, or 0. */
static int base_of(struct span w)
{
    static const char *const names[] = {"two",    "three",    "four",     "five",    "six",
                                        "seven",  "eight",    "nine",     "ten",     "eleven",
                                        "twelve", "thirteen", "fourteen", "fifteen", "sixteen"};
    size_t i = 0;
    int base = two_digits(w, &i);
    if (base > 1 && i == w.n)
        return base <= 36 ? base : 0;
    for (int k = 0; k < 15; k++)
        if (span_is(w, names[k]))
            return k + 2;
    return span_is(w, "binary") ? 2 : span_is(w, "octal") ? 8 : span_is(w, "hexadecimal") ? 16 : 0;
}

/* "0b1011", "0xFF", "1011 in base two", "ff_{16}" as digits with an index: 1, or 0. */
static int read_based(struct arena *a, struct span s, struct span *out)
{
    char flat[64];
    struct span index = {s.s, 0}, f = {flat, 0}, digits = s;
    int base = 0;
    const char *low = s.n < 60 ? memchr(s.s, '_', s.n) : NULL;
    if (low) {
        digits.n = (size_t)(low - s.s);
        index = (struct span){low, s.n - digits.n};
        base = span_is(index, "_{16}") || span_is(index, "_16") ? 16 : 0;
    } else if (s.n > 2 && s.s[0] == '0' && strchr("bxoBXO", s.s[1])) {
        base = ascii_lower(s.s[1]) == 'b' ? 2 : ascii_lower(s.s[1]) == 'o' ? 8 : 16;
        digits = (struct span){s.s + 2, s.n - 2};
    } else {
        size_t i = 0;
        f.n = flatten(flat, s);
        digits = flat_word(f, &i);
        struct span w = flat_word(f, &i);
        int is_in = span_is(w, "in");
        w = is_in ? flat_word(f, &i) : w;
        if (span_is(w, "base"))
            base = base_of(flat_word(f, &i));
        else if (is_in && !ascii_is_digit(w.n ? w.s[0] : '0'))
            base = base_of(w);
        if (i < f.n)
            return 0;
    }
    char *upper = arena_alloc(a, digits.n + 1);
    int is_small = 0;
    for (size_t i = 0; i < digits.n && base; i++) {
        char c = ascii_lower(digits.s[i]);
        int value = ascii_is_digit(c) ? c - '0' : ascii_is_letter(c) ? c - 'a' + 10 : 36;
        upper[i] = (char)(value > 9 ? 'A' + value - 10 : c);
        is_small |= digits.s[i] >= 'a';
        base = value < base ? base : 0;
    }
    if (!base || !digits.n || (low && (!is_small || digits.n < 2)))
        return 0;
    const char *text = arena_printf(a, "%.*s_{%d}", (int)digits.n, upper, base);
    *out = (struct span){text, strlen(text)};
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
        if (span_at(s, i, "\\pm") || span_at(s, i, "\\mp"))
            i += 2;
        else if (s.s[i] == 'i' && at == s.n)
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

/* Values of special functions that have a name of their own, alone in a text: \zeta(2), \Gamma(1/2). */
static int read_special(struct span s, struct span *out)
{
    static const char *const values[][2] = {{"\\zeta(2)", "\\frac{\\pi^2}{6}"},
                                            {"\\zeta(4)", "\\frac{\\pi^4}{90}"},
                                            {"\\zeta(-1)", "-\\frac{1}{12}"},
                                            {"\\zeta(0)", "-\\frac12"},
                                            {"\\Gamma(1/2)", "\\sqrt{\\pi}"},
                                            {"\\Gamma(\\frac12)", "\\sqrt{\\pi}"},
                                            {"\\Gamma(3/2)", "\\frac{\\sqrt{\\pi}}{2}"},
                                            {"\\Gamma(\\frac32)", "\\frac{\\sqrt{\\pi}}{2}"}};
    static const char *const dropped[] = {"\\left", "\\right", "{", "}", " "};
    char flat[24];
    size_t n = 0;
    for (size_t i = 0; i < s.n && n < sizeof flat - 1;) {
        size_t skip = 0;
        for (size_t k = 0; k < sizeof dropped / sizeof *dropped && !skip; k++)
            skip = span_at(s, i, dropped[k]) ? strlen(dropped[k]) : 0;
        if (!skip && (span_at(s, i, "\\tfrac") || span_at(s, i, "\\dfrac"))) { /* as \frac */
            flat[n++] = '\\';
            skip = 2;
        }
        if (!skip)
            flat[n++] = s.s[i];
        i += skip ? skip : 1;
    }
    for (size_t k = 0; k < sizeof values / sizeof *values; k++)
        if (n == strlen(values[k][0]) && !memcmp(flat, values[k][0], n)) {
            *out = (struct span){values[k][1], strlen(values[k][1])};
            return 1;
        }
    return 0;
}

/* Without the marks of a formula around it. */
static struct span without_marks(struct span s)
{
    static const char style[] = "\\displaystyle";
    if (s.n > 2 && s.s[0] == '$' && s.s[s.n - 1] == '$')
        s = span_trim((struct span){s.s + 1, s.n - 2});
    if (span_at(s, 0, style))
        s = span_trim((struct span){s.s + strlen(style), s.n - strlen(style)});
    return s;
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
        has_capital |= s.s[i] >= 'A' && s.s[i] <= 'W';
        has_word |= (s.s[i] == '\\' || (unsigned char)s.s[i] >= 0xc2) && word_at(s, i) < WORDS;
    }
    if (has_word)
        s = replace_words(a, s);
    s = respell_words(a, span_trim(s));
    if (read_numbers(a, s, &out) || (!is_plain && read_derivative(a, s, &out)))
        return out;
    if (s.n > 60 || !s.n)
        return s;
    struct span bare = without_marks(s);
    if ((span_at(bare, 0, "\\zeta") || span_at(bare, 0, "\\Gamma")) && read_special(bare, &out))
        return out;
    if (has_digit && (read_clock(a, bare, &out) || read_based(a, bare, &out)))
        return out;
    return has_capital && read_date(a, bare, &out) ? out : s;
}
