#ifndef TASKS_METRIC_GRADE_H
#define TASKS_METRIC_GRADE_H

#include "tasks/task.h"

/* Grades what a completion answers by a text metric (textscore()): the best score over the accepted answers,
 * from 0 to 1, and correct where that is 1. first_line: leading line ends are dropped, and then only the
 * first line counts. Strings of *out lie in the arena. Returns 0. */
int metric_grade(struct grade *out, const char *metric, int first_line, const struct problem *p,
                 const struct response *r, struct arena *a);

#endif
