/* kveval export: a run folder in the layout of another evaluation tool. */
#include <stddef.h>
#include <stdio.h>

#include "evalcore/base/log.h"
#include "evalcore/commands/commands.h"
#include "evalcore/export/export.h"
#include "evalcore/store/run.h"
#include "evalcore/store/grades.h"

struct export_flags {
    const char *format, *out, *zh_dict;
    int force, partial, restricted;
};

static const struct cli_option export_table[] = {
    {"format", 'f', CLI_STRING, offsetof(struct export_flags, format), "NAME",
     .help = "lm-eval, lighteval, inspect or csv"},
    {"output-path", 'o', CLI_STRING, offsetof(struct export_flags, out), "OUT",
     .help = "the folder to write into, with csv the file"},
    {"force", 0, CLI_FLAG, offsetof(struct export_flags, force), NULL,
     .help = "replace files of the same names"},
    {"partial", 0, CLI_FLAG, offsetof(struct export_flags, partial), NULL,
     .help = "export what is there although jobs are missing"},
    {"restricted-texts", 0, CLI_FLAG, offsetof(struct export_flags, restricted), NULL,
     .help = "also the completions of GPQA, whose authors ask that no example be published"},
    {"zh-dict", 0, CLI_STRING, offsetof(struct export_flags, zh_dict), "DIR", .help = ZH_DICT_HELP},
    {0},
};

static int check_flags(const struct export_flags *o, struct err *e)
{
    if (!o->format)
        return err_set(e, ERR_USAGE,
                       "--format is missing: lm-eval, lighteval, inspect or csv, see kveval help export");
    if (!o->out)
        return err_set(e, ERR_USAGE, "-o is missing: the folder to write into, with csv the file");
    return 0;
}

static void print_done(const struct run *r, const struct export_flags *o, const struct export_done *done)
{
    if (r->n_done < r->n_expected)
        log_info("%ld of %ld jobs are missing; short completions finish first, so this export leans "
                 "towards them",
                 r->n_expected - r->n_done, r->n_expected);
    if (done->withheld)
        log_info("the texts of %ld completions are withheld, since the data set's authors ask that no "
                 "example be published; --restricted-texts exports them too",
                 done->withheld);
    printf("%ld file%s with %ld completions: %s\n", done->files, done->files == 1 ? "" : "s",
           done->completions, o->out);
}

static int run_export(const struct process_env *p, int argc, char **argv)
{
    struct export_flags o = {0};
    struct export_done done;
    struct err e = {0};
    struct run r;
    const char *dir;
    int n;
    (void)p;
    int code = command_parse(&cmd_export, &o, argc, argv, &dir, 1, 1, &n);
    if (code >= 0)
        return code;
    if (check_flags(&o, &e) || run_load_with(&r, dir, &(struct run_options){.zh_dict = o.zh_dict}, &e))
        return command_fail(&e, EXIT_USAGE);
    struct export_options options = {o.format, o.out, o.force, o.partial, o.restricted};
    int rc = export_run(&r, &options, &done, &e);
    if (!rc)
        print_done(&r, &o, &done);
    run_release(&r);
    return rc ? command_fail(&e, rc == ERR_USAGE ? EXIT_USAGE : EXIT_INCOMPLETE) : EXIT_DONE;
}

const struct command cmd_export = {
    .name = "export",
    .usage = "DIR --format NAME -o OUT",
    .help = "write a run folder as lm-evaluation-harness, lighteval, Inspect or pandas read it",
    .details =
        "Formats:\n"
        "  lm-eval    OUT/SYSTEM/results_TIME.json and samples_TASK_TIME.jsonl, as lm-evaluation-harness "
        "0.4\n"
        "             writes them; SYSTEM is the model under one policy setting\n"
        "  lighteval  OUT/results/SYSTEM/results_TIME.json and OUT/details/..., JSON Lines instead of "
        "Parquet\n"
        "  inspect    OUT/TIME_CELL_ID.json, a log of Inspect for each cell\n"
        "  csv        the file OUT, a row for each completion; a text that a spreadsheet would compute has a "
        "' before it\n"
        "TIME is when the run folder was last written to, so exports of several nights fit into one folder.\n"
        "Files appear together at the end, and none is replaced without --force. docs/exports.md says "
        "more.\n",
    .options = export_table,
    .run = run_export,
};
