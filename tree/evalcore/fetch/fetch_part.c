/* One file on its way into a data file (contract: fetch_parts.h). */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "evalcore/fetch/fetch_parts.h"

int fetch_make_folder_of(const char *path, struct err *e)
{
    struct str folder = {0};
    str_add(&folder, path, (size_t)(strrchr(path, '/') - path));
    int rc = file_mkdirs(folder.data, e);
    str_release(&folder);
    return rc;
}

const char *fetch_cached(const struct fetch_source *s, const char *commit, const char *file,
                         const struct fetch_options *o, struct arena *a)
{
    const char *slash = strchr(s->repo, '/');
    if (!o->cache)
        return NULL;
    return arena_printf(a, "%s/datasets--%.*s--%s/snapshots/%s/%s", o->cache, (int)(slash - s->repo), s->repo,
                        slash + 1, commit, file);
}

/* Opens and locks a part. Between open and lock another process may have finished and removed it. */
static int open_part(const char *path, struct err *e)
{
    struct stat ours, there;
    int fd = file_open_own(path, 0, e);
    if (fd < 0)
        return fd;
    if (!flock(fd, LOCK_EX | LOCK_NB) && !fstat(fd, &ours) && !stat(path, &there) &&
        ours.st_ino == there.st_ino && ours.st_dev == there.st_dev)
        return fd;
    close(fd);
    return err_set(e, ERR_BUSY, "%s: another process is fetching it; repeat the command when it is done",
                   path);
}

static int has_hash(const struct str *whole, size_t before, const char *sha256, char hex[65])
{
    sha256_hex(whole->data + before, whole->len - before, hex, 64);
    return !sha256 || !strcmp(hex, sha256);
}

/* 1: the Hub's cache has it, and its bytes are in *whole. */
static int read_cached(const struct fetch_part *p, struct str *whole)
{
    char hex[65];
    size_t before = whole->len;
    if (!p->cached || !file_exists(p->cached) || file_plain(p->cached, NULL) ||
        file_read(p->cached, whole, NULL))
        return 0;
    if (has_hash(whole, before, p->sha256, hex))
        return 1;
    whole->len = before;
    return 0;
}

/* Wrong bytes are thrown away, or they would stay. */
static int check_part(const struct fetch_part *p, struct str *whole, struct err *e)
{
    char hex[65];
    size_t before = whole->len;
    int rc = file_read(p->path, whole, e);
    if (rc || has_hash(whole, before, p->sha256, hex))
        return rc;
    unlink(p->path);
    return err_set(e, ERR_FORMAT,
                   "%s: what arrived is not the file that is expected (%zu bytes with SHA-256 %s instead of "
                   "%s); nothing was kept. Is a mirror or a login page in between?",
                   p->url, whole->len - before, hex, p->sha256);
}

int fetch_part_get(struct fetch_part *p, const struct fetch_options *o, struct str *whole, int *signal,
                   struct err *e)
{
    p->fd = -1;
    if (read_cached(p, whole))
        return 0;
    if (o->is_offline)
        return err_set(e, ERR_USAGE, "%s is not in the Hub's cache and HF_HUB_OFFLINE forbids to fetch it",
                       p->name);
    p->fd = open_part(p->path, e);
    if (p->fd < 0)
        return p->fd;
    const struct download d = {.url = p->url,
                               .token = p->token,
                               .name = p->name,
                               .fd = p->fd,
                               .path = p->path,
                               .max_bytes = p->max_bytes};
    int rc = download(&d, o, signal, e);
    return rc || *signal ? rc : check_part(p, whole, e);
}

void fetch_part_close(struct fetch_part *p, int is_done)
{
    if (p->fd < 0)
        return;
    if (is_done)
        unlink(p->path);
    close(p->fd);
}
