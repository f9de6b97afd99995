/* The lock on a run folder (contract: runlock.h). One file, told apart by byte ranges: byte 0 is a gate, held
 * for the moment of looking and taking; behind it every n has a range of its own with a byte for each shard.
 * A shard holds its byte and finds no lock outside the range of its n; the whole holds all ranges. The holder
 * opens the file once and keeps it open: closing any descriptor of a file drops a process's POSIX locks on
 * it. */
#include "evalcore/store/runlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "evalcore/base/file.h"
#include "evalcore/base/log.h"
#include "evalcore/store/lockfile.h"

static const struct flock gate = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
enum { GATE_TRIES = 500, GATE_PAUSE_US = 10000 };

static off_t first_byte(int n)
{
    return 1 + (off_t)n * RUNLOCK_SHARDS_MAX;
}

static struct flock lock_range(off_t start, off_t end) /* end 0: without end */
{
    return (struct flock){
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = end ? end - start : 0};
}

/* The file with the holder's name: of shard i of n, or of the whole for n 0. */
static void holder_path(struct str *out, const char *run_dir, long i, long n)
{
    str_printf(out, n > 0 ? "%s/lock.%ld-of-%ld" : "%s/lock", run_dir, i, n);
}

/* Is the file's text the line below, or none? Anything else is somebody's, or was damaged by a fault. */
static int is_holder(const char *text)
{
    const char *end = strchr(text, '\n');
    return !*text || (!strncmp(text, "host ", 5) && strstr(text, " pid ") && end && !end[1]);
}

static int is_text_kept(int fd)
{
    char text[256];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    return n < 0 || n != (ssize_t)strlen(text) || !is_holder(text);
}

/* `held` is what fcntl() found in the way; its place says whose it is. */
static int busy_error(const struct flock *held, const char *run_dir, struct err *e)
{
    struct str path = {0}, text = {0};
    off_t at = held->l_start - 1;
    if (!held->l_len || !held->l_start) /* without end: the whole */
        holder_path(&path, run_dir, 0, 0);
    else
        holder_path(&path, run_dir, (long)(at % RUNLOCK_SHARDS_MAX), (long)(at / RUNLOCK_SHARDS_MAX));
    /* Reading the lock file closes it and drops this process's locks on it: only the gate, no longer needed.
     */
    if (file_plain(path.data, NULL) || file_read(path.data, &text, NULL) || !text.len ||
        !is_holder(text.data)) {
        str_clear(&text);
        str_printf(&text, "process %ld", (long)held->l_pid);
    }
    text.data[strcspn(text.data, "\n")] = 0;
    int rc = err_set(e, ERR_BUSY, "%s is in use by %s (lock %s); wait for it, or use another folder", run_dir,
                     text.data, path.data);
    str_release(&path);
    str_release(&text);
    return rc;
}

/* Takes `lock`, or fills *held with what is in its way. 0, ERR_BUSY, or ERR_IO with errno. */
static int claim_range(int fd, const struct flock *lock, struct flock *held)
{
    struct flock l = *lock;
    if (!fcntl(fd, F_SETLK, &l))
        return 0;
    if (errno != EACCES && errno != EAGAIN)
        return ERR_IO;
    *held = *lock;
    return fcntl(fd, F_GETLK, held) ? ERR_IO : ERR_BUSY;
}

/* Is there a lock in the range? */
static int find_holder(int fd, off_t start, off_t end, struct flock *held)
{
    *held = lock_range(start, end);
    if (fcntl(fd, F_GETLK, held))
        return ERR_IO;
    return held->l_type == F_UNLCK ? 0 : ERR_BUSY;
}

static int pass_gate(int fd, struct flock *held)
{
    int rc = claim_range(fd, &gate, held);
    for (int i = 0; i < GATE_TRIES && rc == ERR_BUSY; i++) {
        usleep(GATE_PAUSE_US);
        rc = claim_range(fd, &gate, held);
    }
    return rc;
}

static int claim_own(int fd, int i, int n, struct flock *held)
{
    struct flock own = lock_range(first_byte(1), 0);
    int rc = 0;
    if (n > 0) {
        own = lock_range(first_byte(n) + i, first_byte(n) + i + 1);
        rc = find_holder(fd, first_byte(n + 1), 0, held);
        if (!rc && n > 1)
            rc = find_holder(fd, first_byte(1), first_byte(n), held);
    }
    return rc ? rc : claim_range(fd, &own, held);
}

/* The file's text. The length of what was written, or -1 with errno. */
static ssize_t put_text(int fd, const struct str *text)
{
    ssize_t n;
    do
        n = ftruncate(fd, 0) ? -1 : pwrite(fd, text->data, text->len, 0);
    while (n < 0 && errno == EINTR);
    return n;
}

/* Behind the gate, so that whoever is refused reads this holder and not the one before. */
static int write_holder(int lock_fd, const char *run_dir, int i, int n, struct err *e)
{
    char host[64] = "unknown";
    struct str text = {0}, path = {0};
    holder_path(&path, run_dir, i, n);
    int fd = n > 0 ? file_open_own(path.data, 0, e) : lock_fd;
    int rc = fd < 0 ? fd : 0, kept = !rc && is_text_kept(fd);
    if (gethostname(host, sizeof host - 1))
        host[0] = 0;
    str_printf(&text, "host %s pid %ld\n", host, (long)getpid());
    ssize_t put = rc || kept ? 0 : put_text(fd, &text);
    int cause = put < 0 ? errno : ENOSPC; /* a write that stops short */
    if (kept)
        log_info("%s holds a text that is no lock's; it is kept, and serves as the lock", path.data);
    else if (!rc && put != (ssize_t)text.len)
        rc = err_set(e, file_error_code(cause), "cannot write %s: %s", path.data, err_reason(cause));
    if (n > 0 && fd >= 0)
        close(fd);
    str_release(&text);
    str_release(&path);
    return rc;
}

static int is_without_locks(int cause)
{
    return cause == ENOLCK || cause == EINVAL || cause == EOPNOTSUPP || cause == ENOTSUP || cause == ENOSYS;
}

/* The lock file in the place of locks. */
static int claim_with_file(struct runlock *l, int fd, const char *run_dir, int i, int n, struct err *e)
{
    int rc = lockfile_take(&l->file, run_dir, i, n, e);
    if (rc) {
        close(fd);
        return rc;
    }
    l->fd = fd;
    log_info("%s is on a file system without locks; a lock file that is touched as long as this runs takes "
             "their place",
             run_dir);
    return 0;
}

/* Takes the lock of the system. ERR_UNSUPPORTED, without a message: there is none. */
static int claim_with_fcntl(int fd, const char *run_dir, int i, int n, struct err *e)
{
    struct flock held, open_gate = gate;
    int rc = pass_gate(fd, &held);
    if (!rc)
        rc = claim_own(fd, i, n, &held);
    if (rc == ERR_BUSY)
        return busy_error(&held, run_dir, e);
    if (rc && is_without_locks(errno))
        return ERR_UNSUPPORTED;
    if (rc)
        return err_set(e, file_error_code(errno), "cannot lock %s/lock: %s", run_dir, err_reason(errno));
    rc = lockfile_look(fd, run_dir, NULL, i, n, e);
    if (!rc)
        rc = write_holder(fd, run_dir, i, n, e);
    open_gate.l_type = F_UNLCK;
    if (!rc && fcntl(fd, F_SETLK, &open_gate))
        rc = err_set(e, file_error_code(errno), "cannot unlock %s/lock: %s", run_dir, err_reason(errno));
    return rc;
}

int runlock_take(struct runlock *l, const char *run_dir, int i, int n, struct err *e)
{
    struct str path = {0};
    *l = (struct runlock){0};
    holder_path(&path, run_dir, 0, 0);
    int fd = file_open_own(path.data, 0, e), rc;
    str_release(&path);
    if (fd < 0)
        return fd;
    rc = claim_with_fcntl(fd, run_dir, i, n, e);
    if (rc == ERR_UNSUPPORTED)
        return claim_with_file(l, fd, run_dir, i, n, e);
    if (rc)
        close(fd);
    else
        l->fd = fd;
    return rc;
}

int runlock_is_held(const char *run_dir, int i, int n)
{
    struct str path = {0};
    off_t start = n > 0 ? first_byte(n) + i : first_byte(1), end = n > 0 ? start + 1 : 0;
    struct flock held;
    holder_path(&path, run_dir, 0, 0);
    int fd = open(path.data, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    int is_held = fd >= 0 && find_holder(fd, start, end, &held) == ERR_BUSY && held.l_start == start &&
                  held.l_len == (n > 0 ? 1 : 0);
    if (fd >= 0)
        close(fd);
    str_release(&path);
    return is_held || lockfile_is_held(run_dir, i, n);
}

int runlock_name(const char *name, int *i, int *n)
{
    int end = 0;
    *i = *n = 0;
    if (!strcmp(name, "lock"))
        return 1;
    if (lockfile_name(name, i, n))
        return *n <= RUNLOCK_SHARDS_MAX && *i >= 0 && *i <= *n - (*n > 0);
    return sscanf(name, "lock.%d-of-%d%n", i, n, &end) == 2 && end && !name[end] && *n > 0 &&
           *n <= RUNLOCK_SHARDS_MAX && *i >= 0 && *i < *n;
}

void runlock_drop(struct runlock *l)
{
    lockfile_drop(l->file);
    if (l->fd > 0)
        close(l->fd);
    *l = (struct runlock){0};
}
