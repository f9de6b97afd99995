#ifndef ANSWER_CHECK_STRICT_GRADE_STRICT_H
#define ANSWER_CHECK_STRICT_GRADE_STRICT_H

#include "answer_check/text/grade.h"

/* The door of mode strict, for answer_check.c: what grade_math_as() does with mode GRADE_STRICT. Fills *out
 * and returns 0; a reference that is empty or longer than 16384 bytes is VERDICT_ERROR. */
int grade_math_strict(struct grade *out, const char *gold, size_t gold_len, const struct response *r,
                      const struct grade_rules *rules, struct arena *a);

#endif
