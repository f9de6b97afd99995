/* Reads data files row by row and collects problems. */
#include "tasks/rows.h"

#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "tasks/duplicates.h"

struct problem *rows_add(struct rows *r)
{
    xgrow(&r->problems, &r->cap, r->n + 1, sizeof *r->problems);
    r->problems[r->n] = (struct problem){.line = r->line};
    return &r->problems[r->n++];
}

void rows_release(struct rows *r)
{
    free(r->problems);
    *r = (struct rows){0};
}

int rows_finish(struct rows *r, struct err *e)
{
    if (!r->n)
        return err_set(e, ERR_FORMAT, "%s: there is no problem in this file", r->path);
    for (size_t i = 0; i < r->n; i++)
        if (!r->problems[i].hash[0])
            problem_set_hash(&r->problems[i], r->problems[i].prompt, r->problems[i].prompt_len);
    struct task *t = r->task;
    t->n_problems = r->n;
    t->problems = arena_alloc(&t->arena, r->n * sizeof *r->problems);
    memcpy(t->problems, r->problems, r->n * sizeof *r->problems);
    for (size_t i = 0; i < r->n; i++)
        if (!t->problems[i].golds) { /* a list of its own: problems are moved when some are left out */
            const char **golds = arena_alloc(&t->arena, sizeof *golds);
            *golds = t->problems[i].gold;
            t->problems[i].golds = golds;
        }
    return 0;
}

static int read_row(struct rows *r, const char *line, size_t n, row_fn row, void *context, struct err *e)
{
    json_t *o = NULL;
    char where[640];
    snprintf(where, sizeof where, "%.580s:%ld", r->path, r->line);
    if (n > ROW_BYTES_MAX)
        return err_set(e, ERR_FORMAT, "%s: this line has %zu bytes; at most %d are read", where, n,
                       ROW_BYTES_MAX);
    int rc = json_read_text(&o, line, n, where, e);
    if (!rc && json_is_array(o) && r->line == 1)
        rc =
            err_set(e, ERR_FORMAT, "%s: this is a JSON list; write one object a line (JSONL) instead", where);
    if (!rc && !json_is_object(o))
        rc = err_set(e, ERR_FORMAT, "%s: a JSON object was expected on this line", where);
    if (!rc)
        rc = row(r, o, context, e);
    json_decref(o);
    return rc;
}

int rows_read_jsonl(struct task *t, const char *path, row_fn row, void *context, struct err *e)
{
    struct file_map map = {0};
    struct rows r = {.task = t, .path = path};
    int rc = file_map_open(&map, path, e);
    if (rc)
        return rc;
    sha256_hex(map.data, map.size, t->source, 64);
    const char *text = (const char *)map.data;
    size_t i = map.size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
    while (i < map.size && !rc) {
        const char *end = memchr(text + i, '\n', map.size - i);
        size_t n = end ? (size_t)(end - (text + i)) : map.size - i, blank = 0;
        r.line++;
        while (blank < n && (text[i + blank] == ' ' || text[i + blank] == '\t' || text[i + blank] == '\r'))
            blank++;
        if (blank < n)
            rc = read_row(&r, text + i, n, row, context, e);
        i += n + 1;
    }
    if (!rc)
        rc = rows_finish(&r, e);
    rows_release(&r);
    file_map_close(&map);
    return rc;
}

int row_text(struct row_text *out, const struct rows *r, const json_t *row, const char *names, int optional,
             struct err *e)
{
    *out = (struct row_text){0};
    for (const char *p = names; *p;) {
        char name[64];
        size_t n = strcspn(p, ",");
        snprintf(name, sizeof name, "%.*s", (int)n, p);
        p += n + (p[n] == ',');
        const json_t *v = json_object_get(row, name);
        if (!v || json_is_null(v))
            continue;
        if (json_is_string(v)) {
            *out = (struct row_text){json_string_value(v), json_string_length(v)};
        } else if (json_is_integer(v)) {
            out->s = arena_printf(&r->task->arena, "%lld", (long long)json_integer_value(v));
            out->n = strlen(out->s);
        } else {
            return err_set(e, ERR_FORMAT, "%s:%ld: field \"%s\" must be a text or an integer", r->path,
                           r->line, name);
        }
        return 0;
    }
    if (optional)
        return 0;
    return err_set(e, ERR_FORMAT, "%s:%ld: field \"%.*s\" is missing%s%s", r->path, r->line,
                   (int)strcspn(names, ","), names, strchr(names, ',') ? "; accepted names are " : "",
                   strchr(names, ',') ? names : "");
}

int row_answer(struct row_text *out, const struct rows *r, const json_t *row, const char *names,
               struct err *e)
{
    int rc = row_text(out, r, row, names, 0, e), n_name = (int)strcspn(names, ",");
    if (!rc && !out->n)
        rc = err_set(e, ERR_FORMAT, "%s:%ld: field \"%.*s\" is empty", r->path, r->line, n_name, names);
    if (!rc && memchr(out->s, 0, out->n))
        rc = err_set(e, ERR_FORMAT, "%s:%ld: field \"%.*s\" holds a NUL character", r->path, r->line, n_name,
                     names);
    return rc;
}

void problem_set_prompt(struct problem *p, struct task *t, const char *text, size_t n)
{
    p->prompt = arena_strndup(&t->arena, text, n);
    p->prompt_len = n;
}

void problem_set_hash(struct problem *p, const char *text, size_t n)
{
    sha256_hex(text, n, p->hash, sizeof p->hash - 1);
    p->same = duplicates_hash(text, n);
}

void problem_set_gold(struct problem *p, struct task *t, const char *text, size_t n)
{
    p->gold = arena_strndup(&t->arena, text, n);
    p->gold_len = n;
    p->n_golds = 1;
}

int problem_set_id(struct problem *p, const struct rows *r, struct row_text id, struct err *e)
{
    struct arena *a = &r->task->arena;
    if (!id.s) {
        p->id = arena_printf(a, "%ld", r->line);
        return 0;
    }
    if (!id.n || id.n > 200 || memchr(id.s, 0, id.n))
        return err_set(e, ERR_FORMAT, "%s:%ld: an id must be a text of 1 to 200 bytes", r->path, r->line);
    p->id = arena_strndup(a, id.s, id.n);
    return 0;
}

/* ---- prompt templates: files of tasks/prompts, compiled in */

const char *task_prompt_text(const char *name)
{
    for (const struct prompt_text *p = prompt_texts; p->name; p++)
        if (!strcmp(p->name, name))
            return p->text;
    return NULL;
}

int list_has(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (n && !strncmp(p, name, n) && (p[n] == ',' || !p[n]))
            return 1;
    return 0;
}

int prompt_find(const char **text, const struct task *t, const char *family, struct err *e)
{
    const char *variants = t->ops->prompts, *wanted = t->options.prompt;
    int first = (int)strcspn(variants, ",");
    if (wanted && !list_has(variants, wanted))
        return err_set(e, ERR_USAGE, "task %s: unknown prompt variant \"%s\"; choose one of %s", t->ops->name,
                       wanted, variants);
    struct str name = {0};
    str_printf(&name, "%s_%.*s", family, wanted ? (int)strlen(wanted) : first, wanted ? wanted : variants);
    *text = task_prompt_text(name.data);
    int rc =
        *text ? 0
              : err_set(e, ERR_UNSUPPORTED, "task %s: the program was built without the prompt file %s.txt",
                        t->ops->name, name.data);
    str_release(&name);
    return rc;
}

int grade_blank(struct grade *out, const struct response *r, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r' && text[i] != '\n')
            return 0;
    int is_cut = r->finish == FINISH_LENGTH;
    *out = (struct grade){.verdict = is_cut ? VERDICT_TRUNCATED : VERDICT_UNPARSED,
                          .reason = is_cut ? "The length limit came before an answer."
                                           : "The answer section is empty.",
                          .gold_form = "",
                          .pred_form = ""};
    return 1;
}
