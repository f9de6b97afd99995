/* kveval(1) in the macros of man(7), which every man program has. */
#include <string.h>

#include "evalcore/cli/version.h"
#include "evalcore/commands/completion.h"

/* Text of a paragraph: a backslash and a dash are escaped, and a point or a quote at the start of a line
 * would be a request. */
static void man_text(struct str *out, const char *s)
{
    for (int start = 1; *s; s++) {
        if (start && (*s == '.' || *s == '\''))
            str_puts(out, "\\&");
        if (*s == '\\')
            str_puts(out, "\\e");
        else if (*s == '-')
            str_puts(out, "\\-");
        else
            str_putc(out, *s);
        start = *s == '\n';
    }
}

/* Lines that stay lines. */
static void man_verbatim(struct str *out, const char *s)
{
    str_puts(out, ".PP\n.nf\n");
    man_text(out, s);
    str_puts(out, "\n.fi\n");
}

static void man_option(struct str *out, const struct cli_option *o)
{
    str_puts(out, ".TP\n\\fB");
    if (o->short_name)
        str_printf(out, "\\-%c\\fR, \\fB", o->short_name);
    man_text(out, "--");
    man_text(out, o->name);
    str_puts(out, "\\fR");
    if (o->arg) {
        str_puts(out, " \\fI");
        man_text(out, o->arg);
        str_puts(out, "\\fR");
    }
    str_puts(out, "\n");
    man_text(out, o->help);
    str_puts(out, "\n");
}

/* The rows of param_help(), whose lines begin with spaces. */
static void man_params(struct str *out, const struct param *t)
{
    struct str lines = {0};
    param_help(t, &lines);
    while (lines.len && lines.data[lines.len - 1] == '\n')
        lines.data[--lines.len] = 0;
    if (lines.len)
        man_verbatim(out, lines.data);
    str_release(&lines);
}

static void one_command(struct str *out, const struct command *c)
{
    str_printf(out, ".SS %s\n\\fBkveval %s\\fR ", c->name, c->name);
    man_text(out, c->usage);
    str_puts(out, "\n.PP\n");
    man_text(out, c->help);
    str_puts(out, ".\n");
    if (c->details)
        man_verbatim(out, c->details);
    man_params(out, c->params);
    for (const struct cli_option *o = c->options; o && o->name; o++)
        man_option(out, o);
}

static void man_item(struct str *out, const char *name, const char *meaning)
{
    str_puts(out, ".TP\n\\fB");
    man_text(out, name);
    str_puts(out, "\\fR\n");
    man_text(out, meaning);
    str_puts(out, "\n");
}

/* What main.c reads. */
static void man_environment(struct str *out)
{
    str_puts(out, ".SH ENVIRONMENT\n");
    man_item(out, "HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME, HOME",
             "where models of the Hub are looked for, and where hashes of weight files are kept");
    man_item(out, "HF_ENDPOINT, HF_HUB_OFFLINE, TRANSFORMERS_OFFLINE",
             "a mirror of the Hub; 1: nothing is fetched");
    man_item(out, "HF_TOKEN, HF_TOKEN_PATH", "token for gated files, sent to the endpoint's host alone");
    man_item(out, "COLUMNS, TERM", "width of the status line, and whether it can be redrawn");
}

void completion_man(const struct command_entry *list, struct str *out)
{
    const char *group = "";
    str_printf(out,
               ".TH KVEVAL 1 \"\" \"kveval %s\" \"User Commands\"\n.SH NAME\n"
               "kveval \\- what sparse KV\\-cache policies do to the accuracy of reasoning models\n"
               ".SH SYNOPSIS\n\\fBkveval\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n.br\n"
               "\\fBkveval help\\fR [\\fICOMMAND\\fR]\n.br\n\\fBkveval \\-\\-version\\fR\n"
               ".SH DESCRIPTION\n",
               KVEVAL_VERSION);
    man_text(
        out,
        "One program decodes, grades and compares: every policy gets the same engine, prompts and graders, "
        "the engine counts what was read, and every accuracy comes with an interval and a paired test.");
    str_puts(out, "\n");
    for (int i = 0; list[i].command; i++) {
        if (list[i].command->is_hidden)
            continue;
        if (strcmp(group, list[i].group)) {
            group = list[i].group;
            str_puts(out, ".SH ");
            man_text(out, group);
            str_puts(out, "\n");
        }
        one_command(out, list[i].command);
    }
    str_puts(out, ".SH EXIT STATUS\n");
    for (const struct exit_code *x = exit_codes; x->help; x++) {
        struct str number = {0};
        str_printf(&number, "%d", x->code);
        man_item(out, number.data, x->help);
        str_release(&number);
    }
    man_environment(out);
    str_puts(out, ".SH EXAMPLES\n");
    for (const struct example *x = examples; x->line; x++)
        man_item(out, x->line, x->help);
}
