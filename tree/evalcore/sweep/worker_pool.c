/* Starts of workers, and counts over them (contract: worker_pool.h). */
#include <stdio.h>

#include "evalcore/base/clock.h"
#include "evalcore/base/log.h"
#include "evalcore/sweep/worker_pool.h"

int workers_held(const struct workers *ws)
{
    int n = 0;
    for (int i = 0; i < ws->n; i++)
        n += ws->link[i].state->n_held;
    return n;
}

long workers_jobs_left(const struct workers *ws)
{
    long n = 0;
    for (int m = 0; m < ws->n_parts; m++) {
        if (ws->decoder->left[m] < 0)
            return 1;
        n += ws->decoder->left[m];
    }
    return n;
}

int worker_is_coming(const struct worker_link *l)
{
    return !l->state->is_live && l->back_at > 0 && !l->is_out;
}

int workers_coming(const struct workers *ws)
{
    int n = 0;
    for (int i = 0; i < ws->n; i++)
        n += worker_is_coming(&ws->link[i]);
    return n;
}

void worker_start(struct workers *ws, int i, struct err *e)
{
    struct decoder_worker *state = ws->link[i].state;
    char index[16];
    snprintf(index, sizeof index, "%d", i);
    ws->args[2] = index;
    if (ws->n_parts > 1)
        ws->args[3] = arena_printf(&ws->arena, "--model=%s", ws->part[state->model].label);
    state->is_live = !worker_process_start(&ws->link[i].process, ws->args, e);
    state->is_coming = 0;
    ws->n_live += state->is_live;
    ws->link[i].n_lives += state->is_live;
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

void worker_plan_return(const struct timeouts *limits, struct worker_link *l, struct str *then)
{
    double now = clock_seconds();
    int in_an_hour = deaths_in_hour(l, now);
    double pause = restart_backoff(++l->deaths, in_an_hour);
    if (limits->in_a_row && (l->deaths > limits->in_a_row || in_an_hour > limits->in_an_hour))
        pause = -1;
    l->needs_check = 1;
    l->is_out = l->has_worked && pause < 0;
    l->back_at = !l->has_worked ? 0 : now + (l->is_out ? RETRY_SECONDS : pause);
    l->state->is_coming = worker_is_coming(l);
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

void worker_begin_again(struct workers *ws, int i, int model)
{
    struct worker_link *l = &ws->link[i];
    struct err why = {0};
    struct str then = {0};
    l->state->model = model;
    l->state->is_leaving = 0;
    l->back_at = 0;
    l->device = NULL;
    l->last_words = (struct err){0};
    l->silent = l->stuck = l->loading = 0;
    l->wanted = l->state->n_finished = 0;
    l->state->places = ws->decoder->plan->loaded[0].info.max_batch;
    worker_start(ws, i, &why);
    if (!why.code)
        return;
    worker_plan_return(&ws->timeouts, l, &then);
    log_warn("%s: %s; %s", l->name, why.text, str_text(&then));
    ws->last_loss = why;
    str_release(&then);
}
