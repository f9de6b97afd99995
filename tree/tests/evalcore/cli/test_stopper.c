/* What a signal does in each phase of a sweep: in a child process, since most of it ends the process. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "evalcore/base/clock.h"
#include "evalcore/cli/command.h"
#include "evalcore/cli/stop.h"
#include "tests/check.h"

enum { FINISHED = 7 };

/* The child: sends itself the signals one after the other, and looks at each whether work goes on. Returns
 * 100 + the signal that decoding has to end for, 99 for a drain, or FINISHED. */
static int work(enum stop_phase phase, int drain_seconds, const int *signals, double limit)
{
    struct err e = {0};
    struct stopper s = {.drain_seconds = drain_seconds, .is_quiet = 1};
    stop_block();
    if (stopper_start(&s, &e))
        return 1;
    stopper_phase(&s, phase);
    if (limit > 0)
        stopper_limit(&s, clock_seconds() + limit);
    for (; *signals; signals++) {
        kill(getpid(), *signals);
        for (int i = 0; i < 200; i++)
            usleep(1000);
    }
    for (double end = clock_seconds() + limit; limit > 0 && clock_seconds() < end + 1;)
        usleep(1000);
    int signal = stopper_poll(&s), is_draining = stopper_drain(&s) > 0;
    stopper_end(&s);
    return signal ? 100 + signal : is_draining ? 99 : FINISHED;
}

static int exit_of(enum stop_phase phase, int drain_seconds, const int *signals, double limit)
{
    int status = 0;
    pid_t pid = fork();
    if (!pid)
        _exit(work(phase, drain_seconds, signals, limit));
    CHECK(waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int main(void)
{
    static const struct {
        enum stop_phase phase;
        int drain_seconds;
        int signals[4];
        int want;
    } rows[] = {
        {STOP_BEFORE, 60, {0}, FINISHED},
        {STOP_BEFORE, 60, {SIGTERM}, EXIT_STOPPED},
        {STOP_BEFORE, 60, {SIGUSR1}, EXIT_STOPPED},
        {STOP_BEFORE, 60, {SIGINT}, EXIT_INTERRUPTED},
        {STOP_DECODING, 60, {SIGTERM}, 100 + SIGTERM},
        {STOP_DECODING, 60, {SIGUSR1}, 100 + SIGUSR1},
        {STOP_DECODING, 60, {SIGUSR1, SIGTERM}, 100 + SIGUSR1},
        {STOP_DECODING, 60, {SIGTERM, SIGTERM}, 100 + SIGTERM},
        {STOP_DECODING, 60, {SIGTERM, SIGINT}, EXIT_STOPPED},
        {STOP_DECODING, 60, {SIGINT}, 99},
        {STOP_DECODING, 60, {SIGINT, SIGINT}, EXIT_INTERRUPTED},
        {STOP_DECODING, 60, {SIGINT, SIGTERM}, 100 + SIGTERM},
        {STOP_DECODING, 0, {SIGINT}, 100 + SIGINT},
        {STOP_DECODING, 0, {SIGINT, SIGINT}, EXIT_INTERRUPTED},
        {STOP_WRITING, 60, {SIGTERM}, EXIT_STOPPED},
        {STOP_WRITING, 60, {SIGINT}, EXIT_INTERRUPTED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_INT(exit_of(rows[i].phase, rows[i].drain_seconds, rows[i].signals, 0), rows[i].want);
    /* Decoding that is still in a step at the end of its time is ended; results may be written to the end. */
    const int none[] = {0};
    CHECK_INT(exit_of(STOP_DECODING, 60, none, 0.2), EXIT_STOPPED);
    CHECK_INT(exit_of(STOP_WRITING, 60, none, 0.2), FINISHED);
    return check_done();
}
