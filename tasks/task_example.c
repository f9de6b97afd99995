/* What `kveval list tasks NAME` shows of a task: what its file says, and the prompt of a made-up row. No row
 * of a published set is in the program. */
#include <stdlib.h>
#include <string.h>

#include "tasks/few_shot.h"
#include "tasks/row_options.h"
#include "tasks/task_file.h"
#include "tasks/task_list.h"

static void add_line(struct str *out, const char *name, const char *text)
{
    if (text && *text)
        str_printf(out, "    %s: %s\n", name, text);
}

void task_describe(struct str *out, const struct task_ops *ops)
{
    const struct task_file *f = ops->file;
    if (!f)
        return;
    str_printf(out, "    kind: %s, %s\n", f->kind->name, f->kind->help);
    if (f->rows.hub)
        str_printf(out, "    from: %s on the Hub%s%s%s%s\n", f->rows.hub,
                   f->rows.revision ? ", revision " : "", f->rows.revision ? f->rows.revision : "",
                   f->rows.path ? ", file " : "", f->rows.path ? f->rows.path : "");
    add_line(out, "licence", f->rows.licence);
    if (f->facts.rows)
        str_printf(out, "    facts: %d rows%s%s\n", f->facts.rows,
                   f->facts.answers_sha256 ? ", SHA-256 of the answers " : "; its answers are not known here",
                   f->facts.answers_sha256 ? f->facts.answers_sha256 : "");
    add_line(out, "read in", f->facts.source);
    add_line(out, "unchecked", f->unchecked);
    if (f->limit)
        str_printf(out, "    limit: %d tokens of a completion, where the run file says none\n", f->limit);
    if (f->few_shot.count)
        str_printf(out, "    examples: %d in a prompt that has {examples}, from %s\n", f->few_shot.count,
                   f->few_shot.file ? f->few_shot.file : "the file itself");
}

/* The kind's made-up row, with a text for each further field. Its columns are called as the fields are. */
static json_t *made_up_row(struct task_file *f, struct arena *a)
{
    json_t *row = NULL;
    if (!f->kind->example ||
        json_read_text(&row, f->kind->example, strlen(f->kind->example), f->kind->name, NULL))
        return NULL;
    for (int i = 0; i < f->n_fields; i++) {
        const char *role = f->field[i].role;
        f->field[i] = (struct task_field){.role = role, .columns = role};
        if (json_object_get(row, role))
            continue;
        if (!task_role_find(f->kind, role))
            json_object_set_new(row, role, json_string(arena_printf(a, "(the row's %s)", role)));
    }
    return row;
}

/* The template alone, of a kind whose rows cannot be made up in a line. */
static void render_template(struct str *out, const struct task_file *f, const struct task_prompt *prompt)
{
    struct arena a = {0};
    struct prompt_field all[2 * TASK_ROLES_MAX + 1];
    int n = 0;
    for (int i = 0; i < f->n_fields; i++)
        all[n++].name = f->field[i].role;
    char name[LIST_NAME_BYTES];
    const char *more = f->kind->template_fields ? f->kind->template_fields : "";
    while (n < 2 * TASK_ROLES_MAX && (more = list_next(more, name)))
        all[n++].name = arena_strdup(&a, name);
    for (int i = 0; i < n; i++) {
        all[i].text = arena_printf(&a, "(the row's %s)", all[i].name);
        all[i].len = strlen(all[i].text);
    }
    all[n].name = "examples";
    all[n].text = arena_printf(&a, "[%d examples]\n", f->few_shot.count);
    all[n].len = f->few_shot.count ? strlen(all[n].text) : 0;
    prompt_fill(out, prompt->text, all, n + 1);
    arena_release(&a);
}

static int render_file(struct str *out, const struct task_ops *ops, const struct task_prompt *prompt,
                       struct err *e)
{
    struct task t = {0};
    struct task_file *f = arena_alloc(&t.arena, sizeof *f);
    *f = *ops->file;
    json_t *row = made_up_row(f, &t.arena);
    int is_beside = f->few_shot.file && f->few_shot.count && strstr(prompt->text, "{examples}");
    if (!row) {
        render_template(out, f, prompt);
        arena_release(&t.arena);
        return 0;
    }
    f->grader.answer_is = ANSWER_TEXT; /* as the made-up rows of both kinds with options give it */
    t.ops = ops;
    param_defaults(task_params, &t.options);
    struct rows r = {.task = &t, .path = f->where, .line = 1};
    struct task_loading l = {.file = ops->file, .prompt = prompt};
    struct err made_up = {0};
    int rc = f->few_shot.file || f->few_shot.match ? 0 : few_shot_load(&l, &t, "", e);
    l.file = f;
    if (!rc && (rc = f->kind->row(&r, row, &l, &made_up)) != 0) {
        render_template(out, ops->file, prompt); /* the kind wants more of a row than could be made up */
        rc = 1;
    }
    if (!rc && is_beside)
        str_printf(out, "[%d examples of %s stand where {examples} does]\n", f->few_shot.count,
                   f->few_shot.file);
    if (!rc)
        str_add(out, r.problems[0].prompt, r.problems[0].prompt_len);
    l.file = ops->file;
    few_shot_release(&l);
    if (f->kind->release)
        f->kind->release(l.own);
    str_release(&l.text);
    rows_release(&r);
    json_decref(row);
    arena_release(&t.arena);
    return rc > 0 ? 0 : rc;
}

/* A generated task shows a problem of its own. */
static int render_generated(struct str *out, const struct task_ops *ops, struct err *e)
{
    struct task_options o;
    struct task t;
    param_defaults(task_params, &o);
    o.problems = 1;
    if (ops->default_file || !ops->options || !list_has(ops->options, "steps"))
        return 1;
    int rc = task_open_as(&t, ops, NULL, &o, NULL, NULL, e);
    if (!rc)
        str_add(out, t.problems[0].prompt, t.problems[0].prompt_len);
    task_close(&t);
    return rc;
}

/* GPQA, whose loader is C, has its templates beside the others. */
static int render_gpqa(struct str *out, const char *variant)
{
    static const struct prompt_field fields[] = {
        {"problem", "What is 3 + 4?", 14}, {"A", "5", 1}, {"B", "6", 1}, {"C", "7", 1}, {"D", "8", 1}};
    char name[80];
    snprintf(name, sizeof name, "gpqa_%s", variant ? variant : "openr1");
    const char *template = task_prompt_text(name);
    if (template)
        prompt_fill(out, template, fields, 5);
    return !template;
}

int task_example(struct str *out, const struct task_ops *ops, const char *variant, struct err *e)
{
    const struct task_file *f = ops->file;
    if (ops == &task_gpqa_diamond)
        return render_gpqa(out, variant);
    if (!f)
        return render_generated(out, ops, e);
    for (int i = 0; i < f->n_prompts; i++)
        if (!variant || !strcmp(variant, f->prompt[i].name))
            return render_file(out, ops, &f->prompt[i], e);
    return err_set(e, ERR_USAGE, "task %s: unknown prompt variant \"%s\"; choose one of %s", f->name, variant,
                   ops->prompts);
}
