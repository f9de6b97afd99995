/* kveval fetch: data sets into the data folder and models into the Hub's cache, pinned and checked. */
#include <dirent.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "evalcore/base/clock.h"
#include "evalcore/base/file.h"
#include "evalcore/base/log.h"
#include "evalcore/cli/hub_model.h"
#include "evalcore/cli/progress.h"
#include "evalcore/cli/stop.h"
#include "evalcore/commands/commands.h"
#include "evalcore/fetch/fetch.h"
#include "tasks/task.h"

enum { NAMES_MAX = 32, TASKS_MAX = 256 };

struct fetch_command {
    const char *data, *rows_server;
    int list, verify, retries, stall_s;
    double wait_s;
};

#define AT(member) offsetof(struct fetch_command, member)
static const struct cli_option fetch_table[] = {
    {"data", 'd', CLI_STRING, AT(data), "DIR", .help = "folder of problem files, as for sweep"},
    {"list", 'l', CLI_FLAG, AT(list), NULL, .help = "what can be fetched, from where, and what is there"},
    {"verify", 0, CLI_FLAG, AT(verify), NULL,
     .help = "hash a model's files that are there; one that is not what the Hub lists is fetched again"},
    {"retries", 0, CLI_INT, AT(retries), "N",
     .help = "tries after a broken one that brought nothing new (default 4)", .min = 0, .max = 100},
    {"wait", 0, CLI_DOUBLE, AT(wait_s), "S", .help = "seconds before the next try, then doubled (default 1)",
     .min = 0, .max = 300},
    {"stall", 0, CLI_INT, AT(stall_s), "S",
     .help = "a connection without a byte for that long is broken (default 30)", .min = 1, .max = 3600},
    {"rows-server", 0, CLI_STRING, AT(rows_server), "URL",
     .help = "the Hub's rows interface (default: datasets-server. before the endpoint's host)"},
    {0},
};

static const char *const state_words[] = {
    [FETCH_MISSING] = "MISSING", [FETCH_THERE] = "there", [FETCH_OTHER] = "other"};

/* "owner/name" of the Hub, or of a file on GitHub of its address, in `a`. */
static const char *source_name(const struct task_source *s, struct arena *a)
{
    static const char github[] = "https://raw.githubusercontent.com/";
    if (!s->part[0] || strncmp(s->part[0], github, strlen(github)))
        return s->hub;
    const char *path = s->part[0] + strlen(github);
    const char *name = path + strcspn(path, "/") + (strchr(path, '/') != NULL);
    return arena_strndup(a, path, (size_t)(name - path) + strcspn(name, "/"));
}

/* What stands behind it in brackets does not fit: kveval list tasks NAME has it. */
static void add_licence(struct str *out, const struct task_source *s)
{
    size_t n = strcspn(s->licence, "(;");
    while (n && s->licence[n - 1] == ' ')
        n--;
    str_printf(out, "  %.*s%s", (int)n, s->licence, s->is_gated ? ", gated" : "");
}

/* A file's line, and one more for each further part with a hash. task: NULL where the line above names it. */
static void list_source(struct str *out, const char *task, const struct task_source *s, const char *data)
{
    struct arena a = {0};
    char check[16];
    const char *state = data ? state_words[fetch_source_look(s, data)] : "-";
    const char *revision = s->revision && !s->split ? s->revision : "main";
    for (int i = 0; i < TASK_PARTS_MAX && (i == 0 || (s->part[i] && s->sha256[i])); i++) {
        fetch_source_check(check, sizeof check, s, i);
        str_printf(out, "%-16s  %-7s  %-34s  %-8.8s  %-10s", i || !task ? "" : task, i ? "" : state,
                   i ? "" : source_name(s, &a), i ? "" : revision, check);
        if (!i && task)
            add_licence(out, s);
        else if (!i)
            str_printf(out, "  %s", strrchr(s->file, '/') + 1);
        str_putc(out, '\n');
    }
    arena_release(&a);
}

/* The tables of --list, at most 110 columns: problem files, and models in the Hub's cache. data and cache may
 * be NULL. */
static void list_tasks(struct str *out, const char *data)
{
    const struct task_ops *ops;
    str_printf(out, "%-16s  %-7s  %-34s  %-8s  %-10s  %s\n", "task", "data", "source", "revision",
               "checked by", "licence");
    for (size_t i = 0; (ops = task_at(i)); i++)
        for (const struct task_source *s = ops->sources; s && s->file; s++)
            list_source(out, s == ops->sources ? ops->name : NULL, s, data);
}

/* Bytes of a model's blobs. */
static double size_of(const char *repo)
{
    struct str path = {0}, dir = {0};
    struct file_list blobs = {0};
    struct stat st;
    double bytes = 0;
    file_join(&dir, repo, "blobs");
    if (!file_list(&blobs, dir.data, "", NULL))
        for (size_t i = 0; i < blobs.n; i++) {
            str_clear(&path);
            file_join(&path, dir.data, blobs.name[i]);
            bytes += stat(path.data, &st) ? 0 : (double)st.st_size;
        }
    file_list_release(&blobs);
    str_release(&path);
    str_release(&dir);
    return bytes;
}

/* "models--owner--name" -> "owner/name" when that is a model's id with a whole snapshot at main. */
static void add_model(struct str *out, const char *cache, const char *folder)
{
    struct arena a = {0};
    const struct process_env p = {.hub_cache = cache};
    char *id = arena_strdup(&a, folder + strlen("models--"));
    char *dashes = strstr(id, "--");
    const char *path = NULL;
    if (dashes) {
        *dashes = '/';
        memmove(dashes + 1, dashes + 2, strlen(dashes + 2) + 1);
        if (hub_is_id(id) && !hub_model(&path, &p, id, &a, NULL))
            str_printf(out, "%-52s  %-8.8s  %9.2f GB\n", id, strrchr(path, '/') + 1,
                       size_of(arena_printf(&a, "%s/%s", cache, folder)) / 1e9);
    }
    arena_release(&a);
}

static void list_models(struct str *out, const char *cache)
{
    struct file_list names = {0};
    struct str rows = {0};
    if (cache && file_is_dir(cache) && !file_list(&names, cache, "", NULL))
        for (size_t i = 0; i < names.n; i++)
            if (!strncmp(names.name[i], "models--", 8))
                add_model(&rows, cache, names.name[i]);
    if (rows.len)
        str_printf(out, "\nmodels in %s\n%-52s  %-8s  %12s\n%s", cache, "model", "revision", "blobs",
                   rows.data);
    file_list_release(&names);
    str_release(&rows);
}

/* The progress line: bytes of the file that is arriving. */
struct shown {
    struct progress p;
    const char *name;
    double started;
    int64_t had; /* bytes when it started */
};

static void show_progress(void *context, const char *name, int64_t have, int64_t size)
{
    struct shown *s = context;
    double now = clock_seconds();
    if (s->name != name) {
        s->name = name;
        s->started = now;
        s->had = have;
    }
    if (!s->p.live || now - s->p.drawn < 0.2)
        return;
    struct str text = {0};
    double speed = now > s->started ? (double)(have - s->had) / (now - s->started) : 0;
    str_printf(&text, "%s: %.1f", name, (double)have / 1e6);
    if (size)
        str_printf(&text, " of %.1f", (double)size / 1e6);
    str_printf(&text, " MB, %.1f MB/s", speed / 1e6);
    if (size && speed > 0) {
        str_puts(&text, ", about ");
        progress_duration(&text, (double)(size - have) / speed);
        str_puts(&text, " left");
    }
    progress_line(&s->p, text.data);
    s->p.drawn = now;
    str_release(&text);
}

static void hide_progress(const struct fetch_options *o)
{
    struct shown *s = o->show_context;
    progress_end(&s->p);
}

static int unknown_source(const char *name, struct err *e)
{
    const char *names[TASKS_MAX + 1] = {0};
    const struct task_ops *ops = task_find(name);
    size_t n = 0;
    if (ops)
        return err_set(e, ERR_USAGE,
                       "task %s has nothing to fetch: it makes its problems itself, or takes a file of yours",
                       name);
    for (size_t i = 0; n < TASKS_MAX && (ops = task_at(i)); i++)
        if (ops->sources)
            names[n++] = ops->name;
    const char *near = str_nearest(name, names);
    if (strchr(name, '/') && file_exists(name))
        return err_set(e, ERR_USAGE,
                       "%s is a file or folder here, which a run would take instead of the model "
                       "of that name; change to another folder to fetch it",
                       name);
    return err_set(e, ERR_USAGE,
                   "no source is known for \"%s\"%s%s; kveval fetch --list names them, and a model "
                   "is fetched by its id on the Hub (owner/name)",
                   name, near ? ", did you mean " : "", near ? near : "");
}

static int get_source(const char *task, const struct task_source *s, const char *data,
                      const struct fetch_options *o, int *signal, struct err *e)
{
    struct str note = {0};
    switch (fetch_source_look(s, data)) {
    case FETCH_MISSING:
        break;
    case FETCH_THERE:
        log_info("%s: %s is there already", task, s->file);
        return 0;
    case FETCH_OTHER:
        return err_set(
            e, ERR_USAGE,
            "%s: %s/%s is there already and is not the file that is fetched (SHA-256 %s); move it away to "
            "fetch that one",
            task, data, s->file, s->sha256[0]);
    }
    int rc = fetch_source_get(s, data, o, &note, signal, e);
    hide_progress(o);
    if (!rc && !*signal)
        log_info("%s: %s/%s, %s", task, data, s->file, str_text(&note));
    str_release(&note);
    return rc;
}

static int get_task(const struct task_ops *ops, const char *data, const struct fetch_options *o, int *signal,
                    struct err *e)
{
    int rc = 0;
    for (const struct task_source *s = ops->sources; s->file && !rc && !*signal; s++)
        rc = get_source(ops->name, s, data, o, signal, e);
    return rc;
}

/* The task of that name that has something to fetch; NULL: there is none. */
static const struct task_ops *find_task(const char *name)
{
    const struct task_ops *ops = task_find(name);
    return ops && ops->sources ? ops : NULL;
}

static int get_model(const char *name, const struct process_env *p, const struct fetch_options *o,
                     int *signal, struct err *e)
{
    struct arena a = {0};
    struct str note = {0};
    struct hub_id id;
    const char *folder = NULL;
    int rc = 0;
    if (!o->cache) {
        rc = err_set(e, ERR_USAGE, "there is no folder for models; name one in HF_HUB_CACHE");
    } else if (o->is_offline) {
        rc = hub_model(&folder, p, name, &a, e);
        if (rc)
            err_add(e, "HF_HUB_OFFLINE forbids to fetch it");
        else
            log_info("%s: %s is there already", name, folder);
    } else {
        hub_id_read(&id, o->cache, name, &a);
        rc = fetch_model_get(&id, o, &note, signal, e);
        hide_progress(o);
        if (!rc && !*signal)
            log_info("%s: %s, %s", name, id.folder, note.data);
    }
    str_release(&note);
    arena_release(&a);
    return rc;
}

static int check_names(const struct fetch_command *o, int n, const char *const *names, struct err *e)
{
    if (!n)
        return err_set(e, ERR_USAGE,
                       "name the tasks or models to fetch; kveval fetch --list shows which tasks there are");
    for (int i = 0; i < n; i++) {
        int is_task = find_task(names[i]) != NULL;
        if (!is_task && !hub_is_id(names[i]))
            return unknown_source(names[i], e);
        if (is_task && !o->data)
            return err_set(e, ERR_USAGE, "no data folder was given; name one with --data DIR");
    }
    return 0;
}

/* "https://datasets-server.huggingface.co", as Hugging Face's own library finds it. */
static const char *rows_server(const char *endpoint, struct arena *a)
{
    const char *host = strstr(endpoint, "://");
    if (!host)
        return endpoint;
    return arena_printf(a, "%.*s://datasets-server.%s", (int)(host - endpoint), endpoint, host + 3);
}

static int run_fetch(const struct process_env *p, int argc, char **argv)
{
    struct fetch_command o = {.retries = 4, .wait_s = 1, .stall_s = 30};
    const char *names[NAMES_MAX];
    struct err e = {0};
    struct arena a = {0};
    struct shown shown = {0};
    int n, signal = 0, code = command_parse(&cmd_fetch, &o, argc, argv, names, 0, NAMES_MAX, &n);
    if (code >= 0)
        return code;
    if (o.list) {
        struct str text = {0};
        list_tasks(&text, o.data);
        list_models(&text, p->hub_cache);
        fputs(text.data, stdout);
        str_release(&text);
        return EXIT_DONE;
    }
    if (check_names(&o, n, names, &e))
        return command_fail(&e, EXIT_USAGE);
    progress_init(&shown.p, p->live, p->columns);
    const struct fetch_options options = {.endpoint = p->hub_endpoint,
                                          .rows_server = o.rows_server ? o.rows_server
                                                                       : rows_server(p->hub_endpoint, &a),
                                          .cache = p->hub_cache,
                                          .token = p->hub_token,
                                          .is_offline = p->hub_offline,
                                          .verifies = o.verify,
                                          .retries = o.retries,
                                          .wait_s = o.wait_s,
                                          .stall_s = o.stall_s,
                                          .show = show_progress,
                                          .show_context = &shown};
    stop_block();
    int rc = 0;
    for (int i = 0; i < n && !signal && !rc; i++) {
        const struct task_ops *ops = find_task(names[i]);
        rc = ops ? get_task(ops, o.data, &options, &signal, &e)
                 : get_model(names[i], p, &options, &signal, &e);
    }
    arena_release(&a);
    if (rc)
        return command_fail(&e, e.code == ERR_USAGE ? EXIT_USAGE : EXIT_INCOMPLETE);
    if (signal)
        log_info("stopped; what has arrived is kept, repeat the command to go on");
    return signal ? stop_exit_code(signal) : EXIT_DONE;
}

const struct command cmd_fetch = {
    .name = "fetch",
    .usage = "TASK|MODEL... [--data DIR]",
    .help = "fetch the problem files of tasks and models by their id on the Hub, and check them",
    .details =
        "A task's files, problems and the examples of its prompt, go where sweep --data DIR looks for them.\n"
        "A model (owner/name, or "
        "owner/name@REVISION)\n"
        "goes into the Hub's cache, where Transformers and vLLM find it too; of its files configuration,\n"
        "tokenizer, chat template, licence and safetensors weights are taken. Nothing gets its name before\n"
        "it is whole; what is there, also from other programs, is not fetched again.\n"
        "HF_HOME and HF_HUB_CACHE say where the cache is, HF_ENDPOINT names a mirror, HF_HUB_OFFLINE=1\n"
        "forbids the network. What is gated needs the token of HF_TOKEN, HF_TOKEN_PATH or $HF_HOME/token,\n"
        "which goes to the endpoint's host alone.",
    .options = fetch_table,
    .run = run_fetch,
};
