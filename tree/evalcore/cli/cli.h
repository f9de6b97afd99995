#ifndef EVALCORE_CLI_CLI_H
#define EVALCORE_CLI_CLI_H

#include <stddef.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/err.h"
#include "evalcore/base/str.h"

/* Reads command-line options by a table: --name value, --name=value, -o value. Dashes and underscores are the
 * same. An unknown option is an error that names the nearest one. Options and arguments may be mixed; "--"
 * ends options, and "-" is an argument. An empty argument is an error: it is a shell variable that was not
 * set, and as a folder it would mean "/". */
enum cli_type {
    CLI_FLAG,   /* int, set to 1 */
    CLI_INT,    /* int */
    CLI_DOUBLE, /* double */
    CLI_STRING, /* const char *, not empty */
    CLI_TEXT,   /* const char *, may be empty */
    CLI_LIST    /* struct cli_list of non-empty strings; may be repeated */
};

struct cli_list {
    int n;
    const char *v[64];
};

struct cli_option {
    const char *name; /* without dashes in front, dashes inside */
    char short_name;  /* or 0 */
    enum cli_type type;
    size_t offset;
    const char *arg; /* how help names the value: "DIR"; NULL for flags */
    const char *help;
    double min, max; /* INT, DOUBLE: what is possible, both included; both 0: anything */
};

/* Ends of ranges: any int; more threads than that help nobody and need gigabytes of stacks. */
enum { CLI_INT_MAX = 2147483647, CLI_THREADS_MAX = 1024 };

/* Values go into `base`, which the caller has filled with defaults; strings are borrowed from argv.
 * Positional arguments go to args, and *n_args is how many; more than max_args is an error. Returns 0 or
 * ERR_USAGE; options before the mistake stay set. *want_help becomes 1 at -h or --help, where it returns 0
 * and leaves the rest of argv unread, else 0. */
int cli_parse(const struct cli_option *t, void *base, int argc, char **argv, const char **args, int max_args,
              int *n_args, int *want_help, struct err *e);
/* Appends a line for each option, except --help. */
void cli_help(const struct cli_option *t, struct str *out);

/* Read a number that is the whole text, without blanks around it. They return 0, or ERR_USAGE when text is no
 * such number (decimal and from min to max, both included; finite), and *out is untouched then. */
int cli_int(const char *text, long min, long max, long *out);
int cli_double(const char *text, double *out);

#endif
