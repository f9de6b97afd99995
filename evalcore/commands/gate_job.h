#ifndef EVALCORE_COMMANDS_GATE_JOB_H
#define EVALCORE_COMMANDS_GATE_JOB_H

#include "evalcore/cli/stop.h"
#include "evalcore/commands/gate_options.h"
#include "evalcore/store/runlock.h"

/* What gate_run.c, a night, and gate_baseline.c share; the functions but the last one are in gate_job.c. */

struct gate_job {
    const struct gate_options *o;
    const struct process_env *env;
    struct runfile file;
    struct runplan plan;
    struct runlock lock;
    struct arena arena;
    struct gate_side base;
    struct device_list devices;
    struct stopper stopper;
    struct deadline deadline;
    struct sweep sweep;
};

/* Loads the run folder as it is now; run is to be released unless it fails. */
int gate_job_load(struct gate_job *j, struct gate_side *now, struct run *run, int may_be_partial,
                  struct err *e);
/* gate_decode() of the job's folder, with what to do next in the error. */
int gate_job_decode(struct gate_job *j, int samples, const char *wanted, int *signal, struct err *e);
/* The terminal, where something is shown. */
const struct process_env *gate_job_shown(const struct gate_job *j);
/* A signal ended the decoding. Returns the exit code. */
int gate_job_stopped(int signal);
/* Replays what the base keeps and compares: *out gets *n drifts, of which *failed fail. now_is: the settings
 * with what has changed in their options; NULL: not known. *unscored: why a server replayed nothing; NULL: it
 * did. Returns 0 or an ERR_ code; ERR_USAGE when the base has log-probabilities and its server gives none. */
int gate_job_compare(struct gate_job *j, const struct gate_result *now_is, struct gate_drift **out, int *n,
                     int *failed, const char **unscored, int *signal, struct err *e);
/* gate_replay() of the job's devices. */
int gate_job_replay(struct gate_job *j, struct gate_replay *r, int n, const struct gate_trace *traces,
                    int *signal, struct err *e);
/* Decodes a baseline and writes it. Returns the exit code; e is set where the caller has to print it. */
int gate_make_baseline(struct gate_job *j, struct err *e);

#endif
