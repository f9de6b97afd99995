/* Short answers that say in words or signs what a formula writes otherwise, "half past seven" or "(3 4)(1
 * 2)", and those with words behind them that change nothing, "n = 2 only" (contract: respell_words.h). A rule
 * is tried only where its word or sign stands. */
#include "answer_check/text/respell_words.h"
#include "answer_check/text/respell_parts.h"

#include <string.h>

/* ---- what stands behind a value and changes nothing: "only", "(not 5)", "at x = 1" ---- */

/* Without "only" at the end, where no condition stands. */
static const char *read_only(struct arena *a, struct span f)
{
    static const char *const ends[] = {" only", " (only)"};
    static const char *const conditions[] = {"if", "for", "when", "where", "at", "with"};
    for (size_t k = 0; k < sizeof conditions / sizeof *conditions; k++)
        if (respell_find(f, conditions[k]) < f.n)
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
    size_t at = respell_find(f, "at");
    if (at < 2 || at + 3 >= f.n || f.s[at - 1] != ' ' || f.s[at + 2] != ' ' ||
        !(ascii_is_digit(f.s[at - 2]) || strchr(")},(", f.s[at - 2])))
        return NULL;
    struct span rest = span_trim((struct span){f.s + at + 2, f.n - at - 2});
    respell_take(&rest, "the point");
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

/* "3 (three)" and "three (3)" as 3. */
static const char *read_spelled(struct arena *a, struct span f)
{
    struct span rest = f;
    int first = respell_take_number(&rest);
    if (first < 0 || !respell_take(&rest, "("))
        return NULL;
    int second = respell_take_number(&rest);
    return second == first && respell_take(&rest, ")") && !rest.n ? arena_printf(a, "%d", first) : NULL;
}

/* Without the reason behind a value: "3 because x > 0". */
static const char *read_reason(struct arena *a, struct span f)
{
    static const char *const words[] = {"because", "since"};
    for (size_t k = 0; k < 2; k++) {
        size_t at = respell_find(f, words[k]), end = at;
        while (end && strchr(" ,", f.s[end - 1]))
            end--;
        if (at < f.n && end && (ascii_is_digit(f.s[end - 1]) || strchr(")}", f.s[end - 1])))
            return arena_printf(a, "%.*s", (int)end, f.s);
    }
    return NULL;
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
    SAYS_QUOTIENT = 2048,
    SAYS_MARKUP = 4096,
    SAYS_REASON = 16384,
    SAYS_SPELLED = 32768
};

static unsigned rule_of(struct span word)
{
    static const struct {
        const char *word;
        unsigned rule;
    } table[] = {{"si", SAYS_MARKUP},        {"qty", SAYS_MARKUP},
                 {"num", SAYS_MARKUP},       {"ang", SAYS_MARKUP},
                 {"rational", SAYS_MARKUP},  {"because", SAYS_REASON},
                 {"since", SAYS_REASON},     {"one", SAYS_SPELLED},
                 {"two", SAYS_SPELLED},      {"three", SAYS_SPELLED},
                 {"four", SAYS_SPELLED},     {"five", SAYS_SPELLED},
                 {"six", SAYS_SPELLED},      {"seven", SAYS_SPELLED},
                 {"eight", SAYS_SPELLED},    {"nine", SAYS_SPELLED},
                 {"ten", SAYS_SPELLED},      {"eleven", SAYS_SPELLED},
                 {"twelve", SAYS_SPELLED},   {"tall", SAYS_ADJECTIVE},
                 {"long", SAYS_ADJECTIVE},   {"wide", SAYS_ADJECTIVE},
                 {"deep", SAYS_ADJECTIVE},   {"high", SAYS_ADJECTIVE},
                 {"away", SAYS_ADJECTIVE},   {"old", SAYS_ADJECTIVE},
                 {"apart", SAYS_ADJECTIVE},  {"thick", SAYS_ADJECTIVE},
                 {"mathbb", SAYS_QUOTIENT},  {"choose", SAYS_CHOOSE},
                 {"past", SAYS_TIME},        {"to", SAYS_TIME},
                 {"after", SAYS_TIME},       {"before", SAYS_TIME},
                 {"clock", SAYS_TIME},       {"till", SAYS_TIME},
                 {"axis", SAYS_AXIS},        {"remainder", SAYS_REMAINDER},
                 {"rem", SAYS_REMAINDER},    {"max", SAYS_EXTREMUM},
                 {"min", SAYS_EXTREMUM},     {"maximum", SAYS_EXTREMUM},
                 {"minimum", SAYS_EXTREMUM}, {"only", SAYS_ONLY},
                 {"not", SAYS_NOT},          {"at", SAYS_AT},
                 {"mille", SAYS_SIGN},       {"omega", SAYS_SIGN},
                 {"permil", SAYS_SIGN},      {"textperthousand", SAYS_SIGN}};
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        if (table[k].word[0] == ascii_lower(word.s[0]) && word.n == strlen(table[k].word) &&
            span_starts(word, table[k].word))
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
        all |= (c == '<' || c == '*' || c == '&') && i + 1 < s.n && strchr("sIplg", s.s[i + 1]) ? SAYS_MARKUP
                                                                                                : 0;
        if (c == '(' && i + 3 < s.n && ascii_is_digit(s.s[i + 1]) &&
            (strchr(" \\", s.s[i + 2]) || (ascii_is_digit(s.s[i + 2]) && strchr(" \\", s.s[i + 3]))))
            all |= SAYS_CYCLE;
        i++;
    }
    return all;
}

/* The rules in their order, the first that applies counts. */
static const struct {
    unsigned says;
    const char *(*read)(struct arena *a, struct span f);
} rules[] = {{SAYS_CYCLE, respell_cycles},     {SAYS_CHOOSE, respell_choose},
             {SAYS_TIME, respell_time},        {SAYS_TIME, respell_duration},
             {SAYS_ADJECTIVE, read_adjective}, {SAYS_QUOTIENT, respell_quotient},
             {SAYS_AXIS, respell_axis},        {SAYS_REMAINDER, respell_remainder},
             {SAYS_EXTREMUM, respell_extrema}, {SAYS_SIGN, respell_sign},
             {SAYS_MARKUP, respell_markup},    {SAYS_REASON, read_reason},
             {SAYS_SPELLED, read_spelled},     {SAYS_ONLY, read_only},
             {SAYS_NOT, read_denied},          {SAYS_AT, read_place}};

struct span respell_words(struct arena *a, struct span s)
{
    char flat[RESPELL_MAX];
    if (s.n < 3 || s.n > RESPELL_MAX)
        return s;
    unsigned says = rules_of(s);
    size_t first = s.s[0] == '$';
    int may_be_label = span_at(s, first, "\\text") || span_at(s, first, "\\display") ||
                       (s.s[first] >= 'A' && s.s[first] <= 'E' && strchr(".)", s.s[first + 1]));
    if (!says && !may_be_label)
        return s;
    struct span f = {flat, respell_flatten(flat, s)};
    const char *out = NULL;
    if (!f.n)
        return s;
    if (may_be_label)
        out = read_label(a, f);
    for (size_t k = 0; !out && k < sizeof rules / sizeof *rules; k++)
        if (says & rules[k].says)
            out = rules[k].read(a, f);
    return out ? (struct span){out, strlen(out)} : s;
}
