/* How many policies a batch holds. Plans with ten policies are handed out to GPU workers that decode 32
 * sequences each, in steps that take all of them the same time. */
#include "evalcore/sweep/queue.h"
#include "tests/check.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS_MAX = 8, PLACES = 32, HELD = PLACES + DECODER_WAITING, POLICIES_MAX = 10, LENGTHS_MAX = 40 };

struct shape {
    int n_policies, n_lengths, n_problems, n_samples;
    int is_cut; /* nothing but the limit ends a completion; else each has a length that nobody knows */
};

struct sweep_plan {
    struct shape s;
    struct problem *problems;
    struct prompt_row *rows;
    struct runfile_settings settings[LENGTHS_MAX];
    struct runfile_policy policies[POLICIES_MAX];
    struct plan_cell cells[POLICIES_MAX * LENGTHS_MAX];
    struct loaded_model loaded;
    struct prompt_set set;
    struct runfile file;
    struct runplan p;
};

/* From 100 to 2,000 in steps of one ratio; up to twelve are in buckets of their own. */
static int limit_of(int n_lengths, int i)
{
    return (int)(100 * pow(20, (double)i / (n_lengths - 1)));
}

static void plan_init(struct sweep_plan *t, struct shape s)
{
    static const struct task_ops ops = {.expected_tokens = 1000};
    int n_cells = s.n_policies * s.n_lengths;
    long n_jobs = (long)n_cells * s.n_problems * s.n_samples;
    memset(t, 0, sizeof *t);
    t->s = s;
    t->problems = xcalloc((size_t)s.n_problems, sizeof *t->problems);
    t->rows = xcalloc((size_t)s.n_problems, sizeof *t->rows);
    for (int q = 0; q < s.n_problems; q++)
        t->rows[q].n = 50;
    for (int i = 0; i < s.n_lengths; i++)
        t->settings[i].s = (struct settings){.max_new_tokens = s.is_cut ? limit_of(s.n_lengths, i) : 4000,
                                             .ignore_eos = s.is_cut,
                                             .samples = s.n_samples};
    for (int c = 0; c < n_cells; c++)
        t->cells[c] = (struct plan_cell){.settings = &t->settings[c % s.n_lengths],
                                         .policy = &t->policies[c / s.n_lengths],
                                         .baseline = -1};
    t->loaded.info.kv_token_bytes = 8192;
    t->loaded.info.max_batch = PLACES;
    t->loaded.options.backend = "cuda";
    t->set = (struct prompt_set){
        .task = {.ops = &ops, .problems = t->problems, .n_problems = (size_t)s.n_problems}, .rows = t->rows};
    t->file.policies = t->policies;
    t->p = (struct runplan){.file = &t->file,
                            .loaded = &t->loaded,
                            .sets = &t->set,
                            .cells = t->cells,
                            .jobs = xcalloc((size_t)n_jobs, sizeof *t->p.jobs),
                            .n_loaded = 1,
                            .n_sets = 1,
                            .n_cells = n_cells,
                            .n_jobs = n_jobs};
    for (long i = 0; i < n_jobs; i++)
        t->p.jobs[i] = (struct job){.cell = (int)(i / (s.n_problems * s.n_samples)),
                                    .problem = (int)(i / s.n_samples % s.n_problems),
                                    .sample = (int)(i % s.n_samples)};
}

static void plan_release(struct sweep_plan *t)
{
    free(t->problems);
    free(t->rows);
    free(t->p.jobs);
}

static int policy_of(const struct sweep_plan *t, long j)
{
    return (int)(t->p.cells[t->p.jobs[j].cell].policy - t->policies);
}

/* Tokens of a completion. */
static int length_of(const struct sweep_plan *t, long j)
{
    const struct job *job = &t->p.jobs[j];
    unsigned x = (unsigned)(job->problem * 7 + job->sample) * 2654435761u;
    return t->s.is_cut ? t->settings[job->cell % t->s.n_lengths].s.max_new_tokens
                       : 200 + (int)(x >> 8) % 3000;
}

struct held {
    long job[HELD]; /* the first PLACES are decoded, the others wait */
    int left[HELD];
};

struct outcome {
    long steps;
    double policies; /* of a batch, mean over steps and workers */
};

static int count_policies(const struct sweep_plan *t, const struct held *h, int n)
{
    int seen[POLICIES_MAX] = {0}, found = 0;
    for (int i = 0; i < n && i < PLACES; i++)
        found += !seen[policy_of(t, h->job[i])]++;
    return found;
}

/* Hands out all jobs. death: the step at which worker 0 gives back what it holds; 0: none does. */
static struct outcome hand_out(struct sweep_plan *t, int n_workers, long death)
{
    struct held held[WORKERS_MAX];
    struct decoder_worker worker[WORKERS_MAX];
    struct decoder d = {.plan = &t->p, .worker = worker, .n_workers = n_workers};
    struct forecast f = {.n_models = 1, .job = xcalloc((size_t)t->p.n_jobs, sizeof *f.job)};
    char *is_out = xcalloc((size_t)t->p.n_jobs, 1); /* 1: a worker has it, 2: it is done */
    struct queue q;
    struct outcome out = {0};
    long batches = 0, policies = 0;
    int bucket = INT_MAX;
    memset(worker, 0, sizeof worker);
    memset(&q, 0, sizeof q);
    for (int w = 0; w < n_workers; w++)
        worker[w] = (struct decoder_worker){.is_live = 1, .is_ready = 1, .places = PLACES};
    queue_sort(&t->p, NULL, n_workers);
    queue_begin(&q, &t->p, &f, &d, NULL);
    for (; q.left && out.steps < 10000000; out.steps++) {
        for (int w = 0; w < n_workers; w++) {
            struct decoder_worker *l = &worker[w];
            for (long j; l->n_held < HELD && (j = queue_next(&q, w)) >= 0; l->n_held++) {
                CHECK_INT(is_out[j], 0);
                if (!death && t->s.n_lengths < 12) { /* a family is of one bucket and has one job */
                    CHECK(t->p.jobs[j].bucket <= bucket);
                    bucket = t->p.jobs[j].bucket;
                }
                is_out[j] = 1;
                held[w].job[l->n_held] = j;
                held[w].left[l->n_held] = length_of(t, j);
            }
        }
        for (int w = 0; w < n_workers; w++) {
            struct decoder_worker *l = &worker[w];
            int kept = 0;
            batches += l->n_held > 0;
            policies += count_policies(t, &held[w], l->n_held);
            for (int i = 0; i < l->n_held; i++) {
                long j = held[w].job[i];
                int left = held[w].left[i] - (i < PLACES);
                if (death && out.steps == death && !w) {
                    is_out[j] = 0;
                    queue_give_back(&q, j);
                } else if (!left) {
                    is_out[j] = 2;
                    queue_done(&q, j);
                } else {
                    held[w].job[kept] = j;
                    held[w].left[kept++] = left;
                }
            }
            l->n_held = kept;
        }
    }
    for (long j = 0; j < t->p.n_jobs; j++)
        CHECK_INT(is_out[j], 2);
    out.policies = (double)policies / (double)(batches ? batches : 1);
    queue_release(&q);
    free(f.job);
    free(is_out);
    return out;
}

int main(void)
{
    /* before: the steps with 1, 4 and 8 workers when all of them shared four policies at a time. A batch
     * held 3.5 to 7.5 then. */
    static const struct {
        struct shape s;
        double policies;
        long before[3];
    } row[] = {
        {{10, 40, 4, 1, 1}, 4.3, {32269, 8112, 4095}}, /* a bucket has twelve jobs of a policy */
        {{10, 40, 30, 1, 1}, 1.7, {241712, 60467, 30262}},
        {{10, 8, 30, 1, 1}, 2.3, {52095, 13064, 6556}},
        {{10, 1, 500, 1, 0}, 1.2, {273046, 69898, 36029}},
        {{10, 1, 30, 16, 0}, 1.2, {254222, 65177, 33627}}, /* with samples */
    };
    static const int workers[] = {1, 4, 8};
    static struct sweep_plan t;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        for (size_t k = 0; k < sizeof workers / sizeof *workers; k++)
            for (int dies = 0; dies < 2; dies++) {
                plan_init(&t, row[i].s);
                struct outcome o = hand_out(&t, workers[k], dies ? 1000 : 0);
                CHECK(o.policies <= row[i].policies);
                CHECK(dies || (double)o.steps <= 1.01 * (double)row[i].before[k]);
                plan_release(&t);
            }
    return check_done();
}
