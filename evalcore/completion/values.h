#ifndef EVALCORE_COMPLETION_VALUES_H
#define EVALCORE_COMPLETION_VALUES_H

#include "evalcore/cli/cli.h"

/* What can stand for a value. The tables name a value by a word, "MODEL", "DIR" (cli_option.arg, and the
 * arguments in command.usage); values.c has a row for each word. A new kind of value is a new word there; a
 * word that has no row is not completed. */
struct values {
    struct str words;   /* separated by spaces */
    int files;          /* names of files */
    int folders;        /* names of folders */
    int is_list;        /* several words, with commas between them */
    const char *suffix; /* of the files: ".json"; NULL: any */
};

void values_of(struct values *out, const char *word);
/* Of all arguments that a usage names ("RUN.json -o DIR": RUN.json; "a|b|c": these words). */
void values_of_usage(struct values *out, const char *usage);
int values_any(const struct values *v);
void values_release(struct values *v);

#endif
