/* Units at the end of a formula, which the original removes before it reads: a text or box of text that
 * runs to the end, and then, twice, a word of its list behind a digit, a brace or a blank. The list is the
 * original's with its accidents: one-letter units (so 2t is 2), a "." that stands for any character, and
 * two words that a missing comma joined. */
#include "answer_check/compat/compat.h"

#include <string.h>

static const char *const units[] = {
    "integerpoint",
    "feet",
    "sue",
    "digit",
    "pound",
    "meal",
    "edge",
    "student",
    "children ticket",
    "multiple",
    "east",
    "degree",
    "mph",
    "kmph",
    "ft",
    "m square",
    " m east",
    "sq m",
    "deg",
    "mile",
    "q .",
    "monkey",
    "prime",
    "ratio",
    "profit of rs",
    "rd",
    "o",
    "gm",
    "p . m",
    "lb",
    "tile",
    "per",
    "dm",
    "lt",
    "gain",
    "ab",
    "way",
    "west",
    "a .",
    "b .",
    "c .",
    "d .",
    "e .",
    "f .",
    "g .",
    "h .",
    "t",
    "h",
    "no change",
    "men",
    "soldier",
    "pie",
    "bc",
    "excess",
    "st",
    "inches",
    "noon",
    "cent",
    "by",
    "gal",
    "kmh",
    "c",
    "acre",
    "rise",
    "a . m",
    "th",
    "π r 2",
    "sq",
    "mark",
    "l",
    "toy",
    "coin",
    "sq . m",
    "gallon",
    "° f",
    "profit",
    "minw",
    "yr",
    "women",
    "am",
    "pm",
    "hr",
    "cu cm",
    "square",
    "v â € ™",
    "are",
    "rupee",
    "rounds",
    "cubic",
    "cc",
    "mtr",
    "s",
    "ohm",
    "number",
    "day",
    "hour",
    "minute",
    "min",
    "second",
    "man",
    "woman",
    "sec",
    "cube",
    "mt",
    "sq inch",
    "mp",
    "∏ cm ³",
    "hectare",
    "more",
    "unit",
    "cu . m",
    "cm 2",
    "rs .",
    "rs",
    "kg",
    "g",
    "month",
    "km",
    "m",
    "cm",
    "mm",
    "apple",
    "liter",
    "loss",
    "yard",
    "pure",
    "year",
    "increase",
    "decrease",
    "d",
    "less",
    "Surface",
    "litre",
    "pi sq m",
    "s .",
    "metre",
    "meter",
    "inch",
};

/* The start of the last character before i, for i > 0. */
static size_t previous_char(struct span t, size_t i)
{
    size_t k = i - 1;
    while (k && i - k < 4 && ((unsigned char)t.s[k] & 0xc0) == 0x80)
        k--;
    return compat_next(t, k) == i ? k : i - 1;
}

/* Where the unit starts if it ends at `end`, else -1. */
static long unit_start(struct span t, size_t end, const char *unit)
{
    size_t n = strlen(unit);
    while (n) {
        if (!end)
            return -1;
        if (unit[n - 1] == '.')
            end = previous_char(t, end);
        else if (t.s[--end] != unit[n - 1])
            return -1;
        n--;
    }
    return (long)end;
}

/* The length of t without a unit that starts at `start`. A digit, brace or blank must stand before the unit;
 * otherwise t.n is returned. */
static size_t length_before_unit(struct span t, size_t start)
{
    size_t blank = start, first = start;
    while (blank) {
        size_t k = previous_char(t, blank);
        if (!compat_space(t, k))
            break;
        first = blank;
        blank = k;
    }
    if (blank && (ascii_is_digit(t.s[blank - 1]) || t.s[blank - 1] == '}'))
        return blank;
    return blank < start ? first : t.n;
}

static struct span without_unit(struct span t)
{
    static const char *const plural[] = {"", "s", "es"};
    size_t end = t.n, shortest = t.n;
    while (end && compat_space(t, previous_char(t, end)))
        end = previous_char(t, end);
    for (int p = 0; p < 3; p++) {
        long stem = unit_start(t, end, plural[p]);
        for (size_t u = 0; stem >= 0 && u < sizeof units / sizeof *units; u++) {
            long start = unit_start(t, (size_t)stem, units[u]);
            size_t n = start >= 0 ? length_before_unit(t, (size_t)start) : t.n;
            if (n < shortest)
                shortest = n;
        }
    }
    return shortest ? (struct span){t.s, shortest} : t;
}

/* Removes everything from the first \text{ or \mbox{ on, if the text ends with "}", "}^2" or "}{^2}". */
static struct span without_text(struct span t)
{
    size_t end = t.n;
    if (end >= 3 && ascii_is_digit(t.s[end - 1]) && t.s[end - 2] == '^' && t.s[end - 3] == '}')
        end -= 2;
    if (!end || t.s[end - 1] != '}')
        return t;
    for (size_t i = 0; i + 6 < end; i++)
        if (t.s[i] == '\\' && (span_at(t, i, "\\text{") || span_at(t, i, "\\mbox{")))
            return (struct span){t.s, i};
    return t;
}

struct span compat_strip_units(struct span t)
{
    struct span shorter = compat_trim(without_text(t));
    if (shorter.n)
        t = shorter;
    t = without_unit(t);
    return without_unit(t);
}
