/* The loop of a sweep on several devices (contract: sweep_workers.h): one thread, one poll(). Workers ask, so
 * that the fast ones get more; whatever a worker says is checked, and one that talks nonsense is ended. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/cli/progress.h"
#include "evalcore/sweep/slot.h"
#include "evalcore/workers/worker_messages.h"
#include "evalcore/workers/workers_parts.h"

enum { STOP_SECONDS = 5 }; /* a worker that is told to stop may finish its step */

void worker_start(struct workers *ws, int i, struct err *e)
{
    char index[16];
    snprintf(index, sizeof index, "%d", i);
    ws->args[2] = index;
    ws->link[i].is_live = !worker_process_start(&ws->link[i].process, ws->args, e);
    ws->n_live += ws->link[i].is_live;
    ws->link[i].n_lives += ws->link[i].is_live;
}

int workers_start(struct workers *ws, const struct device_list *devices, struct patience patience, int argc,
                  char **argv, struct err *e)
{
    memset(ws, 0, sizeof *ws);
    signal(SIGCHLD, SIG_DFL); /* whoever started us may have ignored it, and nobody could be waited for */
    ws->patience = patience;
    ws->watched = progress_clock();
    ws->link = xcalloc((size_t)devices->n, sizeof *ws->link);
    ws->args = xcalloc((size_t)argc + 3, sizeof *ws->args);
    ws->args[0] = "kveval";
    ws->args[1] = "worker";
    for (int i = 1; i < argc; i++)
        ws->args[i + 2] = argv[i];
    while (ws->n < devices->n && !e->code) {
        device_list_name(devices, ws->n, ws->link[ws->n].name);
        worker_start(ws, ws->n++, e);
    }
    return e->code;
}

int workers_load(struct workers *ws, struct runplan *p, struct err *e)
{
    ws->plan = p;
    while (!ws->facts && !e->code)
        workers_hear(ws, e);
    return e->code ? e->code : runplan_bind(p, ws->facts, e);
}

/* WIRE_END is no failure here: the worker is dying, and its last message is still to be read. */
static int send_job(struct workers *ws, int i, long j, struct err *e)
{
    struct err why = {0};
    ws->link[i].wanted--;
    if (wire_send(&ws->link[i].process.wire, message_job(ws->plan->jobs[j].key), &why) < 0)
        worker_lose(ws, i, &why, 0, e);
    return why.code;
}

static void hand_out(struct workers *ws, int i, struct err *e)
{
    struct worker_link *l = &ws->link[i];
    if (l->is_live && l->wanted > 0 && l->trial == TRIAL_DUE) {
        l->trial = TRIAL_RUNS;
        send_job(ws, i, ws->canary.job, e);
    }
    while (l->is_live && l->wanted > 0 && l->trial == TRIAL_NONE) {
        long j = worker_next_job(ws, i);
        if (j < 0 || send_job(ws, i, j, e))
            return;
    }
}

static void show(struct workers *ws)
{
    struct status_worker worker[DEVICES_MAX];
    struct tally_now now = {.devices = ws->n_live > 0 ? ws->n_live : 1, .worker = worker, .n_workers = ws->n};
    for (int i = 0; i < ws->n; i++) {
        const struct worker_link *l = &ws->link[i];
        worker[i] = (struct status_worker){.name = l->name,
                                           .life = l->is_live && l->device             ? STATUS_LIVE
                                                   : l->is_live || worker_is_coming(l) ? STATUS_LOADING
                                                                                       : STATUS_LOST,
                                           .pid = (long)l->process.pid,
                                           .running = l->n_running,
                                           .tokens = l->earlier.tokens + l->decoded.tokens};
        now.tokens += l->earlier.tokens + l->decoded.tokens;
        now.steps += l->earlier.steps + l->decoded.steps;
        now.decode_seconds += l->earlier.decode_seconds + l->decoded.decode_seconds;
        now.prompt_seconds += l->earlier.prompt_seconds + l->decoded.prompt_seconds;
        if (!l->is_live)
            continue;
        now.places += l->decoded.is_waiting ? l->n_running : ws->plan->lanes[0].info.max_batch;
        xgrow(&ws->running, &ws->cap_running, (size_t)(now.n + l->n_running) + 1, sizeof *ws->running);
        for (int k = 0; k < l->n_running; k++)
            ws->running[now.n++] = l->running[k];
    }
    now.running = ws->running;
    tally_show(ws->tally, &now);
}

/* Tells all workers to stop, takes what they finish until then, and ends those that do not react. */
static void stop(struct workers *ws, struct err *e)
{
    double deadline = progress_clock() + STOP_SECONDS;
    const struct err told = {0};
    ws->is_stopping = 1;
    for (int i = 0; i < ws->n; i++)
        if (ws->link[i].is_live && ws->link[i].device)
            wire_send(&ws->link[i].process.wire, message_stop(), NULL);
        else if (ws->link[i].is_live) /* still loading: nobody listens there */
            worker_lose(ws, i, &told, 0, e);
    while (ws->n_live && progress_clock() < deadline)
        workers_hear(ws, e);
    for (int i = 0; i < ws->n; i++)
        if (ws->link[i].is_live)
            worker_lose(ws, i, &told, 0, e);
}

/* Jobs under way, and workers that may soon start some. */
static int at_work(const struct workers *ws)
{
    int n = workers_busy(ws) + workers_coming(ws);
    for (int i = 0; i < ws->n; i++)
        n += ws->link[i].is_live && (!ws->link[i].device || ws->link[i].trial != TRIAL_NONE);
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
            worker_lose(ws, i, &told, 0, e);
    while (!e->code && !*signal) {
        workers_hear(ws, e);
        *signal = slot_poll(ws->tally, ws->n_live);
        if (!e->code)
            show(ws);
    }
}

int workers_run(struct workers *ws, const struct runplan *p, struct tally *t, int *signal, struct err *e)
{
    *signal = 0;
    ws->tally = t;
    ws->left = p->n_jobs;
    ws->holder = xcalloc((size_t)p->n_jobs + 1, sizeof *ws->holder);
    ws->fate = xcalloc((size_t)p->n_jobs + 1, sizeof *ws->fate);
    job_queue_init(&ws->queue, p, ws->n);
    for (long j = 0; j < p->n_jobs; j++) {
        ws->holder[j] = HELD_BY_NOBODY;
        keymap_add(&ws->keys, p->jobs[j].key, j);
    }
    while (ws->left && !e->code && !*signal) {
        workers_revive(ws, e);
        for (int i = 0; i < ws->n && !e->code; i++)
            hand_out(ws, i, e);
        if (!e->code)
            workers_hear(ws, e);
        if (!e->code)
            *signal = slot_poll(t, slot_is_limited(t->slot) ? at_work(ws) : 1);
        if (!e->code)
            show(ws);
        if (!e->code && !*signal && slot_is_draining(t))
            drain(ws, signal, e);
    }
    board_clear(t->board);
    stop(ws, e);
    ws->tally = NULL;
    return e->code;
}

void workers_release(struct workers *ws)
{
    struct err ignored = {0};
    if (ws->n_live)
        stop(ws, &ignored);
    job_queue_release(&ws->queue);
    keymap_release(&ws->keys);
    for (int i = 0; i < ws->n; i++)
        free(ws->link[i].running);
    free(ws->running);
    free(ws->holder);
    free(ws->fate);
    free(ws->suspect);
    free(ws->canary.ids);
    free(ws->args);
    free(ws->link);
    arena_release(&ws->arena);
    memset(ws, 0, sizeof *ws);
}
