#ifndef EVALCORE_BASE_THINKING_MARKS_H
#define EVALCORE_BASE_THINKING_MARKS_H

#include <stddef.h>

/* The marks between which families of models think, one table for those who read responses and for those who
 * render prompts. */

enum thinking_mark { THINKING_MARK_NONE, THINKING_MARK_OPENS, THINKING_MARK_CLOSES };

/* Does a mark stand at byte i of the text? Where one does, *len is set to its length. */
enum thinking_mark thinking_mark_at(const char *text, size_t n, size_t i, size_t *len);

/* Is a special token of this text a mark, or a part of one, so that it belongs to a response? 1 or 0. */
int thinking_mark_is_token(const char *text, size_t n);

#endif
