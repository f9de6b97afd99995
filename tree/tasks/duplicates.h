#ifndef TASKS_DUPLICATES_H
#define TASKS_DUPLICATES_H

#include "tasks/task.h"

/* A problem that stands in a task more than once is one problem, whatever its ids: counted as several it
 * would make every interval too narrow. */

/* The hash by which problems are the same: of the text with runs of white space as one blank, and
 * accented letters as one whether they are written as one character or as two. */
uint64_t duplicates_hash(const char *text, size_t n);

/* Returns 0 when no two problems are the same, or with DUPLICATES_FOLD after keeping the first of each and
 * setting t->n_folded; else ERR_FORMAT, which names rows. Always ERR_FORMAT when problems that are the same
 * have different answers: by the task's grader where it grades accuracy, else other texts. path NULL: the
 * problems were generated. */
int duplicates_check(struct task *t, const char *path, struct err *e);
/* ERR_FORMAT when two problems have one id. */
int duplicates_check_ids(const struct task *t, const char *path, struct err *e);

#endif
