/* --set (contract: runfile_parts.h): walks the path, making what is missing in objects, never in lists. */
#include "evalcore/runfile/runfile_parts.h"

#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/cli/cli.h"

/* What an entry is called in a path, whose parts have no points: its "name", of pocket's
 * tasks without "pocket."; of a model its "as" or the last part of its path. */
static const char *name_of(const json_t *v)
{
    const char *name = json_string_value(json_is_object(v) ? json_object_get(v, "name") : v);
    if (!name && !(name = json_string_value(json_object_get(v, "as"))))
        name = json_string_value(json_object_get(v, "model"));
    const char *slash = name ? strrchr(name, '/') : NULL;
    if (name && !strncmp(name, "pocket.", strlen("pocket.")))
        return name + strlen("pocket.");
    return slash && slash[1] ? slash + 1 : name;
}

static int pick_by_name(const json_t *list, const char *segment, const char *path, size_t *index,
                        struct err *e)
{
    size_t found = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = name_of(json_array_get(list, i));
        if (name && !strcmp(name, segment)) {
            *index = i;
            found++;
        }
    }
    if (found == 1)
        return 0;
    if (found)
        return err_set(e, ERR_USAGE, "--set %s: %zu entries are named \"%s\"; give its number, from 0", path,
                       found, segment);
    return err_set(e, ERR_USAGE,
                   "--set %s: \"%s\" is neither a number nor the name of one of the %zu entries", path,
                   segment, json_array_size(list));
}

static int list_index(const json_t *list, const char *segment, const char *path, size_t *index, struct err *e)
{
    long n;
    if (cli_int(segment, 0, 1000000, &n))
        return pick_by_name(list, segment, path, index, e);
    if ((size_t)n >= json_array_size(list))
        return err_set(e, ERR_USAGE, "--set %s: there is no entry %ld; the list has %zu, counted from 0",
                       path, n, json_array_size(list));
    *index = (size_t)n;
    return 0;
}

/* The child that `segment` names, made an object when a path goes on through it. Borrowed. key: what the text
 * of a list's entry stands for. */
static json_t *descend_into(json_t *at, const char *segment, const char *path, const char *key, struct err *e)
{
    json_t *child;
    size_t i = 0;
    if (json_is_array(at)) {
        if (list_index(at, segment, path, &i, e))
            return NULL;
        child = json_array_get(at, i);
        if (json_is_string(child)) {
            json_array_set_new(at, i, json_pack("{s:O}", key, child));
            child = json_array_get(at, i);
        }
    } else {
        child = json_object_get(at, segment);
        if (!child) {
            json_object_set_new(at, segment, json_object());
            child = json_object_get(at, segment);
        }
    }
    if (json_is_object(child) || json_is_array(child))
        return child;
    err_set(e, ERR_USAGE, "--set %s: \"%s\" is neither an object nor a list", path, segment);
    return NULL;
}

static json_t *value_of(const char *text)
{
    json_t *v = json_loadb(text, strlen(text), JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
    return v ? v : json_string(text);
}

int override_set(json_t *root, const char *assignment, struct err *e)
{
    const char *equals = strchr(assignment, '=');
    if (!equals || equals == assignment)
        return err_set(e, ERR_USAGE, "--set takes KEY=VALUE, not \"%s\"", assignment);
    struct arena a = {0};
    char *path = arena_strndup(&a, assignment, (size_t)(equals - assignment)), *rest = path;
    const char *shown = arena_strdup(&a, path);
    json_t *at = root, *value = NULL;
    int rc = 0;
    for (char *dot; (dot = strchr(rest, '.')); rest = dot + 1) {
        *dot = 0;
        at = descend_into(at, rest, shown, at == json_object_get(root, "models") ? "model" : "name", e);
        if (!at) {
            rc = ERR_USAGE;
            goto out;
        }
    }
    value = value_of(equals + 1);
    if (!value) {
        rc = err_set(e, ERR_USAGE, "--set %s: the value is not valid UTF-8", shown);
    } else if (json_is_array(at)) {
        size_t i = 0;
        rc = list_index(at, rest, shown, &i, e);
        if (!rc)
            json_array_set(at, i, value);
    } else {
        json_object_set(at, rest, value);
    }
out:
    json_decref(value);
    arena_release(&a);
    return rc;
}
