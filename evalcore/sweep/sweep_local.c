/* The loop of a sweep on one device (contract: sweep_local.h): keep a few requests waiting in the engine,
 * step it, journal what finished, sync once per step. */
#include "evalcore/sweep/sweep_local.h"

#include <stdlib.h>

#include "evalcore/cli/stop.h"
#include "evalcore/sweep/job_submit.h"

static int step(struct lane *lane, struct tally *t, struct err *e)
{
    const struct completion *done = NULL;
    int n = 0, rc = engine_step(lane->engine, &done, &n, e);
    for (int i = 0; i < n && !rc; i++)
        rc = tally_add(t, done[i].user, &done[i], lane->info.device, e);
    if (n && !rc)
        rc = journal_sync(t->journal, e);
    return rc;
}

static void show(const struct runplan *p, const struct lane *lane, struct tally *t, struct decoded *d,
                 struct tally_running **running, size_t *cap)
{
    submit_decoded(p, d);
    xgrow(running, cap, (size_t)d->n + 1, sizeof **running);
    for (int i = 0; i < d->n; i++)
        (*running)[i] =
            (struct tally_running){(struct job *)d->running[i].user - p->jobs, d->running[i].n_ids};
    struct tally_now now = {.tokens = d->tokens,
                            .steps = d->steps,
                            .decode_seconds = d->decode_seconds,
                            .prompt_seconds = d->prompt_seconds,
                            .devices = 1,
                            .places = d->is_waiting ? d->n : lane->info.max_batch,
                            .running = *running,
                            .n = d->n};
    tally_show(t, &now);
}

int sweep_local_run(const struct runplan *p, struct tally *t, int *signal, struct err *e)
{
    struct decoded d = {0};
    struct tally_running *running = NULL;
    size_t cap = 0;
    long next = 0;
    int rc = 0;
    *signal = 0;
    for (int lane = 0; lane < p->n_lanes && !rc && !*signal; lane++) { /* jobs are sorted by lane */
        struct engine *en = p->lanes[lane].engine;
        for (;;) {
            while (!rc && next < p->n_jobs && p->cells[p->jobs[next].cell].lane == lane &&
                   engine_waiting(en) < SUBMIT_WAITING)
                rc = submit_job(p, &p->jobs[next++], e);
            if (rc || !engine_pending(en))
                break;
            rc = step(&p->lanes[lane], t, e);
            *signal = stop_poll();
            if (rc || *signal)
                break;
            show(p, &p->lanes[lane], t, &d, &running, &cap);
        }
    }
    submit_decoded(p, &d);
    t->decoded = d.tokens;
    progress_end(t->progress);
    free(running);
    free(d.running);
    return rc;
}
