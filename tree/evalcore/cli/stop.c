/* Signals as something to ask for (contract: stop.h). */
#include "evalcore/cli/stop.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "evalcore/cli/command.h"
#include "evalcore/base/clock.h"

void stop_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGUSR1);
    sigaddset(set, SIGINT);
}

void stop_block(void)
{
    sigset_t set;
    stop_signals(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

/* Back to the default actions; a signal that waits acts now. */
static void stop_release(void)
{
    sigset_t set;
    stop_signals(&set);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

int stop_poll(void)
{
    const struct timespec now = {0};
    sigset_t set;
    stop_signals(&set);
    int signal = sigtimedwait(&set, NULL, &now);
    if (signal <= 0)
        return 0;
    stop_release();
    return signal;
}

int stop_exit_code(int signal)
{
    return signal == SIGINT ? EXIT_INTERRUPTED : EXIT_STOPPED;
}

/* ---- The thread that waits for signals. */

/* Writes a line, if standard error takes it now. */
static void say_signal(const struct stopper *s, const char *text)
{
    struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
    char line[256];
    int n = snprintf(line, sizeof line, "%skveval: %s\n", s->is_live ? "\n" : "", text);
    if (!s->is_quiet && n > 0 && poll(&out, 1, 0) == 1 && (out.revents & POLLOUT))
        n = (int)write(STDERR_FILENO, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
}

static void leave_process(const struct stopper *s, int signal, const char *text)
{
    say_signal(s, text);
    _exit(stop_exit_code(signal));
}

static void receive_signal(struct stopper *s, int signal)
{
    char text[200];
    if (s->phase == STOP_BEFORE)
        leave_process(s, signal, "stopped before anything was decoded");
    if (s->phase == STOP_WRITING)
        leave_process(
            s, s->signal ? s->signal : signal,
            "stopped while results were written; all completions are saved, repeat the command for the "
            "report");
    if (s->signal && signal != SIGINT) /* to the process and to its group: one wish; its grace goes on */
        return;
    if (s->signal)
        leave_process(s, s->signal,
                      "stopped at once; what was finished is saved, repeat the command to go on");
    if (signal == SIGINT && !s->drain_until && s->drain_seconds) {
        s->drain_until = clock_seconds() + s->drain_seconds;
        snprintf(text, sizeof text,
                 "stopping: nothing new is started, and completions under way have %d s to end; press again "
                 "to abort",
                 s->drain_seconds);
        say_signal(s, text);
        return;
    }
    if (signal == SIGINT && s->drain_until)
        leave_process(s, signal, "aborted; what was finished is saved, repeat the command to go on");
    s->signal = signal;
    double grace = clock_seconds() + STOP_GRACE;
    if (!(s->grace_until > 0) || grace < s->grace_until)
        s->grace_until = grace;
}

static int patience_ms(const struct stopper *s)
{
    double left = s->grace_until - clock_seconds();
    if (s->phase != STOP_DECODING || !(s->grace_until > 0))
        return -1;
    return left <= 0 ? 0 : left < 3600 ? (int)(left * 1000) + 1 : 3600 * 1000;
}

static void *watch_signals(void *arg)
{
    struct stopper *s = arg;
    struct pollfd fds[2] = {{.fd = s->signals, .events = POLLIN}, {.fd = s->wake, .events = POLLIN}};
    int patience = -1;
    for (;;) {
        struct signalfd_siginfo info;
        uint64_t count;
        int n = poll(fds, 2, patience);
        pthread_mutex_lock(&s->lock);
        int is_over = s->is_over;
        if (!is_over && n > 0 && (fds[0].revents & POLLIN) &&
            read(s->signals, &info, sizeof info) == sizeof info)
            receive_signal(s, (int)info.ssi_signo);
        if (!is_over && n > 0 && (fds[1].revents & POLLIN) && read(s->wake, &count, sizeof count) < 0)
            fds[1].events = 0;
        if (!is_over && s->phase == STOP_DECODING && s->grace_until > 0 && clock_seconds() >= s->grace_until)
            leave_process(
                s, s->signal ? s->signal : SIGTERM,
                "stopped in the middle of a step; what was finished is saved, repeat the command to go on");
        patience = patience_ms(s);
        pthread_mutex_unlock(&s->lock);
        if (is_over)
            return NULL;
    }
}

int stopper_start(struct stopper *s, struct err *e)
{
    sigset_t set;
    stop_signals(&set);
    s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    s->wake = eventfd(0, EFD_CLOEXEC);
    int rc = s->signals < 0 || s->wake < 0 ? errno : 0;
    pthread_mutex_init(&s->lock, NULL);
    if (!rc)
        rc = pthread_create(&s->thread, NULL, watch_signals, s);
    s->is_running = !rc;
    return rc ? err_set(e, ERR_DEVICE, "cannot wait for signals: %s", err_reason(rc)) : 0;
}

/* Lets the thread look at what has changed. */
static int wake_watcher(struct stopper *s)
{
    const uint64_t one = 1;
    pthread_mutex_unlock(&s->lock);
    return write(s->wake, &one, sizeof one) == sizeof one;
}

void stopper_phase(struct stopper *s, enum stop_phase phase)
{
    pthread_mutex_lock(&s->lock);
    s->phase = phase;
    wake_watcher(s);
}

void stopper_limit(struct stopper *s, double until)
{
    pthread_mutex_lock(&s->lock);
    s->grace_until = until;
    wake_watcher(s);
}

int stopper_poll(struct stopper *s)
{
    pthread_mutex_lock(&s->lock);
    int signal = s->signal;
    pthread_mutex_unlock(&s->lock);
    return signal;
}

double stopper_drain(struct stopper *s)
{
    pthread_mutex_lock(&s->lock);
    double until = s->drain_until;
    pthread_mutex_unlock(&s->lock);
    return until;
}

void stopper_end(struct stopper *s)
{
    if (!s->is_running)
        return;
    pthread_mutex_lock(&s->lock);
    s->is_over = 1;
    if (wake_watcher(s))
        pthread_join(s->thread, NULL);
    close(s->signals);
    close(s->wake);
    pthread_mutex_destroy(&s->lock);
    memset(s, 0, sizeof *s);
}
