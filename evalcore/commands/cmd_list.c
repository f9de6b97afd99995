/* kveval list policies|tasks|families|devices: what is there, what it takes, and what is missing. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "engine/model/model_config.h"
#include "engine/policies/policy.h"
#include "evalcore/base/file.h"
#include "evalcore/commands/commands.h"
#include "evalcore/doctor/gpu_table.h"
#include "kernels/backend.h"
#include "tasks/task.h"

struct list_options {
    const char *data;
};

static const struct cli_option list_table[] = {
    {"data", 'd', CLI_STRING, offsetof(struct list_options, data), "DIR", .help = "where problem files are"},
    {0},
};

static int list_policies(void)
{
    const struct policy_ops *ops;
    struct str text = {0};
    for (size_t i = 0; (ops = policy_at(i)); i++) {
        const char *budget = policy_budget_keys(ops);
        str_printf(&text, "%s%s: %s\n", i ? "\n" : "", policy_name(ops), policy_help(ops));
        if (budget && *budget)
            str_printf(&text, "  budget, no default: %s\n", budget);
        param_help(policy_params(ops), &text);
        for (const struct preset *p = policy_presets(ops); p && p->name; p++)
            str_printf(&text, "  preset %-10s %s (%s)\n", p->name, p->help, p->pairs);
    }
    fputs(str_text(&text), stdout);
    str_release(&text);
    return EXIT_DONE;
}

static int list_families(void)
{
    const char *name, *models;
    for (size_t i = 0; (name = model_family_at(i, &models)); i++)
        printf("%s: %s\n", name, models);
    return EXIT_DONE;
}

/* The data sets of a task, all of them without a data folder; with a data folder those alone whose file is
 * there, or is not. */
static void print_subsets(const struct task_ops *ops, const char *title, const char *data, int there)
{
    struct str names = {0};
    const char *subset;
    for (size_t i = 0; (subset = ops->subset(i)); i++) {
        struct str path = {0};
        if (data)
            task_default_file(&path, ops, data, subset);
        if (!data || file_exists(path.data) == there)
            str_printf(&names, "%s%s", names.len ? ", " : "", subset);
        str_release(&path);
    }
    if (names.len)
        printf("        %s: %s\n", title, names.data);
    str_release(&names);
}

/* What a problems file that is there is of the published set of its task, or why no sweep reads it. */
static void print_known(const struct task_ops *ops, const char *path, const char *subset)
{
    struct task_options o;
    struct task_set_facts facts;
    struct task t;
    struct err e = {0};
    struct str text = {0};
    param_defaults(task_params, &o);
    o.file = path;
    o.subset = subset;
    if (task_open(&t, ops->name, &o, NULL, NULL, &e)) {
        printf("        %s\n", e.text);
        return;
    }
    task_set_facts(&facts, &text, &t);
    if (text.len)
        printf("        %s%s%s\n", subset ? subset : "", subset ? ": " : "", text.data);
    str_release(&text);
    task_close(&t);
}

static void print_known_subsets(const struct task_ops *ops, const char *data)
{
    const char *subset;
    for (size_t i = 0; (subset = ops->subset(i)); i++) {
        struct str path = {0};
        task_default_file(&path, ops, data, subset);
        if (file_exists(path.data))
            print_known(ops, path.data, subset);
        str_release(&path);
    }
}

/* Where a task's file is looked for, and whether it is there. */
static void print_file(const struct task_ops *ops, const char *data)
{
    struct str path = {0};
    if (ops->default_file)
        task_default_file(&path, ops, data ? data : "DATA", NULL);
    if (task_is_text(ops->metric))
        printf("    problems: a file of yours, which the task's option file names\n");
    else if (!ops->default_file && ops->kind)
        printf("    problems: a file that the run file names with \"file\"\n");
    else if (!ops->default_file)
        printf("    problems: generated%s\n", ops->fields ? ", or a file" : "");
    else if (task_is_own(ops))
        printf("    problems: %s, %s\n", path.data, file_exists(path.data) ? "there" : "MISSING");
    else if (!data)
        printf("    problems: %s (DATA is the folder given with --data)\n", path.data);
    else if (ops->subset)
        printf("    problems: %s, SUBSET by the task's option subset\n", path.data);
    else
        printf("    problems: %s, %s\n", path.data, file_exists(path.data) ? "there" : "MISSING");
    if (ops->default_file && data && !ops->subset && file_exists(path.data))
        print_known(ops, path.data, NULL);
    if (ops->subset && ops->default_file && data) {
        print_subsets(ops, "there", data, 1);
        print_known_subsets(ops, data);
        print_subsets(ops, "MISSING", data, 0);
    } else if (ops->subset) {
        print_subsets(ops, ops->default_file ? "SUBSET is one of" : "subset is one of", NULL, 0);
    }
    if (ops->fields)
        printf("    its fields: %s\n", ops->fields);
    str_release(&path);
}

static void print_task(const struct task_ops *ops, const char *data)
{
    printf("%s: %s\n    version %s, %s, about %d tokens a completion%s%s\n", ops->name, ops->help,
           ops->version, ops->metric, ops->expected_tokens, ops->prompts ? ", prompts " : "",
           ops->prompts ? ops->prompts : "");
    print_file(ops, data);
}

/* Lines behind a bar each, so that blank ones and the end are seen. */
static void print_quoted(const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        printf("    | %.*s\n", (int)n, text);
        text += n + (text[n] == '\n');
    }
}

/* One task, a file of somebody's own too: all that is known of it, and its prompts for a made-up row. */
static int list_task(const struct list_options *o, const char *name)
{
    const struct task_ops *ops = task_find(name);
    struct arena a = {0};
    struct str text = {0};
    struct err e = {0};
    int is_path = strchr(name, '/') || file_exists(name);
    int rc = ops ? 0 : is_path ? task_read_file(&ops, name, &a, &e) : task_unknown(name, &e);
    if (!rc) {
        print_task(ops, o->data);
        task_describe(&text, ops);
        fputs(str_text(&text), stdout);
    }
    for (const char *p = !rc && ops->prompts ? ops->prompts : ""; !rc && p;) {
        char variant[80];
        size_t n = strcspn(p, ",");
        snprintf(variant, sizeof variant, "%.*s", (int)n, p);
        str_clear(&text);
        rc = task_example(&text, ops, n ? variant : NULL, &e);
        if (!rc) {
            printf("\n%s%s%s:\n",
                   n           ? "prompt "
                   : ops->kind ? "the prompt"
                               : "a generated problem",
                   variant, n ? ", of a made-up row" : "");
            print_quoted(str_text(&text));
        }
        p = p[n] ? p + n + 1 : NULL;
    }
    if (rc > 0)
        rc = 0;
    str_release(&text);
    arena_release(&a);
    return rc ? command_fail(&e, EXIT_USAGE) : EXIT_DONE;
}

static int list_tasks(const struct list_options *o)
{
    const struct task_ops *ops;
    struct str options = {0};
    for (size_t i = 0; (ops = task_at(i)); i++)
        print_task(ops, o->data);
    const struct task_group *group;
    for (size_t i = 0; (group = task_group_at(i)); i++)
        printf("%s, a group: %s\n", group->name, group->help);
    param_help(task_params, &options);
    printf("\noptions of a task in a run file:\n%s", str_text(&options));
    str_release(&options);
    return EXIT_DONE;
}

/* Every device there is; a backend without any says why. */
static int list_devices(void)
{
    const struct backend *cpu = backend_find("cpu");
    struct device *d = NULL;
    struct gpu_table gpus;
    struct str table = {0};
    char why[320];
    if (cpu->open(&d, 0, NULL, why, sizeof why) < 0)
        printf("cpu:0: not available: %s\n", why);
    else
        printf("cpu:0: %s, KV in fp32\n", cpu->describe(d));
    if (d)
        cpu->close(d);
    gpu_table(&gpus, &table, "");
    if (gpus.n)
        printf("\n%s", str_text(&table));
    else
        printf("cuda: %s\n", gpus.why);
    str_release(&table);
    return EXIT_DONE;
}

static int run_list(const struct process_env *p, int argc, char **argv)
{
    struct list_options o = {0};
    struct err e = {0};
    const char *what[2] = {NULL, NULL};
    int n;
    (void)p;
    int code = command_parse(&cmd_list, &o, argc, argv, what, 1, 2, &n);
    if (code >= 0)
        return code;
    if (n == 2 && strcmp(what[0], "tasks") != 0) {
        err_set(&e, ERR_USAGE, "list %s takes no name; `list tasks NAME` shows one task", what[0]);
        return command_fail(&e, EXIT_USAGE);
    }
    if (n == 2)
        return list_task(&o, what[1]);
    if (!strcmp(what[0], "policies"))
        return list_policies();
    if (!strcmp(what[0], "tasks"))
        return list_tasks(&o);
    if (!strcmp(what[0], "families"))
        return list_families();
    if (!strcmp(what[0], "devices"))
        return list_devices();
    err_set(&e, ERR_USAGE, "list takes policies, tasks, families (of models) or devices, not \"%s\"",
            what[0]);
    return command_fail(&e, EXIT_USAGE);
}

const struct command cmd_list = {
    .name = "list",
    .usage = "policies|tasks [NAME]|families|devices",
    .help = "list policies, tasks, families of models or devices, with their options and missing files",
    .details = "`list tasks NAME` shows one task, also a task file of yours: where its rows come from, its "
               "fields, what is known\n"
               "of the set, and each prompt for a made-up row.",
    .options = list_table,
    .run = run_list,
};
