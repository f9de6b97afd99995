#ifndef TASKS_PROMPT_H
#define TASKS_PROMPT_H

#include "evalcore/base/prompt_fill.h"
#include "tasks/task.h"

struct prompt_text {
    const char *name, *text;
};
extern const struct prompt_text prompt_texts[]; /* generated from tasks/prompts; ends with name NULL */

/* Is the name one of the comma-separated list? Of NULL nothing is. */
int list_has(const char *list, const char *name);

/* The template FAMILY_VARIANT that the task's options ask for: their variant, or the first of ops->prompts.
 * An unknown variant is an error that lists the known ones. */
int prompt_find(const char **text, const struct task *t, const char *family, struct err *e);

#endif
