/* From parts to a data file (contract: fetch.h). A part that is being fetched is locked by flock on its own
 * .incomplete file; nothing but whole parts with the right hash ever gets the final name. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "evalcore/fetch/download.h"

/* Opens and locks a part. Between open and lock another process may have finished and removed it. */
static int open_part(const char *path, struct err *e)
{
    struct stat ours, there;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return err_set(e, ERR_IO, "cannot write %s: %s; choose another folder with --data", path,
                       strerror(errno));
    if (!flock(fd, LOCK_EX | LOCK_NB) && !fstat(fd, &ours) && !stat(path, &there) &&
        ours.st_ino == there.st_ino && ours.st_dev == there.st_dev)
        return fd;
    close(fd);
    return err_set(e, ERR_BUSY, "%s: another process is fetching it; repeat the command when it is done",
                   path);
}

/* Adds the part's bytes to *whole when they have the hash. Others are thrown away, or they would stay. */
static int check_part(const char *path, const char *url, const char *sha256, struct str *whole, struct err *e)
{
    char hex[65];
    size_t before = whole->len;
    int rc = file_read(path, whole, e);
    if (rc)
        return rc;
    sha256_hex(whole->data + before, whole->len - before, hex, 64);
    if (!strcmp(hex, sha256))
        return 0;
    unlink(path);
    return err_set(e, ERR_FORMAT,
                   "%s: what arrived is not the file that kveval knows (%zu bytes with SHA-256 %s, %s is "
                   "expected); nothing was kept. Is a mirror or a login page in between?",
                   url, whole->len - before, hex, sha256);
}

static int get_part(int *fd, const char *path, const struct fetch_source *s, int i,
                    const struct fetch_options *o, struct str *whole, int *signal, struct err *e)
{
    struct str url = {0};
    if (s->repo)
        str_printf(&url, "%s/datasets/%s/resolve/%s/%s", o->endpoint, s->repo, s->revision, s->part[i]);
    else
        str_puts(&url, s->part[i]);
    *fd = open_part(path, e);
    int rc = *fd < 0 ? *fd : 0;
    if (!rc)
        rc = download_to(*fd, path, url.data, s->repo ? o->token : NULL, o, signal, e);
    if (rc == ERR_USAGE && s->is_gated)
        err_add(e,
                "%s is gated: agree to its terms on %s/datasets/%s and give your token in HF_TOKEN or with "
                "`hf auth login`",
                s->task, o->endpoint, s->repo);
    if (!rc && !*signal)
        rc = check_part(path, url.data, s->sha256[i], whole, e);
    /* A line end at the end of each part but the last: lines of two parts must not become one. */
    if (!rc && i + 1 < FETCH_PARTS_MAX && s->part[i + 1] && whole->len && whole->data[whole->len - 1] != '\n')
        str_putc(whole, '\n');
    str_release(&url);
    return rc;
}

int fetch_source_get(const struct fetch_source *s, const char *data, const struct fetch_options *o,
                     int *signal, struct err *e)
{
    struct str file = {0}, folder = {0}, whole = {0}, part[FETCH_PARTS_MAX] = {0};
    int fd[FETCH_PARTS_MAX], n = 0;
    *signal = 0;
    file_join(&file, data, s->file);
    str_add(&folder, file.data, (size_t)(strrchr(file.data, '/') - file.data));
    int rc = file_mkdirs(folder.data, e);
    while (!rc && !*signal && n < FETCH_PARTS_MAX && s->part[n]) {
        str_printf(&part[n], "%s.%d.incomplete", file.data, n + 1);
        rc = get_part(&fd[n], part[n].data, s, n, o, &whole, signal, e);
        n++;
    }
    int is_done = !rc && !*signal;
    if (is_done)
        rc = file_write_atomic(file.data, whole.data, whole.len, e);
    for (int i = 0; i < n; i++) {
        if (is_done && !rc)
            unlink(part[i].data);
        if (fd[i] >= 0)
            close(fd[i]);
        str_release(&part[i]);
    }
    str_release(&file);
    str_release(&folder);
    str_release(&whole);
    return rc;
}
