/* Rewrites an answer section as plainer text, so that one set of rules finds declarations in Markdown,
 * LaTeX, plain text and Chinese. Fonts and $ are dropped. Braces, and all brackets of East Asian writing,
 * become ASCII brackets; full-width and circled letters, curly quotes, dashes and odd spaces become their
 * ASCII counterparts. The few words that declare an answer in Chinese, Japanese and Korean become English
 * ones, with a space behind them because these languages put none before a letter. */
#include "answer_check/choice/choice_scan.h"

#include <string.h>

/* LaTeX commands that only change how a letter looks. */
static const char *const dropped[] = {
    "\\text",   "\\textbf", "\\textrm", "\\textit", "\\textsf",    "\\texttt",       "\\mathrm", "\\mathbf",
    "\\mathit", "\\mathsf", "\\mathtt", "\\emph",   "\\underline", "\\operatorname", "\\bf",     "\\rm",
    "\\left",   "\\right",  "\\bigl",   "\\bigr",   "\\Large",     "\\displaystyle", "\\(",      "\\)",
    "\\[",      "\\]",      "\\,",      "\\;",      "\\!"};

static const struct {
    const char *from, *to;
} replaced[] = {
    {"\xe7\xad\x94\xe6\xa1\x88", "answer "},              /* zh: answer */
    {"\xe7\xad\x94\xe3\x81\x88", "answer "},              /* ja: answer */
    {"\xe7\xad\x94\xe3\x81\x88\xe3\x81\xaf", "answer: "}, /* ja: the answer is */
    {"\xec\xa0\x95\xeb\x8b\xb5", "answer "},              /* ko: right answer */
    {"\xec\xa0\x95\xeb\x8b\xb5\xec\x9d\x80", "answer: "}, /* ko: the right answer is */
    {"\xe9\x80\x89\xe9\xa1\xb9", "option "},              /* zh: option */
    {"\xe9\x81\xb8\xe9\xa0\x85", "option "},
    {"\xe9\x80\x89\xe6\x8b\xa9", "choose "}, /* zh: choose */
    {"\xe9\x81\xb8\xe6\x93\x87", "choose "},
    {"\xe9\x80\x89", "choose "},
    {"\xe9\x81\xb8", "choose "},
    {"\xe6\xad\xa3\xe7\xa1\xae", "correct "}, /* zh: correct */
    {"\xe6\xad\xa3\xe7\xa2\xba", "correct "},
    {"\xe4\xb8\x8d\xe6\x98\xaf", " is not "}, /* zh: is not */
    {"\xe6\x98\xaf", " is "},                 /* zh: is */
    {"\xe5\x9b\xa0\xe4\xb8\xba", "because "}, /* zh: words that contain the next entry */
    {"\xe5\x9b\xa0\xe7\x82\xba", "because "},
    {"\xe8\xae\xa4\xe4\xb8\xba", "think "},
    {"\xe8\xaa\x8d\xe7\x82\xba", "think "},
    {"\xe4\xb8\xba", " is "},
    {"\xe7\x82\xba", " is "},
    {"\xe3\x80\x82", ". "}, /* ideographic full stop, comma, space, brackets */
    {"\xe3\x80\x81", ", "},
    {"\xe3\x80\x80", " "},
    {"\xe3\x80\x90", "("},
    {"\xe3\x80\x91", ")"},
    {"\xe3\x80\x8c", "\""},
    {"\xe3\x80\x8d", "\""},
    {"\xe3\x80\x8e", "\""},
    {"\xe3\x80\x8f", "\""},
    {"\xef\xbc\x8e", "."}, /* full-width punctuation */
    {"\xef\xbc\x8c", ", "},
    {"\xef\xbc\x9a", ":"},
    {"\xef\xbc\x9b", "; "},
    {"\xef\xbc\x9f", "? "},
    {"\xef\xbc\x81", "! "},
    {"\xef\xbc\x9d", "="},
    {"\xef\xbc\x88", "("},
    {"\xef\xbc\x89", ")"},
    {"\xe2\x80\x98", "'"}, /* curly quotes, dashes, arrow */
    {"\xe2\x80\x99", "'"},
    {"\xe2\x80\x9c", "\""},
    {"\xe2\x80\x9d", "\""},
    {"\xe2\x80\x90", "-"},
    {"\xe2\x80\x91", "-"},
    {"\xe2\x80\x92", "-"},
    {"\xe2\x80\x93", "-"},
    {"\xe2\x80\x94", "-"},
    {"\xe2\x88\x92", "-"},
    {"\xe2\x86\x92", "->"},
    {"\xe2\x87\x92", "->"},
    {"\xe2\x80\x82", " "}, /* spaces */
    {"\xe2\x80\x83", " "},
    {"\xe2\x80\x89", " "},
    {"\xe2\x80\xaf", " "},
    {"\xe2\x80\x8b", ""},
    {"\xc2\xa0", " "},
};

/* A replacement is at most this many times as long as what it replaces. */
enum { GROWTH = 3 };

/* The length of the longest such command at s, or 0. */
static size_t dropped_at(struct span s)
{
    size_t best = 0;
    for (size_t k = 0; s.n > 1 && k < sizeof dropped / sizeof *dropped; k++) {
        if (dropped[k][1] != s.s[1])
            continue;
        size_t n = strlen(dropped[k]);
        if (n > best && s.n >= n && !memcmp(s.s, dropped[k], n) &&
            (n < 3 || s.n == n || !ascii_is_letter(s.s[n])))
            best = n;
    }
    return best;
}

static const char *replaced_at(struct span s, size_t *length)
{
    const char *to = NULL;
    *length = 0;
    for (size_t k = 0; k < sizeof replaced / sizeof *replaced; k++) {
        if (replaced[k].from[0] != s.s[0])
            continue;
        size_t n = strlen(replaced[k].from);
        if (n > *length && s.n >= n && !memcmp(s.s, replaced[k].from, n)) {
            to = replaced[k].to;
            *length = n;
        }
    }
    return to;
}

/* A full-width or circled letter of three bytes as ASCII, or 0. */
static char letter_of(struct span s)
{
    const unsigned char *u = (const unsigned char *)s.s;
    if (s.n < 3)
        return 0;
    if (u[0] == 0xef && u[1] == 0xbc && u[2] >= 0xa1 && u[2] <= 0xba)
        return (char)('A' + u[2] - 0xa1);
    if (u[0] == 0xef && u[1] == 0xbd && u[2] >= 0x81 && u[2] <= 0x9a)
        return (char)('a' + u[2] - 0x81);
    int circled = u[0] == 0xe2 && (u[1] == 0x92 || u[1] == 0x93) ? (u[1] - 0x92) * 64 + u[2] - 0xb6 : -1;
    return circled >= 0 && circled < 26 ? (char)('A' + circled) : 0;
}

struct span choice_plain(struct span s, struct arena *a)
{
    char *out = arena_alloc(a, GROWTH * s.n + 8);
    size_t n = 0, skip;
    while (s.n) {
        unsigned char c = (unsigned char)s.s[0];
        const char *to = NULL;
        char letter = 0;
        skip = 1;
        if (c == '{' || c == '}')
            to = c == '{' ? "(" : ")";
        else if (c == 0xc2 || c >= 0xe2) /* all texts of the table start like this */
            to = replaced_at(s, &skip);
        else if (c == '\\' || c == '$')
            to = (skip = c == '$' ? 1 : dropped_at(s)) ? "" : NULL;
        if (to) {
            memcpy(out + n, to, strlen(to));
            n += strlen(to);
        } else {
            letter = c >= 0xe2 ? letter_of(s) : 0;
            skip = letter ? 3 : 1;
            out[n++] = letter ? letter : s.s[0];
        }
        s = (struct span){s.s + skip, s.n - skip};
    }
    return (struct span){out, n};
}
