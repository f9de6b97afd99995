/* kveval completion: what shells and man(1) read about the commands. */
#include <stdio.h>
#include <string.h>

#include "evalcore/commands/commands.h"
#include "evalcore/commands/completion.h"

static const struct cli_option completion_table[] = {{0}};

static int write_kind(const char *kind, struct str *out, struct err *e)
{
    static const struct {
        const char *kind;
        void (*write)(const struct command_entry *list, struct str *out);
    } writers[] = {{"bash", completion_bash},
                   {"zsh", completion_zsh},
                   {"fish", completion_fish},
                   {"man", completion_man}};
    for (size_t i = 0; i < sizeof writers / sizeof writers[0]; i++)
        if (!strcmp(kind, writers[i].kind)) {
            writers[i].write(command_list, out);
            return 0;
        }
    return err_set(e, ERR_USAGE, "completion takes bash, zsh, fish or man, not \"%s\"", kind);
}

static int run_completion(const struct process_env *p, int argc, char **argv)
{
    struct str text = {0};
    struct err e = {0};
    const char *kind;
    int n, code = command_parse(&cmd_completion, NULL, argc, argv, &kind, 1, 1, &n);
    (void)p;
    if (code >= 0)
        return code;
    code = write_kind(kind, &text, &e) ? command_fail(&e, EXIT_USAGE) : EXIT_DONE;
    fputs(str_text(&text), stdout);
    str_release(&text);
    return code;
}

const struct command cmd_completion = {
    .name = "completion",
    .usage = "bash|zsh|fish|man",
    .help = "print the completion script of a shell, or the man page",
    .details =
        "bash:  source <(kveval completion bash)\n"
        "zsh:   kveval completion zsh >FOLDER/_kveval, a folder of $fpath, or source it after compinit\n"
        "fish:  kveval completion fish >~/.config/fish/completions/kveval.fish\n"
        "man:   kveval completion man | man -l -\n"
        "`cmake --install build` puts all four where they are looked for.",
    .options = completion_table,
    .prints_data = 1,
    .run = run_completion,
};
