/* Groups of tasks (contract: task_group.h). */
#include "tasks/task_group.h"

#include <string.h>

static const struct task_group groups[] = {
    {"mixed120",
     "30 problems each of aime24, aime25, gpqa_diamond and math500, as in DELTA (arXiv 2510.09883 v2)",
     {{"aime24", NULL}, {"aime25", NULL}, {"gpqa_diamond", "first30"}, {"math500", "first30"}}},
};

const struct task_group *task_group_at(size_t i)
{
    return i < sizeof groups / sizeof *groups ? &groups[i] : NULL;
}

const struct task_group *task_group_find(const char *name)
{
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (!strcmp(groups[i].name, name))
            return &groups[i];
    return NULL;
}
