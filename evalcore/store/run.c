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
#include "evalcore/store/run_records.h"
#include "evalcore/store/runfolder.h"
#include "tasks/task.h"

static const char *config_name = "config.resolved.json";

static int read_text(struct run *r, const json_t *o, const char *key, const char **out, const char *where,
                     struct err *e)
{
    const char *s = NULL;
    int rc = json_get_str(o, key, &s, where, e);
    if (!rc)
        *out = arena_strdup(&r->arena, s);
    return rc;
}

/* Texts that an object must have. */
struct text_field {
    const char *key, **out;
};

static int read_texts(struct run *r, const json_t *o, const struct text_field *fields, size_t n,
                      const char *where, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < n && !rc; i++)
        rc = read_text(r, o, fields[i].key, fields[i].out, where, e);
    return rc;
}

static int read_number(const json_t *o, const char *key, int *out, const char *where, struct err *e)
{
    int64_t v = 0;
    int rc = json_get_int(o, key, &v, where, e);
    if (!rc && (v < -1 || v > 2000000000))
        rc = err_set(e, ERR_FORMAT, "%s: field \"%s\" is out of range", where, key);
    *out = (int)v;
    return rc;
}

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

static int load_problem(struct run *r, struct run_problem *p, const char *line, size_t n, const char *where,
                        struct err *e)
{
    json_t *o = NULL;
    int open = 0;
    int64_t options = 0, own_max = 0;
    const char *prompt = NULL, *order = NULL, *stop = NULL, *subset = NULL, *prefix = NULL;
    int rc = json_read_text(&o, line, n, where, e);
    if (!rc)
        rc = read_text(r, o, "id", &p->id, where, e);
    if (!rc)
        rc = read_text(r, o, "prompt_sha256", &p->prompt_sha256, where, e);
    if (!rc)
        rc = read_number(o, "prompt_tokens", &p->prompt_tokens, where, e);
    if (!rc)
        rc = json_opt_bool(o, "is_rendered", &p->is_rendered, where, e);
    if (!rc)
        rc = json_opt_bool(o, "thinking_open", &open, where, e);
    if (!rc)
        rc = json_opt_int(o, "n_options", &options, where, e);
    if (!rc)
        rc = json_opt_int(o, "max_new_tokens", &own_max, where, e);
    if (!rc)
        rc = json_opt_str(o, "option_order", &order, where, e);
    if (!rc)
        rc = json_opt_str(o, "stop", &stop, where, e);
    if (!rc)
        rc = json_opt_str(o, "subset", &subset, where, e);
    if (!rc)
        rc = json_opt_str(o, "answer_prefix", &prefix, where, e);
    if (!rc)
        rc = load_strings(r, o, "golds", &p->golds, &p->n_golds, where, e);
    if (!rc)
        rc = load_strings(r, o, "all_classes", &p->all_classes, &p->n_classes, where, e);
    if (!rc) {
        p->gold = p->n_golds ? p->golds[0] : "";
        const json_t *v = json_object_get(o, "prompt");
        prompt = json_string_value(v);
        p->prompt_len = prompt ? json_string_length(v) : 0;
        p->prompt = prompt ? arena_strndup(&r->arena, prompt, p->prompt_len) : NULL;
        p->option_order = order ? arena_strdup(&r->arena, order) : NULL;
        p->own_stop = stop ? arena_strdup(&r->arena, stop) : NULL;
        p->subset = subset ? arena_strdup(&r->arena, subset) : NULL;
        p->answer_prefix = prefix ? arena_strdup(&r->arena, prefix) : NULL;
        p->n_options = (int)options;
        p->own_max_new = (int)own_max;
        p->thinking = open ? THINKING_OPEN : THINKING_AUTO;
    }
    json_decref(o);
    return rc;
}

static int load_lines(struct run *r, struct run_task *t, const char *path, const struct str *text,
                      struct err *e)
{
    struct run_problem *list = NULL;
    size_t cap = 0, n;
    int rc = 0;
    for (const char *line = text->data, *end = line + text->len; line < end && !rc; line += n + 1) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        char where[600];
        struct run_problem p = {0};
        n = (size_t)((newline ? newline : end) - line);
        snprintf(where, sizeof where, "%.500s:%d", path, t->n_problems + 1);
        rc = load_problem(r, &p, line, n, where, e);
        xgrow(&list, &cap, (size_t)t->n_problems + 1, sizeof *list);
        list[t->n_problems++] = p;
    }
    t->problems = arena_alloc(&r->arena, ((size_t)t->n_problems + 1) * sizeof *list);
    if (t->n_problems)
        memcpy(t->problems, list, (size_t)t->n_problems * sizeof *list);
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

/* o: the task's entry in the configuration, which has the file's digest and its number of problems (in
 * folders of earlier versions the number alone). */
static int load_problems(struct run *r, struct run_task *t, const json_t *o, struct err *e)
{
    struct str path = {0}, text = {0};
    char hex[65];
    const char *digest = NULL;
    int64_t n = -1;
    file_join(&path, r->dir, t->file);
    int rc = file_plain(path.data, e);
    if (!rc)
        rc = json_opt_str(o, "problems_sha256", &digest, config_name, e);
    if (!rc)
        rc = json_opt_int(o, "problems", &n, config_name, e);
    if (!rc)
        rc = file_read(path.data, &text, e);
    if (!rc && digest) {
        sha256_hex(text.data, text.len, hex, 64);
        if (strcmp(hex, digest) != 0)
            rc = problems_changed(r->dir, path.data, e);
    }
    if (!rc)
        rc = load_lines(r, t, path.data, &text, e);
    if (!rc && n >= 0 && n != t->n_problems)
        rc = problems_changed(r->dir, path.data, e);
    str_release(&text);
    str_release(&path);
    return rc;
}

static int load_task(struct run *r, struct run_task *t, const json_t *o, struct err *e)
{
    const struct text_field fields[] = {{"name", &t->name},       {"label", &t->label},
                                        {"version", &t->version}, {"metric", &t->metric},
                                        {"source", &t->source},   {"file", &t->file}};
    int rc = read_texts(r, o, fields, sizeof fields / sizeof fields[0], config_name, e);
    if (rc)
        return rc;
    if (strstr(t->file, "..") || t->file[0] == '/')
        return err_set(e, ERR_FORMAT, "%s: the problems file \"%s\" lies outside the folder", config_name,
                       t->file);
    t->is_text = task_is_text(t->metric);
    t->options = canonical_text(r, json_object_get(o, "options"));
    rc = load_problems(r, t, o, e);
    int64_t original = t->n_problems;
    if (!rc)
        rc = json_opt_int(o, "original", &original, config_name, e);
    t->n_original = (int)original;
    return rc;
}

int run_same_model(const struct cell *a, const struct cell *b)
{
    return !strcmp(a->model_path ? a->model_path : a->model, b->model_path ? b->model_path : b->model);
}

static int load_cell(struct run *r, struct cell *c, const json_t *o, struct err *e)
{
    const struct text_field fields[] = {{"id", &c->id},
                                        {"label", &c->label},
                                        {"policy_label", &c->policy_label},
                                        {"model", &c->model},
                                        {"policy", &c->policy},
                                        {"preset", &c->preset},
                                        {"k_pages", &c->k_pages},
                                        {"l_pages", &c->l_pages},
                                        {"budget_tokens", &c->budget_tokens},
                                        {"budget_key", &c->budget_key},
                                        {"budget", &c->budget},
                                        {"budget_rule", &c->budget_rule},
                                        {"settings_label", &c->settings_label},
                                        {"identity", &c->identity}};
    int task = 0, rc = read_texts(r, o, fields, sizeof fields / sizeof fields[0], config_name, e);
    if (!rc)
        rc = read_number(o, "samples", &c->samples, config_name, e);
    if (!rc)
        rc = read_number(o, "max_new_tokens", &c->max_new_tokens, config_name, e);
    if (!rc)
        rc = read_number(o, "task", &task, config_name, e);
    if (!rc)
        rc = read_number(o, "baseline", &c->baseline, config_name, e);
    if (!rc)
        rc = json_get_double(o, "temperature", &c->temperature, config_name, e);
    if (!rc)
        rc = json_opt_str(o, "model_path", &c->model_path, config_name, e);
    if (!rc)
        rc = json_opt_str(o, "weights", &c->weights, config_name, e);
    if (rc)
        return rc;
    if (task < 0 || task >= r->n_tasks || c->samples < 1 || c->baseline >= r->n_cells || strchr(c->id, '/') ||
        c->id[0] == '.')
        return err_set(e, ERR_FORMAT, "%s: cell \"%s\" has a number out of range", config_name, c->id);
    c->task = &r->tasks[task];
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

static int load_config(struct run *r, struct err *e)
{
    const struct text_field fields[] = {{"version", &r->version}, {"model", &r->model},
                                        {"weights", &r->weights}, {"numerics", &r->numerics},
                                        {"device", &r->device},   {"baseline", &r->baseline}};
    struct str path = {0};
    int rc;
    file_join(&path, r->dir, config_name);
    if (!file_exists(r->dir))
        rc = err_set(e, ERR_USAGE, "%s: there is no such folder; kveval sweep RUN.json -o %s makes one",
                     r->dir, r->dir);
    else if (!file_exists(path.data))
        rc = err_set(e, ERR_USAGE,
                     "%s is not a run folder: it has no %s; kveval sweep RUN.json -o %s makes one", r->dir,
                     config_name, r->dir);
    else
        rc = read_plain(&r->config, path.data, e);
    if (!rc)
        rc = runfolder_config_version(r->config, path.data, e);
    if (!rc)
        rc = read_texts(r, r->config, fields, sizeof fields / sizeof fields[0], path.data, e);
    if (!rc && !runfolder_seal_is_right(r->config))
        log_warn("%s was changed since the sweep wrote it; kveval sweep RUN.json -o %s writes it again",
                 path.data, r->dir);
    r->margin = MARGIN_DEFAULT; /* folders of older versions name none */
    if (!rc)
        rc = json_opt_double(r->config, "margin", &r->margin, path.data, e);
    if (!rc && !margin_is_valid(r->margin))
        rc = err_set(e, ERR_FORMAT, "%s: the margin is no number from %g to %g", path.data, MARGIN_MIN,
                     MARGIN_MAX);
    const json_t *tasks = json_object_get(r->config, "tasks"), *cells = json_object_get(r->config, "cells");
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

int run_task_is_restricted(const struct run_task *t)
{
    const struct task_ops *ops = task_find(t->name);
    int is_restricted = ops && ops->is_restricted;
    for (int i = 0; i < t->n_problems && !is_restricted; i++)
        is_restricted = !t->problems[i].prompt;
    return is_restricted;
}

int run_find_cell(const struct run *r, const char *name, struct err *e)
{
    int found = -1, n = 0;
    for (int i = 0; i < r->n_cells; i++)
        if (!strcmp(r->cells[i].id, name))
            return i;
    for (int pass = 0; pass < 2 && !n; pass++) /* a whole label before a part of an id */
        for (int i = 0; i < r->n_cells; i++)
            if (pass ? strstr(r->cells[i].id, name) != NULL : !strcmp(r->cells[i].label, name)) {
                n++;
                found = i;
            }
    if (n == 1)
        return found;
    struct str some = {0};
    int shown = 0;
    for (int i = 0; i < r->n_cells && shown < 6; i++)
        if (!n || strstr(r->cells[i].id, name) || !strcmp(r->cells[i].label, name))
            str_printf(&some, "%s%s", shown++ ? ", " : "", r->cells[i].id);
    err_set(e, ERR_USAGE, "%s: %s \"%s\"; %s %s%s", r->dir, n ? "several cells match" : "no cell is named",
            name, n ? "these do:" : "there are", str_text(&some), r->n_cells > shown ? ", ..." : "");
    str_release(&some);
    return -1;
}
