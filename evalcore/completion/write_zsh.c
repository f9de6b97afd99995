/* The completion of zsh: a function for the _arguments of each command. */
#include "evalcore/completion/completion_parts.h"

/* What _arguments does for a value: ":MODEL:action", to be put between single quotes. */
static void zsh_action(struct str *out, const char *name, const struct values *v)
{
    struct str words = {0};
    escape(&words, str_text(&v->words), ":");
    str_puts(out, ":");
    escape(out, name, ":");
    str_puts(out, ":");
    if (v->is_list)
        str_printf(out, "_values -s , %s %s", name, str_text(&words));
    else if (words.len && !v->files && !v->folders)
        str_printf(out, "(%s)", words.data);
    else if (words.len)
        str_printf(out, "{_alternative \"word\\:word\\:(%s)\" \"name\\:name\\:_files%s\"}", words.data,
                   v->files ? "" : " -/");
    else if (v->suffix)
        str_printf(out, "_files -g \"*%s\"", v->suffix);
    else if (v->files || v->folders)
        str_printf(out, "_files%s", v->files ? "" : " -/");
    else
        str_puts(out, " ");
    str_release(&words);
}

/* '(-o --output-path)'{-o+,--output-path=}'[help]:DIR:_files -/' */
static void zsh_option(struct str *out, const struct cli_option *o)
{
    struct str text = {0};
    struct values v;
    str_puts(&text, "[");
    escape(&text, o->help, "[]\\");
    str_puts(&text, "]");
    values_of(&v, o->arg);
    if (o->arg)
        zsh_action(&text, o->arg, &v);
    const char *often = o->type == CLI_LIST ? "*" : "", *value = o->arg ? "=" : "";
    str_puts(out, " \\\n                ");
    if (o->short_name && o->type == CLI_LIST)
        str_printf(out, "'*'{-%c%s,--%s%s}", o->short_name, o->arg ? "+" : "", o->name, value);
    else if (o->short_name)
        str_printf(out, "'(-%c --%s)'{-%c%s,--%s%s}", o->short_name, o->name, o->short_name,
                   o->arg ? "+" : "", o->name, value);
    else
        str_printf(out, "'%s'--%s%s", often, o->name, value);
    single_quote(out, str_text(&text));
    values_release(&v);
    str_release(&text);
}

static void one_command(struct str *out, const struct command *c)
{
    struct str text = {0};
    struct values v;
    str_printf(out, "        %s)\n            _arguments '(- *)'{-h,--help}'[explain the command]'", c->name);
    for (const struct cli_option *o = c->options; o && o->name; o++)
        zsh_option(out, o);
    values_of_usage(&v, c->usage);
    if (values_any(&v)) {
        str_puts(&text, "*");
        zsh_action(&text, "argument", &v);
        str_puts(out, " \\\n                ");
        single_quote(out, str_text(&text));
    }
    str_puts(out, "\n            ;;\n");
    values_release(&v);
    str_release(&text);
}

static void zsh_describe(struct str *out, const struct command *c)
{
    struct str text = {0};
    str_printf(&text, "%s:", c->name);
    escape(&text, c->help, "\\");
    str_puts(out, "\n        ");
    single_quote(out, str_text(&text));
    str_release(&text);
}

void write_zsh(const struct command_entry *list, struct str *out)
{
    str_puts(out, "#compdef kveval\n"
                  "# zsh completion of kveval, written by `kveval completion zsh`.\n"
                  "_kveval() {\n"
                  "    local command\n"
                  "    local -a commands\n"
                  "    commands=(\n        'help:explain one command'");
    for (int i = 0; list[i].command; i++)
        if (!list[i].command->is_hidden)
            zsh_describe(out, list[i].command);
    str_puts(out, "\n    )\n"
                  "    if ((CURRENT == 2)); then\n"
                  "        _describe command commands\n"
                  "        return\n"
                  "    fi\n"
                  "    command=$words[2]\n"
                  "    shift words\n"
                  "    ((CURRENT--))\n"
                  "    case $command in\n"
                  "        help) _describe command commands ;;\n");
    for (int i = 0; list[i].command; i++)
        if (!list[i].command->is_hidden)
            one_command(out, list[i].command);
    str_puts(out, "    esac\n"
                  "}\n"
                  "if [[ $funcstack[1] == _kveval ]]; then\n"
                  "    _kveval \"$@\"\n"
                  "else\n"
                  "    compdef _kveval kveval\n"
                  "fi\n");
}
