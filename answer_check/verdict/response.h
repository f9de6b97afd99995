#ifndef ANSWER_CHECK_VERDICT_RESPONSE_H
#define ANSWER_CHECK_VERDICT_RESPONSE_H

#include "answer_check/answer_check.h"

/* Inner helpers of the graders; the door is answer_check.h. */

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

/* Fills a grade: no forms, score 1 for correct and 0 otherwise. Returns 0. */
int grade_set(struct grade *out, enum verdict v, const char *reason);

/* The verdict of a response without an answer: truncated at the length limit, else unparsed. Returns 0. */
int grade_no_answer(struct grade *out, const struct response *r);

/* Cuts thinking off. Returns 0 and the answer section, or 1 after filling `out` with `unfinished`. */
int grade_section(struct grade *out, const struct response *r, struct span *section);

#endif
