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

int sample_ids_parse(struct sample_ids *s, const char *text, struct arena *a, struct err *e); /* NULL: all */
void sample_ids_release(struct sample_ids *s);

/* Keeps the problems that are named, and of these the first `limit` (0: all). */
void sample_ids_filter(struct sample_ids *s, struct task *t, const char *label, int limit);
/* After all tasks were filtered: ERR_USAGE that names each entry that matched nothing. */
int sample_ids_check(const struct sample_ids *s, struct err *e);

#endif
