#ifndef TASKS_TASK_GROUP_H
#define TASKS_TASK_GROUP_H

#include <stddef.h>

/* Names that stand for several tasks in a run file. */
enum { TASK_GROUP_MAX = 4 };
struct task_group {
    const char *name, *help;
    struct task_group_member {
        const char *task, *subset; /* subset NULL: the whole */
    } member[TASK_GROUP_MAX];      /* ends with task NULL, or is full */
};

const struct task_group *task_group_at(size_t i); /* NULL past the end */
const struct task_group *task_group_find(const char *name);

#endif
