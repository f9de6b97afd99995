/* The preset lighteval: index extraction of huggingface/lighteval (MIT),
 * metrics/utils/extractive_match_utils.py, for English, letters written "A" or "(A)", and matches without
 * an anchor allowed. The last match of the strongest pattern that occurs counts. Matches are found from
 * the front and do not overlap, so in "A B C" every second letter is skipped, because the match before it
 * has taken its space. */
#include "answer_check/choice/choice_preset.h"
#include "answer_check/text/code_points.h"

#include <string.h>

struct indices {
    struct span t;
    char last; /* the last option's letter */
};

/* The letter of "A" or "(A)" at i, or 0; *end is the position behind it. */
static char index_at(const struct indices *x, size_t i, size_t *end)
{
    int open = preset_char(x->t, i) == '(';
    char c = preset_char(x->t, i + (open ? 1 : 0));
    if (c < 'A' || c > x->last || (open && preset_char(x->t, i + 2) != ')'))
        return 0;
    *end = i + (open ? 3 : 1);
    return c;
}

static size_t skip_stars(const struct indices *x, size_t i)
{
    return preset_has(x->t, i, "**") ? i + 2 : i;
}

/* "**A**" followed by a full stop, comma, colon or space, which belongs to the match, or by the end of the
 * text. */
static char bounded_index(const struct indices *x, size_t i, size_t *end)
{
    char letter = index_at(x, skip_stars(x, i), end);
    if (!letter)
        return 0;
    *end = skip_stars(x, *end);
    char c = preset_char(x->t, *end);
    if (*end < x->t.n && !(c == '\n' && *end + 1 == x->t.n)) {
        if (!c || !strchr(".,: ", c))
            return 0;
        *end += 1;
    }
    return letter;
}

/* The same behind a space or at the start of the text. */
static char spaced_index(const struct indices *x, size_t i, size_t *end)
{
    char letter = i ? 0 : bounded_index(x, i, end);
    return !letter && preset_char(x->t, i) == ' ' ? bounded_index(x, i + 1, end) : letter;
}

/* The first spaced index that starts at i or up to 50 characters of the same line behind it. */
static char index_near(const struct indices *x, size_t i, size_t *end)
{
    for (int k = 0; k <= 50; k++) {
        char letter = spaced_index(x, i, end);
        if (letter || i >= x->t.n || x->t.s[i] == '\n')
            return letter;
        i += python_char(x->t.s, x->t.n, i);
    }
    return 0;
}

static size_t skip_space(const struct indices *x, size_t i)
{
    return python_skip_space(x->t.s, x->t.n, i);
}

/* What follows "is" at i: perhaps a colon, white space, and the index. */
static char index_behind_is(const struct indices *x, size_t i, size_t *end)
{
    i += preset_char(x->t, i) == ':';
    return index_at(x, skip_space(x, i), end);
}

/* "final answer is A. I hope" */
static char hoped_answer(const struct indices *x, size_t i, size_t *end)
{
    char letter = preset_has(x->t, i, "final answer is") ? index_behind_is(x, i + 15, end) : 0;
    if (!letter)
        return 0;
    *end += preset_char(x->t, *end) == '.';
    size_t space = skip_space(x, *end), one = *end + python_char(x->t.s, x->t.n, *end);
    if (space > *end)
        *end = one;
    if (x->t.n - *end < 6 || memcmp(x->t.s + *end, "I hope", 6))
        return 0;
    *end += 6;
    return letter;
}

/* "final answer" and, up to 100 characters of the same line behind it, " is A". */
static char final_is(const struct indices *x, size_t i, size_t *end)
{
    if (!preset_has(x->t, i, "final answer"))
        return 0;
    i += 12;
    size_t failed = i; /* white space before this position is known not to lead to an answer */
    for (int k = 0; k <= 100; k++) {
        size_t behind = i < failed ? i : skip_space(x, i);
        if (behind > i) {
            failed = behind;
            if (x->t.n - behind >= 2 && !memcmp(x->t.s + behind, "is", 2)) {
                char letter = index_behind_is(x, behind + 2, end);
                if (letter)
                    return letter;
            }
        }
        if (i >= x->t.n || x->t.s[i] == '\n')
            return 0;
        i += python_char(x->t.s, x->t.n, i);
    }
    return 0;
}

static char answer_colon(const struct indices *x, size_t i, size_t *end)
{
    if (!preset_has(x->t, i, "answer"))
        return 0;
    i += 6;
    if (skip_space(x, i) > i)
        i += python_char(x->t.s, x->t.n, i);
    return preset_char(x->t, i) == ':' ? index_near(x, i + 1, end) : 0;
}

static char answer_word(const struct indices *x, size_t i, size_t *end)
{
    return preset_has(x->t, i, "answer") ? index_near(x, i + 6, end) : 0;
}

static char text_start(const struct indices *x, size_t i, size_t *end)
{
    return i ? 0 : bounded_index(x, i, end);
}

static char line_start(const struct indices *x, size_t i, size_t *end)
{
    return x->t.s[i] == '\n' ? bounded_index(x, i + 1, end) : 0;
}

struct span preset_lighteval(struct span text, int n_options)
{
    static char (*const patterns[])(const struct indices *x, size_t i, size_t *end) = {
        hoped_answer, final_is, answer_colon, answer_word, text_start, line_start, spaced_index, index_at};
    struct indices x = {text, (char)('A' + n_options - 1)};
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++) {
        char last = 0;
        for (size_t i = 0, end; i < text.n;) {
            char letter = patterns[k](&x, i, &end);
            last = letter ? letter : last;
            i = letter ? end : i + 1;
        }
        if (last)
            return preset_letter(last);
    }
    return (struct span){0};
}
