/* The completion of fish: one `complete` for each command, option and kind of argument. */
#include "evalcore/completion/completion_parts.h"

static void fish_quote(struct str *out, const char *text)
{
    str_puts(out, "'");
    escape(out, text, "\\'");
    str_puts(out, "'");
}

/* The options of `complete` that offer these values. */
static void fish_offer(struct str *out, const struct values *v)
{
    struct str command = {0};
    if (v->is_list)
        str_printf(&command, "(__fish_complete_list , 'string split \" \" \"%s\"')", str_text(&v->words));
    else
        str_puts(&command, str_text(&v->words));
    if (v->folders && !v->files)
        str_printf(&command, "%s(__fish_complete_directories (commandline -ct))", command.len ? " " : "");
    if (v->suffix)
        str_printf(&command, "%s(__fish_complete_suffix %s)", command.len ? " " : "", v->suffix);
    if (command.len) {
        str_puts(out, " -a ");
        fish_quote(out, command.data);
    }
    if (v->files && !v->suffix)
        str_puts(out, " -F");
    str_release(&command);
}

static void fish_option(struct str *out, const char *command, const struct cli_option *o)
{
    struct values v;
    str_printf(out, "complete -c kveval -n '__kveval_is %s'", command);
    if (o->short_name)
        str_printf(out, " -s %c", o->short_name);
    str_printf(out, " -l %s", o->name);
    values_of(&v, o->arg);
    if (o->arg)
        str_puts(out, v.files && !v.suffix ? " -r" : " -x");
    fish_offer(out, &v);
    str_puts(out, " -d ");
    fish_quote(out, o->help);
    str_puts(out, "\n");
    values_release(&v);
}

static void one_command(struct str *out, const struct command *c)
{
    struct values v;
    str_printf(out, "complete -c kveval -n '__kveval_is \"\"' -a %s -d ", c->name);
    fish_quote(out, c->help);
    str_printf(out, "\ncomplete -c kveval -n '__kveval_is help' -a %s -d ", c->name);
    fish_quote(out, c->help);
    str_printf(out, "\ncomplete -c kveval -n '__kveval_is %s' -s h -l help -d 'explain the command'\n",
               c->name);
    for (const struct cli_option *o = c->options; o && o->name; o++)
        fish_option(out, c->name, o);
    values_of_usage(&v, c->usage);
    if (values_any(&v)) {
        str_printf(out, "complete -c kveval -n '__kveval_is %s'", c->name);
        fish_offer(out, &v);
        str_puts(out, "\n");
    }
    values_release(&v);
}

void write_fish(const struct command_entry *list, struct str *out)
{
    str_puts(out, "# fish completion of kveval, written by `kveval completion fish`.\n"
                  "function __kveval_is # the command on the line; \"\": none yet\n"
                  "    set -l words (commandline -opc)\n"
                  "    if test (count $words) -lt 2\n"
                  "        test -z \"$argv[1]\"\n"
                  "    else\n"
                  "        test \"$words[2]\" = \"$argv[1]\"\n"
                  "    end\n"
                  "end\n"
                  "complete -c kveval -f\n"
                  "complete -c kveval -n '__kveval_is \"\"' -a help -d 'explain one command'\n"
                  "complete -c kveval -n '__kveval_is \"\"' -l version -d 'print version and backends'\n");
    for (int i = 0; list[i].command; i++)
        if (!list[i].command->is_hidden)
            one_command(out, list[i].command);
}
