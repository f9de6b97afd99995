#ifndef TASKS_TASK_LIST_H
#define TASKS_TASK_LIST_H

#include "tasks/task.h"

/* Limits of options, shared by the loaders and the table in task.c. */
enum {
    TASK_PROBLEMS_MAX = 1000000,
    POCKET_STEPS_MIN = 3,
    POCKET_STEPS_MAX = 600,
    RULER_TOKENS_MIN = 256,
    RULER_TOKENS_MAX = 1 << 20,
    RULER_CHAINS_MAX = 100,
    RULER_HOPS_MAX = 9,
    TEXT_WINDOW_MAX = 1 << 24,
    TASK_EXAMPLES_MAX = 64
};

/* The tasks that are C. To add one, write a file that defines `const struct task_ops task_NAME`, and put
 * X(NAME) here. A task that is data and no more is a file in tasks/sets. */
#define TASKS(X) X(relay) X(choice) X(algebra) X(lookup) X(gpqa_diamond) X(longbench) X(ruler) X(text)

#define X(name) extern const struct task_ops task_##name;
TASKS(X)
#undef X

#endif
