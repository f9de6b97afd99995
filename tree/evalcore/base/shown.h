#ifndef EVALCORE_BASE_SHOWN_H
#define EVALCORE_BASE_SHOWN_H

#include <stdio.h>

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

/* Where a text is shown in full, on lines of its own, what could steer is escaped and stays visible: \x1b for
 * control characters and bytes that are not UTF-8, \u202e for characters: those of one byte more (U+007F to
 * U+009F), what turns the direction or marks it (U+061C, U+200E, U+200F too), separators of lines (U+2028,
 * U+2029), and what cannot be seen (U+200B, U+2060, U+FEFF). New lines, tabs and CR LF stay. Inside a JSON
 * string these are JSON's own escapes, so JSON keeps its meaning. */
struct shown_state {
    int is_github; /* lines are read by GitHub Actions, which takes orders: "::" at their begin, "##["
                      anywhere */
    int colons;    /* at the begin of a line; -1: behind its begin */
    int hashes;    /* just before */
};
/* Appends the text so and returns how many bytes were taken: n, or less where the end may be part of a
 * character. A zeroed state begins a line. */
size_t shown_escape(struct shown_state *s, struct str *out, const char *text, size_t n);

/* Returns a stream that writes to fd what shown_escape() makes of its text, line by line on a terminal; NULL
 * where there is no memory. Closing it leaves fd open. */
FILE *shown_stream(int fd, int is_github);

#endif
