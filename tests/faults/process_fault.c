/* A library for LD_PRELOAD that makes one process of the program fail: what a test cannot ask of a real
 * machine. Built as kv_fault.so beside the program.
 *
 *   KV_FAULT="ROLE KIND N"   ROLE: worker, main (neither a worker nor a grader), or any
 *   KV_FAULT_ONCE=FILE:...   only the first processes of that role fail, one for each file: it makes it
 *   KV_FAULT_WHEN=FILE       only processes that start while the file is there fail
 *
 * At the N-th change of a file (write, cut, sync, rename, removal; a new folder):
 *   kill, killall       the process, or its whole process group, is gone by SIGKILL
 *   short               half of the bytes are written, then SIGKILL
 *   full, broken        it fails with ENOSPC, EIO
 *   filled, dead        it fails so, and all changes after it
 *   part                half of the bytes are written, which is no error to write(2)
 *   again               EINTR, where it is a write, cut or sync
 *   pause               SIGSTOP
 * At the N-th message of a worker:
 *   sigkill, exit (with code 0, in the middle), stop (SIGSTOP)
 *   garbage, noise      a byte of the message is another one, or all are
 *   half, twice         half of the message and the end of the process; the message comes two times
 *   mute                this and all later messages vanish
 *   lie                 its N-th completion has another token
 *   late                the same, and that one is not sent before the file of KV_FAULT_WHEN is gone
 *   spoil               its N-th completion, which ended at its limit, is an error
 * poison: N is a job's key, as hexadecimal digits, and getting that job is death.
 * sync, datasync, lock: every fsync() and fdatasync(), every fdatasync(), every fcntl() for a lock of a file
 * fails with the number N. touch: the same of locks with ENOLCK, and futimens() fails with N from its second
 * call on. clock: the clock is N seconds off from its second reading on. nosocket: every socket() fails with
 * N. device: the process's devices fail as N says (kernels/fault.h), for example replay:60. count: the number
 * of changes is written to standard error when the process ends. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { CRC_POLYNOMIAL = 0x82f63b78, HEAD = 8, NOISE = 0x5a, ROOM = 64 };
enum { CARRY_OUT, FAIL, HALF }; /* what is to become of a change */

static char kind[16], key[80];
static long at, changes, messages, completions, readings;
static int is_mine;

static void *real(const char *name)
{
    void *f = dlsym(RTLD_NEXT, name);
    if (!f)
        abort();
    return f;
}

static int is(const char *name)
{
    return is_mine && !strcmp(kind, name);
}

/* Is the first argument of this process `name`? */
static int is_called(const char *name)
{
    char text[512] = "";
    int fd = open("/proc/self/cmdline", O_RDONLY);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    return n > 0 && !strcmp(text + strlen(text) + 1, name);
}

/* Makes the first of the files, with ':' between them, that is not there yet. */
static int make_one_file(const char *paths)
{
    int fd = -1;
    for (const char *at = paths; fd < 0 && *at;) {
        char path[512];
        int n = (int)strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s", n, at);
        fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
        at += n + (at[n] == ':');
    }
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

__attribute__((constructor)) static void begin(void)
{
    const char *fault = getenv("KV_FAULT"), *once = getenv("KV_FAULT_ONCE"), *when = getenv("KV_FAULT_WHEN");
    char role[16];
    if (!fault || sscanf(fault, "%15s %15s %79s", role, kind, key) != 3)
        return;
    if (!strcmp(role, "worker") ? !is_called(role)
                                : !strcmp(role, "main") && (is_called("worker") || is_called("grader")))
        return;
    if (when && access(when, F_OK))
        return;
    if (once && !make_one_file(once))
        return;
    at = strtol(key, NULL, 10);
    is_mine = 1;
    if (is("device")) {
        setenv("KVEVAL_CPU_FAULT", key, 1);
        setenv("KVEVAL_CUDA_FAULT", key, 1);
    }
}

__attribute__((destructor)) static void tell(void)
{
    if (is("count"))
        fprintf(stderr, "%ld calls\n", changes);
}

static long next(long *counter)
{
    return __atomic_add_fetch(counter, 1, __ATOMIC_SEQ_CST);
}

static int is_file(int fd)
{
    struct stat st;
    return fd > STDERR_FILENO && !fstat(fd, &st) && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

static int change(void)
{
    long n = next(&changes);
    if (n > at && (is("filled") || is("dead")))
        errno = is("filled") ? ENOSPC : EIO;
    else if (n != at || !is_mine)
        return CARRY_OUT;
    else if (is("kill"))
        kill(getpid(), SIGKILL);
    else if (is("killall"))
        kill(0, SIGKILL);
    else if (is("pause"))
        kill(getpid(), SIGSTOP);
    else if (is("part") || is("short"))
        return HALF;
    else if (is("full") || is("filled"))
        errno = ENOSPC;
    else if (is("broken") || is("dead"))
        errno = EIO;
    else if (is("again"))
        errno = EINTR;
    else
        return CARRY_OUT;
    return is("pause") ? CARRY_OUT : FAIL;
}

ssize_t write(int fd, const void *data, size_t n)
{
    ssize_t (*write_it)(int, const void *, size_t);
    *(void **)&write_it = real("write");
    int fate = is_file(fd) ? change() : CARRY_OUT;
    if (fate == FAIL)
        return -1;
    ssize_t done = write_it(fd, data, fate == HALF ? (n + 1) / 2 : n);
    if (fate == HALF && is("short"))
        raise(SIGKILL);
    return done;
}

/* Half of a change that has no half is none of it. */
static int fails(void)
{
    int fate = change();
    if (fate == HALF && is("short"))
        raise(SIGKILL);
    return fate == FAIL;
}

/* Names are changed without EINTR. */
static int name_fails(void)
{
    int is_failed = fails();
    return is_failed && !is("again");
}

static int sync_by(const char *name, int fd)
{
    int (*sync_it)(int);
    *(void **)&sync_it = real(name);
    if (!is_file(fd))
        return sync_it(fd);
    struct stat st;
    int is_folder = !fstat(fd, &st) && S_ISDIR(st.st_mode);
    if (fails())
        return -1;
    if (!is_folder && (is("sync") || (is("datasync") && !strcmp(name, "fdatasync")))) {
        errno = (int)at;
        return -1;
    }
    return sync_it(fd);
}

int fsync(int fd)
{
    return sync_by("fsync", fd);
}

int fdatasync(int fd)
{
    return sync_by("fdatasync", fd);
}

int ftruncate(int fd, off_t length)
{
    int (*cut)(int, off_t);
    *(void **)&cut = real("ftruncate");
    return fails() ? -1 : cut(fd, length);
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t offset)
{
    ssize_t (*write_it)(int, const void *, size_t, off_t);
    *(void **)&write_it = real("pwrite");
    return fails() ? -1 : write_it(fd, data, n, offset);
}

int rename(const char *from, const char *to)
{
    int (*rename_it)(const char *, const char *);
    *(void **)&rename_it = real("rename");
    return name_fails() ? -1 : rename_it(from, to);
}

int unlink(const char *path)
{
    int (*remove_it)(const char *);
    *(void **)&remove_it = real("unlink");
    return name_fails() ? -1 : remove_it(path);
}

int mkdir(const char *path, mode_t mode)
{
    int (*make_it)(const char *, mode_t);
    *(void **)&make_it = real("mkdir");
    return !access(path, F_OK) || !name_fails() ? make_it(path, mode) : -1;
}

/* The first call is the lock file's beginning. */
int futimens(int fd, const struct timespec times[2])
{
    static long touches;
    int (*touch)(int, const struct timespec *);
    *(void **)&touch = real("futimens");
    if (!is("touch") || next(&touches) < 2)
        return touch(fd, times);
    errno = (int)at;
    return -1;
}

static int control(const char *name, int fd, int command, void *argument)
{
    int (*control_it)(int, int, ...);
    *(void **)&control_it = real(name);
    if ((is("lock") || is("touch")) && (command == F_SETLK || command == F_GETLK || command == F_SETLKW)) {
        errno = is("touch") ? ENOLCK : (int)at;
        return -1;
    }
    return control_it(fd, command, argument);
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

static long seconds_off(void)
{
    return is("clock") && next(&readings) > 1 ? at : 0;
}

time_t time(time_t *out)
{
    time_t (*read_it)(time_t *);
    *(void **)&read_it = real("time");
    time_t now = read_it(NULL) + seconds_off();
    if (out)
        *out = now;
    return now;
}

int clock_gettime(clockid_t which, struct timespec *out)
{
    int (*read_it)(clockid_t, struct timespec *);
    *(void **)&read_it = real("clock_gettime");
    int rc = read_it(which, out);
    if (!rc && which == CLOCK_REALTIME)
        out->tv_sec += seconds_off();
    return rc;
}

/* CRC-32C, as a frame carries it (evalcore/process/wire.c). */
static unsigned crc_of(const unsigned char *p, size_t n)
{
    unsigned crc = ~0u;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? CRC_POLYNOMIAL : 0);
    }
    return ~crc;
}

static void put_4(char *out, size_t x)
{
    for (int i = 0; i < 4; i++)
        out[i] = (char)(x >> 8 * i);
}

/* Another digit for the last one of the list of ids. */
static void lie(char *text, size_t n)
{
    static const char mark[] = "\"ids\":[";
    char *ids = memmem(text, n, mark, sizeof mark - 1),
         *end = ids ? memchr(ids, ']', n - (size_t)(ids - text)) : NULL;
    if (end && end[-1] >= '0' && end[-1] <= '9')
        end[-1] = end[-1] == '1' ? '2' : '1';
    put_4(text + 4, crc_of((unsigned char *)text + HEAD, n - HEAD));
}

/* Makes an error of a completion, in a buffer that has room for it. Returns its length. */
static size_t make_error(char *frame, size_t n)
{
    static const char mark[] = "\"finish\":\"length\"", error[] = "\"finish\":\"error\",\"error\":\"made\"";
    char *at_finish = memmem(frame, n, mark, sizeof mark - 1);
    size_t more = sizeof error - sizeof mark;
    if (!at_finish)
        return n;
    char *rest = at_finish + sizeof mark - 1;
    memmove(rest + more, rest, n - (size_t)(rest - frame));
    memcpy(at_finish, error, sizeof error - 1);
    put_4(frame, n + more - HEAD);
    put_4(frame + 4, crc_of((unsigned char *)frame + HEAD, n + more - HEAD));
    return n + more;
}

static void end_or_stop(void)
{
    if (is("sigkill"))
        raise(SIGKILL);
    if (is("exit"))
        _exit(0);
    if (is("stop"))
        raise(SIGSTOP);
}

/* Makes the message another one. */
static void spoil(char *copy, size_t n)
{
    if (is("lie") || is("late"))
        lie(copy, n);
    else if (is("garbage"))
        copy[n / 2] ^= 0x10;
    else if (is("noise"))
        memset(copy, NOISE, n);
}

ssize_t send(int fd, const void *data, size_t n, int flags)
{
    ssize_t (*send_it)(int, const void *, size_t, int);
    *(void **)&send_it = real("send");
    long number = next(&messages);
    int is_now = is_mine && number == at;
    if (is("mute") && number >= at)
        return (ssize_t)n;
    if (is("lie") || is("late") || is("spoil"))
        is_now = memmem(data, n, "\"type\":\"done\"", 13) && next(&completions) == at;
    if (!is_now)
        return send_it(fd, data, n, flags);
    end_or_stop();
    while (is("late") && !access(getenv("KV_FAULT_WHEN"), F_OK))
        usleep(10000);
    if (is("half")) {
        send_it(fd, data, n / 2, flags);
        _exit(0);
    }
    if (is("twice"))
        send_it(fd, data, n, flags);
    char *copy = malloc(n + ROOM);
    memcpy(copy, data, n);
    size_t length = is("spoil") ? make_error(copy, n) : n;
    spoil(copy, n);
    ssize_t sent = send_it(fd, copy, length, flags);
    free(copy);
    return sent == (ssize_t)length ? (ssize_t)n : sent;
}

int socket(int domain, int type, int protocol)
{
    int (*open_it)(int, int, int);
    *(void **)&open_it = real("socket");
    if (!is("nosocket"))
        return open_it(domain, type, protocol);
    errno = (int)at;
    return -1;
}

ssize_t recv(int fd, void *data, size_t n, int flags)
{
    ssize_t (*receive)(int, void *, size_t, int);
    *(void **)&receive = real("recv");
    ssize_t got = receive(fd, data, n, flags);
    if (is("poison") && got > 0 && memmem(data, (size_t)got, key, strlen(key)))
        raise(SIGKILL);
    return got;
}
