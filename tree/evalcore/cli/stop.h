#ifndef EVALCORE_CLI_STOP_H
#define EVALCORE_CLI_STOP_H

#include <signal.h>
#include <pthread.h>
#include "evalcore/base/err.h"

/* Stopping by signal without a handler and without a global. SIGTERM, SIGUSR1 and SIGINT are blocked before
 * any thread starts, so that all threads inherit it, and the program looks between steps whether one is
 * waiting. After the first one they have their default action again, so a second one ends the process at
 * once; what is in the journal stays. */
void stop_block(void);            /* blocks them in this thread and those that it starts */
void stop_signals(sigset_t *set); /* sets *set to those three */
/* Returns the number of a signal that came since stop_block(), or 0, and does not wait. A signal is returned
 * once: from then on the next one ends the process, and later calls return 0. */
int stop_poll(void);

/* Exit code for a run that ended early by this signal: EXIT_INTERRUPTED for SIGINT, else EXIT_STOPPED. */
int stop_exit_code(int signal);

/* Stopping at any moment: a thread that waits for the signals of stop_block(), since the work itself may be
 * in a long step, loading a model, or in a read that never returns. What a signal does depends on the phase:
 *
 *   STOP_BEFORE    nothing is decoded yet: the process ends at once
 *   STOP_DECODING  SIGTERM, SIGUSR1: stopper_poll() returns the signal, and the process ends STOP_GRACE
 *                  seconds later even if the work did not look. SIGINT: stopper_drain() says until when
 *                  completions under way may go on; the next SIGINT ends the process at once.
 *                  With drain_seconds 0 SIGINT acts as SIGTERM does.
 *   STOP_WRITING   every completion is saved, results are being written: the process ends at once
 *
 * "At once" is _exit() with stop_exit_code(): journals are as safe as under kill -9, and other files are
 * renamed into place. A second SIGTERM or SIGUSR1 changes nothing, since many programs send one to the
 * process and one to its group; Ctrl-C after it ends at once. The thread takes no lock of stdio, so a reader
 * of standard error who does not read cannot hold it. */
enum stop_phase { STOP_BEFORE, STOP_DECODING, STOP_WRITING };
enum { STOP_GRACE = 10 }; /* well below the 30 s after which Slurm and Kubernetes kill */

struct stopper {
    int drain_seconds, is_quiet, is_live; /* set by the caller */
    pthread_t thread;
    pthread_mutex_t lock; /* guards the members below */
    int signals, wake;    /* descriptors that the thread waits at */
    enum stop_phase phase;
    int signal;         /* that decoding has to end for; 0: none */
    double drain_until; /* clock_seconds(); 0: no drain */
    double grace_until; /* decoding has to have ended; 0: none */
    int is_running, is_over;
};

/* Starts the thread, after stop_block() and before other threads. s is zeroed but for what the caller sets,
 * and stays in its place until stopper_end(). Returns 0, or ERR_DEVICE when the system refuses a thread or a
 * descriptor. */
int stopper_start(struct stopper *s, struct err *e);
/* Enters a phase: signals from now on have its meaning. A grace that has run out ends the process at
 * STOP_DECODING and is not looked at in the others. */
void stopper_phase(struct stopper *s, enum stop_phase phase);
/* Ends the process at `until` (clock_seconds()) if it still decodes: a step may be longer than expected. The
 * exit code is that of the signal, EXIT_STOPPED without one. 0: no limit. Replaces the limit that was set
 * before; a signal later on only shortens it. */
void stopper_limit(struct stopper *s, double until);
/* Returns the signal for which decoding has to end now, or 0, also while it drains. */
int stopper_poll(struct stopper *s);
/* Returns until when (clock_seconds()) completions under way may go on after SIGINT; 0: nobody asked for it.
 */
double stopper_drain(struct stopper *s);
/* Ends the thread and zeroes s; does nothing when it was not started. The signals stay blocked. */
void stopper_end(struct stopper *s);

#endif
