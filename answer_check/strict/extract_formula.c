/* Finds formulas by their marks. */
#include "answer_check/strict/extract.h"

#include <string.h>

/* What opens a formula, and what closes it. */
static const char *const formula_signs[][2] = {{"$$", "$$"}, {"$", "$"}, {"\\(", "\\)"}, {"\\[", "\\]"}};

int extract_leading_formula(struct span *out, struct span s)
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

int extract_next_formula(struct formula *out, struct span s, size_t i, int exhausted[4])
{
    while (i < s.n) {
        int k = s.s[i] == '$' || s.s[i] == '\\' ? 0 : 4;
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
    return !s.n || extract_is_joint(s);
}

/* Does the sentence end here: a full stop, a line end, nothing but marks? */
static int ends_here(struct span s, size_t i)
{
    while (i < s.n && (s.s[i] == '*' || s.s[i] == '_' || s.s[i] == ' '))
        i++;
    return i >= s.n || s.s[i] == '\n' || s.s[i] == '\r' || s.s[i] == '.' || span_at(s, i, "。");
}

void extract_joined_formulas(struct span *out, struct span s)
{
    enum { JOINED_MAX = 32 };
    struct formula f, last = {0};
    int exhausted[4] = {0}, n = 0;
    s.n = s.n < 4096 ? s.n : 4096;
    for (size_t i = 0; n < JOINED_MAX && extract_next_formula(&f, s, i, exhausted); i = f.to) {
        if (n && !joins_formulas((struct span){s.s + last.to, f.from - last.to}))
            break;
        last = f;
        n++;
    }
    if (n > 1 && ends_here(s, last.to))
        *out = (struct span){s.s, last.to};
}

int extract_formula(struct span *out, struct span s)
{
    struct span whole;
    return extract_formula_in(out, &whole, s);
}

int extract_formula_in(struct span *out, struct span *whole, struct span s)
{
    struct formula f, last = {0}, first = {0};
    int exhausted[4] = {0}, found = 0;
    for (size_t i = 0; extract_next_formula(&f, s, i, exhausted); i = f.to) {
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
    int is_joined = first.from < last.from && ends_here(s, last.to);
    first = is_joined ? first : last;
    *whole = (struct span){s.s + first.from, last.to - first.from};
    *out = is_joined ? *whole : span_trim((struct span){s.s + last.start, last.end - last.start});
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
    for (; extract_next_formula(&f, s, i, exhausted) && f.start <= start; i = f.to)
        if (f.end >= end) {
            *out = (struct span){s.s + f.start, f.end - f.start};
            return 1;
        }
    return 0;
}
