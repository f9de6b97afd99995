/* Decoding for the gate: only those jobs that the next look needs (contract: gate.h), in this process, on the
 * engines that the replays were decoded on. The journal says what is done, so that a night that was cut short
 * goes on where it was. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evalcore/cli/stop.h"

#include "evalcore/gate/gate.h"
#include "evalcore/plan/scheduler.h"
#include "evalcore/sweep/sweep_progress.h"
#include "evalcore/sweep/job_submit.h"

/* Leaves in the plan the jobs of this look; returns how many. */
static long keep_look(struct runplan *p, int samples, const char *wanted)
{
    long n = 0;
    for (long i = 0; i < p->n_jobs; i++)
        if (p->jobs[i].sample < samples && (!wanted || wanted[p->jobs[i].cell]))
            p->jobs[n++] = p->jobs[i];
    return p->n_jobs = n;
}

struct shown {
    struct decoded decoded;
    struct running_job *running;
    size_t cap;
};

static void show(const struct runplan *p, const struct loaded_model *loaded, struct sweep_progress *t,
                 struct shown *s)
{
    struct decoded *d = &s->decoded;
    submit_decoded(p, d);
    xgrow(&s->running, &s->cap, (size_t)d->n + 1, sizeof *s->running);
    for (int i = 0; i < d->n; i++)
        s->running[i] = (struct running_job){(struct job *)d->running[i].user - p->jobs, d->running[i].n_ids};
    struct status_worker self = {
        .name = "", .life = STATUS_LIVE, .pid = (long)getpid(), .running = d->n, .tokens = d->tokens};
    struct devices_now now = {.tokens = d->tokens,
                              .steps = d->steps,
                              .decode_seconds = d->decode_seconds,
                              .prompt_seconds = d->prompt_seconds,
                              .devices = 1,
                              .places = d->is_waiting ? d->n : loaded->info.max_batch,
                              .worker = &self,
                              .n_workers = 1,
                              .running = s->running,
                              .n = d->n};
    sweep_progress_show(t, &now);
}

/* Journals what finished, synced once per step. */
static int step(const struct loaded_model *loaded, struct sweep_progress *t, struct err *e)
{
    const struct completion *done = NULL;
    int n = 0, rc = engine_step(loaded->engine, &done, &n, e);
    for (int i = 0; i < n && !rc; i++)
        rc = sweep_progress_add(t, done[i].user, &done[i], loaded->info.device, e);
    return n && !rc ? journal_sync(t->journal, e) : rc;
}

/* plan.jobs[next .. end-1], which are one loaded model's. */
static int run_loaded_model(const struct runplan *p, const struct loaded_model *loaded, long next, long end,
                            struct sweep_progress *t, struct shown *s, int *signal, struct err *e)
{
    int rc = 0;
    while (!rc) {
        while (!rc && next < end && engine_waiting(loaded->engine) < SUBMIT_WAITING)
            rc = submit_job(p, &p->jobs[next++], e);
        *signal = rc ? 0 : stop_poll();
        if (rc || *signal || !engine_pending(loaded->engine))
            break;
        rc = step(loaded, t, e);
        if (!rc)
            show(p, loaded, t, s);
    }
    return rc;
}

static int run_jobs(const struct runplan *p, struct sweep_progress *t, int *signal, struct err *e)
{
    struct shown s = {0};
    int rc = 0;
    for (long i = 0, end; i < p->n_jobs && !rc && !*signal; i = end) { /* jobs are sorted by loaded model */
        int loaded = p->cells[p->jobs[i].cell].loaded_model;
        for (end = i; end < p->n_jobs && p->cells[p->jobs[end].cell].loaded_model == loaded; end++)
            ;
        rc = run_loaded_model(p, &p->loaded[loaded], i, end, t, &s, signal, e);
    }
    board_clear(t->board);
    free(s.running);
    free(s.decoded.running);
    return rc;
}

static int decode(struct runplan *p, const char *dir, int *signal, const struct gate_progress *show,
                  struct err *e)
{
    struct journal journal;
    struct board board;
    struct status_device device = {.name = ""};
    const struct process_env terminal = {.live = show->live, .columns = show->columns};
    struct sweep_progress t = {0};
    board_init(&board, show->quiet ? BOARD_NONE : BOARD_AUTO, &terminal, NULL, NULL);
    board.now.total = p->n_jobs;
    board.now.device = &device;
    board.now.n_devices = 1;
    journal_init(&journal, dir);
    sweep_progress_init(&t, p, &journal, &board);
    int rc = run_jobs(p, &t, signal, e);
    board_end(&board);
    sweep_progress_release(&t);
    journal_close(&journal);
    return rc;
}

int gate_decode(struct runplan *p, const char *dir, int samples, const char *wanted,
                const struct gate_progress *show, int *signal, struct err *e)
{
    const struct run_options o = {.grades = RUN_GRADES_NONE};
    struct run done;
    *signal = 0;
    int rc = run_load_with(&done, dir, &o, e);
    if (rc)
        return rc;
    struct job *all = p->jobs; /* the plan gets its whole list back */
    long n_all = p->n_jobs;
    p->jobs = xmalloc(((size_t)n_all + 1) * sizeof *p->jobs);
    memcpy(p->jobs, all, (size_t)n_all * sizeof *all);
    if (keep_look(p, samples, wanted) && scheduler_keep(p, &done, 0, 0, 0, NULL, NULL)) {
        scheduler_order(p, &done, 1);
        rc = decode(p, dir, signal, show, e);
    }
    free(p->jobs);
    p->jobs = all;
    p->n_jobs = n_all;
    run_release(&done);
    return rc;
}
