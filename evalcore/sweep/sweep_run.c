/* A whole sweep (contract: sweep.h): run file -> cells -> jobs -> what the journals lack -> decode -> journal
 * -> report. Mistakes in the input are found before the first token (exit 2). */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "evalcore/base/clock.h"
#include "evalcore/base/file.h"
#include "evalcore/base/log.h"
#include "evalcore/cli/progress.h"
#include "evalcore/cli/stop.h"
#include "evalcore/store/runlock.h"
#include "evalcore/plan/dryrun.h"
#include "evalcore/report/report.h"
#include "evalcore/status/board.h"
#include "evalcore/store/grades.h"
#include "evalcore/store/run.h"
#include "evalcore/store/runfolder.h"
#include "evalcore/sweep/sweep.h"

struct whole_sweep {
    const struct process_env *env;
    struct sweep_options o;
    const char *path;
    struct runfile file;
    struct runplan plan;
    struct device_list devices;
    struct runlock lock;
    struct stopper stopper;
    struct deadline deadline;
    struct sweep sweep;
    int argc;
    char **argv;
    struct arena arena;
    double lock_wait; /* seconds to wait for the folder (--wait) */
    int shard, n_shards;
    long of_shard, todo, failed; /* jobs; failed: in an earlier process */
    int display;                 /* enum board_display */
    struct board board;          /* its run_dir NULL: not begun */
    int is_complete;             /* every job is done, if only in an error */
    int code;                    /* exit code should the next step fail */
};

static int check_options(struct whole_sweep *s, struct err *e)
{
    if (!s->o.dry_run && !s->o.out)
        return err_set(e, ERR_USAGE, "no run folder was given; name one with -o DIR");
    if (device_list_parse(&s->devices, s->o.devices, DEVICES_MAX, e))
        return e->code;
    s->display = sweep_display(&s->o, e);
    if (s->display < 0 || dryrun_calibration(s->o.calibrate, e) < 0 || sweep_check_lengths_from(&s->o, e))
        return e->code;
    if (deadline_limit(&s->deadline, s->o.time_limit, s->o.dry_run ? 0 : s->env->slurm_end, e))
        return e->code;
    if (s->o.wait && deadline_duration("--wait", s->o.wait, &s->lock_wait, e))
        return e->code;
    return sweep_parse_shard(s->o.shard, &s->shard, &s->n_shards, e);
}

/* After a power cut a lock may stay for minutes, until its silence or the server's lease ends. A signal ends
 * the process meanwhile (STOP_BEFORE). */
static int wait_for_lock(struct whole_sweep *s, struct err *e)
{
    double until = clock_seconds() + s->lock_wait;
    int rc = runlock_take(&s->lock, s->o.out, s->shard, s->n_shards, e);
    if (rc == ERR_BUSY && s->lock_wait > 0)
        log_info("%.*s; waiting up to %s for it", (int)strcspn(e->text, ";"), e->text, s->o.wait);
    while (rc == ERR_BUSY && clock_seconds() < until) {
        sleep(1);
        *e = (struct err){0};
        rc = runlock_take(&s->lock, s->o.out, s->shard, s->n_shards, e);
    }
    return rc;
}

/* The folder is taken early when it is there: a second run is refused before it loads a model. It is made
 * late: a mistake in the input leaves no folder behind. */
static int take_folder(struct whole_sweep *s, struct err *e)
{
    if (s->o.dry_run || s->lock.fd > 0)
        return 0;
    int rc = file_mkdirs(s->o.out, e);
    if (!rc)
        rc = wait_for_lock(s, e);
    if (rc == ERR_BUSY)
        s->code = EXIT_INCOMPLETE;
    return rc;
}

static int check_endpoint_options(const struct whole_sweep *s, struct err *e)
{
    const char *option = s->o.devices ? "--devices" : s->o.threads ? "--threads" : NULL;
    return option ? err_set(e, ERR_USAGE, "%s says nothing to an endpoint; leave it out", option) : 0;
}

/* A device, or a job on it, may fail in ways that end a process or keep it for ever, so each device has one
 * of its own, which can be started again. Several models are in a process each, one after the other. */
static int uses_workers(const struct whole_sweep *s)
{
    return !s->o.dry_run && !s->file.endpoint;
}

/* One of several "models", by --model: tables are of what the run file has, so a folder with the others'
 * cells would lose these from them. */
static int check_picked(const struct whole_sweep *s, struct err *e)
{
    const char *label = s->file.models[0].label;
    if (s->file.picked < 0)
        return 0;
    json_t *config = s->o.out ? runfolder_config(s->o.out) : NULL;
    const char *other = runfolder_other_model(config, s->file.models[0].shown);
    if (other)
        err_set(e, ERR_USAGE,
                "%s has cells of model %s, which --model %s would take out of its tables; give model %s a "
                "folder of its own with -o, or leave --model out",
                s->o.out, other, label, label);
    json_decref(config);
    if (!other && s->file.lost_baseline)
        log_warn("--model %s leaves out the baseline, which is of model %s: nothing is compared with it",
                 label, s->file.lost_baseline);
    return e->code;
}

static int load_inputs(struct whole_sweep *s, struct err *e)
{
    struct runfile_options fo = sweep_file_options(&s->o);
    struct runplan_options po = sweep_plan_options(&s->o, s->env, &s->devices, 0);
    int rc = sweep_keep_pipe(&s->path, s->argc, s->argv, &s->arena, e);
    if (!rc)
        rc = runfile_load(&s->file, s->path, &fo, e);
    po.dry = 1; /* workers or a server decode, this process opens no engine */
    if (!rc && s->file.endpoint)
        rc = check_endpoint_options(s, e);
    if (!rc)
        rc = runfile_find_models(&s->file, s->env, e);
    if (!rc && s->o.out)
        rc = runfolder_check(s->o.out, e);
    if (!rc && s->o.out && file_is_dir(s->o.out))
        rc = take_folder(s, e);
    if (!rc)
        rc = check_picked(s, e);
    if (!rc)
        rc = runplan_build(&s->plan, &s->file, &po, e);
    if (!rc) {
        if (!s->o.dry_run) /* which prints it */
            runplan_log_sets(&s->plan);
        runplan_log_layers(&s->plan);
        runplan_warn_risks(&s->plan);
    }
    if (rc == ERR_DEVICE) /* no mistake in the input */
        s->code = EXIT_INCOMPLETE;
    return rc;
}

/* Starts the workers and completes the plan with what the first of them reports. */
static int load_workers(struct whole_sweep *s, struct err *e)
{
    struct timeouts timeouts = {.silence = s->o.worker_timeout ? s->o.worker_timeout : WORKER_TIMEOUT,
                                .step = s->o.step_timeout || !s->devices.is_gpu ? s->o.step_timeout
                                                                                : STEP_TIMEOUT};
    int rc = sweep_open_workers(&s->sweep, &s->plan, &s->deadline, &s->devices, timeouts, s->o.out, s->argc,
                                s->argv, s->env->cache_dir, e);
    if (rc == ERR_DEVICE)
        s->code = EXIT_INCOMPLETE;
    return rc;
}

/* The same with the server of an endpoint. */
static int load_endpoint(struct whole_sweep *s, struct err *e)
{
    int rc = sweep_open_endpoint(&s->sweep, &s->plan, &s->deadline, s->env, e);
    if (rc == ERR_IO) /* no mistake in the input */
        s->code = EXIT_INCOMPLETE;
    return rc;
}

/* What another folder tells of the problems' lengths. */
static int take_lengths(struct whole_sweep *s, struct err *e)
{
    const struct run_options o = {.grades = RUN_GRADES_NONE};
    struct run other;
    if (!s->o.lengths_from || !s->todo)
        return 0;
    if (run_load_with(&other, s->o.lengths_from, &o, e))
        return e->code;
    long known = queue_hint(&s->plan, &other);
    if (known)
        log_info("the problems of %ld of %ld jobs have completions in %s", known, s->todo, s->o.lengths_from);
    else
        log_warn("%s has no completion of any problem of this run: --lengths-from tells nothing",
                 s->o.lengths_from);
    run_release(&other);
    return 0;
}

/* Takes the folder and leaves in the plan what is still to do. */
static int prepare_folder(struct whole_sweep *s, struct err *e)
{
    struct run_options o = {.grades = RUN_GRADES_NONE, .zh_dict = s->o.zh_dict};
    struct run done;
    int dropped = 0;
    double began = clock_seconds();
    int rc = take_folder(s, e);
    if (!rc)
        runfolder_drop_abandoned(s->o.out);
    if (!rc)
        rc = runplan_write(&s->plan, s->o.out, &dropped, e);
    if (!rc)
        rc = run_load_with(&done, s->o.out, &o, e);
    if (rc)
        return rc;
    if (dropped)
        log_info(
            "%d cells of this folder's earlier run file are not in this one; their completions stay in the "
            "journals but not in the tables",
            dropped);
    if (done.n_bad_lines)
        log_warn("%ld journal lines are damaged; their jobs are decoded again", done.n_bad_lines);
    if (done.n_conflicts)
        log_warn("%ld jobs were decoded twice with different tokens: results are not reproducible here",
                 done.n_conflicts);
    s->todo =
        queue_keep_open(&s->plan, &done, s->o.retry_errors, s->shard, s->n_shards, &s->of_shard, &s->failed);
    rc = take_lengths(s, e);
    if (!rc)
        queue_sort(&s->plan, &done, s->devices.n);
    run_release(&done);
    deadline_begin(&s->deadline, clock_seconds() - began);
    return rc;
}

static void log_plan(struct whole_sweep *s)
{
    double expected = 0;
    for (long i = 0; i < s->plan.n_jobs; i++)
        expected += s->plan.jobs[i].expected;
    log_info("%s on %s: %d cells, %ld jobs, %ld done, about %.0f tokens to decode",
             runfile_models_text(&s->file), s->plan.loaded[0].info.device, s->plan.n_cells, s->of_shard,
             s->of_shard - s->todo, expected);
}

/* The folder is locked and holds the plan. */
static void begin_board(struct whole_sweep *s)
{
    struct status *now = &s->board.now;
    board_init(&s->board, (enum board_display)s->display, s->env, s->o.out, s->o.metrics);
    now->model = runfile_models_text(&s->file);
    now->shard = s->shard;
    now->n_shards = s->n_shards;
    now->done = s->of_shard - s->todo;
    now->total = s->of_shard;
    now->failed = s->failed;
    now->n_devices = s->devices.n;
    now->device = arena_alloc(&s->file.arena, (size_t)s->devices.n * sizeof *now->device);
    for (int i = 0; i < s->devices.n; i++) {
        char name[DEVICE_NAME_MAX];
        device_list_name(&s->devices, i, name);
        now->device[i].name = arena_strdup(&s->file.arena, name);
    }
    status_drop_others(s->o.out, s->n_shards);
    board_begin(&s->board);
}

/* The last word of the status file. */
static void end_board(struct whole_sweep *s, int code, const struct err *e)
{
    int is_stopped = code == EXIT_STOPPED || code == EXIT_INTERRUPTED;
    if (!s->board.run_dir)
        return;
    board_state(&s->board,
                is_stopped                            ? STATUS_STOPPED
                : code == EXIT_DONE || s->is_complete ? STATUS_FINISHED
                                                      : STATUS_FAILED,
                is_stopped || s->is_complete ? "" : e->text);
    board_end(&s->board);
}

static int decode_jobs(struct whole_sweep *s, int *signal, struct err *e)
{
    const struct sweep_progress *t = &s->sweep.progress;
    double started = clock_seconds();
    stopper_phase(&s->stopper, STOP_DECODING);
    int rc = sweep_decode(&s->sweep, s->o.out, &s->board, signal, e);
    if (!rc && *signal)
        sweep_log_lost(&s->sweep);
    else if (!rc) /* workers give their memory back while the results are written */
        s->sweep.decoder.stop(&s->sweep.decoder, 1, e);
    double seconds = clock_seconds() - started;
    if (!rc && !*signal && t->finished) {
        struct str time = {0};
        progress_duration(&time, seconds);
        log_info("%ld completions, %.0f tokens in %s: %.0f tokens/s", t->finished, t->tokens, time.data,
                 t->tokens / (seconds > 0 ? seconds : 1));
        str_release(&time);
    }
    if (rc)
        err_add(e, "stopped with %ld of %ld jobs saved, repeat the command to go on",
                s->of_shard - s->todo + t->finished, s->of_shard);
    return rc;
}

/* Grades and report/, both rebuilt from the journals, and the table on standard output. *failed counts
 * the jobs that ended as error. */
static int write_results(const struct whole_sweep *s, long *failed, struct err *e)
{
    struct run run;
    int rc = run_load_with(&run, s->o.out, &(struct run_options){.zh_dict = s->o.zh_dict}, e);
    if (rc)
        return rc;
    for (int c = 0; c < run.n_cells; c++)
        for (int i = 0; i < run.cells[c].n_records; i++)
            *failed += run.cells[c].records[i].finish == FINISHED_ERROR;
    rc = grades_save(&run, e);
    struct str table = {0};
    if (!rc)
        rc = report_write(&run, &table, e);
    run_release(&run);
    if (!rc && !s->o.quiet)
        printf("%s\nreport: %s/report/report.md and index.html\n", str_text(&table), s->o.out);
    str_release(&table);
    return rc;
}

/* Completions that are in the folder already tell lengths. */
static int dry_run(struct whole_sweep *s, struct err *e)
{
    struct run_options ro = {.grades = RUN_GRADES_NONE};
    struct run done;
    struct str config = {0};
    struct dryrun_options o = {.calibration = dryrun_calibration(s->o.calibrate, e),
                               .n_devices = s->devices.n};
    if (s->o.out)
        file_join(&config, s->o.out, "config.resolved.json");
    int rc = 0, has_run = config.len && file_exists(str_text(&config));
    if (has_run)
        rc = run_load_with(&done, s->o.out, &ro, e);
    o.done = has_run && !rc ? &done : NULL;
    if (!rc)
        dryrun_print(&s->plan, &o);
    if (o.done)
        run_release(&done);
    str_release(&config);
    return rc;
}

/* Decoding ended early. When the time is up there is still some for the report. */
static int end_early(const struct whole_sweep *s, int signal, struct err *e)
{
    const struct sweep_progress *t = &s->sweep.progress;
    long failed = 0;
    log_info("%s: %ld of %ld jobs are done and saved; repeat the command to go on",
             signal == DEADLINE_TIME_UP ? "time is up" : "stopped", s->of_shard - s->todo + t->finished,
             s->of_shard);
    if (signal != DEADLINE_TIME_UP)
        return stop_exit_code(signal);
    return t->finished && write_results(s, &failed, e) ? s->code : EXIT_STOPPED;
}

static int run_steps(struct whole_sweep *s, struct err *e)
{
    long failed = 0;
    s->code = EXIT_USAGE;
    int signal = 0, rc = check_options(s, e);
    if (!rc)
        rc = load_inputs(s, e);
    if (!rc && uses_workers(s))
        rc = load_workers(s, e);
    if (!rc && s->file.endpoint && !s->o.dry_run)
        rc = load_endpoint(s, e);
    if (rc)
        return s->code;
    if (s->o.dry_run)
        return dry_run(s, e) ? s->code : EXIT_DONE;
    if (prepare_folder(s, e))
        return s->code;
    log_plan(s);
    begin_board(s);
    s->code = EXIT_INCOMPLETE;
    if (s->plan.n_jobs && decode_jobs(s, &signal, e))
        return s->code;
    if (signal <= 0)
        stopper_phase(&s->stopper, STOP_WRITING);
    if (signal)
        return end_early(s, signal, e);
    board_state(&s->board, STATUS_GRADING, "");
    if (write_results(s, &failed, e))
        return s->code;
    s->is_complete = 1;
    if (failed)
        err_set(
            e, ERR_DEVICE,
            "%ld jobs failed; they count as error in the tables, kveval show says why, and --retry-errors "
            "decodes them again",
            failed);
    return failed ? EXIT_FAILED_JOBS : EXIT_DONE;
}

int sweep_run(const struct process_env *env, const struct sweep_options *o, const char *path, int argc,
              char **argv)
{
    struct whole_sweep s = {.env = env, .o = *o, .path = path, .argc = argc, .argv = argv};
    struct err e = {0};
    stop_block();
    deadline_init(&s.deadline, &s.stopper);
    s.stopper = (struct stopper){.drain_seconds = o->drain, .is_quiet = o->quiet, .is_live = env->live};
    int code = stopper_start(&s.stopper, &e) ? EXIT_INCOMPLETE : run_steps(&s, &e);
    end_board(&s, code, &e);
    sweep_close(&s.sweep);
    if (e.code)
        code = command_fail(&e, code);
    runplan_release(&s.plan);
    runfile_release(&s.file);
    arena_release(&s.arena);
    runlock_drop(&s.lock);
    stopper_end(&s.stopper);
    return code;
}
