/* Loading a run folder (contract: run.h): the configuration and the problems; run_records.c adds what the
 * journals hold. The folder may come from elsewhere, so every field is checked. */
#include "evalcore/store/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "evalcore/base/log.h"
#include "evalcore/base/margin.h"
#include "evalcore/store/run_fields.h"
#include "evalcore/store/run_parts.h"
#include "evalcore/store/runfolder.h"
#include "tasks/task.h"

static const char *config_name = "config.resolved.json";

static const char *canonical_text(struct run *r, const json_t *v)
{
    struct str s = {0};
    json_canonical(&s, v);
    const char *kept = arena_strdup(&r->arena, str_text(&s));
    str_release(&s);
    return kept;
}

/* A problem without such a list has none. */
static int load_strings(struct run *r, const json_t *o, const char *key, const char *const **out, int *n_out,
                        const char *where, struct err *e)
{
    const json_t *list = json_object_get(o, key);
    size_t n = json_array_size(list);
    const char **strings = arena_alloc(&r->arena, (n + 1) * sizeof *strings);
    for (size_t i = 0; i < n; i++) {
        const char *s = json_string_value(json_array_get(list, i));
        if (!s)
            return err_set(e, ERR_FORMAT, "%s: \"%s\" must hold strings", where, key);
        strings[i] = arena_strdup(&r->arena, s);
    }
    *out = n ? strings : NULL;
    *n_out = (int)n;
    return 0;
}

/* The lengths of a problem's options; a problem whose options are not scored has none. */
static int load_lengths(struct run *r, const json_t *o, struct run_problem *p, const char *where,
                        struct err *e)
{
    const json_t *list = json_object_get(o, "option_lengths");
    size_t n = json_array_size(list);
    int *length = arena_alloc(&r->arena, (n + 1) * sizeof *length);
    if (list && (n != (size_t)p->n_options || !n || n > ENGINE_OPTIONS_MAX))
        return err_set(e, ERR_FORMAT, "%s: \"option_lengths\" must hold a number for each option", where);
    for (size_t i = 0; i < n; i++) {
        const json_t *v = json_array_get(list, i);
        json_int_t value = json_integer_value(v);
        if (!json_is_integer(v) || value < 1 || value > INT32_MAX)
            return err_set(e, ERR_FORMAT, "%s: \"option_lengths\" must hold numbers from 1 on", where);
        length[i] = (int)value;
    }
    p->option_lengths = n ? length : NULL;
    return 0;
}

/* A text that may hold NULs; NULL when it is not there. */
static const char *load_text(struct run *r, const json_t *o, const char *key, size_t *n)
{
    const json_t *v = json_object_get(o, key);
    *n = json_string_length(v);
    return json_is_string(v) ? arena_strndup(&r->arena, json_string_value(v), *n) : NULL;
}

static int load_problem(struct run *r, struct run_problem *p, const char *line, size_t n, const char *where,
                        struct err *e)
{
    json_t *o = NULL;
    int rc = json_read_text(&o, line, n, where, e);
    if (!rc)
        rc = run_fields_read(run_problem_fields, p, o, &r->arena, where, e);
    if (!rc)
        rc = load_strings(r, o, "golds", &p->golds, &p->n_golds, where, e);
    if (!rc)
        rc = load_strings(r, o, "all_classes", &p->all_classes, &p->n_classes, where, e);
    if (!rc)
        rc = load_strings(r, o, "options", &p->option_texts, &p->n_option_texts, where, e);
    if (!rc)
        rc = load_lengths(r, o, p, where, e);
    if (!rc) {
        p->gold = p->n_golds ? p->golds[0] : "";
        p->prompt = load_text(r, o, "prompt", &p->prompt_len);
        p->before = load_text(r, o, "before", &p->before_len);
        p->asked = load_text(r, o, "asked", &p->asked_len);
        p->after = load_text(r, o, "after", &p->after_len);
    }
    json_decref(o);
    return rc;
}

/* The problems of a file's text; *n_out of them. */
static int load_lines(struct run *r, struct run_problem **out, int *n_out, const char *path,
                      const struct str *text, struct err *e)
{
    struct run_problem *list = NULL;
    size_t cap = 0, n_list = 0, n;
    int rc = 0;
    for (const char *line = text->data, *end = line + text->len; line < end && !rc; line += n + 1) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        char where[600];
        struct run_problem p = {0};
        n = (size_t)((newline ? newline : end) - line);
        snprintf(where, sizeof where, "%.500s:%zu", path, n_list + 1);
        rc = load_problem(r, &p, line, n, where, e);
        xgrow(&list, &cap, n_list + 1, sizeof *list);
        list[n_list++] = p;
    }
    *out = arena_alloc(&r->arena, (n_list + 1) * sizeof *list);
    *n_out = (int)n_list;
    if (n_list)
        memcpy(*out, list, n_list * sizeof *list);
    free(list);
    return rc;
}

static int problems_changed(const char *dir, const char *path, struct err *e)
{
    return err_set(e, ERR_FORMAT,
                   "%s was changed since the sweep wrote it, so that results would be of other problems; "
                   "kveval sweep RUN.json -o %s writes it again",
                   path, dir);
}

/* The configuration has the file's digest and its number of problems. */
static int load_problems(struct run *r, struct run_task *t, struct err *e)
{
    struct str path = {0}, text = {0};
    char hex[65];
    int n = 0;
    file_join(&path, r->dir, t->file);
    int rc = file_plain(path.data, e);
    if (!rc)
        rc = file_read(path.data, &text, e);
    if (!rc) {
        sha256_hex(str_text(&text), text.len, hex, 64);
        if (strcmp(hex, t->problems_sha256) != 0)
            rc = problems_changed(r->dir, path.data, e);
    }
    if (!rc)
        rc = load_lines(r, &t->problems, &n, path.data, &text, e);
    if (!rc && n != t->n_problems)
        rc = problems_changed(r->dir, path.data, e);
    str_release(&text);
    str_release(&path);
    return rc;
}

static int load_task(struct run *r, struct run_task *t, const json_t *o, struct err *e)
{
    int rc = run_fields_read(run_task_fields, t, o, &r->arena, config_name, e);
    if (rc)
        return rc;
    if (strstr(t->file, "..") || t->file[0] == '/')
        return err_set(e, ERR_FORMAT, "%s: the problems file \"%s\" lies outside the folder", config_name,
                       t->file);
    t->is_text = task_is_text(t->metric);
    t->options = canonical_text(r, json_object_get(o, "options"));
    return load_problems(r, t, e);
}

static int load_cell(struct run *r, struct cell *c, const json_t *o, struct err *e)
{
    int rc = run_fields_read(run_cell_fields, c, o, &r->arena, config_name, e);
    if (rc)
        return rc;
    if (c->task_index < 0 || c->task_index >= r->n_tasks || c->samples < 1 || c->baseline >= r->n_cells ||
        strchr(c->id, '/') || c->id[0] == '.')
        return err_set(e, ERR_FORMAT, "%s: cell \"%s\" has a number out of range", config_name, c->id);
    c->task = &r->tasks[c->task_index];
    c->n_expected = c->task->n_problems * c->samples;
    c->params = canonical_text(r, json_object_get(o, "params"));
    c->settings = canonical_text(r, json_object_get(o, "settings"));
    return run_load_limits(r, c, json_object_get(o, "settings"), config_name, e);
}

static int read_plain(json_t **out, const char *path, struct err *e)
{
    struct err own = {0};
    int rc = file_plain(path, &own);
    if (!rc)
        rc = json_read_file(out, path, &own);
    return rc ? err_set(e, rc, "%s%s", own.text,
                        rc == ERR_FORMAT ? "; repeating the sweep writes it again" : "")
              : 0;
}

/* The configuration as JSON, checked to be of this version. path: of its file. */
static int open_config(struct run *r, const char *path, struct err *e)
{
    if (file_check_entered(r->dir, e))
        return ERR_IO;
    if (!file_exists(r->dir))
        return err_set(e, ERR_USAGE, "%s: there is no such folder; kveval sweep RUN.json -o %s makes one",
                       r->dir, r->dir);
    if (!file_exists(path))
        return err_set(e, ERR_USAGE,
                       "%s is not a run folder: it has no %s; kveval sweep RUN.json -o %s makes one", r->dir,
                       config_name, r->dir);
    int rc = read_plain(&r->config, path, e);
    return rc ? rc : runfolder_config_version(r->config, path, e);
}

static int load_tasks_and_cells(struct run *r, struct err *e)
{
    const json_t *tasks = json_object_get(r->config, "tasks"), *cells = json_object_get(r->config, "cells");
    int rc = 0;
    r->tasks = arena_alloc(&r->arena, (json_array_size(tasks) + 1) * sizeof *r->tasks);
    for (size_t i = 0; i < json_array_size(tasks) && !rc; i++)
        rc = load_task(r, &r->tasks[r->n_tasks++], json_array_get(tasks, i), e);
    r->n_cells = (int)json_array_size(cells);
    r->cells = arena_alloc(&r->arena, ((size_t)r->n_cells + 1) * sizeof *r->cells);
    for (int i = 0; i < r->n_cells && !rc; i++)
        rc = load_cell(r, &r->cells[i], json_array_get(cells, (size_t)i), e);
    for (int i = 0; i < r->n_cells && !rc; i++) {
        r->n_expected += r->cells[i].n_expected;
        if (r->cells[i].baseline >= 0)
            r->cells[r->cells[i].baseline].is_baseline = 1;
    }
    return rc;
}

static int load_config(struct run *r, struct err *e)
{
    struct str path = {0};
    file_join(&path, r->dir, config_name);
    int rc = open_config(r, path.data, e);
    if (!rc)
        rc = run_fields_read(run_config_fields, r, r->config, &r->arena, path.data, e);
    if (!rc && !runfolder_seal_is_right(r->config))
        log_warn("%s was changed since the sweep wrote it; kveval sweep RUN.json -o %s writes it again",
                 path.data, r->dir);
    if (!rc && !margin_is_valid(r->margin))
        rc = err_set(e, ERR_FORMAT, "%s: the margin is no number from %g to %g", path.data, MARGIN_MIN,
                     MARGIN_MAX);
    if (!rc)
        rc = load_tasks_and_cells(r, e);
    str_clear(&path);
    file_join(&path, r->dir, "manifest.json");
    if (!rc && file_exists(path.data))
        rc = read_plain(&r->manifest, path.data, e);
    str_release(&path);
    return rc;
}

static int try_plan(struct run *r, const char *dir, struct err *e)
{
    memset(r, 0, sizeof *r);
    r->dir = arena_strdup(&r->arena, dir);
    int rc = load_config(r, e);
    if (rc)
        run_release(r);
    return rc;
}

/* A sweep that starts here with other problems replaces them before the configuration: what does not fit is
 * read again. */
int run_load_plan(struct run *r, const char *dir, struct err *e)
{
    enum { PAUSE_US = 200000 };
    struct err first = {0};
    int rc = try_plan(r, dir, &first);
    if (rc == ERR_FORMAT) {
        usleep(PAUSE_US);
        return try_plan(r, dir, e);
    }
    return rc ? err_set(e, rc, "%s", first.text) : 0;
}

int run_load_with(struct run *r, const char *dir, const struct run_options *o, struct err *e)
{
    int rc = run_load_plan(r, dir, e);
    if (!rc)
        rc = run_load_records(r, o, e);
    if (rc)
        run_release(r);
    return rc;
}

int run_load(struct run *r, const char *dir, struct err *e)
{
    return run_load_with(r, dir, &(struct run_options){0}, e);
}

void run_release(struct run *r)
{
    json_decref(r->config);
    json_decref(r->manifest);
    arena_release(&r->arena);
    memset(r, 0, sizeof *r);
}
