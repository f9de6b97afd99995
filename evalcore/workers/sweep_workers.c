/* The loop of a sweep on several devices (contract: sweep_workers.h): one thread, one poll(). Workers ask, so
 * that the fast ones get more; whatever a worker says is checked, and one that talks nonsense is ended. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/clock.h"
#include "evalcore/sweep/deadline.h"
#include "evalcore/workers/worker_messages.h"
#include "evalcore/workers/workers_parts.h"

enum { STOP_SECONDS = 5 }; /* a worker that is told to stop may finish its step */

void worker_start(struct workers *ws, int i, struct err *e)
{
    char index[16];
    snprintf(index, sizeof index, "%d", i);
    ws->args[2] = index;
    if (ws->n_parts > 1)
        ws->args[3] = arena_printf(&ws->arena, "--model=%s", ws->part[ws->link[i].model].label);
    ws->link[i].is_live = !worker_process_start(&ws->link[i].process, ws->args, e);
    ws->n_live += ws->link[i].is_live;
    ws->link[i].n_lives += ws->link[i].is_live;
}

int workers_start(struct workers *ws, const struct device_list *devices, struct timeouts timeouts, int argc,
                  char **argv, struct err *e)
{
    int n_ours = ws->n_parts > 1 ? 3 : 2; /* arguments before the sweep's own: --model, of several one each */
    signal(SIGCHLD, SIG_DFL); /* whoever started us may have ignored it, and nobody could be waited for */
    ws->timeouts = timeouts;
    ws->watched = clock_seconds();
    ws->link = xcalloc((size_t)devices->n, sizeof *ws->link);
    ws->args = xcalloc((size_t)argc + 4, sizeof *ws->args);
    ws->args[0] = "kveval";
    ws->args[1] = "worker";
    for (int i = 1; i < argc; i++)
        ws->args[i + n_ours] = argv[i];
    while (ws->n < devices->n && !e->code) {
        device_list_name(devices, ws->n, ws->link[ws->n].name);
        int model = workers_pick(ws, ws->n, -1);
        ws->link[ws->n].model = model < 0 ? 0 : model;
        worker_start(ws, ws->n++, e);
    }
    return e->code;
}

int workers_load(struct workers *ws, struct runplan *p, struct err *e)
{
    ws->plan = p;
    while (!ws->facts && !e->code)
        workers_receive(ws, e);
    return e->code ? e->code : runplan_bind(p, ws->facts, e);
}

/* WIRE_END is no failure here: the worker is dying, and its last message is still to be read. */
static int send_job(struct workers *ws, int i, long j, struct err *e)
{
    struct err why = {0};
    ws->link[i].wanted--;
    if (wire_send(&ws->link[i].process.wire, message_job(ws->plan->jobs[j].key), &why) < 0)
        worker_mark_dead(ws, i, &why, 0, e);
    return why.code;
}

static void hand_out(struct workers *ws, int i, struct err *e)
{
    struct worker_link *l = &ws->link[i];
    if (l->is_live && l->wanted > 0 && l->check == CHECK_DUE) {
        l->check = CHECK_RUNS;
        send_job(ws, i, l->canary->job, e);
    }
    while (l->is_live && !l->is_leaving && l->wanted > 0 && l->check == CHECK_NONE) {
        long j = worker_next_job(ws, i);
        if (j < 0 || send_job(ws, i, j, e))
            return;
    }
}

static struct status_worker life_of(const struct workers *ws, const struct worker_link *l)
{
    return (struct status_worker){.name = l->name,
                                  .life = l->is_live && l->device && !l->is_leaving ? STATUS_LIVE
                                          : l->is_live || worker_is_coming(l)       ? STATUS_LOADING
                                                                                    : STATUS_LOST,
                                  .pid = (long)l->process.pid,
                                  .running = l->n_running,
                                  .tokens = l->earlier.tokens + l->decoded.tokens,
                                  .model = ws->part[l->is_leaving ? l->next : l->model].label,
                                  .switches = l->n_switches};
}

static void add_progress(struct devices_now *now, const struct worker_progress *p)
{
    now->tokens += p->tokens;
    now->steps += p->steps;
    now->decode_seconds += p->decode_seconds;
    now->prompt_seconds += p->prompt_seconds;
}

/* What model m has got so far, and what is decoded of it, after *n others in ws->running. */
static void show_part(struct workers *ws, int m, struct devices_now *now, int *n)
{
    int from = *n;
    add_progress(now, &ws->part[m].earlier);
    for (int i = 0; i < ws->n; i++) {
        const struct worker_link *l = &ws->link[i];
        if (!l->is_live || l->model != m)
            continue;
        add_progress(now, &l->decoded);
        now->devices++;
        now->loading += !l->device || l->is_leaving;
        now->places +=
            worker_capacity(l->decoded.is_waiting, l->n_running, ws->plan->loaded[0].info.max_batch);
        xgrow(&ws->running, &ws->cap_running, (size_t)(*n + l->n_running) + 1, sizeof *ws->running);
        for (int k = 0; k < l->n_running; k++)
            ws->running[(*n)++] = l->running[k];
    }
    now->n = *n - from;
}

static void show(struct workers *ws)
{
    struct status_worker worker[DEVICES_MAX];
    struct devices_now now[RUNFILE_MODELS_MAX] = {0}, all = {.worker = worker, .n_workers = ws->n};
    struct sweep_progress *part[RUNFILE_MODELS_MAX];
    int n = 0;
    for (int i = 0; i < ws->n; i++)
        worker[i] = life_of(ws, &ws->link[i]);
    for (int m = 0; m < ws->n_parts; m++) {
        show_part(ws, m, &now[m], &n);
        all.tokens += now[m].tokens;
        all.places += now[m].places;
        part[m] = ws->part[m].progress;
    }
    for (int m = 0, at = 0; m < ws->n_parts; at += now[m++].n) /* the list has its place now */
        now[m].running = ws->running + at;
    all.devices = ws->n_live > 0 ? ws->n_live : 1;
    if (ws->n_parts > 1) {
        sweep_progress_show_parts(ws->progress, part, now, ws->n_parts, &all);
        return;
    }
    now[0].worker = worker;
    now[0].n_workers = ws->n;
    sweep_progress_show(ws->progress, &now[0]);
}

static void tell_to_stop(struct workers *ws, struct err *e)
{
    const struct err told = {0};
    ws->is_stopping = 1;
    for (int i = 0; i < ws->n; i++)
        if (ws->link[i].is_live && ws->link[i].device)
            wire_send(&ws->link[i].process.wire, message_stop(), NULL);
        else if (ws->link[i].is_live) /* still loading: nobody listens there */
            worker_mark_dead(ws, i, &told, 0, e);
}

/* Tells all workers to stop, takes what they finish until then, and ends those that do not react. */
static void stop(struct workers *ws, struct err *e)
{
    double deadline = clock_seconds() + STOP_SECONDS;
    const struct err told = {0};
    tell_to_stop(ws, e);
    while (ws->n_live && clock_seconds() < deadline)
        workers_receive(ws, e);
    for (int i = 0; i < ws->n; i++)
        if (ws->link[i].is_live)
            worker_mark_dead(ws, i, &told, 0, e);
}

/* Jobs under way, and workers that may soon start some. */
static int at_work(const struct workers *ws)
{
    int n = workers_busy(ws) + workers_coming(ws);
    for (int i = 0; i < ws->n; i++)
        n += ws->link[i].is_live &&
             (!ws->link[i].device || ws->link[i].is_leaving || ws->link[i].check != CHECK_NONE);
    return n;
}

/* Lets workers finish what they decode, and nothing else; each ends when it has nothing left. */
static void drain(struct workers *ws, int *signal, struct err *e)
{
    const struct err told = {0};
    ws->is_stopping = 1;
    for (int i = 0; i < ws->n; i++)
        if (ws->link[i].is_live && ws->link[i].device)
            wire_send(&ws->link[i].process.wire, message_drain(), NULL);
        else if (ws->link[i].is_live)
            worker_mark_dead(ws, i, &told, 0, e);
    while (!e->code && !*signal) {
        workers_receive(ws, e);
        *signal = deadline_poll(ws->progress, ws->n_live);
        if (!e->code)
            show(ws);
    }
}

int workers_run(struct workers *ws, const struct runplan *p, struct sweep_progress *t, int *signal,
                struct err *e)
{
    *signal = 0;
    ws->progress = t;
    ws->left = p->n_jobs;
    ws->holder = xcalloc((size_t)p->n_jobs + 1, sizeof *ws->holder);
    ws->fate = xcalloc((size_t)p->n_jobs + 1, sizeof *ws->fate);
    workers_begin_parts(ws, t);
    for (long j = 0; j < p->n_jobs; j++) {
        ws->holder[j] = HELD_BY_NOBODY;
        keymap_add(&ws->keys, p->jobs[j].key, j);
    }
    while ((ws->left || workers_checking(ws)) && !e->code && !*signal) {
        workers_restart(ws, e);
        for (int i = 0; i < ws->n && !e->code; i++)
            hand_out(ws, i, e);
        workers_move_on(ws);
        workers_check_reach(ws, e);
        if (!e->code)
            workers_receive(ws, e);
        int busy = deadline_is_limited(t->deadline) ? at_work(ws) : 1;
        if (!e->code)
            *signal = deadline_poll(t, busy);
        if (!e->code && !*signal && ws->n_parts > 1 && !busy && workers_are_stuck(ws))
            *signal = DEADLINE_TIME_UP;
        if (!e->code)
            show(ws);
        if (!e->code && !*signal && deadline_is_draining(t))
            drain(ws, signal, e);
    }
    board_clear(t->board);
    if (!e->code)
        workers_warn_unchecked(ws);
    if (ws->left || e->code || *signal)
        stop(ws, e);
    else
        tell_to_stop(ws, e); /* they give their memory back while the results are written */
    workers_end_parts(ws, t);
    ws->progress = NULL;
    return e->code;
}

void workers_release(struct workers *ws)
{
    struct err ignored = {0};
    if (ws->n_live)
        stop(ws, &ignored);
    for (int m = 0; m < ws->n_parts; m++) {
        job_queue_release(&ws->part[m].queue);
        canary_release(&ws->part[m].canary);
    }
    keymap_release(&ws->keys);
    for (int i = 0; i < ws->n; i++)
        free(ws->link[i].running);
    free(ws->running);
    free(ws->holder);
    free(ws->fate);
    free(ws->suspect);
    free(ws->part);
    free(ws->args);
    free(ws->link);
    arena_release(&ws->arena);
    memset(ws, 0, sizeof *ws);
}
