#ifndef EVALCORE_PLAN_SAMPLE_IDS_H
#define EVALCORE_PLAN_SAMPLE_IDS_H

#include "evalcore/base/arena.h"
#include "evalcore/base/err.h"
#include "tasks/task.h"

/* The problems that --sample-ids names: "a,b,c" are ids in any task; {"task": [...]} has the label or name of
 * a task, and a list of ids (texts) and positions from 0 (integers). Every entry must match something. */
struct sample_id {
    const char *task; /* NULL: any */
    const char *id;   /* NULL: a position */
    long position;
    int is_task; /* stands for the task itself: is there one of this name? */
    int matched;
};
struct sample_ids {
    struct sample_id *entry;
    size_t n, cap;
    int given; /* 0: all problems are wanted */
};

/* Reads the text of --sample-ids (NULL: all problems), with names in the arena. Returns 0, or ERR_USAGE when
 * it is neither form or names no problem. The caller releases s, also after an error. */
int sample_ids_parse(struct sample_ids *s, const char *text, struct arena *a, struct err *e);
/* Frees the list and zeroes *s; the names are the arena's. */
void sample_ids_release(struct sample_ids *s);

/* Keeps in t the problems that are named, in their order, and of these the first `limit` (0: all), and marks
 * the entries that matched. A list under the task's label goes before one under its name. */
void sample_ids_filter(struct sample_ids *s, struct task *t, const char *label, int limit);
/* Call it after all tasks were filtered. Returns 0, or ERR_USAGE, which names the entries that matched
 * nothing, up to eight. */
int sample_ids_check(const struct sample_ids *s, struct err *e);

#endif
