/* Deaths and restarts of workers (contract: worker_pool.h; the rules: restart_rules.h). */
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/clock.h"
#include "evalcore/base/log.h"
#include "evalcore/sweep/worker_pool.h"

/* They were the fault of a job. A client may ask a server for it again and again, which would be without
 * workers soon if the hour still counted them; each worker has decoded a pinned request since it started. In
 * a sweep the hour does count them: with broken devices each of its jobs seems to be to blame. */
static void forgive_deaths(struct workers *ws, int i)
{
    ws->link[i].deaths = 0;
    for (int w = 0; w < ws->n && ws->decoder->pinned; w++)
        ws->link[w].n_died = 0;
}

/* What worker i held begins anew, unless the job is to blame. Returns how many jobs do. */
static long give_back_jobs(struct workers *ws, int i, const struct err *loss, struct err *e)
{
    struct decoder_user *user = &ws->decoder->user;
    struct worker_link *l = &ws->link[i];
    struct err told = *loss;
    long n = 0;
    if (ws->is_stopping) /* the job is not to blame */
        told.code = ERR_USAGE;
    for (long j = 0; ws->holder && j < ws->n_jobs; j++) {
        int is_proven = 0, is_open = 1;
        if (ws->holder[j] != i)
            continue;
        if (!ws->is_broken)
            is_open = user->lost(user->context, i, j, &told, &is_proven, e);
        ws->holder[j] = is_open ? HELD_BY_NOBODY : HELD_DONE;
        ws->has_failed[j] = !is_open;
        ws->is_broken |= e->code != 0;
        if (is_proven)
            forgive_deaths(ws, i);
        n += is_open;
    }
    l->state->n_held = 0;
    return n;
}

static void find_reason(const struct worker_link *l, const struct err *why, const char *how, struct err *loss)
{
    if (l->last_words.code)
        *loss = l->last_words;
    else if (why->code)
        err_set(loss, ERR_DEVICE, "the worker was ended: %s", why->text);
    else
        err_set(loss, ERR_DEVICE, "the worker %s", how);
    if (strncmp(loss->text, l->name, strlen(l->name)) != 0)
        err_add(loss, "%s", l->name);
}

static void add_progress(struct worker_progress *sum, const struct worker_progress *p)
{
    sum->tokens += p->tokens;
    sum->steps += p->steps;
    sum->decode_seconds += p->decode_seconds;
    sum->prompt_seconds += p->prompt_seconds;
}

/* The counts of a life that is over stay in the sums. */
static void end_life(struct workers *ws, struct worker_link *l)
{
    add_progress(&l->earlier, &l->decoded);
    add_progress(&ws->part[l->state->model].earlier, &l->decoded);
    l->decoded = (struct worker_progress){0};
    l->n_running = 0;
    l->state->is_live = l->state->is_ready = l->state->is_checked = 0;
    l->check = CHECK_NONE;
}

void worker_mark_dead(struct workers *ws, int i, const struct err *why, double until, struct err *e)
{
    struct worker_link *l = &ws->link[i];
    struct str how = {0}, then = {0};
    struct err loss = {0};
    worker_process_end(&l->process, until, &how);
    end_life(ws, l);
    ws->n_live--;
    if (l->state->is_leaving && !ws->is_stopping) {
        str_release(&how);
        worker_begin_again(ws, i, l->state->next);
        return;
    }
    find_reason(l, why, str_text(&how), &loss);
    str_release(&how);
    /* Others have read the same input: that a later life cannot is no mistake in it. */
    int is_reborn = l->n_lives > 1 || (!l->device && workers_have_loaded(ws, l->state->model));
    long n_back = give_back_jobs(ws, i, &loss, e);
    if (ws->is_stopping)
        return;
    ws->last_loss = loss;
    if (worker_cannot_load(ws, i, &loss, e))
        return;
    if (loss.code != ERR_DEVICE && !is_reborn) {
        err_set(e, loss.code, "%s", loss.text);
        return;
    }
    worker_plan_return(&ws->timeouts, l, &then);
    int is_over = ws->holder && !workers_jobs_left(ws); /* only canaries were decoded */
    if (!ws->n_live && !workers_coming(ws) && !is_over)
        err_set(e, loss.code, "%s%s", ws->n > 1 || l->has_worked ? "no worker is left: " : "", loss.text);
    else if (n_back)
        log_warn("%s; its %ld unfinished jobs begin anew; %s", loss.text, n_back, str_text(&then));
    else
        log_warn("%s; %s", loss.text, str_text(&then));
    str_release(&then);
}

void workers_restart(struct workers *ws, struct err *e)
{
    long unheld = workers_jobs_left(ws) - workers_held(ws);
    for (int i = 0; i < ws->n && unheld; i++)
        if (!ws->link[i].state->is_live && ws->link[i].back_at > 0 && clock_seconds() >= ws->link[i].back_at)
            worker_begin_again(ws, i, worker_next_model(ws, i));
    if (!ws->n_live && !workers_coming(ws))
        err_set(e, ERR_DEVICE, "no worker is left: %s", ws->last_loss.text);
}
