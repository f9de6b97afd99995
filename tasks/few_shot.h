#ifndef TASKS_FEW_SHOT_H
#define TASKS_FEW_SHOT_H

#include "tasks/task_file.h"

/* Solved examples in a task file's prompts: rows of their own, read as the task's are and written by a
 * template of their own, which fill {examples}. */

/* Fills f->few_shot from the file's "few_shot" (NULL: there is none). Returns 0, or ERR_USAGE with the key.
 */
int few_shot_parse(struct task_file *f, const json_t *o, struct arena *a, struct err *e);

/* Reads and writes out the examples for l->prompt, if that has {examples}. `path` is the file of the task's
 * rows, beside which that of the examples lies. Returns 0, ERR_IO or ERR_FORMAT for the examples' file, or
 * ERR_FORMAT if there are too few. few_shot_release() frees them. */
int few_shot_load(struct task_loading *l, const struct task *t, const char *path, struct err *e);
void few_shot_release(struct task_loading *l);
/* Points text and n at the examples of the row, which live until few_shot_release(); of a prompt without them
 * n is 0. A row is never its own example. Returns 0, or ERR_FORMAT for a row that has no column `match`, or
 * with which too few examples share it. */
int few_shot_of_row(struct row_text *out, const struct task_loading *l, const struct rows *r,
                    const json_t *row, struct err *e);

#endif
