#ifndef EVALCORE_COMMANDS_COMMANDS_H
#define EVALCORE_COMMANDS_COMMANDS_H

#include "evalcore/cli/command.h"

/* The room of the subcommands: cmd_NAME.c parses the options of `kveval NAME`, calls the rooms that do the
 * work, and chooses the exit code. Only main.c comes in.
 *
 * The commands, in the groups and the order of `kveval help`. To add one, write a file that defines `const
 * struct command cmd_NAME`, put X(NAME) here, and add a script to tests/cli. (cmd_score is in cmd_report.c;
 * cmd_worker, which sweeps start and nobody types, is in evalcore/sweep.) */
/* clang-format off */
#define COMMANDS_RUN(X)   X(init) X(sweep) X(serve) X(status) X(report) X(gate) X(show) X(compare) X(score) X(export)
#define COMMANDS_LOOK(X)  X(list) X(doctor) X(bench) X(calibrate) X(probe)
#define COMMANDS_GRADE(X) X(grade) X(choice) X(textscore)
#define COMMANDS_TOOLS(X) X(generate) X(tokenize) X(logprobs) X(convert) X(fetch) X(journal) X(completion) \
    X(worker) X(grader)
#define COMMANDS(X) COMMANDS_RUN(X) COMMANDS_LOOK(X) COMMANDS_GRADE(X) COMMANDS_TOOLS(X)
/* clang-format on */

#define X(name) extern const struct command cmd_##name;
COMMANDS(X)
#undef X

extern const struct command_entry command_list[]; /* ends with command NULL */

/* Appends "kveval 0.1.0", and a line that says for which devices this program was built. */
void commands_version(struct str *out);

#endif
