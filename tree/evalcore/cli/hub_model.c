/* The layout of the Hub's cache (contract: hub_model.h): models--OWNER--NAME/refs/REVISION holds a commit,
 * and snapshots/COMMIT is the folder. huggingface_hub's guide "Understand caching" describes it. */
#include "evalcore/cli/hub_model.h"

#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/base/foreign_file.h"
#include "evalcore/base/log.h"

enum { COMMIT_DIGITS = 40 };

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";

int hub_is_id(const char *model)
{
    size_t owner = strspn(model, letters);
    if (!owner || model[0] == '.' || model[0] == '-' || model[owner] != '/')
        return 0;
    const char *name = model + owner + 1;
    size_t n = strspn(name, letters);
    if (!n || *name == '.' || (name[n] && name[n] != '@') || file_exists(model))
        return 0;
    const char *revision = name[n] ? name + n + 1 : "main";
    return *revision && *revision != '.' && strspn(revision, letters) == strlen(revision);
}

int hub_is_commit(const char *revision)
{
    return strlen(revision) == COMMIT_DIGITS && strspn(revision, "0123456789abcdef") == COMMIT_DIGITS;
}

/* The commit of a revision; a commit is its own. */
static const char *commit_of(const char *repo, const char *revision, struct arena *a)
{
    struct str text = {0};
    if (hub_is_commit(revision))
        return revision;
    const char *ref = arena_printf(a, "%s/refs/%s", repo, revision);
    if (!file_plain(ref, NULL) && !file_read(ref, &text, NULL))
        revision = arena_strdup(a, str_text(&text));
    str_release(&text);
    size_t n = strspn(revision, "0123456789abcdef");
    return n == COMMIT_DIGITS ? arena_strndup(a, revision, n) : NULL;
}

void hub_id_read(struct hub_id *id, const char *cache, const char *model, struct arena *a)
{
    const char *at = strchr(model, '@'), *slash = strchr(model, '/');
    id->name = at ? arena_strndup(a, model, (size_t)(at - model)) : arena_strdup(a, model);
    id->revision = at ? arena_strdup(a, at + 1) : "main";
    id->folder = arena_printf(a, "%s/models--%.*s--%s", cache, (int)(slash - model), model,
                              id->name + (slash - model) + 1);
}

/* The commits of all snapshots, as a list for people, and the first; returns how many there are. */
static size_t list_snapshots(const char *repo, struct str *names, const char **first, struct arena *a)
{
    struct file_list list = {0};
    size_t n = 0;
    if (!file_list(&list, arena_printf(a, "%s/snapshots", repo), "", NULL))
        for (size_t i = 0; i < list.n; i++)
            if (hub_is_commit(list.name[i])) {
                str_printf(names, "%s%s", n ? ", " : "", list.name[i]);
                if (!n++)
                    *first = arena_strdup(a, list.name[i]);
            }
    file_list_release(&list);
    return n;
}

/* The folder of a revision in a cached repository. Without refs/main, as copies of a cache have it, the only
 * snapshot counts, and it is said. `model` is what was given, `again` how its revisions are named. */
static int find_snapshot(const char **out, const char *repo, const char *revision, const char *model,
                         const char *again, struct arena *a, struct err *e)
{
    struct str names = {0}, why = {0};
    const char *first = NULL, *commit = commit_of(repo, revision, a);
    int has_ref = file_exists(arena_printf(a, "%s/refs/%s", repo, revision));
    size_t n = commit || has_ref ? 0 : list_snapshots(repo, &names, &first, a);
    int is_main = !strcmp(revision, "main"), rc = 0;
    if (!commit && n == 1 && is_main) {
        if (e) /* else somebody only looks */
            log_info("model %s: %s has no refs/main; its only snapshot %s is taken", model, repo, first);
        commit = first;
    }
    const char *folder = commit ? arena_printf(a, "%s/snapshots/%s", repo, commit) : NULL;
    if (folder)
        foreign_missing(&why, folder, "config.json");
    if (!commit && n)
        rc = err_set(
            e, ERR_USAGE,
            "model %s: %s has no refs/%s, and the snapshot%s %s; give one as %s, or get that revision with "
            "`kveval fetch %s`",
            model, repo, revision, n == 1 ? "" : "s", names.data, again,
            hub_is_id(model) ? model : "OWNER/NAME");
    else if (folder && why.len && !file_exists(arena_printf(a, "%s/config.json", folder)))
        rc = err_set(e, ERR_USAGE, "model %s: %s is not whole%s", model, folder, why.data);
    else if (folder && file_exists(arena_printf(a, "%s/config.json", folder)))
        *out = folder;
    str_release(&names);
    str_release(&why);
    return rc;
}

int hub_model(const char **out, const struct process_env *p, const char *model, struct arena *a,
              struct err *e)
{
    *out = model;
    /* The folder of a cached repository itself, as file managers show it. */
    if (!hub_is_id(model)) {
        if (!file_is_dir(arena_printf(a, "%s/snapshots", model)) ||
            file_exists(arena_printf(a, "%s/config.json", model)))
            return 0;
        return find_snapshot(out, model, "main", model, arena_printf(a, "%s/snapshots/COMMIT", model), a, e);
    }
    const char *cache = p->hub_cache ? p->hub_cache : "none, there is no home folder";
    struct hub_id id;
    hub_id_read(&id, cache, model, a);
    int rc = find_snapshot(out, id.folder, id.revision, model, arena_printf(a, "%s@COMMIT", id.name), a, e);
    if (rc || *out != model)
        return rc;
    return err_set(e, ERR_USAGE,
                   "model %s: there is no such folder, and no id OWNER/NAME of the Hub that is in its cache "
                   "(%s); correct the folder, or get the model with `kveval fetch %s`",
                   model, cache, model);
}
