#ifndef ANSWER_CHECK_TEXT_SPAN_H
#define ANSWER_CHECK_TEXT_SPAN_H

#include <stddef.h>

/* A piece of somebody else's text, which may hold NULs and invalid UTF-8. */
struct span {
    const char *s;
    size_t n;
};

struct span span_trim(struct span s);              /* white space at both ends */
struct span span_end(struct span s, size_t max);   /* what a longer one ends with, white space apart */
int span_starts(struct span s, const char *lower); /* ASCII case ignored; `lower` is lower case */

/* Asked of every byte of a text, hence here. */
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

#endif
