/* A policy's "calibration": the file of `kveval calibrate` (docs/calibration.md) whose layers it takes. */
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/runfile/runfile_parts.h"

/* Layers that are given besides would leave open which ones count. */
static int check_alone(const json_t *o, const char *where, struct err *e)
{
    static const char *const given[] = {"anchors", "map", "layers"};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (json_object_get(o, given[i]))
            return err_set(e, ERR_USAGE,
                           "%s: \"calibration\" brings the layers, and \"%s\" names them too; leave one out",
                           where, given[i]);
    return 0;
}

/* 1 when the preset pools all heads into one list, for which a head map has no meaning. */
static int preset_pools(const struct policy_ops *ops, const char *name)
{
    for (const struct preset *p = policy_presets(ops); name && p && p->name; p++)
        if (!strcmp(p->name, name))
            return strstr(p->pairs, "pool=all") != NULL;
    return 0;
}

static int apply_layers(const struct policy_ops *ops, json_t *o, const json_t *file, const char *path,
                        const char *where, struct err *e)
{
    const char *key = json_object_get(file, "anchors") ? "anchors" : "layers";
    json_t *layers = json_object_get(file, key), *map = json_object_get(file, "map");
    const char *pool = json_string_value(json_object_get(o, "pool"));
    int is_pooled =
        pool ? !strcmp(pool, "all") : preset_pools(ops, json_string_value(json_object_get(o, "preset")));
    if (!json_is_array(layers))
        return err_set(e, ERR_USAGE, "%s: %s has no list of layers; write it with `kveval calibrate`", where,
                       path);
    json_object_set(o, key, layers);
    if (json_object_size(map) && !is_pooled)
        json_object_set(o, "map", map);
    return 0;
}

static int apply_problems(struct runfile *r, struct runfile_calibration *out, const json_t *file,
                          const char *path, struct err *e)
{
    const json_t *list = json_object_get(json_object_get(file, "dev"), "contents"), *v;
    size_t i;
    if (!json_is_array(list))
        return err_set(e, ERR_USAGE, "%s does not say which problems it was made with; write it anew", path);
    out->problems = arena_alloc(&r->arena, (json_array_size(list) + 1) * sizeof *out->problems);
    json_array_foreach((json_t *)list, i, v)
    {
        if (!json_is_string(v))
            return err_set(e, ERR_USAGE, "%s: dev.contents.%zu is no hash", path, i);
        out->problems[out->n_problems++] = arena_strdup(&r->arena, json_string_value(v));
    }
    return 0;
}

int runfile_take_calibration(struct runfile *r, struct runfile_calibration *out, json_t *o,
                             const struct policy_ops *ops, const char *where, struct err *e)
{
    json_t *v = json_object_get(o, "calibration"), *file = NULL;
    const char *policy, *weights;
    memset(out, 0, sizeof *out);
    if (!v)
        return 0;
    if (!json_is_string(v))
        return err_set(e, ERR_USAGE, "%s: \"calibration\" is the name of a file", where);
    runfile_rebase(r, o, "calibration");
    out->path = arena_strdup(&r->arena, json_string_value(json_object_get(o, "calibration")));
    json_object_del(o, "calibration");
    int rc = check_alone(o, where, e);
    if (!rc)
        rc = json_read_file(&file, out->path, e);
    if (!rc)
        rc = json_get_str(file, "policy", &policy, out->path, e);
    if (!rc)
        rc = json_get_str(file, "model", &weights, out->path, e);
    if (!rc && strcmp(policy, policy_name(ops)))
        rc = err_set(e, ERR_USAGE, "%s: %s is a calibration of %s", where, out->path, policy);
    if (!rc) {
        out->weights = arena_strdup(&r->arena, weights);
        rc = apply_layers(ops, o, file, out->path, where, e);
    }
    if (!rc)
        rc = apply_problems(r, out, file, out->path, e);
    json_decref(file);
    return rc;
}
