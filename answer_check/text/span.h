#ifndef ANSWER_CHECK_TEXT_SPAN_H
#define ANSWER_CHECK_TEXT_SPAN_H

#include <stddef.h>
#include <string.h>

/* A borrowed piece of a text, which may hold NULs and invalid UTF-8. A door of answer_check/text, the room
 * at the bottom of answer_check: pieces of text, Python's and LaTeX's spelling, responses and verdicts, for
 * all rooms above it. The functions return pieces of the same text, or 1 or 0 for a question. */
struct span {
    const char *s;
    size_t n;
};

struct span span_trim(struct span s); /* without white space at both ends */
/* A text longer than `max` is trimmed and, if it is still longer, cut to its last `max` bytes. */
struct span span_end(struct span s, size_t max);
int span_starts(struct span s,
                const char *lower); /* does s start with the lower-case text, ASCII case ignored? */
/* Where the text, of at least two bytes, first stands in s, or NULL: for long texts. */
const char *span_find(struct span s, const char *text);

/* Inline because they are asked of every byte of a text. Questions are answered with 1 or 0. The ascii_
 * functions know ASCII only: other bytes are no letter, digit or white space, and ascii_lower() returns what
 * is no capital letter as it is. */

/* Does `what`, which is not empty, stand at byte i? */
static inline int span_at(struct span s, size_t i, const char *what)
{
    if (i >= s.n || s.s[i] != what[0])
        return 0;
    size_t n = strlen(what);
    return n <= s.n - i && !memcmp(s.s + i, what, n);
}

/* Does s hold the same bytes as text? */
static inline int span_is(struct span s, const char *text)
{
    return s.n == strlen(text) && !memcmp(s.s, text, s.n);
}

static inline char ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static inline int ascii_is_letter(char c)
{
    c = ascii_lower(c);
    return c >= 'a' && c <= 'z';
}

static inline int ascii_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline int ascii_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Does the byte at i belong to a word? Letters of two bytes (Latin with accents, Greek, Cyrillic) do, and
 * digits. Chinese characters, which have three bytes, do not: they stand beside an option letter without a
 * space. Behind the end: 0. */
static inline int span_is_word(struct span s, size_t i)
{
    if (i >= s.n)
        return 0;
    unsigned char c = (unsigned char)s.s[i], before = i ? (unsigned char)s.s[i - 1] : 0;
    if (c >= 0x80 && c < 0xc0)
        return before >= 0xc3 && before < 0xe0;
    return ascii_is_letter((char)c) || ascii_is_digit((char)c) || (c >= 0xc3 && c < 0xe0);
}

#endif
