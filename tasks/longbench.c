/* LongBench (Bai et al., 2023) from its JSONL files, with its own prompts and length limits
 * (prompts/longbench.json). The table below holds the rules of its pred.py and eval.py: the metric of each
 * data set, where no chat form is used, and where only the first line of the answer counts. */
#include "tasks/known_sets.h"
#include "tasks/metric_grade.h"
#include "tasks/rows.h"
#include "tasks/task_list.h"

#include <string.h>

struct data_set {
    const char *name, *metric;
    int no_chat;      /* the prompt is a few-shot text or code to be continued */
    int first_line;   /* eval.py: leading line ends dropped, then the first line */
    const char *stop; /* as in struct problem */
};

static const struct data_set data_sets[] = {
    {"narrativeqa", "qa_f1_score", 0, 0, NULL},
    {"qasper", "qa_f1_score", 0, 0, NULL},
    {"multifieldqa_en", "qa_f1_score", 0, 0, NULL},
    {"multifieldqa_zh", "qa_f1_zh_score", 0, 0, NULL},
    {"hotpotqa", "qa_f1_score", 0, 0, NULL},
    {"2wikimqa", "qa_f1_score", 0, 0, NULL},
    {"musique", "qa_f1_score", 0, 0, NULL},
    {"dureader", "rouge_zh_score", 0, 0, NULL},
    {"gov_report", "rouge_score", 0, 0, NULL},
    {"qmsum", "rouge_score", 0, 0, NULL},
    {"multi_news", "rouge_score", 0, 0, NULL},
    {"vcsum", "rouge_zh_score", 0, 0, NULL},
    {"trec", "classification_score", 1, 1, NULL},
    {"triviaqa", "qa_f1_score", 1, 1, NULL},
    {"samsum", "rouge_score", 1, 1, "\n"},
    {"lsht", "classification_score", 1, 1, NULL},
    {"passage_count", "count_score", 0, 0, NULL},
    {"passage_retrieval_en", "retrieval_score", 0, 0, NULL},
    {"passage_retrieval_zh", "retrieval_zh_score", 0, 0, NULL},
    {"lcc", "code_sim_score", 1, 0, NULL},
    {"repobench-p", "code_sim_score", 1, 0, NULL},
};
enum { N_DATA_SETS = sizeof data_sets / sizeof data_sets[0] };

/* The data set of that name; LongBench-E's "qasper_e" is qasper. */
static const struct data_set *find_set(const char *name, size_t n)
{
    if (n > 2 && !memcmp(name + n - 2, "_e", 2))
        n -= 2;
    for (int i = 0; i < N_DATA_SETS; i++)
        if (strlen(data_sets[i].name) == n && !memcmp(data_sets[i].name, name, n))
            return &data_sets[i];
    return NULL;
}

static const char *set_name(size_t i)
{
    return i < N_DATA_SETS ? data_sets[i].name : NULL;
}

static int check_set(const struct data_set *s, const char *where, const char *name, size_t n, struct err *e)
{
    if (s)
        return 0;
    struct str names = {0};
    for (int i = 0; i < N_DATA_SETS; i++)
        str_printf(&names, "%s%s", i ? ", " : "", data_sets[i].name);
    int rc = err_set(e, ERR_USAGE, "%s: LongBench has no data set \"%.*s\"; it has %s", where,
                     (int)(n < 80 ? n : 80), name, names.data);
    str_release(&names);
    return rc;
}

static int needs_segmenter(const char *subset)
{
    const struct data_set *s = subset ? find_set(subset, strlen(subset)) : NULL;
    return s && textscore_needs_segmenter(s->metric);
}

struct loading {
    const struct data_set *set; /* of the file; NULL: every row must name its own */
    json_t *prompts, *max_new_tokens;
};

/* A field that is a list of texts, copied to the task's arena. */
static int set_texts(const char *const **out, int *n_out, struct rows *r, const json_t *row,
                     const char *field, struct err *e)
{
    const json_t *list = json_object_get(row, field);
    if (!json_is_array(list) || !json_array_size(list))
        return err_set(e, ERR_FORMAT, "%s:%ld: field \"%s\" must be a list of at least one text", r->path,
                       r->line, field);
    int n = (int)json_array_size(list);
    const char **texts = arena_alloc(&r->task->arena, (size_t)n * sizeof *texts);
    for (int i = 0; i < n; i++) {
        const json_t *v = json_array_get(list, (size_t)i);
        if (!json_is_string(v) || strlen(json_string_value(v)) != json_string_length(v))
            return err_set(e, ERR_FORMAT, "%s:%ld: field \"%s\" must hold texts; element %d is none", r->path,
                           r->line, field, i + 1);
        texts[i] = arena_strdup(&r->task->arena, json_string_value(v));
    }
    *out = texts;
    *n_out = n;
    return 0;
}

static int set_golds(struct problem *p, struct rows *r, const json_t *row, struct err *e)
{
    int rc = set_texts(&p->golds, &p->n_golds, r, row, "answers", e);
    if (rc)
        return rc;
    p->gold = p->golds[0];
    p->gold_len = strlen(p->gold);
    p->row = known_row_of_answers(p->golds, p->n_golds);
    return 0;
}

static int add_row(struct rows *r, const json_t *row, void *context, struct err *e)
{
    const struct loading *l = context;
    struct row_text input, context_text, id, name;
    char where[640];
    snprintf(where, sizeof where, "%.580s:%ld", r->path, r->line);
    int rc = row_text(&input, r, row, "input,question", 0, e);
    if (!rc)
        rc = row_text(&context_text, r, row, "context", 0, e);
    if (!rc)
        rc = row_text(&id, r, row, "_id,id", 1, e);
    if (!rc)
        rc = row_text(&name, r, row, "dataset", 1, e);
    if (rc)
        return rc;
    const struct data_set *set = name.s ? find_set(name.s, name.n) : l->set;
    if (!name.s && !set)
        return err_set(e, ERR_USAGE,
                       "%s: no data set is known for this row; give it a \"dataset\" field, or name one "
                       "with subset",
                       where);
    rc = check_set(set, where, name.s, name.n, e);
    if (!rc && l->set && set != l->set)
        rc =
            err_set(e, ERR_USAGE,
                    "%s: this row is of the data set %s, but the %s %s; ask for it with \"subset\": \"%s\"%s",
                    where, set->name, r->task->options.subset ? "task's subset is" : "file is called",
                    l->set->name, set->name, r->task->options.subset ? "" : ", or rename the file");
    if (rc)
        return rc;
    struct problem *p = rows_add(r);
    struct prompt_field fields[] = {{"context", context_text.s, context_text.n}, {"input", input.s, input.n}};
    struct str text = {0};
    prompt_fill(&text, json_string_value(json_object_get(l->prompts, set->name)), fields, 2);
    problem_set_prompt(p, r->task, text.data, text.len);
    str_clear(&text);
    str_add(&text, context_text.s, context_text.n);
    str_putc(&text, '\n');
    str_add(&text, input.s, input.n);
    problem_set_hash(p, text.data, text.len);
    str_release(&text);
    p->max_new_tokens = (int)json_integer_value(json_object_get(l->max_new_tokens, set->name));
    p->subset = set->name;
    p->no_chat = set->no_chat;
    p->stop = set->stop;
    p->truncate_middle = 1;
    rc = set_golds(p, r, row, e);
    if (!rc && !strcmp(set->metric, "classification_score"))
        rc = set_texts(&p->all_classes, &p->n_classes, r, row, "all_classes", e);
    return rc ? rc : problem_set_id(p, r, id, e);
}

/* The data set that the subset option or else the file's name says; NULL when neither does. */
static int set_of_file(const struct data_set **out, const struct task *t, const char *path, struct err *e)
{
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    *out = find_set(name, strcspn(name, "."));
    if (!t->options.subset)
        return 0;
    *out = find_set(t->options.subset, strlen(t->options.subset));
    return check_set(*out, "task longbench", t->options.subset, strlen(t->options.subset), e);
}

static int load_longbench(struct task *t, const char *path, struct err *e)
{
    json_t *protocol = NULL;
    struct loading l = {0};
    const char *text = task_prompt_text("longbench");
    int rc = set_of_file(&l.set, t, path, e);
    if (!rc)
        rc = json_read_text(&protocol, text, strlen(text), "tasks/prompts/longbench.json", e);
    if (!rc) {
        l.prompts = json_object_get(protocol, "prompt");
        l.max_new_tokens = json_object_get(protocol, "max_new_tokens");
        rc = rows_read_jsonl(t, path, add_row, &l, e);
    }
    json_decref(protocol);
    return rc;
}

static int grade_longbench(struct grade *out, const struct problem *p, const struct response *r,
                           struct arena *a)
{
    const struct data_set *set = p->subset ? find_set(p->subset, strlen(p->subset)) : NULL;
    if (!set) { /* a folder of another version, or damaged */
        *out = (struct grade){.verdict = VERDICT_ERROR,
                              .reason = p->subset ? "The problem's data set is not one of LongBench's."
                                                  : "the folder does not say of which data set the problem "
                                                    "is; repeat the sweep",
                              .gold_form = "",
                              .pred_form = ""};
        return 0;
    }
    return metric_grade(out, set->metric, set->first_line, p, r, a);
}

/* The numbers of rows are those of its README. */
static const struct task_member members[] = {
    {"narrativeqa", 200},
    {"qasper", 200},
    {"multifieldqa_en", 150},
    {"multifieldqa_zh", 200},
    {"hotpotqa", 200},
    {"2wikimqa", 200},
    {"musique", 200},
    {"dureader", 200},
    {"gov_report", 200},
    {"qmsum", 200},
    {"multi_news", 200},
    {"vcsum", 200},
    {"trec", 200},
    {"triviaqa", 200},
    {"samsum", 200},
    {"lsht", 200},
    {"passage_count", 200},
    {"passage_retrieval_en", 200},
    {"passage_retrieval_zh", 200},
    {"lcc", 500},
    {"repobench-p", 500},
    {NULL, 0},
};
static const struct task_source sources[] = {
    {.file = "longbench",
     .hub = "zai-org/LongBench",
     .part = {"data.zip"},
     .members = members,
     .licence = "MIT (texts: their sources)"},
    {.file = NULL},
};

const struct task_ops task_longbench = {
    .name = "longbench",
    .help = "LongBench: long-context questions, summaries, classification, retrieval and code (JSONL)",
    .version = "2",
    .default_file = "longbench/SUBSET.jsonl",
    .sources = sources,
    .fields =
        "input (or question), context, answers (a list), all_classes (trec and lsht), perhaps _id (or id) "
        "and dataset",
    .options = "subset",
    .metric = "score",
    .prompts = NULL,
    .expected_tokens = 64,
    .subset = set_name,
    .needs_segmenter = needs_segmenter,
    .load = load_longbench,
    .grade = grade_longbench,
};
