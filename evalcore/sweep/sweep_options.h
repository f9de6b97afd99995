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

/* The options as runfile_load() and, for device i of the list, runplan_build() take them; texts and `set` are
 * borrowed. */
struct runfile_options sweep_file_options(const struct sweep_options *o);
struct runplan_options sweep_plan_options(const struct sweep_options *o, const struct process_env *p,
                                          const struct device_list *devices, int i);
/* "I/N", NULL for none; how progress is shown, with the log set accordingly, and
 * whether --metrics can be written; whether --lengths-from is a run folder. */
int sweep_parse_shard(const char *text, int *shard, int *n_shards, struct err *e);
int sweep_display(const struct sweep_options *o, struct err *e); /* enum board_display */
int sweep_check_lengths_from(const struct sweep_options *o, struct err *e);
/* A run file that is a pipe can be read once, and each worker reads it anew. What comes out of it is kept in
 * memory, and *path, also where argv has it, becomes a name of that which lasts as long as this process. */
int sweep_keep_pipe(const char **path, int argc, char **argv, struct arena *a, struct err *e);
/* How many cores of this machine each worker gets. */
int sweep_cores(const struct device_list *devices);

#endif
