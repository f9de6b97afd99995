/* Run files (contract: runfile.h): strict reading of the top level, tasks and generation settings. Policies
 * are in runfile_policies.c. Every message starts with the file and the place in it, written as --set would
 * write it. */
#include "evalcore/runfile/runfile.h"

#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "evalcore/base/file.h"
#include "evalcore/runfile/axes.h"
#include "evalcore/runfile/overrides.h"
#include "evalcore/runfile/runfile_parts.h"

static void strip_notes(json_t *v)
{
    size_t i;
    const char *key;
    json_t *child;
    if (json_is_object(v)) {
        json_object_del(v, "note");
        json_object_foreach(v, key, child) strip_notes(child);
    }
    if (json_is_array(v))
        json_array_foreach(v, i, child) strip_notes(child);
}

static int takes_stop(const char *key)
{
    return !strcmp(key, "stop");
}

static int takes_no_list(const char *key)
{
    (void)key;
    return 0;
}

int runfile_unknown(const char *where, const char *key, const struct param *params, const char *const *others,
                    struct err *e)
{
    const char *names[96] = {0};
    size_t n = 0;
    for (; others && *others && n < 95; others++)
        names[n++] = *others;
    for (; params && params->name && n < 95; params++)
        names[n++] = params->name;
    const char *near = str_nearest(key, names);
    if (near)
        return err_set(e, ERR_USAGE, "%s: unknown key \"%s\"; did you mean \"%s\"?", where, key, near);
    struct str known = {0};
    for (size_t i = 0; i < n; i++)
        str_printf(&known, "%s%s", i ? ", " : "", names[i]);
    int rc = err_set(e, ERR_USAGE, "%s: unknown key \"%s\"; known are %s", where, key, str_text(&known));
    str_release(&known);
    return rc;
}

static json_t *rebased(const struct runfile *r, const json_t *v)
{
    struct str joined = {0};
    size_t i;
    json_t *item, *out;
    if (json_is_array(v)) { /* an axis of files */
        out = json_array();
        json_array_foreach((json_t *)v, i, item) json_array_append_new(out, rebased(r, item));
        return out;
    }
    if (!json_is_string(v))
        return json_incref((json_t *)v);
    const char *path = json_string_value(v), *shape = engine_random_config(path);
    str_add(&joined, path, shape ? (size_t)(shape - path) : 0);
    file_join(&joined, r->dir, shape ? shape : path);
    out = json_string_nocheck(str_text(&joined)); /* file names are bytes */
    str_release(&joined);
    return out;
}

void runfile_rebase(const struct runfile *r, json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    if (v)
        json_object_set_new(o, key, rebased(r, v));
}

void runfile_rebase_files(const struct runfile *r, json_t *o, const struct param *t)
{
    for (; t && t->name; t++)
        if (t->type == PARAM_FILE)
            runfile_rebase(r, o, t->name);
}

json_t *runfile_entry(const json_t *v, const char *list, size_t i, const char *kind, const char **where,
                      struct runfile *r, struct err *e)
{
    *where = arena_printf(&r->arena, "%s: %s.%zu", r->path, list, i);
    json_t *o = json_is_string(v)   ? json_pack("{s:O}", "name", v)
                : json_is_object(v) ? json_copy((json_t *)v)
                                    : NULL;
    const json_t *name = o ? json_object_get(o, "name") : NULL;
    const json_t *as = o ? json_object_get(o, "as") : NULL;
    if (!json_is_string(name))
        err_set(e, ERR_USAGE, "%s: a %s is a name or an object with a \"name\"", *where, kind);
    else if (as && (!json_is_string(as) || !*json_string_value(as)))
        err_set(e, ERR_USAGE, "%s: \"as\" must be a non-empty string", *where);
    else {
        *where = arena_printf(&r->arena, "%s (%s)", *where, json_string_value(name));
        return o;
    }
    json_decref(o);
    return NULL;
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
    t->label = arena_printf(&r->arena, "%s%s%s", as ? as : t->name, *swept ? " " : "", swept);
    return 0;
}

static int read_task(struct runfile *r, const json_t *v, size_t i, struct err *e)
{
    struct axis_points points = {0};
    const char *where;
    json_t *o = runfile_entry(v, "tasks", i, "task", &where, r, e);
    if (!o)
        return ERR_USAGE;
    const char *name = arena_strdup(&r->arena, json_string_value(json_object_get(o, "name")));
    const struct task_ops *ops = task_find(name);
    int rc = 0;
    if (!ops) {
        rc = task_unknown(name, e);
        err_add(e, "%s", where);
    }
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

static int same_task(const struct runfile_task *a, const struct runfile_task *b)
{
    if (a->ops != b->ops)
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

static int read_tasks(struct runfile *r, const json_t *list, struct err *e)
{
    size_t i;
    const json_t *v;
    if (!json_is_array(list) || !json_array_size(list))
        return err_set(e, ERR_USAGE, "%s: \"tasks\" must be a list with at least one task", r->path);
    json_array_foreach((json_t *)list, i, v)
    {
        int rc = read_task(r, v, i, e);
        if (rc)
            return rc;
    }
    for (int b = 1; b < r->n_tasks; b++)
        for (int a = 0; a < b; a++)
            if (same_task(&r->tasks[a], &r->tasks[b]))
                return err_set(e, ERR_USAGE, "%s is the same as %s; remove one of them", r->tasks[b].where,
                               strrchr(r->tasks[a].where, ':') + 2);
    tell_tasks_apart(r);
    return 0;
}

static int read_settings(struct runfile *r, const json_t *root, struct err *e)
{
    struct axis_points points = {0};
    const char *key;
    json_t *v, *o = json_object();
    int rc;
    json_object_foreach((json_t *)root, key, v) if (settings_known(key)) json_object_set(o, key, v);
    rc = axes_expand(&points, o, takes_stop, r->path, &r->arena, e);
    r->settings = xcalloc(points.n + 1, sizeof *r->settings);
    for (size_t p = 0; p < points.n && !rc; p++) {
        struct runfile_settings *s = &r->settings[r->n_settings++];
        s->swept = points.point[p].swept;
        settings_defaults(&s->s);
        json_object_foreach(points.point[p].object, key, v)
        {
            rc = settings_set(&s->s, &r->arena, key, v, r->path, e);
            if (rc)
                break;
        }
    }
    axes_release(&points);
    json_decref(o);
    return rc;
}

/* --tasks a,b keeps tasks by name or label. */
static int keep_tasks(struct runfile *r, const char *wanted, struct err *e)
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

static int check_keys(const struct runfile *r, const json_t *root, struct err *e)
{
    static const char *const ours[] = {"model", "tasks", "policies", "baseline", "stop", "note", NULL};
    const char *key;
    json_t *v;
    json_object_foreach((json_t *)root, key, v)
    {
        int known = settings_known(key);
        for (int i = 0; ours[i]; i++)
            known |= !strcmp(key, ours[i]);
        if (!known)
            return runfile_unknown(r->path, key, settings_params, ours, e);
    }
    return 0;
}

static int read_model(struct runfile *r, json_t *root, const char *override, struct err *e)
{
    const json_t *v = json_object_get(root, "model");
    if (v && !json_is_string(v))
        return err_set(e, ERR_USAGE, "%s: \"model\" must be \"pocket\" or the path of a model folder",
                       r->path);
    if (!v && !override)
        return err_set(e, ERR_USAGE, "%s: \"model\" is missing: \"pocket\" or the path of a model folder",
                       r->path);
    if (!override && !*json_string_value(v))
        return err_set(e, ERR_USAGE, "%s: \"model\" is empty", r->path);
    if (override) {
        r->model = arena_strdup(&r->arena, override);
    } else {
        if (strcmp(json_string_value(v), "pocket"))
            runfile_rebase(r, root, "model");
        r->model = arena_strdup(&r->arena, json_string_value(json_object_get(root, "model")));
    }
    return 0;
}

static int read_root(struct runfile *r, json_t *root, const struct runfile_options *o, struct err *e)
{
    int rc = 0;
    if (!json_is_object(root))
        return err_set(e, ERR_USAGE, "%s: a run file is a JSON object", r->path);
    for (int i = 0; o->set && i < o->set->n && !rc; i++)
        rc = override_set(root, o->set->v[i], e);
    strip_notes(root);
    if (!rc)
        rc = check_keys(r, root, e);
    if (!rc)
        rc = read_model(r, root, o->model, e);
    if (!rc)
        rc = read_settings(r, root, e);
    if (!rc)
        rc = read_tasks(r, json_object_get(root, "tasks"), e);
    if (!rc)
        rc = runfile_read_policies(r, json_object_get(root, "policies"), e);
    if (!rc)
        rc = runfile_read_baseline(r, json_object_get(root, "baseline"), e);
    if (!rc && o->tasks)
        rc = keep_tasks(r, o->tasks, e);
    return rc;
}

int runfile_load(struct runfile *out, const char *path, const struct runfile_options *o, struct err *e)
{
    memset(out, 0, sizeof *out);
    const char *slash = strrchr(path, '/');
    out->path = arena_strdup(&out->arena, path);
    out->dir = slash ? arena_strndup(&out->arena, path, (size_t)(slash - path) + (slash == path)) : "";
    int rc = json_read_file(&out->source, path, e);
    if (!rc)
        rc = read_root(out, out->source, o, e);
    if (rc)
        runfile_release(out);
    return rc;
}

void runfile_release(struct runfile *r)
{
    json_decref(r->source);
    free(r->tasks);
    free(r->policies);
    free(r->settings);
    arena_release(&r->arena);
    memset(r, 0, sizeof *r);
}
