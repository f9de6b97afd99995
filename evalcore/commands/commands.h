#ifndef EVALCORE_COMMANDS_COMMANDS_H
#define EVALCORE_COMMANDS_COMMANDS_H

#include "evalcore/cli/command.h"

/* The room of the subcommands: cmd_NAME.c parses the options of `kveval NAME`, calls the rooms that do the
 * work, and chooses the exit code. Only main.c comes in.
 *
 * The commands, in the order of `kveval help`. To add one, write a file that defines `const struct
 * command cmd_NAME`, put X(NAME) here, and add a script to tests/cli. (cmd_score is in cmd_report.c;
 * cmd_worker, which sweeps start and nobody types, is in evalcore/sweep.) */
/* clang-format off */
#define COMMANDS(X)                                                                  \
    X(sweep) X(report) X(show) X(score) X(grade) X(choice) X(textscore) X(generate) \
    X(tokenize) X(logprobs) X(bench) X(list) X(fetch) X(doctor) X(worker)
/* clang-format on */

#define X(name) extern const struct command cmd_##name;
COMMANDS(X)
#undef X

#endif
