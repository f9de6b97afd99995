/* The tasks of a run file (contract: runfile.h): axes, labels that tell them apart, --tasks. */
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/runfile/runfile_parts.h"
#include "tasks/task.h"

static int takes_no_list(const char *key)
{
    (void)key;
    return 0;
}

static int read_task_point(struct runfile *r, struct runfile_task *t, const json_t *o, const char *swept,
                           struct err *e)
{
    static const char *const others[] = {"name", "as", NULL};
    const char *key, *as = json_string_value(json_object_get(o, "as"));
    json_t *v;
    param_defaults(task_params, &t->options);
    json_object_foreach((json_t *)o, key, v)
    {
        if (!strcmp(key, "name") || !strcmp(key, "as"))
            continue;
        if (!param_find(task_params, key))
            return runfile_unknown(t->where, key, task_params, others, e);
        int rc = param_set_json(task_params, &t->options, &r->arena, key, v, t->where, e);
        if (rc)
            return rc;
    }
    task_options_default(t->ops, &t->options);
    t->label = arena_printf(&r->arena, "%s%s%s", as ? as : task_short_name(t->ops), *swept ? " " : "", swept);
    return 0;
}

/* A name with a folder or the ending of a task file is a path. */
static int is_path(const char *name)
{
    size_t n = strlen(name);
    return strchr(name, '/') || (n > 5 && !strcmp(name + n - 5, ".json"));
}

static const char *path_of(struct runfile *r, const char *name)
{
    struct str path = {0};
    file_join(&path, r->dir, name);
    const char *kept = arena_strdup(&r->arena, str_text(&path));
    str_release(&path);
    return kept;
}

/* What an entry with "kind" is called: its "as", else the name of its file without folder and ending; with
 * "_" for blanks, which a label may have and a name may not. */
static const char *name_of_inline(struct runfile *r, const json_t *o)
{
    const char *as = json_string_value(json_object_get(o, "as"));
    const char *file = json_string_value(json_object_get(o, "file"));
    const char *slash = file ? strrchr(file, '/') : NULL, *base = slash ? slash + 1 : file;
    const char *dot = base ? strrchr(base, '.') : NULL;
    if (!as && !file)
        return "task";
    char *name = as ? arena_strdup(&r->arena, as)
                    : arena_strndup(&r->arena, base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
    for (char *p = name; *p; p++)
        *p = *p == ' ' ? '_' : *p;
    return name;
}

/* A task that the run file describes itself. Its keys leave the entry; what stays are options. */
static int take_inline(const struct task_ops **ops, struct runfile *r, json_t *o, const char *where,
                       struct err *e)
{
    const char *key;
    json_t *v, *own = json_object();
    void *next;
    json_object_foreach_safe(o, next, key, v)
    {
        if (!task_is_file_key(key))
            continue;
        json_object_set(own, key, v);
        json_object_del(o, key);
    }
    int rc = json_object_get(o, "file") && json_object_get(json_object_get(own, "rows"), "file")
                 ? err_set(e, ERR_USAGE,
                           "%s: \"file\" and \"rows.file\" both name the rows; remove one of the two", where)
                 : task_read_object(ops, own, json_string_value(json_object_get(o, "name")), where, r->dir,
                                    &r->arena, e);
    json_decref(own);
    return rc;
}

static int find_ops(const struct task_ops **ops, struct runfile *r, json_t *o, const char *where,
                    struct err *e)
{
    const char *name = json_string_value(json_object_get(o, "name"));
    int rc = 0;
    if (json_object_get(o, "kind"))
        return take_inline(ops, r, o, where, e);
    if (is_path(name))
        rc = task_read_file(ops, path_of(r, name), &r->arena, e);
    else if (!(*ops = task_find(name)))
        rc = task_unknown(name, e);
    if (rc)
        err_add(e, "%s", where);
    return rc;
}

static int read_task(struct runfile *r, const json_t *v, size_t i, struct err *e)
{
    struct axis_points points = {0};
    const struct task_ops *ops = NULL;
    const char *where;
    json_t *named = json_is_object(v) ? json_copy((json_t *)v) : json_incref((json_t *)v);
    if (json_object_get(v, "kind") && !json_object_get(v, "name"))
        json_object_set_new(named, "name", json_string_nocheck(name_of_inline(r, v)));
    json_t *o = runfile_entry(named, "tasks", i, "task", &where, r, e);
    json_decref(named);
    if (!o)
        return ERR_USAGE;
    int rc = find_ops(&ops, r, o, where, e);
    const char *name = rc ? NULL : ops->name;
    runfile_rebase_files(r, o, task_params);
    if (!rc)
        rc = axes_expand(&points, o, takes_no_list, where, &r->arena, e);
    for (size_t p = 0; p < points.n && !rc; p++) {
        size_t cap = (size_t)r->n_tasks; /* grown by one: run files are small */
        r->tasks = xrealloc(r->tasks, (cap + 1) * sizeof *r->tasks);
        struct runfile_task *t = &r->tasks[r->n_tasks++];
        *t = (struct runfile_task){.name = name, .ops = ops, .where = where};
        rc = read_task_point(r, t, points.point[p].object, points.point[p].swept, e);
    }
    axes_release(&points);
    json_decref(o);
    return rc;
}

/* A group stands for its tasks; the entry's other keys go to each of them. */
static int read_group(struct runfile *r, const struct task_group *g, const json_t *v, size_t i, struct err *e)
{
    int rc = 0;
    if (json_object_get(v, "subset") || json_object_get(v, "as"))
        return err_set(e, ERR_USAGE,
                       "%s: tasks.%zu: %s is a group of tasks, which takes neither \"subset\" nor "
                       "\"as\"; write its tasks instead (%s)",
                       r->path, i, g->name, g->help);
    for (int k = 0; k < TASK_GROUP_MAX && g->member[k].task && !rc; k++) {
        json_t *o = json_is_object(v) ? json_copy((json_t *)v) : json_object();
        json_object_set_new(o, "name", json_string(g->member[k].task));
        if (g->member[k].subset)
            json_object_set_new(o, "subset", json_string(g->member[k].subset));
        rc = read_task(r, o, i, e);
        json_decref(o);
    }
    return rc;
}

static const struct task_group *group_of(const json_t *v)
{
    const char *name = json_string_value(json_is_object(v) ? json_object_get(v, "name") : v);
    return name ? task_group_find(name) : NULL;
}

static int same_task(const struct runfile_task *a, const struct runfile_task *b)
{
    if (a->ops != b->ops && (strcmp(a->ops->name, b->ops->name) || strcmp(a->ops->version, b->ops->version)))
        return 0;
    json_t *ja = param_json(task_params, &a->options), *jb = param_json(task_params, &b->options);
    int same = json_equal(ja, jb);
    json_decref(ja);
    json_decref(jb);
    return same;
}

/* The option's value as a label shows it: of a file, the name is enough where it differs. */
static void option_label(struct str *out, const struct runfile_task *t, const struct param *p)
{
    struct str text = {0};
    param_text(p, &t->options, &text);
    const char *slash = p->type == PARAM_FILE ? strrchr(str_text(&text), '/') : NULL;
    str_puts(out, slash && slash[1] ? slash + 1 : str_text(&text));
    str_release(&text);
}

/* Does some other task of this label have another value of the option? */
static int option_differs(const struct runfile *r, int i, const struct param *p, int in_full)
{
    int differs = 0;
    for (int k = 0; k < r->n_tasks && !differs; k++) {
        struct str a = {0}, b = {0};
        if (k != i && !strcmp(r->tasks[k].label, r->tasks[i].label)) {
            if (in_full) {
                param_text(p, &r->tasks[i].options, &a);
                param_text(p, &r->tasks[k].options, &b);
            } else {
                option_label(&a, &r->tasks[i], p);
                option_label(&b, &r->tasks[k], p);
            }
            differs = strcmp(str_text(&a), str_text(&b)) != 0;
        }
        str_release(&a);
        str_release(&b);
    }
    return differs;
}

static const char *told_apart(struct runfile *r, int i, int in_full)
{
    struct str text = {0};
    const struct runfile_task *t = &r->tasks[i];
    str_puts(&text, t->label);
    for (const struct param *p = task_params; p->name; p++) {
        if (!param_is_set(p, &t->options) || !option_differs(r, i, p, in_full))
            continue;
        str_printf(&text, " %s=", p->name);
        if (in_full)
            param_text(p, &t->options, &text);
        else
            option_label(&text, t, p);
    }
    const char *kept = arena_strdup(&r->arena, str_text(&text));
    str_release(&text);
    return kept;
}

/* Entries of one name that differ in a scalar would carry the same label and hide each other in tables: the
 * options that differ go into it. A later round serves files of the same name in different folders, and
 * labels that became another entry's. */
static void tell_tasks_apart(struct runfile *r)
{
    enum { ROUNDS = 3 };
    for (int round = 0; round < ROUNDS; round++) {
        const char **label = arena_alloc(&r->arena, (size_t)r->n_tasks * sizeof *label);
        for (int i = 0; i < r->n_tasks; i++)
            label[i] = told_apart(r, i, round > 0);
        for (int i = 0; i < r->n_tasks; i++)
            r->tasks[i].label = label[i];
    }
}

int runfile_read_tasks(struct runfile *r, const json_t *list, struct err *e)
{
    size_t i;
    const json_t *v;
    if (!json_is_array(list) || !json_array_size(list))
        return err_set(e, ERR_USAGE, "%s: \"tasks\" must be a list with at least one task", r->path);
    json_array_foreach((json_t *)list, i, v)
    {
        const struct task_group *g = group_of(v);
        int rc = g ? read_group(r, g, v, i, e) : read_task(r, v, i, e);
        if (rc)
            return rc;
    }
    for (int b = 1; b < r->n_tasks; b++)
        for (int a = 0; a < b; a++)
            if (same_task(&r->tasks[a], &r->tasks[b]))
                return err_set(e, ERR_USAGE, "%s is the same as %s; remove one of them", r->tasks[b].where,
                               strrchr(r->tasks[a].where, ':') + 2);
    for (int b = 1; b < r->n_tasks; b++)
        for (int a = 0; a < b; a++)
            if (!strcmp(r->tasks[a].name, r->tasks[b].name) &&
                strcmp(r->tasks[a].ops->version, r->tasks[b].ops->version))
                return err_set(e, ERR_USAGE,
                               "%s is called \"%s\" as %s is, which is another task; give one of them "
                               "another name",
                               r->tasks[b].where, r->tasks[b].name, strrchr(r->tasks[a].where, ':') + 2);
    tell_tasks_apart(r);
    return 0;
}

/* --tasks a,b keeps tasks by name or label. */
int runfile_keep_tasks(struct runfile *r, const char *wanted, struct err *e)
{
    int kept = 0;
    char *keep = arena_alloc(&r->arena, (size_t)r->n_tasks);
    while (*wanted) {
        size_t n = strcspn(wanted, ",");
        const char *name = arena_strndup(&r->arena, wanted, n);
        int found = 0;
        for (int i = 0; i < r->n_tasks; i++)
            if (!strcmp(r->tasks[i].name, name) || !strcmp(r->tasks[i].label, name))
                found = keep[i] = 1;
        if (n && !found)
            return err_set(e, ERR_USAGE, "--tasks: \"%s\" is not a task of %s", name, r->path);
        wanted += n + (wanted[n] == ',');
    }
    for (int i = 0; i < r->n_tasks; i++)
        if (keep[i])
            r->tasks[kept++] = r->tasks[i];
    r->n_tasks = kept;
    if (!kept)
        return err_set(e, ERR_USAGE, "--tasks names no task");
    return 0;
}
