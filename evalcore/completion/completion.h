#ifndef EVALCORE_COMPLETION_COMPLETION_H
#define EVALCORE_COMPLETION_COMPLETION_H

#include "evalcore/base/err.h"
#include "evalcore/base/str.h"
#include "evalcore/cli/command.h"

/* The room that writes what shells and man(1) read about the program, from the tables of commands and their
 * options. Nothing in it is written twice: an option that is added to a table is completed and documented. */

/* A command under the title that help lists it below. */
struct command_entry {
    const char *group;
    const struct command *command; /* NULL: end of the list */
};

/* Appends the text of `kind`: "bash", "zsh", "fish" (completion scripts) or "man" (the page kveval(1), in
 * man(7) macros). ERR_USAGE for another. */
int completion_write(const char *kind, const struct command_entry *list, struct str *out, struct err *e);

#endif
