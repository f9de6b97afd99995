/* Loads the rows of a task that is a file (contract: task_file.h). */
#include "tasks/task_file.h"

#include <stdlib.h>
#include <string.h>

#include "evalcore/base/hash.h"
#include "tasks/few_shot.h"

static int field_text(struct row_text *out, const struct rows *r, const json_t *row,
                      const struct task_field *f, int optional, struct err *e)
{
    int rc = row_text(out, r, row, f->columns, optional, e);
    if (!rc && f->is_trimmed && out->s)
        *out = row_trim(*out);
    if (!rc && f->after && out->s && out->n >= strlen(f->after) &&
        !memcmp(out->s, f->after, strlen(f->after)))
        *out = (struct row_text){out->s + strlen(f->after), out->n - strlen(f->after)};
    return rc;
}

/* Has the template {name}? */
static int names_field(const char *template, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = template; (p = strchr(p, '{')); p++)
        if (!strncmp(p + 1, name, n) && p[1 + n] == '}')
            return 1;
    return 0;
}

int task_row_text(struct row_text *out, const struct rows *r, const json_t *row, const struct task_loading *l,
                  const char *role, struct err *e)
{
    const struct task_field *f = task_field_find(l->file, role);
    const struct task_role *known = task_role_find(l->file->kind, role);
    *out = (struct row_text){0};
    int may_lack = known && (known->use == ROLE_FILLED ||
                             (known->use == ROLE_OPTIONAL && !names_field(l->prompt->text, role)));
    return f ? field_text(out, r, row, f, may_lack, e) : 0;
}

/* The row's texts of the file's further fields that the template names, behind the kind's. */
static int add_fields(struct prompt_field *all, int *n, const struct rows *r, const json_t *row,
                      struct task_loading *l, struct err *e)
{
    for (int i = 0; i < l->file->n_fields; i++) {
        const char *role = l->file->field[i].role;
        struct row_text text;
        if (task_role_find(l->file->kind, role) || !names_field(l->prompt->text, role))
            continue;
        int rc = field_text(&text, r, row, &l->file->field[i], 0, e);
        if (rc)
            return rc;
        all[(*n)++] = (struct prompt_field){role, text.s, text.n};
    }
    return 0;
}

static int has_field(const struct prompt_field *fields, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(fields[i].name, name))
            return 1;
    return 0;
}

int task_row_problem(struct problem *p, struct rows *r, const json_t *row, struct task_loading *l,
                     const struct prompt_field *fields, int n_fields, struct row_text problem, struct err *e)
{
    struct row_text id;
    struct prompt_field *all = xcalloc((size_t)n_fields + TASK_ROLES_MAX + 1, sizeof *all);
    int n = n_fields;
    memcpy(all, fields, (size_t)n_fields * sizeof *all);
    struct row_text examples = {0}, answer = {0};
    int rc = add_fields(all, &n, r, row, l, e);
    if (!rc)
        rc = few_shot_of_row(&examples, l, r, row, e);
    if (!rc && l->is_example && !has_field(fields, n_fields, "answer") &&
        names_field(l->prompt->text, "answer"))
        rc = task_row_text(&answer, r, row, l, "answer", e);
    if (!l->is_example)
        all[n++] = (struct prompt_field){"examples", examples.s, examples.n};
    else if (answer.s)
        all[n++] = (struct prompt_field){"answer", answer.s, answer.n};
    if (!rc)
        rc = task_row_text(&id, r, row, l, "id", e);
    if (!rc) {
        str_clear(&l->text);
        prompt_fill(&l->text, l->prompt->text, all, n);
        problem_set_prompt(p, r->task, str_text(&l->text), l->text.len);
        problem_set_hash(p, problem.s, problem.n);
        p->max_new_tokens = l->file->limit;
        p->truncate_middle = l->file->truncate_middle;
        rc = problem_set_id(p, r, id, e);
    }
    free(all);
    return rc;
}

/* Has one of the columns the value of the option "subset"? */
static int is_in_subset(const struct rows *r, const struct task_loading *l, const json_t *row,
                        const char *subset)
{
    char column[LIST_NAME_BYTES];
    for (const char *p = l->file->subsets; (p = list_next(p, column));) {
        struct err other = {0}; /* a list or an object is no value of a subset */
        struct row_text value;
        if (!row_text(&value, r, row, column, 1, &other) && value.s && value.n == strlen(subset) &&
            !memcmp(value.s, subset, value.n))
            return 1;
    }
    return 0;
}

static int read_row(struct rows *r, const json_t *row, void *context, struct err *e)
{
    struct task_loading *l = context;
    const struct task_rows *k = &l->file->rows;
    size_t n = r->n;
    if ((k->with && !row_value(row, k->with)) || (k->without && row_value(row, k->without))) {
        l->n_filtered++;
        return 0;
    }
    int rc = l->file->kind->row(r, row, l, e);
    if (!rc && l->file->subsets && r->task->options.subset && r->n > n) {
        xgrow(&l->is_in, &l->cap, r->n, 1);
        l->is_in[r->n - 1] = (char)is_in_subset(r, l, row, r->task->options.subset);
    }
    return rc;
}

/* Leaves the rows of the subset, after all were read and told. */
static int keep_subset(struct task *t, const struct task_loading *l, struct err *e)
{
    size_t n = 0;
    if (!l->is_in)
        return 0;
    for (size_t i = 0; i < t->n_problems; i++)
        if (l->is_in[i])
            t->problems[n++] = t->problems[i];
    t->n_problems = n;
    return n ? 0
             : err_set(e, ERR_USAGE, "task %s: no row has \"%.80s\" as its %s; name another subset",
                       l->file->name, t->options.subset, l->file->subsets);
}

static int finish_rows(struct rows *r, void *context, struct err *e)
{
    struct task_loading *l = context;
    const struct task_rows *k = &l->file->rows;
    if (!r->n && l->n_filtered)
        return err_set(e, ERR_USAGE, "%s: none of its %zu rows %s \"%s\" (rows.%s of %s)", r->path,
                       l->n_filtered,
                       k->with && k->without ? "is kept: they must have and lack certain columns, such as"
                       : k->with             ? "has the column"
                                             : "lacks the column",
                       k->with ? k->with : k->without, k->with ? "with" : "without", l->file->where);
    return l->file->kind->finish ? l->file->kind->finish(r, l, e) : 0;
}

/* Do the problems have what the file says of the set? Only all of them in order are told. */
static void match_facts(struct task *t, const struct task_facts *k)
{
    struct sha256 h;
    unsigned char digest[32];
    char hex[65];
    if (!k->answers_sha256)
        return;
    sha256_init(&h);
    for (size_t i = 0; i < t->n_problems; i++) {
        sha256_add(&h, t->problems[i].gold, t->problems[i].gold_len);
        sha256_add(&h, "\n", 1);
    }
    sha256_end(&h, digest);
    for (int i = 0; i < 32; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    int is_it = t->n_problems == (size_t)k->rows && !strcmp(hex, k->answers_sha256);
    for (size_t i = 0; i < t->n_problems && is_it; i++)
        t->problems[i].known_row = (int)i + 1;
}

int task_file_load(struct task *t, const char *path, struct err *e)
{
    const struct task_file *f = t->ops->file;
    struct task_loading l = {.file = f, .prompt = f->prompt};
    const char *wanted = t->options.prompt;
    int n = 0;
    while (wanted && n < f->n_prompts && strcmp(f->prompt[n].name, wanted))
        n++;
    if (n == f->n_prompts)
        return err_set(e, ERR_USAGE, "task %s: unknown prompt variant \"%s\"; choose one of %s", f->name,
                       wanted, t->ops->prompts);
    l.prompt = &f->prompt[n];
    int rc = few_shot_load(&l, t, path, e);
    if (!rc)
        rc = rows_read(t, path, f->rows.format, read_row, finish_rows, &l, e);
    few_shot_release(&l);
    if (!rc)
        match_facts(t, &f->facts);
    if (!rc)
        rc = keep_subset(t, &l, e);
    free(l.is_in);
    if (f->kind->release)
        f->kind->release(l.own);
    str_release(&l.text);
    return rc;
}
