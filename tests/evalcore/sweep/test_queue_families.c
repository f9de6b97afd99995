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

/* Policies 1 to 3 of two buckets: a worker goes on with its own, else it turns to the one with most jobs left
 * per worker; to the next bucket only when nothing of the first is left. */
static void policy_by_policy(void)
{
    static struct job by_policy[] = {{.bucket = 9, .policy = 1, .problem = 1},
                                     {.bucket = 9, .policy = 1, .problem = 2},
                                     {.bucket = 9, .policy = 1, .problem = 3},
                                     {.bucket = 9, .policy = 2, .problem = 3}, /* 3: a prompt twice */
                                     {.bucket = 9, .policy = 2, .problem = 4},
                                     {.bucket = 9, .policy = 3, .problem = 1},
                                     {.bucket = 8, .policy = 1, .problem = 5},
                                     {.bucket = 8, .policy = 2, .problem = 5},
                                     {.bucket = 8, .policy = 2, .problem = 5},
                                     {.bucket = 8, .policy = 3, .problem = 6},
                                     {.bucket = 7, .problem = 7},
                                     {.bucket = 7, .problem = 8},
                                     {.bucket = 6, .problem = 7}};
    const struct runplan p = {.cells = cells, .jobs = by_policy, .n_cells = 3, .n_jobs = 13};
    struct families q;
    families_init(&q, &p, 0, p.n_jobs, 2);
    takes(&q, 0, 0);
    takes(&q, 1, 3); /* 1 has two left and a worker, 2 has two */
    takes(&q, 1, 4);
    takes(&q, 0, 1);
    takes(&q, 1, 5); /* 1 has one left and a worker */
    families_give_back(&q, 1);
    takes(&q, 1, 1);
    takes(&q, 1, 2); /* the last of the bucket */
    takes(&q, 1, 6);
    takes(&q, 0, 7); /* most jobs left, and a family of two */
    takes(&q, 1, 9);
    takes(&q, 0, 8);
    takes(&q, 1, 10); /* in their order from here on */
    takes(&q, 0, 11);
    takes(&q, 0, 12); /* nothing else is left */
    takes(&q, 1, -1);
    families_release(&q);

    families_init(&q, &p, 0, 6, 1); /* the shortest were taken first */
    CHECK_INT(families_take_last(&q, &p), 5);
    CHECK_INT(families_take_last(&q, &p), 4);
    for (long i = 0; i < 4; i++)
        takes(&q, 0, i);
    takes(&q, 0, -1);
    CHECK_INT(families_take_last(&q, &p), -1);
    families_release(&q);

    for (long i = 0; i < 6; i++)
        by_policy[i].policy = 0;
    families_init(&q, &p, 0, 6, 1); /* an order that is to stay: there is no policy then */
    for (long i = 0; i < 6; i++)
        takes(&q, 0, i);
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
    policy_by_policy();
    shortest_first();
    return check_done();
}
