/* What every subcommand does the same way: parsing, help, the last word about an error. */
#include "evalcore/cli/command.h"

#include <stdio.h>

#include "evalcore/base/log.h"

const struct exit_code exit_codes[] = {
    {EXIT_DONE, "done"},
    {EXIT_REGRESSION, "kveval gate has found a regression"},
    {EXIT_USAGE, "a mistake in the command line, a run file or an input file"},
    {EXIT_INCOMPLETE, "not everything could be done, or an error on the way"},
    {EXIT_INCONCLUSIVE, "kveval gate has too few answers to tell"},
    {EXIT_FAILED_JOBS,
     "kveval sweep is complete, but jobs ended in an error: only --retry-errors decodes them again"},
    {EXIT_STOPPED,
     "stopped by SIGTERM, SIGUSR1 or for want of time, after saving: repeat the command to go on"},
    {EXIT_INTERRUPTED, "stopped by Ctrl-C after saving: repeat the command to go on"},
    {0, NULL},
};

const struct example examples[] = {
    {"kveval init run.json && kveval sweep run.json -o out", "a first run, on the embedded model"},
    {"kveval generate --model FOLDER --policy quest:k_pages=64 --prompt TEXT",
     "one answer of your model under a policy"},
    {NULL, NULL},
};

int command_read_code(const struct err *e)
{
    return e->code == ERR_USAGE || e->code == ERR_FORMAT || e->code == ERR_UNSUPPORTED ? EXIT_USAGE
                                                                                       : EXIT_INCOMPLETE;
}

int command_fail(const struct err *e, int code)
{
    log_error("%s", e->text);
    return e->code == ERR_DISK && code == EXIT_USAGE ? EXIT_INCOMPLETE : code;
}

void command_help(const struct command *c)
{
    struct str text = {0};
    str_printf(&text, "usage: kveval %s%s%s\n\n%s\n", c->name, c->usage[0] ? " " : "", c->usage, c->help);
    if (c->details)
        str_printf(&text, "\n%s\n", c->details);
    param_help(c->params, &text);
    if (c->options && c->options->name) {
        str_puts(&text, "\noptions:\n");
        cli_help(c->options, &text);
    }
    fputs(str_text(&text), stdout);
    str_release(&text);
}

int command_parse(const struct command *c, void *options, int argc, char **argv, const char **args,
                  int min_args, int max_args, int *n_args)
{
    struct err e = {0};
    int want_help = 0;
    if (cli_parse(c->options, options, argc, argv, args, max_args, n_args, &want_help, &e)) {
        err_add(&e, "%s", c->name);
        return command_fail(&e, EXIT_USAGE);
    }
    if (want_help) {
        command_help(c);
        return EXIT_DONE;
    }
    if (*n_args < min_args) {
        err_set(&e, ERR_USAGE, "%s: too few arguments: kveval %s %s", c->name, c->name, c->usage);
        return command_fail(&e, EXIT_USAGE);
    }
    return -1;
}
