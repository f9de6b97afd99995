/* Entries of a run file's lists, paths that count from its folder, and unknown keys (contract:
 * runfile_parts.h). */
#include <string.h>

#include "engine/engine.h"
#include "evalcore/base/file.h"
#include "evalcore/runfile/runfile_parts.h"

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

static json_t *rebased_value(const struct runfile *r, const json_t *v)
{
    struct str joined = {0};
    size_t i;
    json_t *item, *out;
    if (json_is_array(v)) { /* an axis of files */
        out = json_array();
        json_array_foreach((json_t *)v, i, item) json_array_append_new(out, rebased_value(r, item));
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
        json_object_set_new(o, key, rebased_value(r, v));
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
