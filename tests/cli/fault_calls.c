/* Preloaded into the program (LD_PRELOAD) to let calls of the file system fail or to end the process at one
 * of them. KVEVAL_TEST_CALLS holds one of kill:N      the process is killed in place of its N-th write, sync,
 * rename, link or removal of a file count       the number of such calls is written to standard error when
 * the process ends sync:ERRNO  every fsync() and fdatasync() of a file fails so lock:ERRNO  fcntl() fails so
 * for locks, as on file systems that have none touch:ERRNO  futimens() fails so from its second call on; with
 * ERRNO a number, and several with commas between. Calls on standard streams are left alone.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static long calls;

/* The number behind "NAME:" in the variable; 0: it is about something else. */
static long fault(const char *name)
{
    const char *s = getenv("KVEVAL_TEST_CALLS");
    size_t n = strlen(name);
    while (s && !(!strncmp(s, name, n) && s[n] == ':'))
        s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL;
    return s ? strtol(s + n + 1, NULL, 10) : 0;
}

static void *real(const char *name)
{
    void *f = dlsym(RTLD_NEXT, name);
    if (!f)
        abort();
    return f;
}

static void count(void)
{
    if (__atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) == fault("kill"))
        kill(getpid(), SIGKILL);
}

__attribute__((destructor)) static void tell(void)
{
    const char *s = getenv("KVEVAL_TEST_CALLS");
    if (s && !strcmp(s, "count"))
        fprintf(stderr, "%ld calls\n", calls);
}

static int is_file(int fd)
{
    struct stat st;
    return fd > 2 && !fstat(fd, &st) && S_ISREG(st.st_mode);
}

ssize_t write(int fd, const void *p, size_t n)
{
    ssize_t (*f)(int, const void *, size_t);
    *(void **)&f = real("write");
    if (is_file(fd))
        count();
    return f(fd, p, n);
}

static int sync_by(const char *name, int fd)
{
    int (*f)(int);
    *(void **)&f = real(name);
    count();
    long cause = fault("sync") ? fault("sync") : strcmp(name, "fsync") ? fault("datasync") : 0;
    if (cause && is_file(fd)) {
        errno = (int)cause;
        return -1;
    }
    return f(fd);
}

int fsync(int fd)
{
    return sync_by("fsync", fd);
}

int fdatasync(int fd)
{
    return sync_by("fdatasync", fd);
}

int rename(const char *from, const char *to)
{
    int (*f)(const char *, const char *);
    *(void **)&f = real("rename");
    count();
    return f(from, to);
}

int unlink(const char *path)
{
    int (*f)(const char *);
    *(void **)&f = real("unlink");
    count();
    return f(path);
}

int futimens(int fd, const struct timespec times[2])
{
    static long touches;
    int (*f)(int, const struct timespec *);
    *(void **)&f = real("futimens");
    if (fault("touch") && __atomic_add_fetch(&touches, 1, __ATOMIC_SEQ_CST) > 1) {
        errno = (int)fault("touch");
        return -1;
    }
    return f(fd, times);
}

static int control(const char *name, int fd, int command, void *argument)
{
    int (*f)(int, int, ...);
    *(void **)&f = real(name);
    if (fault("lock") && (command == F_SETLK || command == F_GETLK || command == F_SETLKW)) {
        errno = (int)fault("lock");
        return -1;
    }
    return f(fd, command, argument);
}

int fcntl(int fd, int command, ...)
{
    va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    return control("fcntl", fd, command, argument);
}

int fcntl64(int fd, int command, ...)
{
    va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    return control("fcntl64", fd, command, argument);
}
