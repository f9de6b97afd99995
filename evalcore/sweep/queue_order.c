/* Which jobs, in which order (contract: queue.h). */
#include "evalcore/sweep/queue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/store/job_key.h"

struct history { /* lengths of finished completions of one cell, or of another run's of one prompt set */
    double *sum; /* by problem */
    long *n;
    double all;
    long n_all;
};

static void open_history(struct history *h, size_t n_problems)
{
    h->sum = xcalloc(n_problems + 1, sizeof *h->sum);
    h->n = xcalloc(n_problems + 1, sizeof *h->n);
}

/* By cell: a policy that stops early, or never, says nothing of the others. */
static struct history *collect_lengths(const struct runplan *p, const struct run *done)
{
    struct history *h = xcalloc((size_t)p->n_cells + 1, sizeof *h);
    for (int c = 0; c < p->n_cells; c++) {
        size_t n_problems = p->sets[p->cells[c].set].task.n_problems;
        open_history(&h[c], n_problems);
        if (!done || c >= done->n_cells) /* both are in the order of the configuration ... */
            continue;
        for (int i = 0; i < done->cells[c].n_records; i++) {
            const struct record *rec = &done->cells[c].records[i];
            if ((size_t)rec->problem >= n_problems)
                break; /* ... unless another shard has just written its own */
            if (rec->finish == FINISHED_ERROR)
                continue; /* says nothing about the length */
            h[c].sum[rec->problem] += rec->tokens;
            h[c].n[rec->problem]++;
            h[c].all += rec->tokens;
            h[c].n_all++;
        }
    }
    return h;
}

static void release_history(struct history *h, int n)
{
    for (int i = 0; i < n; i++) {
        free(h[i].sum);
        free(h[i].n);
    }
    free(h);
}

static const struct problem *problem_at(const struct prompt_set *s, size_t q, const char *id)
{
    return q < s->task.n_problems && !strcmp(s->task.problems[q].id, id) ? &s->task.problems[q] : NULL;
}

/* Most often the other run has the same problems in the same order. */
static long find_problem(const struct prompt_set *s, size_t guess, const char *id)
{
    if (problem_at(s, guess, id))
        return (long)guess;
    for (size_t q = 0; q < s->task.n_problems; q++)
        if (problem_at(s, q, id))
            return (long)q;
    return -1;
}

/* Adds the completions of one problem of the other run to the histories of the sets that have it. */
static void add_lengths(struct history *h, const struct runplan *p, const struct run_task *t,
                        const struct record *rec)
{
    for (int i = 0; i < p->n_sets; i++) {
        if (strcmp(task_short_name(p->sets[i].task.ops), t->name) != 0)
            continue;
        long q = find_problem(&p->sets[i], (size_t)rec->problem, t->problems[rec->problem].id);
        if (q < 0)
            continue;
        h[i].sum[q] += rec->tokens;
        h[i].n[q]++;
    }
}

long queue_hint(struct runplan *p, const struct run *other)
{
    struct history *h = xcalloc((size_t)p->n_sets + 1, sizeof *h);
    long known = 0;
    for (int i = 0; i < p->n_sets; i++)
        open_history(&h[i], p->sets[i].task.n_problems);
    for (int c = 0; c < other->n_cells; c++)
        for (int i = 0; i < other->cells[c].n_records; i++)
            if (other->cells[c].records[i].finish != FINISHED_ERROR)
                add_lengths(h, p, other->cells[c].task, &other->cells[c].records[i]);
    for (long i = 0; i < p->n_jobs; i++) {
        struct job *j = &p->jobs[i];
        const struct history *of = &h[p->cells[j->cell].set];
        j->hint = of->n[j->problem] ? of->sum[j->problem] / (double)of->n[j->problem] : 0;
        known += of->n[j->problem] > 0;
    }
    release_history(h, p->n_sets);
    return known;
}

/* What the cell that it is compared with says of a problem, or of all of them; 0: nothing. */
static double baseline_tokens(const struct history *h, const struct runplan *p, const struct job *j)
{
    const struct history *b = p->cells[j->cell].baseline < 0 ? NULL : &h[p->cells[j->cell].baseline];
    if (!b || !b->n_all)
        return 0;
    return b->n[j->problem] ? b->sum[j->problem] / (double)b->n[j->problem] : b->all / (double)b->n_all;
}

static double expected_tokens(const struct history *all, const struct runplan *p, struct job *j)
{
    const struct plan_cell *c = &p->cells[j->cell];
    const struct prompt_set *s = &p->sets[c->set];
    const struct problem *problem = &s->task.problems[j->problem];
    const struct history *h = &all[j->cell];
    double of_baseline = baseline_tokens(all, p, j);
    double tokens = h->n[j->problem]  ? h->sum[j->problem] / (double)h->n[j->problem]
                    : j->hint > 0     ? j->hint
                    : h->n_all        ? h->all / (double)h->n_all
                    : of_baseline > 0 ? of_baseline
                                      : task_usual_tokens(s->task.ops, &s->task.options);
    int limit = settings_max_new(&c->settings->s, problem->max_new_tokens);
    j->usual = tokens > 1 ? tokens : 1;
    if (settings_only_limit(&c->settings->s)) {
        j->usual = INFINITY;
        return limit; /* nothing else ends it */
    }
    return tokens > limit ? limit : tokens > 1 ? tokens : 1;
}

/* How many policies take their turns together where prompts are longer than completions, and on a CPU. */
enum { TOGETHER = 4 };

enum { SORT_KEYS = 9 };
struct sort_item {
    int key[SORT_KEYS];
    struct job job;
};

/* How many of the set's prompts the devices keep while all policies take their turns. Each keeps as many as
 * the engine does, its batch has places for, and have room in a quarter of the CPU's pool or on a GPU in 4
 * GiB. Where memory is shorter than that, prompts are prefilled more than once. */
static int kept_prompts(const struct loaded_model *l, const struct prompt_set *s, int n_devices)
{
    double bytes = engine_is_on_gpu(&l->options) ? 4.0 * (1 << 30) : 0.25 * (512 << 20), longest = 1;
    for (size_t q = 0; s->rows && q < s->task.n_problems; q++)
        longest = s->rows[q].n > longest ? s->rows[q].n : longest;
    double n = floor(bytes / (engine_full_tokens(&l->info, longest) * (double)l->info.kv_token_bytes));
    n = fmin(fmin(n, ENGINE_SHARED_PROMPTS), l->info.max_batch);
    return n_devices * (n < 1 ? 1 : (int)n);
}

/* Prompts that are longer than their completions are most of the work. They are cut into blocks that the
 * devices keep, so that each is prefilled once for all cells, and each block is decoded by a few policies at
 * a time.
 */
static int block_of(const struct runplan *p, const struct job *j, const int *kept)
{
    const struct plan_cell *c = &p->cells[j->cell];
    const struct prompt_set *s = &p->sets[c->set];
    int is_long = s->rows && s->rows[j->problem].n > j->expected;
    return is_long ? 1 + j->problem / kept[c->loaded_model * p->n_sets + c->set] : 0;
}

static int by_start(const void *pa, const void *pb)
{
    const struct sort_item *a = pa, *b = pb;
    for (int i = 0; i < SORT_KEYS; i++)
        if (a->key[i] != b->key[i])
            return a->key[i] < b->key[i] ? -1 : 1;
    return 0;
}

/* On a GPU each policy in a batch launches kernels of its own in every layer. They run at once, yet take
 * longer than those of one policy for all rows, so a worker takes jobs policy by policy. That may prefill a
 * prompt once for each policy: little, where the completion is longer. On a CPU nothing is launched, and
 * prompts as long as their completions, prefilled for each of four policies, took a sixth more of its time.
 */
static struct sort_item sort_item(const struct runplan *p, const int *kept, const struct job *job)
{
    struct sort_item i = {.job = *job};
    struct job *j = &i.job;
    const struct plan_cell *c = &p->cells[j->cell];
    int block = block_of(p, j, kept), policy = (int)(c->policy - p->file->policies);
    j->bucket = (int)floor(log(j->expected) / log(1.25));
    j->policy = engine_is_on_gpu(&p->loaded[c->loaded_model].options) && !block ? 1 + policy : 0;
    const int key[SORT_KEYS] = {c->loaded_model,   -j->bucket, j->policy, c->set,   block,
                                policy / TOGETHER, j->problem, j->cell,   j->sample};
    memcpy(i.key, key, sizeof key);
    return i;
}

void queue_sort(struct runplan *p, const struct run *done, int n_devices)
{
    struct history *h = collect_lengths(p, done);
    struct sort_item *items = xcalloc((size_t)p->n_jobs + 1, sizeof *items);
    int *kept = xcalloc((size_t)p->n_sets * (size_t)p->n_loaded + 1, sizeof *kept);
    for (int i = 0; i < p->n_sets * p->n_loaded; i++)
        kept[i] = kept_prompts(&p->loaded[i / p->n_sets], &p->sets[i % p->n_sets], n_devices);
    for (long i = 0; i < p->n_jobs; i++) {
        p->jobs[i].expected = expected_tokens(h, p, &p->jobs[i]);
        items[i] = sort_item(p, kept, &p->jobs[i]);
    }
    qsort(items, (size_t)p->n_jobs, sizeof *items, by_start);
    for (long i = 0; i < p->n_jobs; i++)
        p->jobs[i] = items[i].job;
    release_history(h, p->n_cells);
    free(kept);
    free(items);
}

/* The first digits of a key decide its shard: a digest spreads evenly, and any later n re-divides what is
 * left. */
static int shard_of(const char *key, int n_shards)
{
    char head[9];
    memcpy(head, key, 8);
    head[8] = 0;
    return (int)(strtoul(head, NULL, 16) % (unsigned long)n_shards);
}

enum { ENDED = 1, FAILED = 2, AGAIN = 3 }; /* from AGAIN on: + `withdrawn` of what takes its place */

static long how_it_ended(const struct record *rec, int retry_errors)
{
    if (rec->finish == FINISHED_ERROR && retry_errors)
        return AGAIN + rec->withdrawn;
    return rec->finish == FINISHED_ERROR ? FAILED : ENDED;
}

long queue_keep_open(struct runplan *p, const struct run *done, int retry_errors, int shard, int n_shards,
                     long *of_shard, long *failed)
{
    struct keymap finished = {0};
    long kept = 0, n_shard = 0, n_failed = 0;
    for (long i = 0; done && i < done->n_withdrawals; i++)
        keymap_add(&finished, done->withdrawals[i].key, AGAIN + done->withdrawals[i].number + 1);
    for (int c = 0; done && c < done->n_cells; c++)
        for (int i = 0; i < done->cells[c].n_records; i++)
            keymap_add(&finished, done->cells[c].records[i].key,
                       how_it_ended(&done->cells[c].records[i], retry_errors));
    for (long i = 0; i < p->n_jobs; i++) {
        if (n_shards > 0 && shard_of(p->jobs[i].key, n_shards) != shard)
            continue;
        n_shard++;
        long how = keymap_find(&finished, p->jobs[i].key);
        n_failed += how == FAILED;
        p->jobs[i].withdrawn = how >= AGAIN ? (int)how - AGAIN : 0;
        if (how < 0 || how >= AGAIN)
            p->jobs[kept++] = p->jobs[i];
    }
    if (of_shard)
        *of_shard = n_shard;
    if (failed)
        *failed = n_failed;
    p->n_jobs = kept;
    keymap_release(&finished);
    return kept;
}
