/* Groups of jobs and who is at which (contract: job_queue.h). */
#include "evalcore/sweep/job_queue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct job_group { /* plan.jobs[next .. end-1] are not taken yet */
    long next, end;
    long prompt; /* the first group with the same prompt */
    int is_begun;
};

static int share_prompt(const struct runplan *p, const struct job *a, const struct job *b)
{
    const struct plan_cell *c = &p->cells[a->cell], *d = &p->cells[b->cell];
    return c->loaded_model == d->loaded_model && c->set == d->set && a->problem == b->problem;
}

struct prompt_key {
    int loaded_model, set, problem;
    long group;
};

static int by_prompt(const void *pa, const void *pb)
{
    const struct prompt_key *a = pa, *b = pb;
    if (a->loaded_model != b->loaded_model)
        return a->loaded_model - b->loaded_model;
    if (a->set != b->set)
        return a->set - b->set;
    if (a->problem != b->problem)
        return a->problem - b->problem;
    return a->group < b->group ? -1 : a->group > b->group;
}

/* Fills in group.prompt. */
static void find_prompts(struct job_queue *q, const struct runplan *p)
{
    struct prompt_key *key = xcalloc((size_t)q->n_groups + 1, sizeof *key);
    for (long g = 0; g < q->n_groups; g++) {
        const struct job *j = &p->jobs[q->group[g].next];
        key[g] = (struct prompt_key){p->cells[j->cell].loaded_model, p->cells[j->cell].set, j->problem, g};
    }
    qsort(key, (size_t)q->n_groups, sizeof *key, by_prompt);
    for (long i = 0, first = 0; i < q->n_groups; i++) {
        if (!share_prompt(p, &p->jobs[q->group[key[i].group].next],
                          &p->jobs[q->group[key[first].group].next]))
            first = i;
        q->group[key[i].group].prompt = key[first].group;
    }
    free(key);
}

void job_queue_init(struct job_queue *q, const struct runplan *p, long first, long end, int n_workers)
{
    memset(q, 0, sizeof *q);
    q->group = xcalloc((size_t)(end - first) + 1, sizeof *q->group);
    q->open = xcalloc((size_t)n_workers, sizeof *q->open);
    q->n_workers = n_workers;
    for (int i = 0; i < n_workers; i++)
        q->open[i] = -1;
    for (long i = first; i < end; i++) {
        if (i > first && share_prompt(p, &p->jobs[i - 1], &p->jobs[i]))
            q->group[q->n_groups - 1].end++;
        else
            q->group[q->n_groups++] = (struct job_group){.next = i, .end = i + 1};
    }
    find_prompts(q, p);
    q->owner = xcalloc((size_t)q->n_groups + 1, sizeof *q->owner);
    for (long g = 0; g < q->n_groups; g++)
        q->owner[g] = -1;
}

static long left(const struct job_queue *q, int worker)
{
    const struct job_group *g = &q->group[q->open[worker] < 0 ? 0 : q->open[worker]];
    return q->open[worker] < 0 ? 0 : g->end - g->next;
}

/* Opens the first group whose prompt is the worker's or nobody's, else the first of all, if there is one. */
static void begin_group(struct job_queue *q, int worker)
{
    long found = -1, of_others = -1;
    while (q->begun < q->n_groups && q->group[q->begun].is_begun)
        q->begun++;
    for (long g = q->begun; g < q->n_groups && found < 0; g++) {
        int owner = q->owner[q->group[g].prompt];
        if (q->group[g].is_begun)
            continue;
        if (owner < 0 || owner == worker)
            found = g;
        else if (of_others < 0)
            of_others = g;
    }
    if (found < 0)
        found = of_others;
    if (found < 0)
        return;
    q->group[found].is_begun = 1;
    q->open[worker] = found;
    if (q->owner[q->group[found].prompt] < 0)
        q->owner[q->group[found].prompt] = worker;
}

long job_queue_take(struct job_queue *q, int worker)
{
    if (q->n_back) {
        long job = q->back[0];
        memmove(q->back, q->back + 1, (size_t)--q->n_back * sizeof *q->back);
        return job;
    }
    int from = worker;
    if (!left(q, worker))
        begin_group(q, worker);
    for (int i = 0; i < q->n_workers && !left(q, worker); i++)
        if (left(q, i) > left(q, from))
            from = i;
    return left(q, from) ? q->group[q->open[from]].next++ : -1;
}

long job_queue_take_last(struct job_queue *q, const struct runplan *p)
{
    long short_back = -1;
    while (q->n_groups && q->group[q->n_groups - 1].next >= q->group[q->n_groups - 1].end)
        q->n_groups--;
    struct job_group *last = q->n_groups ? &q->group[q->n_groups - 1] : NULL;
    double least = last ? p->jobs[last->end - 1].expected : INFINITY;
    for (long i = 0; i < q->n_back; i++)
        if (p->jobs[q->back[i]].expected < least || (short_back < 0 && !last)) {
            short_back = i;
            least = p->jobs[q->back[i]].expected;
        }
    if (short_back < 0)
        return last ? --last->end : -1;
    long job = q->back[short_back];
    memmove(q->back + short_back, q->back + short_back + 1,
            (size_t)(--q->n_back - short_back) * sizeof *q->back);
    return job;
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
    free(q->owner);
    free(q->back);
    memset(q, 0, sizeof *q);
}
