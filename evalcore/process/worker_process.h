#ifndef EVALCORE_PROCESS_WORKER_PROCESS_H
#define EVALCORE_PROCESS_WORKER_PROCESS_H

#include <sys/types.h>

#include "evalcore/process/wire.h"

/* A child process that runs a hidden command of this program, `worker` or `grader`, and the socket to it. */
enum { WORKER_FD = 3 }; /* where the child finds its end of the socket */
struct worker_process {
    pid_t pid; /* 0: none */
    struct wire wire;
};

/* argv: the program's name, the command, its arguments, NULL. The child's output goes to standard error. The
 * wire never blocks: a child that is busy does not hold up the others.
 * Returns 0, or ERR_DEVICE when the system refuses a socket or a process; w->pid is 0 then. */
int worker_process_start(struct worker_process *w, const char *const argv[], struct err *e);

/* Closes the socket, waits for the child until clock_seconds() passes `deadline`, then ends it with SIGKILL
 * and waits 2 s more. w->pid is 0 afterwards.
 * Adds how it ended to *how (may be NULL): "was ended by signal 9 (Killed)", "ended with exit code 3".
 * Returns its status as waitpid() has it; -1: it does not end, or there was none. */
int worker_process_end(struct worker_process *w, double deadline, struct str *how);

/* In the child, before anything else: it ends with whoever started it, also while nobody listens on the
 * socket (a large model is loaded, a text's grade never ends), and leaves signals to a whole process group to
 * that one. Returns 1; 0, and nothing has changed, where it was started by hand. Where the starter has
 * already ended, it ends the process with EXIT_INCOMPLETE. */
int worker_process_begin(void);

#endif
