/* kveval fetch: data sets from the Hub into the data folder, pinned and checked. */
#include <stddef.h>
#include <stdio.h>

#include "evalcore/base/file.h"
#include "evalcore/base/log.h"
#include "evalcore/cli/stop.h"
#include "evalcore/commands/commands.h"
#include "evalcore/fetch/fetch.h"

enum { TASKS_MAX = 16 };

struct fetch_command {
    const char *data;
    int list, retries, stall_s;
    double wait_s;
};

#define AT(member) offsetof(struct fetch_command, member)
static const struct cli_option fetch_table[] = {
    {"data", 'd', CLI_STRING, AT(data), "DIR", .help = "folder of problem files, as for sweep"},
    {"list", 'l', CLI_FLAG, AT(list), NULL, .help = "what can be fetched, from where, and what is there"},
    {"retries", 0, CLI_INT, AT(retries), "N", .help = "tries after a broken one (default 4)", .min = 0,
     .max = 100},
    {"wait", 0, CLI_DOUBLE, AT(wait_s), "S", .help = "seconds before the next try, then doubled (default 1)",
     .min = 0, .max = 300},
    {"stall", 0, CLI_INT, AT(stall_s), "S",
     .help = "a connection without a byte for that long is broken (default 30)", .min = 1, .max = 3600},
    {0},
};

static int is_there(const struct fetch_source *s, const char *data)
{
    struct str path = {0};
    file_join(&path, data, s->file);
    int yes = file_exists(path.data);
    str_release(&path);
    return yes;
}

static void print_list(const char *data)
{
    const struct fetch_source *s;
    for (size_t i = 0; (s = fetch_source_at(i)); i++) {
        printf("%s: %s%s%s\n", s->task, s->file, data ? is_there(s, data) ? ", there" : ", MISSING" : "",
               s->is_gated ? ", gated" : "");
        printf("    from %s, commit %s\n    licence %s\n", s->repo ? s->repo : "openai/grade-school-math",
               s->revision, s->licence);
        for (int k = 0; k < FETCH_PARTS_MAX && s->part[k]; k++)
            printf("    sha256 %s\n", s->sha256[k]);
    }
}

static int unknown(const char *name, struct err *e)
{
    const char *names[TASKS_MAX + 1] = {0};
    for (size_t i = 0; i < TASKS_MAX && fetch_source_at(i); i++)
        names[i] = fetch_source_at(i)->task;
    const char *near = str_nearest(name, names);
    return err_set(e, ERR_USAGE, "no source is known for \"%s\"%s%s; kveval fetch --list names them", name,
                   near ? ", did you mean " : "", near ? near : "");
}

static int get(const struct fetch_source *s, const struct program *p, const struct fetch_command *o,
               int *signal, struct err *e)
{
    struct fetch_options options = {.endpoint = p->hub_endpoint,
                                    .token = p->hub_token,
                                    .retries = o->retries,
                                    .wait_s = o->wait_s,
                                    .stall_s = o->stall_s};
    if (is_there(s, o->data)) {
        log_info("%s: %s is there already", s->task, s->file);
        return 0;
    }
    if (p->hub_offline)
        return err_set(e, ERR_USAGE, "%s is not in %s and HF_HUB_OFFLINE forbids to fetch it", s->file,
                       o->data);
    int rc = fetch_source_get(s, o->data, &options, signal, e);
    if (!rc && !*signal)
        log_info("%s: %s/%s, SHA-256 as published for commit %s", s->task, o->data, s->file, s->revision);
    return rc;
}

static int run_fetch(const struct program *p, int argc, char **argv)
{
    struct fetch_command o = {.retries = 4, .wait_s = 1, .stall_s = 30};
    const struct fetch_source *sources[TASKS_MAX];
    const char *names[TASKS_MAX];
    struct err e = {0};
    int n, signal = 0, code = command_parse(&cmd_fetch, &o, argc, argv, names, 0, TASKS_MAX, &n);
    if (code >= 0)
        return code;
    if (o.list) {
        print_list(o.data);
        return EXIT_DONE;
    }
    if (!n)
        err_set(&e, ERR_USAGE, "name the tasks to fetch; kveval fetch --list shows which there are");
    else if (!o.data)
        err_set(&e, ERR_USAGE, "no data folder was given; name one with --data DIR");
    for (int i = 0; i < n && !e.code; i++)
        if (!(sources[i] = fetch_source_find(names[i])))
            unknown(names[i], &e);
    if (e.code)
        return command_fail(&e, EXIT_USAGE);
    stop_block();
    for (int i = 0; i < n && !signal; i++)
        if (get(sources[i], p, &o, &signal, &e))
            return command_fail(&e, e.code == ERR_USAGE ? EXIT_USAGE : EXIT_INCOMPLETE);
    if (signal)
        log_info("stopped; what has arrived is kept, repeat the command to go on");
    return signal ? stop_exit_code(signal) : EXIT_DONE;
}

const struct command cmd_fetch = {
    .name = "fetch",
    .usage = "TASK... --data DIR",
    .help = "fetch the problem files of tasks, pinned to a commit and checked by their SHA-256",
    .details = "Puts files where sweep --data DIR looks for them, never under their name before they are\n"
               "whole. HF_ENDPOINT names a mirror, HF_HUB_OFFLINE=1 forbids the network. A gated set needs\n"
               "the token of HF_TOKEN, HF_TOKEN_PATH or $HF_HOME/token, which goes to the endpoint's host "
               "alone.",
    .options = fetch_table,
    .run = run_fetch,
};
