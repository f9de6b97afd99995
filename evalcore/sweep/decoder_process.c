/* Decoding in worker processes (contract: decoder_process.h): one thread, one poll(). Workers ask for jobs,
 * so that the fast ones get more. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/clock.h"
#include "evalcore/base/log.h"
#include "evalcore/sweep/worker_pool.h"

enum { STOP_SECONDS = 5 }; /* a worker that is told to stop may finish its step */

static int process_bind(struct decoder *d, struct err *e)
{
    struct workers *ws = d->data;
    while (!ws->facts && !e->code)
        workers_listen(ws, e);
    return e->code ? e->code : runplan_bind(d->plan, ws->facts, e);
}

static void forget_jobs(struct workers *ws)
{
    for (int m = 0; m < ws->n_parts; m++)
        canary_release(&ws->part[m].canary);
    keymap_release(&ws->keys);
    free(ws->holder);
    free(ws->writer);
    free(ws->has_failed);
    ws->holder = ws->writer = NULL;
    ws->has_failed = NULL;
    ws->n_jobs = 0;
}

static void process_begin(struct decoder *d)
{
    struct workers *ws = d->data;
    const struct runplan *p = d->plan;
    forget_jobs(ws);
    ws->n_jobs = p->n_jobs;
    ws->holder = xcalloc((size_t)p->n_jobs + 1, sizeof *ws->holder);
    ws->writer = xcalloc((size_t)p->n_jobs + 1, sizeof *ws->writer);
    ws->has_failed = xcalloc((size_t)p->n_jobs + 1, 1);
    for (long j = 0; j < p->n_jobs; j++) {
        ws->holder[j] = HELD_BY_NOBODY;
        keymap_add(&ws->keys, p->jobs[j].key, j);
    }
    for (int i = 0; i < ws->n; i++) {
        ws->link[i].check = CHECK_NONE;
        ws->link[i].state->is_checked = 0;
        ws->link[i].stuck = 0;
    }
}

/* WIRE_END is no failure here: the worker is dying, and its last message is still to be read. */
static int send_job(struct workers *ws, int i, long j, struct err *e)
{
    const struct runplan *p = ws->decoder->plan;
    const struct job *job = &p->jobs[j];
    struct err why = {0};
    json_t *m = job->replay    ? message_replay(job, p->cells[job->cell].id)
                : job->request ? message_request(job, p->cells[job->cell].id)
                               : message_job(job->key);
    ws->link[i].wanted--;
    if (wire_send(&ws->link[i].process.wire, m, &why) < 0)
        worker_mark_dead(ws, i, &why, 0, e);
    return why.code;
}

static int process_capacity(struct decoder *d, int i)
{
    struct workers *ws = d->data;
    struct worker_link *l = &ws->link[i];
    return l->state->is_live && !l->state->is_leaving && l->check == CHECK_NONE ? l->wanted : 0;
}

static int process_submit(struct decoder *d, int i, long j, struct err *e)
{
    struct workers *ws = d->data;
    ws->holder[j] = i;
    ws->link[i].state->n_held++;
    send_job(ws, i, j, e);
    return e->code;
}

/* A worker that is gone has told of it, or will: the job is lost, and its user knows that it is not wanted.
 */
static int process_cancel(struct decoder *d, long j, struct err *e)
{
    struct workers *ws = d->data;
    int i = ws->holder[j];
    (void)e;
    if (i >= 0)
        wire_send(&ws->link[i].process.wire, message_cancel(d->plan->jobs[j].key), NULL);
    return 0;
}

static int process_poll(struct decoder *d, struct err *e)
{
    struct workers *ws = d->data;
    if (!ws->is_stopping) {
        workers_restart(ws, e);
        for (int i = 0; i < ws->n && !e->code; i++) {
            struct worker_link *l = &ws->link[i];
            if (worker_may_begin_check(ws, i)) {
                l->check = CHECK_RUNS;
                send_job(ws, i, l->canary->job, e);
            }
        }
        workers_check_reach(ws, e);
    }
    if (!e->code)
        workers_listen(ws, e);
    return e->code;
}

static void process_change_model(struct decoder *d, int i, int model)
{
    struct workers *ws = d->data;
    struct worker_link *l = &ws->link[i];
    l->state->is_leaving = 1;
    l->state->next = model;
    l->leaving = 0;
    l->n_switches++;
    wire_send(&l->process.wire, message_stop(), NULL);
    log_info("%s has nothing more to start of %s and goes on with %s", l->name,
             ws->part[l->state->model].label, ws->part[model].label);
}

static struct status_worker status_of(const struct workers *ws, const struct worker_link *l)
{
    const struct decoder_worker *s = l->state;
    return (struct status_worker){.name = l->name,
                                  .life = s->is_live && l->device && !s->is_leaving ? STATUS_LIVE
                                          : s->is_live || worker_is_coming(l)       ? STATUS_LOADING
                                                                                    : STATUS_LOST,
                                  .pid = (long)l->process.pid,
                                  .running = l->n_running,
                                  .tokens = l->earlier.tokens + l->decoded.tokens,
                                  .model = ws->part[s->is_leaving ? s->next : s->model].label,
                                  .switches = l->n_switches};
}

static void add_sums(struct decoder_sums *to, const struct worker_progress *p)
{
    to->tokens += p->tokens;
    to->steps += p->steps;
    to->decode_seconds += p->decode_seconds;
    to->prompt_seconds += p->prompt_seconds;
}

static void process_look(struct decoder *d, struct decoder_figures *out)
{
    struct workers *ws = d->data;
    memset(out->model, 0, sizeof out->model);
    out->n = 0;
    out->n_workers = ws->n;
    for (int m = 0; m < ws->n_parts; m++)
        add_sums(&out->model[m], &ws->part[m].earlier);
    for (int i = 0; i < ws->n; i++) {
        const struct worker_link *l = &ws->link[i];
        struct decoder_sums *sums = &out->model[l->state->model];
        out->worker[i] = status_of(ws, l);
        if (!l->state->is_live)
            continue;
        add_sums(sums, &l->decoded);
        sums->devices++;
        sums->loading += !l->device || l->state->is_leaving;
        sums->places += l->state->places;
        xgrow(&out->running, &out->cap, (size_t)(out->n + l->n_running) + 1, sizeof *out->running);
        for (int k = 0; k < l->n_running; k++)
            out->running[out->n++] = l->running[k];
    }
}

/* Ends those that are still loading: nobody listens there. */
static void send_to_ready(struct workers *ws, json_t *(*message)(void), struct err *e)
{
    const struct err none = {0};
    ws->is_stopping = 1;
    for (int i = 0; i < ws->n; i++)
        if (ws->link[i].state->is_live && ws->link[i].device)
            wire_send(&ws->link[i].process.wire, message(), NULL);
        else if (ws->link[i].state->is_live)
            worker_mark_dead(ws, i, &none, 0, e);
}

static void process_drain(struct decoder *d, struct err *e)
{
    send_to_ready(d->data, message_drain, e);
}

static void process_stop(struct decoder *d, int is_done, struct err *e)
{
    struct workers *ws = d->data;
    const struct err none = {0};
    double until = clock_seconds() + STOP_SECONDS;
    if (is_done && ws->holder)
        workers_warn_unchecked(ws);
    send_to_ready(ws, message_stop, e);
    while (!is_done && ws->n_live && clock_seconds() < until)
        workers_listen(ws, e);
    for (int i = 0; !is_done && i < ws->n; i++)
        if (ws->link[i].state->is_live)
            worker_mark_dead(ws, i, &none, 0, e);
}

static void process_close(struct decoder *d)
{
    struct workers *ws = d->data;
    struct err ignored = {0};
    if (!ws)
        return;
    ws->is_broken = 1;
    if (ws->n_live)
        process_stop(d, 0, &ignored);
    forget_jobs(ws);
    for (int i = 0; i < ws->n; i++)
        free(ws->link[i].running);
    free(ws->part);
    free(ws->args);
    free(ws->link);
    free(d->worker);
    arena_release(&ws->arena);
    free(ws);
    memset(d, 0, sizeof *d);
}

/* The arguments of a worker: its index, of several models --model, and those of the sweep. */
static void make_args(struct workers *ws, int argc, char **argv)
{
    int n_ours = ws->n_parts > 1 ? 3 : 2;
    ws->args = xcalloc((size_t)argc + 4, sizeof *ws->args);
    ws->args[0] = "kveval";
    ws->args[1] = "worker";
    for (int i = 1; i < argc; i++)
        ws->args[i + n_ours] = argv[i];
}

int decoder_open_process(struct decoder *d, struct runplan *p, const struct decoder_user *user,
                         const struct device_list *devices, struct timeouts timeouts, int argc, char **argv,
                         const char *cache_dir, struct err *e)
{
    struct workers *ws = xcalloc(1, sizeof *ws);
    *d = (struct decoder){.data = ws,
                          .plan = p,
                          .user = *user,
                          .worker = xcalloc((size_t)devices->n, sizeof *d->worker),
                          .n_workers = devices->n,
                          .bind = process_bind,
                          .begin = process_begin,
                          .capacity = process_capacity,
                          .submit = process_submit,
                          .cancel = process_cancel,
                          .poll = process_poll,
                          .look = process_look,
                          .change_model = process_change_model,
                          .drain = process_drain,
                          .stop = process_stop,
                          .close = process_close};
    for (int m = 0; m < RUNFILE_MODELS_MAX; m++)
        d->left[m] = -1;
    ws->decoder = d;
    ws->timeouts = timeouts;
    ws->watched = clock_seconds();
    ws->link = xcalloc((size_t)devices->n, sizeof *ws->link);
    if (workers_find_models(ws, cache_dir, e))
        return e->code;
    make_args(ws, argc, argv);
    signal(SIGCHLD, SIG_DFL); /* whoever started us may have ignored it, and nobody could be waited for */
    while (ws->n < devices->n && !e->code) {
        struct worker_link *l = &ws->link[ws->n];
        l->state = &d->worker[ws->n];
        l->state->places = p->loaded[0].info.max_batch;
        device_list_name(devices, ws->n, l->name);
        l->state->model = worker_first_model(ws, ws->n);
        worker_start(ws, ws->n++, e);
    }
    return e->code;
}
