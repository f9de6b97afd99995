/* Prompt templates: files of tasks/prompts, compiled in. */
#include "tasks/prompt.h"

#include <string.h>

const char *task_prompt_text(const char *name)
{
    for (const struct prompt_text *p = prompt_texts; p->name; p++)
        if (!strcmp(p->name, name))
            return p->text;
    return NULL;
}

int list_has(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (n && !strncmp(p, name, n) && (p[n] == ',' || !p[n]))
            return 1;
    return 0;
}

int prompt_find(const char **text, const struct task *t, const char *family, struct err *e)
{
    const char *variants = t->ops->prompts, *wanted = t->options.prompt;
    int first = (int)strcspn(variants, ",");
    if (wanted && !list_has(variants, wanted))
        return err_set(e, ERR_USAGE, "task %s: unknown prompt variant \"%s\"; choose one of %s", t->ops->name,
                       wanted, variants);
    struct str name = {0};
    str_printf(&name, "%s_%.*s", family, wanted ? (int)strlen(wanted) : first, wanted ? wanted : variants);
    *text = task_prompt_text(name.data);
    int rc =
        *text ? 0
              : err_set(e, ERR_UNSUPPORTED, "task %s: the program was built without the prompt file %s.txt",
                        t->ops->name, name.data);
    str_release(&name);
    return rc;
}
