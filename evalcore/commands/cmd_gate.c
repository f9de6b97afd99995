/* kveval gate: has this build become worse than a frozen baseline? Two run folders, or a run file and a base
 * file; docs/nightly.md is the guide. */
#include <stdio.h>
#include <string.h>
#include <time.h>

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
    {"limits", 0, CLI_STRING, AT(limits), "KEY=N,...",
     .help = "of the guards: length=10,cut_off=5,unparsed=5,reads=15,errors=0 are the defaults"},
    {"history", 0, CLI_STRING, AT(history), "FILE",
     .help = "add this night to FILE and draw all of its nights"},
    {"inconclusive", 0, CLI_STRING, AT(inconclusive), "HOW",
     .help = "exit code when it cannot be told: fail (4, default) or pass (0)"},
    {"set", 0, CLI_LIST, AT(set), "A.B=C", .help = "override the run file; may be repeated"},
    {"data", 'd', CLI_STRING, AT(data), "DIR", .help = "where problem files are (see: kveval list tasks)"},
    {"model", 'M', CLI_STRING, AT(model), "MODEL", .help = "instead of the run file's"},
    {"device", 0, CLI_STRING, AT(device), "DEVICE", .help = DEVICE_HELP},
    {"threads", 0, CLI_INT, AT(threads), "N", .help = "CPU threads", .min = 1, .max = CLI_THREADS_MAX},
    {"max-batch", 'b', CLI_INT, AT(max_batch), "N", .help = "sequences decoded together", .min = 1,
     .max = 512},
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
    return rc ? rc : gate_side_run(out, r, 0, a, e);
}

static int code_of(const struct gate_options *o, enum gate_verdict v)
{
    switch (v) {
    case GATE_PASS:
        return EXIT_DONE;
    case GATE_REGRESSION:
        return EXIT_REGRESSION;
    case GATE_INCONCLUSIVE:
        return o->inconclusive && !strcmp(o->inconclusive, "pass") ? EXIT_DONE : EXIT_INCONCLUSIVE;
    default:
        return EXIT_INCOMPLETE;
    }
}

static int append(const char *path, const struct str *text, struct err *e)
{
    FILE *f = fopen(path, "a");
    int bad = !f || fwrite(str_text(text), 1, text->len, f) != text->len;
    if (f)
        bad |= fclose(f) != 0;
    return bad ? err_set(e, ERR_IO, "%s cannot be written: %m", path) : 0;
}

/* Everything that is told of a result, to people and to machines; returns the exit code. */
int gate_tell(const struct gate_options *o, const struct program *p, const struct gate_result *r,
              const char *dir, struct arena *a, struct err *e)
{
    struct gate_history h = {0};
    struct str console = {0}, md = {0}, github = {0};
    int rc = 0;
    if (o->history && r->verdict != GATE_OPEN) {
        rc = gate_history_add(o->history, r, (double)time(NULL), e);
        if (!rc)
            rc = gate_history_read(&h, o->history, a, e);
    }
    if (!rc)
        rc = gate_write(dir, r, h.n ? &h : NULL, &md, a, e);
    gate_console(&console, r);
    if (!o->quiet)
        printf("%sdetails: %s/gate.md, gate.html, gate.json, gate.xml\n", str_text(&console), dir);
    if (p->is_github) {
        gate_github(&github, r);
        fputs(str_text(&github), stdout);
    }
    if (!rc && p->github_summary && md.len < 1 << 20)
        rc = append(p->github_summary, &md, e);
    str_release(&console);
    str_release(&md);
    str_release(&github);
    return rc ? EXIT_INCOMPLETE : code_of(o, r->verdict);
}

static int compare(const struct gate_options *o, const struct program *p, const char *const *path,
                   struct err *e)
{
    struct arena a = {0};
    struct gate_side base, now;
    struct gate_result r;
    struct run run[2];
    int is_run[2] = {0}, code = EXIT_INCOMPLETE;
    int rc = load_side(&base, &run[0], &is_run[0], path[0], &a, e);
    if (!rc)
        rc = load_side(&now, &run[1], &is_run[1], path[1], &a, e);
    if (!rc)
        rc = gate_decide(&r, &base, &now, &o->limit, o->margin > 0 ? o->margin : base.margin, 0, 1, &a, e);
    if (!rc) {
        const char *dir = o->out      ? o->out
                          : is_run[1] ? arena_printf(&a, "%s/gate", path[1])
                                      : arena_printf(&a, "%s.gate", path[1]);
        code = gate_tell(o, p, &r, dir, &a, e);
    } else {
        code = rc == ERR_USAGE ? EXIT_USAGE : EXIT_INCOMPLETE;
    }
    for (int i = 0; i < 2; i++)
        if (is_run[i])
            run_release(&run[i]);
    arena_release(&a);
    return code;
}

static int check(struct gate_options *o, int n, struct arena *a, struct err *e)
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
    if (o->run && (n || !o->base || !o->out))
        return err_set(e, ERR_USAGE, "--run needs --base FILE and -o DIR, and no further folders");
    return 0;
}

static int run_gate(const struct program *p, int argc, char **argv)
{
    struct gate_options o = {0};
    struct arena a = {0};
    struct err e = {0};
    const char *path[2] = {0};
    int n = 0, code = command_parse(&cmd_gate, &o, argc, argv, path, 0, 2, &n);
    if (code >= 0)
        return code;
    log_set_quiet(o.quiet);
    if (check(&o, n, &a, &e)) {
        code = EXIT_USAGE;
    } else if (o.run) {
        stop_block();
        code = gate_run(&o, p, &e);
    } else {
        code = compare(&o, p, path, &e);
    }
    if (e.code)
        command_fail(&e, code);
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
