/* Reads data files row by row and collects problems. */
#include "tasks/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/base/foreign_file.h"
#include "evalcore/base/hash.h"
#include "tasks/csv.h"
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
    t->n_rows = r->n + r->n_left_out;
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

/* A row is one line: its place in the file is line and column. */
static int read_json(json_t **o, const char *line, size_t n, const char *where, struct err *e)
{
    int rc = json_read_text(o, line, n, where, e);
    size_t k = strlen(where);
    if (rc && !strncmp(e->text, where, k) && !strncmp(e->text + k, ":1:", 3))
        memmove(e->text + k, e->text + k + 2, strlen(e->text + k + 2) + 1);
    return rc;
}

static int read_row(struct rows *r, const char *line, size_t n, row_fn row, void *context, struct err *e)
{
    json_t *o = NULL;
    char where[640];
    snprintf(where, sizeof where, "%.580s:%ld", r->path, r->line);
    if (n > ROW_BYTES_MAX)
        return err_set(e, ERR_FORMAT, "%s: this line has %zu bytes; at most %d are read", where, n,
                       ROW_BYTES_MAX);
    int rc = read_json(&o, line, n, where, e);
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

static int read_jsonl(struct rows *r, const char *text, size_t size, row_fn row, void *context, struct err *e)
{
    size_t i = size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
    int rc = 0;
    while (i < size && !rc) {
        const char *end = memchr(text + i, '\n', size - i);
        size_t n = end ? (size_t)(end - (text + i)) : size - i, blank = 0;
        r->line++;
        r->row_at = i;
        r->row_bytes = n;
        while (blank < n && (text[i + blank] == ' ' || text[i + blank] == '\t' || text[i + blank] == '\r'))
            blank++;
        if (blank < n)
            rc = read_row(r, text + i, n, row, context, e);
        i += n + 1;
    }
    return rc;
}

static size_t skip_space(const char *text, size_t size, size_t i)
{
    while (i < size && memchr(" \t\r\n", text[i], 4))
        i++;
    return i;
}

/* The place behind the value that begins at i; where none ends, size. What it holds is not looked at. */
static size_t end_of_item(const char *text, size_t size, size_t i)
{
    long depth = 0;
    int in_text = 0;
    for (; i < size; i++) {
        if (in_text && text[i] == '\\') {
            i++;
        } else if (in_text) {
            in_text = text[i] != '"';
        } else if (text[i] == '"') {
            in_text = 1;
        } else if (text[i] == '{' || text[i] == '[') {
            depth++;
        } else if (text[i] == '}' || text[i] == ']' || text[i] == ',') {
            if (!depth)
                return i;
            depth -= text[i] != ',';
        }
    }
    return size;
}

/* One item after the other: such files may be larger than what is kept of them. */
static int read_list(struct rows *r, const char *text, size_t size, row_fn row, void *context, struct err *e)
{
    size_t i = skip_space(text, size, size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0);
    int rc = 0;
    if (i == size || text[i] != '[')
        return err_set(e, ERR_FORMAT, "%s: a list of JSON objects was expected", r->path);
    i = skip_space(text, size, i + 1);
    if (i < size && text[i] == ']')
        return 0;
    do {
        i = skip_space(text, size, i);
        size_t end = end_of_item(text, size, i);
        r->line++;
        if (end == size)
            rc = err_set(e, ERR_FORMAT, "%s:%ld: the list ends in this item", r->path, r->line);
        else if (text[i] != '{')
            rc = err_set(e, ERR_FORMAT, "%s:%ld: this item of the list is no JSON object", r->path, r->line);
        else
            rc = read_row(r, text + i, end - i, row, context, e);
        i = end;
    } while (!rc && text[i++] == ',');
    if (!rc && (text[i - 1] != ']' || skip_space(text, size, i) < size))
        rc = err_set(e, ERR_FORMAT, "%s: something follows the list, or it is not closed by ]", r->path);
    return rc;
}

static int read_header(json_t *names, const struct csv *c, struct err *e)
{
    json_t *seen = json_object();
    int rc = 0;
    char other = c->n_fields > 1                                  ? 0
                 : memchr(c->fields[0].s, ';', c->fields[0].len)  ? ';'
                 : memchr(c->fields[0].s, '\t', c->fields[0].len) ? '\t'
                                                                  : 0;
    if (other)
        rc = err_set(
            e, ERR_FORMAT,
            "%s:%ld: the header is one column with %s in it; columns of this file must be separated by "
            "%s: save it again so, or give a file with tabs the ending .tsv",
            c->path, c->line, other == ';' ? "\";\"" : "tabs", c->separator == ',' ? "commas" : "tabs");
    for (int i = 0; i < c->n_fields && !rc; i++) {
        json_t *name = json_stringn(c->fields[i].s, c->fields[i].len);
        if (!name || memchr(c->fields[i].s, 0, c->fields[i].len))
            rc = err_set(e, ERR_FORMAT, "%s:%ld: column %d of the header is not valid UTF-8", c->path,
                         c->line, i + 1);
        else if (json_object_get(seen, json_string_value(name)))
            rc = err_set(e, ERR_FORMAT, "%s:%ld: the header has the column \"%.80s\" twice", c->path, c->line,
                         json_string_value(name));
        else
            json_object_set_new(seen, json_string_value(name), json_true());
        json_array_append_new(names, name ? name : json_null());
    }
    json_decref(seen);
    return rc;
}

/* An empty cell is no value: another row may have one there. */
static int read_record(struct rows *r, const json_t *names, const struct csv *c, row_fn row, void *context,
                       struct err *e)
{
    json_t *o = json_object();
    int rc = 0;
    r->line = c->line;
    if ((size_t)c->n_fields != json_array_size(names))
        rc = err_set(e, ERR_FORMAT, "%s:%ld: this row has %d fields, the header has %zu", c->path, c->line,
                     c->n_fields, json_array_size(names));
    for (int i = 0; i < c->n_fields && !rc; i++) {
        const char *name = json_string_value(json_array_get(names, (size_t)i));
        json_t *v = json_stringn(c->fields[i].s, c->fields[i].len);
        if (!v)
            rc = err_set(e, ERR_FORMAT, "%s:%ld: the field \"%.80s\" is not valid UTF-8", c->path, c->line,
                         name);
        else if (c->fields[i].len)
            json_object_set(o, name, v);
        json_decref(v);
    }
    if (!rc)
        rc = row(r, o, context, e);
    json_decref(o);
    return rc;
}

static int read_records(struct rows *r, const char *text, size_t size, char separator, row_fn row,
                        void *context, struct err *e)
{
    struct csv c;
    json_t *names = json_array();
    csv_open(&c, r->path, text, size);
    c.separator = separator;
    int rc = csv_next(&c, e);
    if (!rc)
        rc = err_set(e, ERR_FORMAT, "%s: the file is empty", r->path);
    if (rc > 0)
        rc = read_header(names, &c, e);
    while (!rc && (rc = csv_next(&c, e)) > 0)
        rc = read_record(r, names, &c, row, context, e);
    csv_close(&c);
    json_decref(names);
    return rc;
}

static const char *const formats[] = {"jsonl", "json", "csv", "tsv", NULL};

int rows_format_is_known(const char *format)
{
    for (int i = 0; formats[i]; i++)
        if (!strcmp(formats[i], format))
            return 1;
    return 0;
}

/* By the end of the name; JSON and other names by their first byte, since lists are called .json and lines
 * too. */
static const char *format_of(const char *path, const char *text, size_t size)
{
    const char *dot = strrchr(path, '.');
    if (dot && (!strcmp(dot, ".csv") || !strcmp(dot, ".tsv")))
        return dot + 1;
    size_t i = size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
    while (i < size && memchr(" \t\r\n", text[i], 4))
        i++;
    return i < size && text[i] == '[' && !(dot && !strcmp(dot, ".jsonl")) ? "json" : "jsonl";
}

int rows_read(struct task *t, const char *path, const char *format, row_fn row,
              int (*finish)(struct rows *r, void *context, struct err *e), void *context, struct err *e)
{
    struct file_map map = {0};
    struct rows r = {.task = t, .path = path};
    int rc = file_map_open(&map, path, e);
    if (rc)
        return rc;
    const char *text = (const char *)map.data, *encoding = foreign_encoding(map.data, map.size);
    if (encoding) {
        rc = err_set(e, ERR_FORMAT, "%s: %s", path, encoding);
        file_map_close(&map);
        return rc;
    }
    sha256_hex(map.data, map.size, t->source, 64);
    if (!format)
        format = format_of(path, text, map.size);
    if (!strcmp(format, "csv") || !strcmp(format, "tsv"))
        rc = read_records(&r, text, map.size, *format == 't' ? '\t' : ',', row, context, e);
    else if (!strcmp(format, "json"))
        rc = read_list(&r, text, map.size, row, context, e);
    else
        rc = read_jsonl(&r, text, map.size, row, context, e);
    if (!rc && finish)
        rc = finish(&r, context, e);
    if (!rc)
        rc = rows_finish(&r, e);
    rows_release(&r);
    file_map_close(&map);
    return rc;
}

int rows_read_jsonl(struct task *t, const char *path, row_fn row, void *context, struct err *e)
{
    return rows_read(t, path, "jsonl", row, NULL, context, e);
}

struct row_text row_trim(struct row_text t)
{
    size_t n;
    for (; (n = str_space_at(t.s, t.n)); t.s += n)
        t.n -= n;
    while ((n = str_space_before(t.s, t.n)))
        t.n -= n;
    return t;
}

const json_t *row_value(const json_t *row, const char *name)
{
    const json_t *v = json_object_get(row, name);
    const char *dot = v ? NULL : strchr(name, '.');
    if (dot) {
        char first[64];
        snprintf(first, sizeof first, "%.*s", (int)(dot - name), name);
        v = json_object_get(row, first);
        if (json_is_array(v))
            v = dot[1] && strspn(dot + 1, "0123456789") == strlen(dot + 1)
                    ? json_array_get(v, strtoul(dot + 1, NULL, 10))
                    : NULL;
        else
            v = json_is_object(v) ? row_value(v, dot + 1) : NULL;
    }
    return json_is_null(v) ? NULL : v;
}

/* 27.0 is 27, as tables have it whose column holds fractions too; else the shortest digits that read as the
 * number. */
static const char *number_text(const json_t *v, struct arena *a)
{
    double x = json_real_value(v);
    if (json_is_integer(v))
        return arena_printf(a, "%lld", (long long)json_integer_value(v));
    for (int digits = 1;; digits++) {
        char text[40];
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (digits == 17 || strtod(text, NULL) == x)
            return fabs(x) < 1e15 && x == floor(x) ? arena_printf(a, "%.0f", x) : arena_strdup(a, text);
    }
}

struct row_text row_json_text(const json_t *v, struct arena *a)
{
    struct row_text text = {json_string_value(v), json_string_length(v)};
    if (json_is_number(v)) {
        text.s = number_text(v, a);
        text.n = strlen(text.s);
    }
    return text;
}

const json_t *row_first_value(const json_t *row, const char *names, char name[LIST_NAME_BYTES])
{
    const json_t *v = NULL;
    while (!v && (names = list_next(names, name)))
        v = row_value(row, name);
    return v;
}

int row_text(struct row_text *out, const struct rows *r, const json_t *row, const char *names, int optional,
             struct err *e)
{
    char name[LIST_NAME_BYTES];
    const json_t *v = row_first_value(row, names, name);
    *out = row_json_text(v, &r->task->arena);
    if (v && !out->s)
        return err_set(e, ERR_FORMAT, "%s:%ld: field \"%s\" must be a text or a number", r->path, r->line,
                       name);
    if (v)
        return 0;
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
    if (!rc && !row_trim(*out).n)
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

const char *list_next(const char *list, char name[LIST_NAME_BYTES])
{
    size_t n = strcspn(list, ",");
    if (!*list)
        return NULL;
    snprintf(name, LIST_NAME_BYTES, "%.*s", (int)n, list);
    return list + n + (list[n] == ',');
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
