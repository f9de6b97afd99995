/* Decoding for the gate: the replays of tier 1 and those jobs that the next look needs (contract: gate.h).
 * The journal says what is done, so that a night that was cut short goes on where it was. */
#include <stdlib.h>
#include <string.h>

#include "evalcore/gate/gate.h"

/* Leaves in the plan the jobs of this look; returns how many. */
static long keep_look(struct runplan *p, int samples, const char *wanted)
{
    long n = 0;
    for (long i = 0; i < p->n_jobs; i++)
        if (p->jobs[i].sample < samples && (!wanted || wanted[p->jobs[i].cell]))
            p->jobs[n++] = p->jobs[i];
    return p->n_jobs = n;
}

static int compare_keys(const void *a, const void *b)
{
    const struct job *x = a, *y = b;
    return strcmp(x->key, y->key);
}

/* An order for the devices; for a server one of chance, which a key is: answers to a problem that are asked
 * for one after the other would be in one batch, and what that does to them in common would count as many
 * times. */
static void sort_jobs(const struct sweep *s, struct runplan *look, const struct run *done)
{
    queue_sort(look, done, s->decoder.n_workers);
    if (look->file->endpoint)
        qsort(look->jobs, (size_t)look->n_jobs, sizeof *look->jobs, compare_keys);
}

static void show_board(struct board *b, const struct sweep *s, struct status_device *device,
                       const struct process_env *show)
{
    const struct process_env none = {.columns = 80};
    board_init(b, show ? BOARD_AUTO : BOARD_NONE, show ? show : &none, NULL, NULL);
    b->now.total = s->plan->n_jobs;
    b->now.device = device;
    b->now.n_devices = s->decoder.n_workers;
    for (int i = 0; i < s->decoder.n_workers; i++)
        device[i] = (struct status_device){.name = ""};
}

static int decode_plan(struct sweep *s, const char *dir, const struct process_env *show, int *signal,
                       struct err *e)
{
    struct board board;
    struct status_device device[DEVICES_MAX];
    show_board(&board, s, device, show);
    int rc = sweep_decode(s, dir, &board, signal, e);
    board_end(&board);
    return rc;
}

int gate_decode_list(struct sweep *s, const char *dir, struct job *jobs, long n,
                     const struct process_env *show, int *signal, struct err *e)
{
    struct runplan *p = s->plan;
    struct job *all = p->jobs;
    long n_all = p->n_jobs;
    p->jobs = jobs;
    p->n_jobs = n;
    int rc = n ? decode_plan(s, dir, show, signal, e) : 0;
    p->jobs = all;
    p->n_jobs = n_all;
    return rc;
}

int gate_decode(struct sweep *s, const char *dir, int samples, const char *wanted,
                const struct process_env *show, int *signal, struct err *e)
{
    const struct run_options o = {.grades = RUN_GRADES_NONE};
    struct run done;
    struct runplan look = *s->plan; /* with a list of jobs of its own */
    *signal = 0;
    int rc = run_load_with(&done, dir, &o, e);
    if (rc)
        return rc;
    look.jobs = xmalloc(((size_t)look.n_jobs + 1) * sizeof *look.jobs);
    memcpy(look.jobs, s->plan->jobs, (size_t)look.n_jobs * sizeof *look.jobs);
    if (keep_look(&look, samples, wanted) &&
        queue_keep_open(&look, &done, s->plan->file->endpoint != NULL, 0, 0, NULL, NULL)) {
        sort_jobs(s, &look, &done);
        rc = gate_decode_list(s, dir, look.jobs, look.n_jobs, show, signal, e);
    }
    free(look.jobs);
    run_release(&done);
    return rc;
}
