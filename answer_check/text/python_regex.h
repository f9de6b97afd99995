#ifndef ANSWER_CHECK_TEXT_PYTHON_REGEX_H
#define ANSWER_CHECK_TEXT_PYTHON_REGEX_H

#include <stddef.h>

/* White space (\s) and word characters (\w) in UTF-8 text as Python's re module defines them, for the
 * rules that repeat a public program written in Python. A door of answer_check/text. A byte that starts no
 * valid character counts as a character of its own that is neither white space nor part of a word.
 * Positions are in bytes, i <= n. */

size_t python_char(const char *s, size_t n, size_t i);       /* bytes of the character at i; 0 at the end */
size_t python_skip_space(const char *s, size_t n, size_t i); /* the position behind the white space at i */
int python_is_space(const char *s, size_t n, size_t i);      /* is there white space at i? */
int python_is_word(const char *s, size_t n, size_t i);       /* is there a word character at i? */
int python_word_before(const char *s, size_t i);             /* does a word character end at i? */

#endif
