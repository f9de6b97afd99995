#ifndef TASKS_TASK_LIST_H
#define TASKS_TASK_LIST_H

#include "tasks/task.h"

/* What the files of this folder share with the table in task.c. */
enum { TASK_PROBLEMS_MAX = 1000000, POCKET_STEPS_MIN = 3, POCKET_STEPS_MAX = 600 };

extern const struct task_ops task_relay, task_choice, task_algebra, task_lookup;
extern const struct task_ops task_aime24, task_aime25, task_math500;
extern const struct task_ops task_gpqa_diamond;
extern const struct task_ops task_longbench;

#endif
