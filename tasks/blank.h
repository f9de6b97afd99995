#ifndef TASKS_BLANK_H
#define TASKS_BLANK_H

#include "tasks/task.h"

/* For tasks that score a text: 1, with the verdict of an answer that is not there, when the text (of n bytes)
 * holds nothing but white space. 0: there is something to score, and *out is as it was. */
int grade_blank(struct grade *out, const struct response *r, const char *text, size_t n);

#endif
