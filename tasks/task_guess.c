/* Looks at a file of problems and proposes the entry of a run file: which columns hold what, by their names
 * and by what stands in them. The proposal is only that; `kveval init --data` opens the task before it writes
 * it. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tasks/task_columns.h"
#include "tasks/task_file.h"

/* Names in use, the surest first, compared without case, blanks and underscores. */
static const char problem_names[] = "problem,question,prompt,query,stem,input,instruction,text,task";
static const char answer_names[] = "answer,expectedanswer,correctanswer,answerkey,correctoption,correct,gold,"
                                   "target,finalanswer,final,label,answerindex,result,"
                                   "solution,output,response";
static const char options_names[] = "options,choices,choices.text,alternatives,endings,answers,candidates";
static const char id_names[] = "id,uid,uuid,questionid,problemid,problemidx,uniqueid,nr,number,index,idx";

static void list_columns(struct str *out, const struct columns *k)
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

static json_t *make_entry(const struct columns *k, const struct found *x, const char *kind, const char *file,
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
static struct column *longest_column(struct columns *k, const struct column *answer)
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
static int check_options(const struct found *x, const struct columns *k, const char *path, struct err *e)
{
    const char *first = json_string_value(json_array_get(x->columns, 0));
    if (first && column_is_wrong_options(first))
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
        int is_wrong = column_is_wrong_options(c->name);
        if (c == x->problem || c == x->answer || !c->n_held || !(is_wrong || column_is_options(c->name)))
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

static int find_columns(struct found *x, struct columns *k, const char *path, struct err *e)
{
    size_t text = offsetof(struct column, n_text);
    int rc = 0;
    *x = (struct found){.problem = columns_named(k, problem_names, text),
                        .answer = columns_named(k, answer_names, text),
                        .list = columns_named(k, options_names, offsetof(struct column, n_list)),
                        .id = columns_named(k, id_names, text)};
    if (k->is_full)
        return err_set(
            e, ERR_USAGE,
            "%s: there are more than %d columns, so that one with options may be missed; write the "
            "task's entry by hand (docs/tasks.md)",
            path, COLUMNS_MAX);
    for (int i = 0; i < k->n_columns && !x->list; i++)
        if (k->column[i].n_list && column_is_options(k->column[i].name) &&
            !column_is_wrong_options(k->column[i].name))
            x->list = &k->column[i];
    if (x->list)
        x->n_options = x->list->n_list;
    else
        rc = columns_series(&x->columns, &x->n_options, k, path, e);
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
    if (first && strlen(first) > 1 && !column_is_options(first))
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
    struct columns *k = xcalloc(1, sizeof *k);
    struct found x = {0};
    struct str name = {0};
    *out = json_array();
    int rc = columns_read(k, &t, path, e);
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
