/* The program: a table of subcommands and the only look at the environment. */
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "evalcore/base/file.h"
#include "evalcore/base/log.h"
#include "evalcore/base/shown.h"
#include "evalcore/commands/commands.h"
#include "evalcore/graders/grader_pool.h"

static const struct command *find_command(const char *name)
{
    for (int i = 0; command_list[i].command; i++)
        if (!strcmp(command_list[i].command->name, name))
            return command_list[i].command;
    return NULL;
}

static void print_usage(FILE *f)
{
    const char *group = "";
    fputs("kveval measures what sparse KV-cache policies do to the accuracy of reasoning models.\n\n"
          "usage: kveval COMMAND [options]\n",
          f);
    for (int i = 0; command_list[i].command; i++) {
        const struct command_entry *c = &command_list[i];
        if (c->command->is_hidden)
            continue;
        if (strcmp(group, c->group))
            fprintf(f, "\n%s\n", group = c->group);
        fprintf(f, "  %-10s %s\n", c->command->name, c->command->help);
    }
    fputs("\nExamples\n", f);
    for (const struct example *x = examples; x->line; x++)
        fprintf(f, "  %s\n      %s\n", x->line, x->help);
    fputs("\nExit codes\n", f);
    for (const struct exit_code *x = exit_codes; x->help; x++)
        fprintf(f, "  %-10d %s\n", x->code, x->help);
    fputs("\nkveval help COMMAND explains one command, kveval --version prints version and backends.\n", f);
}

static int unknown_command(const char *name)
{
    enum { MOST = 64 };
    const char *names[MOST + 1] = {0};
    for (int i = 0, n = 0; command_list[i].command && n < MOST; i++)
        if (!command_list[i].command->is_hidden)
            names[n++] = command_list[i].command->name;
    const char *near = str_nearest(name, names);
    if (near)
        log_error("unknown command \"%s\": did you mean %s?", name, near);
    else
        log_error("unknown command \"%s\": kveval help lists them", name);
    return EXIT_USAGE;
}

static int print_help(int argc, char **argv)
{
    if (argc < 3) {
        print_usage(stdout);
        return EXIT_DONE;
    }
    const struct command *c = find_command(argv[2]);
    if (!c)
        return unknown_command(argv[2]);
    command_help(c);
    return EXIT_DONE;
}

/* XDG_CACHE_HOME/kveval, else HOME/.cache/kveval, else nothing. */
static const char *cache_dir(const char *home, struct arena *a)
{
    const char *dir = getenv("XDG_CACHE_HOME");
    if (dir && dir[0] == '/')
        return arena_printf(a, "%s/kveval", dir);
    return home ? arena_printf(a, "%s/.cache/kveval", home) : NULL;
}

/* The Hub's library takes these words for yes. */
static int is_yes(const char *text)
{
    static const char *const words[] = {"1", "on", "yes", "true"};
    for (int i = 0; text && i < 4; i++)
        if (!strcasecmp(text, words[i]))
            return 1;
    return 0;
}

/* A variable that names a folder or file; one that begins with ~ is meant below the home folder, as the Hub's
 * library takes it, since shells leave it alone between quotes. NULL: it is not set, or empty. */
static const char *path_variable(const char *name, const char *home, struct arena *a)
{
    const char *path = getenv(name);
    if (!path || !*path)
        return NULL;
    return home && path[0] == '~' && (!path[1] || path[1] == '/') ? arena_printf(a, "%s%s", home, path + 1)
                                                                  : path;
}

/* HF_TOKEN, else the first line of HF_TOKEN_PATH or HF_HOME/token; NULL when none is usable. */
static const char *hub_token(const char *home, struct arena *a)
{
    const char *token = getenv("HF_TOKEN"), *path = path_variable("HF_TOKEN_PATH", home, a);
    const char *hub = path_variable("HF_HOME", home, a), *xdg = path_variable("XDG_CACHE_HOME", home, a);
    struct str text = {0};
    if (!token || !*token) {
        if (!path && hub)
            path = arena_printf(a, "%s/token", hub);
        else if (!path && xdg)
            path = arena_printf(a, "%s/huggingface/token", xdg);
        else if (!path && home)
            path = arena_printf(a, "%s/.cache/huggingface/token", home);
        if (path && !file_read(path, &text, NULL))
            token = arena_strdup(a, str_text(&text));
        str_release(&text);
    }
    size_t n = token ? strcspn(token, " \t\r\n") : 0;
    return n ? arena_strndup(a, token, n) : NULL;
}

static const char *hub_cache(const char *home, struct arena *a)
{
    const char *cache = path_variable("HF_HUB_CACHE", home, a), *hub = path_variable("HF_HOME", home, a);
    const char *xdg = path_variable("XDG_CACHE_HOME", home, a);
    if (!cache)
        cache = path_variable("HUGGINGFACE_HUB_CACHE", home, a); /* its older name */
    if (cache)
        return cache;
    if (hub)
        return arena_printf(a, "%s/hub", hub);
    if (xdg)
        return arena_printf(a, "%s/huggingface/hub", xdg);
    return home ? arena_printf(a, "%s/.cache/huggingface/hub", home) : NULL;
}

static void read_hub_variables(struct process_env *p, struct arena *a)
{
    const char *endpoint = getenv("HF_ENDPOINT");
    size_t n = endpoint ? strlen(endpoint) : 0;
    while (n && endpoint[n - 1] == '/')
        n--;
    p->hub_endpoint = n ? arena_strndup(a, endpoint, n) : "https://huggingface.co";
    p->hub_offline = is_yes(getenv("HF_HUB_OFFLINE")) || is_yes(getenv("TRANSFORMERS_OFFLINE"));
    p->hub_cache = hub_cache(p->home, a);
    p->hub_token = hub_token(p->home, a);
}

static void read_environment(struct process_env *p, struct arena *a)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS"), *term = getenv("TERM");
    long n;
    const char *home = getenv("HOME");
    p->home = home && home[0] == '/' ? home : NULL;
    p->cache_dir = cache_dir(p->home, a);
    read_hub_variables(p, a);
    p->variable = getenv;
    const char *github = getenv("GITHUB_ACTIONS"), *summary = getenv("GITHUB_STEP_SUMMARY");
    p->is_github = github && !strcmp(github, "true");
    p->github_summary = p->is_github && summary && *summary ? summary : NULL;
    const char *end = getenv("SLURM_JOB_END_TIME");
    if (end && cli_int(end, 1, LONG_MAX, &p->slurm_end))
        p->slurm_end = 0;
    p->live = isatty(STDERR_FILENO) && term && strcmp(term, "dumb");
    p->columns = 80;
    p->is_columns_set = columns && !cli_int(columns, 20, 1000, &n);
    if (p->is_columns_set)
        p->columns = (int)n;
    else if (p->live && !ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col >= 20)
        p->columns = size.ws_col;
}

static int dispatch_command(int argc, char **argv)
{
    struct process_env p = {0};
    struct arena a = {0};
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return print_help(argc, argv);
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "version")) {
        struct str text = {0};
        commands_version(&text);
        fputs(str_text(&text), stdout);
        str_release(&text);
        return EXIT_DONE;
    }
    const struct command *c = find_command(argv[1]);
    if (!c)
        return unknown_command(argv[1]);
    read_environment(&p, &a);
    FILE *shown = c->prints_data ? NULL : shown_stream(STDOUT_FILENO, p.is_github);
    if (shown)
        stdout = shown; /* names, answers and prompts are other people's text, whichever function prints it */
    int rc = c->run(&p, argc - 1, argv + 1);
    arena_release(&a);
    return rc;
}

/* A pipe whose other end is closed. */
static int is_reader_gone(void)
{
    struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&p, 1, 0) == 1 && (p.revents & POLLERR);
}

int main(int argc, char **argv)
{
    /* A reader that goes away, of the progress lines say, must not end a night's work: writing to standard
     * output fails then, which is found below, and standard error is not needed. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file as large as ulimit -f allows: the write says so */
    grader_pool_use();
    FILE *plain = stdout;
    int rc = dispatch_command(argc, argv), lost = fflush(stdout) || ferror(stdout);
    if (stdout != plain) {
        lost |= fclose(stdout) != 0;
        stdout = plain;
    }
    /* A reader that has seen enough, such as head, is no fault to tell of: the program ends as others do
     * then. */
    if (lost && rc == EXIT_DONE && is_reader_gone()) {
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    /* Results that could not be written (a full disk behind a pipe) must not look like success. */
    if (lost) {
        log_error("cannot write to standard output");
        if (rc == EXIT_DONE)
            rc = EXIT_INCOMPLETE;
    }
    return rc;
}
