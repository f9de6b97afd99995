#ifndef EVALCORE_COMPLETION_COMPLETION_PARTS_H
#define EVALCORE_COMPLETION_COMPLETION_PARTS_H

#include "evalcore/completion/completion.h"
#include "evalcore/completion/values.h"

/* One writer for each reader. They pass over hidden commands and options without help. */
void write_bash(const struct command_entry *list, struct str *out);
void write_zsh(const struct command_entry *list, struct str *out);
void write_fish(const struct command_entry *list, struct str *out);
void write_man(const struct command_entry *list, struct str *out);

/* Appends the text with a backslash before each of the characters in `special`. */
void escape(struct str *out, const char *text, const char *special);
/* Appends it as one word for a shell in single quotes, in which those special to the completion have a
 * backslash already. */
void single_quote(struct str *out, const char *text);

#endif
