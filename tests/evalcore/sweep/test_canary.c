/* Which finished job tests a worker that was started again. */
#include <math.h>

#include "evalcore/sweep/canary.h"
#include "tests/check.h"

static void finish(struct canary *k, int worker, long job, int n, enum finish_reason how)
{
    int32_t ids[64] = {0};
    const struct completion c = {.ids = ids, .n_ids = n, .finish = how};
    ids[0] = worker;
    canary_keep(k, worker, job, &c);
}

/* The job for a worker, and who finished it; -1: none. */
static long job_for(const struct canary *k, int worker, int *by)
{
    const struct canary_job *c = canary_for(k, worker, by);
    return c ? c->job : -1;
}

int main(void)
{
    struct canary *k = calloc(1, sizeof *k);
    int by = -1;
    CHECK_INT(job_for(k, 0, &by), -1);
    finish(k, 0, 10, 40, FINISHED_STOP);
    CHECK_INT(job_for(k, 0, &by), 10); /* its own, for want of another */
    CHECK_INT(by, 0);
    finish(k, 1, 11, 60, FINISHED_STOP);
    CHECK_INT(job_for(k, 0, &by), 11); /* another worker's, though it is longer */
    CHECK_INT(by, 1);
    CHECK_INT(job_for(k, 1, &by), 10);
    CHECK_INT(job_for(k, 2, &by), 10); /* the shortest that says enough */
    finish(k, 2, 12, 3, FINISHED_STOP);
    finish(k, 1, 13, 20, FINISHED_ERROR);
    CHECK_INT(job_for(k, 3, &by), 10);
    finish(k, 1, 14, 20, FINISHED_LENGTH);
    CHECK_INT(job_for(k, 3, &by), 14);

    /* What a worker found that was wrong tests nobody, and what it finds later itself alone. */
    canary_drop(k, 1);
    CHECK_INT(job_for(k, 3, &by), 10);
    canary_drop(k, 0);
    canary_drop(k, 2);
    CHECK_INT(job_for(k, 3, &by), -1);
    CHECK_INT(job_for(k, 1, &by), -1);
    finish(k, 1, 15, 20, FINISHED_STOP);
    CHECK_INT(job_for(k, 3, &by), -1);
    CHECK_INT(job_for(k, 1, &by), 15);
    CHECK_INT(by, 1);

    int32_t ids[20] = {1}, others[20] = {2};
    const struct completion same = {.ids = ids, .n_ids = 20}, other = {.ids = others, .n_ids = 20},
                            cut = {.ids = ids, .n_ids = 19},
                            error = {.ids = ids, .n_ids = 20, .finish = FINISHED_ERROR};
    CHECK(canary_is_equal(&k->of[1], &same));
    CHECK(!canary_is_equal(&k->of[1], &other) && !canary_is_equal(&k->of[1], &cut));
    CHECK(!canary_is_equal(&k->of[1], &error));

    /* The tokens of options are given, so their log-likelihoods are compared, to the last bit. */
    struct completion scored = {
        .ids = ids, .n_ids = 20, .options = {.n = 2, .option = {{.logprob = -1.5}, {.logprob = -2.5}}}};
    canary_keep(k, 3, 16, &scored);
    CHECK(canary_is_equal(&k->of[3], &scored));
    scored.options.option[1].logprob = nextafter(-2.5, 0);
    CHECK(!canary_is_equal(&k->of[3], &scored));
    CHECK(!canary_is_equal(&k->of[3], &same));
    canary_release(k);
    free(k);
    return check_done();
}
