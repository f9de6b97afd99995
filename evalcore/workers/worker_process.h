#ifndef EVALCORE_WORKERS_WORKER_PROCESS_H
#define EVALCORE_WORKERS_WORKER_PROCESS_H

#include <sys/types.h>

#include "evalcore/workers/wire.h"

/* A child process that runs this program's `worker` command, and the socket to it. */
struct worker_process {
    pid_t pid; /* 0: none */
    struct wire wire;
};

/* argv: of the command, "worker" first, NULL at its end. The child's output goes to standard error. */
int worker_process_start(struct worker_process *w, const char *const argv[], struct err *e);

/* Closes the socket, waits for the child until progress_clock() passes `deadline`, then ends it with SIGKILL.
 * Adds how it ended to *how (may be NULL): "was ended by signal 9 (Killed)", "ended with exit code 3". */
void worker_process_end(struct worker_process *w, double deadline, struct str *how);

#endif
