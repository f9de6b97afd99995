#ifndef EVALCORE_SWEEP_DECODER_PROCESS_H
#define EVALCORE_SWEEP_DECODER_PROCESS_H

#include "evalcore/sweep/decoder.h"

/* A decoder with a worker process for each device. This process opens no device and is the only one that
 * writes. Jobs that a worker asks for go over a socket, completions come back (worker_messages.h).
 *
 * A watchdog ends a worker that is silent for timeouts.silence seconds (a thread of its own sends a heartbeat
 * every second, so a long step is no silence, but a stopped process is), or that does not finish a step for
 * timeouts.step seconds. A worker that ends, or reports that its device failed, loses only the jobs that it
 * was decoding: they begin anew, and the worker is started again after a back-off (restart_rules.h). A
 * restarted worker first decodes a job that is finished, its canary, and must find the same tokens; if it
 * does not, what it finished before is withdrawn. A device that does not work at the start is left out. An
 * error that every worker would run into, a mistake in the input, ends the decoding at once.
 *
 * Of several models a worker holds one at a time. A model that a device cannot load is left out there, or
 * everywhere when its own files are the reason. One that was loaded before is not: that it cannot be now is a
 * death like any other. */
struct timeouts {
    int silence, step; /* seconds; step 0: no limit */
    int in_a_row,
        in_an_hour; /* with more deaths a worker is not started again soon; 0: as a sweep has them */
};
enum { LOAD_TIMEOUT = 1800 }; /* seconds until a worker has loaded everything */
/* Starts the workers. argv: of a sweep, its name first; the workers read the same options and make the same
 * plan. p is a dry plan. Returns 0; ERR_USAGE when two models have the same weights; or an error of reading a
 * model's files or of starting a process. Whether a worker can load its model is told by bind(). d->close()
 * also after an error. */
int decoder_open_process(struct decoder *d, struct runplan *p, const struct decoder_user *user,
                         const struct device_list *devices, struct timeouts timeouts, int argc, char **argv,
                         const char *cache_dir, struct err *e);

#endif
