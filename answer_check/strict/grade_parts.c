/* Answers of several labelled parts, "(a) 3 (b) 5", as one list (contract: grading.h). Of parts the last one
 * is not the answer. */
#include "answer_check/strict/grading.h"

#include <string.h>

size_t grading_part_label(struct span s)
{
    size_t i = span_starts(s, "part ") ? 5 : 0, bracket = i < s.n && s.s[i] == '(', from;
    for (i += bracket, from = i;
         i < s.n && i - from < 3 && (ascii_is_letter(s.s[i]) || ascii_is_digit(s.s[i]));)
        i++;
    size_t n = i - from;
    int is_numeral = n > 0;
    for (size_t k = from; k < i; k++)
        is_numeral &= strchr("ivx", s.s[k]) != NULL;
    int is_number = n == 1 && ascii_is_digit(s.s[from]), is_letter = n == 1 && ascii_is_letter(s.s[from]);
    if (!is_numeral && !is_number && !is_letter)
        return 0;
    size_t closed = i;
    while (i < s.n && strchr(").:", s.s[i]) && i - closed < 2)
        i++;
    return i > closed && (!bracket || s.s[closed] == ')') ? i : 0;
}

/* Which part the label of n bytes names, from 1 on: "(b)" and "ii)" are 2. 0: none that is written with a
 * bracket or "part", since "2." also numbers steps. */
static int part_number(struct span s, size_t n)
{
    static const char *const numerals[] = {"i", "ii", "iii", "iv", "v", "vi", "vii"};
    int is_part = span_starts(s, "part ");
    size_t from = is_part ? 5 : 0, to;
    if (!n || (!is_part && !memchr(s.s, ')', n)))
        return 0;
    from += s.s[from] == '(';
    for (to = from; to < n && !strchr(").:", s.s[to]);)
        to++;
    for (size_t k = 0; k < sizeof numerals / sizeof *numerals; k++)
        if (to - from == strlen(numerals[k]) && !memcmp(s.s + from, numerals[k], to - from))
            return (int)k + 1;
    char c = to == from + 1 ? ascii_lower(s.s[from]) : 0;
    return ascii_is_digit(c) ? c - '0' : c >= 'a' && c <= 'h' ? c - 'a' + 1 : 0;
}

/* Behind blanks, commas, marks of formulas and Markdown, wide spaces of LaTeX and "and" at i. */
static size_t behind_separators(struct span s, size_t i)
{
    static const char *const words[] = {"\\quad", "\\qquad", "\\text{", "\\ ",  "\\;", "\\,", "\\\\", "\\(",
                                        "\\[",    "and ",    "for ",    "For ", "\\)", "\\]", "- "};
    while (i < s.n) {
        size_t n = ascii_is_space(s.s[i]) || strchr("$*,;.:_}#", s.s[i]) ? 1 : 0;
        for (size_t k = 0; k < sizeof words / sizeof *words && !n; k++)
            n = span_at(s, i, words[k]) ? strlen(words[k]) : 0;
        if (!n)
            break;
        i += n;
    }
    return i;
}

/* ---- boxes ---- */

/* The number of the part that the box belongs to: the last label at the start of a line, or behind the box
 * before, which ends at `from`. 0: none. */
static int part_of_box(struct span section, size_t from, size_t start)
{
    enum { REACH = 4096 };
    int number = 0;
    if (start - from > REACH)
        return 0;
    for (size_t i = from; i < start;) {
        size_t at = behind_separators((struct span){section.s, start}, i);
        struct span rest = {section.s + at, start - at};
        int here = part_number(rest, grading_part_label(rest));
        if (!here && ascii_is_digit(section.s[at < start ? at : 0]) && at + 2 <= start &&
            section.s[at + 1] == '.' && behind_separators((struct span){section.s, start}, at + 2) == start)
            here = section.s[at] - '0'; /* "2. \boxed{5}" */
        number = here ? here : number;
        const char *line = memchr(section.s + i, '\n', start - i);
        i = line ? (size_t)(line - section.s) + 1 : start;
    }
    return number;
}

size_t grading_box_parts(struct span section, const struct box_list *boxes)
{
    enum { PARTS_MAX = 8 };
    size_t k = boxes->n;
    for (int expected = 0; k > 0 && boxes->n - k < PARTS_MAX; k--) {
        size_t from = k > 1 ? boxes->box[k - 2].end : 0;
        int number = part_of_box(section, from, boxes->box[k - 1].start);
        if (!number || (expected && number != expected))
            return 0;
        if (number == 1)
            return boxes->n - k + 1 > 1 ? boxes->n - k + 1 : 0;
        expected = number - 1;
    }
    return 0;
}

/* ---- texts ---- */

/* Does the part hold a word, which is set as text in the list? */
static int has_word(struct span s)
{
    for (size_t i = 0, run = 0; i < s.n; i++) {
        if (s.s[i] == '\\')
            return 0;
        run = ascii_is_letter(s.s[i]) ? run + 1 : 0;
        if (run > 1)
            return 1;
    }
    return 0;
}

/* Without the separators that the part ends with. */
static struct span before_separators(struct span s)
{
    static const char *const words[] = {"\\quad", "\\qquad", "\\ ", "\\;", "\\,", "\\\\", "\\text{", " and"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        s = span_trim(s);
        while (s.n && strchr(",;.*_", s.s[s.n - 1]) && !(s.n > 1 && s.s[s.n - 2] == '\\'))
            s = span_trim((struct span){s.s, s.n - 1});
        size_t n = strlen(words[k]);
        if (s.n >= n && !memcmp(s.s + s.n - n, words[k], n)) {
            s.n -= n;
            k = (size_t)-1;
        }
    }
    int depth = 0;
    for (size_t i = 0; i < s.n; i++)
        depth += (s.s[i] == '{') - (s.s[i] == '}');
    if (depth < 0 && s.s[s.n - 1] == '}')
        s.n--;
    if (s.n > 1 && s.s[s.n - 1] == '$' &&
        memchr(s.s, '$', s.n) == s.s + s.n - 1) /* the other one is dropped */
        s.n--;
    return span_trim(s);
}

struct span grading_parts_as_list(struct span s, struct arena *a)
{
    enum { PARTS_MAX = 8, TEXT_MAX = 600 };
    struct str out = {0};
    int n = 0;
    s = span_trim(s);
    if (s.n < 6 || s.n > TEXT_MAX || !memchr(s.s, ')', s.n))
        return s;
    size_t i = behind_separators(s, 0);
    struct span rest = {s.s + i, s.n - i};
    size_t label = grading_part_label(rest);
    if (part_number(rest, label) != 1)
        return s;
    for (size_t from = i + label, k = from; n < PARTS_MAX; k++) {
        size_t at = k < s.n ? behind_separators(s, k) : s.n;
        rest = (struct span){s.s + at, s.n - at};
        label = at > k ? grading_part_label(rest) : 0;
        int is_next = label && part_number(rest, label) == n + 2;
        if (!is_next && k < s.n)
            continue;
        size_t first = behind_separators(s, from);
        struct span part =
            before_separators((struct span){s.s + (first < k ? first : k), k - (first < k ? first : k)});
        if (!part.n)
            break;
        n++;
        str_printf(&out, has_word(part) ? "%s\\text{(%c) %.*s}" : "%s\\text{(%c) }%.*s", n > 1 ? ",\\ " : "",
                   'a' + n - 1, (int)part.n, part.s);
        if (k >= s.n)
            break;
        from = k = at + label;
    }
    struct span list = {arena_strndup(a, str_text(&out), out.len), out.len};
    str_release(&out);
    return n > 1 ? list : s;
}
