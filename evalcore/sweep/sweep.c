/* The loop from jobs to records (contract: sweep.h): queue -> decoder -> journal. */
#include "evalcore/sweep/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/log.h"
#include "evalcore/cli/progress.h"

/* ---- what the decoder tells ---- */

static int take_done(void *context, int w, long j, const struct decoded_job *d, struct err *e)
{
    struct sweep *s = context;
    struct job *job = &s->plan->jobs[j];
    (void)w;
    if (job->replay) {
        struct forecast_job *ended = &s->progress.forecast.job[j];
        ended->state = JOB_DONE;
        ended->tokens = d->c.n_ids;
        s->progress.finished++;
        s->progress.tokens += d->c.n_ids;
        s->progress.board->now.done++;
        s->progress.forecast.version++;
    }
    int rc = job->replay ? s->replayed(s->context, job, d, e) : sweep_progress_add(&s->progress, j, d, e);
    s->is_unsynced = 1;
    queue_done(&s->queue, j);
    return rc;
}

/* The job ends in an error, which is its record. */
static int record_blame(struct sweep *s, long j, const struct err *loss, struct err *e)
{
    struct str text = {0};
    str_printf(&text, "it ended %d workers, the last one alone: %s", s->queue.fate[j].deaths, loss->text);
    const struct decoded_job d = {.c = {.finish = FINISHED_ERROR, .error = str_text(&text)},
                                  .device = "none"};
    int rc = sweep_progress_add(&s->progress, j, &d, e);
    log_warn("job %.16s ends as error: %s", s->plan->jobs[j].key, str_text(&text));
    str_release(&text);
    queue_done(&s->queue, j);
    s->is_unsynced = 1;
    return rc;
}

static int take_lost(void *context, int w, long j, const struct err *why, int *is_proven, struct err *e)
{
    struct sweep *s = context;
    int is_to_blame = 0;
    if (why->code != ERR_DEVICE)
        queue_give_back(&s->queue, j);
    else
        is_to_blame = queue_lost(&s->queue, w, j);
    queue_turn(&s->queue);
    if (!is_to_blame)
        return 1;
    *is_proven = queue_is_proven(&s->queue, j);
    record_blame(s, j, why, e);
    return 0;
}

static int take_withdrawn(void *context, int w, long j, int has_failed, const char *why, const char *device,
                          struct err *e)
{
    struct sweep *s = context;
    (void)w;
    int rc = sweep_progress_withdraw(&s->progress, j, has_failed, why, device, e);
    if (rc)
        return rc;
    queue_reopen(&s->queue, j);
    queue_turn(&s->queue);
    s->is_unsynced = 1;
    return 0;
}

static int pick_model(void *context, int w, int not_this)
{
    const struct sweep *s = context;
    return queue_pick_model(&s->queue, w, not_this);
}

static struct decoder_user decoder_user(struct sweep *s)
{
    return (struct decoder_user){.context = s,
                                 .done = take_done,
                                 .lost = take_lost,
                                 .withdrawn = take_withdrawn,
                                 .pick_model = pick_model};
}

/* ---- opening ---- */

int sweep_open_workers(struct sweep *s, struct runplan *p, struct deadline *deadline,
                       const struct device_list *devices, struct timeouts timeouts, const char *dir, int argc,
                       char **argv, const char *cache_dir, struct err *e)
{
    const struct decoder_user user = decoder_user(s);
    s->plan = p;
    s->deadline = deadline;
    queue_guess(&s->queue, p, dir);
    s->queue.decoder = &s->decoder;
    int rc = decoder_open_process(&s->decoder, p, &user, devices, timeouts, argc, argv, cache_dir, e);
    return rc ? rc : s->decoder.bind(&s->decoder, e);
}

int sweep_open_endpoint(struct sweep *s, struct runplan *p, struct deadline *deadline,
                        const struct process_env *env, struct err *e)
{
    const struct decoder_user user = decoder_user(s);
    const char *variable = p->file->endpoint->api_key_env, *key = variable ? env->variable(variable) : NULL;
    if (variable && (!key || !*key))
        return err_set(e, ERR_USAGE, /* not its value, which may be the key by mistake */
                       "%s: the variable that model.api_key_env names is not set", p->file->path);
    s->plan = p;
    s->deadline = deadline;
    int rc = decoder_open_endpoint(&s->decoder, p, &user, key, e);
    s->decoder.is_limited = deadline_is_limited(deadline);
    return rc ? rc : s->decoder.bind(&s->decoder, e);
}

void sweep_open_local(struct sweep *s, struct runplan *p, struct deadline *deadline)
{
    const struct decoder_user user = decoder_user(s);
    s->plan = p;
    s->deadline = deadline;
    decoder_open_local(&s->decoder, p, &user);
}

/* ---- the loop ---- */

static void submit_jobs(struct sweep *s, struct err *e)
{
    struct decoder *d = &s->decoder;
    for (int w = 0; w < d->n_workers && !e->code; w++)
        while (!e->code && d->capacity(d, w) > 0) {
            long j = queue_next(&s->queue, w);
            if (j < 0)
                break;
            d->submit(d, w, j, e);
        }
}

/* Sends idle workers to models that have jobs left. Each ends in order and is started anew, which is no
 * death. */
static void change_models(struct sweep *s)
{
    struct decoder *d = &s->decoder;
    int n_held = 0;
    for (int w = 0; w < d->n_workers; w++)
        n_held += d->worker[w].n_held;
    for (int w = 0; w < d->n_workers && s->queue.n_models > 1 && s->queue.left > n_held; w++) {
        const struct decoder_worker *l = &d->worker[w];
        int is_idle = l->is_ready && !l->n_held && d->capacity(d, w) > 0;
        int next = is_idle ? queue_pick_model(&s->queue, w, l->model) : -1;
        if (next >= 0)
            d->change_model(d, w, next);
    }
}

static int is_checking(const struct decoder *d)
{
    for (int w = 0; w < d->n_workers; w++)
        if (d->worker[w].is_live && d->worker[w].is_checked)
            return 1;
    return 0;
}

static void poll_decoder(struct sweep *s, struct err *e)
{
    s->decoder.poll(&s->decoder, e);
    if (s->is_unsynced && s->progress.journal)
        journal_sync(s->progress.journal, e);
    s->is_unsynced = 0;
}

static int poll_deadline(const struct sweep *s)
{
    int busy = queue_busy(&s->queue);
    int signal = deadline_poll(s->deadline, busy);
    return !signal && !busy && queue_is_stuck(&s->queue) ? DEADLINE_TIME_UP : signal;
}

/* Lets what is decoded now end, and starts nothing. */
static void drain_decoder(struct sweep *s, int *signal, struct err *e)
{
    struct decoder *d = &s->decoder;
    d->drain(d, e);
    while (!e->code && !*signal) {
        int busy = 0;
        poll_decoder(s, e);
        for (int w = 0; w < d->n_workers; w++)
            busy += d->worker[w].n_held;
        *signal = deadline_poll(s->deadline, busy);
        if (!e->code)
            sweep_progress_show(&s->progress, d);
    }
}

static void run_loop(struct sweep *s, int *signal, struct err *e)
{
    struct decoder *d = &s->decoder;
    while ((s->queue.left || is_checking(d)) && !e->code && !*signal) {
        submit_jobs(s, e);
        change_models(s);
        if (!e->code)
            poll_decoder(s, e);
        if (!e->code)
            *signal = poll_deadline(s);
        if (!e->code)
            sweep_progress_show(&s->progress, d);
        if (!e->code && !*signal && deadline_is_draining(s->deadline))
            drain_decoder(s, signal, e);
    }
}

int sweep_decode(struct sweep *s, const char *dir, struct board *board, int *signal, struct err *e)
{
    struct decoder *d = &s->decoder;
    struct journal journal;
    *signal = 0;
    if (dir)
        journal_init(&journal, dir);
    sweep_progress_release(&s->progress);
    sweep_progress_init(&s->progress, s->plan, dir ? &journal : NULL, board);
    queue_begin(&s->queue, s->plan, &s->progress.forecast, d, s->deadline);
    d->begin(d);
    run_loop(s, signal, e);
    board_clear(board);
    if (e->code || *signal) { /* what ends meanwhile is kept */
        struct err own = {0};
        d->stop(d, 0, e->code ? &own : e);
        poll_decoder(s, e->code ? &own : e);
    }
    if (dir)
        journal_close(&journal);
    s->progress.journal = NULL;
    if (!e->code && !s->queue.left) /* the last one ended while there was still time */
        *signal = 0;
    return e->code;
}

/* ---- a stop ---- */

static void add_advice(const struct sweep *s, struct str *out)
{
    const struct deadline *l = s->deadline;
    double tokens = 0, least = l->decoding > 0 ? queue_shortest(&s->queue, &tokens) : INFINITY;
    if (!isfinite(least))
        return;
    double before = l->decoding - l->started, needed = before + deadline_reserve(l, before + least) + least;
    if (deadline_is_limited(l) && needed <= l->seconds) {
        str_puts(out, "; completions are longer than was expected: try a limit of ");
        progress_duration(out, 2 * l->seconds);
        return;
    }
    str_printf(
        out, "; the shortest job that is left is expected to need about %.0f tokens, which takes a limit of ",
        tokens);
    progress_duration(out, ceil(needed));
    str_puts(out, ", with --time-limit, and ");
    progress_duration(out, before);
    str_puts(out, " of it are for loading");
}

void sweep_log_lost(const struct sweep *s)
{
    const struct sweep_progress *t = &s->progress;
    double lost = t->decoded - t->tokens;
    struct str advice = {0};
    if (!t->finished)
        add_advice(s, &advice);
    if (lost >= 1)
        log_info("about %.0f tokens of completions under way are lost%s%s", lost,
                 t->finished ? ""
                 : advice.len
                     ? "; none was finished"
                     : "; none was finished: give the sweep more time, or let it decode fewer at once "
                       "(--max-batch)",
                 str_text(&advice));
    str_release(&advice);
}

void sweep_close(struct sweep *s)
{
    if (s->decoder.close)
        s->decoder.close(&s->decoder);
    queue_release(&s->queue);
    sweep_progress_release(&s->progress);
}
