/* Short answers that say in words or signs what a formula writes otherwise: "5 choose 2", "half past seven",
 * "the y-axis", "3 R 2", "max 5, min 2", "n = 2 only", "8 (not 5)", "2 at x = 1", "5 k\Omega", five per
 * mille,
 * "(3 4)(1 2)" (contract: respell_words.h). A rule is tried only where its word or sign stands. */
#include "answer_check/text/respell_words.h"

#include <string.h>

enum { ANSWER_MAX = 160 };

/* ---- the text without its marks ---- */

/* The length of a mark or a blank at i that says nothing, or 0. */
static size_t silent_length(struct span s, size_t i, int *is_blank)
{
    static const char *const blanks[] = {"~", "\\ ", "\\,", "\\;", "\\:", "\\quad", "\\qquad"};
    static const char *const marks[] = {"$", "\\!", "\\(", "\\)", "\\left", "\\right", "\\displaystyle"};
    for (size_t k = 0; k < sizeof blanks / sizeof *blanks; k++)
        if (span_at(s, i, blanks[k])) {
            *is_blank = 1;
            return strlen(blanks[k]);
        }
    *is_blank = 0;
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++)
        if (span_at(s, i, marks[k]))
            return strlen(marks[k]);
    return 0;
}

static size_t font_length(struct span s, size_t i)
{
    static const char *const fonts[] = {"\\text{", "\\textbf{", "\\mathrm{", "\\textrm{", "\\mbox{"};
    for (size_t k = 0; s.s[i] == '\\' && k < sizeof fonts / sizeof *fonts; k++)
        if (span_at(s, i, fonts[k]))
            return strlen(fonts[k]);
    return 0;
}

/* Writes s without the marks of words and formulas, with single blanks and no full stop. Returns its length,
 * 0 where a brace stays open: a piece of a formula is none. */
static size_t flatten(char out[ANSWER_MAX], struct span s)
{
    unsigned char is_font[ANSWER_MAX];
    size_t n = 0, depth = 0;
    for (size_t i = 0; i < s.n;) {
        int is_blank = 0;
        size_t font = font_length(s, i), silent = silent_length(s, i, &is_blank);
        if (font || s.s[i] == '{')
            is_font[depth++] = font > 0;
        if (font || silent || ascii_is_space(s.s[i])) {
            int is_wide = is_blank || (!font && !silent);
            if (is_wide && n && out[n - 1] != ' ')
                out[n++] = ' ';
            i += font ? font : silent ? silent : 1;
        } else if (s.s[i] == '}' && depth && is_font[--depth]) {
            i++;
        } else {
            size_t used = s.s[i] == '\\' && i + 1 < s.n ? 2 : 1;
            memcpy(out + n, s.s + i, used);
            n += used;
            i += used;
        }
    }
    while (n && strchr(" .", out[n - 1]))
        n--;
    return depth ? 0 : n;
}

/* ---- words and numbers ---- */

/* Where the phrase stands in s, as whole words, or s.n. */
static size_t find_phrase(struct span s, const char *phrase)
{
    size_t n = strlen(phrase);
    for (size_t i = 0; i + n <= s.n; i++)
        if (span_starts((struct span){s.s + i, s.n - i}, phrase) && !(i && ascii_is_letter(s.s[i - 1])) &&
            !(i + n < s.n && ascii_is_letter(s.s[i + n])))
            return i;
    return s.n;
}

/* Passes over the phrase, of lower-case words, at the start of *s, and the blank behind it: 1, or 0. */
static int take(struct span *s, const char *phrase)
{
    size_t n = strlen(phrase);
    if (!span_starts(*s, phrase) || (n < s->n && ascii_is_letter(s->s[n]) && ascii_is_letter(phrase[n - 1])))
        return 0;
    *s = span_trim((struct span){s->s + n, s->n - n});
    return 1;
}

/* Takes one of the phrases, which end with NULL. */
static int take_one(struct span *s, const char *const *phrases)
{
    for (; *phrases; phrases++)
        if (take(s, *phrases))
            return 1;
    return 0;
}

/* Takes a number of at most two digits, or its word up to twenty-five: the number, or -1. */
static int take_number(struct span *s)
{
    static const char *const words[] = {"one",     "two",       "three",    "four",     "five",
                                        "six",     "seven",     "eight",    "nine",     "ten",
                                        "eleven",  "twelve",    "thirteen", "fourteen", "fifteen",
                                        "sixteen", "seventeen", "eighteen", "nineteen"};
    int n = 0, tens = 0;
    size_t i = 0;
    for (; i < s->n && i < 3 && ascii_is_digit(s->s[i]); i++)
        n = 10 * n + s->s[i] - '0';
    if (i) {
        *s = span_trim((struct span){s->s + i, s->n - i});
        return i < 3 ? n : -1;
    }
    if (take(s, "twenty")) {
        tens = 20;
        take(s, "-");
    }
    for (int k = 0; k < 19; k++)
        if (take(s, words[k]))
            return tens + k + 1;
    return tens ? tens : -1;
}

/* A run of digits at the start of *s, taken. */
static struct span take_digits(struct span *s)
{
    struct span out = {s->s, 0};
    while (out.n < s->n && ascii_is_digit(s->s[out.n]))
        out.n++;
    *s = span_trim((struct span){s->s + out.n, s->n - out.n});
    return out;
}

/* ---- "5 choose 2" ---- */

static int is_operand_byte(char c)
{
    return ascii_is_digit(c) || ascii_is_letter(c);
}

/* The number, letter or group of brackets that ends at i; empty for anything else. */
static struct span operand_before(struct span s, size_t i)
{
    size_t from = i;
    int depth = 0;
    if (i && s.s[i - 1] == ')') {
        do {
            from--;
            depth += (s.s[from] == ')') - (s.s[from] == '(');
        } while (from && depth);
        return depth ? (struct span){s.s, 0} : (struct span){s.s + from, i - from};
    }
    while (from && is_operand_byte(s.s[from - 1]))
        from--;
    return (struct span){s.s + from, i - from};
}

static struct span operand_behind(struct span s, size_t i)
{
    size_t to = i;
    int depth = 0;
    if (i < s.n && s.s[i] == '(') {
        do
            depth += (s.s[to] == '(') - (s.s[to] == ')');
        while (++to < s.n && depth);
        return (struct span){s.s + i, depth ? 0 : to - i};
    }
    while (to < s.n && is_operand_byte(s.s[to]))
        to++;
    return (struct span){s.s + i, to - i};
}

static int is_operand(struct span s)
{
    struct span rest = s;
    return s.n && (s.s[0] == '(' || s.n == 1 || (take_digits(&rest).n && !rest.n));
}

/* As \binom{5}{2}, wherever it stands. */
static const char *read_choose(struct arena *a, struct span f)
{
    static const char word[] = "choose";
    size_t at = find_phrase(f, word), to = at + strlen(word);
    if (at == f.n || !at || f.s[at - 1] != ' ' || to >= f.n || f.s[to] != ' ')
        return NULL;
    struct span n = operand_before(f, at - 1), k = operand_behind(f, to + 1);
    if (!is_operand(n) || !is_operand(k))
        return NULL;
    size_t end = (size_t)(k.s - f.s) + k.n;
    return arena_printf(a, "%.*s\\binom{%.*s}{%.*s}%.*s", (int)(n.s - f.s), f.s, (int)n.n, n.s, (int)k.n, k.s,
                        (int)(f.n - end), f.s + end);
}

/* ---- "half past seven", "seven o'clock", "1 h 20 min" ---- */

/* The half of the day at the start of *s, taken: "" where none stands. */
static const char *take_half(struct span *s)
{
    static const char *const am[] = {"in the morning", "am", "a.m.", "a.m", NULL};
    static const char *const pm[] = {
        "in the afternoon", "in the evening", "at night", "pm", "p.m.", "p.m", NULL};
    return take_one(s, am) ? " AM" : take_one(s, pm) ? " PM" : "";
}

static const char *read_time(struct arena *a, struct span f)
{
    static const char *const past[] = {"past", "after", NULL}, *const to[] = {"to", "before", "till", NULL};
    static const char *const units[] = {"minutes", "minute", NULL};
    static const char *const clock[] = {"o'clock", "o\xe2\x80\x99\x63lock", NULL};
    int minute = 0, hour = 0;
    take(&f, "at");
    take(&f, "a");
    int is_part = 1; /* 5 to 8 is a ratio */
    if (take(&f, "half")) {
        minute = 30;
    } else if (take(&f, "quarter")) {
        minute = 15;
    } else {
        minute = take_number(&f);
        is_part = take_one(&f, units);
    }
    if (take_one(&f, past)) {
        hour = take_number(&f);
        take_one(&f, clock);
    } else if (is_part && minute < 30 && take_one(&f, to)) {
        hour = take_number(&f);
        take_one(&f, clock);
        hour = hour == 1 ? 12 : hour - 1;
        minute = 60 - minute;
    } else if (!is_part && take_one(&f, clock)) { /* seven o'clock */
        hour = minute;
        minute = 0;
    }
    if (hour < 1 || hour > 12 || minute < 0 || minute > 59)
        return NULL;
    const char *half = take_half(&f);
    return f.n ? NULL : arena_printf(a, "%d:%02d%s", hour, minute, half);
}

/* With the units in full, which as single letters are names. */
static const char *read_duration(struct arena *a, struct span f)
{
    static const char *const h[] = {"h", "hr", "hrs", NULL}, *const m[] = {"min", "mins", "m", NULL};
    static const char *const s[] = {"s", "sec", NULL};
    struct span hours = take_digits(&f), seconds = {0};
    if (!hours.n || !take_one(&f, h))
        return NULL;
    take(&f, "and");
    struct span minutes = take_digits(&f);
    if (!minutes.n || !take_one(&f, m))
        return NULL;
    take(&f, "and");
    seconds = take_digits(&f);
    if (f.n && (!seconds.n || !take_one(&f, s) || f.n))
        return NULL;
    return arena_printf(a, "%.*s hours %.*s minutes%s%.*s%s", (int)hours.n, hours.s, (int)minutes.n,
                        minutes.s, seconds.n ? " " : "", (int)seconds.n, seconds.s,
                        seconds.n ? " seconds" : "");
}

/* ---- "the y-axis" ---- */

static const char *read_axis(struct span f)
{
    take(&f, "the");
    int is_y = f.n && ascii_lower(f.s[0]) == 'y';
    if (!take(&f, "x") && !take(&f, "y"))
        return NULL;
    take(&f, "-");
    if (!take(&f, "axis") || f.n)
        return NULL;
    return is_y ? "x=0" : "y=0";
}

/* ---- "3 R 2", "quotient 3, remainder 2" ---- */

static const char *read_remainder(struct arena *a, struct span f)
{
    static const char *const marks[] = {"remainder", "rem.", "rem", "r", NULL};
    if (memchr(f.s, '^', f.n) || memchr(f.s, '_', f.n))
        return NULL;
    take(&f, "the");
    if (take(&f, "quotient")) {
        take(&f, "is");
        take(&f, "=");
        take(&f, ":");
    }
    struct span quotient = take_digits(&f);
    take(&f, ",");
    take(&f, "and");
    take(&f, "with");
    take(&f, "the");
    take(&f, "a");
    if (!quotient.n || !take_one(&f, marks))
        return NULL;
    take(&f, "of");
    take(&f, "is");
    take(&f, "=");
    take(&f, ":");
    struct span rest = take_digits(&f);
    return rest.n && !f.n ? arena_printf(a, "%.*s\\text{ remainder }%.*s", (int)quotient.n, quotient.s,
                                         (int)rest.n, rest.s)
                          : NULL;
}

/* ---- "max 5, min 2" ---- */

/* Takes "the maximum value is" and the like: the name, or NULL. */
static const char *take_extremum(struct span *s)
{
    static const char *const max[] = {"maximum", "max", NULL}, *const min[] = {"minimum", "min", NULL};
    static const char *const verbs[] = {"is", "=", ":", "of", NULL};
    take(s, "the");
    if (s->n && s->s[0] == '\\')
        *s = (struct span){s->s + 1, s->n - 1};
    int is_max = take_one(s, max);
    if (!is_max && !take_one(s, min))
        return NULL;
    take(s, ".");
    take(s, "value");
    take_one(s, verbs);
    return is_max ? "maximum" : "minimum";
}

/* As two equations. */
static const char *read_extrema(struct arena *a, struct span f)
{
    static const char *const joints[] = {", and ", ",", ";", " and "};
    const char *first = take_extremum(&f);
    for (size_t k = 0; first && k < sizeof joints / sizeof *joints; k++) {
        const char *at = memmem(f.s, f.n, joints[k], strlen(joints[k]));
        if (!at)
            continue;
        struct span value = {f.s, (size_t)(at - f.s)}, rest = {at, f.n - value.n};
        rest = span_trim((struct span){at + strlen(joints[k]), rest.n - strlen(joints[k])});
        const char *second = take_extremum(&rest);
        if (!second || !strcmp(first, second) || !value.n || !rest.n)
            return NULL;
        return arena_printf(a, "\\text{%s}=%.*s, \\text{%s}=%.*s", first, (int)value.n, value.s, second,
                            (int)rest.n, rest.s);
    }
    return NULL;
}

/* ---- what stands behind a value and changes nothing: "only", "(not 5)", "at x = 1" ---- */

/* Without "only" at the end, where no condition stands. */
static const char *read_only(struct arena *a, struct span f)
{
    static const char *const ends[] = {" only", " (only)"};
    static const char *const conditions[] = {"if", "for", "when", "where", "at", "with"};
    for (size_t k = 0; k < sizeof conditions / sizeof *conditions; k++)
        if (find_phrase(f, conditions[k]) < f.n)
            return NULL;
    for (size_t k = 0; k < 2; k++) {
        size_t n = strlen(ends[k]);
        if (f.n > n && span_starts((struct span){f.s + f.n - n, n}, ends[k]))
            return arena_printf(a, "%.*s", (int)(f.n - n), f.s);
    }
    return NULL;
}

static const char *read_denied(struct arena *a, struct span f)
{
    static const char *const begins[] = {" (not ", "(not ", ", not "};
    for (size_t k = 0; k < 3; k++) {
        const char *at = memmem(f.s, f.n, begins[k], strlen(begins[k]));
        if (!at || at == f.s || !(ascii_is_digit(at[-1]) || strchr(")}", at[-1])))
            continue;
        size_t rest = f.n - (size_t)(at - f.s);
        if (k < 2 ? at[rest - 1] == ')' : rest < 16 && ascii_is_digit(at[strlen(begins[k])]))
            return arena_printf(a, "%.*s", (int)(at - f.s), f.s);
    }
    return NULL;
}

/* "2 at x = 1" as "2 when x = 1". */
static const char *read_place(struct arena *a, struct span f)
{
    size_t at = find_phrase(f, "at");
    if (at < 2 || at + 3 >= f.n || f.s[at - 1] != ' ' || f.s[at + 2] != ' ' ||
        !(ascii_is_digit(f.s[at - 2]) || strchr(")},(", f.s[at - 2])))
        return NULL;
    struct span rest = span_trim((struct span){f.s + at + 2, f.n - at - 2});
    take(&rest, "the point");
    int is_point = rest.n && rest.s[0] == '(',
        is_name = rest.n > 2 && ascii_is_letter(rest.s[0]) && (rest.s[1] == '=' || span_at(rest, 1, " ="));
    return is_point || is_name ? arena_printf(a, "%.*swhen %.*s", (int)at, f.s, (int)rest.n, rest.s) : NULL;
}

/* ---- what stands around a quantity: "12 meters tall", "D. 15" ---- */

static const char *read_adjective(struct arena *a, struct span f)
{
    static const char *const words[] = {" tall", " long", " wide",  " deep", " high",
                                        " away", " old",  " apart", " thick"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        size_t n = strlen(words[k]);
        if (f.n > n + 2 && ascii_is_letter(f.s[f.n - n - 1]) && (ascii_is_digit(f.s[0]) || f.s[0] == '\\') &&
            span_starts((struct span){f.s + f.n - n, n}, words[k]))
            return arena_printf(a, "%.*s", (int)(f.n - n), f.s);
    }
    return NULL;
}

/* The letter of an option as "(D)". */
static const char *read_label(struct arena *a, struct span f)
{
    if (f.n < 4 || f.s[0] < 'A' || f.s[0] > 'E' || !strchr(".)", f.s[1]) || f.s[2] != ' ' ||
        !(ascii_is_digit(f.s[3]) || strchr("\\-", f.s[3])))
        return NULL;
    return arena_printf(a, "(%c) %.*s", f.s[0], (int)(f.n - 3), f.s + 3);
}

/* ---- Z/6Z as Z_6 ---- */

static const char *read_quotient(struct arena *a, struct span f)
{
    static const char *const sets[] = {"\\mathbb{Z}", "\\mathbb Z"};
    for (size_t k = 0; k < 2; k++) {
        size_t n = strlen(sets[k]);
        for (size_t i = 0; i + 2 * n < f.n; i++) {
            struct span rest = {f.s + i + n + 1, f.n - i - n - 1};
            if (!span_at(f, i, sets[k]) || f.s[i + n] != '/')
                continue;
            struct span order = take_digits(&rest);
            if (!order.n || !span_at(rest, 0, sets[k]))
                continue;
            struct span left = {rest.s + n, rest.n - n};
            const char *text = arena_printf(a, "%.*s\\mathbb{Z}_{%.*s}%.*s", (int)i, f.s, (int)order.n,
                                            order.s, (int)left.n, left.s);
            const char *more = read_quotient(a, (struct span){text, strlen(text)});
            return more ? more : text;
        }
    }
    return NULL;
}

/* ---- ohms and per mille ---- */

/* The number with a sign and a point at the start of *s, taken. */
static struct span take_decimal(struct span *s)
{
    struct span out = {s->s, 0};
    while (out.n < s->n && (ascii_is_digit(s->s[out.n]) || s->s[out.n] == '.' || (!out.n && s->s[0] == '-')))
        out.n++;
    *s = span_trim((struct span){s->s + out.n, s->n - out.n});
    return out;
}

static const char *read_sign(struct arena *a, struct span f)
{
    static const char *const ohm[] = {"\xce\xa9", "\xe2\x84\xa6", NULL};
    static const char *const mille[] = {"\xe2\x80\xb0", "\\permil", "\\textperthousand", "per mille", NULL};
    struct span number = take_decimal(&f), scale = {f.s, 0};
    if (!number.n || !ascii_is_digit(number.s[number.n - 1]))
        return NULL;
    if (take_one(&f, mille))
        return f.n ? NULL : arena_printf(a, "\\frac{%.*s}{10}\\%%", (int)number.n, number.s);
    if (f.n && strchr("kMm", f.s[0])) {
        scale.n = 1;
        f = span_trim((struct span){f.s + 1, f.n - 1});
    }
    int is_ohm = span_is(f, "\\Omega") || (take_one(&f, ohm) && !f.n);
    if (!is_ohm)
        return NULL;
    return arena_printf(a, "%.*s\\text{ %.*sohm}", (int)number.n, number.s, (int)scale.n, scale.s);
}

/* ---- cycles of a permutation ---- */

enum { CYCLES = 12, POINTS = 24 };

struct cycle {
    int n, point[POINTS];
};

/* The cycle "(1 2 3)" at the start of *s, from its smallest point on: 1, or 0. */
static int take_cycle(struct cycle *out, struct span *s)
{
    int point[POINTS], n = 0, first = 0;
    if (!take(s, "("))
        return 0;
    while (n < POINTS && s->n && ascii_is_digit(s->s[0])) {
        size_t before = s->n;
        int value = take_number(s);
        if (value < 0 || (s->n && ascii_is_digit(s->s[0]) && before - s->n < 2))
            return 0;
        for (int k = 0; k < n; k++)
            if (point[k] == value)
                return 0;
        point[n++] = value;
        first = value < point[first] ? n - 1 : first;
    }
    if (n < 2 || !take(s, ")"))
        return 0;
    out->n = n;
    for (int k = 0; k < n; k++)
        out->point[k] = point[(first + k) % n];
    return 1;
}

static int share_point(const struct cycle *x, const struct cycle *y)
{
    for (int i = 0; i < x->n; i++)
        for (int k = 0; k < y->n; k++)
            if (x->point[i] == y->point[k])
                return 1;
    return 0;
}

/* Each cycle from its smallest point on, and disjoint ones in the order of these. */
static const char *read_cycles(struct arena *a, struct span f)
{
    struct cycle c[CYCLES], held;
    int n = 0, is_disjoint = 1;
    while (n < CYCLES && f.n && take_cycle(&c[n], &f)) {
        for (int k = 0; k < n; k++)
            is_disjoint &= !share_point(&c[k], &c[n]);
        n++;
        take(&f, "\\circ");
    }
    if (!n || f.n)
        return NULL;
    for (int i = 1; i < n && is_disjoint; i++)
        for (int k = i; k && c[k].point[0] < c[k - 1].point[0]; k--) {
            held = c[k];
            c[k] = c[k - 1];
            c[k - 1] = held;
        }
    const char *text = "";
    for (int i = 0; i < n; i++)
        for (int k = 0; k < c[i].n; k++)
            text =
                arena_printf(a, "%s%s%d%s", text, k ? "\\ " : "(", c[i].point[k], k + 1 < c[i].n ? "" : ")");
    return text;
}

/* ---- which rules to try ---- */

/* The words and signs of the rules. */
enum {
    SAYS_CHOOSE = 1,
    SAYS_TIME = 2,
    SAYS_AXIS = 4,
    SAYS_REMAINDER = 8,
    SAYS_EXTREMUM = 16,
    SAYS_ONLY = 32,
    SAYS_NOT = 64,
    SAYS_AT = 128,
    SAYS_SIGN = 256,
    SAYS_CYCLE = 512,
    SAYS_ADJECTIVE = 1024,
    SAYS_QUOTIENT = 2048
};

static unsigned rule_of(struct span word)
{
    static const struct {
        const char *word;
        unsigned rule;
    } table[] = {{"tall", SAYS_ADJECTIVE},
                 {"long", SAYS_ADJECTIVE},
                 {"wide", SAYS_ADJECTIVE},
                 {"deep", SAYS_ADJECTIVE},
                 {"high", SAYS_ADJECTIVE},
                 {"away", SAYS_ADJECTIVE},
                 {"old", SAYS_ADJECTIVE},
                 {"apart", SAYS_ADJECTIVE},
                 {"thick", SAYS_ADJECTIVE},
                 {"mathbb", SAYS_QUOTIENT},
                 {"choose", SAYS_CHOOSE},
                 {"past", SAYS_TIME},
                 {"to", SAYS_TIME},
                 {"after", SAYS_TIME},
                 {"before", SAYS_TIME},
                 {"clock", SAYS_TIME},
                 {"till", SAYS_TIME},
                 {"axis", SAYS_AXIS},
                 {"remainder", SAYS_REMAINDER},
                 {"rem", SAYS_REMAINDER},
                 {"max", SAYS_EXTREMUM},
                 {"min", SAYS_EXTREMUM},
                 {"maximum", SAYS_EXTREMUM},
                 {"minimum", SAYS_EXTREMUM},
                 {"only", SAYS_ONLY},
                 {"not", SAYS_NOT},
                 {"at", SAYS_AT},
                 {"mille", SAYS_SIGN},
                 {"omega", SAYS_SIGN},
                 {"permil", SAYS_SIGN},
                 {"textperthousand", SAYS_SIGN}};
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        if (word.n == strlen(table[k].word) && span_starts(word, table[k].word))
            return table[k].rule;
    return 0;
}

/* Which rules' words and signs stand in the text? */
static unsigned rules_of(struct span s)
{
    unsigned all = 0;
    for (size_t i = 0; i < s.n;) {
        unsigned char c = (unsigned char)s.s[i];
        if (ascii_is_letter(s.s[i])) {
            size_t from = i;
            while (i < s.n && ascii_is_letter(s.s[i]))
                i++;
            all |= i - from > 1                    ? rule_of((struct span){s.s + from, i - from})
                   : ascii_lower(s.s[from]) == 'r' ? SAYS_REMAINDER
                   : ascii_lower(s.s[from]) == 'h' ? SAYS_TIME
                                                   : 0;
            continue;
        }
        if (c >= 0xce)
            all |= span_at(s, i, "\xce\xa9") || span_at(s, i, "\xe2\x84\xa6") || span_at(s, i, "\xe2\x80\xb0")
                       ? SAYS_SIGN
                       : 0;
        if (c == '(' && i + 3 < s.n && ascii_is_digit(s.s[i + 1]) &&
            (strchr(" \\", s.s[i + 2]) || (ascii_is_digit(s.s[i + 2]) && strchr(" \\", s.s[i + 3]))))
            all |= SAYS_CYCLE;
        i++;
    }
    return all;
}

struct span respell_words(struct arena *a, struct span s)
{
    char flat[ANSWER_MAX];
    if (s.n < 3 || s.n > ANSWER_MAX)
        return s;
    unsigned says = rules_of(s);
    size_t first = s.s[0] == '$';
    int may_be_label = span_at(s, first, "\\text") || span_at(s, first, "\\display") ||
                       (s.s[first] >= 'A' && s.s[first] <= 'E' && strchr(".)", s.s[first + 1]));
    if (!says && !may_be_label)
        return s;
    struct span f = {flat, flatten(flat, s)};
    const char *out = NULL;
    if (!f.n)
        return s;
    if (may_be_label)
        out = read_label(a, f);
    if (!out && says & SAYS_CYCLE)
        out = read_cycles(a, f);
    if (!out && says & SAYS_CHOOSE)
        out = read_choose(a, f);
    if (!out && says & SAYS_TIME)
        out = read_time(a, f);
    if (!out && says & SAYS_TIME)
        out = read_duration(a, f);
    if (!out && says & SAYS_ADJECTIVE)
        out = read_adjective(a, f);
    if (!out && says & SAYS_QUOTIENT)
        out = read_quotient(a, f);
    if (!out && says & SAYS_AXIS)
        out = read_axis(f);
    if (!out && says & SAYS_REMAINDER)
        out = read_remainder(a, f);
    if (!out && says & SAYS_EXTREMUM)
        out = read_extrema(a, f);
    if (!out && says & SAYS_SIGN)
        out = read_sign(a, f);
    if (!out && says & SAYS_ONLY)
        out = read_only(a, f);
    if (!out && says & SAYS_NOT)
        out = read_denied(a, f);
    if (!out && says & SAYS_AT)
        out = read_place(a, f);
    return out ? (struct span){out, strlen(out)} : s;
}
