/* The flat text of a short answer, and taking words from its front (contract: respell_parts.h). */
#include "answer_check/text/respell_parts.h"

#include <string.h>

/* ---- the text without its marks ---- */

/* The length of a mark or a blank at i that says nothing, or 0. */
static size_t silent_length(struct span s, size_t i, int *is_blank)
{
    static const char *const blanks[] = {"~", "\\ ", "\\,", "\\;", "\\:", "\\quad", "\\qquad"};
    static const char *const marks[] = {"$", "\\!", "\\(", "\\)", "\\left", "\\right", "\\displaystyle"};
    for (size_t k = 0; k < sizeof blanks / sizeof *blanks; k++)
        if (span_at(s, i, blanks[k])) {
            *is_blank = 1;
            return strlen(blanks[k]);
        }
    *is_blank = 0;
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++)
        if (span_at(s, i, marks[k]))
            return strlen(marks[k]);
    return 0;
}

static size_t font_length(struct span s, size_t i)
{
    static const char *const fonts[] = {"\\text{", "\\textbf{", "\\mathrm{", "\\textrm{", "\\mbox{"};
    for (size_t k = 0; s.s[i] == '\\' && k < sizeof fonts / sizeof *fonts; k++)
        if (span_at(s, i, fonts[k]))
            return strlen(fonts[k]);
    return 0;
}

/* Writes s without the marks of words and formulas, with single blanks and no full stop. Returns its length,
 * 0 where a brace stays open: a piece of a formula is none. */
size_t respell_flatten(char out[RESPELL_MAX], struct span s)
{
    unsigned char is_font[RESPELL_MAX];
    size_t n = 0, depth = 0;
    for (size_t i = 0; i < s.n;) {
        int is_blank = 0;
        size_t font = font_length(s, i), silent = silent_length(s, i, &is_blank);
        if (font || s.s[i] == '{')
            is_font[depth++] = font > 0;
        if (font || silent || ascii_is_space(s.s[i])) {
            int is_wide = is_blank || (!font && !silent);
            if (is_wide && n && out[n - 1] != ' ')
                out[n++] = ' ';
            i += font ? font : silent ? silent : 1;
        } else if (s.s[i] == '}' && depth && is_font[--depth]) {
            i++;
        } else {
            size_t used = s.s[i] == '\\' && i + 1 < s.n ? 2 : 1;
            memcpy(out + n, s.s + i, used);
            n += used;
            i += used;
        }
    }
    while (n && strchr(" .", out[n - 1]))
        n--;
    return depth ? 0 : n;
}

/* ---- words and numbers ---- */

/* Where the phrase stands in s, as whole words, or s.n. */
size_t respell_find(struct span s, const char *phrase)
{
    size_t n = strlen(phrase);
    for (size_t i = 0; i + n <= s.n; i++)
        if (span_starts((struct span){s.s + i, s.n - i}, phrase) && !(i && ascii_is_letter(s.s[i - 1])) &&
            !(i + n < s.n && ascii_is_letter(s.s[i + n])))
            return i;
    return s.n;
}

/* Passes over the phrase, of lower-case words, at the start of *s, and the blank behind it: 1, or 0. */
int respell_take(struct span *s, const char *phrase)
{
    size_t n = strlen(phrase);
    if (!span_starts(*s, phrase) || (n < s->n && ascii_is_letter(s->s[n]) && ascii_is_letter(phrase[n - 1])))
        return 0;
    *s = span_trim((struct span){s->s + n, s->n - n});
    return 1;
}

/* Takes one of the phrases, which end with NULL. */
int respell_take_one(struct span *s, const char *const *phrases)
{
    for (; *phrases; phrases++)
        if (respell_take(s, *phrases))
            return 1;
    return 0;
}

/* Takes a number of at most two digits, or its word up to twenty-five: the number, or -1. */
int respell_take_number(struct span *s)
{
    static const char *const words[] = {"one",     "two",       "three",    "four",     "five",
                                        "six",     "seven",     "eight",    "nine",     "ten",
                                        "eleven",  "twelve",    "thirteen", "fourteen", "fifteen",
                                        "sixteen", "seventeen", "eighteen", "nineteen"};
    int n = 0, tens = 0;
    size_t i = 0;
    for (; i < s->n && i < 3 && ascii_is_digit(s->s[i]); i++)
        n = 10 * n + s->s[i] - '0';
    if (i) {
        *s = span_trim((struct span){s->s + i, s->n - i});
        return i < 3 ? n : -1;
    }
    if (respell_take(s, "twenty")) {
        tens = 20;
        respell_take(s, "-");
    }
    for (int k = 0; k < 19; k++)
        if (respell_take(s, words[k]))
            return tens + k + 1;
    return tens ? tens : -1;
}

/* A run of digits at the start of *s, taken. */
struct span respell_take_digits(struct span *s)
{
    struct span out = {s->s, 0};
    while (out.n < s->n && ascii_is_digit(s->s[out.n]))
        out.n++;
    *s = span_trim((struct span){s->s + out.n, s->n - out.n});
    return out;
}
