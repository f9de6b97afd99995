/* Families of jobs that share a prompt, and who is at which (contract: queue_families.h). */
#include "evalcore/sweep/queue_families.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct family { /* plan.jobs[next .. end-1] are not taken yet */
    long next, end;
    long prompt; /* the first family with the same prompt */
    int is_begun;
};

static int share_prompt(const struct runplan *p, const struct job *a, const struct job *b)
{
    const struct plan_cell *c = &p->cells[a->cell], *d = &p->cells[b->cell];
    return c->loaded_model == d->loaded_model && c->set == d->set && a->problem == b->problem;
}

struct prompt_key {
    int loaded_model, set, problem;
    long family;
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
    return a->family < b->family ? -1 : a->family > b->family;
}

/* Fills in family.prompt. */
static void find_prompts(struct families *q, const struct runplan *p)
{
    struct prompt_key *key = xcalloc((size_t)q->n_families + 1, sizeof *key);
    for (long g = 0; g < q->n_families; g++) {
        const struct job *j = &p->jobs[q->family[g].next];
        key[g] = (struct prompt_key){p->cells[j->cell].loaded_model, p->cells[j->cell].set, j->problem, g};
    }
    qsort(key, (size_t)q->n_families, sizeof *key, by_prompt);
    for (long i = 0, first = 0; i < q->n_families; i++) {
        if (!share_prompt(p, &p->jobs[q->family[key[i].family].next],
                          &p->jobs[q->family[key[first].family].next]))
            first = i;
        q->family[key[i].family].prompt = key[first].family;
    }
    free(key);
}

void families_init(struct families *q, const struct runplan *p, long first, long end, int n_workers)
{
    memset(q, 0, sizeof *q);
    q->family = xcalloc((size_t)(end - first) + 1, sizeof *q->family);
    q->open = xcalloc((size_t)n_workers, sizeof *q->open);
    q->n_workers = n_workers;
    for (int i = 0; i < n_workers; i++)
        q->open[i] = -1;
    for (long i = first; i < end; i++) {
        if (i > first && share_prompt(p, &p->jobs[i - 1], &p->jobs[i]))
            q->family[q->n_families - 1].end++;
        else
            q->family[q->n_families++] = (struct family){.next = i, .end = i + 1};
    }
    find_prompts(q, p);
    q->owner = xcalloc((size_t)q->n_families + 1, sizeof *q->owner);
    for (long g = 0; g < q->n_families; g++)
        q->owner[g] = -1;
}

static long jobs_left(const struct families *q, int worker)
{
    const struct family *g = &q->family[q->open[worker] < 0 ? 0 : q->open[worker]];
    return q->open[worker] < 0 ? 0 : g->end - g->next;
}

/* Opens the first family with a prompt that this worker or nobody had; if there is none, the first family. */
static void open_family(struct families *q, int worker)
{
    long found = -1, of_others = -1;
    while (q->begun < q->n_families && q->family[q->begun].is_begun)
        q->begun++;
    for (long g = q->begun; g < q->n_families && found < 0; g++) {
        int owner = q->owner[q->family[g].prompt];
        if (q->family[g].is_begun)
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
    q->family[found].is_begun = 1;
    q->open[worker] = found;
    if (q->owner[q->family[found].prompt] < 0)
        q->owner[q->family[found].prompt] = worker;
}

long families_take(struct families *q, int worker)
{
    if (q->n_back) {
        long job = q->back[0];
        memmove(q->back, q->back + 1, (size_t)--q->n_back * sizeof *q->back);
        return job;
    }
    int from = worker;
    if (!jobs_left(q, worker))
        open_family(q, worker);
    for (int i = 0; i < q->n_workers && !jobs_left(q, worker); i++)
        if (jobs_left(q, i) > jobs_left(q, from))
            from = i;
    return jobs_left(q, from) ? q->family[q->open[from]].next++ : -1;
}

long families_take_last(struct families *q, const struct runplan *p)
{
    long short_back = -1;
    while (q->n_families && q->family[q->n_families - 1].next >= q->family[q->n_families - 1].end)
        q->n_families--;
    struct family *last = q->n_families ? &q->family[q->n_families - 1] : NULL;
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

void families_give_back(struct families *q, long job)
{
    xgrow(&q->back, &q->cap_back, (size_t)q->n_back + 1, sizeof *q->back);
    q->back[q->n_back++] = job;
}

void families_release(struct families *q)
{
    free(q->family);
    free(q->open);
    free(q->owner);
    free(q->back);
    memset(q, 0, sizeof *q);
}
