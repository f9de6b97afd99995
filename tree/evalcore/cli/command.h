#ifndef EVALCORE_CLI_COMMAND_H
#define EVALCORE_CLI_COMMAND_H

#include "evalcore/cli/cli.h"
#include "evalcore/base/err.h"
#include "evalcore/base/param.h"

/* The door of evalcore/cli that every command comes in by: what a subcommand of kveval is, and its exit
 * codes. evalcore/commands/commands.h lists them. The room holds what commands share (options, devices,
 * filters of lines, progress, signals); the rooms of evalcore above it may come in by any of its headers. */
struct process_env {  /* what main.c read from the environment and the terminal; nobody else asks for it */
    const char *home; /* the user's folder; NULL when not known */
    const char *cache_dir;    /* for hashes of weight files; NULL when there is no home */
    const char *hub_endpoint; /* address of the Hugging Face Hub, without a slash at the end */
    const char *hub_cache;    /* where the Hub's library keeps what it fetched; NULL when there is no home */
    const char *hub_token;    /* NULL: none. Never printed or stored, sent to the endpoint's host alone */
    int hub_offline;          /* nothing may be fetched */
    char *(*variable)(
        const char *name);      /* the environment, for names that a run file gives; else not asked */
    const char *github_summary; /* a file that GitHub shows as the summary of its step; NULL: none */
    int is_github;              /* run by GitHub Actions, which takes lines with :: for annotations */
    long slurm_end;             /* when Slurm ends this job, seconds since 1970; 0: not known */
    int columns;                /* the terminal's width; 80 when unknown */
    int is_columns_set;         /* COLUMNS says so: a resize of the terminal changes nothing */
    int live;                   /* standard error is a terminal that can redraw a line */
};

/* Returns the exit code. argv[0] is the command's name. */
typedef int (*command_fn)(const struct process_env *p, int argc, char **argv);

struct command {
    const char *name;
    const char *usage;                /* after the name: "RUN.json -o DIR" */
    const char *help;                 /* one line */
    const char *details;              /* further text of `kveval help NAME`, or NULL */
    const struct param *params;       /* listed behind the details, which say what they are; or NULL */
    const struct cli_option *options; /* ends with name NULL */
    command_fn run;
    int prints_data; /* standard output is a program's: JSON Lines, a script; else it is shown (shown.h) */
    int is_hidden;   /* not for people: kveval help does not list it */
};

/* A command under the title that help lists it below. */
struct command_entry {
    const char *group;
    const struct command *command; /* NULL: end of the list */
};

enum { /* exit codes */
       EXIT_DONE = 0,
       EXIT_REGRESSION = 1,   /* the gate has found one */
       EXIT_USAGE = 2,        /* command line, run file, input files */
       EXIT_INCOMPLETE = 3,   /* not everything could be done, or an error on the way */
       EXIT_INCONCLUSIVE = 4, /* the gate has too few answers to tell */
       EXIT_FAILED_JOBS =
           5,             /* a sweep is complete, but jobs ended in an error: repeating it changes nothing */
       EXIT_STOPPED = 75, /* by SIGTERM, SIGUSR1 or --time-limit, after saving: repeat the command to go on */
       EXIT_INTERRUPTED = 130 /* by Ctrl-C, after saving */
};

/* What each of them means, for help and the man page; the list ends with help NULL. */
struct exit_code {
    int code;
    const char *help;
};
extern const struct exit_code exit_codes[];

/* Lines that a newcomer can type, for the same two; the list ends with line NULL. */
struct example {
    const char *line, *help;
};
extern const struct example examples[];

/* Parses argv by the command's options. Returns -1 to go on, or an exit code: EXIT_DONE when --help was asked
 * for and printed, EXIT_USAGE when a mistake was found and printed. args takes at most max_args positional
 * arguments; fewer than min_args is a mistake. *n_args: how many there are. */
int command_parse(const struct command *c, void *options, int argc, char **argv, const char **args,
                  int min_args, int max_args, int *n_args);
/* Prints the command's help to standard output. */
void command_help(const struct command *c);

/* The exit code of an error in reading results: EXIT_USAGE for ERR_USAGE, ERR_FORMAT and ERR_UNSUPPORTED,
 * since a file that was changed by hand or is of another version is a mistake in the input, as a wrong name
 * is; else EXIT_INCOMPLETE. */
int command_read_code(const struct err *e);

/* Prints the error to standard error and returns `code`, but EXIT_INCOMPLETE in the place of EXIT_USAGE where
 * the error is ERR_DISK. */
int command_fail(const struct err *e, int code);

#endif
