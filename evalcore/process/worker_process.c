/* Starting and ending a child (contract: worker_process.h). The child starts from /proc/self/exe: the
 * running program, even when the file has been replaced since. It inherits no descriptor but the standard
 * ones and its socket, and the blocked signals of stop.h. */
#include "evalcore/process/worker_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "evalcore/base/clock.h"
#include "evalcore/cli/command.h"
#include "evalcore/cli/stop.h"

enum { REAP_SECONDS = 2, REAP_PAUSE_US = 2000 };

static int spawn(pid_t *pid, int fd, const char *const argv[])
{
    posix_spawn_file_actions_t files;
    int rc = posix_spawn_file_actions_init(&files);
    if (rc)
        return rc;
    rc = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!rc)
        rc = posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    if (!rc)
        rc = posix_spawn_file_actions_adddup2(&files, fd, WORKER_FD);
    if (!rc)
        rc = posix_spawn(pid, "/proc/self/exe", &files, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&files);
    return rc;
}

int worker_process_start(struct worker_process *w, const char *const argv[], struct err *e)
{
    int pair[2];
    memset(w, 0, sizeof *w);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return err_set(e, ERR_DEVICE, "cannot make a socket for a %s: %s", argv[1], err_reason(errno));
    int rc = spawn(&w->pid, pair[1], argv);
    close(pair[1]);
    w->wire = (struct wire){.fd = pair[0], .never_blocks = 1};
    if (!rc)
        return 0;
    err_set(e, ERR_DEVICE, "cannot start a %s: %s", argv[1], err_reason(rc));
    worker_process_end(w, 0, NULL);
    return e ? e->code : ERR_DEVICE;
}

static int reap(pid_t pid, int *status, double deadline)
{
    for (;;) {
        pid_t done = waitpid(pid, status, WNOHANG);
        if (done == pid)
            return 1;
        if ((done < 0 && errno != EINTR) || clock_seconds() >= deadline)
            return 0;
        usleep(REAP_PAUSE_US);
    }
}

int worker_process_end(struct worker_process *w, double deadline, struct str *how)
{
    struct str text = {0};
    int status = 0, ended = 0;
    wire_close(&w->wire);
    if (w->pid > 0) {
        ended = reap(w->pid, &status, deadline);
        if (!ended) { /* it is our child and not reaped yet: the number is still its own */
            kill(w->pid, SIGKILL);
            ended = reap(w->pid, &status, clock_seconds() + REAP_SECONDS);
        }
    }
    w->pid = 0;
    if (!ended)
        str_puts(&text, "does not end");
    else if (WIFSIGNALED(status))
        str_printf(&text, "was ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        str_printf(&text, "ended with exit code %d", WEXITSTATUS(status));
    if (how)
        str_add(how, text.data, text.len);
    str_release(&text);
    return ended ? status : -1;
}

int worker_process_begin(void)
{
    struct ucred starter = {0}; /* who made the socket pair */
    socklen_t n = sizeof starter;
    if (getsockopt(WORKER_FD, SOL_SOCKET, SO_PEERCRED, &starter, &n))
        return 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != starter.pid) /* it died before, and nobody will tell */
        _exit(EXIT_INCOMPLETE);
    prctl(PR_SET_NAME, "kveval"); /* instead of "exe", the name of the link that it was started by */
    stop_block();
    return 1;
}
