/* The options of tasks, and opening one. */
#include "tasks/task.h"

#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "tasks/duplicates.h"
#include "tasks/known_sets.h"
#include "tasks/option_order.h"
#include "tasks/rows.h"
#include "tasks/task_file.h"
#include "tasks/task_list.h"

static const char *const duplicates_names[] = {"refuse", "fold", NULL};
static const char *const scored_names[] = {"steps", "block", NULL};

const struct param task_params[] = {
    {.name = "file",
     .type = PARAM_FILE,
     .offset = offsetof(struct task_options, file),
     .help = "problems file, or the text"},
    {.name = "prompt",
     .type = PARAM_STRING,
     .offset = offsetof(struct task_options, prompt),
     .help = "prompt variant; the task's first one if not given"},
    {.name = "problems",
     .type = PARAM_INT,
     .offset = offsetof(struct task_options, problems),
     .min = 1,
     .max = TASK_PROBLEMS_MAX,
     .help = "how many problems: the first of a file (all if not given), or generated (64, ruler 100)"},
    {.name = "duplicates",
     .type = PARAM_ENUM,
     .offset = offsetof(struct task_options, duplicates),
     .choices = duplicates_names,
     .help = "a problem that stands there more than once: refuse, or fold to one"},
    {.name = "steps",
     .type = PARAM_INT,
     .offset = offsetof(struct task_options, steps),
     .min = POCKET_STEPS_MIN,
     .max = POCKET_STEPS_MAX,
     .help = "size of a generated problem: rules, or facts for lookup"},
    {.name = "seed",
     .type = PARAM_INT,
     .offset = offsetof(struct task_options, seed),
     .min = 0,
     .max = 2147483647,
     .help = "seed of generated problems (1)"},
    {.name = "subset",
     .type = PARAM_STRING,
     .offset = offsetof(struct task_options, subset),
     .help = "data set of LongBench, family of RULER's problems; first30 or first100 of math500 and "
             "gpqa_diamond"},
    {.name = "order",
     .type = PARAM_ENUM,
     .offset = offsetof(struct task_options, order),
     .choices = option_rule_names,
     .help = "gpqa_diamond: whose order of options; by the record's hash if not given"},
    {.name = "tokens",
     .type = PARAM_INT,
     .offset = offsetof(struct task_options, tokens),
     .min = RULER_TOKENS_MIN,
     .max = RULER_TOKENS_MAX,
     .help = "the model's tokens that RULER's prompt and completion fill together"},
    {.name = "chains",
     .type = PARAM_INT,
     .offset = offsetof(struct task_options, chains),
     .min = 1,
     .max = RULER_CHAINS_MAX,
     .help = "RULER's vt: chains of variables, the first of which is asked for (1)"},
    {.name = "hops",
     .type = PARAM_INT,
     .offset = offsetof(struct task_options, hops),
     .min = 0,
     .max = RULER_HOPS_MAX,
     .help = "RULER's vt: assignments of a chain after the first (4)"},
    {.name = "window",
     .type = PARAM_INT,
     .offset = offsetof(struct task_options, window),
     .min = 2,
     .max = TEXT_WINDOW_MAX,
     .help = "text: tokens of a window (1024)"},
    {.name = "prompt_tokens",
     .type = PARAM_INT,
     .offset = offsetof(struct task_options, prompt_tokens),
     .min = 1,
     .max = TEXT_WINDOW_MAX,
     .help = "text: first tokens of a window, which are prefilled and not scored (128)"},
    {.name = "few_shot",
     .type = PARAM_INT,
     .offset = offsetof(struct task_options, few_shot),
     .min = 0,
     .max = TASK_EXAMPLES_MAX,
     .help = "solved examples before each problem, of a task that has them"},
    {.name = "scored",
     .type = PARAM_ENUM,
     .offset = offsetof(struct task_options, scored),
     .choices = scored_names,
     .help =
         "likelihood: an option's tokens in decode steps under the policy (steps), or in the prompt's pass "
         "(block)"},
    {.name = NULL},
};

double task_usual_tokens(const struct task_ops *ops, const struct task_options *o)
{
    if (!ops->expected_steps || o->steps == PARAM_UNSET_INT)
        return ops->expected_tokens;
    return (double)ops->expected_tokens * o->steps / ops->expected_steps;
}

int task_is_text(const char *metric)
{
    return !strcmp(metric, "bits_per_byte");
}

static int is_generated(const struct task_ops *ops, const struct task_options *o)
{
    return !ops->kind && !ops->default_file && !o->file;
}

void task_options_default(const struct task_ops *ops, struct task_options *o)
{
    if (o->seed == PARAM_UNSET_INT && is_generated(ops, o) && list_has(ops->options, "seed"))
        o->seed = 1;
    if (o->scored < 0 && ops->option_metrics)
        o->scored = SCORED_STEPS;
    if (!task_is_text(ops->metric))
        return;
    if (o->window == PARAM_UNSET_INT)
        o->window = 1024;
    if (o->prompt_tokens == PARAM_UNSET_INT)
        o->prompt_tokens = 128;
}

/* The limits of the table, for a caller that fills the struct itself. */
static int check_bounds(const struct task *t, struct err *e)
{
    for (const struct param *p = task_params; p->name; p++) {
        if (p->type != PARAM_INT || !param_is_set(p, &t->options))
            continue;
        int v = *(const int *)((const char *)&t->options + p->offset);
        if (v < p->min || v > p->max)
            return err_set(e, ERR_USAGE, "task %s: %s must be between %.0f and %.0f, not %d", t->ops->name,
                           p->name, p->min, p->max, v);
    }
    return 0;
}

static int check_generated(const struct task *t, const char *option, int value, struct err *e)
{
    if (value == PARAM_UNSET_INT || is_generated(t->ops, &t->options))
        return 0;
    return err_set(e, ERR_USAGE, "task %s: %s has no effect on the problems of a file; remove one of the two",
                   t->ops->name, option);
}

/* An option of other tasks is an error that names them. */
static int check_owned(const struct task *t, struct err *e)
{
    static const char everybody[] = "file,prompt,problems,duplicates";
    for (const struct param *p = task_params; p->name; p++) {
        if (!param_is_set(p, &t->options) || list_has(everybody, p->name) ||
            list_has(t->ops->options, p->name))
            continue;
        struct str owners = {0};
        const struct task_ops *other;
        for (size_t i = 0; (other = task_at(i)); i++)
            if (list_has(other->options, p->name))
                str_printf(&owners, "%s%s", owners.len ? ", " : "", other->name);
        int rc = err_set(e, ERR_USAGE, "task %s: %s is an option of %s; remove it", t->ops->name, p->name,
                         str_text(&owners));
        str_release(&owners);
        return rc;
    }
    return 0;
}

static int check_windows(const struct task *t, struct err *e)
{
    const struct task_options *o = &t->options;
    if (task_is_text(t->ops->metric) && o->prompt_tokens >= o->window)
        return err_set(e, ERR_USAGE,
                       "task %s: prompt_tokens is %d, which leaves nothing to score in a window of %d tokens",
                       t->ops->name, o->prompt_tokens, o->window);
    return 0;
}

/* Options that would have no effect are refused: a run file must not claim what did not happen. */
static int check_options(const struct task *t, struct err *e)
{
    const struct task_options *o = &t->options;
    const char *name = t->ops->name;
    int rc = check_owned(t, e);
    if (!rc)
        rc = check_generated(t, "steps", o->steps, e);
    if (!rc)
        rc = check_generated(t, "seed", o->seed, e);
    if (rc)
        return rc;
    if (o->prompt && !t->ops->prompts)
        return err_set(e, ERR_USAGE, "task %s: it has no prompt variants; remove prompt", name);
    if (o->file && !t->ops->fields)
        return err_set(e, ERR_USAGE, "task %s: its problems are generated, never read; remove file", name);
    rc = check_windows(t, e);
    return rc ? rc : check_bounds(t, e);
}

void task_default_file(struct str *out, const struct task_ops *ops, const char *data_dir, const char *subset)
{
    struct str file = {0};
    const char *mark = subset ? strstr(ops->default_file, "SUBSET") : NULL;
    if (mark)
        str_printf(&file, "%.*s%s%s", (int)(mark - ops->default_file), ops->default_file, subset,
                   mark + strlen("SUBSET"));
    else
        str_puts(&file, ops->default_file);
    if (task_is_own(ops))
        data_dir = ops->file->dir;
    if (data_dir)
        file_join(out, data_dir, file.data);
    else
        str_puts(out, file.data);
    str_release(&file);
}

/* The file the problems come from, in the arena; NULL when they are generated. */
static int find_file(const char **path, struct task *t, const char *data_dir, struct err *e)
{
    const struct task_ops *ops = t->ops;
    const char *own = task_is_own(ops) ? ops->file->where : NULL;
    *path = t->options.file;
    if (!*path && ops->kind && !ops->default_file)
        return err_set(e, ERR_USAGE,
                       "%s names no rows; name their file with \"file\" in the run file, or as rows.file",
                       own ? own : ops->name);
    if (*path || !ops->default_file)
        return 0;
    if (ops->subset && !t->options.subset)
        return err_set(e, ERR_USAGE, "task %s: name a data set with subset, or a problems file with file",
                       ops->name);
    if (ops->subset && strchr(t->options.subset, '/'))
        return err_set(e, ERR_USAGE, "task %s: subset is a data set's name, without \"/\"", ops->name);
    struct str file = {0};
    task_default_file(&file, ops, data_dir, t->options.subset);
    *path = arena_strdup(&t->arena, file.data);
    str_release(&file);
    if (own && !file_exists(*path))
        return err_set(e, ERR_USAGE, "task %s: there is no file %s, which is rows.file of %s", ops->name,
                       *path, own);
    if (own)
        return 0;
    if (!data_dir)
        return err_set(
            e, ERR_USAGE,
            "task %s: its problems come from a file, which is not part of the program; get it with `kveval "
            "fetch %s --data DIR` and name the folder with --data DIR, where it is %s, or name the file with "
            "file",
            ops->name, ops->name, *path);
    if (!file_exists(*path))
        return err_set(
            e, ERR_USAGE,
            "task %s: there is no file %s; get it with `kveval fetch %s --data %s`, or name it with file",
            ops->name, *path, ops->name, data_dir);
    return 0;
}

/* ---- opening */

static int check_problems(struct task *t, const char *path, struct err *e)
{
    known_set_match(t);
    int is_whole = known_set_is_whole(t);
    if (!is_whole || t->options.duplicates == DUPLICATES_FOLD) {
        int rc = duplicates_check(t, path, e);
        if (rc)
            return rc;
        if (t->n_folded)
            known_set_match(t);
    }
    int rc = duplicates_check_ids(t, path, e);
    return rc ? rc : known_set_check(t, path, e);
}

int task_open_as(struct task *t, const struct task_ops *ops, const char *label, const struct task_options *o,
                 const char *data_dir, const struct task_counter *counter, struct err *e)
{
    *t = (struct task){.ops = ops, .options = *o, .counter = counter};
    task_options_default(t->ops, &t->options);
    t->options.file = o->file ? arena_strdup(&t->arena, o->file) : NULL;
    t->options.prompt = o->prompt ? arena_strdup(&t->arena, o->prompt) : NULL;
    t->options.subset = o->subset ? arena_strdup(&t->arena, o->subset) : NULL;
    t->label = label ? arena_strdup(&t->arena, label) : NULL;
    const char *path = NULL;
    int rc = check_options(t, e);
    if (!rc)
        rc = find_file(&path, t, data_dir, e);
    if (!rc)
        rc = t->ops->load(t, path, e);
    if (!rc)
        rc = check_problems(t, path, e);
    if (rc) {
        task_close(t);
        return rc;
    }
    t->counter = NULL;
    int limit = t->options.problems;
    if (limit != PARAM_UNSET_INT && t->n_problems > (size_t)limit)
        t->n_problems = (size_t)limit;
    return 0;
}

int task_open(struct task *t, const char *name, const struct task_options *o, const char *data_dir,
              const struct task_counter *counter, struct err *e)
{
    const struct task_ops *ops = task_find(name);
    *t = (struct task){0};
    return ops ? task_open_as(t, ops, NULL, o, data_dir, counter, e) : task_unknown(name, e);
}

void task_close(struct task *t)
{
    arena_release(&t->arena);
    *t = (struct task){0};
}
