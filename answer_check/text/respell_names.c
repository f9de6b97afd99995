/* Words that name what a formula writes: binomials, times, axes, remainders, extremes (contract:
 * respell_parts.h). */
#include "answer_check/text/respell_parts.h"

#include <string.h>

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
    return s.n && (s.s[0] == '(' || s.n == 1 || (respell_take_digits(&rest).n && !rest.n));
}

/* As \binom{5}{2}, wherever it stands. */
const char *respell_choose(struct arena *a, struct span f)
{
    static const char word[] = "choose";
    size_t at = respell_find(f, word), to = at + strlen(word);
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
    return respell_take_one(s, am) ? " AM" : respell_take_one(s, pm) ? " PM" : "";
}

const char *respell_time(struct arena *a, struct span f)
{
    static const char *const past[] = {"past", "after", NULL}, *const to[] = {"to", "before", "till", NULL};
    static const char *const units[] = {"minutes", "minute", NULL};
    static const char *const clock[] = {"o'clock", "o\xe2\x80\x99\x63lock", NULL};
    int minute = 0, hour = 0;
    respell_take(&f, "at");
    respell_take(&f, "a");
    int is_part = 1; /* 5 to 8 is a ratio */
    if (respell_take(&f, "half")) {
        minute = 30;
    } else if (respell_take(&f, "quarter")) {
        minute = 15;
    } else {
        minute = respell_take_number(&f);
        is_part = respell_take_one(&f, units);
    }
    if (respell_take_one(&f, past)) {
        hour = respell_take_number(&f);
        respell_take_one(&f, clock);
    } else if (is_part && minute < 30 && respell_take_one(&f, to)) {
        hour = respell_take_number(&f);
        respell_take_one(&f, clock);
        hour = hour == 1 ? 12 : hour - 1;
        minute = 60 - minute;
    } else if (!is_part && respell_take_one(&f, clock)) { /* seven o'clock */
        hour = minute;
        minute = 0;
    }
    if (hour < 1 || hour > 12 || minute < 0 || minute > 59)
        return NULL;
    const char *half = take_half(&f);
    return f.n ? NULL : arena_printf(a, "%d:%02d%s", hour, minute, half);
}

/* With the units in full, which as single letters are names. */
const char *respell_duration(struct arena *a, struct span f)
{
    static const char *const h[] = {"h", "hr", "hrs", NULL}, *const m[] = {"min", "mins", "m", NULL};
    static const char *const s[] = {"s", "sec", NULL};
    struct span hours = respell_take_digits(&f), seconds = {0};
    if (!hours.n || !respell_take_one(&f, h))
        return NULL;
    respell_take(&f, "and");
    struct span minutes = respell_take_digits(&f);
    if (!minutes.n || !respell_take_one(&f, m))
        return NULL;
    respell_take(&f, "and");
    seconds = respell_take_digits(&f);
    if (f.n && (!seconds.n || !respell_take_one(&f, s) || f.n))
        return NULL;
    return arena_printf(a, "%.*s hours %.*s minutes%s%.*s%s", (int)hours.n, hours.s, (int)minutes.n,
                        minutes.s, seconds.n ? " " : "", (int)seconds.n, seconds.s,
                        seconds.n ? " seconds" : "");
}

/* ---- "the y-axis" ---- */

const char *respell_axis(struct arena *a, struct span f)
{
    (void)a;
    respell_take(&f, "the");
    int is_y = f.n && ascii_lower(f.s[0]) == 'y';
    if (!respell_take(&f, "x") && !respell_take(&f, "y"))
        return NULL;
    respell_take(&f, "-");
    if (!respell_take(&f, "axis") || f.n)
        return NULL;
    return is_y ? "x=0" : "y=0";
}

/* ---- "3 R 2", "quotient 3, remainder 2" ---- */

const char *respell_remainder(struct arena *a, struct span f)
{
    static const char *const marks[] = {"remainder", "rem.", "rem", "r", NULL};
    if (memchr(f.s, '^', f.n) || memchr(f.s, '_', f.n))
        return NULL;
    respell_take(&f, "the");
    if (respell_take(&f, "quotient")) {
        respell_take(&f, "is");
        respell_take(&f, "=");
        respell_take(&f, ":");
    }
    struct span quotient = respell_take_digits(&f);
    respell_take(&f, ",");
    respell_take(&f, "and");
    respell_take(&f, "with");
    respell_take(&f, "the");
    respell_take(&f, "a");
    if (!quotient.n || !respell_take_one(&f, marks))
        return NULL;
    respell_take(&f, "of");
    respell_take(&f, "is");
    respell_take(&f, "=");
    respell_take(&f, ":");
    struct span rest = respell_take_digits(&f);
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
    respell_take(s, "the");
    if (s->n && s->s[0] == '\\')
        *s = (struct span){s->s + 1, s->n - 1};
    int is_max = respell_take_one(s, max);
    if (!is_max && !respell_take_one(s, min))
        return NULL;
    respell_take(s, ".");
    respell_take(s, "value");
    respell_take_one(s, verbs);
    return is_max ? "maximum" : "minimum";
}

/* As two equations. */
const char *respell_extrema(struct arena *a, struct span f)
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
