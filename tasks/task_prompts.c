/* The prompts of a task's object (contract: task_parse.h). */
#include <string.h>

#include "tasks/task_parse.h"

/* A text without braces names one of the program's templates. */
static int read_template(const struct task_parse *p, const char *key, const char **out, const json_t *v)
{
    const char *text = task_parse_text(p, v);
    if (!text || !*text)
        return task_parse_refuse(p, key, "a template, or the name of one of the program");
    *out = strchr(text, '{') ? text : task_prompt_text(text);
    if (!*out)
        return err_set(p->e, ERR_USAGE,
                       "%s: \"%s\" is \"%.80s\", which is no template of the program (tasks/prompts); an own "
                       "one has {problem} where "
                       "the problem goes",
                       p->f->where, key, text);
    text = *out;
    if (!strstr(text, "{problem}"))
        return err_set(p->e, ERR_USAGE, "%s: \"%s\" has no {problem}, so that nothing would be asked",
                       p->f->where, key);
    return task_file_check_template(p->f, key, text, 0, p->e);
}

static int check_option(const struct task_parse *p, const char *key, const char *option)
{
    int is_scored = p->f->kind->option_metrics && option && strstr(option, "{letter}");
    if (!option || (!is_scored && !strstr(option, "{text}") && !strstr(option, "{raw}")))
        return task_parse_refuse(p, key, "an object whose \"option\" has {text} or {raw}");
    for (const char *s = strchr(option, '{'); s; s = strchr(s + 1, '{'))
        if (strncmp(s, "{text}", 6) && strncmp(s, "{raw}", 5) && strncmp(s, "{letter}", 8))
            return err_set(p->e, ERR_USAGE,
                           "%s: \"%s\": \"option\" can have {letter}, {text} and {raw}, not \"%.20s\"",
                           p->f->where, key, s);
    return 0;
}

static int add_prompt(const struct task_parse *p, const char *name, const json_t *v)
{
    struct task_file *f = p->f;
    char *key = arena_printf(p->arena, "prompts.%.80s", name);
    struct task_prompt *prompt = &f->prompt[f->n_prompts];
    int rc = 0;
    if (f->n_prompts == TASK_PROMPTS_MAX)
        return err_set(p->e, ERR_USAGE, "%s: \"prompts\" has more than %d variants", f->where,
                       TASK_PROMPTS_MAX);
    if (!task_parse_is_name(name))
        return err_set(p->e, ERR_USAGE,
                       "%s: \"prompts\" has \"%.80s\"; a variant's name has letters, digits, \".\", "
                       "\"_\" and \"-\"",
                       f->where, name);
    *prompt = (struct task_prompt){.name = arena_strdup(p->arena, name)};
    if (!json_is_object(v)) {
        rc = read_template(p, key, &prompt->text, v);
    } else {
        const char *part;
        json_t *w;
        json_object_foreach((json_t *)v, part, w)
        {
            const char *option = !strcmp(part, "option") ? task_parse_text(p, w) : NULL;
            if (!strcmp(part, "text"))
                rc = read_template(p, key, &prompt->text, w);
            else if (!strcmp(part, "option"))
                rc = check_option(p, key, option);
            else if (strcmp(part, "note"))
                rc = err_set(p->e, ERR_USAGE, "%s: \"%s\": unknown key \"%.80s\"; known are text, option",
                             f->where, key, part);
            if (option)
                prompt->option = option;
            if (rc)
                return rc;
        }
        if (!prompt->text)
            rc = task_parse_refuse(p, key, "a template or an object with \"text\"");
    }
    f->n_prompts += !rc;
    return rc;
}

/* Examples that no prompt shows would be none. */
static int check_examples(const struct task_parse *p)
{
    int n = 0;
    for (int i = 0; i < p->f->n_prompts; i++)
        n += strstr(p->f->prompt[i].text, "{examples}") != NULL;
    if (n || !p->f->few_shot.count)
        return 0;
    return err_set(p->e, ERR_USAGE,
                   "%s: \"few_shot\" has examples and no prompt says {examples}, which is where they go",
                   p->f->where);
}

int task_parse_prompts(const struct task_parse *p, const json_t *given)
{
    const char *name, *usual = p->f->kind->prompts;
    json_t *v, *o = NULL;
    int rc = 0;
    if (given && (!json_is_object(given) || !json_object_size(given)))
        return task_parse_refuse(p, "prompts", "an object of variants, the default first");
    if (!given && !usual)
        return err_set(p->e, ERR_USAGE, "%s: \"prompts\" is missing; the kind %s has no prompt of its own",
                       p->f->where, p->f->kind->name);
    if (!given)
        rc = json_read_text(&o, usual, strlen(usual), p->f->kind->name, p->e);
    json_object_foreach(given ? (json_t *)given : o, name, v)
    {
        if (!rc && strcmp(name, "note"))
            rc = add_prompt(p, name, v);
    }
    json_decref(o);
    if (!rc && !p->f->n_prompts)
        rc = task_parse_refuse(p, "prompts", "an object of variants, the default first");
    return rc ? rc : check_examples(p);
}
