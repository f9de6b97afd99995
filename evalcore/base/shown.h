#ifndef EVALCORE_BASE_SHOWN_H
#define EVALCORE_BASE_SHOWN_H

#include "evalcore/base/str.h"

/* Somebody else's text as a terminal may show it: names, answers, labels. Nothing in it may steer the
 * terminal, and nothing may turn the direction of what is read. */

/* Embeddings, overrides and isolates of direction, U+202A to U+202E and U+2066 to U+2069: with them a name
 * could show as another one. s begins a character of valid UTF-8. */
int shown_turns(const char *s);
/* The character at s, of valid UTF-8 that ends at `end`, as it may be shown: control characters (also those
 * of one byte more, U+0080 to U+009F) are a space, and what turns the direction is U+FFFD. Returns its bytes
 * in s. */
int shown_next(const char *s, const char *end, char out[5]);
/* All of a text, which may hold any bytes; those that are not UTF-8 are U+FFFD. */
void shown_add(struct str *out, const char *text, size_t n);

#endif
