/* Which worker gets which job: the plan's order, jobs of one prompt on one worker, also where the prompt
 * comes again, nobody idle at the end, what was given back first. */
#include "evalcore/sweep/queue_families.h"
#include "tests/check.h"

static struct plan_cell cells[3] = {{.set = 0}, {.set = 0}, {.set = 1}};
/* Three prompts: 0 1 2, 3 4, 5 6 7 8. */
static struct job jobs[] = {
    {.cell = 0, .problem = 4}, {.cell = 1, .problem = 4}, {.cell = 1, .problem = 4, .sample = 1},
    {.cell = 0, .problem = 5}, {.cell = 1, .problem = 5}, {.cell = 2, .problem = 5},
    {.cell = 2, .problem = 5}, {.cell = 2, .problem = 5}, {.cell = 2, .problem = 5}};

static void takes(struct families *q, int worker, long want)
{
    CHECK_INT(families_take(q, worker), want);
}

/* Three prompts that come twice, as where a few policies decode before the next few. */
static void prompts_come_again(void)
{
    static struct job again[] = {{.problem = 7},
                                 {.problem = 8},
                                 {.problem = 9},
                                 {.cell = 1, .problem = 7},
                                 {.cell = 1, .problem = 8},
                                 {.cell = 1, .problem = 9}};
    const struct runplan p = {.cells = cells, .jobs = again, .n_cells = 3, .n_jobs = 6};
    struct families q;
    families_init(&q, &p, 0, p.n_jobs, 2);
    takes(&q, 0, 0);
    takes(&q, 1, 1);
    takes(&q, 1, 2);
    takes(&q, 1, 4); /* not 3, whose prompt worker 0 has */
    takes(&q, 0, 3);
    takes(&q, 0, 5); /* only a prompt of worker 1 is left */
    takes(&q, 1, -1);
    families_release(&q);
}

/* With little time left: the shortest first, from the end or of those that were given back. */
static void shortest_first(void)
{
    static struct job by_length[] = {{.problem = 1, .expected = 90},
                                     {.problem = 2, .expected = 50},
                                     {.problem = 3, .expected = 20},
                                     {.problem = 3, .expected = 20}};
    const struct runplan p = {.cells = cells, .jobs = by_length, .n_cells = 3, .n_jobs = 4};
    struct families q;
    families_init(&q, &p, 0, p.n_jobs, 2);
    takes(&q, 0, 0);
    CHECK_INT(families_take_last(&q, &p), 3);
    families_give_back(&q, 0);
    families_give_back(&q, 3);
    CHECK_INT(families_take_last(&q, &p), 2); /* as short as 3, and first */
    CHECK_INT(families_take_last(&q, &p), 3);
    CHECK_INT(families_take_last(&q, &p), 1);
    CHECK_INT(families_take_last(&q, &p), 0);
    CHECK_INT(families_take_last(&q, &p), -1);
    takes(&q, 1, -1);
    families_release(&q);
}

int main(void)
{
    const struct runplan p = {.cells = cells, .jobs = jobs, .n_cells = 3, .n_jobs = 9};
    const struct runplan none = {0};
    struct families q;
    families_init(&q, &p, 0, p.n_jobs, 3);
    takes(&q, 1, 0);
    takes(&q, 0, 3);
    takes(&q, 1, 1);
    takes(&q, 0, 4);
    takes(&q, 0, 5);
    takes(&q, 2, 6); /* nothing left to begin: helps where most is left */
    families_give_back(&q, 3);
    families_give_back(&q, 4);
    takes(&q, 2, 3);
    takes(&q, 1, 4);
    takes(&q, 1, 2);
    takes(&q, 1, 7);
    takes(&q, 0, 8);
    takes(&q, 0, -1);
    takes(&q, 1, -1);
    families_give_back(&q, 8); /* its worker died */
    takes(&q, 2, 8);
    takes(&q, 2, -1);
    families_release(&q);

    families_init(&q, &p, 0, p.n_jobs, 1); /* alone: the plan's order */
    for (long i = 0; i < 9; i++)
        takes(&q, 0, i);
    takes(&q, 0, -1);
    families_release(&q);

    families_init(&q, &p, 3, 5, 2); /* the jobs of one model of several */
    takes(&q, 1, 3);
    takes(&q, 0, 4);
    takes(&q, 0, -1);
    CHECK_INT(families_take_last(&q, &p), -1);
    families_release(&q);

    families_init(&q, &none, 0, none.n_jobs, 2);
    takes(&q, 1, -1);
    families_release(&q);
    prompts_come_again();
    shortest_first();
    return check_done();
}
