/* The kind choice: a question, its options and which of them is right.
 *
 * Data sets write the right option as a letter, as a number from 0 or from 1, or as its text. A file has one
 * way: it is the one in which every row names an option, and where several do, all of them have to mean the
 * same. Otherwise the file is refused, since a guess would grade all completions against the wrong option. */
#include "tasks/task_file.h"

#include <stdlib.h>
#include <string.h>

#include "tasks/duplicates.h"

enum { OPTIONS_MAX = 26 };
enum answer_form { ANSWER_LETTER, ANSWER_FROM_0, ANSWER_FROM_1, ANSWER_TEXT, N_FORMS };
static const char *const form_names[] = {"letter", "from0", "from1", "text", NULL};

/* What a row's answer means in each form. */
struct named {
    signed char option[N_FORMS]; /* -1: none */
    uint64_t text[N_FORMS];      /* hash of that option */
};

/* What the rows so far leave open. */
struct answers {
    int is_open[N_FORMS];  /* every row names an option in this form */
    long lost_at[N_FORMS]; /* the first row that does not */
    size_t n, cap;
    struct named *at; /* (n) */
};

struct options {
    struct row_text text[OPTIONS_MAX], raw[OPTIONS_MAX]; /* trimmed, and as the row has it */
    int n;
};

static int add_option(struct options *o, const struct rows *r, struct row_text text, struct err *e)
{
    if (o->n < OPTIONS_MAX)
        o->raw[o->n] = text;
    text = row_trim(text);
    if (!text.n || memchr(text.s, 0, text.n))
        return err_set(e, ERR_FORMAT, "%s:%ld: option %d is empty or holds a NUL character", r->path, r->line,
                       o->n + 1);
    if (o->n == OPTIONS_MAX)
        return err_set(e, ERR_FORMAT, "%s:%ld: there are more than %d options", r->path, r->line,
                       OPTIONS_MAX);
    for (int i = 0; i < o->n; i++)
        if (o->text[i].n == text.n && !memcmp(o->text[i].s, text.s, text.n))
            return err_set(e, ERR_FORMAT, "%s:%ld: options %d and %d are the same", r->path, r->line, i + 1,
                           o->n + 1);
    o->text[o->n++] = text;
    return 0;
}

static int read_list(struct options *o, const struct rows *r, const json_t *list, const char *column,
                     struct err *e)
{
    size_t i;
    const json_t *v;
    int rc = 0;
    json_array_foreach((json_t *)list, i, v)
    {
        struct row_text text = {json_string_value(v), json_string_length(v)};
        if (json_is_integer(v)) {
            text.s = arena_printf(&r->task->arena, "%lld", (long long)json_integer_value(v));
            text.n = strlen(text.s);
        }
        if (!rc && !text.s)
            rc = err_set(e, ERR_FORMAT, "%s:%ld: field \"%s\" must hold texts; item %zu is none", r->path,
                         r->line, column, i + 1);
        if (!rc)
            rc = add_option(o, r, text, e);
    }
    return rc;
}

/* An option from each column; the last ones may lack. */
static int read_columns(struct options *o, const struct rows *r, const json_t *row, const char *columns,
                        struct err *e)
{
    int rc = 0, n_lost = 0;
    for (const char *p = columns; *p && !rc;) {
        char name[64];
        struct row_text text;
        size_t n = strcspn(p, ",");
        snprintf(name, sizeof name, "%.*s", (int)n, p);
        p += n + (p[n] == ',');
        rc = row_text(&text, r, row, name, 1, e);
        if (rc || !text.s) {
            n_lost++;
            continue;
        }
        rc = n_lost ? err_set(e, ERR_FORMAT, "%s:%ld: field \"%s\" is there and one before it is missing",
                              r->path, r->line, name)
                    : add_option(o, r, text, e);
    }
    return rc;
}

/* The list in the first column that the row has, or a column for each option: those that the task's file
 * lists, else A, B, C and so on. */
static int read_options(struct options *o, const struct rows *r, const json_t *row,
                        const struct task_field *f, struct err *e)
{
    const json_t *list = NULL;
    char name[64] = "";
    for (const char *p = f->columns; *p && !f->is_each && !list;) {
        size_t n = strcspn(p, ",");
        snprintf(name, sizeof name, "%.*s", (int)n, p);
        p += n + (p[n] == ',');
        list = row_value(row, name);
    }
    if (list && !json_is_array(list))
        return err_set(
            e, ERR_FORMAT,
            "%s:%ld: field \"%s\" must be a list of options; where each has a column, fields.options is the "
            "list of these",
            r->path, r->line, name);
    int rc = list ? read_list(o, r, list, name, e)
                  : read_columns(o, r, row, f->is_each ? f->columns : "A,B,C,D,E,F,G,H,I,J", e);
    if (!rc && o->n < 2)
        rc = err_set(e, ERR_FORMAT,
                     "%s:%ld: %s; at least two options are needed, as a list in %s, or a column for each "
                     "(fields.options "
                     "says which)",
                     r->path, r->line, o->n ? "there is one option" : "no option was found", f->columns);
    return rc;
}

/* The option that the answer names in each form. "(b)", "b." and "B" are letters. */
static void read_answer(signed char at[N_FORMS], struct row_text answer, const struct options *o)
{
    struct row_text a = row_trim(answer), core = a;
    memset(at, -1, N_FORMS);
    if (core.n > 1 && *core.s == '(')
        core = (struct row_text){core.s + 1, core.n - 1};
    if (core.n == 2 && strchr(").:", core.s[1]))
        core.n = 1;
    if (core.n == 1) {
        int letter = *core.s >= 'a' && *core.s <= 'z' ? *core.s - 'a' : *core.s - 'A';
        if (letter >= 0 && letter < o->n)
            at[ANSWER_LETTER] = (signed char)letter;
    }
    if (a.n && a.n <= 2 && strspn(a.s, "0123456789") >= a.n) {
        int number = (int)strtol(a.s, NULL, 10);
        if (number < o->n)
            at[ANSWER_FROM_0] = (signed char)number;
        if (number >= 1 && number <= o->n)
            at[ANSWER_FROM_1] = (signed char)(number - 1);
    }
    for (int i = 0; i < o->n; i++)
        if (o->text[i].n == a.n && !memcmp(o->text[i].s, a.s, a.n))
            at[ANSWER_TEXT] = (signed char)i;
}

static void take_answer(struct rows *r, struct task_loading *l, struct row_text answer,
                        const struct options *o)
{
    struct answers *k = l->own;
    xgrow(&k->at, &k->cap, k->n + 1, sizeof *k->at);
    struct named *at = &k->at[k->n++];
    *at = (struct named){0};
    read_answer(at->option, answer, o);
    for (int f = 0; f < N_FORMS; f++) {
        int i = at->option[f];
        if (i >= 0)
            at->text[f] = duplicates_hash(o->text[i].s, o->text[i].n);
        if (i < 0 && k->is_open[f]) {
            k->is_open[f] = 0;
            k->lost_at[f] = r->line;
        }
    }
}

/* {options}: each by the variant's template, one a line. */
static void add_options(struct str *out, const struct options *o, const char *template)
{
    for (int i = 0; i < o->n; i++) {
        char letter = (char)('A' + i);
        const struct prompt_field fields[] = {
            {"letter", &letter, 1}, {"text", o->text[i].s, o->text[i].n}, {"raw", o->raw[i].s, o->raw[i].n}};
        str_puts(out, i ? "\n" : "");
        prompt_fill(out, template ? template : "{letter}) {text}", fields, 3);
    }
}

/* The same question with the same options is the same problem, in whatever order they stand; its answer is
 * the text of an option, since letters change with the order. */
static void set_same(struct problem *p, struct row_text question, const struct options *o)
{
    struct str text = {0};
    uint64_t options = 0;
    for (int i = 0; i < o->n; i++)
        options += duplicates_hash(o->text[i].s, o->text[i].n);
    str_printf(&text, "%016llx%016llx", (unsigned long long)duplicates_hash(question.s, question.n),
               (unsigned long long)options);
    p->same = duplicates_hash(text.data, text.len);
    str_release(&text);
}

static int add_row(struct rows *r, const json_t *row, struct task_loading *l, struct err *e)
{
    struct row_text problem, answer;
    struct options o = {0};
    if (!l->own) {
        struct answers *k = l->own = xcalloc(1, sizeof *k);
        for (int f = 0; f < N_FORMS; f++)
            k->is_open[f] = l->file->grader.answer_is < 0 || l->file->grader.answer_is == f;
    }
    int rc = task_row_text(&problem, r, row, l, "problem", e);
    if (!rc)
        rc = row_answer(&answer, r, row, task_field_find(l->file, "answer")->columns, e);
    if (!rc)
        rc = read_options(&o, r, row, task_field_find(l->file, "options"), e);
    if (!rc && !problem.n)
        rc = err_set(e, ERR_FORMAT, "%s:%ld: field \"problem\" is empty", r->path, r->line);
    if (rc)
        return rc;
    struct str options = {0};
    struct prompt_field fields[3 + OPTIONS_MAX];
    char letters[OPTIONS_MAX + 1] = "", name[OPTIONS_MAX][2];
    int n = 0;
    add_options(&options, &o, l->prompt->option);
    for (int i = 0; i < o.n; i++) {
        letters[i] = name[i][0] = (char)('A' + i);
        name[i][1] = 0;
        fields[n++] = (struct prompt_field){name[i], o.text[i].s, o.text[i].n};
    }
    fields[n++] = (struct prompt_field){"problem", problem.s, problem.n};
    fields[n++] = (struct prompt_field){"options", str_text(&options), options.len};
    fields[n++] = (struct prompt_field){"letters", letters, (size_t)o.n};
    take_answer(r, l, answer, &o);
    struct problem *p = rows_add(r);
    p->n_options = o.n;
    rc = task_row_problem(p, r, row, l, fields, n, problem, e);
    set_same(p, problem, &o);
    str_release(&options);
    return rc;
}

static int refuse_answers(const struct rows *r, const struct answers *k, struct err *e)
{
    struct str text = {0};
    int n_open = 0;
    for (int f = 0; f < N_FORMS; f++)
        n_open += k->is_open[f];
    for (int f = 0; f < N_FORMS; f++)
        if (n_open && k->is_open[f])
            str_printf(&text, "%s\"%s\"", text.len ? " or " : "", form_names[f]);
        else if (!n_open && k->lost_at[f])
            str_printf(&text, "%s%s (not in row %ld)", text.len ? ", " : "", form_names[f], k->lost_at[f]);
    int rc =
        n_open
            ? err_set(
                  e, ERR_USAGE,
                  "%s: the answers can be read in more than one way, and these name different options; say "
                  "which with \"grader\": {\"answer_is\": %s}",
                  r->path, str_text(&text))
            : err_set(
                  e, ERR_FORMAT,
                  "%s: no way to write an answer names an option in every row: %s; correct the row, or its "
                  "fields.answer and fields.options",
                  r->path, str_text(&text));
    str_release(&text);
    return rc;
}

static int finish(struct rows *r, struct task_loading *l, struct err *e)
{
    struct answers *k = l->own;
    int form = -1, rc = 0;
    for (int f = 0; k && f < N_FORMS && !rc; f++) {
        for (size_t i = 0; k->is_open[f] && form >= 0 && i < k->n; i++)
            if (k->at[i].option[f] != k->at[i].option[form])
                rc = ERR_USAGE;
        form = form < 0 && k->is_open[f] ? f : form;
    }
    if (k && (rc || form < 0))
        rc = refuse_answers(r, k, e);
    for (size_t i = 0; k && i < k->n && !rc; i++) {
        char gold = (char)('A' + k->at[i].option[form]);
        problem_set_gold(&r->problems[i], r->task, &gold, 1);
        r->problems[i].answer = k->at[i].text[form];
    }
    return rc;
}

static void release(void *own)
{
    struct answers *k = own;
    if (k)
        free(k->at);
    free(k);
}

static int grade(struct grade *out, const struct problem *p, const struct response *r, struct arena *a)
{
    return grade_choice(out, p->gold[0], r, p->n_options, a);
}

static const struct task_role roles[] = {{"problem", "problem,question,Problem,Question", ROLE_NEEDED},
                                         {"options", "options,choices", ROLE_EACH},
                                         {"answer", "answer,Answer,label", ROLE_NEEDED},
                                         {"id", "id,ID,unique_id,question_id", ROLE_OPTIONAL},
                                         {0}};

static const struct param grader[] = {
    {.name = "answer_is",
     .type = PARAM_ENUM,
     .offset = offsetof(struct task_grader, answer_is),
     .choices = form_names,
     .help = "how the answer names its option; found out where all rows leave one way"},
    {.name = NULL},
};

const struct task_kind task_kind_choice = {
    .name = "choice",
    .help = "questions with options, of which one is right",
    .metric = "accuracy",
    .expected_tokens = 2000,
    .roles = roles,
    .prompts = "{\"openr1\": \"choice_openr1\"}",
    .template_fields = "options,letters",
    .example =
        "{\"problem\": \"What is 3 + 4?\", \"options\": [\"5\", \"6\", \"7\", \"8\"], \"answer\": \"C\", "
        "\"id\": \"made-up\"}",
    .grader = grader,
    .row = add_row,
    .finish = finish,
    .release = release,
    .grade = grade,
};
