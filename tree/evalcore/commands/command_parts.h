#ifndef EVALCORE_COMMANDS_COMMAND_PARTS_H
#define EVALCORE_COMMANDS_COMMAND_PARTS_H

#include <stddef.h>

#include "answer_check/answer_check.h"
#include "evalcore/cli/jsonl.h"
#include "evalcore/commands/commands.h"

/* What several commands share. */

/* What commands that turn one text into tokens ask of its chat form; each has a --chat of its own beside it.
 */
struct chat_flags {
    const char *system;   /* NULL: none */
    const char *thinking; /* "auto", "on" or "off" */
};

/* Their rows in a table of options; `at` is where the struct lies. */
#define CHAT_FLAG_ROWS(at)                                                                                   \
    {"system", 0,                                                                                            \
     CLI_TEXT, (at) + offsetof(struct chat_flags, system),                                                   \
     "TEXT",   .help = "system message of the chat form"},                                                   \
    {                                                                                                        \
        "thinking", 0, CLI_STRING, (at) + offsetof(struct chat_flags, thinking), "MODE",                     \
            .help = "auto (default), on or off"                                                              \
    }

/* A response to grade, out of a line of JSON: the text in field `key`, and "thinking" and "finish" (default
 * auto and stop). The text is borrowed from `in`. Returns 0, or ERR_FORMAT when the text is missing or a
 * field has a wrong value. In cmd_grade.c. */
int filter_response(const json_t *in, const char *key, struct response *r, struct err *e);

#endif
