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

const char *fetch_cached(const struct task_source *s, const char *commit, const char *file,
                         const struct fetch_options *o, struct arena *a)
{
    const char *slash = strchr(s->hub, '/');
    if (!o->cache)
        return NULL;
    return arena_printf(a, "%s/datasets--%.*s--%s/snapshots/%s/%s", o->cache, (int)(slash - s->hub), s->hub,
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

/* Offline: the commit that the cache took last. */
const char *fetch_cached_commit(const struct task_source *s, const struct fetch_options *o, struct arena *a)
{
    enum { COMMIT_DIGITS = 40 };
    struct str text = {0};
    const char *ref = fetch_cached(s, "..", "refs/main", o, a), *commit = NULL;
    if (ref && !file_plain(ref, NULL) && !file_read(ref, &text, NULL) &&
        strspn(str_text(&text), "0123456789abcdef") == COMMIT_DIGITS)
        commit = arena_strndup(a, text.data, COMMIT_DIGITS);
    str_release(&text);
    return commit;
}

static int has_hash(const struct file_map *m, const char *sha256, char hex[65])
{
    sha256_hex(m->data, m->size, hex, 64);
    return !sha256 || !strcmp(hex, sha256);
}

/* 1: the Hub's cache has it, and its bytes are mapped. */
static int map_cached(struct fetch_part *p)
{
    char hex[65];
    if (!p->cached || !file_exists(p->cached) || file_plain(p->cached, NULL) ||
        file_map_open(&p->map, p->cached, NULL))
        return 0;
    if (has_hash(&p->map, p->sha256, hex))
        return 1;
    file_map_close(&p->map);
    return 0;
}

/* 1: an earlier call brought all of it and ended before the file was made. */
static int is_whole(struct fetch_part *p)
{
    char hex[65];
    if (!p->sha256 || file_map_open(&p->map, p->path, NULL))
        return 0;
    if (has_hash(&p->map, p->sha256, hex))
        return 1;
    file_map_close(&p->map);
    return 0;
}

/* Wrong bytes are thrown away, or they would stay. */
static int check_part(struct fetch_part *p, struct err *e)
{
    char hex[65];
    int rc = file_map_open(&p->map, p->path, e);
    if (rc || has_hash(&p->map, p->sha256, hex))
        return rc;
    size_t size = p->map.size;
    file_map_close(&p->map);
    unlink(p->path);
    return err_set(e, ERR_FORMAT,
                   "%s: what arrived is not the file that is expected (%zu bytes with SHA-256 %s instead of "
                   "%s); nothing was kept. Is a mirror or a login page in between?",
                   p->url, size, hex, p->sha256);
}

int fetch_part_get(struct fetch_part *p, const struct fetch_options *o, int *signal, struct err *e)
{
    p->fd = -1;
    if (map_cached(p))
        return 0;
    if (o->is_offline)
        return err_set(e, ERR_USAGE, "%s is not in the Hub's cache and HF_HUB_OFFLINE forbids to fetch it",
                       p->name);
    p->fd = open_part(p->path, e);
    if (p->fd < 0)
        return p->fd;
    if (is_whole(p))
        return 0;
    const struct download d = {.url = p->url,
                               .token = p->token,
                               .name = p->name,
                               .fd = p->fd,
                               .path = p->path,
                               .max_bytes = p->max_bytes};
    int rc = download(&d, o, signal, e);
    return rc || *signal ? rc : check_part(p, e);
}

void fetch_part_close(struct fetch_part *p, int is_done)
{
    file_map_close(&p->map);
    if (p->fd < 0)
        return;
    if (is_done)
        unlink(p->path);
    close(p->fd);
}
