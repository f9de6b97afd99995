/* Presets: what public extractors of option letters return (contract: answer_check.h), and the three short
 * ones. They are kept with their accidents so that results can be set beside published ones: none of them
 * removes thinking, and some return a lower-case letter or one that is no option. */
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
