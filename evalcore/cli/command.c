/* What every subcommand does the same way: parsing, help, the last word about an error. */
#include "evalcore/cli/command.h"

#include <stdio.h>

#include "evalcore/base/log.h"

int command_fail(const struct err *e, int code)
{
    log_error("%s", e->text);
    return code;
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
