#ifndef TASKS_ROW_OPTIONS_H
#define TASKS_ROW_OPTIONS_H

#include "tasks/task_file.h"

/* The options of a row and the ways to name one of them, for the kinds that have such. */
enum { ROW_OPTIONS_MAX = 26 };
enum answer_form { ANSWER_LETTER, ANSWER_FROM_0, ANSWER_FROM_1, ANSWER_TEXT, N_ANSWER_FORMS };
extern const char *const answer_form_names[]; /* ends with NULL */

struct row_options {
    struct row_text text[ROW_OPTIONS_MAX], raw[ROW_OPTIONS_MAX]; /* trimmed, and as the row has it */
    int n;
    int may_repeat; /* 1: two of them may be the same */
};

/* Adds one. ERR_FORMAT: it is empty, holds a NUL, is there already, or one too many. */
int row_options_add(struct row_options *o, const struct rows *r, struct row_text text, struct err *e);
/* Adds those of a row: the list in the first column of f that it has, or a text from each column, of which
 * the last ones may lack: those that the task's file lists, else A, B, C and so on. Texts live as long as the
 * row or the task's arena. ERR_FORMAT as above, and with fewer than two. */
int row_options_read(struct row_options *o, const struct rows *r, const json_t *row,
                     const struct task_field *f, struct err *e);
/* Sets at[form] to the option that the answer names in each form, -1: none. "(b)", "b." and "B" are letters.
 */
void row_options_name(signed char at[N_ANSWER_FORMS], const struct row_options *o, struct row_text answer);
/* What a problem asks, for problem.same: a hash of its text and of its options in whatever order they stand.
 */
uint64_t row_options_same(const struct row_options *o, const char *text, size_t n);

#endif
