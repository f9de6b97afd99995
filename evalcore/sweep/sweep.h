#ifndef EVALCORE_SWEEP_SWEEP_H
#define EVALCORE_SWEEP_SWEEP_H

#include "evalcore/sweep/decoder_process.h"
#include "evalcore/sweep/queue.h"
#include "evalcore/sweep/sweep_options.h"
#include "evalcore/sweep/sweep_progress.h"

/* The room of sweeps: from the jobs of a plan to records in a journal. queue.h says which job is next, a
 * decoder decodes it (decoder.h), sweep_progress.h writes the record; the loop between them is here. The
 * sweep and the gate come in by this door and by the headers that it includes.
 *
 *   sweep_open_workers or sweep_open_endpoint -> sweep_decode (for one list of jobs after the other)
 *   -> sweep_close */
struct sweep {
    struct runplan *plan;
    struct decoder decoder;
    struct queue queue;
    struct deadline *deadline;
    struct sweep_progress progress;
    /* Set by the caller. Gets each replay instead of the journal; an error ends the decoding. */
    int (*replayed)(void *context, const struct job *j, const struct decoded_job *d, struct err *e);
    void *context;
    int is_unsynced;
};

/* Both open the decoder and bind the plan, a dry one, to what it finds. That also makes the plan's jobs. *s
 * is zeroed before, and pointers are borrowed. They return 0; ERR_DEVICE: no worker is left; ERR_IO: the
 * server is not there; or another error, such as a mistake in the input that a worker found. A signal ends
 * the process meanwhile (stop.h). dir: the run folder, NULL where there is none yet. sweep_close() also after
 * an error. */
int sweep_open_workers(struct sweep *s, struct runplan *p, struct deadline *deadline,
                       const struct device_list *devices, struct timeouts timeouts, const char *dir, int argc,
                       char **argv, const char *cache_dir, struct err *e);
int sweep_open_endpoint(struct sweep *s, struct runplan *p, struct deadline *deadline,
                        const struct process_env *env, struct err *e);
/* The same on the engines of a plan that has them and its jobs, in this process. It cannot fail. */
void sweep_open_local(struct sweep *s, struct runplan *p, struct deadline *deadline);
/* Decodes the plan's jobs as they are now, in their order, into the journal of the folder `dir` (NULL: all
 * are replays). Returns 0 when all are over, or when a signal or the end of the time stopped it (*signal: the
 * signal, or DEADLINE_TIME_UP; else 0), or an ERR_ code when a journal cannot be written or the decoder
 * cannot go on. Jobs that ended in an error are over, too. After an error or a signal, what was journalled so
 * far stays, and nothing more can be decoded. s->progress tells what was done, until the next call. */
int sweep_decode(struct sweep *s, const char *dir, struct board *board, int *signal, struct err *e);
/* After a stop, before sweep_close(): logs how many tokens of unfinished completions are lost, and, if no job
 * was finished, which time limit would help. */
void sweep_log_lost(const struct sweep *s);
/* Closes the decoder, which ends the workers, and frees what s owns; s may be zeroed. The plan stays. */
void sweep_close(struct sweep *s);

/* kveval sweep (sweep_run.c): everything from the run file to the report. path: of the run file, which stands
 * in argv too; argv: as the command got it, for the workers. Prints errors; returns the exit code. */
int sweep_run(const struct process_env *env, const struct sweep_options *o, const char *path, int argc,
              char **argv);

#endif
