/* Writing files (contract: file.h), in the one place that opens files to write to. Two things are tricky.
 * What stands under a name may be somebody else's: a link to a file of theirs, a second name of it, a FIFO.
 * And durability: a file is safe under its name only after its bytes, then the rename, then the folder have
 * been synced, in that order. */
#include "evalcore/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "evalcore/base/arena.h"

enum { NAME_TRIES = 100, RANDOM_DIGITS = 16 };

int file_put(int fd, const void *data, size_t n)
{
    const char *p = data;
    while (n) {
        ssize_t done = write(fd, p, n);
        if (done < 0 && errno != EINTR)
            return -1;
        if (done > 0) {
            p += done;
            n -= (size_t)done;
        }
    }
    return 0;
}

static int write_error(struct err *e, const char *path, size_t n, int cause)
{
    if (cause == ENOSPC || cause == EDQUOT)
        return err_set(e, ERR_DISK,
                       "cannot write %s (%zu bytes): %s; free some space there or choose another folder",
                       path, n, cause == ENOSPC ? "the disk is full" : "the disk quota is used up");
    return err_set(e, file_error_code(cause), "cannot write %s (%zu bytes): %s", path, n, strerror(cause));
}

/* What keeps an open file from being one of ours; NULL: nothing. */
static const char *foreign_kind(int fd)
{
    struct stat st;
    if (fstat(fd, &st))
        return NULL; /* the next call says why */
    if (!S_ISREG(st.st_mode))
        return "it is not a regular file";
    /* 0: removed since it was opened, which is for the caller to see */
    return st.st_nlink > 1 ? "it is a file with another name elsewhere (a hard link)" : NULL;
}

static int refuse_foreign(struct err *e, const char *path, const char *why)
{
    return err_set(e, ERR_IO, "cannot write %s: %s; remove it, or choose another place", path, why);
}

int file_open_own(const char *path, int flags, struct err *e)
{
    /* O_NONBLOCK: a FIFO's other end is not waited for. Regular files do not know the flag. */
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags, 0666);
    if (fd < 0 && errno == ELOOP)
        return refuse_foreign(e, path, "it is a link");
    if (fd < 0 && errno == EISDIR)
        return refuse_foreign(e, path, "it is a folder");
    if (fd < 0)
        return err_set(e, file_error_code(errno), "cannot write %s: %s", path, err_reason(errno));
    const char *why = foreign_kind(fd);
    if (!why)
        return fd;
    close(fd);
    return refuse_foreign(e, path, why);
}

int file_open_new(const char *path, int flags)
{
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | flags, 0666); /* O_EXCL follows no link */
}

void file_host_name(char *out, size_t n)
{
    if (gethostname(out, n - 1))
        out[0] = 0;
    out[n - 1] = 0;
    for (char *c = out; *c; c++)
        if (*c == '/')
            *c = '_';
}

/* Another process, also one of another machine or container with the same number, draws another. */
static uint64_t random_number(void)
{
    uint64_t drawn;
    struct timespec now;
    if (getrandom(&drawn, sizeof drawn, GRND_NONBLOCK) == (ssize_t)sizeof drawn)
        return drawn;
    clock_gettime(CLOCK_REALTIME, &now); /* early at boot; O_EXCL tells of a name that is taken */
    return (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec << 8 ^ (uint64_t)getpid();
}

/* The host and the process tell whose file it is when a killed process has left it behind. */
int file_open_temporary(struct str *name, const char *path, struct err *e)
{
    char host[HOST_NAME_MAX + 2] = "";
    file_host_name(host, sizeof host);
    int fd = -1;
    for (int i = 0; i < NAME_TRIES && fd < 0 && (!i || errno == EEXIST); i++) {
        str_clear(name);
        str_printf(name, "%s.%s.%ld.%016llx.tmp", path, host, (long)getpid(),
                   (unsigned long long)random_number());
        fd = file_open_new(name->data, 0);
    }
    return fd < 0 ? err_set(e, file_error_code(errno), "cannot write %s: %s", path, err_reason(errno)) : fd;
}

int file_is_abandoned(const char *name)
{
    char host[HOST_NAME_MAX + 2] = "";
    struct str ours = {0};
    file_host_name(host, sizeof host);
    str_printf(&ours, ".%s.", host);
    const char *at = NULL, *next = name;
    while ((next = strstr(next + 1, str_text(&ours)))) /* not at the name's begin */
        at = next;
    const char *pid_text = at ? at + ours.len : name + strlen(name);
    size_t digits = strspn(pid_text, "0123456789");
    long pid = digits && digits < 10 ? strtol(pid_text, NULL, 10) : 0;
    const char *drawn = pid_text + digits;
    int is_ours = pid > 0 && *drawn == '.' && strspn(drawn + 1, "0123456789abcdef") == RANDOM_DIGITS &&
                  !strcmp(drawn + 1 + RANDOM_DIGITS, ".tmp");
    str_release(&ours);
    return *host && is_ours && kill((pid_t)pid, 0) && errno == ESRCH;
}

/* Is the path a link to where this process's own output goes, as /dev/stdout is, whatever that is? */
static int own_output(const char *path)
{
    struct stat there, link, ours;
    if (stat(path, &there) || lstat(path, &link) || (S_ISREG(there.st_mode) && !S_ISLNK(link.st_mode)))
        return -1;
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        if (!fstat(fd, &ours) && ours.st_dev == there.st_dev && ours.st_ino == there.st_ino)
            return fd;
    return -1;
}

/* Is there something to write to as it stands: a device, a FIFO, by way of a link too? */
static int is_stream(const char *path)
{
    struct stat st;
    return (!stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) || own_output(path) >= 0;
}

/* Why a file must not take the place of what stands there: as root it could be /dev/null. NULL: it may. A
 * FIFO leads nowhere by itself. */
static const char *why_kept(const char *path)
{
    struct stat st;
    if (lstat(path, &st))
        return NULL;
    if (S_ISDIR(st.st_mode))
        return "it is a folder";
    return is_stream(path) && !S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode) ? "it is not a regular file"
                                                                             : NULL;
}

static int put_pieces(int fd, const struct file_piece *piece, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (file_put(fd, piece[i].data, piece[i].size) < 0)
            return -1;
    return 0;
}

static int replace_file(const char *path, const struct file_piece *piece, size_t n_pieces, int sync,
                        struct err *e)
{
    struct str tmp = {0};
    const char *why = why_kept(path);
    size_t n = 0;
    for (size_t i = 0; i < n_pieces; i++)
        n += piece[i].size;
    if (why)
        return err_set(e, ERR_IO, "cannot write %s (%zu bytes): %s; remove it, or choose another place", path,
                       n, why);
    int rc = 0, fd = file_open_temporary(&tmp, path, e);
    if (fd < 0) {
        rc = fd;
        goto out;
    }
    int failed = put_pieces(fd, piece, n_pieces) < 0 || (sync && file_sync(fd) < 0), cause = errno;
    if (close(fd) < 0 && !failed) {
        failed = 1;
        cause = errno;
    }
    if (!failed && rename(tmp.data, path) < 0) {
        failed = 1;
        cause = errno;
    }
    if (failed) {
        unlink(tmp.data);
        rc = write_error(e, path, n, cause);
        goto out;
    }
    rc = sync ? file_sync_folder_of(path, e) : 0;
out:
    str_release(&tmp);
    return rc;
}

int file_write_atomic(const char *path, const void *data, size_t n, struct err *e)
{
    return replace_file(path, &(struct file_piece){data, n}, 1, 1, e);
}

int file_write_pieces(const char *path, const struct file_piece *piece, size_t n, struct err *e)
{
    return replace_file(path, piece, n, 1, e);
}

int file_replace(const char *path, const void *data, size_t n, struct err *e)
{
    return replace_file(path, &(struct file_piece){data, n}, 1, 0, e);
}

int file_open_output(const char *path, int flags, struct err *e)
{
    if (!is_stream(path))
        return file_open_own(path, flags, e);
    int ours = own_output(path), fd;
    if (ours >= 0)
        fd = fcntl(ours, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    else
        fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC); /* a FIFO without a reader: ENXIO */
    if (fd < 0)
        return err_set(e, file_error_code(errno), "cannot write %s: %s", path,
                       errno == ENXIO ? "nobody reads it" : err_reason(errno));
    if (ours < 0)
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    return fd;
}

int file_write_output(const char *path, const void *data, size_t n, struct err *e)
{
    if (!is_stream(path))
        return replace_file(path, &(struct file_piece){data, n}, 1, 1, e);
    int fd = file_open_output(path, 0, e);
    if (fd < 0)
        return fd;
    int rc = file_put(fd, data, n) < 0 ? write_error(e, path, n, errno) : 0;
    close(fd);
    return rc;
}

int file_check_target(const char *option, const char *path, struct err *e)
{
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) + 1 : 0;
    struct str dir = {0};
    if (n)
        str_add(&dir, path, n);
    else
        str_puts(&dir, ".");
    int rc = 0;
    if (!file_is_dir(dir.data))
        rc = err_set(e, ERR_USAGE, "%s %s: there is no folder %s", option, path, dir.data);
    else if (file_is_dir(path))
        rc = err_set(e, ERR_USAGE, "%s takes a file, and %s is a folder", option, path);
    else if (access(is_stream(path) ? path : dir.data, is_stream(path) ? W_OK : W_OK | X_OK))
        rc = err_set(e, ERR_USAGE, "%s %s: cannot be written: %s", option, path, strerror(errno));
    str_release(&dir);
    return rc;
}
