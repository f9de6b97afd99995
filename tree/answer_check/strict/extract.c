/* Finds declarations, formulas and the last line in an answer section. */
#include "answer_check/strict/extract.h"

#include <string.h>

/* What opens a formula, and what closes it. */
static const char *const formula_signs[][2] = {{"$$", "$$"}, {"$", "$"}, {"\\(", "\\)"}, {"\\[", "\\]"}};

static int is_decoration(char c)
{
    return ascii_is_space(c) || c == '*' || c == '_' || c == ':' || c == '#' || c == '`';
}

enum { CONTENT_MAX = MATH_TREE_BYTES + 1 }; /* bytes of a declaration that are looked at: too many */

struct declaration {
    size_t content; /* where it starts */
    size_t end;     /* where it ends at the latest */
    int strong;   /* "final answer ...", "Answer:" as the start of a sentence, or "<answer>"; else "the answer
                   * is ..." */
    int is_label; /* strong, with a colon: what follows is the answer even if it is words */
};

/* The verb at i, with what may follow it. */
static int is_is(struct span s, size_t i)
{
    return s.n - i > 2 && ascii_lower(s.s[i]) == 'i' && ascii_lower(s.s[i + 1]) == 's' &&
           (s.s[i + 2] == ' ' || s.s[i + 2] == ':' || s.s[i + 2] == '\n' || s.s[i + 2] == '\\' ||
            s.s[i + 2] == '$');
}

/* Is the tag that ends at i followed by one line and "</answer>"? A tag that is only spoken of is not. */
static int tagged_line(struct declaration *out, struct span s, size_t i)
{
    static const char close[] = "</answer>";
    while (i < s.n && ascii_is_space(s.s[i]))
        i++;
    size_t end = i, behind;
    while (end < s.n && end - i < CONTENT_MAX && s.s[end] != '\n' &&
           !span_starts((struct span){s.s + end, s.n - end}, close))
        end++;
    for (behind = end; behind < s.n && ascii_is_space(s.s[behind]);)
        behind++;
    *out = (struct declaration){i, end, 1, 0};
    return end > i && span_starts((struct span){s.s + behind, s.n - behind}, close);
}

/* Does "answer" at i declare something? */
static int declaration_at(struct declaration *out, struct span s, size_t i)
{
    if (i && ascii_is_letter(s.s[i - 1]))
        return 0;
    size_t back = i;
    while (back && s.s[back - 1] != '\n' && is_decoration(s.s[back - 1]))
        back--;
    int is_final = back >= 5 && span_starts((struct span){s.s + back - 5, 5}, "final");
    int starts = !back || !(ascii_is_letter(s.s[back - 1]) || s.s[back - 1] == ',');
    size_t reach = is_final ? 100 : 0; /* "final answer to the whole problem is": how far "is" may be */
    size_t j = i + 6;
    if (i && s.s[i - 1] == '<' && span_at(s, j, ">"))
        return tagged_line(out, s, j + 1);
    if (j < s.n && s.s[j] == 's')
        j++;
    for (; j < s.n; j++) {
        size_t colon = s.s[j] == ':' ? 1 : span_at(s, j, "\xef\xbc\x9a") ? 3 : 0; /* full-width */
        int is_verb = !colon && ascii_is_space(s.s[j - 1]) && is_is(s, j);
        if (colon || is_verb) {
            int strong = is_final || (colon && starts);
            *out = (struct declaration){j + (colon ? colon : 2), s.n, strong, strong && colon};
            return 1;
        }
        if (s.s[j] == ' ' || s.s[j] == '*' || s.s[j] == '_')
            continue;
        if (!reach || s.s[j] == '\n' || s.s[j] == '.')
            return 0;
        reach--;
    }
    return 0;
}

/* A formula environment that starts at s: its content, and 1. 0: none starts here; -1: none that ends. */
static int leading_formula(struct span *out, struct span s)
{
    for (int k = 0; k < 4; k++) {
        size_t n = strlen(formula_signs[k][0]);
        if (!span_at(s, 0, formula_signs[k][0]))
            continue;
        for (size_t i = n; i < s.n && i < 4096; i++) {
            if (s.s[i] == '\\' && k < 2) {
                i++;
            } else if (span_at(s, i, formula_signs[k][1])) {
                *out = span_trim((struct span){s.s + n, i - n});
                return out->n > 0 ? 1 : -1;
            }
        }
        return -1;
    }
    return 0;
}

/* The end of the sentence: ". " outside braces, or a line end; a point inside a number does not end it. */
static size_t sentence_end(struct span s)
{
    size_t i = 0;
    for (int depth = 0; i < s.n && s.s[i] != '\n'; i++) {
        depth += (s.s[i] == '{') - (s.s[i] == '}');
        if (s.s[i] == '.' && depth <= 0 && i + 1 < s.n && ascii_is_space(s.s[i + 1]))
            break;
    }
    return i;
}

/* The formula from `start` to `end` with what stands before and behind its marks. */
struct formula {
    size_t from, start, end, to;
};

/* The next formula from i on: 1, or 0. A kind that once did not close is exhausted. */
static int next_formula(struct formula *out, struct span s, size_t i, int exhausted[4])
{
    while (i < s.n) {
        int k = 0;
        while (k < 4 && !span_at(s, i, formula_signs[k][0]))
            k++;
        if (k == 4 || exhausted[k]) {
            i += s.s[i] == '\\' ? 2 : 1;
            continue;
        }
        size_t start = i + strlen(formula_signs[k][0]), j = start;
        while (j < s.n && !span_at(s, j, formula_signs[k][1]))
            j += s.s[j] == '\\' && k < 2 ? 2 : 1;
        if (j >= s.n || (k == 1 && extract_is_amount(s, i, j))) {
            exhausted[k] = j >= s.n; /* no closer from here on, so none later either */
            i = start;
            continue;
        }
        *out = (struct formula){i, start, j, j + strlen(formula_signs[k][1])};
        return 1;
    }
    return 0;
}

/* Do only separators stand between two formulas: ",", "and", "or"? */
static int joins_formulas(struct span between)
{
    struct span s = span_trim(between);
    if (s.n && s.s[0] == ',')
        s = span_trim((struct span){s.s + 1, s.n - 1});
    else if (!s.n)
        return 0;
    return !s.n || (s.n == 3 && span_starts(s, "and")) || (s.n == 2 && span_starts(s, "or"));
}

/* Does the sentence end here: a full stop, a line end, nothing but marks? */
static int ends_here(struct span s, size_t i)
{
    while (i < s.n && (s.s[i] == '*' || s.s[i] == '_' || s.s[i] == ' '))
        i++;
    return i >= s.n || s.s[i] == '\n' || s.s[i] == '\r' || s.s[i] == '.';
}

/* Formulas that the one at the start of s is joined to, to the end of the sentence: "$x = 2$ or $x = 5$". */
static void joined_formulas(struct span *out, struct span s)
{
    enum { JOINED_MAX = 32 };
    struct formula f, last = {0};
    int exhausted[4] = {0}, n = 0;
    s.n = s.n < 4096 ? s.n : 4096;
    for (size_t i = 0; n < JOINED_MAX && next_formula(&f, s, i, exhausted); i = f.to) {
        if (n && !joins_formulas((struct span){s.s + last.to, f.from - last.to}))
            break;
        last = f;
        n++;
    }
    if (n > 1 && ends_here(s, last.to))
        *out = (struct span){s.s, last.to};
}

/* Does the sentence open a brace or a formula that it does not close, or end in a command without the
 * argument that it may need? cut_behind: the length limit came right behind it. */
static int is_cut_off(struct span s, int cut_behind)
{
    int braces = 0, dollars = 0, money = 0, in_formula = 0;
    size_t command = s.n; /* start of the command that the sentence ends with */
    for (size_t i = 0; i < s.n; i++) {
        if (s.s[i] == '\\') {
            command = i++;
            in_formula += i < s.n && (s.s[i] == '(' || s.s[i] == '[');
            in_formula -= i < s.n && (s.s[i] == ')' || s.s[i] == ']');
            continue;
        }
        if (!ascii_is_letter(s.s[i]))
            command = s.n;
        braces += (s.s[i] == '{') - (s.s[i] == '}');
        dollars += s.s[i] == '$';
        money += s.s[i] == '$' && extract_is_money(s, i, cut_behind);
    }
    if (braces > 0 || (dollars % 2 && !money) || in_formula > 0)
        return 1;
    return command < s.n && (cut_behind || extract_box_name(s, command));
}

/* Is this prose ("correct", "consistent with (2)") rather than a value? */
static int is_words(struct span s, struct math_work *w)
{
    int run = 0, longest = 0;
    if (!s.n || !ascii_is_letter(s.s[0]))
        return 0;
    for (size_t i = 0; i < s.n && longest < 2; i++) {
        run = ascii_is_letter(s.s[i]) ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest >= 2 && !math_is_value(w, s);
}

/* What is declared at the start of `rest`. end: where the section's last word ends, or NULL: the length limit
 * did not come, so that nothing was cut off there. */
static enum declared_status read_content(struct declared *out, int *words, struct span rest, const char *end,
                                         struct math_work *w)
{
    while (rest.n && is_decoration(rest.s[0]))
        rest = (struct span){rest.s + 1, rest.n - 1};
    if (rest.n > CONTENT_MAX)
        rest.n = CONTENT_MAX;
    const char *line = rest.n ? memchr(rest.s, '\n', rest.n) : NULL;
    out->line = span_trim((struct span){rest.s, line ? (size_t)(line - rest.s) : rest.n});
    while (out->line.n && is_decoration(out->line.s[out->line.n - 1]))
        out->line.n--;
    *words = 0;
    int formula = leading_formula(&out->text, rest);
    if (formula > 0) {
        joined_formulas(&out->text, rest);
        return DECLARED_FOUND;
    }
    struct span s = {rest.s, sentence_end(rest)};
    int cut_behind = end && s.s + s.n >= end;
    if ((formula < 0 && !(rest.s[0] == '$' && extract_is_money(s, 0, cut_behind))) ||
        is_cut_off(s, cut_behind))
        return DECLARED_CUT;
    while (s.n && (is_decoration(s.s[s.n - 1]) || strchr(".,;!", s.s[s.n - 1])))
        s.n--;
    out->text = s;
    *words = is_words(s, w);
    return s.n ? DECLARED_FOUND : DECLARED_NONE;
}

enum declared_status extract_declared(struct declared *out, struct span s, enum finish finish,
                                      struct math_work *w)
{
    enum { WORDS_MAX = 4096, TRIED_MAX = 64 };
    int best = -1, words_seen = 0, tried = 0, cut = 0;
    struct span text = span_trim(s);
    const char *end = finish == FINISH_LENGTH ? text.s + text.n : NULL;
    for (size_t i = s.n; i-- > 0 && words_seen < WORDS_MAX && tried < TRIED_MAX && best < 3;) {
        struct declaration d;
        struct declared found;
        int words;
        if ((s.s[i] != 'a' && s.s[i] != 'A') || !span_starts((struct span){s.s + i, s.n - i}, "answer"))
            continue;
        words_seen++;
        if (!declaration_at(&d, s, i))
            continue;
        tried++;
        struct span rest = {s.s + d.content, d.end - d.content};
        enum declared_status status = read_content(&found, &words, rest, end, w);
        cut |= status == DECLARED_CUT;
        int rank = 2 * (!words || d.is_label) + d.strong;
        if (status == DECLARED_FOUND && rank > best) {
            *out = found;
            best = rank;
        }
    }
    return best >= 0 ? DECLARED_FOUND : cut ? DECLARED_CUT : DECLARED_NONE;
}

int extract_formula(struct span *out, struct span s)
{
    struct formula f, last = {0}, first = {0};
    int exhausted[4] = {0}, found = 0;
    for (size_t i = 0; next_formula(&f, s, i, exhausted); i = f.to) {
        struct span content = span_trim((struct span){s.s + f.start, f.end - f.start});
        if (!content.n || extract_is_end_of_proof(content))
            continue;
        if (!found || !joins_formulas((struct span){s.s + last.to, f.from - last.to}))
            first = f;
        last = f;
        found = 1;
    }
    if (!found)
        return 0;
    *out = first.from < last.from && ends_here(s, last.to)
               ? (struct span){s.s + first.from, last.to - first.from}
               : span_trim((struct span){s.s + last.start, last.end - last.start});
    return 1;
}

int extract_formula_around(struct span *out, struct span s, size_t start, size_t end)
{
    enum { REACH = 4096 };
    struct formula f;
    int exhausted[4] = {0};
    size_t i = start;
    while (i && !(i > 1 && s.s[i - 1] == '\n' && s.s[i - 2] == '\n'))
        if (start - --i > REACH)
            return 0; /* from the middle of a paragraph the signs could be paired wrongly */
    s.n = s.n - end > REACH ? end + REACH : s.n;
    for (; next_formula(&f, s, i, exhausted) && f.start <= start; i = f.to)
        if (f.end >= end) {
            *out = (struct span){s.s + f.start, f.end - f.start};
            return 1;
        }
    return 0;
}

int extract_last_line(struct span *out, struct span s)
{
    do {
        s = span_trim(s);
        size_t start = s.n;
        while (start && s.s[start - 1] != '\n' && s.s[start - 1] != '\r')
            start--;
        *out = span_trim((struct span){s.s + start, s.n - start});
        s.n = start;
        while (out->n && strchr("*_`#>", out->s[0]))
            *out = span_trim((struct span){out->s + 1, out->n - 1});
        while (out->n && strchr("*_`", out->s[out->n - 1]))
            *out = span_trim((struct span){out->s, out->n - 1});
    } while (s.n && (!out->n || extract_is_end_of_proof(*out)));
    return out->n > 0;
}
