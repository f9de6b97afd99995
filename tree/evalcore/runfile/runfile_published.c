/* "published": which figures of a paper a run file's cells stand beside. They are copied into the run folder,
 * so that a report needs no other file; what a completion is does not depend on them. */
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/runfile/runfile_parts.h"

enum { FIGURES_MAX = 10000, LINE_MAX_BYTES = 1 << 16 };

/* One line of the file: the fields that every figure has, of the right kind. */
static int check_figure(const json_t *o, const char *where, struct err *e)
{
    static const char *const texts[] = {"paper", "where", "model", "task", "policy", "metric", "unit"};
    const char *text;
    double value;
    int rc = json_is_object(o) ? 0 : err_set(e, ERR_FORMAT, "%s: a figure is a JSON object", where);
    for (size_t i = 0; i < sizeof texts / sizeof *texts && !rc; i++)
        rc = json_get_str(o, texts[i], &text, where, e);
    if (!rc)
        rc = json_get_double(o, "value", &value, where, e);
    if (!rc && !json_is_object(json_object_get(o, "settings")))
        rc = err_set(e, ERR_FORMAT, "%s: field \"settings\" must be an object", where);
    return rc;
}

/* Is it one of the tables and figures that are asked for? It is then ticked off in `seen`. */
static int is_wanted(const json_t *wanted, const char *where, json_t *seen)
{
    size_t i;
    json_t *w;
    if (!wanted)
        return 1;
    json_array_foreach((json_t *)wanted, i, w) if (!strcmp(json_string_value(w), where))
    {
        json_object_set_new(seen, where, json_true());
        return 1;
    }
    return 0;
}

static int read_figures(json_t *out, const char *path, const json_t *wanted, json_t *seen, struct err *e)
{
    struct file_lines lines = {0};
    const char *line;
    size_t n;
    int rc = file_lines_open(&lines, path, e);
    while (!rc && (rc = file_lines_next(&lines, &line, &n, e)) > 0) {
        struct str where = {0};
        json_t *o = NULL;
        str_printf(&where, "%s:%ld", path, lines.number);
        rc = n > LINE_MAX_BYTES ? err_set(e, ERR_FORMAT, "%s: the line is too long for a figure", where.data)
                                : json_read_text(&o, line, n, where.data, e);
        if (!rc)
            rc = check_figure(o, where.data, e);
        if (!rc && is_wanted(wanted, json_string_value(json_object_get(o, "where")), seen)) {
            rc = json_array_size(out) < FIGURES_MAX
                     ? 0
                     : err_set(e, ERR_FORMAT, "%s: more than %d figures", where.data, FIGURES_MAX);
            if (!rc)
                json_array_append(out, o);
        }
        json_decref(o);
        str_release(&where);
    }
    file_lines_close(&lines);
    return rc;
}

/* "where" as a list of texts; NULL: all figures of the file. New reference. */
static int read_where(json_t **out, const struct runfile *r, const json_t *v, struct err *e)
{
    size_t i;
    json_t *w;
    int is_list = json_is_array(v) && json_array_size(v) > 0;
    *out = v ? json_is_string(v) ? json_pack("[O]", v) : json_deep_copy(v) : NULL;
    if (v && !json_is_string(v) && !is_list)
        return err_set(e, ERR_USAGE, "%s: published: \"where\" must be a text or a list of texts", r->path);
    if (is_list)
        json_array_foreach((json_t *)v, i, w) if (!json_is_string(w)) return err_set(
            e, ERR_USAGE, "%s: published: \"where\" must be a text or a list of texts", r->path);
    return 0;
}

static int all_seen(const struct runfile *r, const char *path, const json_t *wanted, const json_t *seen,
                    struct err *e)
{
    size_t i;
    json_t *w;
    json_array_foreach(
        (json_t *)wanted, i,
        w) if (!json_object_get(seen, json_string_value(w))) return err_set(e, ERR_USAGE,
                                                                            "%s: published: no figure in %s "
                                                                            "has \"where\": \"%.80s\"",
                                                                            r->path, path,
                                                                            json_string_value(w));
    return 0;
}

int runfile_read_published(struct runfile *r, json_t *v, struct err *e)
{
    static const char *const ours[] = {"file", "where", NULL};
    const char *key, *where = arena_printf(&r->arena, "%s: published", r->path);
    json_t *child, *wanted = NULL;
    if (!v)
        return 0;
    if (!json_is_object(v) || !json_is_string(json_object_get(v, "file")))
        return err_set(e, ERR_USAGE, "%s: it is an object with a \"file\", and perhaps a \"where\"", where);
    json_object_foreach(v, key, child) if (strcmp(key, "file") &&
                                           strcmp(key, "where")) return runfile_unknown(where, key, NULL,
                                                                                        ours, e);
    runfile_rebase(r, v, "file");
    const char *path = json_string_value(json_object_get(v, "file"));
    json_t *seen = json_object();
    r->published = json_array();
    int rc = read_where(&wanted, r, json_object_get(v, "where"), e);
    if (!rc && (rc = read_figures(r->published, path, wanted, seen, e)) < 0)
        err_add(e, "%s", where);
    if (!rc)
        rc = all_seen(r, path, wanted, seen, e);
    json_decref(wanted);
    json_decref(seen);
    return rc;
}
