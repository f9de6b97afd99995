/* Looks at a file of problems and proposes the entry of a run file: which columns hold what, by their names
 * and by what stands in them. The proposal is only that; `kveval init --data` opens the task before it writes
 * it. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tasks/task_file.h"

enum { COLUMNS_MAX = 64 };

struct column {
    const char *name;
    size_t n, n_text, n_list,
        n_mark;   /* rows that have it; with a text or an integer; with a list of such; with "####" */
    size_t bytes; /* of its texts */
};

struct look {
    struct column column[COLUMNS_MAX];
    int n_columns;
    size_t n_rows;
    struct task *task;
};

/* Names in use, the surest first, compared without case, blanks and underscores. */
static const char problem_names[] = "problem,question,prompt,query,stem,input,instruction,text,task";
static const char answer_names[] = "answer,expectedanswer,correctanswer,answerkey,correctoption,correct,gold,"
                                   "target,finalanswer,label,answerindex,result,"
                                   "solution,output,response";
static const char options_names[] = "options,choices,choices.text,alternatives,answers,candidates";
static const char id_names[] = "id,uid,uuid,questionid,problemid,problemidx,uniqueid,nr,number,index,idx";

static int is_scalar(const json_t *v)
{
    return json_is_string(v) || json_is_integer(v);
}

static void look_at(struct look *k, const char *name, const json_t *v)
{
    int i = 0;
    while (i < k->n_columns && strcmp(k->column[i].name, name))
        i++;
    if (i == COLUMNS_MAX || strchr(name, ',') || !*name || strlen(name) >= 64)
        return;
    if (i == k->n_columns)
        k->column[k->n_columns++] = (struct column){.name = arena_strdup(&k->task->arena, name)};
    struct column *c = &k->column[i];
    c->n++;
    c->n_text += is_scalar(v);
    c->bytes += json_string_length(v);
    c->n_mark += json_is_string(v) && strstr(json_string_value(v), "####");
    int is_list = json_array_size(v) >= 2;
    for (size_t n = 0; n < json_array_size(v); n++)
        is_list &= is_scalar(json_array_get(v, n));
    c->n_list += is_list;
}

static int look_at_row(struct rows *r, const json_t *row, void *context, struct err *e)
{
    struct look *k = context;
    const char *name, *part;
    json_t *v, *w;
    char path[160];
    (void)e;
    k->n_rows++;
    json_object_foreach((json_t *)row, name, v)
    {
        if (!json_is_null(v))
            look_at(k, name, v);
        json_object_foreach(v, part, w)
        {
            snprintf(path, sizeof path, "%.70s.%.70s", name, part);
            look_at(k, path, w);
        }
    }
    rows_add(r)->prompt = "";
    return 0;
}

/* ---- columns by name */

static int is_alike(const char *column, const char *name, size_t n)
{
    size_t i = 0;
    for (; *column; column++) {
        if (strchr(" _-", *column))
            continue;
        if (i == n || tolower((unsigned char)*column) != name[i])
            return 0;
        i++;
    }
    return i == n;
}

/* The column of the first of the names for which a count (a size_t of struct column at `count`) is above 0.
 */
static struct column *named_column(struct look *k, const char *names, size_t count)
{
    for (const char *p = names; *p;) {
        size_t n = strcspn(p, ",");
        for (int i = 0; i < k->n_columns; i++)
            if (*(const size_t *)((const char *)&k->column[i] + count) && is_alike(k->column[i].name, p, n))
                return &k->column[i];
        p += n + (p[n] == ',');
    }
    return NULL;
}

static struct column *column_of(struct look *k, const char *prefix, size_t n, char last)
{
    for (int i = 0; i < k->n_columns; i++) {
        const char *s = k->column[i].name;
        if (strlen(s) == n + 1 && !memcmp(s, prefix, n) && s[n] == last && k->column[i].n_text)
            return &k->column[i];
    }
    return NULL;
}

/* A row of columns whose names differ in the last letter or digit alone: A, B, C; option_1, option_2;
 * choice0, ... */
static json_t *lettered_columns(struct look *k, size_t *n_rows)
{
    static const char firsts[] = {'A', 'a', '1', '0'};
    for (int i = 0; i < k->n_columns; i++) {
        const char *s = k->column[i].name;
        size_t n = strlen(s) - 1;
        if (!memchr(firsts, s[n], sizeof firsts) || !column_of(k, s, n, (char)(s[n] + 1)))
            continue;
        json_t *list = json_array();
        *n_rows = column_of(k, s, n, (char)(s[n] + 1))->n_text;
        for (char c = s[n]; isalnum((unsigned char)c) && column_of(k, s, n, c); c++)
            json_array_append_new(list, json_string(column_of(k, s, n, c)->name));
        return list;
    }
    return NULL;
}

static void list_columns(struct str *out, const struct look *k)
{
    for (int i = 0; i < k->n_columns && i < 20; i++)
        str_printf(out, "%s\"%.63s\"", i ? ", " : "", k->column[i].name);
}

/* ---- the entry */

/* The file's name without folder and ending, as a task may be called. */
static void add_name(struct str *out, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
    size_t n = dot && dot > base ? (size_t)(dot - base) : strlen(base);
    for (size_t i = 0; i < n && out->len < 40; i++)
        if (isalnum((unsigned char)base[i]) || (out->len && strchr("_-", base[i])))
            str_putc(out, base[i]);
    str_puts(out, out->len ? "" : "mine");
    const struct task_ops *ops = task_of_run(out->data, NULL);
    if (ops || task_find(out->data) || task_group_find(out->data) || task_kind_find(out->data))
        str_puts(out, "_mine");
}

struct found {
    const struct column *problem, *answer, *list, *id;
    json_t *columns; /* of options, where each has one; NULL: none */
    size_t n_options;
};

static json_t *make_entry(const struct look *k, const struct found *x, const char *kind, const char *file,
                          const char *name)
{
    json_t *fields = json_object(), *o = json_object();
    json_object_set_new(o, "kind", json_string(kind));
    json_object_set_new(o, "file", json_string_nocheck(file));
    json_object_set_new(o, "as", json_string(name));
    json_object_set_new(fields, "problem", json_string(x->problem->name));
    if (!strcmp(kind, "choice") && x->columns)
        json_object_set(fields, "options", x->columns);
    else if (!strcmp(kind, "choice"))
        json_object_set_new(fields, "options", json_string(x->list->name));
    json_object_set_new(fields, "answer", json_string(x->answer->name));
    if (x->id)
        json_object_set_new(fields, "id", json_string(x->id->name));
    json_object_set_new(o, "fields", fields);
    if (x->n_options && x->n_options < k->n_rows) {
        const char *column = x->columns ? json_string_value(json_array_get(x->columns, 0)) : x->list->name;
        json_object_set_new(o, "rows",
                            json_pack("{s:s}", strcmp(kind, "choice") ? "without" : "with", column));
    }
    if (!strcmp(kind, "math") && x->answer->n_mark && x->answer->n_mark == x->answer->n)
        json_object_set_new(o, "grader", json_pack("{s:s}", "answer_after", "####"));
    return o;
}

/* By no name: the column with the longest texts. */
static struct column *longest_column(struct look *k, const struct column *answer)
{
    struct column *longest = NULL;
    for (int i = 0; i < k->n_columns; i++) {
        struct column *c = &k->column[i];
        if (c != answer && c->n_text == k->n_rows && c->bytes && (!longest || c->bytes > longest->bytes))
            longest = c;
    }
    return longest;
}

static int find_columns(struct found *x, struct look *k, const char *path, struct err *e)
{
    size_t text = offsetof(struct column, n_text);
    *x = (struct found){.problem = named_column(k, problem_names, text),
                        .answer = named_column(k, answer_names, text),
                        .list = named_column(k, options_names, offsetof(struct column, n_list)),
                        .id = named_column(k, id_names, text)};
    if (x->list)
        x->n_options = x->list->n_list;
    else if ((x->columns = lettered_columns(k, &x->n_options)) && json_array_size(x->columns) < 2)
        x->n_options = 0;
    if (x->id && (x->id->n_text < k->n_rows || x->id == x->answer))
        x->id = NULL;
    if (!x->problem)
        x->problem = longest_column(k, x->answer);
    if (x->problem && x->answer && x->problem != x->answer)
        return 0;
    struct str names = {0};
    list_columns(&names, k);
    int rc = err_set(
        e, ERR_USAGE,
        "%s: no column looks like %s; its columns are %s. Write the task's entry by hand: {\"kind\": "
        "\"math\", \"file\": ..., \"fields\": {\"problem\": ..., \"answer\": ...}}, with \"options\" for "
        "\"choice\"",
        path, x->problem ? "an answer" : "a problem", str_text(&names));
    str_release(&names);
    return rc;
}

/* A proposal that cannot be opened says why, but for answers that can be read in two ways: only a person
 * knows. */
static int check_entry(json_t *entry, const char *path, struct err *e)
{
    const struct task_ops *ops = NULL;
    struct task_options o;
    struct arena a = {0};
    struct task t;
    struct err own = {0};
    json_t *definition = json_copy(entry);
    param_defaults(task_params, &o);
    o.file = path;
    json_object_del(definition, "file");
    json_object_del(definition, "as");
    int rc = task_read_object(&ops, definition, json_string_value(json_object_get(entry, "as")), path, "", &a,
                              &own);
    if (!rc)
        rc = task_open_as(&t, ops, NULL, &o, NULL, NULL, &own);
    if (!rc)
        task_close(&t);
    else if (strstr(own.text, "answer_is")) {
        json_object_set_new(entry, "grader",
                            json_pack("{s:s}", "answer_is", "letter, from0, from1 or text?"));
        json_object_set_new(entry, "note", json_text_of(own.text));
        rc = 0;
    } else
        err_set(e, rc, "%s", own.text);
    json_decref(definition);
    arena_release(&a);
    return rc;
}

int task_guess(json_t **out, const char *path, const char *shown, struct err *e)
{
    struct task t = {0};
    struct look *k = xcalloc(1, sizeof *k);
    struct found x = {0};
    struct str name = {0};
    *out = json_array();
    k->task = &t;
    int rc = rows_read(&t, path, NULL, look_at_row, NULL, k, e);
    if (!rc)
        rc = find_columns(&x, k, path, e);
    add_name(&name, path);
    int is_mixed = x.n_options && x.n_options < k->n_rows;
    size_t n = name.len;
    for (int is_choice = 0; is_choice < 2 && !rc; is_choice++) {
        if (!(is_choice ? x.n_options : k->n_rows - x.n_options))
            continue;
        const char *kind = is_choice ? "choice" : "math";
        name.len = n;
        if (is_mixed)
            str_printf(&name, "_%s", kind);
        else
            name.data[n] = 0;
        json_t *entry = make_entry(k, &x, kind, shown, name.data);
        rc = check_entry(entry, path, e);
        json_array_append_new(*out, entry);
    }
    json_decref(x.columns);
    str_release(&name);
    arena_release(&t.arena);
    free(k);
    if (rc) {
        json_decref(*out);
        *out = NULL;
    }
    return rc;
}
