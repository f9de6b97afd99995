#ifndef TASKS_KNOWN_SET_H
#define TASKS_KNOWN_SET_H

#include "tasks/task.h"

/* Compares loaded problems with what is known of the published file (struct known_set in task.h) and keeps
 * those of the subset that the options name. A damaged copy is refused: its results would be taken for
 * others'. */
int known_check(struct task *t, const char *path, struct err *e);

#endif
