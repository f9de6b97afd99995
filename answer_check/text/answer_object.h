#ifndef ANSWER_CHECK_TEXT_ANSWER_OBJECT_H
#define ANSWER_CHECK_TEXT_ANSWER_OBJECT_H

#include "answer_check/text/span.h"
#include "evalcore/base/arena.h"

/* Answers under a name, in JSON and tables. A door of answer_check/text. */

enum { ANSWER_NAMES = 43 };
/* How well the text names an answer ("final_answer", "answer", "result", ...): 0 for the best name,
 * ANSWER_NAMES where it is none. ASCII case, blanks, "-" and "_" are ignored. */
int answer_name_rank(struct span name);

/* Finds the last object of JSON in a section, in a fence of code or not, and the value in it under the best
 * name; an earlier object counts where only that one says "answer". An object that the text ends in is one
 * too, without the value that is not whole (is_cut: by the length limit, so that even a number may lack its
 * end). Returns 1, sets *out to the value (a string without its escapes, or the members of an object as "x =
 * 2, y = 5", in the arena) and *start and *end to the bytes of the object; -1 with these set where the object
 * has no such name, or null there; 0 where there is no object. */
int answer_object(struct span *out, size_t *start, size_t *end, struct span section, int is_cut,
                  struct arena *a);

#endif
