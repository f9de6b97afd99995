#ifndef EVALCORE_COMMANDS_CHAT_FLAGS_H
#define EVALCORE_COMMANDS_CHAT_FLAGS_H

#include <stddef.h>

#include "evalcore/cli/cli.h"

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

#endif
