/* The kind metric: a question, perhaps about a text, whose answers are compared with what the model writes by
 * a text metric (answer_check/textscore). */
#include "tasks/task_file.h"

#include <string.h>

#include "tasks/metric_grade.h"

/* Those that cut Chinese into words are left out: a run folder says the kind of a task, not whether it needs
 * a segmenter. */
static const char *const metric_names[] = {
    "qa_f1_score",    "rouge_score", "classification_score", "retrieval_score", "count_score",
    "code_sim_score", NULL};

/* What a row accepts: a text, or a list of at least one. */
static int set_golds(struct problem *p, const struct rows *r, const json_t *row, const char *columns,
                     struct err *e)
{
    char name[LIST_NAME_BYTES];
    const json_t *v = row_first_value(row, columns, name);
    int n = json_is_array(v) ? (int)json_array_size(v) : v ? 1 : 0;
    const char **golds = arena_alloc(&r->task->arena, ((size_t)n + 1) * sizeof *golds);
    for (int i = 0; i < n; i++) {
        struct row_text t =
            row_json_text(json_is_array(v) ? json_array_get(v, (size_t)i) : v, &r->task->arena);
        if (!t.n || strlen(t.s) != t.n)
            return err_set(e, ERR_FORMAT, "%s:%ld: answer %d in field \"%s\" is no text, or an empty one",
                           r->path, r->line, i + 1, name);
        golds[i] = arena_strdup(&r->task->arena, t.s);
    }
    if (!n)
        return err_set(
            e, ERR_FORMAT,
            "%s:%ld: there is no answer in field \"%s\"; rows.with or rows.without leaves rows out", r->path,
            r->line, v ? name : columns);
    p->golds = golds;
    p->n_golds = n;
    p->gold = golds[0];
    p->gold_len = strlen(p->gold);
    return 0;
}

static int set_classes(struct problem *p, const struct rows *r, const json_t *row, const struct task_file *f,
                       struct err *e)
{
    char name[LIST_NAME_BYTES];
    const struct task_field *field = task_field_find(f, "classes");
    const json_t *v = field ? row_first_value(row, field->columns, name) : NULL;
    size_t n = json_array_size(v);
    if (!n)
        return err_set(e, ERR_FORMAT,
                       "%s:%ld: classification_score needs field \"classes\", a list with the names of all "
                       "classes",
                       r->path, r->line);
    const char **classes = arena_alloc(&r->task->arena, n * sizeof *classes);
    for (size_t i = 0; i < n; i++) {
        struct row_text t = row_json_text(json_array_get(v, i), &r->task->arena);
        if (!t.n || strlen(t.s) != t.n)
            return err_set(e, ERR_FORMAT, "%s:%ld: class %zu in field \"%s\" is no text, or an empty one",
                           r->path, r->line, i + 1, name);
        classes[i] = arena_strdup(&r->task->arena, t.s);
    }
    p->all_classes = classes;
    p->n_classes = (int)n;
    return 0;
}

static int add_row(struct rows *r, const json_t *row, struct task_loading *l, struct err *e)
{
    struct row_text problem, context;
    const struct task_grader *g = &l->file->grader;
    int rc = task_row_text(&problem, r, row, l, "problem", e);
    if (!rc)
        rc = task_row_text(&context, r, row, l, "context", e);
    if (!rc && !problem.n)
        rc = err_set(e, ERR_FORMAT, "%s:%ld: field \"problem\" is empty", r->path, r->line);
    if (rc)
        return rc;
    struct problem *p = rows_add(r);
    p->metric = metric_names[g->metric];
    p->first_line = g->first_line;
    rc = set_golds(p, r, row, task_field_find(l->file, "answer")->columns, e);
    if (!rc && !strcmp(p->metric, "classification_score"))
        rc = set_classes(p, r, row, l->file, e);
    if (rc)
        return rc;
    struct prompt_field fields[] = {{"problem", problem.s, problem.n},
                                    {"context", context.s ? context.s : "", context.n},
                                    {"answer", p->gold, p->gold_len}};
    /* Equal questions about different texts are different problems. */
    struct str text = {0};
    str_add(&text, context.s, context.s ? context.n : 0);
    str_putc(&text, '\n');
    str_add(&text, problem.s, problem.n);
    struct row_text whole = {str_text(&text), text.len};
    rc = task_row_problem(p, r, row, l, fields, l->is_example ? 3 : 2, whole, e);
    str_release(&text);
    return rc;
}

static int grade(struct grade *out, const struct problem *p, const struct response *r, struct arena *a)
{
    if (p->metric)
        return metric_grade(out, p->metric, p->first_line, p, r, a);
    *out = (struct grade){.verdict = VERDICT_ERROR,
                          .reason = "The folder does not say by which metric the problem is graded.",
                          .gold_form = "",
                          .pred_form = ""};
    return 0;
}

static const struct task_role roles[] = {{"problem", "problem,question,input", ROLE_NEEDED},
                                         {"context", "context,passage", ROLE_OPTIONAL},
                                         {"answer", "answers,answer", ROLE_NEEDED},
                                         {"classes", "classes,all_classes", ROLE_OPTIONAL},
                                         {"id", "id,_id,ID", ROLE_OPTIONAL},
                                         {0}};

static const struct param grader[] = {
    {.name = "metric",
     .type = PARAM_ENUM,
     .offset = offsetof(struct task_grader, metric),
     .choices = metric_names,
     .def = "qa_f1_score",
     .help = "by which an answer is compared with each accepted one"},
    {.name = "first_line",
     .type = PARAM_BOOL,
     .offset = offsetof(struct task_grader, first_line),
     .def = "false",
     .help = "only the first line of a completion is its answer"},
    {.name = NULL},
};

const struct task_kind task_kind_metric = {
    .name = "metric",
    .help = "questions whose answers are texts, by a text metric",
    .metric = "score",
    .expected_tokens = 64,
    .roles = roles,
    .prompts = "{\"plain\": \"{problem}\"}",
    .example = "{\"problem\": \"What colour is the sky?\", \"context\": \"At noon the sky is blue.\", "
               "\"answer\": [\"blue\"], \"id\": \"made-up\"}",
    .grader = grader,
    .row = add_row,
    .grade = grade,
};
