/* Decoding for the gate: a sweep of only those jobs that the next look needs (contract: gate.h). The journal
 * says what is done, so that a night that was cut short goes on where it was. */
#include <stdlib.h>
#include <string.h>

#include "evalcore/gate/gate.h"
#include "evalcore/plan/scheduler.h"
#include "evalcore/sweep/sweep_local.h"

/* Leaves in the plan the jobs of this look; returns how many. */
static long keep_look(struct runplan *p, int samples, const char *wanted)
{
    long n = 0;
    for (long i = 0; i < p->n_jobs; i++)
        if (p->jobs[i].sample < samples && (!wanted || wanted[p->jobs[i].cell]))
            p->jobs[n++] = p->jobs[i];
    return p->n_jobs = n;
}

static int decode(struct runplan *p, const char *dir, int *signal, const struct gate_progress *show,
                  struct err *e)
{
    struct journal journal;
    struct board board;
    struct status_device device = {.name = ""};
    const struct program terminal = {.live = show->live, .columns = show->columns};
    struct tally t = {0};
    board_init(&board, show->quiet ? BOARD_NONE : BOARD_AUTO, &terminal, NULL, NULL);
    board.now.total = p->n_jobs;
    board.now.device = &device;
    board.now.n_devices = 1;
    journal_init(&journal, dir);
    tally_init(&t, p, &journal, &board);
    int rc = sweep_local_run(p, &t, signal, e);
    board_end(&board);
    tally_release(&t);
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
