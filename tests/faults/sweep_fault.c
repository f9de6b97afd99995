/* A library for LD_PRELOAD that makes one process of a sweep fail: what a test cannot ask of a real machine.
 *
 *   KV_FAULT="ROLE KIND N"   ROLE: worker, or main (any other process of the program). KIND and N below.
 *   KV_FAULT_ONCE=FILE       only the first process of that role that can make the file fails
 *   KV_FAULT_WHEN=FILE       only processes that start while the file is there fail
 *
 * Of a worker, at its N-th message: kill (SIGKILL), exit (with code 0, in the middle), stop (SIGSTOP),
 * garbage (a byte of the message is another one), mute (this and all later messages vanish), lie (its N-th
 * completion has another token). poison: N is a job's key, as hexadecimal digits, and getting that job is
 * death. Of main, at its N-th write, sync or rename: kill, full (ENOSPC), broken (EIO), short (half of the
 * bytes are written, then SIGKILL). clock: its clock is N seconds off. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static char kind[16], key[80];
static long at, seen, said; /* said: completions */
static int is_worker, is_main;

static void *real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

/* The second argument of this process is "worker". */
static int role_is_worker(void)
{
    char text[512] = "";
    int fd = open("/proc/self/cmdline", O_RDONLY);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    return n > 0 && !strcmp(text + strlen(text) + 1, "worker");
}

__attribute__((constructor)) static void begin(void)
{
    const char *fault = getenv("KV_FAULT"), *once = getenv("KV_FAULT_ONCE"), *when = getenv("KV_FAULT_WHEN");
    char role[16];
    if (!fault || sscanf(fault, "%15s %15s %79s", role, kind, key) != 3)
        return;
    int mine = role_is_worker() == !strcmp(role, "worker");
    if (!mine)
        return;
    if (when && access(when, F_OK))
        return;
    if (once) {
        int fd = open(once, O_CREAT | O_EXCL | O_WRONLY, 0600);
        if (fd < 0)
            return;
        close(fd);
    }
    at = strtol(key, NULL, 10);
    is_worker = !strcmp(role, "worker");
    is_main = !is_worker;
}

static int is(const char *name)
{
    return !strcmp(kind, name);
}

/* CRC-32C, as a frame carries it (evalcore/process/wire.c). */
static unsigned crc_of(const unsigned char *p, size_t n)
{
    unsigned crc = ~0u;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    }
    return ~crc;
}

/* Another digit for the last one of the list of ids. */
static void lie(char *text, size_t n)
{
    static const char mark[] = "\"ids\":[";
    char *ids = memmem(text, n, mark, sizeof mark - 1),
         *end = ids ? memchr(ids, ']', n - (size_t)(ids - text)) : NULL;
    if (end && end[-1] >= '0' && end[-1] <= '9')
        end[-1] = end[-1] == '1' ? '2' : '1';
    unsigned crc = crc_of((unsigned char *)text + 8, n - 8);
    for (int i = 0; i < 4; i++)
        text[4 + i] = (char)(crc >> 8 * i);
}

ssize_t send(int fd, const void *data, size_t n, int flags)
{
    ssize_t (*send_it)(int, const void *, size_t, int) =
        (ssize_t(*)(int, const void *, size_t, int))real("send");
    if (!is_worker)
        return send_it(fd, data, n, flags);
    seen++;
    if (is("mute") && seen >= at)
        return (ssize_t)n;
    if (seen == at && is("kill"))
        raise(SIGKILL);
    if (seen == at && is("exit"))
        _exit(0);
    if (seen == at && is("stop"))
        raise(SIGSTOP);
    int is_done = memmem(data, n, "\"type\":\"done\"", 13) != NULL;
    said += is_done;
    if (!(seen == at && is("garbage")) && !(is("lie") && is_done && said == at))
        return send_it(fd, data, n, flags);
    char *copy = malloc(n);
    memcpy(copy, data, n);
    if (is("lie"))
        lie(copy, n);
    else
        copy[n / 2] ^= 0x10;
    ssize_t sent = send_it(fd, copy, n, flags);
    free(copy);
    return sent;
}

ssize_t recv(int fd, void *data, size_t n, int flags)
{
    ssize_t (*receive)(int, void *, size_t, int) = (ssize_t(*)(int, void *, size_t, int))real("recv");
    ssize_t got = receive(fd, data, n, flags);
    if (is_worker && is("poison") && got > 0 && memmem(data, (size_t)got, key, strlen(key)))
        raise(SIGKILL);
    return got;
}

/* -1: it fails, with errno. */
static int change(void)
{
    if (!is_main || is("clock") || ++seen != at)
        return 0;
    if (is("kill"))
        raise(SIGKILL);
    errno = is("full") ? ENOSPC : EIO;
    return is("full") || is("broken") ? -1 : 0;
}

ssize_t write(int fd, const void *data, size_t n)
{
    ssize_t (*write_it)(int, const void *, size_t) = (ssize_t(*)(int, const void *, size_t))real("write");
    if (fd <= STDERR_FILENO)
        return write_it(fd, data, n);
    if (change())
        return -1;
    if (is_main && is("short") && seen == at) {
        if (write_it(fd, data, n / 2) >= 0)
            raise(SIGKILL);
    }
    return write_it(fd, data, n);
}

int fsync(int fd)
{
    return change() ? -1 : ((int (*)(int))real("fsync"))(fd);
}

int fdatasync(int fd)
{
    return change() ? -1 : ((int (*)(int))real("fdatasync"))(fd);
}

int rename(const char *from, const char *to)
{
    return change() ? -1 : ((int (*)(const char *, const char *))real("rename"))(from, to);
}

time_t time(time_t *out)
{
    time_t now = ((time_t(*)(time_t *))real("time"))(NULL) + (is_main && is("clock") ? at : 0);
    if (out)
        *out = now;
    return now;
}
