#ifndef EVALCORE_SWEEP_SWEEP_OPTIONS_H
#define EVALCORE_SWEEP_SWEEP_OPTIONS_H

#include "evalcore/cli/command.h"
#include "evalcore/cli/device_list.h"
#include "evalcore/plan/runplan.h"

/* A door of the room of sweeps (sweep_progress.h): the options of `kveval sweep`. Its workers are started
 * with the same options, so that both make the same plan. */
struct sweep_options {
    const char *out, *model, *tasks, *sample_ids, *data, *shard, *zh_dict, *devices, *calibrate, *time_limit,
        *wait;
    const char *display, *metrics, *lengths_from;
    struct cli_list set;
    int limit, threads, max_batch, worker_timeout, step_timeout, drain, retry_errors, dry_run, quiet;
};
/* Seconds, unless told otherwise; that of a step on a GPU. */
enum { WORKER_TIMEOUT = 30, STEP_TIMEOUT = 900, DRAIN_SECONDS = 60 };
#define STEP_TIMEOUT_HELP                                                                                    \
    "a worker whose device does not finish a step for so long is ended (default: 900 on a GPU, no limit on " \
    "a CPU)"
extern const struct cli_option sweep_table[];

/* They return the options as runfile_load() and, for device i of the list, runplan_build() take them; texts
 * and `set` are borrowed. */
struct runfile_options sweep_file_options(const struct sweep_options *o);
struct runplan_options sweep_plan_options(const struct sweep_options *o, const struct process_env *p,
                                          const struct device_list *devices, int i);
/* Reads "I/N". Returns 0, with *shard and *n_shards untouched for NULL; or ERR_USAGE when it is no such text,
 * I is not below N, or N is above RUNLOCK_SHARDS_MAX. */
int sweep_parse_shard(const char *text, int *shard, int *n_shards, struct err *e);
/* Returns how progress is shown, an enum board_display, and quietens the log accordingly; or ERR_USAGE for an
 * unknown --display, one that contradicts --quiet, or a --metrics that cannot be written. */
int sweep_display(const struct sweep_options *o, struct err *e);
/* Returns 0, or ERR_USAGE when --lengths-from is given and is no run folder. */
int sweep_check_lengths_from(const struct sweep_options *o, struct err *e);
/* A run file that is a pipe can be read once, and each worker reads it anew. What comes out of it is kept in
 * memory, and *path, also where argv has it, becomes a name of that, in the arena, which lasts as long as
 * this process. Returns 0, also where the run file is no pipe or is missing, and nothing changes then; ERR_IO
 * when it cannot be read or kept, ERR_FORMAT when it is too long. */
int sweep_keep_pipe(const char **path, int argc, char **argv, struct arena *a, struct err *e);
/* Returns how many cores of this machine each worker gets, at least 1. */
int sweep_cores(const struct device_list *devices);

#endif
