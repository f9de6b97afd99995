/* Deaths and restarts of workers (contract: workers_parts.h; the rules: restart_rules.h). */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/clock.h"
#include "evalcore/base/log.h"
#include "evalcore/sweep/job_submit.h"
#include "evalcore/sweep/deadline.h"
#include "evalcore/workers/workers_parts.h"

/* The job ends in an error, which is its record. */
static void blame(struct workers *ws, long j, const struct err *loss, struct err *e)
{
    struct str text = {0};
    str_printf(&text, "it ended %d workers, the last one alone: %s", ws->fate[j].deaths, loss->text);
    struct completion c = {.finish = FINISHED_ERROR, .error = str_text(&text)};
    if (ws->progress && sweep_progress_add(workers_part(ws, j)->progress, &ws->plan->jobs[j], &c, "none", e))
        ws->progress = NULL; /* nothing may follow a torn record */
    ws->holder[j] = HELD_DONE;
    ws->left--;
    workers_part(ws, j)->left--;
    ws->is_unsynced = 1;
    log_warn("job %.16s ends as error: %s", ws->plan->jobs[j].key, str_text(&text));
    str_release(&text);
}

static void suspect(struct workers *ws, long j)
{
    xgrow(&ws->suspect, &ws->cap_suspects, (size_t)ws->n_suspects + 1, sizeof *ws->suspect);
    ws->suspect[ws->n_suspects++] = j;
}

int worker_is_coming(const struct worker_link *l)
{
    return !l->is_live && l->back_at > 0 && !l->is_out;
}

int workers_others(const struct workers *ws, int i, int model)
{
    for (int k = 0; k < ws->n; k++)
        if (k != i && !(ws->link[k].cannot >> model & 1) &&
            (ws->link[k].is_live || worker_is_coming(&ws->link[k])))
            return 1;
    return 0;
}

int workers_coming(const struct workers *ws)
{
    int n = 0;
    for (int i = 0; i < ws->n; i++)
        n += worker_is_coming(&ws->link[i]);
    return n;
}

/* Job j of worker i, which died. Returns 0 when the job is over. */
static int return_job(struct workers *ws, int i, long j, const struct err *loss, struct err *e)
{
    struct worker_link *l = &ws->link[i];
    struct job_fate *f = &ws->fate[j];
    struct job_queue *queue = &workers_part(ws, j)->queue;
    ws->holder[j] = HELD_BY_NOBODY;
    if (ws->progress) /* it does not run any more */
        ws->progress->job[j].state = ETA_WAITING;
    if (ws->is_stopping || loss->code != ERR_DEVICE) {
        job_queue_give_back(queue, j);
    } else if (fate_of_death(f, i, l->n_held, l->n_finished, workers_others(ws, i, l->model))) {
        blame(ws, j, loss, e);
        if (fate_is_proven(f)) /* it was not this worker's fault */
            l->deaths = 0;
        return 0;
    } else if (f->company) {
        suspect(ws, j);
    } else {
        job_queue_give_back(queue, j);
    }
    return 1;
}

/* What worker i held goes back into the queue. Returns how many jobs. */
static long give_back(struct workers *ws, int i, const struct err *loss, struct err *e)
{
    long n = 0;
    for (long j = 0; ws->holder && j < ws->plan->n_jobs; j++)
        if (ws->holder[j] == i)
            n += return_job(ws, i, j, loss, e);
    ws->link[i].n_held = 0;
    if (n && ws->progress)
        deadline_turn(ws->part[ws->link[i].model].progress); /* what did not fit before may do now */
    return n;
}

/* Deaths within the hour that ends now, this one included. */
static int deaths_in_hour(struct worker_link *l, double now)
{
    int n = 0;
    l->died[l->n_died++ % (RESTARTS_PER_HOUR + 1)] = now;
    for (int k = 0; k < RESTARTS_PER_HOUR + 1 && k < l->n_died; k++)
        n += now - l->died[k] < 3600;
    return n;
}

/* When it is started again, as a part of a sentence. */
static void plan_return(struct worker_link *l, struct str *then)
{
    double now = clock_seconds(), pause = restart_backoff(++l->deaths, deaths_in_hour(l, now));
    l->needs_check = 1;
    l->is_out = l->has_worked && pause < 0;
    l->back_at = !l->has_worked ? 0 : now + (l->is_out ? RETRY_SECONDS : pause);
    if (!l->has_worked) /* its device did not work from the start, as far as one knows */
        str_puts(then, "the others go on without it");
    else if (l->is_out)
        str_printf(then, "after so many deaths (%d) it stays out, and is tried again every %d minutes",
                   l->n_died, RETRY_SECONDS / 60);
    else if (pause > 0)
        str_printf(then, "it starts again in %.0f s", pause);
    else
        str_puts(then, "it starts again");
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
static void bury(struct workers *ws, struct worker_link *l)
{
    add_progress(&l->earlier, &l->decoded);
    add_progress(&ws->part[l->model].earlier, &l->decoded);
    l->decoded = (struct worker_progress){0};
    l->n_running = 0;
    l->is_live = 0;
    l->check = CHECK_NONE;
}

void worker_mark_dead(struct workers *ws, int i, const struct err *why, double deadline, struct err *e)
{
    struct worker_link *l = &ws->link[i];
    struct str how = {0}, then = {0};
    struct err loss = {0};
    worker_process_end(&l->process, deadline, &how);
    bury(ws, l);
    ws->n_live--;
    if (l->is_leaving && !ws->is_stopping) {
        str_release(&how);
        worker_begin_again(ws, i, l->next);
        return;
    }
    find_reason(l, why, str_text(&how), &loss);
    str_release(&how);
    /* Others have read the same input: that a later life cannot is no mistake in it. */
    int is_reborn = l->n_lives > 1 || (!l->device && workers_have_loaded(ws, l->model));
    long n_back = give_back(ws, i, &loss, e);
    if (ws->is_stopping)
        return;
    ws->last_loss = loss;
    if (worker_cannot_load(ws, i, &loss, e))
        return;
    if (loss.code != ERR_DEVICE && !is_reborn) {
        err_set(e, loss.code, "%s", loss.text);
        return;
    }
    plan_return(l, &then);
    int is_over = ws->holder && !ws->left; /* only canaries were decoded */
    if (!ws->n_live && !workers_coming(ws) && !is_over)
        err_set(e, loss.code, "%s%s", ws->n > 1 || l->has_worked ? "no worker is left: " : "", loss.text);
    else if (n_back)
        log_warn("%s; its %ld unfinished jobs begin anew; %s", loss.text, n_back, str_text(&then));
    else
        log_warn("%s; %s", loss.text, str_text(&then));
    str_release(&then);
}

void worker_begin_again(struct workers *ws, int i, int model)
{
    struct worker_link *l = &ws->link[i];
    struct err why = {0};
    struct str then = {0};
    l->model = model;
    l->is_leaving = 0;
    l->back_at = 0;
    l->device = NULL;
    l->last_words = (struct err){0};
    l->silent = l->stuck = l->loading = 0;
    l->wanted = l->n_finished = 0;
    worker_start(ws, i, &why);
    if (!why.code)
        return;
    plan_return(l, &then);
    log_warn("%s: %s; %s", l->name, why.text, str_text(&then));
    ws->last_loss = why;
    str_release(&then);
}

void workers_restart(struct workers *ws, struct err *e)
{
    long unheld = ws->left - workers_busy(ws);
    for (int i = 0; i < ws->n && unheld; i++)
        if (!ws->link[i].is_live && ws->link[i].back_at > 0 && clock_seconds() >= ws->link[i].back_at)
            worker_begin_again(ws, i, workers_after_death(ws, i));
    if (!ws->n_live && !workers_coming(ws))
        err_set(e, ERR_DEVICE, "no worker is left: %s", ws->last_loss.text);
}

/* A suspect, when nothing else is left, in no more company than it may have. The one with most deaths is for
 * a worker that has finished nothing yet, where its death would prove something. */
static long find_suspect(const struct workers *ws, int i)
{
    const struct worker_link *l = &ws->link[i];
    long found = -1;
    for (long k = 0; k < ws->n_suspects; k++) {
        const struct job_fate *f = &ws->fate[ws->suspect[k]];
        int ahead = found < 0 ? 1 : f->deaths - ws->fate[ws->suspect[found]].deaths;
        if (workers_part((struct workers *)ws, ws->suspect[k]) != &ws->part[l->model])
            continue;
        if (l->n_held < f->company && fate_allows(f, i, workers_others(ws, i, l->model)) &&
            (found < 0 || (l->n_finished ? ahead < 0 : ahead > 0)))
            found = k;
    }
    return found;
}

static long next_suspect(struct workers *ws, int i)
{
    struct worker_link *l = &ws->link[i];
    long k = find_suspect(ws, i), j = k < 0 ? -1 : ws->suspect[k];
    if (j < 0 || !deadline_fits(ws->part[l->model].progress, j))
        return -1;
    int company = ws->fate[j].company;
    l->company = l->n_held && l->company && l->company < company ? l->company : company;
    memmove(ws->suspect + k, ws->suspect + k + 1, (size_t)(--ws->n_suspects - k) * sizeof *ws->suspect);
    return j;
}

int workers_busy(const struct workers *ws)
{
    int n = 0;
    for (int i = 0; i < ws->n; i++)
        n += ws->link[i].n_held;
    return n;
}

/* Towards the end a worker gets no more than its share, and than it can decode at once: what waits in its
 * engine would be missing on a device that stands still. */
static int is_served(const struct workers *ws, const struct worker_link *l, int busy)
{
    int places = worker_capacity(l->decoded.is_waiting, l->n_running, ws->plan->loaded[0].info.max_batch),
        n = 0;
    long left = ws->part[l->model].left;
    for (int i = 0; i < ws->n; i++)
        n += ws->link[i].is_live && ws->link[i].model == l->model && !ws->link[i].is_leaving;
    long share = (left + n - 1) / n;
    if (ws->n < 2 || left - busy > (long)n * SUBMIT_WAITING)
        return 0;
    return l->n_held >= (share < places ? share : places);
}

long worker_next_job(struct workers *ws, int i)
{
    struct worker_link *l = &ws->link[i];
    struct model_part *part = &ws->part[l->model];
    int busy = 0;
    for (int k = 0; k < ws->n; k++) /* those with the same model */
        busy += ws->link[k].model == l->model ? ws->link[k].n_held : 0;
    if (!l->n_held)
        l->company = 0;
    if ((l->company && l->n_held >= l->company) || is_served(ws, l, busy))
        return -1;
    long j = deadline_take(part->progress, &part->queue, i, busy);
    if (j < 0)
        j = next_suspect(ws, i);
    if (j < 0)
        return -1;
    ws->holder[j] = i;
    l->n_held++;
    return j;
}
