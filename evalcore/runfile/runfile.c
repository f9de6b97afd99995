/* Run files (contract: runfile.h): strict reading of the top level and of generation settings. Tasks are
 * in runfile_tasks.c, policies in runfile_policies.c, models in runfile_models.c. Every message starts with
 * the file and the place in it, written as --set would write it. */
#include "evalcore/runfile/runfile.h"

#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "evalcore/base/file.h"
#include "evalcore/base/margin.h"
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

/* Cells of equal settings would be the same completions under the same name, counted twice. Values are
 * compared as they are read, so that 30 equals 30.0 and a string of `stop` the list of it. */
static int check_repeats(struct runfile *r, const char *key, const json_t *v, struct err *e)
{
    struct axis_points points = {0};
    json_t *o = json_pack("{s:O}", key, v);
    int rc = axes_expand(&points, o, takes_stop, r->path, &r->arena, e);
    const char **text = xcalloc(points.n + 1, sizeof *text);
    for (size_t b = 0; b < points.n && !rc; b++) {
        struct settings s;
        struct str all = {0};
        settings_defaults(&s);
        rc = settings_set(&s, &r->arena, key, json_object_get(points.point[b].object, key), r->path, e);
        json_t *effective = settings_json(&s);
        json_canonical(&all, effective);
        text[b] = arena_strdup(&r->arena, str_text(&all));
        for (size_t a = 0; a < b && !rc; a++)
            if (!strcmp(text[a], text[b]))
                rc = err_set(e, ERR_USAGE, "%s: %s is listed twice; remove one of them", r->path,
                             points.point[b].swept);
        json_decref(effective);
        str_release(&all);
    }
    free(text);
    axes_release(&points);
    json_decref(o);
    return rc;
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
        if (!rc)
            rc = settings_check(&s->s, r->path, e);
    }
    axes_release(&points);
    json_object_foreach(o, key, v) if (!rc) rc = check_repeats(r, key, v, e);
    json_decref(o);
    return rc;
}

static int check_keys(const struct runfile *r, const json_t *root, struct err *e)
{
    static const char *const ours[] = {"model",  "models",    "model_name", "tasks", "policies", "baseline",
                                       "margin", "published", "stop",       "note",  NULL};
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

static int read_margin(struct runfile *r, const json_t *v, struct err *e)
{
    r->margin = MARGIN_DEFAULT;
    if (!v)
        return 0;
    if (!json_is_number(v) || !margin_is_valid(json_number_value(v)))
        return err_set(e, ERR_USAGE,
                       "%s: \"margin\" is one number from %g to %g: the points that a policy may lose and "
                       "still be called as good as the baseline",
                       r->path, MARGIN_MIN, MARGIN_MAX);
    r->margin = json_number_value(v);
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
        rc = runfile_read_models(r, root, o, e);
    if (!rc)
        rc = read_settings(r, root, e);
    if (!rc)
        rc = runfile_read_tasks(r, json_object_get(root, "tasks"), e);
    if (!rc)
        rc = runfile_read_policies(r, json_object_get(root, "policies"), e);
    if (!rc)
        rc = runfile_check_models(r, e);
    if (!rc)
        rc = runfile_read_baseline(r, json_object_get(root, "baseline"), e);
    if (!rc)
        rc = read_margin(r, json_object_get(root, "margin"), e);
    if (!rc)
        rc = runfile_read_published(r, json_object_get(root, "published"), e);
    if (!rc && o->tasks)
        rc = runfile_keep_tasks(r, o->tasks, e);
    if (!rc)
        rc = runfile_keep_model(r, e);
    if (!rc)
        rc = runfile_check_endpoint(r, e);
    return rc;
}

int runfile_load(struct runfile *out, const char *path, const struct runfile_options *o, struct err *e)
{
    memset(out, 0, sizeof *out);
    const char *slash = strrchr(path, '/');
    if (!strncmp(path, "/proc/", 6) || !strncmp(path, "/dev/", 5))
        slash = NULL; /* a pipe has no folder: names in it count from the working directory */
    out->path = arena_strdup(&out->arena, path);
    out->dir = slash ? arena_strndup(&out->arena, path, (size_t)(slash - path) + (slash == path)) : "";
    int rc = json_read_written(&out->source, path, e);
    if (!rc)
        rc = read_root(out, out->source, o, e);
    if (rc)
        runfile_release(out);
    return rc;
}

void runfile_release(struct runfile *r)
{
    json_decref(r->source);
    json_decref(r->published);
    free(r->tasks);
    free(r->policies);
    free(r->settings);
    arena_release(&r->arena);
    memset(r, 0, sizeof *r);
}
