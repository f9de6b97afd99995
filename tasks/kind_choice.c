/* The kind choice: a question, its options and which of them is right.
 *
 * Data sets write the right option as a letter, as a number from 0 or from 1, or as its text. A file has one
 * way: it is the one in which every row names an option, and where several do, all of them have to mean the
 * same. Otherwise the file is refused, since a guess would grade all completions against the wrong option. */
#include "tasks/task_file.h"

#include <stdlib.h>
#include <string.h>

#include "tasks/duplicates.h"
#include "tasks/row_options.h"

/* What a row's answer means in each form. */
struct named {
    signed char option[N_ANSWER_FORMS]; /* -1: none */
    uint64_t text[N_ANSWER_FORMS];      /* hash of that option */
};

/* What the rows so far leave open. */
struct answers {
    int is_open[N_ANSWER_FORMS];  /* every row names an option in this form */
    long lost_at[N_ANSWER_FORMS]; /* the first row that does not */
    size_t n, cap;
    struct named *at; /* (n) */
};

static void take_answer(struct rows *r, struct task_loading *l, struct row_text answer,
                        const struct row_options *o)
{
    struct answers *k = l->own;
    xgrow(&k->at, &k->cap, k->n + 1, sizeof *k->at);
    struct named *at = &k->at[k->n++];
    *at = (struct named){0};
    row_options_name(at->option, o, answer);
    for (int f = 0; f < N_ANSWER_FORMS; f++) {
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
static void add_options(struct str *out, const struct row_options *o, const char *template)
{
    for (int i = 0; i < o->n; i++) {
        char letter = (char)('A' + i);
        const struct prompt_field fields[] = {
            {"letter", &letter, 1}, {"text", o->text[i].s, o->text[i].n}, {"raw", o->raw[i].s, o->raw[i].n}};
        str_puts(out, i ? "\n" : "");
        prompt_fill(out, template ? template : "{letter}) {text}", fields, 3);
    }
}

static int add_row(struct rows *r, const json_t *row, struct task_loading *l, struct err *e)
{
    struct row_text problem, answer;
    struct row_options o = {0};
    if (!l->own) {
        struct answers *k = l->own = xcalloc(1, sizeof *k);
        for (int f = 0; f < N_ANSWER_FORMS; f++)
            k->is_open[f] = l->file->grader.answer_is < 0 || l->file->grader.answer_is == f;
    }
    int rc = task_row_text(&problem, r, row, l, "problem", e);
    if (!rc)
        rc = row_answer(&answer, r, row, task_field_find(l->file, "answer")->columns, e);
    if (!rc)
        rc = row_options_read(&o, r, row, task_field_find(l->file, "options"), e);
    if (!rc && !problem.n)
        rc = err_set(e, ERR_FORMAT, "%s:%ld: field \"problem\" is empty", r->path, r->line);
    if (rc)
        return rc;
    struct str options = {0};
    struct prompt_field fields[3 + ROW_OPTIONS_MAX];
    char letters[ROW_OPTIONS_MAX + 1] = "", name[ROW_OPTIONS_MAX][2];
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
    p->same = row_options_same(&o, problem.s, problem.n);
    str_release(&options);
    return rc;
}

static int refuse_answers(const struct rows *r, const struct answers *k, struct err *e)
{
    struct str text = {0};
    int n_open = 0;
    for (int f = 0; f < N_ANSWER_FORMS; f++)
        n_open += k->is_open[f];
    for (int f = 0; f < N_ANSWER_FORMS; f++)
        if (n_open && k->is_open[f])
            str_printf(&text, "%s\"%s\"", text.len ? " or " : "", answer_form_names[f]);
        else if (!n_open && k->lost_at[f])
            str_printf(&text, "%s%s (not in row %ld)", text.len ? ", " : "", answer_form_names[f],
                       k->lost_at[f]);
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
    for (int f = 0; k && f < N_ANSWER_FORMS && !rc; f++) {
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
     .choices = answer_form_names,
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
        "{\"problem\": \"What is 3 + 4?\", \"options\": [\"5\", \"6\", \"7\", \"8\"], \"answer\": \"7\", "
        "\"id\": \"made-up\"}",
    .grader = grader,
    .row = add_row,
    .finish = finish,
    .release = release,
    .grade = grade,
};
