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
    struct span rest = f;
    if (respell_take(&rest, "only") && rest.n == 1) /* only A */
        return arena_printf(a, "%.*s", (int)rest.n, rest.s);
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
    static const char *const words[] = {"because", "since", "as"};
    for (size_t k = 0; k < 3; k++) {
        size_t at = respell_find(f, words[k]), end = at, behind = at + strlen(words[k]);
        while (end && strchr(" ,(", f.s[end - 1])) /* "7 (since 3+4=7)" */
            end--;
        if (end == at || behind >= f.n || f.s[behind] != ' ') /* not "8as^2" */
            continue;
        if (at < f.n && end && (ascii_is_digit(f.s[end - 1]) || strchr(")}", f.s[end - 1])))
            return arena_printf(a, "%.*s", (int)end, f.s);
    }
    return NULL;
}

/* "rank 3" and "Area 5" as 3 and 5. */
static const char *read_quantity(struct arena *a, struct span f)
{
    static const char *const nouns[] = {"rank",     "degree",  "dimension", "slope",     "area",
                                        "volume",   "length",  "radius",    "perimeter", "period",
                                        "total",    "value",   "sum",       "width",     "height",
                                        "diameter", "nullity", "product",   NULL};
    respell_take(&f, "the");
    if (!respell_take_one(&f, nouns) || !f.n || !(ascii_is_digit(f.s[0]) || strchr("\\-", f.s[0])))
        return NULL;
    return arena_printf(a, "%.*s", (int)f.n, f.s);
}

/* "all real numbers except 1" as \mathbb{R}\setminus\{1\}. */
static const char *read_exception(struct arena *a, struct span f)
{
    static const char *const reals[] = {"real numbers", "reals", "real x", "real values", "x", NULL};
    static const char *const excepts[] = {"except for", "except", "excluding", "other than", "but", NULL};
    respell_take(&f, "the set of");
    if (!respell_take(&f, "all") || !respell_take_one(&f, reals))
        return NULL;
    respell_take(&f, "x");
    if (!respell_take_one(&f, excepts))
        return NULL;
    if (respell_find(f, "and") < f.n || memchr(f.s, '=', f.n)) {
        size_t at = respell_find(f, "and");
        if (respell_take(&f, "x")) {
            if (!respell_take(&f, "="))
                return NULL;
        }
        at = respell_find(f, "and");
        if (memchr(f.s, '=', f.n))
            return NULL;
        if (at < f.n)
            return arena_printf(a, "\\mathbb{R}\\setminus\\{%.*s, %.*s\\}", (int)at, f.s, (int)(f.n - at - 3),
                                f.s + at + 3);
    }
    for (size_t i = 0; i < f.n; i++)
        if (!ascii_is_digit(f.s[i]) && !strchr("-+.,/ \\{}fracpisqt", f.s[i]))
            return NULL;
    return f.n ? arena_printf(a, "\\mathbb{R}\\setminus\\{%.*s\\}", (int)f.n, f.s) : NULL;
}

/* "3 out of 5" and "1 in 4" as a fraction. */
static const char *read_share(struct arena *a, struct span f)
{
    static const char *const words[] = {"out of every", "out of the", "out of", "in every", "in", NULL};
    struct span part = respell_take_digits(&f);
    if (!part.n || !respell_take_one(&f, words))
        return NULL;
    struct span whole = respell_take_digits(&f);
    return whole.n && !f.n ? arena_printf(a, "\\frac{%.*s}{%.*s}", (int)part.n, part.s, (int)whole.n, whole.s)
                           : NULL;
}

/* "(a) 3, (b) 5" as the tuple of the parts. */
static const char *read_labelled(struct arena *a, struct span f)
{
    static const char *const labels[][3] = {{"(a)", "(b)", "(c)"}, {"(i)", "(ii)", "(iii)"}};
    for (size_t k = 0; k < 2; k++) {
        const char *text = "(", *from = NULL;
        int n = 0;
        for (; n < 3; n++) {
            const char *at =
                n ? memmem(from, f.n - (size_t)(from - f.s), labels[k][n], strlen(labels[k][n])) : f.s;
            if (!at || !span_at(f, (size_t)(at - f.s), labels[k][n]))
                break;
            for (size_t end = n ? (size_t)(at - from) : 0; n; end--)
                if (!end || !strchr(" ,;", from[end - 1])) {
                    text = arena_printf(a, "%s%.*s, ", text, (int)end, from);
                    break;
                }
            from = at + strlen(labels[k][n]);
            if (from >= f.s + f.n || *from != ' ') /* (a)(b), a product */
                return NULL;
        }
        if (n > 1)
            return arena_printf(a, "%s%.*s)", text, (int)(f.n - (size_t)(from - f.s)), from);
    }
    return NULL;
}

/* "3/4 (75\%)" and "3/4 (or 0.75)" as two writings of one value. */
static const char *read_rewritten(struct arena *a, struct span f)
{
    const char *open = f.n > 4 && f.s[f.n - 1] == ')' ? memrchr(f.s, '(', f.n) : NULL;
    if (!open || open < f.s + 2 || open[-1] != ' ' || !(ascii_is_digit(open[-2]) || strchr("})", open[-2])))
        return NULL;
    struct span inner = {open + 1, f.n - (size_t)(open + 1 - f.s) - 1};
    int is_said = respell_take(&inner, "or") || respell_take(&inner, "=");
    if (!is_said && !(inner.n && inner.s[inner.n - 1] == '%'))
        return NULL;
    return arena_printf(a, "%.*s\\text{ or }%.*s", (int)(open - f.s - 1), f.s, (int)inner.n, inner.s);
}

/* "+ constant" as + C. */
static const char *read_constant(struct arena *a, struct span f)
{
    static const char *const words[] = {"constant", "const"};
    for (size_t k = 0; k < 2; k++) {
        size_t at = respell_find(f, words[k]), end = at;
        while (end && f.s[end - 1] == ' ')
            end--;
        if (at < f.n && at + strlen(words[k]) == f.n && end && f.s[end - 1] == '+')
            return arena_printf(a, "%.*s C", (int)end, f.s);
    }
    return NULL;
}

/* "both A and B" as "A and B". */
static const char *read_both(struct arena *a, struct span f)
{
    return respell_take(&f, "both") && respell_find(f, "and") < f.n
               ? arena_printf(a, "\\text{%.*s}", (int)f.n, f.s)
               : NULL;
}

/* Adds "V if C" or "V otherwise" as a row of cases: 1, or 0 where it is none. */
static const char *add_case(struct arena *a, const char *rows, struct span piece)
{
    static const char *const words[] = {"if", "when", "for", "otherwise", "else"};
    piece = span_trim(piece);
    for (size_t k = 0; k < 5; k++) {
        size_t at = respell_find(piece, words[k]), n = strlen(words[k]);
        size_t letters = 0, longest = 0;
        for (size_t i = 0; i < at; i++) {
            letters = ascii_is_letter(piece.s[i]) ? letters + 1 : 0;
            longest = letters > longest ? letters : longest;
        }
        if (at == piece.n || !at || (longest > 2 && !memchr(piece.s, '\\', at)) ||
            (k > 2) != (at + n == piece.n))
            continue;
        if (k > 2)
            return arena_printf(a, "%s%.*s & \\text{otherwise}\\\\", rows, (int)at, piece.s);
        return arena_printf(a, "%s%.*s & %.*s\\\\", rows, (int)at, piece.s, (int)(piece.n - at - n),
                            piece.s + at + n);
    }
    return NULL;
}

/* "1 if x > 0, 0 otherwise" as cases. */
static const char *read_cases(struct arena *a, struct span f)
{
    static const char *const joints[] = {"; ", ", and ", ", ", " and "};
    for (size_t k = 0; k < 4; k++) {
        size_t n = strlen(joints[k]);
        const char *rows = "", *from = f.s;
        int pieces = 0;
        for (size_t i = 0; rows && i <= f.n; i++) {
            if (i < f.n && !span_at(f, i, joints[k]))
                continue;
            rows = add_case(a, rows, (struct span){from, (size_t)(f.s + i - from)});
            from = f.s + i + n;
            pieces++;
        }
        if (rows && pieces > 1)
            return arena_printf(a, "\\begin{cases}%s\\end{cases}", rows);
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
    SAYS_QUANTITY = 65536,
    SAYS_EXCEPTION = 131072,
    SAYS_CASE = 262144,
    SAYS_GAMMA = 524288,
    SAYS_SHARE = 1 << 20,
    SAYS_CONSTANT = 1 << 21,
    SAYS_BOTH = 1 << 22,
    SAYS_PARTS = 1 << 23,
    SAYS_REWRITTEN = 1 << 24,
    SAYS_SPELLED = 32768
};

static unsigned rule_of(struct span word)
{
    static const struct {
        const char *word;
        unsigned rule;
    } table[] = {{"in", SAYS_SHARE},
                 {"out", SAYS_SHARE},
                 {"constant", SAYS_CONSTANT},
                 {"const", SAYS_CONSTANT},
                 {"both", SAYS_BOTH},
                 {"gamma", SAYS_GAMMA},
                 {"as", SAYS_REASON},
                 {"except", SAYS_EXCEPTION},
                 {"excluding", SAYS_EXCEPTION},
                 {"other", SAYS_EXCEPTION},
                 {"if", SAYS_CASE},
                 {"otherwise", SAYS_CASE},
                 {"rank", SAYS_QUANTITY},
                 {"degree", SAYS_QUANTITY},
                 {"dimension", SAYS_QUANTITY},
                 {"slope", SAYS_QUANTITY},
                 {"area", SAYS_QUANTITY},
                 {"volume", SAYS_QUANTITY},
                 {"length", SAYS_QUANTITY},
                 {"radius", SAYS_QUANTITY},
                 {"perimeter", SAYS_QUANTITY},
                 {"period", SAYS_QUANTITY},
                 {"total", SAYS_QUANTITY},
                 {"value", SAYS_QUANTITY},
                 {"sum", SAYS_QUANTITY},
                 {"width", SAYS_QUANTITY},
                 {"height", SAYS_QUANTITY},
                 {"diameter", SAYS_QUANTITY},
                 {"nullity", SAYS_QUANTITY},
                 {"product", SAYS_QUANTITY},
                 {"si", SAYS_MARKUP},
                 {"qty", SAYS_MARKUP},
                 {"num", SAYS_MARKUP},
                 {"ang", SAYS_MARKUP},
                 {"rational", SAYS_MARKUP},
                 {"matrix", SAYS_MARKUP},
                 {"because", SAYS_REASON},
                 {"since", SAYS_REASON},
                 {"one", SAYS_SPELLED},
                 {"two", SAYS_SPELLED},
                 {"three", SAYS_SPELLED},
                 {"four", SAYS_SPELLED},
                 {"five", SAYS_SPELLED},
                 {"six", SAYS_SPELLED},
                 {"seven", SAYS_SPELLED},
                 {"eight", SAYS_SPELLED},
                 {"nine", SAYS_SPELLED},
                 {"ten", SAYS_SPELLED},
                 {"eleven", SAYS_SPELLED},
                 {"twelve", SAYS_SPELLED},
                 {"tall", SAYS_ADJECTIVE},
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
        if (c == '&' && i + 1 < s.n && ascii_is_letter(s.s[i + 1]))
            all |= SAYS_MARKUP; /* "&minus;" */
        if (c == '(' && i + 2 < s.n)
            all |= (s.s[i + 1] == 'b' && s.s[i + 2] == ')') || span_at(s, i, "(ii)") ? SAYS_PARTS : 0;
        if (c == ')' && i + 2 >= s.n)
            all |= SAYS_REWRITTEN;
        if (c == '(' && i + 3 < s.n && ascii_is_digit(s.s[i + 1]) &&
            (strchr(" \\", s.s[i + 2]) || memmem(s.s + i, s.n - i, ")(", 2) ||
             (ascii_is_digit(s.s[i + 2]) && strchr(" \\", s.s[i + 3]))))
            all |= SAYS_CYCLE;
        i++;
    }
    return all;
}

/* The rules in their order, the first that applies counts. */
static const struct {
    unsigned says;
    const char *(*read)(struct arena *a, struct span f);
} rules[] = {{SAYS_PARTS, read_labelled},
             {SAYS_REWRITTEN, read_rewritten},
             {SAYS_CYCLE, respell_cycles},
             {SAYS_CHOOSE, respell_choose},
             {SAYS_TIME, respell_time},
             {SAYS_TIME, respell_duration},
             {SAYS_ADJECTIVE, read_adjective},
             {SAYS_QUOTIENT, respell_quotient},
             {SAYS_AXIS, respell_axis},
             {SAYS_REMAINDER, respell_remainder},
             {SAYS_EXTREMUM, respell_extrema},
             {SAYS_SIGN, respell_sign},
             {SAYS_MARKUP, respell_markup},
             {SAYS_CASE, read_cases},
             {SAYS_EXCEPTION, read_exception},
             {SAYS_QUANTITY, read_quantity},
             {SAYS_GAMMA, respell_gamma},
             {SAYS_SHARE, read_share},
             {SAYS_CONSTANT, read_constant},
             {SAYS_BOTH, read_both},
             {SAYS_REASON, read_reason},
             {SAYS_SPELLED, read_spelled},
             {SAYS_ONLY, read_only},
             {SAYS_NOT, read_denied},
             {SAYS_AT, read_place}};

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
