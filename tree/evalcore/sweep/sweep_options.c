/* One table for the coordinator and its workers (contract: sweep_options.h). */
#include "evalcore/sweep/sweep_options.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/file.h"
#include "evalcore/base/json.h"
#include "evalcore/base/log.h"
#include "evalcore/status/board.h"
#include "evalcore/store/grades.h"
#include "evalcore/store/runfolder.h"
#include "evalcore/store/runlock.h"
#include "evalcore/sweep/worker_cores.h"

#define AT(member) offsetof(struct sweep_options, member)
const struct cli_option sweep_table[] = {
    {"output-path", 'o', CLI_STRING, AT(out), "DIR", .help = "run folder; made if missing, resumed if there"},
    {"model", 'M', CLI_STRING, AT(model), "MODEL",
     .help = "pocket, a model folder or an id in the Hub's cache, instead of the run file's; of several "
             "\"models\" "
             "the label of one"},
    {"tasks", 't', CLI_STRING, AT(tasks), "TASKS", .help = "only these tasks of the run file"},
    {"limit", 'L', CLI_INT, AT(limit), "N", .help = "only the first N problems of each task", .min = 1,
     .max = CLI_INT_MAX},
    {"sample-ids", 'E', CLI_STRING, AT(sample_ids), "IDS",
     .help = "only these problems: ids a,b,c, or {\"task\": [...]} with ids as texts, positions from 0 as "
             "integers"},
    {"data", 'd', CLI_STRING, AT(data), "DIR", .help = "where problem files are (see: kveval list tasks)"},
    {"set", 0, CLI_LIST, AT(set), "A.B=C", .help = "override the run file; may be repeated"},
    {"devices", 0, CLI_STRING, AT(devices), "DEVICES", .help = DEVICES_HELP},
    {"threads", 0, CLI_INT, AT(threads), "N",
     .help = "CPU threads of each worker (default: one for each of its cores, an equal share of all)",
     .min = 1, .max = CLI_THREADS_MAX},
    {"max-batch", 'b', CLI_INT, AT(max_batch), "N",
     .help = "sequences decoded together (default 32, on a GPU 128)", .min = 1, .max = 512},
    {"worker-timeout", 0, CLI_INT, AT(worker_timeout), "SECONDS",
     .help = "a worker that gives no sign of life for so long is ended (default 30)", .min = 2, .max = 86400},
    {"step-timeout", 0, CLI_INT, AT(step_timeout), "SECONDS", .help = STEP_TIMEOUT_HELP, .min = 2,
     .max = 86400},
    {"time-limit", 0, CLI_STRING, AT(time_limit), "DURATION",
     .help = "3h, 90m, 3600: start no job that cannot be expected to end in time, and stop by then (default: "
             "when Slurm ends the job)"},
    {"wait", 0, CLI_STRING, AT(wait), "DURATION",
     .help = "wait so long for a run folder that another process holds (default: not at all)"},
    {"drain", 0, CLI_INT, AT(drain), "SECONDS",
     .help = "Ctrl-C gives completions under way so long to end (default 60; 0: none)", .max = 86400},
    {"shard", 0, CLI_STRING, AT(shard), "I/N",
     .help = "only shard I of N, counted from 0; shards share one folder"},
    {"retry-errors", 0, CLI_FLAG, AT(retry_errors), NULL,
     .help = "decode jobs again that ended in an error; what succeeds takes their place"},
    {"lengths-from", 0, CLI_STRING, AT(lengths_from), "DIR",
     .help = "start long problems first, judged by the completions in run folder DIR; also improves the time "
             "estimate"},
    {"zh-dict", 0, CLI_STRING, AT(zh_dict), "DIR", .help = ZH_DICT_HELP},
    {"dry-run", 0, CLI_FLAG, AT(dry_run), NULL,
     .help = "check everything, weights included, and print cells, jobs, expected tokens, memory and time"},
    {"calibrate", 0, CLI_STRING, AT(calibrate), "WHEN",
     .help = "--dry-run measures the device's speed: auto (default; weights up to 2 GiB), yes, no"},
    {"display", 0, CLI_STRING, AT(display), "HOW",
     .help =
         "progress on standard error: auto (default; redrawn on a terminal, else plain), plain (a line now "
         "and then), json (an object a line), none; with json and none only warnings and errors beside it"},
    {"metrics", 0, CLI_STRING, AT(metrics), "FILE",
     .help = "keep the figures there for Prometheus (node_exporter's textfile collector reads *.prom); one "
             "file for each sweep or shard"},
    {"quiet", 'q', CLI_FLAG, AT(quiet), NULL,
     .help = "errors only: no progress, no warnings, no table on standard output"},
    {0},
};

struct runfile_options sweep_file_options(const struct sweep_options *o)
{
    return (struct runfile_options){
        .model = o->model, .tasks = o->tasks, .set = &o->set, .takes_endpoint = 1, .takes_models = 1};
}

int sweep_cores(const struct device_list *devices)
{
    return worker_cores_threads(devices->n);
}

static int threads_of(const struct sweep_options *o, const struct device_list *devices)
{
    return o->threads || devices->n < 2 || devices->is_gpu ? o->threads : sweep_cores(devices);
}

struct runplan_options sweep_plan_options(const struct sweep_options *o, const struct process_env *p,
                                          const struct device_list *devices, int i)
{
    return (struct runplan_options){.data_dir = o->data,
                                    .sample_ids = o->sample_ids,
                                    .limit = o->limit,
                                    .backend = devices->backend,
                                    .ordinal = devices->is_gpu ? devices->ordinal[i] : 0,
                                    .threads = threads_of(o, devices),
                                    .max_batch = o->max_batch,
                                    .cache_dir = p->cache_dir};
}

/* ---- options that are looked at before anything is loaded ---- */

int sweep_parse_shard(const char *text, int *shard, int *n_shards, struct err *e)
{
    const char *slash = text ? strchr(text, '/') : NULL;
    long i = -1, n = -1;
    if (!text)
        return 0;
    struct arena a = {0};
    int bad = !slash || cli_int(arena_strndup(&a, text, (size_t)(slash - text)), 0, RUNLOCK_SHARDS_MAX, &i) ||
              cli_int(slash + 1, 1, RUNLOCK_SHARDS_MAX, &n) || i >= n;
    arena_release(&a);
    if (bad)
        return err_set(e, ERR_USAGE, "--shard takes I/N with I from 0 to N-1, such as 0/4, not \"%s\"", text);
    *shard = (int)i;
    *n_shards = (int)n;
    return 0;
}

int sweep_keep_pipe(const char **path, int argc, char **argv, struct arena *a, struct err *e)
{
    struct stat st;
    struct str text = {0};
    if (stat(*path, &st) || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
        return 0; /* what is missing is told by who reads it */
    int fd = memfd_create("run", MFD_CLOEXEC), rc = file_read_most(*path, JSON_WRITTEN_MAX, &text, e);
    for (size_t at = 0; fd >= 0 && !rc && at < text.len;) {
        ssize_t n = write(fd, text.data + at, text.len - at);
        if (n < 0 && errno != EINTR)
            rc = err_set(e, file_error_code(errno), "%s cannot be kept in memory: %s", *path,
                         err_reason(errno));
        at += n > 0 ? (size_t)n : 0;
    }
    str_release(&text);
    if (fd < 0 || rc)
        return rc ? rc
                  : err_set(e, file_error_code(errno), "%s cannot be kept in memory: %s", *path,
                            err_reason(errno));
    char *name = arena_printf(a, "/proc/%ld/fd/%d", (long)getpid(), fd);
    for (int i = 0; i < argc; i++)
        if (argv[i] == *path)
            argv[i] = name;
    *path = name;
    return 0;
}

int sweep_display(const struct sweep_options *o, struct err *e)
{
    int display = board_display(o->display, e);
    if (display < 0)
        return e->code;
    if (o->quiet && (display == BOARD_PLAIN || display == BOARD_JSON))
        return err_set(e, ERR_USAGE, "--quiet shows errors only: leave it or --display %s out", o->display);
    if (o->quiet)
        display = BOARD_NONE;
    else if (display == BOARD_JSON || display == BOARD_NONE)
        log_set_quiet(LOG_WARNINGS);
    if (o->metrics)
        file_check_target("--metrics", o->metrics, e);
    return e->code ? e->code : display;
}

int sweep_check_lengths_from(const struct sweep_options *o, struct err *e)
{
    const char *dir = o->lengths_from;
    json_t *config = dir ? runfolder_config(dir) : NULL;
    if (dir && !config)
        err_set(e, ERR_USAGE, "--lengths-from %s: that is not a run folder", dir);
    json_decref(config);
    return e->code;
}
