/* Presets: what public extractors of option letters return (contract: answer_check.h), and four of them;
 * gpt_oss has a file of its own. They are kept with their accidents so that results can be set beside
 * published ones: none of them removes thinking, and some return a lower-case letter or one that is no
 * option. */
#include "answer_check/choice/choice_preset.h"
#include "answer_check/text/code_points.h"

#include <string.h>

/* To add a preset, write its function and one line here. */
static const struct {
    const char *name, *rule;
    struct span (*extract)(struct span text, int n_options);
} presets[] = {
    {"simple_evals", "preset simple_evals: the first \"Answer: X\"", preset_simple_evals},
    {"gpt_oss", "preset gpt_oss: the first of its patterns that occurs", preset_gpt_oss},
    {"lighteval", "preset lighteval: the last match of its strongest pattern", preset_lighteval},
    {"inspect_ai", "preset inspect_ai: the last \"ANSWER: X\"", preset_inspect_ai},
    {"lm_eval_flexible", "preset lm_eval_flexible: the last \"(X)\"", preset_lm_eval_flexible},
};
enum { N_PRESETS = sizeof presets / sizeof *presets };

const char *choice_preset_name(int i)
{
    return i >= 0 && i < N_PRESETS ? presets[i].name : NULL;
}

int choice_preset(const char **letter, const char **rule, int preset, const char *text, size_t len,
                  int n_options, struct arena *a)
{
    if (preset < 0 || preset >= N_PRESETS || n_options < 1 || n_options > 26)
        return -1;
    struct span found = presets[preset].extract((struct span){text, len}, n_options);
    *letter = found.n && found.s[0] ? arena_strndup(a, found.s, found.n) : NULL;
    *rule = presets[preset].rule;
    return 0;
}

struct span preset_letter(char letter)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return letter < 'A' || letter > 'Z' ? (struct span){0} : (struct span){letters + (letter - 'A'), 1};
}

char preset_char(struct span t, size_t i)
{
    return i < t.n ? t.s[i] : 0;
}

int preset_has(struct span t, size_t i, const char *lower)
{
    return i < t.n && ascii_lower(t.s[i]) == lower[0] && span_starts((struct span){t.s + i, t.n - i}, lower);
}

char preset_abcd(struct span t, size_t i)
{
    char c = ascii_lower(preset_char(t, i));
    return c >= 'a' && c <= 'd' ? (char)(c - 32) : 0;
}

static size_t skip_blanks(struct span t, size_t i)
{
    while (preset_char(t, i) == ' ' || preset_char(t, i) == '\t')
        i++;
    return i;
}

/* openai/simple-evals (MIT), common.py: the first "Answer" in any case, a colon, perhaps "$", and a letter
 * A to D. Blanks may stand around the colon, and anything may follow the letter. The letter is returned as
 * it is written. */
struct span preset_simple_evals(struct span text, int n_options)
{
    (void)n_options;
    for (size_t i = 0; i < text.n; i++) {
        if (!preset_has(text, i, "answer"))
            continue;
        size_t j = skip_blanks(text, i + 6);
        if (preset_char(text, j) != ':')
            continue;
        j = skip_blanks(text, j + 1);
        j += preset_char(text, j) == '$';
        if (preset_abcd(text, j))
            return (struct span){text.s + j, 1};
    }
    return (struct span){0};
}

/* EleutherAI/lm-evaluation-harness (MIT), the "flexible" filter of its gpqa tasks: the last capital letter,
 * any of the 26, in parentheses. */
struct span preset_lm_eval_flexible(struct span text, int n_options)
{
    (void)n_options;
    for (size_t i = text.n; i >= 3; i--)
        if (text.s[i - 1] == ')' && text.s[i - 3] == '(' && text.s[i - 2] >= 'A' && text.s[i - 2] <= 'Z')
            return preset_letter(text.s[i - 2]);
    return (struct span){0};
}

/* UKGovernmentBEIS/inspect_ai (MIT), solver/_multiple_choice.py. What may follow "ANSWER:" is a run of ASCII
 * letters, digits, commas and spaces. */
static int in_run(char c)
{
    return ascii_is_letter(c) || ascii_is_digit(c) || c == ' ' || c == ',';
}

/* May a run end at i? If it must fill a whole line: at the end of a line or at a full stop, with white
 * space before it. Otherwise anywhere but inside a word. */
static int ends_line(struct span t, size_t i)
{
    size_t behind = python_skip_space(t.s, t.n, i);
    return behind == t.n || t.s[behind] == '.' || memchr(t.s + i, '\n', behind - i);
}

static int ends_anywhere(struct span t, size_t i)
{
    return !python_is_word(t.s, t.n, i);
}

/* The run behind "ANSWER:" at i, shortened until it may end there; returns 1 and where it ends. An empty
 * run means white space that could be read as one: this is a match that holds no answer. */
static int answer_run(struct span t, size_t i, int whole_line, struct span *run, size_t *end)
{
    if (!preset_has(t, i, "answer"))
        return 0;
    size_t j = python_skip_space(t.s, t.n, i + 6);
    if (preset_char(t, j) != ':')
        return 0;
    size_t blank = j + 1, start = python_skip_space(t.s, t.n, blank);
    for (j = start; j < t.n && in_run(t.s[j]);)
        j++;
    if (!whole_line) /* a run cannot end before, say, a letter with an accent, so it ends at the last space or
                        comma */
        while (j > start + 1 && !ends_anywhere(t, j))
            j--;
    *run = (struct span){t.s + start, j - start};
    *end = j;
    if (j > start && (whole_line ? ends_line(t, j) : ends_anywhere(t, j)))
        return 1;
    *run = (struct span){0};
    while (blank < start && t.s[blank] != ' ')
        blank++;
    if (blank == start)
        return 0;
    *end = blank + 1;
    if (whole_line)
        return ends_line(t, blank + 1);
    return blank + 1 < start || ends_anywhere(t, start);
}

/* The last "ANSWER: X" that fills a line or, when no line is like that, the last one anywhere. X must then
 * be one option letter in either case; commas around it are dropped. */
struct span preset_inspect_ai(struct span text, int n_options)
{
    struct span run, last = {0};
    int found = 0;
    for (int whole_line = 1; whole_line >= 0 && !found; whole_line--) {
        for (size_t i = 0, end; i < text.n; i++) {
            if ((whole_line && i && text.s[i - 1] != '\n') || !answer_run(text, i, whole_line, &run, &end))
                continue;
            last = run;
            found = 1;
            i = end - (whole_line || end == text.n);
        }
    }
    while (last.n && (last.s[0] == ' ' || last.s[0] == ','))
        last = (struct span){last.s + 1, last.n - 1};
    while (last.n && (last.s[last.n - 1] == ' ' || last.s[last.n - 1] == ','))
        last.n--;
    char letter = last.n == 1 ? last.s[0] : 0;
    letter = letter >= 'a' && letter <= 'z' ? (char)(letter - 32) : letter;
    return letter < 'A' + n_options ? preset_letter(letter) : (struct span){0};
}

/* ---- lighteval ----
 *
 * Index extraction of huggingface/lighteval (MIT), metrics/utils/extractive_match_utils.py, for English,
 * letters written "A" or "(A)", and matches without an anchor allowed. The last match of the strongest
 * pattern that occurs counts. Matches are found from the front and do not overlap, so in "A B C" every second
 * letter is skipped, because the match before it has taken its space. */

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

/* The letter of "final answer is A. I hope" at i, or 0. */
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

/* The letter of "final answer" and, up to 100 characters of the same line behind it, " is A"; else 0. */
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

/* "answer: " and, near it, a spaced index. */
static char answer_colon(const struct indices *x, size_t i, size_t *end)
{
    if (!preset_has(x->t, i, "answer"))
        return 0;
    i += 6;
    if (skip_space(x, i) > i)
        i += python_char(x->t.s, x->t.n, i);
    return preset_char(x->t, i) == ':' ? index_near(x, i + 1, end) : 0;
}

/* "answer" and, near it, a spaced index. */
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
