/* A model by its id into the Hub's cache (contract: fetch.h). The weights are those that our own reader
 * takes: model.safetensors, or the shards that model.safetensors.index.json names. Copies in other forms,
 * which many repositories hold beside them (.bin, .pth, GGUF, ONNX, consolidated.*), are left where they are.
 */
#include <string.h>
#include <sys/statvfs.h>

#include "evalcore/base/file.h"
#include "evalcore/base/json.h"
#include "evalcore/fetch/fetch_parts.h"

static const char weights[] = "model.safetensors", index_name[] = "model.safetensors.index.json";

/* In the order in which they are fetched: a repository that lacks what is needed says so before its weights
 * are fetched. The index is fetched first, because it names the weights. */
static const char *const small_files[] = {index_name,
                                          "config.json",
                                          "generation_config.json",
                                          "tokenizer.json",
                                          "tokenizer_config.json",
                                          "special_tokens_map.json",
                                          "added_tokens.json",
                                          "chat_template.jinja",
                                          "chat_template.json",
                                          "LICENSE",
                                          "LICENSE.md",
                                          "LICENSE.txt"};
enum { N_SMALL = sizeof small_files / sizeof *small_files };

struct fetching {
    const struct hub_id *id;
    const struct fetch_options *o;
    struct hub_cache cache;
    struct hub_list list;
    const struct hub_file **files; /* small ones, then the weights */
    size_t n, cap;
};

static void add_file(struct fetching *x, const struct hub_file *f)
{
    for (size_t i = 0; i < x->n; i++)
        if (x->files[i] == f)
            return;
    xgrow(&x->files, &x->cap, x->n + 1, sizeof *x->files);
    x->files[x->n++] = f;
}

/* Shards, each once; the index maps tensors to them. */
static int add_shards(struct fetching *x, const struct hub_file *index, struct err *e)
{
    struct str path = {0};
    json_t *root = NULL;
    hub_cache_blob_path(&path, &x->cache, index);
    int rc = file_plain(path.data, e) ? ERR_IO : json_read_file(&root, path.data, e);
    json_t *map = json_object_get(root, "weight_map"), *shard;
    const char *tensor;
    if (!rc && !json_object_size(map))
        rc = err_set(e, ERR_FORMAT, "%s of %s has no \"weight_map\"", index_name, x->id->name);
    json_object_foreach(map, tensor, shard)
    {
        const struct hub_file *f =
            json_is_string(shard) ? hub_list_find(&x->list, json_string_value(shard)) : NULL;
        if (f)
            add_file(x, f);
        else if (!rc)
            rc = err_set(e, ERR_FORMAT, "%s of %s names a file that the repository does not have", index_name,
                         x->id->name);
    }
    json_decref(root);
    str_release(&path);
    return rc;
}

static int is_there(const struct fetching *x, const struct hub_file *f)
{
    struct str path = {0};
    hub_cache_blob_path(&path, &x->cache, f);
    int yes = hub_is_whole(path.data, f, 0);
    str_release(&path);
    return yes;
}

static int check_space(const struct fetching *x, struct err *e)
{
    struct statvfs fs;
    double need = 0;
    for (size_t i = 0; i < x->n; i++)
        need += is_there(x, x->files[i]) ? 0 : (double)x->files[i]->size;
    if (statvfs(x->cache.repo, &fs))
        return 0; /* then writing will say what is wrong */
    double have = (double)fs.f_bavail * (double)fs.f_frsize;
    if (need <= have)
        return 0;
    return err_set(
        e, ERR_IO,
        "%s needs %.1f GB and %s has %.1f GB left; free some space there, or choose another folder "
        "with HF_HUB_CACHE",
        x->id->name, need / 1e9, x->cache.root, have / 1e9);
}

static int get_files(struct fetching *x, size_t from, int *signal, struct err *e)
{
    int rc = 0;
    for (size_t i = from; i < x->n && !rc && !*signal; i++)
        rc = hub_cache_blob(&x->cache, x->files[i], x->o, signal, e);
    return rc;
}

/* config.json by whose presence a snapshot counts as there comes last, then the revision's name. */
static int publish_revision(const struct fetching *x, struct err *e)
{
    const struct hub_file *config = hub_list_find(&x->list, "config.json");
    int rc = 0;
    for (size_t i = 0; i < x->n && !rc; i++)
        if (x->files[i] != config)
            rc = hub_cache_link(&x->cache, x->files[i], x->list.commit, x->o, e);
    if (!rc)
        rc = hub_cache_link(&x->cache, config, x->list.commit, x->o, e);
    if (!rc && strcmp(x->id->revision, x->list.commit))
        rc = hub_cache_set_ref(&x->cache, x->id->revision, x->list.commit, e);
    return rc;
}

static int get_listed(struct fetching *x, int *signal, struct err *e)
{
    const struct hub_file *one = hub_list_find(&x->list, weights),
                          *index = hub_list_find(&x->list, index_name);
    if (hub_is_commit(x->id->revision) && strcmp(x->id->revision, x->list.commit))
        return err_set(e, ERR_FORMAT, "%s: the server lists commit %s where %s was asked for", x->id->name,
                       x->list.commit, x->id->revision);
    if (!hub_list_find(&x->list, "config.json"))
        return err_set(e, ERR_FORMAT, "%s has no config.json: it is no model of Transformers' form",
                       x->id->name);
    if (!one && !index)
        return err_set(e, ERR_FORMAT,
                       "%s has no weights in safetensors form; name a converted copy, or a revision that has "
                       "them with %s@REVISION",
                       x->id->name, x->id->name);
    if (!hub_list_find(&x->list, "tokenizer.json"))
        return err_set(
            e, ERR_FORMAT,
            "%s has no tokenizer.json, and no other form of a tokenizer is read; name a converted copy",
            x->id->name);
    for (int i = one ? 1 : 0; i < N_SMALL; i++) {
        const struct hub_file *f = hub_list_find(&x->list, small_files[i]);
        if (f)
            add_file(x, f);
    }
    size_t n_small = x->n;
    int rc = get_files(x, 0, signal, e);
    if (rc || *signal)
        return rc;
    if (one)
        add_file(x, one);
    else
        rc = add_shards(x, index, e);
    if (!rc)
        rc = check_space(x, e);
    if (!rc)
        rc = get_files(x, n_small, signal, e);
    return rc || *signal ? rc : publish_revision(x, e);
}

int fetch_model_get(const struct hub_id *id, const struct fetch_options *o, struct str *note, int *signal,
                    struct err *e)
{
    struct fetching x = {.id = id, .o = o, .cache = {.root = o->cache, .repo = id->folder}};
    *signal = 0;
    int rc = hub_list_get(&x.list, "models", id->name, id->revision, o, signal, e);
    if (!rc && !*signal) {
        x.cache.url = arena_printf(&x.list.arena, "%s/%s/resolve/%s", o->endpoint, id->name, x.list.commit);
        rc = get_listed(&x, signal, e);
        hub_add_advice(rc, id->name, o, e);
    }
    if (!rc && !*signal)
        str_printf(note, "commit %s, %zu files, %d of them fetched now (%.1f MB)", x.list.commit, x.n,
                   x.cache.n_fetched, (double)x.cache.fetched / 1e6);
    free(x.files);
    hub_list_release(&x.list);
    return rc;
}
