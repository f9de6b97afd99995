#ifndef EVALCORE_SWEEP_SWEEP_OPTIONS_H
#define EVALCORE_SWEEP_SWEEP_OPTIONS_H

#include "evalcore/cli/command.h"
#include "evalcore/cli/device_list.h"
#include "evalcore/plan/runplan.h"

/* The options of `kveval sweep`, which its workers are started with too: both make the same plan of them. */
struct sweep_options {
    const char *out, *model, *tasks, *sample_ids, *data, *shard, *zh_dict, *devices;
    struct cli_list set;
    int limit, threads, max_batch, dry_run, quiet;
};
extern const struct cli_option sweep_table[];

/* What they mean for runfile_load() and, on device i of the list, for runplan_build(). `set` is borrowed. */
struct runfile_options sweep_file_options(const struct sweep_options *o);
struct runplan_options sweep_plan_options(const struct sweep_options *o, const struct program *p,
                                          const struct device_list *devices, int i);
/* Cores of this machine for each worker. */
int sweep_cores(const struct device_list *devices);

#endif
