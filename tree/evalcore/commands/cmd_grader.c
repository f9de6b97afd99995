/* kveval grader: grades completions in a process that may be killed (evalcore/graders/grader_pool.h).
 * Commands that load a run folder start it; nobody types it. */
#include <omp.h>
#include <signal.h>
#include <stddef.h>

#include "evalcore/commands/commands.h"
#include "evalcore/graders/grader_pool.h"
#include "evalcore/process/worker_process.h"
#include "evalcore/store/grades.h"

struct grader_flags {
    const char *zh_dict;
};

static const struct cli_option grader_table[] = {
    {"zh-dict", 0, CLI_STRING, offsetof(struct grader_flags, zh_dict), "DIR", .help = ZH_DICT_HELP},
    {0},
};

static int run_grader(const struct process_env *p, int argc, char **argv)
{
    struct grader_flags o = {0};
    struct err e = {0};
    const char *dir;
    sigset_t time_out;
    int n;
    (void)p;
    if (!worker_process_begin()) {
        err_set(&e, ERR_USAGE, "grader is a part of report and score: use kveval grade for lines of answers");
        return command_fail(&e, EXIT_USAGE);
    }
    sigemptyset(&time_out);
    sigaddset(&time_out, SIGXCPU);
    sigprocmask(SIG_UNBLOCK, &time_out, NULL);
    omp_set_num_threads(1); /* the pool has a process for each core, and each thread's stack is memory */
    int code = command_parse(&cmd_grader, &o, argc, argv, &dir, 1, 1, &n);
    if (code >= 0)
        return code;
    return grader_serve(WORKER_FD, dir, o.zh_dict, &e) ? EXIT_INCOMPLETE : EXIT_DONE;
}

const struct command cmd_grader = {
    .name = "grader",
    .usage = "DIR",
    .help = "grades completions for another kveval process; started by it",
    .options = grader_table,
    .run = run_grader,
    .is_hidden = 1,
};
