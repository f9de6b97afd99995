#ifndef TASKS_ROWS_H
#define TASKS_ROWS_H

#include "evalcore/base/json.h"
#include "tasks/task.h"

/* Collects the problems of a data file. Data files are untrusted: every error names path:line and the field,
 * and nothing of a row's text but its id. */
struct rows {
    struct task *task;
    const char *path; /* NULL: generated */
    long line;        /* of the row being read */
    struct problem *problems;
    long *lines;
    size_t n, cap, lines_cap;
};
enum { ROW_BYTES_MAX = 64 << 20 };

/* Adds a zeroed problem that stands on the current line. */
struct problem *rows_add(struct rows *r);
/* Moves the problems into the task. No problem, or an id twice, is an error. */
int rows_finish(struct rows *r, struct err *e);
void rows_release(struct rows *r);

/* Reads a file of one JSON object a line: calls `row` for each, then finishes. Sets task->source. */
typedef int (*row_fn)(struct rows *r, const json_t *row, void *context, struct err *e);
int rows_read_jsonl(struct task *t, const char *path, row_fn row, void *context, struct err *e);

struct row_text {
    const char *s;
    size_t n;
};
/* A text field under the first of `names` (comma-separated) that the row has; an integer becomes its digits.
 * Missing is an error, or with `optional` leaves out->s NULL. The text lives as long as the row or the task's
 * arena. */
int row_text(struct row_text *out, const struct rows *r, const json_t *row, const char *names, int optional,
             struct err *e);

/* The reference answer, the same way: it must not be empty and must not hold a NUL. */
int row_answer(struct row_text *out, const struct rows *r, const json_t *row, const char *names,
               struct err *e);

void problem_set_prompt(struct problem *p, struct task *t, const char *text, size_t n);
/* The text that problem.hash is of, for loaders whose prompts are more than it; else rows_finish takes the
 * prompt. */
void problem_set_hash(struct problem *p, const char *text, size_t n);
void problem_set_gold(struct problem *p, struct task *t, const char *text, size_t n);
int problem_set_id(struct problem *p, const struct rows *r, struct row_text id, struct err *e);

#endif
