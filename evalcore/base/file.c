/* Whole files and folders (contract: file.h). The tricky part is durability: a file is safe under its name
 * only after its bytes, then the rename, then the folder have been synced, in that order. */
#include "evalcore/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "evalcore/base/arena.h"

int file_error_code(int cause)
{
    static const int disk[] = {ENOSPC, EDQUOT, EFBIG, EIO, ESTALE, EINTR};
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
    return err_set(e, file_error_code(cause), "cannot read %s: %s", path, strerror(cause));
}

int file_read_most(const char *path, size_t most, struct str *out, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return read_error(e, path, errno);
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
    int fd = open(path, O_RDONLY | O_CLOEXEC);
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
            rc = err_set(e, ERR_IO, "cannot map %s (%lld bytes): %s", path, (long long)st.st_size,
                         strerror(errno));
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

static int write_all(int fd, const char *p, size_t n)
{
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
        err_set(e, rc, "cannot write the folder %s to disk: %s", dir.data, strerror(cause));
    str_release(&dir);
    return rc;
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

/* PATH.HOST.PID.tmp, so that processes do not write into each other's temporary files, even on machines
 * that share the folder. A process that is killed leaves its file behind. */
void file_temporary(struct str *out, const char *path)
{
    char host[HOST_NAME_MAX + 2] = "";
    file_host_name(host, sizeof host);
    str_printf(out, "%s.%s.%ld.tmp", path, host, (long)getpid());
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
    size_t digits = at ? strspn(at + ours.len, "0123456789") : 0;
    long pid = digits && digits < 10 ? strtol(at + ours.len, NULL, 10) : 0;
    int is_ours = pid > 0 && !strcmp(at + ours.len + digits, ".tmp");
    str_release(&ours);
    return *host && is_ours && kill((pid_t)pid, 0) && errno == ESRCH;
}

static int replace_file(const char *path, const void *data, size_t n, int sync, struct err *e)
{
    struct str tmp = {0};
    int rc = 0;
    file_temporary(&tmp, path);
    int fd = open(tmp.data, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        rc = write_error(e, path, n, errno);
        goto out;
    }
    int failed = write_all(fd, data, n) < 0 || (sync && file_sync(fd) < 0), cause = errno;
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
    return replace_file(path, data, n, 1, e);
}

int file_replace(const char *path, const void *data, size_t n, struct err *e)
{
    return replace_file(path, data, n, 0, e);
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
                             strerror(errno));
        }
        *p = kept;
        if (!kept || rc)
            break;
    }
    free(part);
    return rc;
}

static int remove_error(struct err *e, const char *path, const char *inside)
{
    return err_set(e, ERR_IO, "cannot remove %s%s%s: %s", path, *inside ? "/" : "", inside, strerror(errno));
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
    else if (access(dir.data, W_OK | X_OK))
        rc = err_set(e, ERR_USAGE, "%s %s: cannot be written: %s", option, path, strerror(errno));
    str_release(&dir);
    return rc;
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
