/* The loop of a sweep on one device (contract: sweep_local.h): keep a few requests waiting in the engine,
 * step it, journal what finished, sync once per step. */
#include "evalcore/sweep/sweep_local.h"

#include <stdlib.h>
#include <unistd.h>

#include "evalcore/sweep/job_submit.h"
#include "evalcore/sweep/slot.h"

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

/* Gives the engine what may start of plan.jobs[*next .. *end-1], and with a drain takes back what waits. */
static int submit(const struct runplan *p, struct tally *t, int lane, long *next, long *end, struct err *e)
{
    const struct lane *l = &p->lanes[lane];
    long j;
    int rc = 0;
    while (!rc && (j = slot_pick(t, *next, *end, engine_waiting(l->engine) < SUBMIT_WAITING,
                                 engine_pending(l->engine), l->info.max_batch)) >= 0) {
        rc = submit_job(p, &p->jobs[j], e);
        if (j == *next)
            ++*next;
        else
            --*end;
    }
    if (slot_is_draining(t) && !t->slot->is_drained) {
        engine_withdraw(l->engine);
        t->slot->is_drained = 1;
    }
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
    struct status_worker self = {
        .life = STATUS_LIVE, .pid = (long)getpid(), .running = d->n, .tokens = d->tokens};
    self.name = t->board->now.n_devices ? t->board->now.device[0].name : "";
    struct tally_now now = {.tokens = d->tokens,
                            .steps = d->steps,
                            .decode_seconds = d->decode_seconds,
                            .prompt_seconds = d->prompt_seconds,
                            .devices = 1,
                            .places = d->is_waiting ? d->n : lane->info.max_batch,
                            .worker = &self,
                            .n_workers = 1,
                            .running = *running,
                            .n = d->n};
    tally_show(t, &now);
}

int sweep_local_run(const struct runplan *p, struct tally *t, int *signal, struct err *e)
{
    struct decoded d = {0};
    struct tally_running *running = NULL;
    size_t cap = 0;
    long end = 0, left = 0;
    int rc = 0;
    *signal = 0;
    for (int lane = 0; lane < p->n_lanes && !rc && !*signal; lane++) { /* jobs are sorted by lane */
        struct engine *en = p->lanes[lane].engine;
        int is_last = lane + 1 == p->n_lanes;
        long next = end;
        while (end < p->n_jobs && p->cells[p->jobs[end].cell].lane == lane)
            end++;
        long last = end;
        slot_turn(t);
        for (;;) {
            rc = submit(p, t, lane, &next, &last, e);
            if (!rc)
                *signal = slot_poll(t, engine_pending(en) || !is_last);
            if (rc || *signal || !engine_pending(en))
                break;
            rc = step(&p->lanes[lane], t, e);
            if (rc)
                break;
            show(p, &p->lanes[lane], t, &d, &running, &cap);
        }
        left += last - next;
    }
    if (!rc && !*signal && left)
        *signal = SLOT_TIME_UP;
    submit_decoded(p, &d);
    t->decoded = d.tokens;
    board_clear(t->board);
    free(running);
    free(d.running);
    return rc;
}
