#ifndef EVALCORE_CALIBRATION_CALIBRATION_RUN_H
#define EVALCORE_CALIBRATION_CALIBRATION_RUN_H

#include "evalcore/calibration/calibration.h"
#include "evalcore/cli/command.h"
#include "evalcore/cli/device_list.h"

/* What the commands calibrate and probe share: a run file's model and problems, with the completions of full
 * attention. */
struct calibration_options {
    const char *out, *model, *tasks, *data, *device;
    struct cli_list set;
    int limit, threads, max_new;
};
#define CALIBRATION_DEFAULTS                                                                                 \
    {                                                                                                        \
        .max_new = 256                                                                                       \
    }
/* Rows of the table of options; RUN(member) is where a member stands. */
#define CALIBRATION_OPTIONS(RUN)                                                                             \
    {"model", 'M', CLI_STRING, RUN(model), "MODEL", .help = "instead of the run file's"},                    \
        {"tasks", 't', CLI_STRING, RUN(tasks), "TASKS", .help = "only these tasks of the run file"},         \
        {"limit",  'L',                                                                                      \
         CLI_INT,  RUN(limit),                                                                               \
         "N",      .help = "only the first N problems of each task",                                         \
         .min = 1, .max = CLI_INT_MAX},                                                                      \
        {"data", 'd', CLI_STRING, RUN(data), "DIR", .help = "where problem files are"},                      \
        {"set", 0, CLI_LIST, RUN(set), "A.B=C", .help = "override the run file; may be repeated"},           \
        {"device", 0, CLI_STRING, RUN(device), "DEVICE", .help = DEVICE_HELP},                               \
        {"threads", 0, CLI_INT, RUN(threads), "N", .help = "CPU threads", .min = 1, .max = CLI_THREADS_MAX}, \
    {                                                                                                        \
        "max-new-tokens", 0, CLI_INT, RUN(max_new), "N",                                                     \
            .help = "of the completions that are looked at (default 256)", .min = 1, .max = 100000           \
    }

struct calibration_run {
    struct runfile file;
    struct runplan plan;
    struct dev_set dev;
};
/* Opens model and problems, and decodes the completions. */
int calibration_run_open(struct calibration_run *r, const struct process_env *p, const char *path,
                         const struct calibration_options *o, struct err *e);
void calibration_run_close(struct calibration_run *r);

#endif
