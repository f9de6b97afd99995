/* How many jobs each worker is given at the start: none waits in one engine that another device could start.
 */
#include "evalcore/sweep/queue.h"
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

enum { WORKERS_MAX = 8 };

/* n_jobs of one length for workers that decode `places` sequences: each holds `held` after all were asked. */
static void hand_out(int n_jobs, int n_workers, int places, int held)
{
    struct problem *problems = xcalloc((size_t)n_jobs, sizeof *problems);
    struct prompt_row *rows = xcalloc((size_t)n_jobs, sizeof *rows);
    struct job *jobs = xcalloc((size_t)n_jobs, sizeof *jobs);
    static const struct task_ops ops = {.expected_tokens = 100};
    static struct runfile_settings settings = {.s = {.max_new_tokens = 200}};
    static struct runfile_policy policy;
    struct plan_cell cell = {.settings = &settings, .policy = &policy};
    struct loaded_model loaded = {.info = {.kv_token_bytes = 8192, .max_batch = places}};
    struct prompt_set set = {.task = {.ops = &ops, .problems = problems, .n_problems = n_jobs}, .rows = rows};
    struct runfile file = {.policies = &policy};
    struct runplan p = {.file = &file,
                        .loaded = &loaded,
                        .sets = &set,
                        .cells = &cell,
                        .jobs = jobs,
                        .n_loaded = 1,
                        .n_sets = 1,
                        .n_cells = 1,
                        .n_jobs = n_jobs};
    for (int i = 0; i < n_jobs; i++) {
        jobs[i].problem = i;
        rows[i].n = 50;
    }
    struct decoder_worker worker[WORKERS_MAX];
    memset(worker, 0, sizeof worker);
    for (int w = 0; w < n_workers; w++)
        worker[w] = (struct decoder_worker){.is_live = 1, .is_ready = 1, .places = places};
    struct decoder d = {.plan = &p, .worker = worker, .n_workers = n_workers};
    struct forecast f = {.n_models = 1};
    struct queue q;
    memset(&q, 0, sizeof q);
    queue_sort(&p, NULL, n_workers);
    queue_begin(&q, &p, &f, &d, NULL);
    for (int w = 0; w < n_workers; w++)
        while (worker[w].n_held < places + DECODER_WAITING && queue_next(&q, w) >= 0)
            worker[w].n_held++;
    for (int w = 0; w < n_workers; w++)
        CHECK_INT(worker[w].n_held, held);
    queue_release(&q);
    free(problems);
    free(rows);
    free(jobs);
}

int main(void)
{
    hand_out(10, 2, 1, 1);    /* the first worker held nine of them */
    hand_out(40, 2, 16, 16);  /* eight would wait at the first */
    hand_out(400, 8, 32, 32); /* 64 of the longest waited */
    hand_out(32, 8, 32, 4);   /* its share */
    hand_out(1000, 2, 32, 32 + DECODER_WAITING);
    hand_out(20, 1, 4, 4 + DECODER_WAITING);
    return check_done();
}
