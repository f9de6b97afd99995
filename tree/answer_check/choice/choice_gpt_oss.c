/* The preset gpt_oss: extract_abcd() of openai/gpt-oss, gpt_oss/evals/abcd_grader.py (Apache-2.0), in the
 * version that falls back to the first character. Its patterns are tried in order, each over the whole text
 * from the front, and the first match decides. "Wrap" below is one or two * or one or two _. The project's
 * two patterns for \textbf and \text inside a box are left out: what they find, the plain box has found. */
#include "answer_check/choice/choice_preset.h"
#include "answer_check/text/code_points.h"

#include <string.h>

static size_t skip_space(struct span t, size_t i)
{
    return python_skip_space(t.s, t.n, i);
}

static size_t skip_wrap(struct span t, size_t i)
{
    char c = preset_char(t, i);
    if (c != '*' && c != '_')
        return i;
    return i + 1 + (preset_char(t, i + 1) == c);
}

/* The position behind ":", "-" or an en dash at i, or i. */
static size_t skip_separator(struct span t, size_t i)
{
    if (preset_char(t, i) == ':' || preset_char(t, i) == '-')
        return i + 1;
    return preset_has(t, i, "\xe2\x80\x93") ? i + 3 : i;
}

static char capital_abcd(struct span t, size_t i)
{
    char c = preset_char(t, i);
    return c >= 'A' && c <= 'D' ? c : 0;
}

static int is_alnum(char c)
{
    return ascii_is_letter(c) || ascii_is_digit(c);
}

/* A letter A to D of either case that ends a word. */
static char last_of_word(struct span t, size_t i)
{
    char letter = preset_abcd(t, i);
    return letter && !python_is_word(t.s, t.n, i + 1) ? letter : 0;
}

/* The letter of "**Answer:** C": wrapped "Answer" or "Answers", with the separator inside and a bare
 * letter behind. Else 0. */
static char wrapped_answer(struct span t, size_t i)
{
    if (!preset_has(t, i, "answer") || !i || (t.s[i - 1] != '*' && t.s[i - 1] != '_'))
        return 0;
    i += 6;
    i += ascii_lower(preset_char(t, i)) == 's';
    i = skip_separator(t, skip_space(t, i));
    size_t behind = skip_wrap(t, i);
    return behind > i ? last_of_word(t, skip_space(t, behind)) : 0;
}

/* The letter of "Answer C" that starts a line, with or without wraps and colon; the letter may start a
 * word. Else 0. */
static char line_answer(struct span t, size_t i)
{
    i = skip_wrap(t, i);
    if (!preset_has(t, i, "answer"))
        return 0;
    i += 6;
    i += preset_char(t, i) == ':';
    i = skip_space(t, skip_wrap(t, i));
    i += preset_char(t, i) == ':';
    return preset_abcd(t, skip_wrap(t, skip_space(t, i)));
}

/* The position behind one of the whole words and a separator; 0 when neither word stands here. */
static size_t behind_word(struct span t, size_t i, const char *word, const char *other)
{
    size_t n = preset_has(t, i, word) ? strlen(word) : preset_has(t, i, other) ? strlen(other) : 0;
    if (!n || python_word_before(t.s, i) || python_is_word(t.s, t.n, i + n))
        return 0;
    return skip_space(t, skip_separator(t, skip_space(t, i + n)));
}

static char answer_in_parentheses(struct span t, size_t i)
{
    size_t j = behind_word(t, i, "answers", "answer");
    if (!j || preset_char(t, j) != '(')
        return 0;
    j = skip_space(t, j + 1);
    return preset_char(t, skip_space(t, j + 1)) == ')' ? preset_abcd(t, j) : 0;
}

static char plain_answer(struct span t, size_t i)
{
    size_t j = behind_word(t, i, "answers", "answer");
    return j ? last_of_word(t, j) : 0;
}

static char option_letter(struct span t, size_t i)
{
    size_t j = behind_word(t, i, "option", "choice");
    return j ? last_of_word(t, j) : 0;
}

/* The letter of "(C)" or "[C]" at i, with no letter or digit directly beside the brackets; else 0. */
static char in_brackets(struct span t, size_t i)
{
    if ((t.s[i] != '(' && t.s[i] != '[') || (i && is_alnum(t.s[i - 1])))
        return 0;
    size_t j = skip_space(t, i + 1), close = skip_space(t, j + 1);
    if ((preset_char(t, close) != ')' && preset_char(t, close) != ']') || is_alnum(preset_char(t, close + 1)))
        return 0;
    return capital_abcd(t, j);
}

/* Does a wrap at i end what it encloses? */
static int ends_wrap(struct span t, size_t i)
{
    return skip_wrap(t, i) > i && !is_alnum(preset_char(t, i + 1));
}

/* The letter of "*C*" or "__C__" at i, or 0. */
static char in_wrap(struct span t, size_t i)
{
    size_t j = skip_wrap(t, i);
    return j > i && !(i && is_alnum(t.s[i - 1])) && ends_wrap(t, j + 1) ? capital_abcd(t, j) : 0;
}

/* The letter of "**C) the text of the option**", on one line; else 0. */
static char wrapped_option(struct span t, size_t i)
{
    size_t j = skip_wrap(t, i);
    if (j == i || (i && is_alnum(t.s[i - 1])))
        return 0;
    j = skip_space(t, j);
    char letter = capital_abcd(t, j);
    if (!letter || preset_char(t, j + 1) != ')')
        return 0;
    size_t end = j + 2;
    while (end < t.n && t.s[end] != '*' && t.s[end] != '_' && t.s[end] != '\n')
        end++;
    return end > j + 2 && ends_wrap(t, end) ? letter : 0;
}

/* A line that starts with the letter, wrapped or not, whatever follows; "Because" counts too. */
static char line_start(struct span t, size_t i)
{
    return capital_abcd(t, skip_wrap(t, i));
}

/* The first capital A to D between the command (with its brace) and the next closing brace. */
static char in_command(struct span t, const char *command)
{
    size_t letter = 0, brace = 0, n = strlen(command);
    for (size_t i = 0; i + n < t.n; i++) {
        if (t.s[i] != '\\' || memcmp(t.s + i, command, n))
            continue;
        for (letter = letter < i + n ? i + n : letter; letter < t.n && !capital_abcd(t, letter);)
            letter++;
        for (brace = brace < i + n ? i + n : brace; brace < t.n && t.s[brace] != '}';)
            brace++;
        if (brace == t.n)
            return 0;
        if (letter < brace)
            return t.s[letter];
    }
    return 0;
}

/* The patterns in the project's order. `first` holds the characters with which a match may start; NULL: a
 * match must start at the first visible character of a line. */
static const struct {
    char (*match)(struct span t, size_t i);
    const char *first;
    const char *command; /* used instead of `match` */
} patterns[] = {
    {wrapped_answer, "aA", NULL}, {line_answer, NULL, NULL},     {answer_in_parentheses, "aA", NULL},
    {plain_answer, "aA", NULL},   {option_letter, "oOcC", NULL}, {NULL, "", "\\boxed{"},
    {in_brackets, "([", NULL},    {in_wrap, "*_", NULL},         {NULL, "", "\\textbf{"},
    {wrapped_option, "*_", NULL}, {line_start, NULL, NULL},
};
enum { N_PATTERNS = sizeof patterns / sizeof *patterns };

/* Finds the first match of every pattern in one pass over the text. */
static void search_patterns(struct span t, char found[N_PATTERNS])
{
    int blank = 1; /* only white space since the start of the line */
    memset(found, 0, N_PATTERNS);
    for (size_t i = 0, step; i < t.n; i += step) {
        char c = t.s[i];
        int starts_line = blank && !python_is_space(t.s, t.n, i);
        step = blank && !starts_line ? python_char(t.s, t.n, i) : 1;
        blank = c == '\n' || (blank && !starts_line);
        if (!starts_line && (!c || !strchr("aAoOcC([*_", c)))
            continue;
        for (int k = 0; k < N_PATTERNS; k++)
            if (!found[k] && patterns[k].match &&
                (patterns[k].first ? c && strchr(patterns[k].first, c) : starts_line))
                found[k] = patterns[k].match(t, i);
    }
}

struct span preset_gpt_oss(struct span text, int n_options)
{
    char found[N_PATTERNS];
    (void)n_options; /* the program knows only A to D */
    search_patterns(text, found);
    for (int k = 0; k < N_PATTERNS; k++) {
        char letter = patterns[k].command ? in_command(text, patterns[k].command) : found[k];
        if (letter)
            return preset_letter(letter);
    }
    size_t start = preset_has(text, 0, "**") ? 2 : 0; /* the first character, a letter or not */
    return (struct span){text.s + start, python_char(text.s, text.n, start)};
}
