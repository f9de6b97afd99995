/* The loop of a sweep on one device (contract: sweep_local.h): keep a few requests waiting in the engine,
 * step it, journal what finished, sync once per step. */
#include "evalcore/sweep/sweep_local.h"

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

int sweep_local_run(const struct runplan *p, struct tally *t, int *signal, struct err *e)
{
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
            tally_show(t, submit_decoded(p));
        }
    }
    progress_end(t->progress);
    return rc;
}
