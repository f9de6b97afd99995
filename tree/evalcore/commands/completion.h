#ifndef EVALCORE_COMMANDS_COMPLETION_H
#define EVALCORE_COMMANDS_COMPLETION_H

#include "evalcore/base/str.h"
#include "evalcore/cli/command.h"

/* What shells and man(1) read about the program, written from the tables of commands and their options. An
 * option that is added to a table is completed and documented.
 *
 * Each appends its text: the completion script of a shell, or the page kveval(1) in man(7) macros. Hidden
 * commands are left out. */
void completion_bash(const struct command_entry *list, struct str *out);
void completion_zsh(const struct command_entry *list, struct str *out);
void completion_fish(const struct command_entry *list, struct str *out);
void completion_man(const struct command_entry *list, struct str *out);

/* What can stand for a value. The tables name a value by a word, "MODEL", "DIR" (cli_option.arg, and the
 * arguments in command.usage); completion_values.c has a row for each. A new kind of value is a new word
 * there; a word that has no row is not completed. */
struct values {
    struct str words;   /* separated by spaces */
    int files;          /* names of files */
    int folders;        /* names of folders */
    int is_list;        /* several words, with commas between them */
    const char *suffix; /* ending of the files, ".json"; NULL: any */
};

/* Both fill *out anew, and the caller gives it to values_release(). values_of(): what can stand for a word;
 * nothing for NULL or a word without a row. */
void values_of(struct values *out, const char *word);
/* The values of all arguments that a usage names ("RUN.json -o DIR": RUN.json; "a|b|c": these words). */
void values_of_usage(struct values *out, const char *usage);
/* Returns 1 when there is anything to complete: words, files or folders; else 0. */
int values_any(const struct values *v);
/* Frees the words. */
void values_release(struct values *v);

/* Appends the text with a backslash before each of the characters in `special`. */
void completion_escape(struct str *out, const char *text, const char *special);
/* Appends the text as one word for a shell in single quotes, in which those special to the completion have a
 * backslash already. */
void completion_quote(struct str *out, const char *text);

#endif
