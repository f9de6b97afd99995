/* The folder a sweep writes into (contract: runfolder.h). Names come from a file that may have been changed,
 * so none with a "/" is followed. */
#include "evalcore/store/runfolder.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "evalcore/base/log.h"

static const char config_name[] = "config.resolved.json", seal_name[] = "sha256";
enum { SHA256_HEX = 64 };

static int has_suffix(const char *s, const char *suffix)
{
    size_t n = strlen(s), k = strlen(suffix);
    return n >= k && !strcmp(s + n - k, suffix);
}

/* Is the entry one that a sweep makes? `early`: one that may be there before the configuration is. */
static int is_our_name(const char *name, int *early)
{
    static const char *const names[] = {"lock",      "journal",       "problems",    "grades", "report",
                                        config_name, "manifest.json", "status.json", NULL};
    enum { EARLY = 3 };
    *early = !strncmp(name, "lock.", 5) || has_suffix(name, ".tmp");
    if (*early)
        return 1;
    for (int i = 0; names[i]; i++)
        if (!strcmp(name, names[i])) {
            *early = i < EARLY;
            return 1;
        }
    return 0;
}

static int is_our_manifest(const char *dir)
{
    struct str path = {0};
    json_t *o = NULL;
    file_join(&path, dir, "manifest.json");
    int yes = file_exists(path.data) && !file_plain(path.data, NULL) && !json_read_file(&o, path.data, NULL);
    const char *program = yes ? json_string_value(json_object_get(o, "program")) : NULL;
    yes = program && !strcmp(program, "kveval");
    json_decref(o);
    str_release(&path);
    return yes;
}

int runfolder_other_version(struct err *e, const char *where, long version, int known)
{
    return err_set(e, ERR_UNSUPPORTED,
                   "%s is of version %ld, and this kveval reads version %d; use the kveval that wrote it, or "
                   "another folder",
                   where, version, known);
}

int runfolder_config_version(const json_t *config, const char *path, struct err *e)
{
    long version = (long)json_number_value(json_object_get(config, "schema"));
    return version == CONFIG_VERSION ? 0 : runfolder_other_version(e, path, version, CONFIG_VERSION);
}

/* Of the canonical text of everything but the digest itself. */
static void seal_of(const json_t *config, char hex[SHA256_HEX + 1])
{
    struct str text = {0};
    json_t *rest = json_copy((json_t *)config);
    json_object_del(rest, seal_name);
    json_canonical(&text, rest);
    sha256_hex(str_text(&text), text.len, hex, SHA256_HEX);
    json_decref(rest);
    str_release(&text);
}

void runfolder_seal(json_t *config)
{
    char hex[SHA256_HEX + 1];
    seal_of(config, hex);
    json_object_set_new(config, seal_name, json_string(hex));
}

int runfolder_seal_is_right(const json_t *config)
{
    char hex[SHA256_HEX + 1];
    const char *seal = json_string_value(json_object_get(config, seal_name));
    seal_of(config, hex);
    return seal && !strcmp(seal, hex);
}

json_t *runfolder_config(const char *dir)
{
    struct str path = {0};
    json_t *o = NULL;
    file_join(&path, dir, config_name);
    if (!file_exists(path.data) || file_plain(path.data, NULL) || json_read_file(&o, path.data, NULL) ||
        !json_is_array(json_object_get(o, "cells")) || !json_is_string(json_object_get(o, "weights"))) {
        json_decref(o);
        o = NULL;
    }
    str_release(&path);
    return o;
}

/* Without a configuration it may be a sweep that was cut short at its start, or journals that somebody kept.
 * Anything else under a name that a sweep uses belongs to a person. Files under other names (a log, notes)
 * are in nobody's way. */
static int has_room(const char *dir, const struct file_list *list, const char **stranger)
{
    struct str journal = {0};
    file_join(&journal, dir, "journal");
    int has_journal = file_is_dir(journal.data);
    *stranger = NULL;
    for (size_t i = 0; i < list->n && !*stranger; i++) {
        int early;
        if (is_our_name(list->name[i], &early) && !early && !has_journal)
            *stranger = list->name[i];
    }
    str_release(&journal);
    return !*stranger;
}

int runfolder_check(const char *dir, struct err *e)
{
    struct file_list list = {0};
    const char *stranger;
    if (!file_is_dir(dir))
        return 0;
    /* The list comes first: another sweep may be starting here, and what it adds after its configuration must
     * not be seen without that. */
    int rc = file_list(&list, dir, "", e);
    json_t *config = runfolder_config(dir);
    int ours = config || is_our_manifest(dir);
    struct str path = {0};
    file_join(&path, dir, config_name);
    if (config && !rc)
        rc = runfolder_config_version(config, path.data, e);
    json_decref(config);
    str_release(&path);
    if (!ours && !rc && !has_room(dir, &list, &stranger))
        rc = err_set(
            e, ERR_USAGE,
            "%s is no run folder, yet it holds \"%s\", a name that a sweep uses; choose another folder with "
            "-o",
            dir, stranger);
    file_list_release(&list);
    return rc;
}

static int is_plain_name(const char *s)
{
    return s && *s && *s != '.' && !strchr(s, '/');
}

/* Does the list `key` of a configuration hold an entry with this `field`? */
static int holds_field(const json_t *config, const char *key, const char *field, const char *value)
{
    size_t i;
    const json_t *entry;
    json_array_foreach(json_object_get(config, key), i, entry)
    {
        const char *s = json_string_value(json_object_get(entry, field));
        if (s && !strcmp(s, value))
            return 1;
    }
    return 0;
}

static int remove_file(const char *path, struct err *e)
{
    if (unlink(path) && errno != ENOENT && errno != ENOTDIR)
        return err_set(e, file_error_code(errno), "cannot remove %s: %s", path, err_reason(errno));
    return 0;
}

/* The model of this name in a configuration; NULL: there is none. */
static const json_t *find_model(const json_t *config, const char *name)
{
    size_t i;
    const json_t *m;
    json_array_foreach(json_object_get(config, "models"), i, m)
    {
        const char *its = json_string_value(json_object_get(m, "model"));
        if (its && name && !strcmp(its, name))
            return m;
    }
    return NULL;
}

static int is_equal(const json_t *a, const json_t *b, const char *key)
{
    return json_equal(json_object_get(a, key), json_object_get(b, key));
}

/* Is the model of this name in both, and another? */
static int is_another(const json_t *old, const json_t *now, const char *name)
{
    const json_t *a = find_model(old, name), *b = find_model(now, name);
    return a && b && !(is_equal(a, b, "weights") && is_equal(a, b, "configuration"));
}

void runfolder_warn_models(const char *dir, const json_t *old, const json_t *now)
{
    static const char stay[] =
        "decoded anew, and its earlier completions stay in the journals but not in the tables";
    size_t i;
    const json_t *m;
    json_array_foreach(json_object_get(now, "models"), i, m)
    {
        const char *name = json_string_value(json_object_get(m, "model"));
        const json_t *before = find_model(old, name);
        if (!before)
            continue;
        if (!is_equal(before, m, "weights"))
            log_warn("model %s has other weights than what %s holds of it: it is %s", name, dir, stay);
        else if (!is_equal(before, m, "configuration"))
            log_warn(
                "model %s has other values in config.json, generation_config.json or tokenizer.json than "
                "what %s holds of it: it is %s",
                name, dir, stay);
        else if (!is_equal(before, m, "prompts") || !is_equal(before, m, "max_context"))
            log_warn(
                "model %s makes other prompts, or has another context, than what %s holds of it: what that "
                "changes is %s",
                name, dir, stay);
    }
}

int runfolder_dropped_cells(const json_t *old, const json_t *now)
{
    size_t i;
    const json_t *cell;
    int n = 0;
    json_array_foreach(json_object_get(old, "cells"), i, cell)
    {
        const char *id = json_string_value(json_object_get(cell, "id"));
        const char *model = json_string_value(json_object_get(cell, "model"));
        n += id && !holds_field(now, "cells", "id", id) && !is_another(old, now, model);
    }
    return n;
}

const char *runfolder_other_model(const json_t *config, const char *model)
{
    size_t i;
    const json_t *cell;
    json_array_foreach(json_object_get(config, "cells"), i, cell)
    {
        const char *its = json_string_value(json_object_get(cell, "model"));
        if (its && strcmp(its, model) != 0)
            return its;
    }
    return NULL;
}

int runfolder_drop_problems(const char *dir, const json_t *old, const json_t *now, struct err *e)
{
    static const char folder[] = "problems/";
    size_t i;
    const json_t *task;
    int rc = 0;
    json_array_foreach(json_object_get(old, "tasks"), i, task)
    {
        const char *file = json_string_value(json_object_get(task, "file"));
        if (rc || !file || strncmp(file, folder, strlen(folder)) || !is_plain_name(file + strlen(folder)) ||
            holds_field(now, "tasks", "file", file))
            continue;
        struct str path = {0};
        file_join(&path, dir, file);
        rc = remove_file(path.data, e);
        str_release(&path);
    }
    return rc;
}

/* A problem file that is missing or cannot be read is no change by hand, and is written anew without a word.
 */
static int is_problem_file_changed(const char *path, const char *want)
{
    struct str text = {0};
    char hex[SHA256_HEX + 1];
    int changed = 0;
    if (want && file_exists(path) && !file_plain(path, NULL) && !file_read(path, &text, NULL)) {
        sha256_hex(str_text(&text), text.len, hex, SHA256_HEX);
        changed = strcmp(hex, want) != 0;
    }
    str_release(&text);
    return changed;
}

void runfolder_warn_changed(const char *dir, const json_t *old)
{
    static const char folder[] = "problems/";
    size_t i;
    const json_t *task;
    if (!old)
        return;
    if (!runfolder_seal_is_right(old))
        log_warn("%s/%s was changed since a sweep wrote it; it is written anew", dir, config_name);
    json_array_foreach(json_object_get(old, "tasks"), i, task)
    {
        const char *file = json_string_value(json_object_get(task, "file"));
        if (!file || strncmp(file, folder, strlen(folder)) || !is_plain_name(file + strlen(folder)))
            continue;
        struct str path = {0};
        file_join(&path, dir, file);
        if (is_problem_file_changed(path.data, json_string_value(json_object_get(task, "problems_sha256"))))
            log_warn("%s was changed since a sweep wrote it; it is written anew", path.data);
        str_release(&path);
    }
}

enum { ABANDONED_SECONDS = 3600 }; /* a write takes seconds; see file_is_abandoned() */

void runfolder_drop_abandoned(const char *dir)
{
    static const char *const places[] = {"", "journal", "problems", "grades", "report"};
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        struct str folder = {0};
        struct file_list list = {0};
        struct stat st;
        str_puts(&folder, dir);
        if (*places[p])
            str_printf(&folder, "/%s", places[p]);
        if (lstat(folder.data, &st) || !S_ISLNK(st.st_mode)) /* a link leads to a folder that is not ours */
            file_list(&list, folder.data, ".tmp", NULL);
        for (size_t i = 0; i < list.n; i++)
            if (file_is_abandoned(list.name[i])) {
                struct str path = {0};
                file_join(&path, folder.data, list.name[i]);
                if (!lstat(path.data, &st) && time(NULL) - st.st_mtime > ABANDONED_SECONDS)
                    unlink(path.data);
                str_release(&path);
            }
        file_list_release(&list);
        str_release(&folder);
    }
}
