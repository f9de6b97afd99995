/* All tasks by name: those that are C, those that are files of the program, groups of them, and files of
 * somebody's own. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "tasks/task_file.h"
#include "tasks/task_list.h"
#include "tasks/task_parse.h"

static const struct task_ops *const coded[] = {
#define X(name) &task_##name,
    TASKS(X)
#undef X
};
enum { N_CODED = sizeof coded / sizeof coded[0], TASKS_MAX = 256 };

/* The files of tasks/sets, read once and never changed or freed: what they hold is as constant as the C
 * beside it, and the program must not read them for each completion that it grades. */
static pthread_once_t read_once = PTHREAD_ONCE_INIT;
static struct {
    struct arena arena;
    const struct task_ops *ops[TASKS_MAX];
    size_t n;
    struct task_ops of_kind[16]; /* a kind for any task, and a NULL behind them */
} sets;

static void read_sets(void)
{
    for (const struct prompt_text *s = task_texts; s->name; s++) {
        struct task_file *f = arena_alloc(&sets.arena, sizeof *f);
        struct err e = {0};
        json_t *o = NULL;
        char *where = arena_printf(&sets.arena, "tasks/sets/%s.json", s->name);
        int rc = json_read_text(&o, s->text, strlen(s->text), where, &e);
        if (!rc)
            rc = task_file_parse(f, o, where, NULL, &sets.arena, &e);
        if (rc)
            fprintf(stderr, "%s\n", e.text);
        assert(!rc && !strcmp(f->name, s->name) && f->version && sets.n < TASKS_MAX);
        sets.ops[sets.n++] = &f->ops;
        json_decref(o);
    }
    const struct task_kind *k;
    for (size_t i = 0; (k = task_kind_at(i)); i++)
        sets.of_kind[i] = (struct task_ops){.name = k->name,
                                            .help = k->help,
                                            .version = "",
                                            .metric = k->metric,
                                            .grades_math = k->grades_math,
                                            .grade = k->grade,
                                            .check_machine = k->check_machine,
                                            .grade_seconds = k->grade_seconds,
                                            .kind = k->name};
}

const struct task_ops *task_at(size_t i)
{
    pthread_once(&read_once, read_sets);
    return i < N_CODED ? coded[i] : i - N_CODED < sets.n ? sets.ops[i - N_CODED] : NULL;
}

const struct task_ops *task_find(const char *name)
{
    const struct task_ops *ops;
    for (size_t i = 0; (ops = task_at(i)); i++)
        if (!strcmp(ops->name, name))
            return ops;
    return NULL;
}

const char *task_short_name(const struct task_ops *ops)
{
    return ops->short_name ? ops->short_name : ops->name;
}

const struct task_ops *task_of_run(const char *name, const char *kind)
{
    const struct task_ops *ops;
    for (size_t i = 0; !kind && (ops = task_at(i)); i++)
        if (!strcmp(task_short_name(ops), name))
            return ops;
    if (!kind)
        return NULL;
    pthread_once(&read_once, read_sets);
    for (size_t i = 0; sets.of_kind[i].name; i++)
        if (!strcmp(sets.of_kind[i].name, kind))
            return &sets.of_kind[i];
    return NULL;
}

/* The task that had this name before pocket's got theirs; NULL: none. */
static const struct task_ops *renamed(const char *name)
{
    const struct task_ops *ops;
    for (size_t i = 0; (ops = task_at(i)); i++)
        if (ops->short_name && !strcmp(ops->short_name, name))
            return ops;
    return NULL;
}

int task_unknown(const char *name, struct err *e)
{
    const char *names[TASKS_MAX + 2 * N_CODED + 1] = {0};
    size_t n = 0;
    struct str known = {0};
    const struct task_ops *ops = renamed(name);
    if (ops)
        return err_set(
            e, ERR_USAGE, "the task \"%s\" is called \"%s\" now; write that%s", name, ops->name,
            task_kind_find(name) ? ", or {\"kind\": \"choice\", \"file\": ...} for rows of your own" : "");
    for (size_t i = 0; (ops = task_at(i)); i++) {
        names[n++] = ops->name;
        if (ops->short_name)
            names[n++] = ops->short_name;
        str_printf(&known, "%s%s", i ? ", " : "", ops->name);
    }
    const char *near = str_nearest(name, names);
    ops = near ? task_of_run(near, NULL) : NULL;
    near = ops ? ops->name : near;
    int rc = near ? err_set(e, ERR_USAGE, "unknown task \"%.80s\"; did you mean \"%s\"?", name, near)
                  : err_set(e, ERR_USAGE, "unknown task \"%.80s\"; known are %s", name, known.data);
    str_release(&known);
    return rc;
}

/* ---- groups */

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

/* ---- files of somebody's own */

int task_read_object(const struct task_ops **out, const json_t *o, const char *name, const char *where,
                     const char *dir, struct arena *a, struct err *e)
{
    struct task_file *f = arena_alloc(a, sizeof *f);
    *out = NULL;
    if (name && !json_object_get(o, "name") && !task_parse_is_name(name))
        return err_set(
            e, ERR_USAGE,
            "%s: the task would be called \"%.80s\"; write \"as\" with a name of it: 1 to %d letters, "
            "digits, \".\", \"_\" and \"-\", the first a letter or digit",
            where, name, TASK_NAME_MAX);
    json_t *named = json_copy((json_t *)o);
    if (name && json_is_object(named) && !json_object_get(named, "name"))
        json_object_set_new(named, "name", json_string(name));
    int rc = task_file_parse(f, named, where, dir, a, e);
    json_decref(named);
    const struct task_ops *own = rc ? NULL : task_find(f->name);
    if (own && own->fields)
        rc = err_set(
            e, ERR_USAGE,
            "%s: \"%s\" is a name of kveval's own; give your task another one, or write {\"name\": \"%s\", "
            "\"file\": ...} in the run file if your rows are of that task",
            where, f->name, f->name);
    else if (!rc &&
             (own || task_of_run(f->name, NULL) || task_group_find(f->name) || task_kind_find(f->name)))
        rc = err_set(e, ERR_USAGE, "%s: \"%s\" is a name of kveval's own, %s; give your task another one%s",
                     where, f->name,
                     task_group_find(f->name)  ? "of a group of tasks"
                     : task_kind_find(f->name) ? "of a kind of tasks"
                                               : "of problems that are generated",
                     name ? ", with \"as\"" : "");
    *out = rc ? NULL : &f->ops;
    return rc;
}

/* Is the file one of rows, by its ending or by what was read or not read of it? */
static int is_rows(const char *path, const json_t *o, const struct err *e)
{
    const char *dot = strrchr(path, '.');
    int has_ending = dot && (!strcmp(dot, ".jsonl") || !strcmp(dot, ".csv") || !strcmp(dot, ".tsv"));
    if (o)
        return json_is_array(o) || (has_ending && !json_object_get(o, "kind"));
    return e->code == ERR_FORMAT && (has_ending || strstr(e->text, "end of file expected near '{'"));
}

int task_read_file(const struct task_ops **out, const char *path, struct arena *a, struct err *e)
{
    const char *slash = strrchr(path, '/');
    const char *dir = slash ? arena_strndup(a, path, (size_t)(slash - path) + (slash == path)) : "";
    json_t *o = NULL;
    *out = NULL;
    struct err bad = {0};
    int rc = json_read_written(&o, path, &bad);
    if (is_rows(path, o, &bad))
        rc = err_set(
            e, ERR_USAGE,
            "%s has rows, it seems, and is no task file; `kveval init --data %s` writes a run file for "
            "them, or name them in an entry: {\"kind\": ..., \"file\": \"%s\"}",
            path, path, path);
    else if (rc)
        err_set(e, rc, "%s", bad.text);
    if (!rc)
        rc = task_read_object(out, o, NULL, path, dir, a, e);
    json_decref(o);
    return rc;
}

int task_is_own(const struct task_ops *ops)
{
    return ops->file && ops->file->dir;
}

const char *task_definition(const struct task_ops *ops)
{
    return task_is_own(ops) ? ops->file->written : NULL;
}
