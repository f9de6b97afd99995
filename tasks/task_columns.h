#ifndef TASKS_TASK_COLUMNS_H
#define TASKS_TASK_COLUMNS_H

#include "evalcore/base/json.h"
#include "tasks/rows.h"

/* Which columns the rows of a file have, what stands in them, and what their names say. */
enum { COLUMNS_MAX = 256 };

struct column {
    const char *name;
    /* Rows that have it; with a text or a number; with a list of two or more such; with a text, a list or an
     * object that is not empty; with "####"; with a box. */
    size_t n, n_text, n_list, n_held, n_mark, n_box;
    size_t bytes;  /* of its texts */
    long other_at; /* the first row that has neither a list of these nor an object there; 0: none */
};

struct columns {
    struct column column[COLUMNS_MAX];
    int n_columns, is_full; /* is_full: a row has a column that is not in the table */
    size_t n_rows;
    struct task *task;
};

/* Fills k from all rows of the file, whose texts are kept in the task's arena. Returns 0 or what rows_read()
 * does. */
int columns_read(struct columns *k, struct task *t, const char *path, struct err *e);

/* The column of the first of the names (with commas, in small letters) for which a count, a size_t of struct
 * column at `count`, is above 0. Names are compared without case, blanks, hyphens and underscores. NULL:
 * there is none. */
struct column *columns_named(struct columns *k, const char *names, size_t count);

/* The columns of the first series (A, B, C; option_1 to option_12) as a new list of their names, and in how
 * many rows the second has something; *list is left alone where there is none. ERR_USAGE: a gap cuts one off,
 * which would be an option that is never shown. */
int columns_series(json_t **list, size_t *n_rows, const struct columns *k, const char *path, struct err *e);

/* 1: the name says that the column holds options: "answer_choices", "options_text", "Option B"; "choice_type"
 * does not.
 */
int column_is_options(const char *name);
/* 1: it begins as that of wrong options does. */
int column_is_wrong_options(const char *name);

#endif
