/* The loop of a sweep on several devices (contract: sweep_workers.h): one thread, one poll(). Workers ask, so
 * that the fast ones get more; whatever a worker says is checked, and one that talks nonsense is ended. */
#include "evalcore/sweep/sweep_workers.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/log.h"
#include "evalcore/cli/stop.h"
#include "evalcore/store/curve_json.h"
#include "evalcore/sweep/worker_messages.h"

enum { NOBODY = -1, DONE = -2 };
enum {
    POLL_MS = 50,     /* how long a signal may wait */
    STOP_SECONDS = 5, /* a worker that is told to stop may finish its step */
    DEATH_SECONDS = 3 /* a worker that closed its socket may end by itself */
};

int workers_start(struct workers *ws, const struct device_list *devices, int patience, int argc, char **argv,
                  struct err *e)
{
    const char **args = xcalloc((size_t)argc + 3, sizeof *args);
    char index[16];
    int rc = 0;
    memset(ws, 0, sizeof *ws);
    ws->patience = patience;
    ws->watched = progress_clock();
    ws->link = xcalloc((size_t)devices->n, sizeof *ws->link);
    args[0] = "kveval";
    args[1] = "worker";
    args[2] = index;
    for (int i = 1; i < argc; i++)
        args[i + 2] = argv[i];
    for (int i = 0; i < devices->n && !rc; i++) {
        struct worker_link *l = &ws->link[ws->n];
        snprintf(index, sizeof index, "%d", i);
        device_list_name(devices, i, l->name);
        rc = worker_process_start(&l->process, args, e);
        l->is_live = !rc;
        ws->n_live += !rc;
        ws->n++;
    }
    free(args);
    return rc;
}

/* Worker i is gone, or is ended here, and its jobs go back into the queue. The reason that is reported is
 * what it said last, else `why`, else how it died. Sets e when the sweep cannot go on. */
static void lose(struct workers *ws, int i, const struct err *why, double deadline, struct err *e)
{
    struct worker_link *l = &ws->link[i];
    struct str how = {0};
    struct err loss = {0};
    long n_back = 0;
    worker_process_end(&l->process, deadline, &how);
    l->is_live = 0;
    ws->n_live--;
    for (long j = 0; ws->holder && j < ws->plan->n_jobs; j++)
        if (ws->holder[j] == i) {
            ws->holder[j] = NOBODY;
            job_queue_give_back(&ws->queue, j);
            n_back++;
        }
    if (l->last_words.code)
        loss = l->last_words;
    else if (why->code)
        err_set(&loss, ERR_DEVICE, "the worker was ended: %s", why->text);
    else
        err_set(&loss, ERR_DEVICE, "the worker %s", str_text(&how));
    if (strncmp(loss.text, l->name, strlen(l->name)) != 0)
        err_add(&loss, "%s", l->name);
    str_release(&how);
    if (ws->is_stopping)
        return;
    ws->last_loss = loss;
    if (loss.code != ERR_DEVICE)
        err_set(e, loss.code, "%s", loss.text);
    else if (!ws->n_live)
        err_set(e, ERR_DEVICE, "no worker is left: %s", loss.text);
    else if (n_back)
        log_warn("%s; its %ld unfinished jobs go to the others", loss.text, n_back);
    else
        log_warn("%s; the others go on without it", loss.text);
}

static int take_hello(struct workers *ws, struct worker_link *l, const json_t *m, struct err *why)
{
    int n = ws->plan->n_lanes;
    struct lane_facts *facts = arena_alloc(&ws->arena, (size_t)n * sizeof *facts);
    if (l->device)
        return err_set(why, ERR_FORMAT, "a second hello");
    if (message_read_hello(m, facts, n, why))
        return why->code;
    l->device = arena_strdup(&ws->arena, facts[0].device);
    for (int i = 0; i < n; i++) {
        if (ws->facts && (strcmp(facts[i].weights, ws->facts[i].weights) ||
                          strcmp(facts[i].numerics, ws->facts[i].numerics)))
            return err_set(why, ERR_FORMAT, "weights %.12s in numerics class %s, unlike the others",
                           facts[i].weights, facts[i].numerics);
        facts[i].weights = arena_strdup(&ws->arena, facts[i].weights);
        facts[i].numerics = arena_strdup(&ws->arena, facts[i].numerics);
        facts[i].device = arena_printf(&ws->arena, "%d x %s", ws->n, l->device);
    }
    if (!ws->facts)
        ws->facts = facts;
    return 0;
}

/* Journals a completion. An error in e is the journal's. */
static int take_done(struct workers *ws, int i, const json_t *m, struct err *why, struct err *e)
{
    const char *key;
    struct completion c;
    int rc = message_read_done(m, &key, &c, why);
    long j = rc || !ws->holder ? -1 : keymap_find(&ws->keys, key);
    if (!rc && (j < 0 || ws->holder[j] != i))
        rc = err_set(why, ERR_FORMAT, "a job that it was not given: %.40s", key);
    if (!rc && ws->tally) {
        if (tally_add(ws->tally, &ws->plan->jobs[j], &c, ws->link[i].device, e))
            ws->tally = NULL; /* nothing may follow a torn record */
        ws->holder[j] = DONE;
        ws->left--;
        ws->is_unsynced = 1;
    }
    free((int32_t *)c.ids);
    curve_json_release(&c.curve);
    return rc;
}

/* What a worker does, for the status line. Its jobs are checked like all it says. */
static int take_progress(struct workers *ws, int i, const json_t *m, struct err *why)
{
    struct worker_link *l = &ws->link[i];
    l->n_running = 0;
    if (message_read_progress(m, &l->decoded, why))
        return why->code;
    size_t n = json_array_size(l->decoded.running) / 2;
    xgrow(&l->running, &l->cap_running, n + 1, sizeof *l->running);
    for (size_t k = 0; k < n; k++) {
        const char *key;
        struct tally_running *r = &l->running[l->n_running];
        if (message_read_running(&l->decoded, k, &key, &r->tokens, why))
            return why->code;
        r->job = ws->holder ? keymap_find(&ws->keys, key) : -1;
        if (r->job < 0 || (ws->holder[r->job] != i && ws->holder[r->job] != DONE))
            return err_set(why, ERR_FORMAT, "it decodes a job that it was not given: %.40s", key);
        l->n_running++;
    }
    l->decoded.running = NULL; /* the message goes */
    return 0;
}

static int take(struct workers *ws, int i, const json_t *m, struct err *why, struct err *e)
{
    struct worker_link *l = &ws->link[i];
    const char *type = message_type(m);
    int jobs = 0;
    l->silent = 0;
    if (!strcmp(type, "alive"))
        return 0;
    if (!strcmp(type, "hello"))
        return take_hello(ws, l, m, why);
    if (!strcmp(type, "error"))
        return message_read_error(m, &l->last_words, why);
    if (!l->device)
        return err_set(why, ERR_FORMAT, "\"%.20s\" before its hello", type);
    if (!strcmp(type, "done"))
        return take_done(ws, i, m, why, e);
    if (!strcmp(type, "progress"))
        return take_progress(ws, i, m, why);
    if (strcmp(type, "want"))
        return err_set(why, ERR_FORMAT, "an unknown message \"%.20s\"", type);
    if (message_read_want(m, &jobs, why))
        return why->code;
    l->wanted += jobs;
    return l->wanted > WORKER_WANT_MAX ? err_set(why, ERR_FORMAT, "requests for too many jobs") : 0;
}

/* Everything that worker i has said so far. */
static void hear(struct workers *ws, int i, struct err *e)
{
    struct worker_link *l = &ws->link[i];
    for (;;) {
        struct err why = {0};
        json_t *m = NULL;
        int got = wire_receive(&l->process.wire, 0, &m, &why);
        if (got == WIRE_NOTHING)
            return;
        if (got == WIRE_MESSAGE)
            take(ws, i, m, &why, e);
        json_decref(m);
        if (got == WIRE_END || why.code) {
            lose(ws, i, &why, why.code ? 0 : progress_clock() + DEATH_SECONDS, e);
            return;
        }
    }
}

/* Ends workers that are silent for too long. Only time counts in which somebody listened: this process may
 * have been stopped itself. */
static void watch(struct workers *ws, struct err *e)
{
    double now = progress_clock(), passed = now - ws->watched;
    ws->watched = now;
    for (int i = 0; i < ws->n; i++) {
        struct worker_link *l = &ws->link[i];
        struct err why = {0};
        l->silent += passed < 1 ? passed : 1;
        if (!l->is_live || l->silent < ws->patience)
            continue;
        err_set(&why, ERR_DEVICE, "it has said nothing for %d s (--worker-timeout)", ws->patience);
        lose(ws, i, &why, 0, e);
    }
}

/* Waits for messages, a little, and takes those that came. */
static void hear_all(struct workers *ws, struct err *e)
{
    struct pollfd fds[DEVICES_MAX];
    for (int i = 0; i < ws->n; i++)
        fds[i] =
            (struct pollfd){.fd = ws->link[i].is_live ? ws->link[i].process.wire.fd : -1, .events = POLLIN};
    if (poll(fds, (nfds_t)ws->n, POLL_MS) <= 0)
        return watch(ws, e);
    for (int i = 0; i < ws->n; i++)
        if (fds[i].revents)
            hear(ws, i, e);
    watch(ws, e);
    if (ws->is_unsynced && ws->tally && journal_sync(ws->tally->journal, e))
        ws->tally = NULL;
    ws->is_unsynced = 0;
}

int workers_load(struct workers *ws, struct runplan *p, int *signal, struct err *e)
{
    *signal = 0;
    ws->plan = p;
    while (!ws->facts && !e->code && !*signal) {
        hear_all(ws, e);
        *signal = stop_poll();
    }
    return e->code || *signal ? e->code : runplan_bind(p, ws->facts, e);
}

static void hand_out(struct workers *ws, int i, struct err *e)
{
    struct worker_link *l = &ws->link[i];
    while (l->is_live && l->wanted > 0) {
        struct err why = {0};
        long j = job_queue_take(&ws->queue, i);
        if (j < 0)
            return;
        ws->holder[j] = i;
        l->wanted--;
        /* WIRE_END is no failure here: the worker is dying, and its last message is still to be read. */
        if (wire_send(&l->process.wire, message_job(ws->plan->jobs[j].key), &why) < 0)
            lose(ws, i, &why, 0, e);
    }
}

static void show(struct workers *ws)
{
    struct tally_now now = {.devices = ws->n_live > 0 ? ws->n_live : 1};
    for (int i = 0; i < ws->n; i++) {
        const struct worker_link *l = &ws->link[i];
        now.tokens += l->decoded.tokens;
        now.steps += l->decoded.steps;
        now.decode_seconds += l->decoded.decode_seconds;
        now.prompt_seconds += l->decoded.prompt_seconds;
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
            lose(ws, i, &told, 0, e);
    while (ws->n_live && progress_clock() < deadline)
        hear_all(ws, e);
    for (int i = 0; i < ws->n; i++)
        if (ws->link[i].is_live)
            lose(ws, i, &told, 0, e);
}

int workers_run(struct workers *ws, const struct runplan *p, struct tally *t, int *signal, struct err *e)
{
    *signal = 0;
    ws->tally = t;
    ws->left = p->n_jobs;
    ws->holder = xcalloc((size_t)p->n_jobs + 1, sizeof *ws->holder);
    job_queue_init(&ws->queue, p, ws->n);
    for (long j = 0; j < p->n_jobs; j++) {
        ws->holder[j] = NOBODY;
        keymap_add(&ws->keys, p->jobs[j].key, j);
    }
    while (ws->left && !e->code && !*signal) {
        for (int i = 0; i < ws->n && !e->code; i++)
            hand_out(ws, i, e);
        if (!e->code)
            hear_all(ws, e);
        *signal = stop_poll();
        if (!e->code)
            show(ws);
    }
    progress_end(t->progress);
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
    free(ws->link);
    arena_release(&ws->arena);
    memset(ws, 0, sizeof *ws);
}
