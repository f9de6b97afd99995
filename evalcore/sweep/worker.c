/* kveval worker: one device of a decoder (decoder_process.h). The coordinator starts it with the device's
 * index and the sweep's own arguments; it is never started by hand. It makes the same plan, reports what it
 * loaded, and decodes the jobs that it is given until it is told to stop or the coordinator is gone. It
 * writes no file. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/clock.h"
#include "evalcore/base/log.h"
#include "evalcore/process/worker_process.h"
#include "evalcore/store/job_key.h"
#include "evalcore/sweep/decoder.h"
#include "evalcore/sweep/heartbeat.h"
#include "evalcore/sweep/replay.h"
#include "evalcore/sweep/sweep_options.h"
#include "evalcore/sweep/worker_cores.h"
#include "evalcore/sweep/worker_messages.h"

struct worker {
    struct sweep_options o;
    struct device_list devices;
    struct runfile file;
    struct runplan plan;
    struct decoder decoder; /* of this process's engines */
    struct keymap keys;     /* to indices of plan.jobs */
    struct arena arena;
    struct wire wire;
    struct heartbeat heartbeat;
    int asked; /* jobs that were asked for and have not come */
    int stop;  /* told to, or nobody is there any more */
    int is_draining;
    int is_limited;  /* the coordinator decides when a job starts: no job waits here */
    double reported; /* when progress was reported last */
    struct decoder_figures figures;
    struct owned_request **request; /* (n_requests): of the jobs behind the plan's own */
    long n_requests, n_plan;
    size_t requests_cap;
};

static int send_message(struct worker *w, json_t *message, struct err *e)
{
    int rc = heartbeat_send(&w->heartbeat, message, e);
    if (rc == WIRE_END)
        w->stop = 1;
    return rc < 0 ? rc : 0;
}

static int send_completion(void *context, int worker, long j, const struct decoded_job *done, struct err *e);
static void send_tokens(void *context, long j, const struct decoder_tokens *t);

static int load_plan(struct worker *w, const struct process_env *p, const char *path, int index,
                     struct err *e)
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
    w->n_plan = w->plan.n_jobs;
    for (long i = 0; i < w->plan.n_jobs && !rc; i++)
        keymap_add(&w->keys, w->plan.jobs[i].key, i);
    if (rc)
        return rc;
    decoder_open_local(&w->decoder, &w->plan,
                       &(struct decoder_user){.context = w, .done = send_completion, .tokens = send_tokens});
    w->decoder.is_limited = w->is_limited;
    return send_message(w, message_hello(&w->plan), e);
}

static int find_job(const struct worker *w, const json_t *m, long *j, struct err *e)
{
    const char *key;
    if (message_read_job(m, &key, e))
        return e->code;
    *j = keymap_find(&w->keys, key);
    return *j >= 0 ? 0
                   : err_set(e, ERR_FORMAT,
                             "job %s is not in this worker's plan: did an input file change just now?", key);
}

static int find_cell(const struct runplan *p, const char *id)
{
    for (int c = 0; c < p->n_cells; c++)
        if (!strcmp(p->cells[c].id, id))
            return c;
    return -1;
}

/* Adds a replay to the plan's jobs. */
static int add_replay(struct worker *w, const json_t *m, long *j, struct err *e)
{
    struct runplan *p = &w->plan;
    struct replay_tokens *tokens = arena_alloc(&w->arena, sizeof *tokens);
    struct job job = {.cell = -1, .replay = tokens};
    const char *cell;
    memset(tokens, 0, sizeof *tokens);
    int rc = message_read_replay(m, &job, tokens, &cell, e);
    int32_t *ids = arena_alloc(&w->arena, ((size_t)tokens->n + 1) * sizeof *ids);
    if (!rc)
        memcpy(ids, tokens->ids, (size_t)tokens->n * sizeof *ids);
    free((int32_t *)tokens->ids);
    tokens->ids = ids;
    job.cell = rc ? -1 : find_cell(p, cell);
    if (!rc && (job.cell < 0 || job.problem < 0 ||
                (size_t)job.problem >= p->sets[p->cells[job.cell].set].task.n_problems))
        return err_set(e, ERR_FORMAT,
                       "replay %s is not of this worker's plan: did an input file change just now?", job.key);
    if (rc)
        return rc;
    *j = keymap_add(&w->keys, job.key, p->n_jobs);
    if (*j < p->n_jobs)
        return 0; /* it was here before */
    p->jobs = xrealloc(p->jobs, (size_t)(p->n_jobs + 1) * sizeof *p->jobs);
    p->jobs[p->n_jobs++] = job;
    return 0;
}

/* Adds a request to the plan's jobs, or puts it in the place of the one that had its key and is over. */
static int add_request(struct worker *w, const json_t *m, long *j, struct err *e)
{
    struct runplan *p = &w->plan;
    struct owned_request *q = xcalloc(1, sizeof *q);
    struct job job = {.request = &q->q};
    const char *key, *cell;
    int rc = message_read_request(m, &key, &cell, q, e);
    if (!rc && (job.cell = find_cell(p, cell)) < 0)
        rc = err_set(e, ERR_FORMAT, "the policy of request %s is not of this worker's plan", key);
    if (rc) {
        request_release(q);
        free(q);
        return rc;
    }
    memcpy(job.key, key, JOB_KEY_HEX + 1);
    *j = keymap_add(&w->keys, key, p->n_jobs);
    if (*j == p->n_jobs) {
        p->jobs = xrealloc(p->jobs, (size_t)(p->n_jobs + 1) * sizeof *p->jobs);
        p->n_jobs++;
        xgrow(&w->request, &w->requests_cap, (size_t)w->n_requests + 1, sizeof *w->request);
        w->request[w->n_requests++] = NULL;
    }
    struct owned_request **old = &w->request[*j - w->n_plan];
    if (*old)
        request_release(*old);
    free(*old);
    *old = q;
    p->jobs[*j] = job;
    return 0;
}

static int cancel_request(struct worker *w, const json_t *m, struct err *e)
{
    const char *key;
    if (message_read_job(m, &key, e))
        return e->code;
    long j = keymap_find(&w->keys, key);
    return j >= 0 && w->plan.jobs[j].request ? w->decoder.cancel(&w->decoder, j, e) : 0;
}

static void free_requests(struct worker *w)
{
    for (long i = 0; i < w->n_requests; i++) {
        if (w->request[i])
            request_release(w->request[i]);
        free(w->request[i]);
    }
    free(w->request);
}

static int accept_job(struct worker *w, const json_t *m, struct err *e)
{
    const char *type = message_type(m);
    long j = -1;
    if (!strcmp(type, "cancel"))
        return cancel_request(w, m, e);
    int rc = !strcmp(type, "replay")    ? add_replay(w, m, &j, e)
             : !strcmp(type, "request") ? add_request(w, m, &j, e)
                                        : find_job(w, m, &j, e);
    w->asked--;
    return rc ? rc : w->decoder.submit(&w->decoder, 0, j, e);
}

static void begin_drain(struct worker *w)
{
    w->is_draining = 1;
    w->decoder.drain(&w->decoder, NULL);
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
            begin_drain(w);
        else
            rc = accept_job(w, m, e);
        json_decref(m);
        wait = 0;
    }
    return rc;
}

/* At most this many jobs are on the way to a worker: while it is in a long step, another can start more. */
enum { WANT_MAX = 64 };

/* Asks for as many jobs as the decoder has capacity for. */
static int ask_for_jobs(struct worker *w, struct err *e)
{
    int wanted = w->decoder.capacity(&w->decoder, 0) - w->asked;
    if (wanted > WANT_MAX - w->asked)
        wanted = WANT_MAX - w->asked;
    if (wanted < 1 || w->is_draining)
        return 0;
    w->asked += wanted;
    return send_message(w, message_want(wanted), e);
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
    w->reported = clock_seconds();
    w->decoder.look(&w->decoder, &w->figures);
    return send_message(w, message_progress(&w->figures, &w->plan), e);
}

static int send_completion(void *context, int worker, long j, const struct decoded_job *done, struct err *e)
{
    struct worker *w = context;
    const char *key = w->plan.jobs[j].key;
    int rc = 0;
    (void)worker;
    if (w->stop)
        return 0;
    if (is_idle(w)) /* the sweep may end with this one, and would miss its last tokens */
        rc = report_progress(w, e);
    if (!rc)
        rc = send_message(w, message_done(key, done), e);
    return rc ? err_add(e, "job %s", key), rc : 0;
}

static void send_tokens(void *context, long j, const struct decoder_tokens *t)
{
    struct worker *w = context;
    struct err ignored = {0}; /* the next message finds the same */
    if (!w->stop)
        send_message(w, message_tokens(w->plan.jobs[j].key, t), &ignored);
}

static int decode_jobs(struct worker *w, struct err *e)
{
    int rc = 0;
    while (!rc && !w->stop) {
        w->heartbeat.turn++;
        rc = ask_for_jobs(w, e);
        if (!rc)
            rc = listen_for_jobs(w, is_idle(w) && !w->is_draining, e);
        w->stop |= w->is_draining && is_idle(w);
        if (!rc && !w->stop)
            rc = w->decoder.poll(&w->decoder, e);
        if (!rc && !w->stop && clock_seconds() - w->reported >= 0.2)
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
    log_set_quiet(LOG_ERRORS); /* the coordinator tells what there is to tell of the plan */
    w.is_limited = w.o.time_limit || p->slurm_end;
    int rc = heartbeat_start(&w.heartbeat, &w.wire, &e);
    if (!rc)
        rc = load_plan(&w, p, path, (int)index, &e);
    if (!rc)
        rc = decode_jobs(&w, &e);
    if (rc)
        heartbeat_send(&w.heartbeat, message_error(&e), NULL);
    heartbeat_stop(&w.heartbeat);
    keymap_release(&w.keys);
    if (w.decoder.close)
        w.decoder.close(&w.decoder);
    free_requests(&w);
    free(w.figures.running);
    runplan_release(&w.plan);
    runfile_release(&w.file);
    arena_release(&w.arena);
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
