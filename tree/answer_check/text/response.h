#ifndef ANSWER_CHECK_TEXT_RESPONSE_H
#define ANSWER_CHECK_TEXT_RESPONSE_H

#include "answer_check/text/span.h"
#include "answer_check/text/grade.h"

/* What every grader does with a response and its verdict; the types are in grade.h. A door of
 * answer_check/text. */

/* Fills a grade: no forms, score 1 for correct and 0 otherwise. `reason` is borrowed. Returns 0. */
int grade_set(struct grade *out, enum verdict v, const char *reason);

/* Fills the grade of a response without an answer: truncated at the length limit, else unparsed. Returns 0.
 */
int grade_no_answer(struct grade *out, const struct response *r);

/* Cuts thinking off. Returns 0, sets *section to the answer section, a part of the text, and leaves *out; or
 * returns 1 after filling *out with `unfinished`, when thinking was never closed. */
int grade_section(struct grade *out, const struct response *r, struct span *section);

#endif
