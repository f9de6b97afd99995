/* What can be fetched and what is there (contract: fetch_list.h). */
#include "evalcore/commands/fetch_list.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "evalcore/base/file.h"
#include "evalcore/cli/hub_model.h"
#include "evalcore/fetch/fetch.h"

static const char *const state_words[] = {
    [FETCH_MISSING] = "MISSING", [FETCH_THERE] = "there", [FETCH_OTHER] = "other"};

void fetch_list_tasks(struct str *out, const char *data)
{
    const struct fetch_source *s;
    str_printf(out, "%-12s  %-7s  %-24s  %-8s  %-12s  %s\n", "task", "data", "source", "revision", "sha256",
               "licence");
    for (size_t i = 0; (s = fetch_source_at(i)); i++) {
        const char *hash = s->form == FETCH_ROWS ? "of answers" : s->form == FETCH_ZIP ? "by the Hub" : NULL;
        for (int k = 0; k < FETCH_PARTS_MAX && (k == 0 || s->part[k]); k++)
            str_printf(out, "%-12s  %-7s  %-24s  %-8.8s  %-12.12s  %s%s\n", k ? "" : s->task,
                       k      ? ""
                       : data ? state_words[fetch_source_look(s, data)]
                              : "-",
                       k         ? ""
                       : s->repo ? s->repo
                                 : "openai/grade-school-math",
                       k ? "" : s->revision, hash ? hash : s->sha256[k], k ? "" : s->licence,
                       !k && s->is_gated ? ", gated" : "");
    }
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

void fetch_list_models(struct str *out, const char *cache)
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
