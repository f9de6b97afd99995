/* What the original does with a formula before it reads it: takes the contents of its boxes, then replaces
 * strings, in the original's order.
 *
 * Of several boxes the last one counts; the one before it belongs to the answer as well when it stands close
 * to the next one ("\boxed{1}, \boxed{2}"), or not far from it with a joining word between them. */
#include "answer_check/compat/compat.h"

#include <stdlib.h>
#include <string.h>

#include "evalcore/base/str.h"

/* ---- boxes */

enum { NEAR = 10, FAR = 70 }; /* characters between two boxes */

/* The start of the last box command in [0, end), or -1. Sets *behind to where its name ends. */
static long last_command(struct span t, size_t end, size_t *behind)
{
    for (size_t i = end; i-- > 0;) {
        if (t.s[i] != '\\')
            continue;
        size_t n = span_at(t, i, "\\boxed") ? 6 : span_at(t, i, "\\fbox") ? 5 : 0;
        if (n && i + n <= end) {
            *behind = i + n;
            return (long)i;
        }
    }
    return -1;
}

/* The "}" that closes the "{" at `open`, before `end`, or -1. */
static long closing_brace(struct span t, size_t open, size_t end)
{
    int depth = 1;
    for (size_t i = open + 1; i < end; i++) {
        depth += t.s[i] == '{' ? 1 : t.s[i] == '}' ? -1 : 0;
        if (!depth)
            return (long)i;
    }
    return -1;
}

static int has_separator(struct span t)
{
    for (size_t i = 0; i < t.n; i++)
        if (t.s[i] == ',' || t.s[i] == ';' || span_at(t, i, "and") || span_at(t, i, "or"))
            return 1;
    return 0;
}

/* Does a box belong to the answer if the next one does? */
static int is_joined(struct span between, struct span content, struct span next)
{
    if (between.n > 4 * FAR)
        return 0;
    size_t n = compat_length(between);
    int same = content.n == next.n && !memcmp(content.s, next.s, next.n);
    return n < NEAR || (!same && n < FAR && has_separator(between));
}

struct boxes {
    struct span *content; /* from the last to the first */
    size_t n, cap;
};

/* Collects the contents of the boxes that belong to the answer, or of all. */
static void collect_boxes(struct boxes *out, struct span t, int all)
{
    size_t end = t.n, behind;
    long start;
    while ((start = last_command(t, end, &behind)) >= 0) {
        size_t open = compat_skip_space(t, behind);
        if (open >= end)
            break;
        long close = t.s[open] == '{' ? closing_brace(t, open, end) : -1;
        xgrow(&out->content, &out->cap, out->n + 1, sizeof *out->content);
        if (close < 0) { /* an unclosed box holds the rest of the text if it is the last one */
            if (!out->n)
                out->content[out->n++] = (struct span){t.s + open, t.n - open};
            break;
        }
        struct span content = compat_trim((struct span){t.s + open + 1, (size_t)close - open - 1});
        struct span between = {t.s + close + 1, end - (size_t)close - 1};
        if (!all && out->n && !is_joined(between, content, out->content[out->n - 1]))
            break;
        out->content[out->n++] = content;
        end = (size_t)start;
    }
}

/* The contents of the boxes in t, with commas between them: of all boxes, or of the last one and those joined
 * to it. Without a box t itself is returned. */
static struct span join_boxes(struct span t, int all, struct arena *a)
{
    struct boxes boxes = {0};
    collect_boxes(&boxes, t, all);
    if (boxes.n == 1)
        t = boxes.content[0];
    if (boxes.n > 1) {
        size_t n = boxes.n - 1;
        for (size_t i = 0; i < boxes.n; i++)
            n += boxes.content[i].n;
        char *out = arena_alloc(a, n + 1), *p = out;
        for (size_t i = boxes.n; i-- > 0;) {
            if (boxes.content[i].n)
                memcpy(p, boxes.content[i].s, boxes.content[i].n);
            p += boxes.content[i].n;
            if (i)
                *p++ = ',';
        }
        t = (struct span){out, n};
    }
    free(boxes.content);
    return t;
}

/* ---- replacements */

/* The length of the first name of the list that stands at i, or 0. */
static size_t one_of(struct span t, size_t i, const char *const *list)
{
    for (; *list; list++)
        if (span_at(t, i, *list))
            return strlen(*list);
    return 0;
}

static struct span replace_all(struct span t, const char *from, const char *to, struct arena *a)
{
    if (t.n < strlen(from) || !memmem(t.s, t.n, from, strlen(from)))
        return t;
    struct str out = {0};
    for (size_t i = 0; i < t.n;) {
        if (span_at(t, i, from)) {
            str_puts(&out, to);
            i += strlen(from);
        } else {
            str_putc(&out, t.s[i++]);
        }
    }
    return compat_move_str(&out, a);
}

/* Replaces \left( and \mleft( by (, and so on for the delimiters that the original knows. "\left." stays. */
static struct span without_left_right(struct span t, struct arena *a)
{
    static const char *const left[] = {"\\{",        "{",          "\\|",      "|",        "[",
                                       "(",          "\\rbracl",   "\\lgroup", "\\lbrace", "\\lbrack",
                                       "\\vert",     "\\lvert",    "\\lceil",  "\\lfloor", "\\langle",
                                       "\\llcorner", "\\ulcorner", NULL};
    static const char *const right[] = {"\\}",        "}",        "\\|",      "|",        "]",
                                        ")",          "\\rbrack", "\\rgroup", "\\rbrace", "\\vert",
                                        "\\rvert",    "\\rceil",  "\\rfloor", "\\rangle", "\\lrcorner",
                                        "\\urcorner", NULL};
    static const char *const name[] = {"\\left", "\\mleft", "\\right", "\\mright"};
    for (int k = 0; k < 4; k += 2) {
        struct str out = {0};
        for (size_t i = 0; i < t.n;) {
            size_t n = span_at(t, i, name[k])       ? strlen(name[k])
                       : span_at(t, i, name[k + 1]) ? strlen(name[k + 1])
                                                    : 0;
            size_t delimiter = n ? one_of(t, i + n, k ? right : left) : 0;
            if (delimiter)
                i += n;
            str_add(&out, t.s + i, delimiter ? delimiter : 1);
            i += delimiter ? delimiter : 1;
        }
        t = compat_move_str(&out, a);
    }
    return t;
}

/* The end of a run of letters, digits, signs and blanks. */
static size_t term_end(struct span t, size_t i)
{
    while (i < t.n && t.s[i] &&
           (ascii_is_letter(t.s[i]) || ascii_is_digit(t.s[i]) || strchr("+-*/\\ ", t.s[i])))
        i++;
    return i;
}

/* Replaces the falling factorial (n)_{k} by n!/(n-k)!. */
static struct span replace_permutations(struct span t, struct arena *a)
{
    struct str out = {0};
    for (size_t i = 0; i < t.n;) {
        size_t end = t.s[i] == '(' ? term_end(t, i + 1) : i;
        size_t low = end > i + 1 && span_at(t, end, ")_{") ? end + 3 : 0;
        size_t close = low ? term_end(t, low) : 0;
        if (close > low && span_at(t, close, "}")) {
            int n = (int)(end - i - 1), k = (int)(close - low);
            str_printf(&out, "\\frac{(%.*s)!}{((%.*s)-(%.*s))!}", n, t.s + i + 1, n, t.s + i + 1, k,
                       t.s + low);
            i = close + 1;
        } else {
            str_putc(&out, t.s[i++]);
        }
    }
    return compat_move_str(&out, a);
}

/* The length of "\text { }" at i, or 0. */
static size_t empty_text(struct span t, size_t i)
{
    if (!span_at(t, i, "\\text"))
        return 0;
    size_t open = compat_skip_space(t, i + 5);
    size_t close = span_at(t, open, "{") ? compat_skip_space(t, open + 1) : t.n;
    return span_at(t, close, "}") ? close + 1 - i : 0;
}

/* Drops what carries no meaning: ordinal th, \! with the blanks behind it, empty text, dollars, quotes. */
static struct span without_ornaments(struct span t, struct arena *a)
{
    static const char *const gone[] = {"\\mathrm{th}", "\\displaystyle", "\\$", "$", NULL};
    struct str out = {0};
    for (size_t i = 0; i < t.n;) {
        size_t n = one_of(t, i, gone);
        if (!n)
            n = empty_text(t, i);
        if (!n && span_at(t, i, "\\!"))
            n = compat_skip_space(t, i + 2) - i;
        if (!n && (t.s[i] == '"' || t.s[i] == '\'') && !(i && t.s[i - 1] == '\\'))
            n = 1;
        if (!n)
            str_putc(&out, t.s[i]);
        i += n ? n : 1;
    }
    return compat_move_str(&out, a);
}

/* ---- the one pass of replacements */

struct pass {
    struct span t;
    size_t i;     /* here */
    size_t blank; /* first place at or behind i that is no blank */
};

static int letter_at(struct span t, size_t i)
{
    return i < t.n && ascii_is_letter(t.s[i]);
}

/* The end of "and" or "or" at i, or 0. */
static size_t and_or(struct span t, size_t i)
{
    return span_at(t, i, "and") ? i + 3 : span_at(t, i, "or") ? i + 2 : 0;
}

/* Replaces fonts, and fraction commands with the same meaning. */
static const char *replace_commands(const struct pass *p, size_t *end)
{
    static const char *const fonts[] = {"\\mathrm", "\\mathit", "\\mathbf", "\\textnormal",
                                        "\\textbf", "\\textit", "\\textrm", NULL};
    static const char *const fractions[] = {"\\dfrac", "\\tfrac", "\\cfrac", NULL};
    size_t n = one_of(p->t, p->i, fonts), m = one_of(p->t, p->i, fractions);
    *end = p->i + n + m;
    return n ? "\\text" : m ? "\\frac" : NULL;
}

/* Gives " .5" and "{.5" their zero; replaces "~=" by \approx and "{,}" by a comma. */
static const char *replace_marks(const struct pass *p, size_t *end)
{
    struct span t = p->t;
    size_t n = compat_space(t, p->i);
    *end = p->i + n + 1;
    if (n && span_at(t, p->i + n, "."))
        return " 0.";
    *end = p->i + 2;
    if (span_at(t, p->i, "{."))
        return "{0.";
    if (span_at(t, p->i, "~="))
        return "\\approx";
    if (span_at(t, p->blank, "{")) {
        size_t comma = compat_skip_space(t, p->blank + 1);
        size_t close = span_at(t, comma, ",") ? compat_skip_space(t, comma + 1) : t.n;
        *end = close + 1;
        if (span_at(t, close, "}"))
            return ",";
    }
    return NULL;
}

/* Replaces "and" and "or", bare or as text, together with one comma before them, by a comma. */
static const char *replace_joining_words(const struct pass *p, size_t *end)
{
    struct span t = p->t;
    size_t word = span_at(t, p->i, ",") ? compat_skip_space(t, p->i + 1) : p->blank;
    *end = and_or(t, word);
    if (*end && !(p->i && ascii_is_letter(t.s[p->i - 1])) && !letter_at(t, *end))
        return ",";
    if (span_at(t, word, "\\text{")) {
        size_t inner = and_or(t, compat_skip_space(t, word + 6));
        size_t close = inner ? compat_skip_space(t, inner) : t.n;
        *end = close + 1;
        if (span_at(t, close, "}"))
            return ",";
    }
    return NULL;
}

/* Replaces "\ " and \ldots by blanks, and words for infinity and percent by their commands. */
static const char *replace_words(const struct pass *p, size_t *end)
{
    static const char *const percent[] = {"percentage", "percent", "pct", NULL};
    static const char *const in_text[] = {"\\text{percentage}", "\\text{percent}", "\\text{pct}", NULL};
    struct span t = p->t;
    int escaped = p->i && t.s[p->i - 1] == '\\';
    *end = p->i + 1 + compat_space(t, p->i + 1);
    if (t.s[p->i] == '\\' && !escaped && *end > p->i + 1)
        return " ";
    *end = p->i + 8;
    if (span_at(t, p->i, "infinity"))
        return "\\infty";
    size_t dots = p->i + (size_t)span_at(t, p->i, ",");
    *end = dots + 6;
    if (span_at(t, dots, "\\ldots"))
        return " ";
    size_t n = one_of(t, p->i, in_text);
    *end = p->i + n;
    if (!n && (n = one_of(t, p->blank, percent)))
        *end = p->blank + n;
    if (n)
        return "\\%";
    *end = p->i + 3;
    if (span_at(t, p->i, "inf") && !escaped)
        return "\\infty";
    *end = p->i + 5;
    return span_at(t, p->i, " sqrt") ? "\\sqrt" : NULL;
}

/* Makes the replacements that the original makes in one pass: at each place the first that fits. */
static struct span replace_in_one_pass(struct span t, struct arena *a)
{
    struct str out = {0};
    struct pass p = {t, 0, 0};
    while (p.i < t.n) {
        if (p.blank <= p.i)
            p.blank = compat_skip_space(t, p.i);
        size_t end;
        const char *better = replace_commands(&p, &end);
        if (!better)
            better = replace_marks(&p, &end);
        if (!better)
            better = replace_joining_words(&p, &end);
        if (!better)
            better = replace_words(&p, &end);
        if (better) {
            str_puts(&out, better);
            p.i = end;
        } else {
            end = compat_next(t, p.i);
            str_add(&out, t.s + p.i, end - p.i);
            p.i = end;
        }
    }
    return compat_move_str(&out, a);
}

/* Makes "\\sqrt" with two backslashes \sqrt, unless the text has a matrix, where they end rows. */
static struct span single_backslashes(struct span t, struct arena *a)
{
    if (t.n < 6 || memmem(t.s, t.n, "matrix", 6))
        return t;
    struct str out = {0};
    for (size_t i = 0; i < t.n; i++) {
        if (span_at(t, i, "\\\\") && letter_at(t, i + 2))
            i++;
        str_putc(&out, t.s[i]);
    }
    return compat_move_str(&out, a);
}

struct span compat_normalise(struct span formula, int last_box_only, struct arena *a)
{
    struct span t = join_boxes(formula, !last_box_only, a);
    if (t.n > MATH_TREE_BYTES) /* too long to be read: kept only for comparison as a string */
        return compat_trim(t);
    t = replace_all(t, "\\mathrm{T}", "T", a);
    t = replace_all(t, "\\mathrm{d}", "d", a);
    t = replace_all(t, "{\\rm d}", "d", a);
    t = replace_all(t, "\\left[\\begin{matrix}", "\\begin{bmatrix}", a);
    t = replace_all(t, "\\end{matrix}\\right]", "\\end{bmatrix}", a);
    t = replace_permutations(without_left_right(t, a), a);
    t = replace_in_one_pass(without_ornaments(t, a), a);
    t = replace_all(replace_all(t, "\n", " ", a), "\t", " ", a);
    t = compat_strip_units(single_backslashes(t, a));
    if (span_at(t, 0, ".")) {
        struct str zero = {0};
        str_putc(&zero, '0');
        str_add(&zero, t.s, t.n);
        t = compat_move_str(&zero, a);
    }
    if (t.n == 3 && span_at(t, 0, "0.5"))
        t = (struct span){"\\frac{1}{2}", 11};
    return compat_trim(compat_complete_operators(t, a));
}
