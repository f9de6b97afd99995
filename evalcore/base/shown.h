#ifndef EVALCORE_BASE_SHOWN_H
#define EVALCORE_BASE_SHOWN_H

#include "evalcore/base/str.h"

/* Somebody else's text as a terminal may show it: names, answers, labels. Nothing in it may steer the
 * terminal, and nothing may turn the direction of what is read. */

/* Returns 1 for embeddings, overrides and isolates of direction, U+202A to U+202E and U+2066 to U+2069: with
 * them a name could show as another one; 0 for any other character. s begins a character of valid UTF-8. */
int shown_turns(const char *s);
/* Writes the character at s, of valid UTF-8 that ends at `end`, to out as it may be shown, with a NUL:
 * control characters (also those of one byte more, U+0080 to U+009F) are a space, and what turns the
 * direction is U+FFFD. Returns how many bytes it has in s. */
int shown_next(const char *s, const char *end, char out[5]);
/* Appends all of a text so, which may hold any bytes; those that are not UTF-8 are U+FFFD. */
void shown_add(struct str *out, const char *text, size_t n);

#endif
