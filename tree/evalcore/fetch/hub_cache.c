/* The Hub's cache (contract: fetch_parts.h), as huggingface_hub's guide "Understand caching" describes it.
 * The library locks by flock on the same files, so that it and we never write one blob at once; a blob that
 * was broken off is HASH.incomplete in both. */
#include "evalcore/fetch/fetch_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"

void hub_cache_blob_path(struct str *out, const struct hub_cache *c, const struct hub_file *f)
{
    str_printf(out, "%s/blobs/%s", c->repo, f->hash);
}

static int claim_lock(const struct hub_cache *c, const struct hub_file *f, struct err *e)
{
    struct str path = {0};
    str_printf(&path, "%s/.locks/%s/%s.lock", c->root, strrchr(c->repo, '/') + 1, f->hash);
    int rc = fetch_make_folder_of(path.data, e), fd = -1;
    if (!rc)
        rc = fd = file_open_own(path.data, 0, e);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
        close(fd);
        rc = err_set(e, ERR_BUSY, "%s: another process is fetching it; repeat the command when it is done",
                     f->name);
    }
    str_release(&path);
    return rc;
}

/* The name under which the Hub knows a file's content: SHA-256 for large files (LFS), git's name of the blob
 * for the others. */
static int hub_hash(char hex[65], const char *path, int is_lfs, struct err *e)
{
    struct file_map map = {0};
    int rc = file_map_open(&map, path, e);
    if (rc)
        return rc;
    if (is_lfs)
        sha256_hex(map.data, map.size, hex, 64);
    else
        git_blob_hex(map.data, map.size, hex);
    file_map_close(&map);
    return 0;
}

int hub_is_whole(const char *path, const struct hub_file *f, int by_hash)
{
    char hex[65];
    struct stat st;
    if (stat(path, &st) || !S_ISREG(st.st_mode) || st.st_size != f->size)
        return 0;
    return !by_hash || (!hub_hash(hex, path, f->is_lfs, NULL) && !strcmp(hex, f->hash));
}

/* Gives the open file its name when it holds what the Hub says; otherwise it is thrown away, or it would
 * stay. */
static int accept_blob(int fd, const char *part, const char *blob, const struct hub_file *f, const char *url,
                       struct err *e)
{
    char hex[65];
    int rc = hub_hash(hex, part, f->is_lfs, e);
    if (rc)
        return rc;
    if (strcmp(hex, f->hash)) {
        unlink(part);
        return err_set(
            e, ERR_FORMAT,
            "%s: what arrived is not the file that the Hub lists (its hash is %s, %s is expected); "
            "nothing was kept. Is a mirror or a login page in between?",
            url, hex, f->hash);
    }
    if (fsync(fd) || rename(part, blob))
        return err_set(e, ERR_IO, "cannot write %s: %s", blob, err_reason(errno));
    return file_sync_folder_of(blob, e);
}

static int fill_blob(struct hub_cache *c, const struct hub_file *f, const char *blob,
                     const struct fetch_options *o, int *signal, struct err *e)
{
    struct str part = {0}, url = {0};
    struct stat st;
    str_printf(&part, "%s.incomplete", blob);
    str_printf(&url, "%s/%s", c->url, f->name);
    int rc = fetch_make_folder_of(part.data, e), fd = -1;
    if (!rc && (fd = file_open_own(part.data, 0, e)) < 0)
        rc = fd;
    if (!rc && (fstat(fd, &st) || (st.st_size > f->size && (ftruncate(fd, 0) || fstat(fd, &st)))))
        rc = err_set(e, ERR_IO, "cannot write %s: %s", part.data, err_reason(errno));
    if (!rc && st.st_size < f->size) {
        const struct download d = {.url = url.data,
                                   .token = o->token,
                                   .name = f->name,
                                   .fd = fd,
                                   .path = part.data,
                                   .size = f->size,
                                   .max_bytes = f->size};
        rc = download(&d, o, signal, e);
        c->fetched += rc || *signal ? 0 : f->size - st.st_size;
    }
    if (!rc && !*signal)
        rc = accept_blob(fd, part.data, blob, f, url.data, e);
    c->n_fetched += !rc && !*signal;
    if (fd >= 0)
        close(fd);
    str_release(&part);
    str_release(&url);
    return rc;
}

int hub_cache_blob(struct hub_cache *c, const struct hub_file *f, const struct fetch_options *o, int *signal,
                   struct err *e)
{
    struct str blob = {0};
    int rc = 0;
    hub_cache_blob_path(&blob, c, f);
    if (!hub_is_whole(blob.data, f, o->verifies)) {
        int lock = claim_lock(c, f, e);
        rc = lock < 0 ? lock : 0;
        if (!rc &&
            !hub_is_whole(blob.data, f,
                          o->verifies)) /* another process may have finished it before we had the lock */
            rc = fill_blob(c, f, blob.data, o, signal, e);
        if (lock >= 0)
            close(lock);
    }
    str_release(&blob);
    return rc;
}

int hub_cache_link(const struct hub_cache *c, const struct hub_file *f, const char *commit,
                   const struct fetch_options *o, struct err *e)
{
    struct str link = {0}, target = {0};
    str_printf(&link, "%s/snapshots/%s/%s", c->repo, commit, f->name);
    str_printf(&target, "../../blobs/%s", f->hash);
    int rc = fetch_make_folder_of(link.data, e);
    struct stat st; /* a copy instead of a link has not been hashed with the blobs */
    int is_copy = !rc && !lstat(link.data, &st) && S_ISREG(st.st_mode);
    if (!rc && !hub_is_whole(link.data, f, o->verifies && is_copy)) {
        unlink(link.data); /* one that leads nowhere, or a torn copy */
        if (symlink(target.data, link.data) && errno != EEXIST)
            rc = err_set(e, ERR_IO, "cannot make the link %s: %s", link.data, err_reason(errno));
    }
    str_release(&link);
    str_release(&target);
    return rc;
}

int hub_cache_set_ref(const struct hub_cache *c, const char *revision, const char *commit, struct err *e)
{
    struct str path = {0};
    str_printf(&path, "%s/refs/%s", c->repo, revision);
    int rc = fetch_make_folder_of(path.data, e);
    if (!rc)
        rc = file_write_atomic(path.data, commit, strlen(commit), e);
    str_release(&path);
    return rc;
}
