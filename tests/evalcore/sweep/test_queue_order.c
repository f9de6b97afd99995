/* The order of jobs: longest first; of jobs alike in that a few policies before the next few, and jobs of one
 * prompt together, on a GPU policy by policy; where prompts are long, block by block of problems whose
 * prompts a device keeps. And the lengths that another run tells. */
#include "evalcore/sweep/queue.h"
#include "tests/check.h"

#include <string.h>

enum { CELLS = 6, PROBLEMS = 3, JOBS = CELLS * PROBLEMS, LONG = 40 };

/* Six policies and 40 long prompts, of which the devices keep `kept`: in each block the first four policies
 * before the others, and within these problem by problem. */
static void blocks(const char *backend, int devices, int max_batch, size_t token_bytes, int kept)
{
    static struct problem problems[LONG];
    static struct prompt_row rows[LONG];
    static const struct task_ops ops = {.expected_tokens = 100};
    static struct runfile_settings brief = {.s = {.max_new_tokens = 200}};
    static struct runfile_policy policies[CELLS];
    static struct plan_cell cells[CELLS];
    static struct job jobs[CELLS * LONG];
    struct loaded_model loaded = {.options = {.backend = backend},
                                  .info = {.kv_token_bytes = token_bytes, .max_batch = max_batch}};
    struct prompt_set set = {.task = {.ops = &ops, .problems = problems, .n_problems = LONG}, .rows = rows};
    struct runfile file = {.policies = policies};
    struct runplan p = {.file = &file,
                        .loaded = &loaded,
                        .sets = &set,
                        .cells = cells,
                        .jobs = jobs,
                        .n_loaded = 1,
                        .n_sets = 1,
                        .n_cells = CELLS,
                        .n_jobs = CELLS * LONG};
    memset(cells, 0, sizeof cells);
    for (int i = 0; i < CELLS * LONG; i++) {
        jobs[i] = (struct job){.cell = i / LONG, .problem = i % LONG};
        rows[i % LONG].n = 4096;
        cells[i / LONG].settings = &brief;
        cells[i / LONG].policy = &policies[i / LONG];
    }
    queue_sort(&p, NULL, devices);
    int at = 0;
    for (int first = 0; first < LONG; first += kept)
        for (int wave = 0; wave < 2; wave++)
            for (int q = first; q < first + kept && q < LONG; q++)
                for (int c = 4 * wave; c < (wave ? CELLS : 4); c++, at++) {
                    CHECK_INT(p.jobs[at].problem, q);
                    CHECK_INT(p.jobs[at].cell, c);
                }
    CHECK_INT(at, CELLS * LONG);
}

/* Another run has these problems in another order, one of them twice, and an error that tells nothing: the
 * longest comes first, and a problem that it lacks is expected to be as long as the task says. */
static void hints(void)
{
    static struct problem problems[] = {{.id = "a"}, {.id = "b"}, {.id = "c"}, {.id = "d"}};
    static struct prompt_row rows[4] = {{.n = 5}, {.n = 5}, {.n = 5}, {.n = 5}};
    static const struct task_ops ops = {.name = "t", .expected_tokens = 100};
    static struct runfile_settings brief = {.s = {.max_new_tokens = 2000}};
    static struct runfile_policy policy;
    struct plan_cell cell = {.settings = &brief, .policy = &policy};
    struct job jobs[4] = {{.problem = 0}, {.problem = 1}, {.problem = 2}, {.problem = 3}};
    struct loaded_model loaded = {.info = {.kv_token_bytes = 8192, .max_batch = 32}};
    struct prompt_set set = {.task = {.ops = &ops, .problems = problems, .n_problems = 4}, .rows = rows};
    struct runfile file = {.policies = &policy};
    struct runplan p = {.file = &file,
                        .loaded = &loaded,
                        .sets = &set,
                        .cells = &cell,
                        .jobs = jobs,
                        .n_loaded = 1,
                        .n_sets = 1,
                        .n_cells = 1,
                        .n_jobs = 4};
    struct run_problem theirs[] = {{.id = "c"}, {.id = "x"}, {.id = "b"}, {.id = "a"}};
    struct run_task tasks[] = {{.name = "t", .problems = theirs, .n_problems = 4},
                               {.name = "u", .problems = theirs, .n_problems = 4}};
    struct record of_t[] = {{.problem = 0, .tokens = 900},
                            {.problem = 0, .tokens = 1100},
                            {.problem = 1, .tokens = 9},
                            {.problem = 2, .tokens = 300},
                            {.problem = 3, .tokens = 7, .finish = FINISHED_ERROR}};
    struct record of_u[] = {{.problem = 3, .tokens = 5}}; /* another task with the same id */
    struct cell cells[] = {{.task = &tasks[0], .records = of_t, .n_records = 5},
                           {.task = &tasks[1], .records = of_u, .n_records = 1}};
    const struct run other = {.cells = cells, .n_cells = 2, .tasks = tasks, .n_tasks = 2};
    CHECK_INT(queue_hint(&p, &other), 2);
    queue_sort(&p, NULL, 1);
    static const int want[] = {2, 1, 0, 3};
    static const double expected[] = {1000, 300, 100, 100};
    for (int i = 0; i < 4; i++) {
        CHECK_INT(jobs[i].problem, want[i]);
        CHECK_NEAR(jobs[i].expected, expected[i], 0);
    }
}

/* Resumed: nine completions of a policy that stops early were taken for the length of all, 11,676 tokens of
 * 46,356. Only the baseline's speak for another policy, as those of problem 0 do here for cell 2. */
static void early_policy_speaks_for_itself(void)
{
    enum { N = 3, ALL = 4 };
    static struct problem problems[N];
    static struct prompt_row rows[N] = {{.n = 5}, {.n = 5}, {.n = 5}};
    static const struct task_ops ops = {.name = "t", .expected_tokens = 900};
    static struct runfile_settings settings = {.s = {.max_new_tokens = 2000}};
    static struct runfile_policy policies[ALL];
    static const int baseline[ALL] = {-1, 0, 0, -1};
    static const struct record early[] = {{.problem = 0, .tokens = 10}, {.problem = 1, .tokens = 20}};
    static const struct record full[] = {{.problem = 0, .tokens = 600}};
    static const struct {
        int n_full;
        double expected[ALL];
    } row[] = {{0, {900, 15, 900, 900}}, {1, {600, 15, 600, 900}}};
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        struct plan_cell cells[ALL];
        struct job jobs[ALL];
        struct prompt_set set = {.task = {.ops = &ops, .problems = problems, .n_problems = N}, .rows = rows};
        struct loaded_model loaded = {.info = {.kv_token_bytes = 8192, .max_batch = 32}};
        struct runfile file = {.policies = policies};
        struct runplan p = {.file = &file,
                            .loaded = &loaded,
                            .sets = &set,
                            .cells = cells,
                            .jobs = jobs,
                            .n_loaded = 1,
                            .n_sets = 1,
                            .n_cells = ALL,
                            .n_jobs = ALL};
        struct cell done[ALL] = {{.records = full, .n_records = row[k].n_full},
                                 {.records = early, .n_records = 2}};
        const struct run folder = {.cells = done, .n_cells = ALL};
        for (int i = 0; i < ALL; i++) {
            cells[i] =
                (struct plan_cell){.settings = &settings, .policy = &policies[i], .baseline = baseline[i]};
            jobs[i] = (struct job){.cell = i, .problem = 2};
        }
        queue_sort(&p, &folder, 1);
        for (int i = 0; i < ALL; i++)
            CHECK_NEAR(jobs[i].expected, row[k].expected[jobs[i].cell], 0);
    }
}

int main(void)
{
    early_policy_speaks_for_itself();
    static struct problem problems[PROBLEMS];
    static struct prompt_row rows[PROBLEMS] = {{.n = 50}, {.n = 50}, {.n = 4000}};
    static const struct task_ops ops = {.expected_tokens = 100};
    static struct runfile_settings brief = {.s = {.max_new_tokens = 200}},
                                   cut = {.s = {.max_new_tokens = 10}};
    static struct runfile_policy policies[CELLS];
    static struct plan_cell cells[CELLS];
    static struct job jobs[JOBS];
    struct prompt_set set = {.task = {.ops = &ops, .problems = problems, .n_problems = PROBLEMS},
                             .rows = rows};
    struct loaded_model loaded = {
        .info = {.kv_token_bytes = 8192, .max_batch = 32}}; /* a block has 4 of these prompts */
    struct runfile file = {.policies = policies};
    struct runplan p = {.file = &file,
                        .loaded = &loaded,
                        .sets = &set,
                        .cells = cells,
                        .jobs = jobs,
                        .n_loaded = 1,
                        .n_sets = 1,
                        .n_cells = CELLS,
                        .n_jobs = JOBS};
    for (int i = 0; i < JOBS; i++) {
        jobs[i] = (struct job){.cell = i / PROBLEMS, .problem = i % PROBLEMS};
        cells[i / PROBLEMS].settings = &brief;
        cells[i / PROBLEMS].policy = &policies[i / PROBLEMS];
    }
    cells[1].settings = &cut;
    cells[5].policy = &policies[0]; /* with cell 0 then, although four come between */
    queue_sort(&p, NULL, 1);
    /* cell, problem; cell 1 last: its completions are short, and its prompts so much longer */
    static const int want[JOBS][2] = {{0, 0}, {2, 0}, {3, 0}, {5, 0}, {0, 1}, {2, 1}, {3, 1}, {5, 1}, {4, 0},
                                      {4, 1}, {0, 2}, {2, 2}, {3, 2}, {5, 2}, {4, 2}, {1, 0}, {1, 1}, {1, 2}};
    for (int i = 0; i < JOBS; i++) {
        CHECK_INT(p.jobs[i].cell, want[i][0]);
        CHECK_INT(p.jobs[i].problem, want[i][1]);
    }
    /* On a GPU policy by policy, but for the prompt that is longer than its completions. */
    loaded.options.backend = "cuda";
    queue_sort(&p, NULL, 1);
    static const int on_gpu[JOBS][2] = {{0, 2}, {2, 2}, {3, 2}, {5, 2}, {4, 2}, {0, 0},
                                        {5, 0}, {0, 1}, {5, 1}, {2, 0}, {2, 1}, {3, 0},
                                        {3, 1}, {4, 0}, {4, 1}, {1, 0}, {1, 1}, {1, 2}};
    for (int i = 0; i < JOBS; i++) {
        CHECK_INT(p.jobs[i].cell, on_gpu[i][0]);
        CHECK_INT(p.jobs[i].problem, on_gpu[i][1]);
        CHECK_INT(p.jobs[i].policy > 0, i >= 5 && i < 15);
    }
    hints();
    blocks("cpu", 1, 32, 8192, 4);
    blocks("cpu", 1, 32, 65536, 1); /* one prompt takes twice what they may take together */
    blocks("cuda", 1, 128, 65536, 16);
    blocks("cuda", 2, 128, 65536, 32);
    blocks("cuda", 1, 8, 65536, 8);   /* no more than the batch */
    blocks("cuda", 1, 128, 8192, 32); /* as many as the engine keeps */
    return check_done();
}
