/* kveval gate: has this build become worse than a frozen baseline? Two run folders, or a run file and a base
 * file; docs/nightly.md is the guide. */
#include <stdio.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/base/log.h"
#include "evalcore/base/margin.h"
#include "evalcore/cli/stop.h"
#include "evalcore/commands/commands.h"
#include "evalcore/commands/gate_options.h"

#define AT(member) offsetof(struct gate_options, member)
static const struct cli_option gate_table[] = {
    {"run", 0, CLI_STRING, AT(run), "RUN.json",
     .help = "decode this run file, look by look, until it is known"},
    {"base", 0, CLI_STRING, AT(base), "FILE",
     .help = "with --run: the base file to compare with, or to write"},
    {"rebaseline", 0, CLI_FLAG, AT(rebaseline), NULL,
     .help = "with --run: decode a new baseline and write the base file, to be reviewed"},
    {"samples", 0, CLI_INT, AT(samples), "N", .help = "with --rebaseline: of each problem (default 64)",
     .min = 1, .max = 100000},
    {"output-path", 'o', CLI_STRING, AT(out), "DIR",
     .help = "with --run: run folder, results in DIR/gate; else where results go (default NEW/gate)"},
    {"margin", 0, CLI_DOUBLE, AT(margin), "POINTS",
     .help = "points that a setting may lose and still pass (default: the baseline's, 5)", .min = MARGIN_MIN,
     .max = MARGIN_MAX},
    {"other-numerics", 0, CLI_FLAG, AT(other_numerics), NULL,
     .help = "compare although the numerics classes differ"},
    {"limits", 0, CLI_STRING, AT(limits), "KEY=N,...",
     .help = "of the guards: length=10,cut_off=5,unparsed=5,reads=15,errors=0 are the defaults"},
    {"history", 0, CLI_STRING, AT(history), "FILE",
     .help = "add this night to FILE and draw all of its nights"},
    {"inconclusive", 0, CLI_STRING, AT(inconclusive), "HOW",
     .help = "exit code when it cannot be told: fail (4, default) or pass (0)"},
    {"set", 0, CLI_LIST, AT(set), "A.B=C", .help = "override the run file; may be repeated"},
    {"data", 'd', CLI_STRING, AT(data), "DIR", .help = "where problem files are (see: kveval list tasks)"},
    {"model", 'M', CLI_STRING, AT(model), "MODEL", .help = "instead of the run file's"},
    {"device", 0, CLI_STRING, AT(device), "DEVICES", .help = DEVICES_HELP},
    {"threads", 0, CLI_INT, AT(threads), "N", .help = "CPU threads of each worker", .min = 1,
     .max = CLI_THREADS_MAX},
    {"max-batch", 'b', CLI_INT, AT(max_batch), "N", .help = "sequences decoded together", .min = 1,
     .max = 512},
    {"step-timeout", 0, CLI_INT, AT(step_timeout), "SECONDS", .help = STEP_TIMEOUT_HELP, .min = 2,
     .max = 86400},
    {"quiet", 'q', CLI_FLAG, AT(quiet), NULL, .help = "only errors"},
    {0},
};
#undef AT

static int load_side(struct gate_side *out, struct run *r, int *is_run, const char *path, struct arena *a,
                     struct err *e)
{
    if (!file_exists(path))
        return err_set(e, ERR_USAGE, "%s is not there; name a run folder or a base file", path);
    if (!file_is_dir(path))
        return gate_base_read(out, path, a, e);
    int rc = run_load(r, path, e);
    *is_run = !rc;
    if (rc && command_read_code(e) == EXIT_USAGE) /* unlike damage, which a repeated sweep mends */
        e->code = ERR_USAGE;
    return rc ? e->code : gate_side_run(out, r, 0, a, e);
}

/* Where results go; NULL where none will: for a new baseline, or a NEW that is no run folder. */
static const char *result_dir(const struct gate_options *o, const char *const *path, int n, struct arena *a)
{
    if (o->run || o->out)
        return o->rebaseline || !o->out ? NULL : o->run ? arena_printf(a, "%s/gate", o->out) : o->out;
    if (n != 2 || !file_exists(path[1]))
        return NULL;
    if (!file_is_dir(path[1]))
        return arena_printf(a, "%s.gate", path[1]);
    return file_exists(arena_printf(a, "%s/config.resolved.json", path[1]))
               ? arena_printf(a, "%s/gate", path[1])
               : NULL;
}

/* Last night's pass must not stand beside tonight's error. */
static void tell_error(const struct gate_options *o, const struct process_env *p, const char *const *path,
                       const char *dir, const struct err *e, struct arena *a)
{
    struct gate_result r;
    struct err failed = {0};
    gate_fault(&r, o->run ? o->base : path[0], o->run ? o->out : path[1], e, a);
    r.margin = o->margin > 0 ? o->margin : MARGIN_DEFAULT;
    if (gate_write_result(o, p, &r, dir, 0, a, &failed))
        command_fail(&failed, EXIT_INCOMPLETE);
}

static int compare_folders(const struct gate_options *o, const struct process_env *p, const char *const *path,
                           const char *dir, struct err *e)
{
    struct arena a = {0};
    struct gate_side base, now;
    struct gate_result r;
    struct run run[2];
    int is_run[2] = {0};
    int rc = load_side(&base, &run[0], &is_run[0], path[0], &a, e);
    if (!rc)
        rc = load_side(&now, &run[1], &is_run[1], path[1], &a, e);
    if (!rc)
        rc = gate_match(&base, &now, e);
    if (!rc)
        rc = gate_terms(&base, &now, o->margin > 0, o->other_numerics, e);
    if (!rc)
        rc = gate_decide(&r, &base, &now, &o->limit, o->margin > 0 ? o->margin : base.margin, 0, 1, &a, e);
    int code = rc ? gate_error_code(e) : gate_publish_result(o, p, &r, dir, &a);
    for (int i = 0; i < 2; i++)
        if (is_run[i])
            run_release(&run[i]);
    arena_release(&a);
    return code;
}

static int check_options(struct gate_options *o, int n, struct arena *a, struct err *e)
{
    param_defaults(gate_limit_params, &o->limit);
    if (o->limits && param_set_pairs(gate_limit_params, &o->limit, a, o->limits, "--limits", e))
        return e->code;
    if (o->inconclusive && strcmp(o->inconclusive, "pass") && strcmp(o->inconclusive, "fail"))
        return err_set(e, ERR_USAGE, "--inconclusive is pass or fail, not \"%s\"", o->inconclusive);
    if (!o->run && n != 2)
        return err_set(e, ERR_USAGE,
                       "gate compares two: kveval gate BASE NEW, or kveval gate --run RUN.json --base "
                       "FILE -o DIR");
    if (!o->run && (o->rebaseline || o->base))
        return err_set(e, ERR_USAGE, "--base and --rebaseline go with --run RUN.json");
    if (o->samples && !o->rebaseline)
        return err_set(e, ERR_USAGE,
                       "--samples goes with --rebaseline; a night takes 4, 8 and 16, or fewer by --set "
                       "samples=N");
    if (o->run && (n || !o->base || !o->out))
        return err_set(e, ERR_USAGE, "--run needs --base FILE and -o DIR, and no further folders");
    return 0;
}

static int run_gate(const struct process_env *p, int argc, char **argv)
{
    struct gate_options o = {0};
    struct arena a = {0};
    struct err e = {0};
    const char *path[2] = {0};
    int n = 0, code = command_parse(&cmd_gate, &o, argc, argv, path, 0, 2, &n);
    if (code >= 0)
        return code;
    log_set_quiet(o.quiet);
    const char *dir = result_dir(&o, path, n, &a);
    int rc = check_options(&o, n, &a, &e);
    if (!rc && dir)
        rc = gate_clear(dir, &e);
    if (rc) {
        code = gate_error_code(&e);
    } else if (o.run) {
        stop_block();
        code = gate_run(&o, p, &e);
    } else {
        code = compare_folders(&o, p, path, dir, &e);
    }
    if (e.code)
        code = command_fail(&e, code);
    if (e.code && dir && e.code != ERR_BUSY)
        tell_error(&o, p, path, dir, &e, &a);
    arena_release(&a);
    return code;
}

const struct command cmd_gate = {
    .name = "gate",
    .usage = "BASE NEW | --run RUN.json --base FILE -o DIR",
    .help = "tell whether accuracy has fallen below a frozen baseline",
    .details =
        "BASE is a run folder or a base file, NEW a run folder. Exit code 0: as good as the baseline;\n"
        "1: regression; 2: the two cannot be compared; 3: unfinished, damaged or failed; 4: too few answers "
        "to tell.\n"
        "docs/nightly.md has the guide, with cron and GitHub Actions.",
    .options = gate_table,
    .run = run_gate,
};
