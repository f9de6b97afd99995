/* Groups of jobs and who is at which (contract: job_queue.h). */
#include "evalcore/sweep/job_queue.h"

#include <stdlib.h>
#include <string.h>

struct job_group { /* plan.jobs[next .. end-1] are not taken yet */
    long next, end;
};

static int share_prompt(const struct runplan *p, const struct job *a, const struct job *b)
{
    const struct plan_cell *c = &p->cells[a->cell], *d = &p->cells[b->cell];
    return c->lane == d->lane && c->set == d->set && a->problem == b->problem;
}

void job_queue_init(struct job_queue *q, const struct runplan *p, int n_workers)
{
    memset(q, 0, sizeof *q);
    q->group = xcalloc((size_t)p->n_jobs + 1, sizeof *q->group);
    q->open = xcalloc((size_t)n_workers, sizeof *q->open);
    q->n_workers = n_workers;
    for (int i = 0; i < n_workers; i++)
        q->open[i] = -1;
    for (long i = 0; i < p->n_jobs; i++) {
        if (i && share_prompt(p, &p->jobs[i - 1], &p->jobs[i]))
            q->group[q->n_groups - 1].end++;
        else
            q->group[q->n_groups++] = (struct job_group){i, i + 1};
    }
}

static long left(const struct job_queue *q, int worker)
{
    const struct job_group *g = &q->group[q->open[worker] < 0 ? 0 : q->open[worker]];
    return q->open[worker] < 0 ? 0 : g->end - g->next;
}

long job_queue_take(struct job_queue *q, int worker)
{
    if (q->n_back) {
        long job = q->back[0];
        memmove(q->back, q->back + 1, (size_t)--q->n_back * sizeof *q->back);
        return job;
    }
    int from = worker;
    if (!left(q, worker) && q->begun < q->n_groups)
        q->open[worker] = q->begun++;
    for (int i = 0; i < q->n_workers && !left(q, worker); i++)
        if (left(q, i) > left(q, from))
            from = i;
    return left(q, from) ? q->group[q->open[from]].next++ : -1;
}

void job_queue_give_back(struct job_queue *q, long job)
{
    xgrow(&q->back, &q->cap_back, (size_t)q->n_back + 1, sizeof *q->back);
    q->back[q->n_back++] = job;
}

void job_queue_release(struct job_queue *q)
{
    free(q->group);
    free(q->open);
    free(q->back);
    memset(q, 0, sizeof *q);
}
