/* Parts of reading a task's object (contract: task_parse.h): tables, texts, names, paths and templates. */
#include "tasks/task_parse.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"

int task_parse_refuse(const struct task_parse *p, const char *key, const char *want)
{
    return err_set(p->e, ERR_USAGE, "%s: \"%s\" must be %s", p->f->where, key, want);
}

int task_parse_table(const struct task_parse *p, const char *key, const struct param *table, void *base,
                     const json_t *o)
{
    const char *name;
    json_t *v;
    char *where = arena_printf(p->arena, "%s: \"%s\"", p->f->where, key);
    param_defaults(table, base);
    if (o && !json_is_object(o))
        return task_parse_refuse(p, key, "an object");
    json_object_foreach((json_t *)o, name, v)
    {
        int rc = strcmp(name, "note") ? param_set_json(table, base, p->arena, name, v, where, p->e) : 0;
        if (!rc && json_is_string(v) && !json_string_length(v))
            rc = err_set(p->e, ERR_USAGE, "%s: \"%s\" is empty; remove it", where, name);
        if (rc)
            return rc;
    }
    return 0;
}

int task_file_table(const struct task_file *f, const char *key, const struct param *table, void *base,
                    const json_t *o, struct arena *a, struct err *e)
{
    struct task_parse p = {(struct task_file *)(uintptr_t)f, a, e};
    return task_parse_table(&p, key, table, base, o);
}

const char *task_parse_text(const struct task_parse *p, const json_t *v)
{
    const char *s = json_string_value(v);
    return s && strlen(s) == json_string_length(v) ? arena_strdup(p->arena, s) : NULL;
}

int task_parse_is_name(const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
    return n && !s[n] && n <= TASK_NAME_MAX && isalnum((unsigned char)*s);
}

/* A path of a task file names a file in the folder it counts from, or below. */
int task_file_check_path(const struct task_file *f, const char *key, const char *path, struct err *e)
{
    int leaves = *path == '/';
    for (const char *s = path; *s; s += strcspn(s, "/"), s += *s == '/')
        leaves |= !strncmp(s, "..", 2) && (!s[2] || s[2] == '/');
    if (!*path || leaves)
        return err_set(
            e, ERR_USAGE,
            "%s: \"%s\" is \"%.200s\"; it must be a path in the folder of the task file, without \"..\"; "
            "put the file there, or name it with \"file\" in the run file",
            f->where, key, path);
    return 0;
}

int task_file_check_link(const struct task_file *f, const char *key, const char *folder, const char *path,
                         struct err *e)
{
    struct str file = {0};
    file_join(&file, *folder ? folder : ".", path);
    char *inside = realpath(*folder ? folder : ".", NULL), *real = realpath(str_text(&file), NULL);
    size_t n = inside ? strlen(inside) : 0;
    int leaves = inside && real && n > 1 && (strncmp(real, inside, n) || real[n] != '/');
    str_release(&file);
    free(inside);
    free(real);
    return leaves ? err_set(e, ERR_USAGE,
                            "%s: \"%s\" is \"%.200s\", a link that leads out of its folder; put the file "
                            "there, or name its place with \"file\" in the run file",
                            f->where, key, path)
                  : 0;
}

const struct task_role *task_role_find(const struct task_kind *k, const char *name)
{
    for (const struct task_role *r = k->roles; r->name; r++)
        if (!strcmp(r->name, name))
            return r;
    return NULL;
}

const struct task_field *task_field_find(const struct task_file *f, const char *role)
{
    for (int i = 0; i < f->n_fields; i++)
        if (!strcmp(f->field[i].role, role))
            return &f->field[i];
    return NULL;
}

/* Roles that no kind fills: what is asked for stands in no prompt, but in examples; others are no texts, or
 * are for records alone. */
static int is_unfilled(const struct task_file *f, const char *name, int is_example)
{
    return task_role_find(f->kind, name) && list_has("answer,id,date,labels,options", name) &&
           !list_has(f->kind->template_fields, name) && !(is_example && !strcmp(name, "answer"));
}

/* May a template name it? */
static int is_template_field(const struct task_file *f, const char *name, int is_example)
{
    if (!strcmp(name, "examples"))
        return !is_example && f->few_shot.text;
    if (is_unfilled(f, name, is_example))
        return 0;
    return task_field_find(f, name) || list_has(f->kind->template_fields, name) ||
           (is_example && list_has(f->kind->example_fields, name));
}

/* A word of two or more small letters in braces names a field, unless it is the argument of a LaTeX command,
 * an exponent or doubled, as templates of other harnesses have it. Anything else in braces is text. */
int task_file_check_template(const struct task_file *f, const char *key, const char *text, int is_example,
                             struct err *e)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    for (const char *s = text; (s = strchr(s, '{')); s++) {
        size_t n = strspn(s + 1, letters);
        char before = s > text ? s[-1] : ' ', name[40];
        if (s[1 + n] != '}' || n < 2 || n >= sizeof name || isalnum((unsigned char)before) ||
            strchr("{}^_", before))
            continue;
        snprintf(name, sizeof name, "%.*s", (int)n, s + 1);
        if (is_template_field(f, name, is_example))
            continue;
        struct str known = {0};
        for (int i = 0; i < f->n_fields; i++)
            if (is_template_field(f, f->field[i].role, is_example))
                str_printf(&known, "%s{%s}", known.len ? ", " : "", f->field[i].role);
        int rc = err_set(e, ERR_USAGE,
                         "%s: \"%s\" names {%s}, which is no field of a prompt; there are %s%s%s, and "
                         "\"fields\" makes others of "
                         "further columns",
                         f->where, key, name, str_text(&known),
                         f->kind->template_fields ? ", and of the kind " : "",
                         f->kind->template_fields ? f->kind->template_fields : "");
        str_release(&known);
        return rc;
    }
    return 0;
}
