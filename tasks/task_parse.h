#ifndef TASKS_TASK_PARSE_H
#define TASKS_TASK_PARSE_H

#include "tasks/task_file.h"

/* Shared by the files that read a task's object, of which task_file_parse() is the whole. Functions return 0,
 * or ERR_USAGE with the file and the key. */
struct task_parse {
    struct task_file *f;
    struct arena *arena;
    struct err *e;
};

/* Always ERR_USAGE: the key must be `want`. */
int task_parse_refuse(const struct task_parse *p, const char *key, const char *want);
/* Fills a struct from an object by its table, whose texts must not be empty. An absent one leaves the
 * defaults. */
int task_parse_table(const struct task_parse *p, const char *key, const struct param *table, void *base,
                     const json_t *o);
/* A text of the file in the arena; NULL: it is none, or holds a NUL. */
const char *task_parse_text(const struct task_parse *p, const json_t *v);
/* May a task, a variant or a field be called so? 1 or 0. */
int task_parse_is_name(const char *s);
/* Reads "rows.fetch" into the task's rows, whose other keys were read before; NULL: nothing is fetched. */
int task_parse_sources(const struct task_parse *p, const json_t *list);
/* Reads "prompts"; NULL: the kind's. */
int task_parse_prompts(const struct task_parse *p, const json_t *given);

#endif
