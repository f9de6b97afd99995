#ifndef EVALCORE_COMMANDS_GATE_OPTIONS_H
#define EVALCORE_COMMANDS_GATE_OPTIONS_H

#include "evalcore/cli/command.h"
#include "evalcore/cli/device_list.h"
#include "evalcore/gate/gate.h"

/* The options of `kveval gate`, and its parts: cmd_gate.c compares folders, gate_run.c decodes,
 * gate_publish.c says the result. */
struct gate_options {
    const char *run, *base, *out, *limits, *history, *inconclusive, *data, *model, *device;
    struct cli_list set;
    double margin;
    int rebaseline, other_numerics, samples, threads, max_batch, step_timeout, quiet;
    struct gate_limits limit; /* what `limits` says */
};

/* gate_publish.c. Writes the files of a result into dir, and what GitHub takes from standard output and its
 * summary. is_night: the night is added to --history; where that fails, a result that is no regression
 * becomes an error, in words borrowed from e. Returns 0, or ERR_IO, ERR_DISK or, for a damaged history,
 * ERR_FORMAT; what was written before that stays. */
int gate_write_result(const struct gate_options *o, const struct process_env *p, struct gate_result *r,
                      const char *dir, int is_night, struct arena *a, struct err *e);
/* Prints and writes a result, and prints what of that failed; an open result is no night. Returns the exit
 * code of the verdict; where something failed and the verdict is no regression, that of an incomplete
 * command. */
int gate_publish_result(const struct gate_options *o, const struct process_env *p,
                        const struct gate_result *r, const char *dir, struct arena *a);
/* Returns the exit code of an error: 2 for what cannot be compared (ERR_USAGE, ERR_UNSUPPORTED), 3 for what
 * is damaged, unfinished or failed. */
int gate_error_code(const struct err *e);
/* gate_run.c. Runs kveval gate --run, decoding and publishing included, and returns the exit code. e is set
 * where there is no result, and the caller prints it. */
int gate_run(const struct gate_options *o, const struct process_env *p, struct err *e);

#endif
