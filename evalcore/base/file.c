/* Reading whole files, and folders (contract: file.h). */
#include "evalcore/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "evalcore/base/arena.h"

enum { WRITER_MS = 2000 }; /* for whoever starts at the same time to write to a FIFO */

int file_error_code(int cause)
{
    static const int disk[] = {ENOSPC, EDQUOT, EFBIG, EIO, ESTALE, EINTR, EMFILE, ENFILE};
    for (size_t i = 0; i < sizeof disk / sizeof *disk; i++)
        if (cause == disk[i])
            return ERR_DISK;
    return ERR_IO;
}

static int not_plain(struct err *e, const char *path)
{
    return err_set(e, ERR_IO, "cannot read %s: it is not a regular file", path);
}

int file_plain(const char *path, struct err *e)
{
    struct stat st;
    return stat(path, &st) || S_ISREG(st.st_mode) ? 0 : not_plain(e, path);
}

static int read_error(struct err *e, const char *path, int cause)
{
    return err_set(e, file_error_code(cause), "cannot read %s: %s", path, err_reason(cause));
}

/* Is there something in the FIFO, or somebody who has it open to write? tee() tells the two apart from
 * neither and takes nothing out; it answers 0 when nobody writes. */
static int has_writer(int fifo)
{
    int copy[2];
    if (pipe2(copy, O_CLOEXEC))
        return 1; /* the next call says what is the matter */
    ssize_t n = tee(fifo, copy[1], 1, SPLICE_F_NONBLOCK);
    close(copy[0]);
    close(copy[1]);
    return n != 0;
}

/* A pipe without a name, as of `<(...)`, has had its writer, who may have ended. */
static int is_abandoned_fifo(int fd)
{
    struct stat st;
    struct statfs fs;
    if (fstat(fd, &st) || !S_ISFIFO(st.st_mode) || fstatfs(fd, &fs) || fs.f_type == PIPEFS_MAGIC ||
        has_writer(fd))
        return 0;
    poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, WRITER_MS); /* woken by the first bytes */
    return !has_writer(fd);
}

int file_open_input(const char *path, struct err *e)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return read_error(e, path, errno);
    if (!is_abandoned_fifo(fd) && fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) >= 0)
        return fd;
    close(fd);
    return err_set(e, ERR_IO, "cannot read %s: it is a FIFO and nobody writes to it", path);
}

int file_read_most(const char *path, size_t most, struct str *out, struct err *e)
{
    int fd = file_open_input(path, e);
    if (fd < 0)
        return fd;
    char *chunk = xmalloc(1 << 16);
    size_t total = 0;
    ssize_t n = 0;
    str_add(out, "", 0);
    while (total <= most && (n = read(fd, chunk, 1 << 16)) != 0) {
        if (n > 0) {
            str_add(out, chunk, (size_t)n);
            total += (size_t)n;
        } else if (errno != EINTR) {
            break;
        }
    }
    int cause = errno;
    free(chunk);
    close(fd);
    if (total > most)
        return err_set(e, ERR_FORMAT, "%s: is longer than %zu bytes, the most that are read of such a file",
                       path, most);
    return n < 0 ? read_error(e, path, cause) : 0;
}

int file_read(const char *path, struct str *out, struct err *e)
{
    return file_read_most(path, SIZE_MAX, out, e);
}

int file_map_open(struct file_map *m, const char *path, struct err *e)
{
    struct stat st;
    *m = (struct file_map){0};
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a FIFO is refused below, not waited for */
    if (fd < 0)
        return read_error(e, path, errno);
    int rc = 0;
    if (fstat(fd, &st) < 0) {
        rc = read_error(e, path, errno);
    } else if (!S_ISREG(st.st_mode)) {
        rc = not_plain(e, path);
    } else if (st.st_size > 0) {
        void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p == MAP_FAILED)
            rc = err_set(e, file_error_code(errno), "cannot map %s (%lld bytes): %s", path,
                         (long long)st.st_size, err_reason(errno));
        else
            *m = (struct file_map){p, (size_t)st.st_size};
    }
    close(fd);
    return rc;
}

void file_map_close(struct file_map *m)
{
    if (m->data)
        munmap((void *)(uintptr_t)m->data, m->size);
    *m = (struct file_map){0};
}

int file_sync(int fd)
{
    int rc;
    do
        rc = fsync(fd);
    while (rc < 0 && errno == EINTR);
    return rc;
}

/* Two failures are accepted because nothing better can be done: file systems that cannot sync a folder
 * answer EINVAL, and a folder that may be entered but not listed cannot be opened. */
int file_sync_folder_of(const char *path, struct err *e)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    while (n && path[n - 1] != '/')
        n--;
    struct str dir = {0};
    if (n)
        str_add(&dir, path, n);
    else
        str_puts(&dir, ".");
    int fd = open(dir.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int failed = fd < 0 ? errno != EACCES : file_sync(fd) < 0 && errno != EINVAL, cause = errno;
    if (fd >= 0)
        close(fd);
    int rc = failed ? file_error_code(cause) : 0;
    if (failed)
        err_set(e, rc, "cannot write the folder %s to disk: %s", dir.data, err_reason(cause));
    str_release(&dir);
    return rc;
}

int file_mkdirs(const char *path, struct err *e)
{
    char *part = xstrdup(path);
    int rc = 0;
    for (char *p = part + (*part == '/');; p++) {
        if (*p && *p != '/')
            continue;
        char kept = *p;
        *p = 0;
        int made = *part && mkdir(part, 0777) == 0;
        if (made)
            rc = file_sync_folder_of(part, e);
        else if (*part && !file_is_dir(part)) {
            if (errno == EEXIST)
                rc = err_set(e, ERR_IO, "cannot create the folder %s: %s exists and is not a folder", path,
                             part);
            else if (errno == ENOSPC)
                rc = err_set(e, ERR_DISK, "cannot create the folder %s: the disk is full", path);
            else
                rc = err_set(e, file_error_code(errno), "cannot create the folder %s: %s", path,
                             err_reason(errno));
        }
        *p = kept;
        if (!kept || rc)
            break;
    }
    free(part);
    return rc;
}

int file_mkdir_own(const char *path, struct err *e)
{
    struct stat st;
    if (!lstat(path, &st) && S_ISLNK(st.st_mode))
        return err_set(e, ERR_IO, "%s is a link, and what is written there would lie elsewhere; remove it",
                       path);
    return file_mkdirs(path, e);
}

static int remove_error(struct err *e, const char *path, const char *inside)
{
    return err_set(e, file_error_code(errno), "cannot remove %s%s%s: %s", path, *inside ? "/" : "", inside,
                   err_reason(errno));
}

/* Removes `name` in the folder `at`. A link is removed, never followed. */
static int remove_at(int at, const char *name, const char *top, struct err *e)
{
    if (unlinkat(at, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR)
        return remove_error(e, top, name);
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        int rc = remove_error(e, top, name);
        if (fd >= 0)
            close(fd);
        return rc;
    }
    int rc = 0;
    for (struct dirent *entry; rc == 0 && (entry = readdir(d));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            rc = remove_at(dirfd(d), entry->d_name, top, e);
    closedir(d);
    if (rc == 0 && unlinkat(at, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
        rc = remove_error(e, top, name);
    return rc;
}

int file_remove_tree(const char *path, struct err *e)
{
    char *bare = xstrdup(path);
    for (size_t n = strlen(bare); n > 1 && bare[n - 1] == '/'; n--)
        bare[n - 1] = 0;
    int rc = remove_at(AT_FDCWD, bare, "", e);
    free(bare);
    return rc;
}

int file_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

int file_is_dir(const char *path)
{
    struct stat st;
    int kept = errno; /* callers ask in the middle of handling an error */
    int yes = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    errno = kept;
    return yes;
}

int file_check_entered(const char *dir, struct err *e)
{
    return access(dir, X_OK) && errno == EACCES
               ? err_set(e, ERR_IO, "the folder %s may not be read: check its permissions", dir)
               : 0;
}

void file_join(struct str *out, const char *dir, const char *name)
{
    if (*name != '/' && *dir) {
        str_puts(out, dir);
        if (dir[strlen(dir) - 1] != '/')
            str_putc(out, '/');
    }
    str_puts(out, name);
}
