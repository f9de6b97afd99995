#ifndef ANSWER_CHECK_TEXT_CODE_POINTS_H
#define ANSWER_CHECK_TEXT_CODE_POINTS_H

#include <stddef.h>
#include <stdint.h>

#include "evalcore/base/str.h"

/* Texts as Python's str sees them, because the public metrics are defined by what it does: code points,
 * its white space, its \w and \d, its lower(). A door of answer_check/text, for all rooms of answer_check
 * above it. Texts may hold NULs; invalid UTF-8 is replaced by U+FFFD first. Nothing here fails; questions are
 * answered with 1 or 0. */
struct code_points {
    int32_t *c; /* n of them; release with code_points_release() */
    size_t n;
};
/* Fills *out, whatever it held, with the code points of n bytes. code_points_release() leaves an empty text.
 */
void code_points_of(struct code_points *out, const char *s, size_t n);
void code_points_release(struct code_points *t);

/* A new text, which is str.lower() of t: simple mappings, U+0130 as two characters, and a capital sigma at
 * the end of a word as the final sigma (Unicode, SpecialCasing and section 3.13). Release it with
 * code_points_release(). */
void code_points_lower(struct code_points *out, const struct code_points *t);

int py_is_space(int32_t c);          /* str.split() and \s */
int py_is_word(int32_t c);           /* \w */
int py_is_digit(int32_t c);          /* \d */
int py_is_punctuation(int32_t c);    /* string.punctuation: the 32 of ASCII */
int py_is_zh_punctuation(int32_t c); /* the same 32 and the list in LongBench's normalize_zh_answer */

/* Returns the code point at *at (*at < n) and moves *at behind it; for a byte that starts no valid character
 * it returns U+FFFD and moves by one byte. utf8_put() appends the bytes of a valid code point. */
int32_t utf8_next(const char *s, size_t n, size_t *at);
void utf8_put(struct str *out, int32_t c);

/* White space (\s) and word characters (\w) at a place in UTF-8 text, as Python's re module defines them, for
 * the rules that repeat a public program written in Python. A byte that starts no valid character counts as a
 * character of its own that is neither white space nor part of a word. Positions are in bytes, i <= n. */
size_t python_char(const char *s, size_t n, size_t i);       /* bytes of the character at i; 0 at the end */
size_t python_skip_space(const char *s, size_t n, size_t i); /* the position behind the white space at i */
int python_is_space(const char *s, size_t n, size_t i);      /* is there white space at i? */
int python_is_word(const char *s, size_t n, size_t i);       /* is there a word character at i? */
int python_word_before(const char *s, size_t i);             /* does a word character end at i? */

#endif
