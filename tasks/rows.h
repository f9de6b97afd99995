#ifndef TASKS_ROWS_H
#define TASKS_ROWS_H

#include "evalcore/base/json.h"
#include "evalcore/base/prompt_fill.h"
#include "tasks/task.h"

/* Shared by loaders. struct rows collects the problems of a data file. Data files are untrusted: an error
 * names path:line and the field, and shows nothing of a row's text but its id. Functions with a struct err
 * return 0 or the ERR_ code that is named. */
struct rows {
    struct task *task;
    const char *path;         /* NULL: generated */
    long line;                /* line of the row being read, from 1 */
    size_t row_at, row_bytes; /* where it stands in a JSONL file; 0 bytes in another one */
    struct problem *problems;
    size_t n, cap;
    size_t n_left_out; /* rows of the set that an option leaves out */
};
enum { ROW_BYTES_MAX = 64 << 20 };

/* Adds a zeroed problem of the current line and returns it; the pointer is valid until the next one is added.
 */
struct problem *rows_add(struct rows *r);
/* Copies the problems into the task, with the hash of the prompt where a loader has set none. ERR_FORMAT if
 * there is none. */
int rows_finish(struct rows *r, struct err *e);
/* Frees the lists of r, but not the task's problems. */
void rows_release(struct rows *r);

/* Reads a file with one JSON object per line: calls `row` for each, then rows_finish(). Blank lines are
 * skipped. Sets task->source. ERR_IO: the file cannot be read; ERR_FORMAT: a line is no JSON object or longer
 * than ROW_BYTES_MAX, or rows_finish() fails; an error of `row` ends the reading and is returned. */
typedef int (*row_fn)(struct rows *r, const json_t *row, void *context, struct err *e);
int rows_read_jsonl(struct task *t, const char *path, row_fn row, void *context, struct err *e);

/* The same for a file of any of the formats jsonl, json (one list), csv and tsv (each record an object of
 * texts by the names of the header; an empty cell is none). format NULL: by the name's end, else by the first
 * byte. line is the number of the list's item in a json file. `finish`, which may be NULL, is called behind
 * the last row, before rows_finish(). */
int rows_read(struct task *t, const char *path, const char *format, row_fn row,
              int (*finish)(struct rows *r, void *context, struct err *e), void *context, struct err *e);
int rows_format_is_known(const char *format); /* 1 or 0 */

struct row_text {
    const char *s;
    size_t n;
};
/* The text without the white space around it, as Python's strip() finds it: no-break spaces go, too. */
struct row_text row_trim(struct row_text t);
/* Returns the value of the column; NULL: the row has none, or null. Where no column is called "choices.text",
 * it is `text` in the object `choices`, and "answers.0" is the first item of the list `answers`. */
const json_t *row_value(const json_t *row, const char *name);
/* The value of the first of `names` (comma-separated) that the row has, whose name stands in `name` then.
 * NULL: it has none. */
enum { LIST_NAME_BYTES = 64 };
const json_t *row_first_value(const json_t *row, const char *names, char name[LIST_NAME_BYTES]);
/* A text, or the digits of a number; s is NULL for any other value. It lives as long as the value or the
 * arena. */
struct row_text row_json_text(const json_t *v, struct arena *a);
/* Reads the text under the first of `names` (comma-separated) that the row has; a number becomes its
 * digits. A missing field (or null) is ERR_FORMAT, or with `optional` out->s is NULL; a value of
 * another type is ERR_FORMAT. The text lives as long as the row
 * or the task's arena. */
int row_text(struct row_text *out, const struct rows *r, const json_t *row, const char *names, int optional,
             struct err *e);

/* Reads the reference answer in the same way; ERR_FORMAT also if it is empty or holds a NUL. */
int row_answer(struct row_text *out, const struct rows *r, const json_t *row, const char *names,
               struct err *e);

/* Set fields of a problem; texts are copied into the task's arena. problem_set_gold() makes the text its one
 * reference answer. problem_set_id() makes the line's number the id where id.s is NULL; ERR_FORMAT unless an
 * id has 1 to 200 bytes and no NUL. */
void problem_set_prompt(struct problem *p, struct task *t, const char *text, size_t n);
/* Sets problem.hash and problem.same by this text, for a loader that adds more to the prompt; without this
 * call rows_finish takes the prompt. */
void problem_set_hash(struct problem *p, const char *text, size_t n);
void problem_set_gold(struct problem *p, struct task *t, const char *text, size_t n);
int problem_set_id(struct problem *p, const struct rows *r, struct row_text id, struct err *e);

/* ---- prompt templates */

struct prompt_text {
    const char *name, *text;
};
extern const struct prompt_text prompt_texts[]; /* made of tasks/prompts; ends with name NULL */
extern const struct prompt_text task_texts[];   /* the same of tasks/sets */

/* Returns 1 if the comma-separated list (NULL: empty) has the name, else 0; 0 for an empty name. */
int list_has(const char *list, const char *name);
/* Copies the first name of a comma-separated list, at most 63 bytes of it, and returns what follows; NULL:
 * the list is empty. */
const char *list_next(const char *list, char name[LIST_NAME_BYTES]);

/* Sets *text to the template FAMILY_VARIANT, which is static: the variant in the task's options, or the first
 * of ops->prompts. ERR_USAGE lists the variants if the one asked for is unknown; ERR_UNSUPPORTED: the program
 * was built without the file. */
int prompt_find(const char **text, const struct task *t, const char *family, struct err *e);

/* For tasks that score a text of n bytes. Returns 1 and sets *out to the verdict of a missing answer if the
 * text is only white space; else returns 0 and leaves *out alone. */
int grade_blank(struct grade *out, const struct response *r, const char *text, size_t n);

#endif
