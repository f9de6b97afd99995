/* A library for LD_PRELOAD that makes graders fail, for what no text is known to do.
 *
 *   KV_FAULT="KIND KEY"   KEY: of a job, as hexadecimal digits; the process that grades it, once it has read
 * its record: loop (for ever), crash (SIGSEGV), memory (takes it until there is none), stop (SIGSTOP),
 * garbage (its next message is damaged) KV_FAULT="early -"    a process that grades ends before it begins
 *   KV_FAULT="none -"     no process can be started */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PIECE = 64 << 20, PIECES = 128 }; /* with twice what a grader may have, nothing limits it */

extern void *__libc_malloc(size_t n);

static char kind[16], key[80];
static int is_grader, is_due;

static void *real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

__attribute__((constructor)) static void begin(void)
{
    const char *fault = getenv("KV_FAULT");
    char text[512] = "";
    int fd = open("/proc/self/cmdline", O_RDONLY);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (!fault || sscanf(fault, "%15s %79s", kind, key) != 2)
        return;
    is_grader = n > 0 && !strcmp(text + strlen(text) + 1, "grader");
    if (is_grader && !strcmp(kind, "early"))
        _exit(5);
}

static int is(const char *name)
{
    return !strcmp(kind, name);
}

/* The test need not wait for the whole time that a grader has: what it was given is looked at, and shortened.
 */
static void loop(void)
{
    struct rlimit r;
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    rlim_t seconds = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
    if (!getrlimit(RLIMIT_CPU, &r) && r.rlim_cur >= seconds + 10 && r.rlim_cur <= seconds + 13) {
        r.rlim_cur -= 9;
        setrlimit(RLIMIT_CPU, &r);
    }
    for (volatile int turn = 0;;)
        turn = !turn;
}

ssize_t pread(int fd, void *data, size_t n, off_t at)
{
    ssize_t got = ((ssize_t(*)(int, void *, size_t, off_t))real("pread"))(fd, data, n, at);
    if (!is_grader || got <= 0 || !memmem(data, (size_t)got, key, strlen(key)))
        return got;
    is_due = 1;
    if (is("crash"))
        raise(SIGSEGV);
    if (is("stop"))
        raise(SIGSTOP);
    if (is("loop"))
        loop();
    return got;
}

void *malloc(size_t n)
{
    for (int i = 0; is_due && is("memory") && i < PIECES; i++)
        if (!__libc_malloc(PIECE))
            return NULL;
    return __libc_malloc(n);
}

ssize_t send(int fd, const void *data, size_t n, int flags)
{
    ssize_t (*send_it)(int, const void *, size_t, int) =
        (ssize_t(*)(int, const void *, size_t, int))real("send");
    if (!is_due || !is("garbage"))
        return send_it(fd, data, n, flags);
    char *copy = malloc(n);
    memcpy(copy, data, n);
    copy[n / 2] ^= 0x10;
    ssize_t sent = send_it(fd, copy, n, flags);
    free(copy);
    return sent;
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *files,
                const posix_spawnattr_t *attributes, char *const argv[], char *const environment[])
{
    int (*spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                 char *const[], char *const[]) =
        (int (*)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                 char *const[], char *const[]))real("posix_spawn");
    return is("none") ? EAGAIN : spawn(pid, path, files, attributes, argv, environment);
}
