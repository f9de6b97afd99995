/* Reads /api/KIND/REPO/revision/REVISION?blobs=true (contract: fetch_parts.h): `sha` is the commit,
 * `siblings` the files with `rfilename`, `size`, `blobId` (git's hash) and, for large ones, `lfs.sha256`. */
#include "evalcore/fetch/fetch_parts.h"

#include <string.h>

#include "evalcore/base/json.h"

enum { LIST_BYTES_MAX = 32 << 20, COMMIT_DIGITS = 40 };

static int is_hex(const char *s, size_t digits)
{
    return s && strlen(s) == digits && strspn(s, "0123456789abcdef") == digits;
}

/* Names become names of files here. */
static int is_plain_name(const char *s)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
    return *s && *s != '.' && strlen(s) < 200 && strspn(s, letters) == strlen(s);
}

static int add_file(struct hub_list *l, const json_t *sibling, const char *url, struct err *e)
{
    struct hub_file f = {0};
    const char *name = NULL, *hash = NULL;
    const json_t *lfs = json_object_get(sibling, "lfs");
    int rc = json_get_str(sibling, "rfilename", &name, url, e);
    if (rc || !is_plain_name(name))
        return rc;
    f.is_lfs = json_is_object(lfs);
    rc = json_get_int(sibling, "size", &f.size, url, e);
    if (!rc)
        rc = json_get_str(f.is_lfs ? lfs : sibling, f.is_lfs ? "sha256" : "blobId", &hash, url, e);
    if (!rc && (f.size < 0 || !is_hex(hash, f.is_lfs ? 64 : 40)))
        rc = err_set(e, ERR_FORMAT, "%s: size or hash of %s cannot be right", url, name);
    if (rc)
        return rc;
    f.name = arena_strdup(&l->arena, name);
    f.hash = arena_strdup(&l->arena, hash);
    l->files[l->n++] = f;
    return 0;
}

static int read_list(struct hub_list *l, const json_t *root, const char *url, struct err *e)
{
    const char *commit = NULL;
    const json_t *siblings = json_object_get(root, "siblings");
    int rc = json_get_str(root, "sha", &commit, url, e);
    if (!rc && !is_hex(commit, COMMIT_DIGITS))
        rc = err_set(e, ERR_FORMAT, "%s: \"sha\" is no commit", url);
    if (!rc && !json_is_array(siblings))
        rc = err_set(e, ERR_FORMAT, "%s: \"siblings\" is no list of files", url);
    if (rc)
        return rc;
    memcpy(l->commit, commit, COMMIT_DIGITS + 1);
    size_t n = json_array_size(siblings);
    l->files = arena_alloc(&l->arena, (n + 1) * sizeof *l->files);
    for (size_t i = 0; i < n && !rc; i++)
        rc = add_file(l, json_array_get(siblings, i), url, e);
    return rc;
}

void hub_add_advice(int rc, const char *page, const struct fetch_options *o, struct err *e)
{
    if (rc != ERR_USAGE)
        return;
    if (o->token)
        err_add(e, "agree to its terms on %s/%s with the account of your token, or check the name",
                o->endpoint, page);
    else
        err_add(
            e,
            "agree to its terms on %s/%s and give your token in HF_TOKEN or with `hf auth login`, or check "
            "the name",
            o->endpoint, page);
}

int hub_list_get(struct hub_list *l, const char *kind, const char *repo, const char *revision,
                 const struct fetch_options *o, int *signal, struct err *e)
{
    struct str text = {0};
    json_t *root = NULL;
    *l = (struct hub_list){0};
    const char *url =
        arena_printf(&l->arena, "%s/api/%s/%s/revision/%s?blobs=true", o->endpoint, kind, repo, revision);
    const struct download d = {
        .url = url, .token = o->token, .name = repo, .text = &text, .max_bytes = LIST_BYTES_MAX};
    int rc = download(&d, o, signal, e);
    hub_add_advice(rc, arena_printf(&l->arena, "%s%s", *kind == 'd' ? "datasets/" : "", repo), o, e);
    if (!rc && !*signal)
        rc = json_read_text(&root, str_text(&text), text.len, url, e);
    if (!rc && !*signal)
        rc = read_list(l, root, url, e);
    json_decref(root);
    str_release(&text);
    return rc;
}

void hub_list_release(struct hub_list *l)
{
    arena_release(&l->arena);
    *l = (struct hub_list){0};
}

const struct hub_file *hub_list_find(const struct hub_list *l, const char *name)
{
    for (size_t i = 0; i < l->n; i++)
        if (!strcmp(l->files[i].name, name))
            return &l->files[i];
    return NULL;
}
