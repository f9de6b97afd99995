/* kveval init: a first run file for a model, with notes that explain it and budgets that suit the model. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "evalcore/base/file.h"
#include "evalcore/base/json.h"
#include "evalcore/base/log.h"
#include "evalcore/base/margin.h"
#include "evalcore/cli/hub_model.h"
#include "evalcore/commands/commands.h"
#include "tasks/task.h"

struct init_options {
    const char *model, *tasks, *policies, *data;
};

#define AT(member) offsetof(struct init_options, member)
static const struct cli_option init_table[] = {
    {"model", 'M', CLI_STRING, AT(model), "MODEL", .help = MODEL_HELP},
    {"tasks", 't', CLI_STRING, AT(tasks), "TASKS",
     .help = "names with commas between them (default: pocket.relay,pocket.lookup on pocket, else math500)"},
    {"data", 'd', CLI_STRING, AT(data), "FILES",
     .help = "problems of yours, with commas between files: JSONL, a JSON list, CSV or TSV"},
    {"policies", 0, CLI_STRING, AT(policies), "POLICIES",
     .help = "names with commas between them (default: all that this model has options for)"},
    {0},
};

enum { MOST = 32, POCKET_LIMIT = 1400, POCKET_TRIAL = 128 };

struct draft {
    const char *file, *model; /* model: as the run file names it */
    const char *found;        /* where it is */
    struct engine_info info;
    const struct task_ops *task[MOST];
    const struct policy_ops *policy[MOST];
    int n_tasks, n_policies;
    json_t *own; /* entries of tasks that are files of the user's own */
    int pages;   /* smaller of the two budgets, in pages of 16 tokens; the other is twice as large */
    struct str left_out;
    struct arena arena;
};

static int is_pocket(const struct draft *p)
{
    return !strcmp(p->model, "pocket");
}

/* pocket solves its own problems alone: those of a user go through it to see that all parts work. */
static int is_trial(const struct draft *p)
{
    return is_pocket(p) && !p->n_tasks;
}

/* About an eighth of what a completion reads at its end, as a power of two pages: the papers' budgets of 1k
 * to 4k tokens where completions have 8k to 16k. A task with short answers has long prompts. */
static int choose_pages(const struct draft *p)
{
    double longest = 0;
    for (int i = 0; i < p->n_tasks; i++)
        longest = fmax(longest, p->task[i]->expected_tokens);
    if (json_array_size(p->own))
        longest = is_trial(p) ? 512 : fmax(longest, 4096);
    if (longest < 256)
        longest = 8192;
    longest = fmin(longest, p->info.max_position);
    double power = round(log2(longest / 8 / 16));
    return 1 << (int)fmin(fmax(power, 2), 8);
}

/* `, "k_pages": [8, 16]`, or the first of the two alone. */
static void write_budget(struct str *out, const char *key, double first, double second, int is_swept)
{
    str_printf(out, ", \"%s\": ", key);
    if (is_swept)
        str_printf(out, "[%g, %g]", first, second);
    else
        str_printf(out, "%g", first);
}

/* The options of a policy behind its name: a budget, swept over two values or the first alone. 0 when no
 * budget for this policy is known here. */
static int add_budget(struct str *out, const struct policy_ops *ops, int pages, int is_swept)
{
    const char *keys = policy_budget_keys(ops);
    size_t n = strcspn(keys, ",");
    if (!n)
        return 1;
    if (!strncmp(keys, "k_pages", n)) {
        write_budget(out, "k_pages", pages, 2 * pages, is_swept);
        if (param_find(policy_params(ops), "l_pages"))
            str_printf(out, ", \"l_pages\": %d", pages / 4);
    } else if (!strncmp(keys, "budget_tokens", n)) {
        write_budget(out, "budget_tokens", pages * 16, pages * 32, is_swept);
    } else if (!strncmp(keys, "ratio", n)) {
        write_budget(out, "ratio", 0.1, 0.2, is_swept);
    } else if (!strncmp(keys, "cr", n)) {
        write_budget(out, "cr", 4, 8, is_swept);
    } else if (!strncmp(keys, "theta", n)) {
        write_budget(out, "theta", 0.6, 1, is_swept);
    } else {
        return 0;
    }
    return 1;
}

/* Has the policy all that it needs of this model, such as layers that somebody has published? Looked at with
 * the first of its budgets. */
static int policy_suits(struct draft *p, const struct policy_ops *ops, struct err *e)
{
    struct policy_spec spec, resolved;
    struct policy_model model = {
        .path = p->found, .n_layers = p->info.n_layers, .window = engine_windows(&p->info)};
    struct str text = {0};
    json_t *o = NULL;
    int rc = 0;
    str_printf(&text, "{\"name\": \"%s\"", policy_name(ops));
    if (!add_budget(&text, ops, p->pages, 0))
        rc = err_set(
            e, ERR_USAGE,
            "no budget for policy %s is known here: write its entry by hand, see kveval list policies",
            policy_name(ops));
    str_putc(&text, '}');
    if (!rc)
        rc = json_read_text(&o, text.data, text.len, policy_name(ops), e);
    if (!rc)
        rc = policy_spec_json(&spec, o, &p->arena, e);
    if (!rc)
        rc = policy_spec_resolve(&resolved, &spec, &model, &p->arena, e);
    json_decref(o);
    str_release(&text);
    return rc;
}

/* Calls take() with each name of "a,b". */
static int each_name(struct draft *p, const char *names,
                     int (*take)(struct draft *p, const char *name, struct err *e), struct err *e)
{
    int rc = 0;
    for (const char *at = names; !rc && *at;) {
        size_t n = strcspn(at, ",");
        rc = take(p, arena_strndup(&p->arena, at, n), e);
        at += n + (at[n] == ',');
    }
    return rc;
}

static int add_task(struct draft *p, const char *name, struct err *e)
{
    const struct task_ops *ops = task_find(name);
    if (!ops)
        return task_unknown(name, e);
    for (int i = 0; i < p->n_tasks; i++)
        if (p->task[i] == ops)
            return err_set(e, ERR_USAGE, "--tasks names %s twice", name);
    if (task_is_text(ops->metric))
        return err_set(e, ERR_USAGE,
                       "the task %s needs a file of yours: write the run file without it, then add "
                       "{\"name\": \"%s\", \"file\": \"FILE.txt\"} to its tasks",
                       name, name);
    if (p->n_tasks == MOST)
        return err_set(e, ERR_USAGE, "--tasks names more than %d tasks", MOST);
    p->task[p->n_tasks++] = ops;
    return 0;
}

/* In a run file a relative path counts from the file's folder. */
static const char *path_in_run_file(struct draft *p, const char *path, struct err *e)
{
    char whole[PATH_MAX];
    if (!strchr(p->file, '/') || *path == '/')
        return path;
    if (realpath(path, whole))
        return arena_strdup(&p->arena, whole);
    err_set(e, file_error_code(errno), "%s: %s", path, err_reason(errno));
    return NULL;
}

static int add_data(struct draft *p, const char *path, struct err *e)
{
    json_t *entries = NULL;
    if (!file_exists(path) || file_is_dir(path))
        return err_set(e, ERR_USAGE,
                       "--data names %s, which is no file; it takes files of problems of your own", path);
    const char *shown = path_in_run_file(p, path, e);
    int rc = shown ? task_guess(&entries, path, shown, e) : e->code;
    json_array_extend(p->own, entries);
    json_decref(entries);
    return rc;
}

static int add_policy(struct draft *p, const char *name, struct err *e)
{
    const struct policy_ops *ops = policy_find(name);
    const char *near = ops ? NULL : policy_nearest(name);
    if (!ops)
        return err_set(e, ERR_USAGE, "unknown policy \"%s\"%s%s%s", name, near ? "; did you mean " : "",
                       near ? near : "", near ? "?" : "; kveval list policies shows them");
    for (int i = 0; i < p->n_policies; i++)
        if (p->policy[i] == ops)
            return err_set(e, ERR_USAGE, "--policies names %s twice", name);
    if (p->n_policies == MOST)
        return err_set(e, ERR_USAGE, "--policies names more than %d policies", MOST);
    p->policy[p->n_policies++] = ops;
    return policy_suits(p, ops, e);
}

static void add_suitable_policies(struct draft *p)
{
    for (size_t i = 0; policy_at(i) && p->n_policies < MOST; i++) {
        struct err e = {0};
        if (!policy_suits(p, policy_at(i), &e))
            p->policy[p->n_policies++] = policy_at(i);
        else
            str_printf(&p->left_out, "%s%s", p->left_out.len ? ", " : "", policy_name(policy_at(i)));
    }
}

/* ---- the file */

static int needs_data(const struct draft *p)
{
    int needs = 0;
    for (int i = 0; i < p->n_tasks; i++)
        needs |= p->task[i]->default_file != NULL;
    return needs;
}

/* Does an entry wait for an answer of the user's? */
static int has_question(const struct draft *p)
{
    int has = 0;
    for (size_t i = 0; i < json_array_size(p->own); i++)
        has |= json_object_get(json_array_get(p->own, i), "note") != NULL;
    return has;
}

static void note_line(struct str *out, const char *text, int is_last)
{
    str_puts(out, "    ");
    json_quote(out, text, strlen(text));
    str_puts(out, is_last ? "\n" : ",\n");
}

static void write_notes(const struct draft *p, struct str *out)
{
    struct str line = {0};
    str_puts(out, "  \"note\": [\n");
    str_printf(
        &line,
        "Look first: kveval sweep %s -o out --dry-run%s. Without --dry-run it decodes; repeat it to resume.",
        p->file, needs_data(p) ? " --data DATA" : "");
    note_line(out, line.data, 0);
    note_line(out,
              "A list where one value is expected is swept: each value gives a cell. Notes may stand in any "
              "object.",
              0);
    note_line(out,
              "temperature 0 is greedy. Reasoning models are often sampled with 0.6 and top_p 0.95, with "
              "several samples.",
              0);
    note_line(
        out, "Budgets are the same number of tokens for each policy that counts tokens or pages (16 tokens).",
        0);
    note_line(
        out,
        "margin: points that a policy may lose and still be marked as good as the baseline. The dry run "
        "says how many problems that takes; these few show what the program does.",
        0);
    if (is_trial(p))
        note_line(out,
                  "The embedded model solves its own problems alone. This run is a trial of the whole way, "
                  "with short "
                  "completions; init --model FOLDER --data FILE writes one for a model of yours.",
                  0);
    if (p->left_out.len) {
        str_clear(&line);
        str_printf(&line, "Left out, because they need options of this model that nobody has published: %s.",
                   p->left_out.data);
        note_line(out, line.data, 0);
    }
    note_line(out, "All options: kveval list policies, kveval list tasks.", 1);
    str_puts(out, "  ],\n");
    str_release(&line);
}

static void write_tasks(const struct draft *p, struct str *out)
{
    str_puts(out, "  \"tasks\": [\n");
    for (int i = 0; i < p->n_tasks; i++) {
        const struct task_ops *ops = p->task[i];
        str_printf(out, "    {\"name\": \"%s\", \"problems\": %d", ops->name, is_pocket(p) ? 8 : 30);
        if (ops->subset)
            str_printf(out, ", \"subset\": \"%s\"", ops->subset(0));
        if (ops->options && strstr(ops->options, "tokens") && !task_is_text(ops->metric))
            str_puts(out, is_pocket(p) ? ", \"tokens\": 2400" : ", \"tokens\": [2048, 4096]");
        str_puts(out, ", \"note\": ");
        json_quote(out, ops->help, strlen(ops->help));
        str_printf(out, "}%s\n", i + 1 < p->n_tasks || json_array_size(p->own) ? "," : "");
    }
    for (size_t i = 0; i < json_array_size(p->own); i++) {
        char *text = json_dumps(json_array_get(p->own, i), 0);
        str_printf(out, "    %s%s\n", text, i + 1 < json_array_size(p->own) ? "," : "");
        free(text);
    }
    str_puts(out, "  ],\n");
}

static void write_policies(const struct draft *p, struct str *out)
{
    const char *baseline = NULL;
    str_puts(out, "  \"policies\": [\n");
    for (int i = 0; i < p->n_policies; i++) {
        const struct policy_ops *ops = p->policy[i];
        str_printf(out, "    {\"name\": \"%s\"", policy_name(ops));
        add_budget(out, ops, p->pages, 1);
        str_puts(out, ", \"note\": ");
        json_quote(out, policy_help(ops), strlen(policy_help(ops)));
        str_printf(out, "}%s\n", i + 1 < p->n_policies ? "," : "");
        if (!*policy_budget_keys(ops))
            baseline = policy_name(ops);
    }
    str_puts(out, "  ]");
    if (baseline)
        str_printf(out, ",\n  \"baseline\": \"%s\",\n  \"margin\": %g", baseline, MARGIN_DEFAULT);
    str_puts(out, "\n}\n");
}

/* A quarter of the context leaves room for any prompt of these tasks. */
static int longest_completion(const struct draft *p)
{
    int most = is_trial(p)    ? POCKET_TRIAL
               : is_pocket(p) ? POCKET_LIMIT
                              : 16384,
        quarter = p->info.max_position / 4;
    return is_pocket(p) || quarter >= most ? most : quarter > 16 ? quarter : 16;
}

static void write_file(const struct draft *p, struct str *out)
{
    str_puts(out, "{\n");
    write_notes(p, out);
    str_puts(out, "  \"model\": ");
    json_quote(out, p->model, strlen(p->model));
    str_printf(out,
               ",\n  \"seed\": 1,\n  \"samples\": 1,\n  \"temperature\": 0,\n  \"max_new_tokens\": %d,\n",
               longest_completion(p));
    write_tasks(p, out);
    write_policies(p, out);
}

/* ---- the command */

static int name_model(struct draft *p, const char *model, struct err *e)
{
    p->model = model;
    if (!strcmp(model, "pocket") || !file_is_dir(model))
        return 0;
    const char *path = path_in_run_file(p, model, e);
    p->model = path ? path : model;
    return path ? 0 : e->code;
}

static int fill_draft(struct draft *p, const struct init_options *o, const struct process_env *env,
                      struct err *e)
{
    int rc = name_model(p, o->model, e);
    if (!rc)
        rc = hub_model(&p->found, env, o->model, &p->arena, e);
    if (!rc)
        rc = engine_describe(&(struct engine_options){.model = p->found}, &p->info, e);
    const char *usual = o->data ? "" : is_pocket(p) ? "pocket.relay,pocket.lookup" : "math500";
    p->own = json_array();
    if (!rc)
        rc = each_name(p, o->tasks ? o->tasks : usual, add_task, e);
    if (!rc && o->data)
        rc = each_name(p, o->data, add_data, e);
    if (!rc && !p->n_tasks && !json_array_size(p->own))
        rc = err_set(e, ERR_USAGE, o->data ? "--data names no file" : "--tasks names no task");
    p->pages = choose_pages(p);
    if (!rc && (o->policies || is_trial(p)))
        rc = each_name(p, o->policies ? o->policies : "full,quest", add_policy, e);
    else if (!rc)
        add_suitable_policies(p);
    if (!rc && !p->n_policies)
        rc = err_set(e, ERR_USAGE, "--policies names no policy");
    return rc;
}

static int run_init(const struct process_env *env, int argc, char **argv)
{
    struct init_options o = {.model = "pocket"};
    struct draft p = {.file = "run.json"};
    struct str text = {0};
    struct err e = {0};
    int n, code = command_parse(&cmd_init, &o, argc, argv, &p.file, 0, 1, &n);
    if (code >= 0)
        return code;
    int rc =
        file_exists(p.file)
            ? err_set(&e, ERR_USAGE, "%s is there already; name another file, or remove it first", p.file)
            : fill_draft(&p, &o, env, &e);
    if (!rc) {
        write_file(&p, &text);
        rc = file_write_atomic(p.file, text.data, text.len, &e);
    }
    if (rc)
        err_add(&e, "init");
    else if (has_question(&p))
        log_info("wrote %s; its answers can be read in more than one way: write which into \"answer_is\", as "
                 "its note "
                 "says, then: kveval sweep %s -o out",
                 p.file, p.file);
    else
        log_info("wrote %s; next: kveval sweep %s -o out%s", p.file, p.file,
                 is_pocket(&p)    ? ""
                 : needs_data(&p) ? " --data DATA --dry-run"
                                  : " --dry-run");
    str_release(&text);
    str_release(&p.left_out);
    json_decref(p.own);
    arena_release(&p.arena);
    return rc ? command_fail(&e, EXIT_USAGE) : EXIT_DONE;
}

const struct command cmd_init = {
    .name = "init",
    .usage = "[FILE]",
    .help = "write a run file with notes for a model, to start from",
    .details = "FILE is run.json where none is named, and is never overwritten. --data looks at files of "
               "problems and\n"
               "writes the tasks that they are: which columns hold problem, options and answer "
               "(docs/tasks.md). Budgets are about an eighth of the\n"
               "length of the tasks' completions and twice that. The file can be swept as it is.",
    .options = init_table,
    .run = run_init,
};
