/* Signals as something to ask for (contract: stop.h). */
#include "evalcore/cli/stop.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "evalcore/cli/command.h"

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
