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

void prompt_fill(struct str *out, const char *text, const struct prompt_field *fields, int n_fields)
{
    while (*text) {
        size_t n = strcspn(text, "{");
        str_add(out, text, n);
        text += n;
        if (!*text)
            break;
        int k = 0;
        for (; k < n_fields; k++) {
            size_t len = strlen(fields[k].name);
            if (!strncmp(text + 1, fields[k].name, len) && text[1 + len] == '}')
                break;
        }
        if (k < n_fields) {
            str_add(out, fields[k].text, fields[k].len);
            text += strlen(fields[k].name) + 2;
        } else {
            str_putc(out, *text++);
        }
    }
}
