/* Completion scripts for bash, fish and zsh (contract: completion.h). */
#include "evalcore/commands/completion.h"

/* ---- bash: one function with a case for each option that takes a value. */

/* "--name=value" is three words for bash, and the value of an option that is named by a colon is cut at it,
 * so there nothing is offered. */
static const char bash_head[] = "_kveval() {\n"
                                "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
                                "    local command=${COMP_WORDS[1]} words='' list='' folders='' files=''\n"
                                "    COMPREPLY=()\n"
                                "    if [[ $cur == '=' ]]; then\n"
                                "        cur=''\n"
                                "    elif [[ $prev == '=' ]]; then\n"
                                "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
                                "    fi\n"
                                "    [[ $cur == ':' || $prev == ':' ]] && return\n"
                                "    ((COMP_CWORD == 1)) && command=''\n"
                                "    case $command:$prev in\n";

static const char bash_tail[] =
    "    esac\n"
    "    if [[ $words ]]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
    "    fi\n"
    "    if [[ $list ]]; then # the last of words with commas between them\n"
    "        local before=''\n"
    "        [[ $cur == *,* ]] && before=${cur%,*},\n"
    "        mapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$list\" -- \"${cur##*,}\")\n"
    "    fi\n"
    "    if [[ $folders$files ]]; then\n"
    "        compopt -o filenames 2>/dev/null\n"
    "        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- \"$cur\")\n"
    "    fi\n"
    "    if [[ $files ]]; then\n"
    "        local name\n"
    "        while IFS= read -r name; do\n"
    "            [[ ! -d $name && $name == *\"${files#*:}\" ]] && COMPREPLY+=(\"$name\")\n"
    "        done < <(compgen -f -- \"$cur\")\n"
    "    fi\n"
    "}\n"
    "complete -F _kveval kveval\n";

static void bash_assign(struct str *out, const char *indent, const struct values *v)
{
    if (v->words.len)
        str_printf(out, "%s%s='%s'\n", indent, v->is_list ? "list" : "words", v->words.data);
    if (v->folders)
        str_printf(out, "%sfolders=1\n", indent);
    if (v->files)
        str_printf(out, "%sfiles=:%s\n", indent, v->suffix ? v->suffix : "");
}

static void bash_option_value(struct str *out, const char *command, const struct cli_option *o)
{
    struct values v;
    str_printf(out, "    %s:--%s", command, o->name);
    if (o->short_name)
        str_printf(out, " | %s:-%c", command, o->short_name);
    str_puts(out, ")\n");
    values_of(&v, o->arg);
    bash_assign(out, "        ", &v);
    str_puts(out, "        ;;\n");
    values_release(&v);
}

static void bash_one_command(struct str *out, const struct command *c)
{
    struct values v;
    for (const struct cli_option *o = c->options; o && o->name; o++)
        if (o->arg)
            bash_option_value(out, c->name, o);
    str_printf(out, "    %s:*)\n        words='--help", c->name);
    for (const struct cli_option *o = c->options; o && o->name; o++)
        str_printf(out, " --%s", o->name);
    str_puts(out, "'\n        if [[ $cur != -* ]]; then\n            words=''\n");
    values_of_usage(&v, c->usage);
    bash_assign(out, "            ", &v);
    str_puts(out, "        fi\n        ;;\n");
    values_release(&v);
}

void completion_bash(const struct command_entry *list, struct str *out)
{
    struct str names = {0};
    str_puts(out, "# bash completion of kveval, written by `kveval completion bash`.\n");
    str_puts(out, bash_head);
    for (int i = 0; list[i].command; i++)
        if (!list[i].command->is_hidden) {
            bash_one_command(out, list[i].command);
            str_printf(&names, " %s", list[i].command->name);
        }
    str_printf(out, "    help:*) words='%s' ;;\n", str_text(&names) + 1);
    str_printf(out, "    :*) words='help --help --version%s' ;;\n", str_text(&names));
    str_puts(out, bash_tail);
    str_release(&names);
}

/* ---- fish */

static void fish_quote(struct str *out, const char *text)
{
    str_puts(out, "'");
    completion_escape(out, text, "\\'");
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

static void fish_one_command(struct str *out, const struct command *c)
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

void completion_fish(const struct command_entry *list, struct str *out)
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
            fish_one_command(out, list[i].command);
}

/* ---- zsh */

/* What _arguments does for a value: ":MODEL:action", to be put between single quotes. */
static void zsh_action(struct str *out, const char *name, const struct values *v)
{
    struct str words = {0};
    completion_escape(&words, str_text(&v->words), ":");
    str_puts(out, ":");
    completion_escape(out, name, ":");
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
    completion_escape(&text, o->help, "[]\\");
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
    completion_quote(out, str_text(&text));
    values_release(&v);
    str_release(&text);
}

static void zsh_one_command(struct str *out, const struct command *c)
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
        completion_quote(out, str_text(&text));
    }
    str_puts(out, "\n            ;;\n");
    values_release(&v);
    str_release(&text);
}

static void zsh_describe(struct str *out, const struct command *c)
{
    struct str text = {0};
    str_printf(&text, "%s:", c->name);
    completion_escape(&text, c->help, "\\");
    str_puts(out, "\n        ");
    completion_quote(out, str_text(&text));
    str_release(&text);
}

void completion_zsh(const struct command_entry *list, struct str *out)
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
            zsh_one_command(out, list[i].command);
    str_puts(out, "    esac\n"
                  "}\n"
                  "if [[ $funcstack[1] == _kveval ]]; then\n"
                  "    _kveval \"$@\"\n"
                  "else\n"
                  "    compdef _kveval kveval\n"
                  "fi\n");
}
