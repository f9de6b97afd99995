/* What workers say, and the watchdog (contract: worker_pool.h). Whatever a worker says is checked, and one
 * that talks nonsense is ended. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/clock.h"
#include "evalcore/base/log.h"
#include "evalcore/store/curve_json.h"
#include "evalcore/sweep/replay.h"
#include "evalcore/sweep/worker_pool.h"

enum {
    POLL_MS = 50,       /* how long a signal may wait */
    LEAVE_SECONDS = 10, /* a worker that gets another model has nothing left to finish */
    DEATH_SECONDS = 3   /* a worker that closed its socket may end by itself */
};

/* The first hello tells the numerics of all loaded models: these depend on the device and the KV type, not on
 * the model, whose loaded models are in the same order in each. said: those of the worker's model. */
static struct model_facts *facts_of(struct workers *ws, const struct model_facts *said, int n,
                                    const char *device)
{
    struct model_facts *facts = arena_alloc(&ws->arena, (size_t)ws->decoder->plan->n_loaded * sizeof *facts);
    for (int i = 0; i < ws->decoder->plan->n_loaded; i++) {
        int m = i / n;
        facts[i].weights =
            arena_strdup(&ws->arena, *ws->part[m].weights ? ws->part[m].weights : said[i % n].weights);
        facts[i].configuration = ws->decoder->plan->loaded[i].configuration;
        facts[i].numerics = arena_strdup(&ws->arena, said[i % n].numerics);
        facts[i].device = ws->n > 1 ? arena_printf(&ws->arena, "%d x %s", ws->n, device) : device;
    }
    return facts;
}

static int accept_hello(struct workers *ws, struct worker_link *l, const json_t *m, struct err *why)
{
    int i = (int)(l - ws->link), model = l->state->model, n = ws->decoder->plan->n_loaded / ws->n_parts;
    struct model_facts *facts = arena_alloc(&ws->arena, (size_t)n * sizeof *facts), *known;
    double *load = &ws->decoder->load[model];
    if (l->device)
        return err_set(why, ERR_FORMAT, "a second hello");
    if (message_read_hello(m, facts, n, why))
        return why->code;
    l->device = arena_strdup(&ws->arena, facts[0].device);
    l->in_records = ws->n > 1 ? arena_printf(&ws->arena, "%s (%s)", l->device, l->name) : l->device;
    known = ws->facts ? ws->facts : facts_of(ws, facts, n, l->device);
    for (int k = 0; k < n; k++) {
        const struct model_facts *first = &known[model * n + k];
        if (strcmp(facts[k].configuration, first->configuration))
            return err_set(why, ERR_FORMAT,
                           "the model's folder was changed while the sweep ran, and its prompts are by the "
                           "old one; repeat the command");
        if (strcmp(facts[k].weights, first->weights) || strcmp(facts[k].numerics, first->numerics))
            return err_set(why, ERR_FORMAT, "weights %.12s in numerics class %s, unlike the others",
                           facts[k].weights, facts[k].numerics);
    }
    ws->facts = known;
    *load = l->loading > *load ? l->loading : *load;
    worker_begin_check(ws, i);
    l->has_worked = l->state->is_ready = 1;
    worker_has_loaded(ws, i);
    return 0;
}

/* Tells the user that job j of worker i is done. An error in e is the user's. */
static void finish_job(struct workers *ws, int i, long j, const struct decoded_job *done, struct err *e)
{
    struct worker_link *l = &ws->link[i];
    struct decoder *d = ws->decoder;
    if (ws->is_broken)
        return;
    ws->holder[j] = HELD_DONE;
    ws->writer[j] = i + 1; /* its errors may be as wrong */
    ws->has_failed[j] = done->c.finish == FINISHED_ERROR;
    l->state->n_held--;
    l->state->n_finished++;
    l->deaths = 0;
    l->is_out = 0;
    ws->is_broken = d->user.done(d->user.context, i, j, done, e) != 0;
    /* A replay's tokens are given and show nothing, and a request's place is another one's soon. */
    int is_pinned = d->pinned && j >= d->pinned;
    if (!done->replay && (is_pinned || !d->plan->jobs[j].request))
        workers_keep_canary(ws, i, j, &done->c);
}

/* Hands a completion to the user. An error in e is the user's. */
static int accept_done(struct workers *ws, int i, const json_t *m, struct err *why, struct err *e)
{
    struct worker_link *l = &ws->link[i];
    const char *key;
    struct decoded_job done = {.device = l->in_records};
    struct decoder_replay replay = {0};
    int rc = message_read_done(m, &key, &done.c, why);
    long j = rc || !ws->holder ? -1 : keymap_find(&ws->keys, key);
    int is_check = worker_is_checked(l, j);
    if (!rc && is_check) {
        rc = worker_compare_canary(ws, i, &done.c, why);
        if (rc)
            worker_withdraw_jobs(ws, i, e);
    }
    if (!rc && !is_check && (j < 0 || ws->holder[j] != i))
        rc = err_set(why, ERR_FORMAT, "a job that it was not given: %.40s", key);
    if (!rc && !is_check && ws->decoder->plan->jobs[j].replay) {
        rc = done.c.finish == FINISHED_ERROR ? 0 : message_read_replayed(m, &done.c, &replay, why);
        done.replay = &replay;
    }
    if (!rc && !is_check)
        finish_job(ws, i, j, &done, e);
    free((int32_t *)done.c.ids);
    free((float *)done.c.logprobs);
    free((float *)done.c.gaps);
    free((int32_t *)done.c.tops);
    free((float *)done.c.top_logprobs);
    curve_json_release(&done.c.curve);
    replay_release(&replay);
    return rc;
}

/* What a worker does, for the status line. Its jobs are checked like all it says. */
static int accept_progress(struct workers *ws, int i, const json_t *m, struct err *why)
{
    struct worker_link *l = &ws->link[i];
    l->n_running = 0;
    if (message_read_progress(m, &l->decoded, why))
        return why->code;
    size_t n = json_array_size(l->decoded.running) / 2;
    xgrow(&l->running, &l->cap_running, n + 1, sizeof *l->running);
    for (size_t k = 0; k < n; k++) {
        const char *key;
        struct running_job *r = &l->running[l->n_running];
        if (message_read_running(&l->decoded, k, &key, &r->tokens, why))
            return why->code;
        r->job = ws->holder ? keymap_find(&ws->keys, key) : -1;
        if (worker_is_checked(l, r->job)) /* a canary is no job under way, and may have been withdrawn */
            continue;
        if (r->job < 0 || (ws->holder[r->job] != i && ws->holder[r->job] != HELD_DONE))
            return err_set(why, ERR_FORMAT, "it decodes a job that it was not given: %.40s", key);
        l->n_running++;
    }
    l->decoded.running = NULL; /* the message goes */
    l->state->places = l->decoded.places;
    return 0;
}

static int accept_tokens(struct workers *ws, int i, const json_t *m, struct err *why)
{
    const struct decoder_user *user = &ws->decoder->user;
    const char *key;
    struct decoder_tokens t;
    int rc = message_read_tokens(m, &key, &t, why);
    long j = rc || !ws->holder ? -1 : keymap_find(&ws->keys, key);
    if (!rc && (j < 0 || ws->holder[j] != i))
        rc = err_set(why, ERR_FORMAT, "tokens of a job that it was not given: %.40s", key);
    if (!rc && user->tokens && !ws->is_broken)
        user->tokens(user->context, j, &t);
    decoder_tokens_release(&t);
    return rc;
}

static int accept_alive(struct worker_link *l, const json_t *m, struct err *why)
{
    json_int_t turn;
    if (message_read_alive(m, &turn, why))
        return why->code;
    if (turn != l->turn)
        l->stuck = 0;
    l->turn = turn;
    return 0;
}

static int accept_message(struct workers *ws, int i, const json_t *m, struct err *why, struct err *e)
{
    struct worker_link *l = &ws->link[i];
    const char *type = message_type(m);
    int jobs = 0;
    l->silent = 0;
    if (!strcmp(type, "alive"))
        return accept_alive(l, m, why);
    if (!strcmp(type, "hello"))
        return accept_hello(ws, l, m, why);
    if (!strcmp(type, "error"))
        return message_read_error(m, &l->last_words, why);
    if (!l->device)
        return err_set(why, ERR_FORMAT, "\"%.20s\" before its hello", type);
    if (!strcmp(type, "done"))
        return accept_done(ws, i, m, why, e);
    if (!strcmp(type, "tokens"))
        return accept_tokens(ws, i, m, why);
    if (!strcmp(type, "progress"))
        return accept_progress(ws, i, m, why);
    if (strcmp(type, "want"))
        return err_set(why, ERR_FORMAT, "an unknown message \"%.20s\"", type);
    if (message_read_want(m, &jobs, why))
        return why->code;
    l->wanted += jobs;
    return l->wanted > WORKER_WANT_MAX ? err_set(why, ERR_FORMAT, "requests for too many jobs") : 0;
}

/* What still waits for worker i, and everything that it has said so far. */
static void exchange_messages(struct workers *ws, int i, struct err *e)
{
    struct worker_link *l = &ws->link[i];
    struct err unsent = {0};
    if (wire_flush(&l->process.wire, &unsent) < 0) {
        worker_mark_dead(ws, i, &unsent, 0, e);
        return;
    }
    for (;;) {
        struct err why = {0};
        json_t *m = NULL;
        int got = wire_receive(&l->process.wire, 0, &m, &why);
        if (got == WIRE_NOTHING)
            return;
        if (got == WIRE_MESSAGE)
            accept_message(ws, i, m, &why, e);
        json_decref(m);
        if (got == WIRE_END || why.code) {
            worker_mark_dead(ws, i, &why, why.code ? 0 : clock_seconds() + DEATH_SECONDS, e);
            return;
        }
    }
}

/* The watchdog: ends workers without a heartbeat, and those that do not finish a step, as the heartbeat's
 * count of turns shows. Only time counts in which somebody listened: this process may have been stopped
 * itself. */
static void watch_workers(struct workers *ws, struct err *e)
{
    double now = clock_seconds(), passed = now - ws->watched;
    ws->watched = now;
    for (int i = 0; i < ws->n; i++) {
        struct worker_link *l = &ws->link[i];
        struct err why = {0};
        double counts = passed < 1 ? passed : 1;
        l->silent += counts;
        l->stuck = l->state->n_held || l->check >= CHECK_RUNS ? l->stuck + counts : 0;
        l->loading = l->device ? 0 : l->loading + counts;
        l->leaving += counts;
        if (!l->state->is_live)
            continue;
        if (l->silent >= ws->timeouts.silence)
            err_set(&why, ERR_DEVICE, "it has said nothing for %d s (--worker-timeout)",
                    ws->timeouts.silence);
        else if (ws->timeouts.step && l->stuck >= ws->timeouts.step)
            err_set(&why, ERR_DEVICE, "it has not finished a step for %d s (--step-timeout)",
                    ws->timeouts.step);
        else if (l->state->is_leaving && l->leaving >= LEAVE_SECONDS)
            err_set(&why, ERR_DEVICE, "it does not end"); /* nobody is told: it is just started again */
        else if (l->loading >= LOAD_TIMEOUT)
            err_set(&why, ERR_DEVICE, "it has not loaded everything after %d minutes", LOAD_TIMEOUT / 60);
        if (why.code)
            worker_mark_dead(ws, i, &why, 0, e);
    }
}

/* Waits for messages, a little, and takes those that came. */
void workers_listen(struct workers *ws, struct err *e)
{
    struct pollfd fds[DEVICES_MAX + 1];
    int wake = ws->decoder->wake_fd;
    for (int i = 0; i < ws->n; i++)
        fds[i] = (struct pollfd){.fd = ws->link[i].state->is_live ? ws->link[i].process.wire.fd : -1,
                                 .events = wire_events(&ws->link[i].process.wire)};
    fds[ws->n] = (struct pollfd){.fd = wake ? wake : -1, .events = POLLIN};
    if (poll(fds, (nfds_t)ws->n + 1, ws->decoder->no_wait ? 0 : POLL_MS) <= 0)
        return watch_workers(ws, e);
    for (int i = 0; i < ws->n; i++)
        if (fds[i].revents)
            exchange_messages(ws, i, e);
    watch_workers(ws, e);
}
