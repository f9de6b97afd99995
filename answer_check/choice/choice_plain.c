/* Rewrites an answer section as plainer text, so that one set of rules finds declarations in Markdown,
 * LaTeX, plain text and Chinese. Fonts and $ are dropped. Braces, and all brackets of East Asian writing,
 * become ASCII brackets; full-width and circled letters, curly quotes, dashes and odd spaces become their
 * ASCII counterparts. Capitals of Latin with accents and of Cyrillic become small, since the words of
 * choice_words.c are. */
#include "answer_check/choice/choice_scan.h"

#include <string.h>

/* LaTeX commands that only change how a letter looks. */
static const char *const dropped[] = {"\\text",      "\\textbf",
                                      "\\textrm",    "\\textit",
                                      "\\textsf",    "\\texttt",
                                      "\\mathrm",    "\\mathbf",
                                      "\\mathit",    "\\mathsf",
                                      "\\mathtt",    "\\emph",
                                      "\\underline", "\\operatorname",
                                      "\\bf",        "\\rm",
                                      "\\left",      "\\right",
                                      "\\bigl",      "\\bigr",
                                      "\\Large",     "\\displaystyle",
                                      "\\large",     "\\LARGE",
                                      "\\huge",      "\\Huge",
                                      "\\mathcal",   "\\mathbb",
                                      "\\mathfrak",  "\\boldsymbol",
                                      "\\bm",        "\\(",
                                      "\\)",         "\\[",
                                      "\\]",         "\\,",
                                      "\\;",         "\\!"};

static const struct {
    const char *from, *to;
} replaced[] = {
    {"\xe3\x80\x82", ". "}, /* ideographic full stop, comma, space, brackets */
    {"\xe3\x80\x81", ", "}, {"\xe3\x80\x80", " "},   {"\xe3\x80\x90", "("},
    {"\xe3\x80\x91", ")"},  {"\xe3\x80\x8c", "\""},  {"\xe3\x80\x8d", "\""},
    {"\xe3\x80\x8e", "\""}, {"\xe3\x80\x8f", "\""},  {"\xef\xbc\x8e", "."}, /* full-width punctuation */
    {"\xef\xbc\x8c", ", "}, {"\xef\xbc\x9a", ":"},   {"\xef\xbc\x9b", "; "},
    {"\xef\xbc\x9f", "? "}, {"\xef\xbc\x81", "! "},  {"\xef\xbc\x9d", "="},
    {"\xef\xbc\x88", " ("}, {"\xef\xbc\x89", ")"},   {"\xe2\x80\x98", "'"}, /* curly quotes, dashes, arrow */
    {"\xe2\x80\x99", "'"},  {"\xe2\x80\x9c", "\""},  {"\xe2\x80\x9d", "\""},
    {"\xe2\x80\x90", "-"},  {"\xe2\x80\x91", "-"},   {"\xe2\x80\x92", "-"},
    {"\xe2\x80\x93", "-"},  {"\xe2\x80\x94", " - "}, {"\xe2\x88\x92", "-"},
    {"\xe2\x86\x92", "->"}, {"\xe2\x87\x92", "->"},  {"\xe2\x80\x82", " "}, /* spaces */
    {"\xe2\x80\x83", " "},  {"\xe2\x80\x89", " "},   {"\xe2\x80\xaf", " "},
    {"\xe2\x80\x8b", ""},   {"\xef\xb8\x8f", ""}, /* a sign as an emoji */
    {"\xc2\xa0", " "},      {"\xc2\xab", "\""},      {"\xc2\xbb", "\""},
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

/* What the longest entry of the table at s is replaced by, or NULL; *length is its length. */
static const char *replaced_at(struct span s, size_t *length)
{
    const char *to = NULL;
    *length = 0;
    for (size_t k = 0; k < sizeof replaced / sizeof *replaced; k++) {
        if (replaced[k].from[0] != s.s[0] || s.n < 2 || replaced[k].from[1] != s.s[1])
            continue;
        size_t n = strlen(replaced[k].from);
        if (n > *length && s.n >= n && !memcmp(s.s, replaced[k].from, n)) {
            to = replaced[k].to;
            *length = n;
        }
    }
    return to;
}

/* A letter of four bytes as ASCII, or 0: mathematical alphabets, each of 26 capitals and 26 small letters,
 * and letters in squares and discs. */
static char letter_of_four(const unsigned char *u)
{
    unsigned code = (unsigned)(u[1] & 63) << 12 | (unsigned)(u[2] & 63) << 6 | (u[3] & 63);
    if (code >= 0x1d400 && code < 0x1d6a4)
        return (char)((code - 0x1d400) % 52 < 26 ? 'A' + (code - 0x1d400) % 52
                                                 : 'A' + 6 + (code - 0x1d400) % 52);
    return code >= 0x1f130 && code < 0x1f18a && (code - 0x1f130) % 32 < 26
               ? (char)('A' + (code - 0x1f130) % 32)
               : 0;
}

/* A full-width, circled or mathematical letter of three or four bytes as ASCII, or 0. */
static char letter_of(struct span s)
{
    const unsigned char *u = (const unsigned char *)s.s;
    if (s.n > 3 && u[0] == 0xf0)
        return letter_of_four(u);
    if (s.n < 3)
        return 0;
    if (u[0] == 0xef && u[1] == 0xbc && u[2] >= 0xa1 && u[2] <= 0xba)
        return (char)('A' + u[2] - 0xa1);
    if (u[0] == 0xef && u[1] == 0xbd && u[2] >= 0x81 && u[2] <= 0x9a)
        return (char)('a' + u[2] - 0x81);
    int circled = u[0] == 0xe2 && (u[1] == 0x92 || u[1] == 0x93) ? (u[1] - 0x92) * 64 + u[2] - 0xb6 : -1;
    return circled >= 0 && circled < 26 ? (char)('A' + circled) : 0;
}

/* Is there an emoji at s that says nothing? Those of choice_words.c do. */
static int is_picture(struct span s)
{
    static const char *const signs[] = {"👍", "🗸"};
    return s.n > 3 && !memcmp(s.s, "\xf0\x9f", 2) && !span_at(s, 0, signs[0]) && !span_at(s, 0, signs[1]);
}

/* Makes a small letter of the capital of two bytes at s: Latin with accents or Cyrillic. Returns 0 when
 * there is none. */
static int small_of(struct span s, char out[2])
{
    unsigned lead = (unsigned char)s.s[0], next = s.n > 1 ? (unsigned char)s.s[1] : 0;
    if (lead == 0xc3 && next >= 0x80 && next <= 0x9e && next != 0x97)
        next += 0x20;
    else if (lead == 0xd0 && next >= 0x90 && next <= 0x9f)
        next += 0x20;
    else if (lead == 0xd0 && next >= 0xa0 && next <= 0xaf)
        lead = 0xd1, next -= 0x20;
    else
        return 0;
    out[0] = (char)lead;
    out[1] = (char)next;
    return 1;
}

/* The braces that are open: those of a command that was dropped become marks, so that "A \\text{ or } B"
 * reads like "A or B", the others brackets. */
struct braces {
    uint64_t dropped; /* one bit for each depth, the innermost last */
    int depth;
};

/* What stands for the brace c. is_dropped: it is the argument of a command that was dropped. */
static const char *brace_mark(struct braces *b, char c, int is_dropped)
{
    int was_dropped;
    if (c == '{') {
        b->dropped = b->dropped << 1 | (uint64_t)is_dropped;
        b->depth++;
        return is_dropped ? "`" : "[";
    }
    was_dropped = b->depth > 0 && b->dropped & 1;
    b->dropped >>= b->depth > 0;
    b->depth -= b->depth > 0;
    return was_dropped ? "`" : "]";
}

/* Is it a byte that stays what it is? */
static int stays(char c)
{
    return !(c & 0x80) && c != '{' && c != '}' && c != '\\' && c != '$';
}

struct span choice_plain(struct span s, struct arena *a)
{
    char *out = arena_room(a, GROWTH * s.n + 8);
    struct braces braces = {0, 0};
    size_t n = 0, skip;
    int is_dropped = 0; /* a command was dropped right before */
    while (s.n) {
        size_t same = 0;
        while (same < s.n && stays(s.s[same]))
            same++;
        if (same) {
            memcpy(out + n, s.s, same);
            n += same;
            s = (struct span){s.s + same, s.n - same};
            is_dropped = 0;
            continue;
        }
        unsigned char c = (unsigned char)s.s[0];
        const char *to = NULL;
        char one[3] = {s.s[0], 0, 0}, letter;
        int was_dropped = is_dropped;
        is_dropped = 0;
        skip = 1;
        if (small_of(s, one)) {
            skip = 2;
        } else if (c == '{' || c == '}') {
            to = brace_mark(&braces, s.s[0], was_dropped);
        } else if (c == 0xc2 || c >= 0xe2) { /* all texts of the table start like this */
            to = replaced_at(s, &skip);
            if (!to && (letter = letter_of(s))) {
                one[0] = letter;
                skip = c == 0xf0 ? 4 : 3;
            } else if (!to) {
                to = is_picture(s) ? " " : NULL;
                skip = to ? 4 : 1;
            }
        } else if (c == '\\' && s.n > 1 && s.s[1] == ' ') {
            to = " ";
            skip = 2;
        } else if (c == '\\' || c == '$') {
            skip = c == '$' ? 1 : dropped_at(s);
            to = skip ? "" : NULL;
            is_dropped = skip > 2;
            skip += !skip;
        }
        size_t length = to ? strlen(to) : one[1] ? 2 : 1;
        memcpy(out + n, to ? to : one, length);
        n += length;
        s = (struct span){s.s + skip, s.n - skip};
    }
    return (struct span){out, n};
}
