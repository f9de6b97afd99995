/* The layout of the Hub's cache (contract: hub_model.h): models--OWNER--NAME/refs/REVISION holds a commit,
 * and snapshots/COMMIT is the folder. huggingface_hub's guide "Understand caching" describes it. */
#include "evalcore/cli/hub_model.h"

#include <string.h>

#include "evalcore/base/file.h"

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

int hub_model(const char **out, const struct process_env *p, const char *model, struct arena *a,
              struct err *e)
{
    *out = model;
    if (!hub_is_id(model))
        return 0;
    const char *cache = p->hub_cache ? p->hub_cache : "none, there is no home folder";
    struct hub_id id;
    hub_id_read(&id, cache, model, a);
    const char *commit = commit_of(id.folder, id.revision, a);
    const char *folder = commit ? arena_printf(a, "%s/snapshots/%s", id.folder, commit) : NULL;
    if (!folder || !file_exists(arena_printf(a, "%s/config.json", folder)))
        return err_set(
            e, ERR_USAGE,
            "model %s: there is no such folder, and no id OWNER/NAME of the Hub that is in its cache "
            "(%s); correct the folder, or get the model with `kveval fetch %s`",
            model, cache, model);
    *out = folder;
    return 0;
}
