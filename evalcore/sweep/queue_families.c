/* Families of jobs that share a prompt, and who is at which (contract: queue_families.h). */
#include "evalcore/sweep/queue_families.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct family { /* plan.jobs[next .. end-1] are not taken yet */
    long next, end;
    long prompt; /* the first family with the same prompt */
    long section;
    int is_begun;
};

struct section {    /* families that follow each other, of one policy and bucket, or of none */
    long next, end; /* families; `next` is the first that is not begun, while one is left */
    long left;      /* jobs of those that are not begun */
    int loaded_model, bucket, policy;
};

static int share_prompt(const struct runplan *p, const struct job *a, const struct job *b)
{
    const struct plan_cell *c = &p->cells[a->cell], *d = &p->cells[b->cell];
    return c->loaded_model == d->loaded_model && c->set == d->set && a->problem == b->problem;
}

/* Is `b` among the sections of which a worker picks one when `a` is at the front? */
static int share_bucket(const struct section *a, const struct section *b)
{
    return a->policy && b->policy && a->bucket == b->bucket && a->loaded_model == b->loaded_model;
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

/* Appends job i, which comes after job `before` (NULL: none), to the last family, or begins one. */
static void add_job(struct families *q, const struct runplan *p, long i, const struct job *before)
{
    const struct job *j = &p->jobs[i];
    const struct section own = {.next = q->n_families,
                                .end = q->n_families,
                                .loaded_model = p->cells[j->cell].loaded_model,
                                .bucket = j->bucket,
                                .policy = j->policy};
    struct section *s = before ? &q->section[q->n_sections - 1] : NULL;
    int is_new = !s || s->policy != own.policy || (own.policy && !share_bucket(s, &own));
    if (is_new) {
        s = &q->section[q->n_sections++];
        *s = own;
    }
    s->left++;
    if (!is_new && share_prompt(p, before, j)) {
        q->family[q->n_families - 1].end++;
        return;
    }
    q->family[q->n_families++] = (struct family){.next = i, .end = i + 1, .section = q->n_sections - 1};
    s->end = q->n_families;
}

void families_init(struct families *q, const struct runplan *p, long first, long end, int n_workers)
{
    int n_policies = 1; /* 0 is none of them */
    memset(q, 0, sizeof *q);
    q->family = xcalloc((size_t)(end - first) + 1, sizeof *q->family);
    q->section = xcalloc((size_t)(end - first) + 1, sizeof *q->section);
    q->open = xcalloc((size_t)n_workers, sizeof *q->open);
    q->n_workers = n_workers;
    for (int i = 0; i < n_workers; i++)
        q->open[i] = -1;
    for (long i = first; i < end; i++) {
        add_job(q, p, i, i > first ? &p->jobs[i - 1] : NULL);
        n_policies = p->jobs[i].policy >= n_policies ? p->jobs[i].policy + 1 : n_policies;
    }
    q->at = xcalloc((size_t)n_workers, sizeof *q->at);
    q->workers_at = xcalloc((size_t)n_policies, sizeof *q->workers_at);
    q->workers_at[0] = n_workers;
    find_prompts(q, p);
    q->owner = xcalloc((size_t)q->n_families + 1, sizeof *q->owner);
    for (long g = 0; g < q->n_families; g++)
        q->owner[g] = -1;
}

static int is_waiting(const struct family *g)
{
    return !g->is_begun && g->next < g->end;
}

static long jobs_left(const struct families *q, int worker)
{
    const struct family *g = &q->family[q->open[worker] < 0 ? 0 : q->open[worker]];
    return q->open[worker] < 0 ? 0 : g->end - g->next;
}

/* Returns the first family of a section with a prompt that this worker or nobody had, -1: there is none.
 * *of_others: the first one with another prompt, unless it is known already. */
static long find_by_prompt(const struct families *q, const struct section *s, int worker, long *of_others)
{
    for (long g = s->next; g < s->end; g++) {
        int owner = q->owner[q->family[g].prompt];
        if (!is_waiting(&q->family[g]))
            continue;
        if (owner < 0 || owner == worker)
            return g;
        if (*of_others < 0)
            *of_others = g;
    }
    return -1;
}

/* Does a worker begin section a rather than b? It goes on with its policy; else it turns to the one with most
 * jobs left for each worker that is at it. */
static int is_better(const struct families *q, int worker, const struct section *a, const struct section *b)
{
    if (a->policy == q->at[worker] || b->policy == q->at[worker])
        return a->policy == q->at[worker];
    return a->left * (q->workers_at[b->policy] + 1) > b->left * (q->workers_at[a->policy] + 1);
}

/* Returns the first family of the best section of a bucket, whose first that is not begun is `first`. */
static long find_by_policy(const struct families *q, const struct section *first, int worker)
{
    const struct section *best = first;
    for (const struct section *s = first; s < q->section + q->n_sections && share_bucket(s, first); s++)
        if (s->left && is_better(q, worker, s, best))
            best = s;
    return best->next;
}

/* Worker begins the next family, if one is left. */
static void open_family(struct families *q, int worker)
{
    long found = -1, of_others = -1;
    while (q->front < q->n_sections && !q->section[q->front].left)
        q->front++;
    for (long i = q->front; i < q->n_sections && found < 0; i++) {
        const struct section *s = &q->section[i];
        if (s->left)
            found = s->policy ? find_by_policy(q, s, worker) : find_by_prompt(q, s, worker, &of_others);
    }
    if (found < 0)
        found = of_others;
    if (found < 0)
        return;
    struct family *g = &q->family[found];
    struct section *s = &q->section[g->section];
    g->is_begun = 1;
    s->left -= g->end - g->next;
    while (s->left && !is_waiting(&q->family[s->next]))
        s->next++;
    q->open[worker] = found;
    if (q->owner[g->prompt] < 0)
        q->owner[g->prompt] = worker;
}

static void turn_to_policy(struct families *q, int worker, int policy)
{
    q->workers_at[q->at[worker]]--;
    q->workers_at[policy]++;
    q->at[worker] = policy;
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
    if (!jobs_left(q, from))
        return -1;
    struct family *g = &q->family[q->open[from]];
    turn_to_policy(q, worker, q->section[g->section].policy);
    return g->next++;
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
    if (short_back < 0 && last)
        q->section[last->section].left -= !last->is_begun;
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
    free(q->section);
    free(q->open);
    free(q->at);
    free(q->workers_at);
    free(q->owner);
    free(q->back);
    memset(q, 0, sizeof *q);
}
