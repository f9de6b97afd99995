#ifndef ANSWER_CHECK_TEXT_ANSWER_OBJECT_H
#define ANSWER_CHECK_TEXT_ANSWER_OBJECT_H

#include "answer_check/text/span.h"
#include "evalcore/base/arena.h"

/* Answers under a name, in JSON and tables. A door of answer_check/text. */

enum { ANSWER_NAMES = 19 };
/* How well the text names an answer ("final_answer", "answer", "result", ...): 0 for the best name,
 * ANSWER_NAMES where it is none. ASCII case is ignored. */
int answer_name_rank(struct span name);

/* Finds the last object of JSON in a section, in a fence of code or not, and the value in it under the best
 * name. Returns 1, sets *out to the value (a string without its escapes, which may live in the arena) and
 * *end to the byte behind the object; -1 with *end set where the object has no such name, or null there; 0
 * where there is no object. */
int answer_object(struct span *out, size_t *end, struct span section, struct arena *a);

#endif
