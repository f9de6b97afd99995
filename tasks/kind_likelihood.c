/* The kind likelihood: each option of a problem is scored as a continuation of its context, and nothing is
 * generated. Contexts and continuations are those of lm-evaluation-harness 0.4 (output_type multiple_choice):
 * the template's text, behind it the option with what its template puts before it. Where the option is a part
 * of the context and what follows is common to all ("shape": "partial", as of Winogrande), that is what is
 * scored. */
#include "tasks/task_file.h"

#include <stdlib.h>
#include <string.h>

#include "tasks/duplicates.h"
#include "tasks/row_options.h"

/* What is done to a row before templates are filled. */
enum { SHAPE_PLAIN, SHAPE_PARTIAL, SHAPE_HELLASWAG };
static const char *const shape_names[] = {"plain", "partial", "hellaswag", NULL};

struct parts { /* of a row */
    struct row_text problem, subject;
    struct row_options o; /* raw is what is scored: its white space counts */
    int gold[ROW_OPTIONS_MAX], n_golds;
};

/* ---- options */

/* "no,yes" */
static int add_fixed(struct parts *x, const struct rows *r, const char *names, struct err *e)
{
    for (const char *p = names; *p;) {
        size_t n = strcspn(p, ",");
        if (row_options_add(&x->o, r, (struct row_text){p, n}, e))
            return e->code;
        p += n + (p[n] == ',');
    }
    return 0;
}

/* ---- answers */

/* The label of each option ("A", "1"), where the row has them: an answer is one of these. */
static const json_t *read_labels(const struct task_loading *l, const json_t *row)
{
    char name[LIST_NAME_BYTES];
    return row_first_value(row, task_field_find(l->file, "labels")->columns, name);
}

/* A label for each option, all different. */
static int check_labels(const struct parts *x, const struct rows *r, const json_t *labels, struct err *e)
{
    size_t n = json_array_size(labels);
    if (!labels)
        return 0;
    if (!json_is_array(labels) || n != (size_t)x->o.n)
        return err_set(
            e, ERR_FORMAT,
            "%s:%ld: the labels must be a list with one for each option; there are %zu and %d options",
            r->path, r->line, n, x->o.n);
    for (size_t i = 0; i < n; i++) {
        const json_t *v = json_array_get(labels, i);
        if (!json_is_string(v) || !row_trim((struct row_text){json_string_value(v), json_string_length(v)}).n)
            return err_set(e, ERR_FORMAT, "%s:%ld: label %zu is no text or empty", r->path, r->line, i + 1);
        for (size_t k = 0; k < i; k++)
            if (json_equal(v, json_array_get(labels, k)))
                return err_set(e, ERR_FORMAT, "%s:%ld: labels %zu and %zu are the same", r->path, r->line,
                               k + 1, i + 1);
    }
    return 0;
}

/* The option that an answer names; -1: none. */
static int option_of(const struct parts *x, const json_t *labels, int form, struct row_text a)
{
    signed char at[N_ANSWER_FORMS];
    struct row_text core = row_trim(a);
    for (size_t i = 0; i < json_array_size(labels); i++) {
        const json_t *v = json_array_get(labels, i);
        if (json_string_length(v) == core.n && !memcmp(json_string_value(v), core.s, core.n))
            return (int)i;
    }
    row_options_name(at, &x->o, a);
    return labels ? -1 : at[form];
}

static int add_answer(struct parts *x, const struct rows *r, const struct task_loading *l, const json_t *row,
                      const json_t *v, struct err *e)
{
    struct row_text text = row_json_text(v, &r->task->arena);
    if (json_is_boolean(v))
        text = (struct row_text){json_is_true(v) ? "1" : "0", 1};
    int gold = text.s ? option_of(x, read_labels(l, row), l->file->grader.answer_is, text) : -1;
    if (gold < 0 || x->n_golds == ROW_OPTIONS_MAX)
        return err_set(e, ERR_FORMAT,
                       "%s:%ld: the answer names none of the %d options; answers are read as \"%s\" "
                       "(grader.answer_is)%s",
                       r->path, r->line, x->o.n, answer_form_names[l->file->grader.answer_is],
                       read_labels(l, row) ? " unless the row labels its options" : "");
    x->gold[x->n_golds++] = gold;
    return 0;
}

/* Several may be accepted. */
static int read_answers(struct parts *x, const struct rows *r, const struct task_loading *l,
                        const json_t *row, struct err *e)
{
    const char *columns = task_field_find(l->file, "answer")->columns;
    char name[LIST_NAME_BYTES];
    const json_t *v = row_first_value(row, columns, name);
    if (!v)
        return err_set(e, ERR_FORMAT, "%s:%ld: field \"%.*s\" is missing", r->path, r->line,
                       (int)strcspn(columns, ","), columns);
    if (!json_is_array(v))
        return add_answer(x, r, l, row, v, e);
    if (!json_array_size(v))
        return err_set(e, ERR_FORMAT, "%s:%ld: the list of answers is empty", r->path, r->line);
    for (size_t i = 0; i < json_array_size(v); i++)
        if (add_answer(x, r, l, row, json_array_get(v, i), e))
            return e->code;
    return 0;
}

/* ---- HellaSwag, as tasks/hellaswag/utils.py of lm-evaluation-harness prepares it */

static size_t add_replaced(struct str *out, const char *text, size_t n, const char *from, const char *to)
{
    size_t n_from = strlen(from);
    for (size_t i = 0; i < n;) {
        if (i + n_from <= n && !memcmp(text + i, from, n_from)) {
            str_puts(out, to);
            i += n_from;
        } else {
            str_putc(out, text[i++]);
        }
    }
    return out->len;
}

/* Strips the text, makes " [title]" a full stop, removes what stands in brackets on one line, and makes two
 * spaces one. */
static struct row_text clean_wikihow(struct arena *a, struct row_text text)
{
    struct str title = {0}, bare = {0}, out = {0};
    text = row_trim(text);
    add_replaced(&title, text.s, text.n, " [title]", ". ");
    for (size_t i = 0; i < title.len; i++) {
        const char *at = title.data + i, *end = *at == '[' ? memchr(at, ']', title.len - i) : NULL;
        if (end && !memchr(at, '\n', (size_t)(end - at)))
            i += (size_t)(end - at);
        else
            str_putc(&bare, *at);
    }
    add_replaced(&out, str_text(&bare), bare.len, "  ", " ");
    struct row_text kept = {arena_strndup(a, str_text(&out), out.len), out.len};
    str_release(&title);
    str_release(&bare);
    str_release(&out);
    return kept;
}

/* As Python's capitalize() on ASCII: the first letter large, all others small. */
static void add_capitalized(struct str *out, struct row_text t)
{
    for (size_t i = 0; i < t.n; i++) {
        char c = t.s[i];
        if (!i && c >= 'a' && c <= 'z')
            c = (char)(c - 'a' + 'A');
        else if (i && c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        str_putc(out, c);
    }
}

static int prepare_hellaswag(struct parts *x, struct rows *r, const json_t *row, struct err *e)
{
    struct row_text activity, first, second;
    struct str text = {0};
    struct arena *a = &r->task->arena;
    int rc = row_text(&activity, r, row, "activity_label", 0, e);
    if (!rc)
        rc = row_text(&first, r, row, "ctx_a", 0, e);
    if (!rc)
        rc = row_text(&second, r, row, "ctx_b", 0, e);
    if (rc)
        return rc;
    str_add(&text, activity.s, activity.n);
    str_puts(&text, ": ");
    str_add(&text, first.s, first.n);
    str_putc(&text, ' ');
    add_capitalized(&text, second);
    x->problem = clean_wikihow(a, (struct row_text){str_text(&text), text.len});
    for (int i = 0; i < x->o.n; i++)
        x->o.raw[i] = clean_wikihow(a, x->o.raw[i]);
    str_release(&text);
    return 0;
}

/* ---- a row */

static int check_parts(const struct parts *x, const struct rows *r, int shape, struct err *e)
{
    if (!x->problem.n)
        return err_set(e, ERR_FORMAT, "%s:%ld: the problem's text is empty", r->path, r->line);
    for (int i = 0; i < x->o.n; i++)
        if (!x->o.raw[i].n)
            return err_set(e, ERR_FORMAT, "%s:%ld: option %d is empty", r->path, r->line, i + 1);
    if (x->o.n < 2)
        return err_set(e, ERR_FORMAT, "%s:%ld: %d option%s found; at least two are needed", r->path, r->line,
                       x->o.n, x->o.n == 1 ? " was" : "s were");
    if (shape == SHAPE_PARTIAL && !memchr(x->problem.s, '_', x->problem.n))
        return err_set(e, ERR_FORMAT, "%s:%ld: the sentence has no \"_\" where an option goes", r->path,
                       r->line);
    return 0;
}

static int read_parts(struct parts *x, struct rows *r, const json_t *row, struct task_loading *l,
                      struct err *e)
{
    const struct task_grader *g = &l->file->grader;
    x->o.may_repeat =
        !l->file->dir; /* published sets have such rows, and are asked as the harness asks them */
    int rc = g->shape == SHAPE_HELLASWAG ? 0 : task_row_text(&x->problem, r, row, l, "problem", e);
    if (!rc && g->options)
        rc = add_fixed(x, r, g->options, e);
    else if (!rc)
        rc = row_options_read(&x->o, r, row, task_field_find(l->file, "options"), e);
    if (!rc)
        rc = check_labels(x, r, read_labels(l, row), e);
    if (!rc)
        rc = read_answers(x, r, l, row, e);
    if (!rc)
        rc = task_row_text(&x->subject, r, row, l, "subject", e);
    if (!rc && g->shape == SHAPE_HELLASWAG)
        rc = prepare_hellaswag(x, r, row, e);
    return rc ? rc : check_parts(x, r, g->shape, e);
}

static int count_characters(struct row_text t)
{
    int n = 0;
    for (size_t i = 0; i < t.n; i++)
        n += ((unsigned char)t.s[i] & 0xC0) != 0x80;
    return n;
}

/* Appends the template of an option with a text in it. */
static void add_scored(struct str *out, const struct task_loading *l, int option, struct row_text text)
{
    char letter = (char)('A' + option);
    const struct prompt_field fields[] = {
        {"letter", &letter, 1}, {"text", text.s, text.n}, {"raw", text.s, text.n}};
    prompt_fill(out, l->prompt->option ? l->prompt->option : " {text}", fields, 3);
}

/* The characters of a scored text but for the space that a template has in front of it: the harness counts
 * those of its choices, and puts that space between context and choice itself. */
static int scored_length(const struct task_loading *l, const struct str *scored)
{
    int n = count_characters((struct row_text){str_text(scored), scored->len});
    return n - (n > 1 && (!l->prompt->option || *l->prompt->option == ' '));
}

/* What follows the gap of a sentence, or an option itself. */
static struct row_text scored_text(const struct task_loading *l, const struct parts *x, int option)
{
    const char *end = x->problem.s + x->problem.n, *gap = memchr(x->problem.s, '_', x->problem.n);
    if (l->file->grader.shape != SHAPE_PARTIAL || !gap)
        return x->o.raw[option];
    return row_trim((struct row_text){gap + 1, (size_t)(end - gap) - 1});
}

/* A sentence up to its gap, with an option there. */
static void add_context(struct str *out, const struct parts *x, int option)
{
    const char *gap = memchr(x->problem.s, '_', x->problem.n);
    str_add(out, x->problem.s, gap ? (size_t)(gap - x->problem.s) : x->problem.n);
    if (gap)
        str_add(out, x->o.raw[option].s, x->o.raw[option].n);
}

/* Options with a context of their own: what the prompt has before the sentence, and the sentence so far. */
static void set_context(struct problem_option *o, struct task *t, const struct problem *p,
                        const struct parts *x, int option)
{
    struct str context = {0};
    size_t before = p->prompt_len - x->problem.n;
    str_add(&context, p->prompt, before);
    add_context(&context, x, option);
    o->context = arena_strndup(&t->arena, str_text(&context), context.len);
    o->context_len = context.len;
    str_release(&context);
}

static void set_options(struct problem *p, struct task *t, const struct task_loading *l,
                        const struct parts *x)
{
    struct problem_option *options = arena_alloc(&t->arena, (size_t)x->o.n * sizeof *options);
    for (int i = 0; i < x->o.n; i++) {
        struct problem_option *o = &options[i];
        struct str text = {0};
        if (l->file->grader.shape == SHAPE_PARTIAL)
            set_context(o, t, p, x, i);
        add_scored(&text, l, i, scored_text(l, x, i));
        o->text = arena_strndup(&t->arena, str_text(&text), text.len);
        o->text_len = text.len;
        o->shown = arena_strndup(&t->arena, x->o.raw[i].s, x->o.raw[i].n);
        o->length = scored_length(l, &text);
        str_release(&text);
    }
    p->options = options;
    p->n_options = x->o.n;
}

static void set_golds(struct problem *p, struct task *t, const struct parts *x)
{
    const char **golds = arena_alloc(&t->arena, (size_t)x->n_golds * sizeof *golds);
    for (int i = 0; i < x->n_golds; i++)
        golds[i] = arena_printf(&t->arena, "%c", 'A' + x->gold[i]);
    problem_set_gold(p, t, golds[0], 1);
    p->golds = golds;
    p->n_golds = x->n_golds;
}

/* "abstract_algebra" is shown as "abstract algebra". */
static struct row_text subject_words(struct arena *a, struct row_text subject)
{
    char *words = arena_strndup(a, subject.s ? subject.s : "", subject.n);
    for (char *p = words; *p; p++)
        *p = *p == '_' ? ' ' : *p;
    return (struct row_text){words, subject.n};
}

static int add_row(struct rows *r, const json_t *row, struct task_loading *l, struct err *e)
{
    struct parts x = {0};
    struct prompt_field fields[4 + ROW_OPTIONS_MAX];
    char name[ROW_OPTIONS_MAX][2];
    struct task *t = r->task;
    struct str scored = {0}, filled = {0};
    int n = 0, rc = read_parts(&x, r, row, l, e);
    if (rc)
        return rc;
    struct row_text subject = subject_words(&t->arena, x.subject);
    for (int i = 0; i < x.o.n; i++) {
        name[i][0] = (char)('A' + i);
        name[i][1] = 0;
        fields[n++] = (struct prompt_field){name[i], x.o.raw[i].s, x.o.raw[i].n};
    }
    fields[n++] = (struct prompt_field){"problem", x.problem.s, x.problem.n};
    fields[n++] = (struct prompt_field){"subject", subject.s, subject.n};
    if (l->is_example) {
        add_context(&filled, &x, x.gold[0]);
        add_scored(&scored, l, x.gold[0], scored_text(l, &x, x.gold[0]));
        fields[n++] = (struct prompt_field){"scored", str_text(&scored), scored.len};
        fields[n++] = (struct prompt_field){"filled", str_text(&filled), filled.len};
    }
    struct problem *p = rows_add(r);
    p->no_chat = 1;
    if (x.subject.s)
        p->subset = arena_strndup(&t->arena, x.subject.s, x.subject.n);
    rc = task_row_problem(p, r, row, l, fields, n, x.problem, e);
    str_release(&scored);
    str_release(&filled);
    if (rc)
        return rc;
    if (l->is_example)
        return 0;
    size_t at = p->prompt_len - x.problem.n;
    if (l->file->grader.shape == SHAPE_PARTIAL &&
        (p->prompt_len < x.problem.n || memcmp(p->prompt + at, x.problem.s, x.problem.n)))
        return err_set(e, ERR_USAGE,
                       "%s: the prompt \"%s\" must end with {problem}, since an option goes into its gap",
                       l->file->where, l->prompt->name);
    set_options(p, t, l, &x);
    set_golds(p, t, &x);
    p->same = row_options_same(&x.o, p->prompt, p->prompt_len);
    for (int i = 0; i < x.n_golds; i++)
        p->answer += duplicates_hash(x.o.raw[x.gold[i]].s, x.o.raw[x.gold[i]].n);
    return 0;
}

/* Nothing is generated, so nothing can be graded by its text. */
static int grade(struct grade *out, const struct problem *p, const struct response *r, struct arena *a)
{
    (void)out;
    (void)p;
    (void)r;
    (void)a;
    return ERR_UNSUPPORTED;
}

static const struct task_role roles[] = {{"problem", "problem,question,sentence,goal", ROLE_NEEDED},
                                         {"options", "options,choices,endings", ROLE_EACH},
                                         {"answer", "answer,label", ROLE_NEEDED},
                                         {"labels", "labels", ROLE_OPTIONAL},
                                         {"subject", "subject", ROLE_OPTIONAL},
                                         {"id", "id,ID,question_id", ROLE_OPTIONAL},
                                         {0}};

static const char *const metric_names[] = {"acc", "acc_norm", "acc,acc_norm", "acc_norm,acc", NULL};

static const struct param grader[] = {
    {.name = "metrics",
     .type = PARAM_ENUM,
     .offset = offsetof(struct task_grader, metrics),
     .choices = metric_names,
     .def = "acc",
     .help = "the first gives the verdicts, the second stands beside it"},
    {.name = "answer_is",
     .type = PARAM_ENUM,
     .offset = offsetof(struct task_grader, answer_is),
     .choices = answer_form_names,
     .def = "letter",
     .help = "how an answer names its option, in rows that have no labels"},
    {.name = "shape",
     .type = PARAM_ENUM,
     .offset = offsetof(struct task_grader, shape),
     .choices = shape_names,
     .def = "plain",
     .help = "what is done to a row first"},
    {.name = "options",
     .type = PARAM_STRING,
     .offset = offsetof(struct task_grader, options),
     .help = "the options of all rows, with commas"},
    {.name = NULL},
};

static const char *option_metrics(const struct task_file *f)
{
    return metric_names[f->grader.metrics];
}

const struct task_kind task_kind_likelihood = {
    .name = "likelihood",
    .help = "options that are scored as continuations of a text, by their likelihood",
    .metric = "accuracy",
    .option_metrics = option_metrics,
    .options = "scored",
    .expected_tokens = 20,
    .roles = roles,
    .prompts = "{\"lm_eval\": {\"text\": \"Question: {problem}\\nAnswer:\", \"option\": \" {text}\"}}",
    .example = "{\"problem\": \"The sky is\", \"options\": [\"blue\", \"green\", \"red\", \"black\"], "
               "\"answer\": \"blue\", \"subject\": \"colours\", \"id\": \"made-up\"}",
    .grader = grader,
    .row = add_row,
    .example_fields = "scored,filled",
    .grade = grade,
};
