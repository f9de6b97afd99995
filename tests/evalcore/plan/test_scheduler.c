/* The order of jobs: longest first; of jobs alike in that a few policies before the next few, and jobs of one
 * prompt together; where prompts are long, over all cells. */
#include "evalcore/plan/scheduler.h"
#include "tests/check.h"

enum { CELLS = 6, PROBLEMS = 3, JOBS = CELLS * PROBLEMS };

int main(void)
{
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
    struct runfile file = {.policies = policies};
    struct runplan p = {.file = &file,
                        .sets = &set,
                        .cells = cells,
                        .jobs = jobs,
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
    scheduler_order(&p, NULL);
    /* cell, problem; cell 1 last: its completions are short, and its prompts so much longer */
    static const int want[JOBS][2] = {{0, 0}, {2, 0}, {3, 0}, {5, 0}, {0, 1}, {2, 1}, {3, 1}, {5, 1}, {0, 2},
                                      {2, 2}, {3, 2}, {4, 2}, {5, 2}, {4, 0}, {4, 1}, {1, 0}, {1, 1}, {1, 2}};
    for (int i = 0; i < JOBS; i++) {
        CHECK_INT(p.jobs[i].cell, want[i][0]);
        CHECK_INT(p.jobs[i].problem, want[i][1]);
    }
    return check_done();
}
