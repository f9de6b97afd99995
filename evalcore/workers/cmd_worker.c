/* kveval worker: one device of a sweep. The coordinator (sweep_workers.c) starts it with the device's index
 * and the sweep's own arguments; it is never started by hand. It makes the same plan, reports what it loaded,
 * and decodes the jobs that it is given until it is told to stop or the coordinator is gone. It writes no
 * file. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/clock.h"
#include "evalcore/base/log.h"
#include "evalcore/process/worker_process.h"
#include "evalcore/store/keymap.h"
#include "evalcore/workers/heartbeat.h"
#include "evalcore/sweep/job_submit.h"
#include "evalcore/sweep/sweep_options.h"
#include "evalcore/sweep/worker_cores.h"
#include "evalcore/workers/worker_messages.h"

struct worker {
    struct sweep_options o;
    struct device_list devices;
    struct runfile file;
    struct runplan plan;
    struct keymap keys; /* to indices of plan.jobs */
    struct wire wire;
    struct heartbeat heartbeat;
    int asked; /* jobs that were asked for and have not come */
    int stop;  /* told to, or nobody is there any more */
    int is_draining;
    int is_limited; /* the coordinator decides when a job starts: no job waits here */
    double shown;   /* when progress was reported last */
    struct decoded decoded;
};

static int tell(struct worker *w, json_t *message, struct err *e)
{
    int rc = heartbeat_send(&w->heartbeat, message, e);
    if (rc == WIRE_END)
        w->stop = 1;
    return rc < 0 ? rc : 0;
}

static int load(struct worker *w, const struct process_env *p, const char *path, int index, struct err *e)
{
    struct runfile_options fo = sweep_file_options(&w->o);
    if (device_list_parse(&w->devices, w->o.devices, DEVICES_MAX, e))
        return e->code;
    if (index >= w->devices.n)
        return err_set(e, ERR_USAGE, "there is no device %d in \"%s\"", index, w->o.devices);
    int cores = sweep_cores(&w->devices), most = omp_get_max_threads();
    cores = most < cores ? most : cores; /* OMP_NUM_THREADS may say less */
    struct runplan_options po = sweep_plan_options(&w->o, p, &w->devices, index);
    if (!w->devices.is_gpu && w->o.threads <= cores)
        worker_cores_take(index, w->devices.n);
    omp_set_num_threads(w->o.threads ? w->o.threads : cores);
    int rc = runfile_load(&w->file, path, &fo, e);
    if (!rc)
        rc = runfile_find_models(&w->file, p, e);
    if (!rc)
        rc = runplan_build(&w->plan, &w->file, &po, e);
    for (long i = 0; i < w->plan.n_jobs && !rc; i++)
        keymap_add(&w->keys, w->plan.jobs[i].key, i);
    return rc ? rc : tell(w, message_hello(&w->plan), e);
}

static int take_job(struct worker *w, const json_t *m, struct err *e)
{
    const char *key;
    if (message_read_job(m, &key, e))
        return e->code;
    long i = keymap_find(&w->keys, key);
    if (i < 0)
        return err_set(e, ERR_FORMAT,
                       "job %s is not in this worker's plan: did an input file change just now?", key);
    w->asked--;
    return submit_job(&w->plan, &w->plan.jobs[i], e);
}

static void drain(struct worker *w)
{
    w->is_draining = 1;
    for (int i = 0; i < w->plan.n_loaded; i++)
        engine_withdraw(w->plan.loaded[i].engine);
}

/* Takes what has come; with `wait`, at least one message. */
static int listen_for_jobs(struct worker *w, int wait, struct err *e)
{
    int rc = 0;
    while (!rc && !w->stop) {
        json_t *m = NULL;
        int got = wire_receive(&w->wire, wait, &m, e);
        if (got < 0 || got == WIRE_NOTHING)
            return got;
        if (got == WIRE_END || !strcmp(message_type(m), "stop"))
            w->stop = 1;
        else if (!strcmp(message_type(m), "drain"))
            drain(w);
        else
            rc = take_job(w, m, e);
        json_decref(m);
        wait = 0;
    }
    return rc;
}

/* Jobs on the way to a worker that is in a long step: what its socket cannot hold would stop the coordinator.
 */
enum { WANT_MOST = 64 };

/* Asks for as many jobs as there is room for. */
static int ask(struct worker *w, struct err *e)
{
    int room = (w->is_limited ? w->plan.loaded[0].info.max_batch : SUBMIT_WAITING) - w->asked;
    for (int i = 0; i < w->plan.n_loaded; i++) {
        const struct engine *en = w->plan.loaded[i].engine;
        room -= w->is_limited ? engine_pending(en) : engine_waiting(en);
    }
    if (room > WANT_MOST - w->asked)
        room = WANT_MOST - w->asked;
    if (room < 1 || w->is_draining)
        return 0;
    w->asked += room;
    return tell(w, message_want(room), e);
}

static int is_idle(const struct worker *w)
{
    for (int i = 0; i < w->plan.n_loaded; i++)
        if (engine_pending(w->plan.loaded[i].engine))
            return 0;
    return 1;
}

static int report_progress(struct worker *w, struct err *e)
{
    w->shown = clock_seconds();
    submit_decoded(&w->plan, &w->decoded);
    return tell(w, message_progress(&w->decoded), e);
}

static int step(struct worker *w, struct engine *en, struct err *e)
{
    const struct completion *done = NULL;
    int n = 0, rc = engine_step(en, &done, &n, e);
    if (!rc && n && is_idle(w)) /* the sweep may end with these, and would miss their last tokens */
        rc = report_progress(w, e);
    for (int i = 0; i < n && !rc && !w->stop; i++) {
        const struct job *j = done[i].user;
        rc = tell(w, message_done(j->key, &done[i]), e);
        if (rc)
            err_add(e, "job %s", j->key);
    }
    return rc;
}

static int work(struct worker *w, struct err *e)
{
    int rc = 0;
    while (!rc && !w->stop) {
        w->heartbeat.turn++;
        rc = ask(w, e);
        if (!rc)
            rc = listen_for_jobs(w, is_idle(w) && !w->is_draining, e);
        w->stop |= w->is_draining && is_idle(w);
        for (int i = 0; i < w->plan.n_loaded && !rc && !w->stop; i++)
            if (engine_pending(w->plan.loaded[i].engine))
                rc = step(w, w->plan.loaded[i].engine, e);
        if (!rc && !w->stop && clock_seconds() - w->shown >= 0.2)
            rc = report_progress(w, e);
    }
    return rc;
}

extern const struct command cmd_worker; /* at the end; evalcore/commands/commands.h lists it */

static int run_worker(const struct process_env *p, int argc, char **argv)
{
    struct worker w = {.wire.fd = WORKER_FD};
    struct err e = {0};
    const char *path;
    long index = 0;
    int n;
    if (argc < 3 || cli_int(argv[1], 0, DEVICES_MAX - 1, &index) || !worker_process_begin()) {
        err_set(&e, ERR_USAGE, "worker is a part of sweep: use kveval sweep --devices");
        return command_fail(&e, EXIT_USAGE);
    }
    int code = command_parse(&cmd_worker, &w.o, argc - 1, argv + 1, &path, 1, 1, &n);
    if (code >= 0)
        return code;
    log_set_quiet(w.o.quiet ? LOG_ERRORS : LOG_ALL);
    w.is_limited = w.o.time_limit || p->slurm_end;
    int rc = heartbeat_start(&w.heartbeat, &w.wire, &e);
    if (!rc)
        rc = load(&w, p, path, (int)index, &e);
    if (!rc)
        rc = work(&w, &e);
    if (rc)
        heartbeat_send(&w.heartbeat, message_error(&e), NULL);
    heartbeat_stop(&w.heartbeat);
    keymap_release(&w.keys);
    free(w.decoded.running);
    runplan_release(&w.plan);
    runfile_release(&w.file);
    /* At the end: from then on the coordinator waits for this process, and for no other. */
    wire_close(&w.wire);
    return rc ? EXIT_INCOMPLETE : EXIT_DONE;
}

const struct command cmd_worker = {
    .name = "worker",
    .usage = "INDEX RUN.json ...",
    .help = "one device of a sweep; started by sweep",
    .options = sweep_table,
    .run = run_worker,
    .is_hidden = 1,
};
