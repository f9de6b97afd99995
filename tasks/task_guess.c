/* Looks at a file of problems and proposes the entry of a run file: which columns hold what, by their names
 * and by what stands in them. The proposal is only that; `kveval init --data` opens the task before it writes
 * it. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tasks/task_file.h"

enum { COLUMNS_MAX = 256 };

struct column {
    const char *name;
    /* Rows that have it; with a text or a number; with a list of two or more such; with a text, a list or an
     * object that is not empty; with "####"; with a box. */
    size_t n, n_text, n_list, n_held, n_mark, n_box;
    size_t bytes;  /* of its texts */
    long other_at; /* the first row that has neither a list of these nor an object there; 0: none */
};

struct look {
    struct column column[COLUMNS_MAX];
    int n_columns, is_full; /* is_full: a row has a column that is not in the table */
    size_t n_rows;
    struct task *task;
};

/* Names in use, the surest first, compared without case, blanks and underscores. */
static const char problem_names[] = "problem,question,prompt,query,stem,input,instruction,text,task";
static const char answer_names[] = "answer,expectedanswer,correctanswer,answerkey,correctoption,correct,gold,"
                                   "target,finalanswer,final,label,answerindex,result,"
                                   "solution,output,response";
static const char options_names[] = "options,choices,choices.text,alternatives,endings,answers,candidates";
/* What is in the name of a column that holds options, and what begins that of one with wrong ones. */
static const char *const option_words[] = {"option", "choice", "alternative", NULL};
static const char *const wrong_words[] = {"incorrect", "wrong", "distractor", NULL};
static const char id_names[] = "id,uid,uuid,questionid,problemid,problemidx,uniqueid,nr,number,index,idx";

static int is_scalar(const json_t *v)
{
    return json_is_string(v) || json_is_number(v);
}

static void look_at(struct look *k, const char *name, const json_t *v, long line)
{
    int i = 0;
    if (strchr(name, ',') || !*name || strlen(name) >= 64)
        return;
    while (i < k->n_columns && strcmp(k->column[i].name, name))
        i++;
    if (i == COLUMNS_MAX) {
        k->is_full = 1;
        return;
    }
    if (i == k->n_columns)
        k->column[k->n_columns++] = (struct column){.name = arena_strdup(&k->task->arena, name)};
    struct column *c = &k->column[i];
    c->n++;
    c->n_text += is_scalar(v);
    c->n_held += json_string_length(v) || json_array_size(v) || json_object_size(v);
    c->bytes += json_string_length(v);
    c->n_mark += json_is_string(v) && strstr(json_string_value(v), "####");
    c->n_box += json_is_string(v) && strstr(json_string_value(v), "\\boxed{");
    int is_list = json_array_size(v) >= 2;
    for (size_t n = 0; n < json_array_size(v); n++)
        is_list &= is_scalar(json_array_get(v, n));
    c->n_list += is_list;
    if (!is_list && !json_is_object(v) && !c->other_at)
        c->other_at = line;
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
            look_at(k, name, v, r->line);
        json_object_foreach(v, part, w)
        {
            if (json_is_null(w))
                continue;
            snprintf(path, sizeof path, "%.70s.%.70s", name, part);
            look_at(k, path, w, r->line);
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

/* The name in small letters, without blanks and underscores. */
static void bare_name(char out[64], const char *column)
{
    size_t n = 0;
    for (; *column && n < 63; column++)
        if (!strchr(" _-", *column))
            out[n++] = (char)tolower((unsigned char)*column);
    out[n] = 0;
}

/* Is the column of wrong options, by the beginning of its name? */
static int is_wrong_options(const char *column)
{
    char name[64];
    bare_name(name, column);
    for (size_t i = 0; wrong_words[i]; i++)
        if (!strncmp(name, wrong_words[i], strlen(wrong_words[i])))
            return 1;
    return 0;
}

/* Does the name say that the column holds options: "answer_choices", "options_text", "Option B"?
 * "choice_type" does not. */
static int is_options(const char *column)
{
    static const char *const ends[] = {"", "text", "texts", "list", "str", "string", "json", "raw", NULL};
    char name[64];
    bare_name(name, column);
    for (size_t i = 0; option_words[i]; i++)
        for (const char *p = name; (p = strstr(p, option_words[i])); p++) {
            const char *end = p + strlen(option_words[i]), *rest = end + (*end == 's');
            int is_one = p == name && *end && (!end[1] || strspn(end, "0123456789") == strlen(end));
            for (size_t n = 0; ends[n]; n++)
                is_one |= !strcmp(rest, ends[n]) && (!*rest || p == name);
            if (is_one)
                return 1;
        }
    return 0;
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

/* Columns of a series have a common beginning and end in a letter or in a number: A, B, C; option_1 to
 * option_12; choice0. */
struct series {
    const char *prefix;
    size_t n;
    int is_number;
    long first, last;
};

/* The place of a column in a series; -1: it is not of it. */
static long place_in(const struct series *x, const struct column *c)
{
    const char *end = c->name + x->n;
    if (!c->n_text || strlen(c->name) <= x->n || memcmp(c->name, x->prefix, x->n) != 0)
        return -1;
    if (x->is_number)
        return strlen(end) < 5 && strspn(end, "0123456789") == strlen(end) ? strtol(end, NULL, 10) : -1;
    return !end[1] && isalpha((unsigned char)*end) && !islower((unsigned char)*end) == (x->first == 'A')
               ? *end
               : -1;
}

static const struct column *column_at(const struct look *k, const struct series *x, long place)
{
    for (int i = 0; i < k->n_columns; i++)
        if (place_in(x, &k->column[i]) == place)
            return &k->column[i];
    return NULL;
}

/* Does the column begin a series? One that ends in 0 or 1 is not the 0 of 10. */
static int begins_series(struct series *x, const struct column *c)
{
    size_t n = strlen(c->name), digits = 0;
    while (digits < n && isdigit((unsigned char)c->name[n - 1 - digits]))
        digits++;
    *x = (struct series){.prefix = c->name, .n = n - (digits ? digits : 1), .is_number = digits > 0};
    x->first = digits ? strtol(c->name + x->n, NULL, 10) : c->name[n - 1];
    return c->n_text && (digits ? digits < 5 && x->first <= 1 : x->first == 'A' || x->first == 'a');
}

/* A column behind a gap of the series; NULL: there is none. Other columns may have one letter as name. */
static const struct column *behind_gap(const struct look *k, const struct series *x)
{
    for (int i = 0; i < k->n_columns; i++) {
        long place = place_in(x, &k->column[i]);
        if (place > x->last && (x->n || x->is_number || place == x->last + 2))
            return &k->column[i];
    }
    return NULL;
}

/* The columns of the first series, or *list NULL. One that a gap cuts off would be an option that is never
 * shown. */
static int find_series(json_t **list, size_t *n_rows, const struct look *k, const char *path, struct err *e)
{
    struct series x;
    for (int i = 0; i < k->n_columns; i++) {
        if (!begins_series(&x, &k->column[i]) || !column_at(k, &x, x.first + 1))
            continue;
        if (x.first == 1 && x.is_number && column_at(k, &x, 0))
            continue;
        *list = json_array();
        *n_rows = column_at(k, &x, x.first + 1)->n_text;
        for (x.last = x.first; column_at(k, &x, x.last); x.last++)
            json_array_append_new(*list, json_string(column_at(k, &x, x.last)->name));
        x.last--;
        const struct column *lost = behind_gap(k, &x);
        return lost
                   ? err_set(e, ERR_USAGE,
                             "%s: the columns \"%s\" to \"%s\" look like options, and so does \"%s\", but "
                             "the one before it is missing; write the task's entry by hand, with all of "
                             "them in \"fields\": {\"options\": [...]}",
                             path, json_string_value(json_array_get(*list, 0)),
                             json_string_value(json_array_get(*list, json_array_size(*list) - 1)), lost->name)
                   : 0;
    }
    return 0;
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
    else if (!strcmp(kind, "math") && x->answer->n_box && x->answer->n_box == x->answer->n)
        json_object_set_new(o, "grader", json_pack("{s:b}", "answer_in_box", 1));
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

/* Options in a form that is not understood must not become a mathematical problem whose answer is "B". */
static int check_options(const struct found *x, const struct look *k, const char *path, struct err *e)
{
    const char *first = json_string_value(json_array_get(x->columns, 0));
    if (first && is_wrong_options(first))
        return err_set(e, ERR_USAGE,
                       "%s: \"%s\" looks like a wrong option, and the right one stands elsewhere; put all "
                       "options of a row into one list \"options\", with the right one at any place, and its "
                       "letter or text into \"answer\"",
                       path, first);
    if (x->list && x->list->other_at)
        return err_set(e, ERR_USAGE,
                       "%s:%ld: \"%s\" is no list of at least two texts or numbers here, as it is in other "
                       "rows; correct it, or leave it out where a problem has no options",
                       path, x->list->other_at, x->list->name);
    for (int i = 0; i < k->n_columns && !x->n_options; i++) {
        const struct column *c = &k->column[i];
        int is_wrong = is_wrong_options(c->name);
        if (c == x->problem || c == x->answer || !c->n_held || !(is_wrong || is_options(c->name)))
            continue;
        if (is_wrong)
            return err_set(
                e, ERR_USAGE,
                "%s: \"%s\" looks like the wrong options of a problem; put all options of a row "
                "into one list \"options\", with the right one at any place, and its letter or text "
                "into \"answer\"",
                path, c->name);
        return err_set(
            e, ERR_USAGE,
            "%s:%ld: \"%s\" looks like options and is no list of at least two texts or numbers; "
            "write it as a JSON list, as [\"red\", \"blue\"], or a column for each option (A, B, C); "
            "if these are no options, write the task's entry by hand (docs/tasks.md)",
            path, c->other_at ? c->other_at : 1, c->name);
    }
    return 0;
}

static int find_columns(struct found *x, struct look *k, const char *path, struct err *e)
{
    size_t text = offsetof(struct column, n_text);
    int rc = 0;
    *x = (struct found){.problem = named_column(k, problem_names, text),
                        .answer = named_column(k, answer_names, text),
                        .list = named_column(k, options_names, offsetof(struct column, n_list)),
                        .id = named_column(k, id_names, text)};
    if (k->is_full)
        return err_set(
            e, ERR_USAGE,
            "%s: there are more than %d columns, so that one with options may be missed; write the "
            "task's entry by hand (docs/tasks.md)",
            path, COLUMNS_MAX);
    for (int i = 0; i < k->n_columns && !x->list; i++)
        if (k->column[i].n_list && is_options(k->column[i].name) && !is_wrong_options(k->column[i].name))
            x->list = &k->column[i];
    if (x->list)
        x->n_options = x->list->n_list;
    else
        rc = find_series(&x->columns, &x->n_options, k, path, e);
    if (x->id && (x->id->n_text < k->n_rows || x->id == x->answer))
        x->id = NULL;
    if (!x->problem)
        x->problem = longest_column(k, x->answer);
    if (!rc)
        rc = check_options(x, k, path, e);
    if (rc || (x->problem && x->answer && x->problem != x->answer))
        return rc;
    struct str names = {0};
    list_columns(&names, k);
    rc = err_set(
        e, ERR_USAGE,
        "%s: no column looks like %s; its columns are %s. Write the task's entry by hand: {\"kind\": "
        "\"math\", \"file\": ..., \"fields\": {\"problem\": ..., \"answer\": ...}}, with \"options\" for "
        "\"choice\"",
        path, x->problem ? "an answer" : "a problem", str_text(&names));
    str_release(&names);
    return rc;
}

/* A worked solution is no reference answer: no completion would equal it. Does a text look like one: long, or
 * with several words that are not LaTeX's? */
static int is_worked(const char *s)
{
    int n_words = 0;
    for (const char *p = s; *p; p++) {
        size_t n = 0;
        while (isalpha((unsigned char)p[n]))
            n++;
        n_words += n >= 2 && (p == s || p[-1] == ' ' || p[-1] == '\n');
        p += n ? n - 1 : 0;
    }
    return n_words >= 5 || strlen(s) > 200;
}

static int check_answers(const struct task *t, const char *column, const char *path, struct err *e)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n_problems; i++)
        n += (size_t)is_worked(t->problems[i].gold);
    if (2 * n < t->n_problems)
        return 0;
    return err_set(e, ERR_USAGE,
                   "%s: \"%s\" holds worked solutions (%zu of %zu), which no completion equals; write the "
                   "task's entry by hand, and say in \"fields\" which column has the final answer, or in "
                   "\"grader\" where it stands (\"answer_after\", \"answer_in_box\")",
                   path, column, n, t->n_problems);
}

/* Says which columns were taken as options where their names do not say that they are. */
static int refuse_entry(const struct found *x, int rc, const char *text, struct err *e)
{
    const char *first = json_string_value(json_array_get(x->columns, 0));
    struct str names = {0};
    for (size_t i = 0; i < json_array_size(x->columns); i++)
        str_printf(&names, "%s%s", i ? ", " : "", json_string_value(json_array_get(x->columns, i)));
    if (first && strlen(first) > 1 && !is_options(first))
        err_set(e, rc, "%s (taken as options: %s; if they are none, write the task's entry by hand)", text,
                names.data);
    else
        err_set(e, rc, "%s", text);
    str_release(&names);
    return rc;
}

/* A proposal that cannot be opened says why, but for answers that can be read in two ways: only a person
 * knows. */
static int check_entry(json_t *entry, const struct found *x, const char *path, struct err *e)
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
    int is_open = !rc;
    if (is_open && !strcmp(ops->kind, "math"))
        rc = check_answers(&t, x->answer->name, path, &own);
    if (is_open)
        task_close(&t);
    if (rc && strstr(own.text, "answer_is")) {
        json_object_set_new(entry, "grader",
                            json_pack("{s:s}", "answer_is", "letter, from0, from1 or text?"));
        json_object_set_new(entry, "note", json_text_of(own.text));
        rc = 0;
    } else if (rc) {
        refuse_entry(x, rc, own.text, e);
    }
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
        rc = check_entry(entry, &x, path, e);
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
