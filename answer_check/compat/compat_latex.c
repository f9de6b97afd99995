/* Formulas in running text, as the LaTeX target finds them: $$..$$, \[..\], $..$ and \(..\) on one line, [..]
 * between blanks, a bare \frac of two numbers; up to six in a row joined by "and", "or" or a comma; boxes. */
#include "answer_check/compat/compat.h"

#include <string.h>

enum { DISPLAY_DOLLAR, DISPLAY_BRACKET, INLINE_DOLLAR, INLINE_PAREN, INLINE_BRACKET, BOX_START };
_Static_assert((int)BOX_START < (int)COMPAT_STOPS, "one memory for each kind of search");

void compat_text_of(struct compat_text *out, struct span t)
{
    out->t = t;
    out->last_brace = -1;
    out->boxes_end = 0;
    out->words = 0; /* the places themselves are many, and not cleared */
    memset(out->seen, 0, sizeof out->seen);
    for (size_t i = t.n; i-- > 0;) {
        static const unsigned char counts[256] = {['}'] = 1, ['\\'] = 1, ['a'] = 1, ['A'] = 1};
        char c = t.s[i];
        if (!counts[(unsigned char)c])
            continue;
        if (c == '}' && out->last_brace < 0)
            out->last_brace = (long)i;
        else if (c == '\\' && !out->boxes_end && span_at(t, i, "\\boxed{"))
            out->boxes_end = i + 1;
        else if ((c == 'a' || c == 'A') && out->words < COMPAT_WORDS && compat_at_folded(t, i, "answer"))
            out->word[out->words++] = i;
    }
}

/* The character before i, or '\0'. */
static char char_before(struct span t, size_t i)
{
    return i ? t.s[i - 1] : '\0';
}

/* Must a formula of this kind, or a search for a box, end at i? */
static int stops_at(struct span t, size_t i, int kind)
{
    switch (kind) {
    case DISPLAY_DOLLAR:
        return span_at(t, i, "$$");
    case DISPLAY_BRACKET:
        return span_at(t, i, "\\]");
    case INLINE_DOLLAR:
        return t.s[i] == '\n' || (t.s[i] == '$' && char_before(t, i) != '\\');
    case INLINE_PAREN:
        return t.s[i] == '\n' || span_at(t, i, "\\)");
    case INLINE_BRACKET:
        return t.s[i] == '\n' || t.s[i] == '[' || t.s[i] == ']';
    default:
        return span_at(t, i, "\\boxed{");
    }
}

/* The first place from `from` on where a formula of this kind must end, or the end of the text. */
static size_t stop_of(struct compat_text *t, size_t from, int kind)
{
    if (t->seen[kind].known && t->seen[kind].from <= from && from <= t->seen[kind].stop)
        return t->seen[kind].stop;
    static const unsigned char counts[256] = {
        ['\n'] = 1, ['$'] = 1, ['\\'] = 1, ['['] = 1, [']'] = 1, ['}'] = 1};
    size_t i = from, brace = 0;
    for (; i < t->t.n; i++) {
        if (!counts[(unsigned char)t->t.s[i]])
            continue;
        if (stops_at(t->t, i, kind))
            break;
        if (t->t.s[i] == '}')
            brace = i + 1;
    }
    t->seen[kind].from = from;
    t->seen[kind].stop = i;
    t->seen[kind].brace = brace;
    t->seen[kind].known = 1;
    return i;
}

static const struct {
    char open[3], close[3];
    size_t n; /* length of the opening and of the closing delimiter */
} env[] = {{"$$", "$$", 2}, {"\\[", "\\]", 2}, {"$", "$", 1}, {"\\(", "\\)", 2}};

static int delimiter_at(struct span t, size_t i, const char *delimiter, size_t n)
{
    return i < t.n && t.s[i] == delimiter[0] && (n == 1 || (i + 1 < t.n && t.s[i + 1] == delimiter[1]));
}

/* Does a \boxed{..} with something in it stand in the formula [from, stop)? Braces are not counted. */
static int holds_box(struct compat_text *t, size_t from, size_t stop, int kind)
{
    size_t box = stop_of(t, from, BOX_START), inside = box + strlen("\\boxed{") + 1;
    return box < stop && t->seen[kind].brace > inside;
}

/* One of the four delimited kinds at i. An escaped delimiter does not count, and the $ of "5$" opens
 * nothing because it is money. */
static int delimited_formula(struct compat_text *t, size_t i, int kind, int boxed, struct compat_match *out)
{
    struct span s = t->t;
    size_t n = env[kind].n;
    if (!delimiter_at(s, i, env[kind].open, n) || char_before(s, i) == '\\' ||
        (kind == INLINE_DOLLAR && ascii_is_digit(char_before(s, i))))
        return 0;
    size_t from = i + n;
    if (from >= s.n)
        return 0;
    size_t stop = stop_of(t, from, kind);
    if (stop == from || !delimiter_at(s, stop, env[kind].close, n) || char_before(s, stop) == '\\' ||
        (boxed && !holds_box(t, from, stop, kind)))
        return 0;
    out->formula[out->n].content = (struct span){s.s + from, stop - from};
    out->end = stop + n;
    return 1;
}

/* A formula " [..] " on one line, its blanks included. */
static int bracketed_formula(struct compat_text *t, size_t i, int boxed, struct compat_match *out)
{
    struct span s = t->t;
    size_t blank = compat_space(s, i), from = i + blank + 1;
    if (!blank || from >= s.n || s.s[from - 1] != '[')
        return 0;
    size_t stop = stop_of(t, from, INLINE_BRACKET);
    if (stop == from || stop >= s.n || s.s[stop] != ']' || !(blank = compat_space(s, stop + 1)) ||
        (boxed && !holds_box(t, from, stop, INLINE_BRACKET)))
        return 0;
    out->formula[out->n].content = (struct span){s.s + from, stop - from};
    out->end = stop + 1 + blank;
    return 1;
}

/* The end of a number in braces at i, "{-12.5}"; 0 if none stands there. */
static size_t braced_number(struct span t, size_t i)
{
    if (!span_at(t, i, "{"))
        return 0;
    size_t from = i + 1 + (size_t)span_at(t, i + 1, "-"), end = compat_digits(t, from);
    if (end == from)
        return 0;
    if (end < t.n && (t.s[end] == '.' || t.s[end] == ',') && compat_digits(t, end + 1) > end + 1)
        end = compat_digits(t, end + 1);
    return span_at(t, end, "}") ? end + 1 : 0;
}

/* Matches \frac of two numbers in braces, outside of a formula. */
static int bare_fraction(struct span t, size_t i, struct compat_match *out)
{
    size_t from = i + (size_t)span_at(t, i, "-");
    if (!span_at(t, from, "\\frac"))
        return 0;
    size_t end = braced_number(t, from + 5);
    if (!end || !(end = braced_number(t, end)))
        return 0;
    out->formula[out->n].content = (struct span){t.s + i, end - i};
    out->end = end;
    return 1;
}

/* One formula at i with the blanks and the percent word behind it; with `boxed` it must hold a box. */
static int formula_at(struct compat_text *t, size_t i, int boxed, struct compat_match *out)
{
    char c = i < t->t.n ? t->t.s[i] : '\0';
    int found = 0;
    if (c == '$')
        found = delimited_formula(t, i, DISPLAY_DOLLAR, boxed, out) ||
                delimited_formula(t, i, INLINE_DOLLAR, boxed, out);
    else if (c == '\\')
        found = delimited_formula(t, i, DISPLAY_BRACKET, boxed, out) ||
                delimited_formula(t, i, INLINE_PAREN, boxed, out) || (!boxed && bare_fraction(t->t, i, out));
    else if (c == '-')
        found = !boxed && bare_fraction(t->t, i, out);
    else
        found = bracketed_formula(t, i, boxed, out);
    if (!found)
        return 0;
    out->end = compat_skip_space(t->t, out->end);
    size_t escaped = (size_t)span_at(t->t, out->end, "\\%"),
           percent = compat_percent(t->t, out->end + escaped);
    out->formula[out->n].percent = percent > 0;
    out->end += percent ? escaped + percent : 0;
    out->n++;
    return 1;
}

/* The end of "and", "or", ",and", ",or" or "," at i; 0 if none stands there. */
static size_t joint_end(struct span t, size_t i)
{
    size_t word = i + (size_t)span_at(t, i, ",");
    if (span_at(t, word, "and"))
        return word + 3;
    if (span_at(t, word, "or"))
        return word + 2;
    return word > i ? word : 0;
}

/* Matches a row of formulas joined by commas and words. */
static int row_at(struct compat_text *t, size_t i, int boxed, struct compat_match *out)
{
    out->n = 0;
    if (!formula_at(t, i, boxed, out))
        return 0;
    while (out->n < COMPAT_JOINED) {
        size_t end = out->end, blank = compat_skip_space(t->t, end), next = joint_end(t->t, blank);
        if (boxed) /* the blanks belong to the match even if nothing follows */
            end = blank;
        size_t start = next ? compat_skip_space(t->t, next) : 0;
        int found = next && formula_at(t, start, boxed, out);
        if (next && !found && start > next && compat_space(t->t, start - 1)) /* the blank of " [..] " */
            found = formula_at(t, start - 1, boxed, out);
        if (!found) {
            out->end = end;
            break;
        }
    }
    return 1;
}

static int any_formula(struct compat_text *t, size_t i, struct compat_match *out)
{
    return row_at(t, i, 0, out);
}

static int boxed_formula(struct compat_text *t, size_t i, struct compat_match *out)
{
    return row_at(t, i, 1, out);
}

/* Matches from a \boxed{ to the last brace of the text; compat_normalise() finds out what is in it. */
static int bare_box(struct compat_text *t, size_t i, struct compat_match *out)
{
    if (t->t.s[i] != '\\' || !span_at(t->t, i, "\\boxed{") || t->last_brace < (long)(i + 8))
        return 0;
    out->end = (size_t)t->last_brace + 1;
    out->formula[0] = (struct compat_formula){{t->t.s + i, out->end - i}, 0};
    out->n = out->bare_box = 1;
    return 1;
}

/* Matches a formula behind blanks. The last blank belongs to a formula in brackets, which needs one. */
static int behind_blanks(struct compat_text *t, size_t i, struct compat_match *out)
{
    size_t start = compat_skip_space(t->t, i);
    return row_at(t, start, 0, out) || (start > i && row_at(t, start - 1, 0, out));
}

static int formula_with_hope(struct compat_text *t, size_t i, struct compat_match *out)
{
    return behind_blanks(t, i, out) && compat_skip_hope(t->t, &out->end);
}

/* The nearest formula that begins at most 50 characters behind i. */
static int within_50(struct compat_text *t, size_t i, struct compat_match *out)
{
    for (int gap = 0; gap <= 50 && i < t->t.n; gap++, i = compat_next(t->t, i))
        if (row_at(t, i, 0, out))
            return 1;
    return 0;
}

int compat_latex_patterns(struct compat_pattern *out, int boxed_priority)
{
    int n = 0;
    out[n++] = (struct compat_pattern){formula_with_hope, 0, COMPAT_FINAL_HOPE, 0};
    out[n++] = (struct compat_pattern){behind_blanks, 50, COMPAT_FINAL_IS, 0};
    out[n++] = (struct compat_pattern){within_50, 100, COMPAT_ANSWER_COLON, 0};
    out[n++] = (struct compat_pattern){within_50, 200, COMPAT_ANSWER, 0};
    out[n++] = (struct compat_pattern){any_formula, 300, COMPAT_FORMULA, 0};
    if (boxed_priority >= 0) {
        out[n++] = (struct compat_pattern){boxed_formula, boxed_priority, COMPAT_FORMULA, 1};
        out[n++] = (struct compat_pattern){bare_box, boxed_priority, COMPAT_BOX, 1};
    }
    return n;
}
