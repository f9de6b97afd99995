/* The lock on a run folder (contract: runlock.h). The holder opens the lock file once and keeps it open:
 * closing any descriptor of a file drops a process's POSIX locks on it. */
#include "evalcore/runlock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "evalcore/base/file.h"

static int busy(int fd, const char *path, const char *run_dir, struct err *e)
{
    char holder[200] = "";
    struct flock who = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    ssize_t n = 0;
    /* The holder writes its name right after it got the lock; give it a moment. */
    for (int i = 0; i < 20 && n <= 0; i++) {
        n = pread(fd, holder, sizeof holder - 1, 0);
        if (n <= 0)
            usleep(10000);
    }
    holder[n > 0 ? n : 0] = 0;
    holder[strcspn(holder, "\n")] = 0;
    if (!*holder && !fcntl(fd, F_GETLK, &who) && who.l_type != F_UNLCK)
        return err_set(e, ERR_BUSY,
                       "%s is in use by process %ld (lock %s); wait for it, or use another folder", run_dir,
                       (long)who.l_pid, path);
    return err_set(e, ERR_BUSY, "%s is in use by %s (lock %s); wait for it, or use another folder", run_dir,
                   *holder ? holder : "another process", path);
}

static int write_holder(int fd, const char *path, struct err *e)
{
    char host[64] = "unknown";
    struct str text = {0};
    int rc = 0;
    if (gethostname(host, sizeof host - 1))
        host[0] = 0;
    str_printf(&text, "host %s pid %ld\n", host, (long)getpid());
    if (ftruncate(fd, 0) || pwrite(fd, text.data, text.len, 0) != (ssize_t)text.len)
        rc = err_set(e, ERR_IO, "cannot write %s: %s", path, strerror(errno));
    str_release(&text);
    return rc;
}

int runlock_take(struct runlock *l, const char *run_dir, int i, int n, struct err *e)
{
    struct str path = {0};
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int rc = 0;
    l->fd = 0;
    if (n > 0)
        str_printf(&path, "%s/lock.%d-of-%d", run_dir, i, n);
    else
        str_printf(&path, "%s/lock", run_dir);
    int fd = open(path.data, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) {
        rc = err_set(e, ERR_IO, "cannot open %s: %s", path.data, strerror(errno));
    } else if (fcntl(fd, F_SETLK, &all)) {
        if (errno == EACCES || errno == EAGAIN)
            rc = busy(fd, path.data, run_dir, e);
        else
            rc = err_set(e, ERR_IO, "cannot lock %s: %s", path.data, strerror(errno));
    } else {
        rc = write_holder(fd, path.data, e);
    }
    if (rc && fd >= 0)
        close(fd);
    else if (!rc)
        l->fd = fd;
    str_release(&path);
    return rc;
}

void runlock_drop(struct runlock *l)
{
    if (l->fd > 0)
        close(l->fd);
    l->fd = 0;
}
