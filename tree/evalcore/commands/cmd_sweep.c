/* kveval sweep: parses the options; the sweep itself is evalcore/sweep/sweep_run.c. */
#include "evalcore/base/log.h"
#include "evalcore/commands/commands.h"
#include "evalcore/sweep/sweep.h"

static int run_sweep(const struct process_env *p, int argc, char **argv)
{
    struct sweep_options o = {.drain = DRAIN_SECONDS};
    const char *path;
    int n, code = command_parse(&cmd_sweep, &o, argc, argv, &path, 1, 1, &n);
    if (code >= 0)
        return code;
    log_set_quiet(o.quiet ? LOG_ERRORS : LOG_ALL);
    return sweep_run(p, &o, path, argc, argv);
}

const struct command cmd_sweep = {
    .name = "sweep",
    .usage = "RUN.json -o DIR",
    .help = "decode and grade every cell of a run file; repeat the command to resume",
    .details =
        "Writes DIR/journal (the raw truth) and DIR/report.\n"
        "Model, tasks and policies are in the run file; runs/README.md describes it. DELTA and Kascade take\n"
        "the layers published for the model, which is known by its folder, or by \"model_name\" in the run "
        "file.\n"
        "Several models are a list, \"models\"; each device holds one at a time. --model then picks one by "
        "its\n"
        "label, whose cells need a folder of their own.\n"
        "A model that vLLM, SGLang or llama.cpp serves is an object with an \"endpoint\"; see "
        "docs/endpoint.md.",
    .options = sweep_table,
    .run = run_sweep,
};
