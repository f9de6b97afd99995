/* Starting and ending a sandbox (contract: sandbox.h). bubblewrap makes the name spaces and mounts; limits
 * are set before it starts and hold for it as well. It tells the number of the process inside, of which the
 * kernel gives the processor time, so a slow machine makes no submission slower than its limit. */
#include "code_check/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/clock.h"

enum {
    END_SECONDS = 5,
    OVER_SECONDS = 1,
    INFO_SECONDS = 60,
    PAUSE_US = 1000,
    STACK_MIB = 8,
    FIRST_OWN = 10,
    ARGS_MAX = 80
};
/* Where the child finds what bubblewrap reads; it closes both before it starts Python. */
enum { FILTER_FD = 3, INFO_FD = 4 };

#define ADVICE                                                                                               \
    "; programs that a model wrote run in a sandbox only: install it (apt-get install bubblewrap python3), " \
    "and "                                                                                                   \
    "let users make name spaces (`kveval doctor` says whether it works)"

const char *sandbox_bwrap(void)
{
    static const char path[] = "/usr/bin/bwrap";
    return access(path, X_OK) ? NULL : path;
}

const char *sandbox_python(void)
{
    static const char path[] = "/usr/bin/python3";
    return access(path, X_OK) ? NULL : path;
}

/* ---- in the child, where only calls that are safe after fork() are made */

static void lower_limit(int what, rlim_t most)
{
    struct rlimit r;
    if (getrlimit(what, &r) || (r.rlim_max != RLIM_INFINITY && r.rlim_max < most))
        most = r.rlim_max;
    r = (struct rlimit){most, most};
    if (setrlimit(what, &r))
        _exit(126);
}

static void set_limits(double cpu_seconds, long memory_mib)
{
    lower_limit(RLIMIT_CPU, (rlim_t)cpu_seconds + 1);
    lower_limit(RLIMIT_AS, (rlim_t)memory_mib << 20);
    lower_limit(RLIMIT_FSIZE, (rlim_t)SANDBOX_TMP_MIB << 20);
    lower_limit(RLIMIT_STACK, (rlim_t)STACK_MIB << 20);
    lower_limit(RLIMIT_NOFILE, SANDBOX_OPEN_FILES);
    lower_limit(RLIMIT_CORE, 0);
    lower_limit(RLIMIT_MEMLOCK, 0);
    lower_limit(RLIMIT_MSGQUEUE, 0);
    lower_limit(RLIMIT_RTPRIO, 0);
}

struct child_fds {
    int socket, filter, info, errors;
};

static _Noreturn void become_bwrap(const struct child_fds *f, char *const argv[], double cpu_seconds,
                                   long memory_mib)
{
    char *const environment[] = {NULL};
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    int to[] = {f->socket, f->errors, f->errors, f->filter, f->info}, n = 5;
    for (int i = 0; i < n; i++) /* first out of the way of each other */
        if ((to[i] = fcntl(to[i], F_DUPFD, FIRST_OWN)) < 0)
            _exit(126);
    for (int i = 0; i < n; i++)
        if (dup2(to[i], i) < 0)
            _exit(126);
    if (syscall(SYS_close_range, n, ~0U, 0))
        _exit(126);
    set_limits(cpu_seconds, memory_mib);
    if (!geteuid() && (setgroups(0, NULL) || setresgid(SANDBOX_USER, SANDBOX_USER, SANDBOX_USER) ||
                       setresuid(SANDBOX_USER, SANDBOX_USER, SANDBOX_USER)))
        _exit(126);
    execve(argv[0], argv, environment);
    _exit(127);
}

/* ---- */

static int no_sandbox(struct err *e, const char *what, const char *why)
{
    return err_set(e, ERR_DISK, "%s%s%s" ADVICE, what, why ? ": " : "", why ? why : "");
}

static void put(const char **argv, int *n, const char *const *words)
{
    while (*words && *n < ARGS_MAX - 1)
        argv[(*n)++] = *words++;
}

/* python: the file behind /usr/bin/python3, which is seen under both names. */
static void write_args(const char **argv, const char *python, const char *program)
{
    static char tmp_bytes[] = "16777216";
    _Static_assert(SANDBOX_TMP_MIB == 16, "tmp_bytes");
    int n = 0;
    put(argv, &n,
        (const char *const[]){sandbox_bwrap(), "--unshare-all", "--unshare-user", "--disable-userns",
                              "--die-with-parent", "--new-session", "--as-pid-1", "--hostname", "sandbox",
                              "--clearenv", "--seccomp", "3", "--info-fd", "4", NULL});
    put(argv, &n,
        (const char *const[]){"--setenv", "HOME", "/tmp", "--setenv", "LANG", "C.UTF-8", "--setenv",
                              "PYTHONHASHSEED", "0", "--setenv", "PYTHONDONTWRITEBYTECODE", "1", "--setenv",
                              "OPENBLAS_NUM_THREADS", "1", "--setenv", "OMP_NUM_THREADS", "1", NULL});
    put(argv, &n,
        (const char *const[]){"--ro-bind",
                              "/usr/lib",
                              "/usr/lib",
                              "--ro-bind-try",
                              "/usr/lib64",
                              "/usr/lib64",
                              "--symlink",
                              "usr/lib",
                              "/lib",
                              "--symlink",
                              "usr/lib64",
                              "/lib64",
                              "--ro-bind-try",
                              "/etc/alternatives",
                              "/etc/alternatives",
                              "--ro-bind",
                              python,
                              "/usr/bin/python3",
                              "--dev-bind",
                              "/dev/null",
                              "/dev/null",
                              "--size",
                              tmp_bytes,
                              "--tmpfs",
                              "/tmp",
                              "--chdir",
                              "/tmp",
                              "--remount-ro",
                              "/",
                              "--",
                              "/usr/bin/python3",
                              "-s",
                              "-P",
                              "-c",
                              program,
                              NULL});
    argv[n] = NULL;
}

/* The filter lies in the pipe before anybody reads it. */
static int write_filter(int fd)
{
    size_t n;
    const struct sock_filter *f = sandbox_filter(&n);
    return write(fd, f, n * sizeof *f) == (ssize_t)(n * sizeof *f) ? 0 : -1;
}

/* Waits for bubblewrap's JSON with the number of the process inside. */
static void read_info(struct sandbox *s, int fd)
{
    char text[512] = "";
    size_t n = 0;
    double end = clock_seconds() + INFO_SECONDS;
    while (n < sizeof text - 1 && !strchr(text, '}') && clock_seconds() < end) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        ssize_t got = poll(&p, 1, 1000) > 0 ? read(fd, text + n, sizeof text - 1 - n) : -2;
        if (!got || (got == -1 && errno != EINTR))
            break;
        n += got > 0 ? (size_t)got : 0;
        text[n] = 0;
    }
    const char *pid = strstr(text, "\"child-pid\":");
    long number = pid ? strtol(pid + strlen("\"child-pid\":"), NULL, 10) : 0;
    if (number <= 0 || !strchr(text, '}'))
        return;
    s->pid = (pid_t)number;
    s->inner = (int)syscall(SYS_pidfd_open, s->pid, 0);
    if (clock_getcpuclockid((pid_t)number, &s->clock) && s->inner >= 0) {
        close(s->inner);
        s->inner = -1;
    }
}

static void close_pair(int pair[2])
{
    for (int i = 0; i < 2; i++)
        if (pair[i] >= 0)
            close(pair[i]);
    pair[0] = pair[1] = -1;
}

int sandbox_start(struct sandbox *s, const char *program, double cpu_seconds, long memory_mib, struct err *e)
{
    int talk[2] = {-1, -1}, filter[2] = {-1, -1}, info[2] = {-1, -1}, errors[2] = {-1, -1};
    const char *argv[ARGS_MAX], *refused = NULL;
    *s = (struct sandbox){.fd = -1, .errors = -1, .inner = -1};
    if (!sandbox_bwrap() || !sandbox_python())
        return no_sandbox(e, sandbox_bwrap() ? "there is no /usr/bin/python3" : "there is no /usr/bin/bwrap",
                          NULL);
    char *python = realpath(sandbox_python(), NULL);
    if (!python || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, talk) || pipe2(filter, O_CLOEXEC) ||
        pipe2(info, O_CLOEXEC) || pipe2(errors, O_CLOEXEC | O_NONBLOCK) || write_filter(filter[1]))
        refused = err_reason(errno);
    if (!refused) {
        write_args(argv, python, program);
        close(filter[1]); /* its reader waits for the end */
        filter[1] = -1;
        s->outer = fork();
        if (!s->outer)
            become_bwrap(&(struct child_fds){talk[1], filter[0], info[1], errors[1]}, (char *const *)argv,
                         cpu_seconds, memory_mib);
        if (s->outer < 0) {
            refused = err_reason(errno);
            s->outer = 0;
        }
    }
    close_pair((int[]){talk[1], filter[0]});
    close_pair((int[]){filter[1], info[1]});
    close_pair((int[]){errors[1], -1});
    s->fd = talk[0];
    s->errors = errors[0];
    free(python);
    if (!refused)
        read_info(s, info[0]);
    close_pair((int[]){info[0], -1});
    if (!refused && s->inner >= 0)
        return 0;
    struct str why = {0};
    if (refused)
        str_puts(&why, refused);
    else
        sandbox_complaint(s, &why);
    sandbox_end(s, why.len ? NULL : &why);
    int rc = no_sandbox(e, "the sandbox cannot be started", str_text(&why));
    str_release(&why);
    return rc;
}

long sandbox_tmp_files(const struct sandbox *s)
{
    char path[64];
    struct statvfs v;
    snprintf(path, sizeof path, "/proc/%d/root/tmp", (int)s->pid);
    return s->inner < 0 || statvfs(path, &v) ? 0 : (long)(v.f_files - v.f_ffree);
}

double sandbox_cpu_seconds(const struct sandbox *s)
{
    struct timespec t;
    if (s->inner < 0 || clock_gettime(s->clock, &t))
        return 0;
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void sandbox_complaint(const struct sandbox *s, struct str *out)
{
    char text[401];
    ssize_t n = s->errors >= 0 ? read(s->errors, text, sizeof text - 1) : 0;
    if (n <= 0)
        return;
    while (n && text[n - 1] == '\n')
        n--;
    for (ssize_t i = 0; i < n; i++)
        if ((unsigned char)text[i] < ' ')
            text[i] = ' ';
    str_add_utf8(out, text, (size_t)n);
}

/* bubblewrap ends with the process inside. */
static int reap(pid_t pid, int *status, double seconds)
{
    double end = clock_seconds() + seconds;
    for (;;) {
        pid_t done = waitpid(pid, status, WNOHANG);
        if (done == pid)
            return 1;
        if ((done < 0 && errno != EINTR) || clock_seconds() >= end)
            return 0;
        usleep(PAUSE_US);
    }
}

/* With nobody left in the sandbox nobody holds the other end. */
static void wait_for_nobody(int fd)
{
    char rest[4096];
    double end = clock_seconds() + END_SECONDS;
    while (clock_seconds() < end) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, 100) > 0 && recv(fd, rest, sizeof rest, MSG_DONTWAIT) <= 0 && errno != EINTR)
            return;
    }
}

void sandbox_end(struct sandbox *s, struct str *how)
{
    int status = 0, ended = 0;
    if (!s->outer) { /* zeroed, or it never began */
        if (s->fd > 0)
            close(s->fd);
        if (s->errors > 0)
            close(s->errors);
        *s = (struct sandbox){.fd = -1, .errors = -1, .inner = -1};
        return;
    }
    char next;
    int is_over = !recv(s->fd, &next, 1, MSG_PEEK | MSG_DONTWAIT);
    ended = reap(s->outer, &status, is_over ? OVER_SECONDS : 0);
    if (!ended && s->inner >= 0)
        syscall(SYS_pidfd_send_signal, s->inner, SIGKILL, NULL, 0);
    if (!ended && (s->inner < 0 || !(ended = reap(s->outer, &status, END_SECONDS)))) {
        kill(s->outer, SIGKILL); /* its child ends with it */
        ended = reap(s->outer, &status, END_SECONDS);
    }
    wait_for_nobody(s->fd);
    if (how && ended && WIFEXITED(status) && WEXITSTATUS(status) > 128)
        str_printf(how, "was ended by signal %d (%s)", WEXITSTATUS(status) - 128,
                   strsignal(WEXITSTATUS(status) - 128));
    else if (how && ended && WIFEXITED(status))
        str_printf(how, "ended with exit code %d", WEXITSTATUS(status));
    else if (how)
        str_puts(how, "was killed");
    close(s->fd);
    close(s->errors);
    if (s->inner >= 0)
        close(s->inner);
    *s = (struct sandbox){.fd = -1, .errors = -1, .inner = -1};
}
