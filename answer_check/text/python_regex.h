#ifndef ANSWER_CHECK_TEXT_PYTHON_REGEX_H
#define ANSWER_CHECK_TEXT_PYTHON_REGEX_H

#include <stddef.h>

/* What Python's re module takes for white space (\s) and for a word character (\w) in UTF-8 text, for the
 * rules that repeat a public program written in it. A byte that starts no valid character is a character of
 * its own, neither space nor word. Positions are bytes, i <= n. */

size_t python_char(const char *s, size_t n, size_t i);       /* bytes of the character at i; 0 at the end */
size_t python_skip_space(const char *s, size_t n, size_t i); /* behind the white space at i */
int python_is_space(const char *s, size_t n, size_t i);      /* is there white space at i? */
int python_is_word(const char *s, size_t n, size_t i);       /* is there a word character at i? */
int python_word_before(const char *s, size_t i);             /* ... and one that ends at i? */

#endif
