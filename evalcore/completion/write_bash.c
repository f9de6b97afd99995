/* The completion of bash: one function with a case for each option that takes a value. */
#include "evalcore/completion/completion_parts.h"

/* "--name=value" is three words for bash, and the value of an option that is named by a colon is cut at it,
 * so there nothing is offered. */
static const char head[] = "_kveval() {\n"
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

static const char tail[] =
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

static void option_value(struct str *out, const char *command, const struct cli_option *o)
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

static void one_command(struct str *out, const struct command *c)
{
    struct values v;
    for (const struct cli_option *o = c->options; o && o->name; o++)
        if (o->arg)
            option_value(out, c->name, o);
    str_printf(out, "    %s:*)\n        words='--help", c->name);
    for (const struct cli_option *o = c->options; o && o->name; o++)
        str_printf(out, " --%s", o->name);
    str_puts(out, "'\n        if [[ $cur != -* ]]; then\n            words=''\n");
    values_of_usage(&v, c->usage);
    bash_assign(out, "            ", &v);
    str_puts(out, "        fi\n        ;;\n");
    values_release(&v);
}

void write_bash(const struct command_entry *list, struct str *out)
{
    struct str names = {0};
    str_puts(out, "# bash completion of kveval, written by `kveval completion bash`.\n");
    str_puts(out, head);
    for (int i = 0; list[i].command; i++)
        if (!list[i].command->is_hidden) {
            one_command(out, list[i].command);
            str_printf(&names, " %s", list[i].command->name);
        }
    str_printf(out, "    help:*) words='%s' ;;\n", str_text(&names) + 1);
    str_printf(out, "    :*) words='help --help --version%s' ;;\n", str_text(&names));
    str_puts(out, tail);
    str_release(&names);
}
